"""Rows for previews, in place of private ones."""

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
"""A description of a group's rows, for JSON: from `Imagined.counted`, for `Imagined.shaped`."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """What one row adds to the integers of its group, on average over made-up rows.

    Attributes:
        even: rows spread evenly over the bounds, with independent columns: the best case.
        typical: skewed rows; each column has mean and standard deviation at 5 % of its range.
        spread: rows with the given means and standard deviations; None if none were given.
        ends: of rows at the lower bounds and of rows at the upper bounds; the worst case of a mean
            or a variance is between them. None if they are not useful.
    """

    even: _Floats
    typical: _Floats
    spread: _Floats | None
    ends: tuple[_Floats, _Floats] | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The result of a question on public rows.

    Attributes:
        source: the dataset.
        rows: how many rows there are, before filters and limits.
        kept: how many of them count, in each group.
        limited: whether the limits of a unit were applied, or each row counts as a unit.
        shape: a description of the rows that count.
    """

    source: str
    rows: int
    kept: tuple[int, ...]
    limited: bool
    shape: Shape


class Imagined(Protocol):
    """Rows for a preview in place of the private ones: made up, or public. None is private."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values affect the answer."""
        ...

    def made_up(self, spreads: Spreads) -> MadeUp:
        """Return what made-up rows add.

        Raises:
            InvalidParameter: if no values between the bounds have this mean and standard deviation.
        """
        ...

    def counted(self, public: object) -> Counted:
        """Return the result of the question on a public table, under its own limits.

        Args:
            public: a table from `open_table`.

        Raises:
            InvalidParameter: if it holds the private rows, or none of its rows counts.
            InvalidTable: if its rows do not allow the steps of the private ones.
            UnknownColumn: if a column is missing.
        """
        ...

    def shaped(self, shape: Shape) -> _Floats:
        """Return what one row adds on average, for rows with a shape from `counted`.

        Raises:
            InvalidParameter: if the shape belongs to another question.
        """
        ...
