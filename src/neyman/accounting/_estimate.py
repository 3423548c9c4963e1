"""Numbers that are no bounds, or bounds with some confidence alone, and say so."""

from dataclasses import dataclass
from typing import ClassVar, final

__all__ = ["ConfidentBound", "Estimate"]


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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidentBound:
    """An upper bound that random draws gave, and that they may have given too small.

    It is no curve and no proof: it is not certified, so that a filter refuses to charge it.

    Attributes:
        value: the bound.
        confidence: the chance, at least, with which such draws give a bound that holds. It is that
            of one question; of several questions together the chances of failure add up.
        estimate: the value without a margin.
        samples: how many draws.
    """

    value: float
    confidence: float
    estimate: float
    samples: int

    is_bound: ClassVar[bool] = False
    certified: ClassVar[bool] = False

    def __str__(self) -> str:
        return (
            f"at most {self.value:.6g} with {100 * self.confidence:.6g} % confidence "
            f"({self.samples} draws; estimate {self.estimate:.6g})"
        )
