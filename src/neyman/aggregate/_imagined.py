"""Rows that stand for private ones in previews."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

__all__ = ["Counted", "Imagined", "MadeUp", "Shape", "Spreads"]

_Floats: TypeAlias = npt.NDArray[np.float64]

Spreads: TypeAlias = Mapping[str, tuple[float, float]]
"""By column, a public guess of its mean and standard deviation, in its own units."""

Shape: TypeAlias = Mapping[str, Sequence[float]]
"""What the rows of a group are like, JSON-able: made by `Imagined.counted`, read by `shaped`."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """What one row adds to the integers of its group, on average over rows that are made up.

    Attributes:
        even: rows spread evenly over the bounds, columns independent: the best case.
        typical: skewed rows; each column has mean and standard deviation at 5 % of its range.
        spread: rows of the means and standard deviations that were given; None without any.
        ends: of rows that all lie at the lower bounds, and at the upper ones, between which the
            worst case of a mean or a variance lies; None where they say nothing.
    """

    even: _Floats
    typical: _Floats
    spread: _Floats | None
    ends: tuple[_Floats, _Floats] | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a question finds in public rows.

    Attributes:
        source: which dataset they are.
        rows: how many there are, before filters and limits.
        kept: how many of them count, in each group.
        limited: whether limits of a unit were applied, or each row counts as a unit.
        shape: what those are like.
    """

    source: str
    rows: int
    kept: tuple[int, ...]
    limited: bool
    shape: Shape


class Imagined(Protocol):
    """Rows that stand for the private ones in a preview: made up, or public. No row is private."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values matter."""
        ...

    def made_up(self, spreads: Spreads) -> MadeUp:
        """Return what made-up rows add.

        Raises:
            InvalidParameter: if no values between the bounds have such a mean and deviation.
        """
        ...

    def counted(self, public: object) -> Counted:
        """Ask the question of a public table, as `open_table` gives it, under its own limits.

        Raises:
            InvalidParameter: if it holds the private rows, or no row of it counts.
            InvalidTable: if its rows cannot be made in the steps of the private ones.
            UnknownColumn: if it lacks a column.
        """
        ...

    def shaped(self, shape: Shape) -> _Floats:
        """Return what one row adds on average, of rows that `counted` found to be like this.

        Raises:
            InvalidParameter: if it is the shape of another question.
        """
        ...
