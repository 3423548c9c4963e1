"""Mistakes of several parts of a spec, told together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar, final

from neyman.errors import InvalidTable, SpecError

__all__ = ["Mistakes", "to_mend"]

_T = TypeVar("_T")

_MOST_TOLD: Final = 200


@final
@dataclass(frozen=True, slots=True)
class Mistakes:
    """What was found wrong so far.

    Attributes:
        found: in order.
    """

    found: list[SpecError | InvalidTable] = field(default_factory=list[SpecError | InvalidTable])

    def __bool__(self) -> bool:
        return bool(self.found)

    def of(self, make: Callable[[], _T]) -> _T | None:
        """Return what is made; None where that is a mistake, which is told later."""
        try:
            return make()
        except (SpecError, InvalidTable) as error:
            self.found.append(error)
            return None

    def tell(self) -> None:
        """Refuse what was found.

        Raises:
            SpecError, InvalidTable: the one that was found, or of several one that tells all.
        """
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        lines = list(dict.fromkeys(_line(error) for error in self.found))
        kinds = {type(error) for error in self.found}
        kind = kinds.pop() if len(kinds) == 1 else InvalidTable
        raise kind(to_mend(lines)) from self.found[0]


def to_mend(lines: Sequence[str]) -> str:
    """Return how many mistakes there are, and the first of them, a line each."""
    more = len(lines) - _MOST_TOLD
    shown = [*lines[:_MOST_TOLD], *([f"... and {more:,} more"] if more > 0 else [])]
    return "\n  ".join([f"{len(lines)} to mend", *shown])


def _line(error: Exception) -> str:
    """Return its sentence; that of a KeyError is its argument."""
    return str(error.args[0]) if error.args else str(error)
