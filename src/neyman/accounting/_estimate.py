"""A number that is no bound, and says so."""

from dataclasses import dataclass
from typing import ClassVar, final

__all__ = ["Estimate"]


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A value that may err to either side by an amount that nobody has proved.

    It is no curve: it has no direction, no bracket and no composition, and it is not certified, so
    that a filter refuses to charge it. It does not turn into a float by itself; ask for `value`.

    Attributes:
        value: the number.
        method: how it was found.
    """

    value: float
    method: str

    is_bound: ClassVar[bool] = False
    certified: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"estimate {self.value:.6g} ({self.method})"
