"""Counts of cells that add up: sums of them are exact, as doubles and in any order."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self, TypeVar, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.errors import InvalidTable
from neyman.tables import Keys

__all__ = ["Cells", "Floats", "in_order"]

Floats = npt.NDArray[np.float64]

_Number = TypeVar("_Number", np.int64, np.float64)

_DIGITS: Final = 52
_FINEST: Final = 40


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A count for each combination of keys, a whole multiple of 2^-`digits`.

    Attributes:
        keys: the cells, every combination.
        counts: in steps of 2^-digits, one for each cell, the last column running fastest.
        digits: binary digits after the point.
    """

    keys: Keys
    counts: IntArray = field(repr=False)
    digits: int

    @classmethod
    def of(cls, keys: Keys, values: Floats) -> Self:
        """Round counts to so many digits after the point that all sums are exact in doubles."""
        size = math.fsum(np.abs(values).ravel().tolist()) + values.size
        digits = max(min(_DIGITS - math.ceil(math.log2(size)) - 1, _FINEST), 0)
        return cls(keys, np.rint(np.ldexp(values, digits)).astype(np.int64).reshape(-1), digits)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many keys each column has."""
        return tuple(map(len, self.keys.domains))

    @property
    def values(self) -> Floats:
        """The counts, of `shape`."""
        return np.ldexp(self.counts.astype(np.float64), -self.digits).reshape(self.shape)

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return math.ldexp(int(self.counts.sum()), -self.digits)

    def axes(self, columns: tuple[str, ...]) -> list[int]:
        """Return where the columns stand among all."""
        return [self.keys.columns.index(name) for name in columns]

    def margin(self, columns: tuple[str, ...]) -> "Cells":
        """Return sums over all other columns.

        Raises:
            InvalidTable: if there is no such column, or none is named: that is `total`.
        """
        kept = self.keys.project(*columns)
        axes = self.axes(columns)
        rest = tuple(i for i in range(len(self.shape)) if i not in axes)
        sums = self.counts.reshape(self.shape).sum(axis=rest)
        return Cells(kept, in_order(sums, axes).reshape(-1), self.digits)

    def place(self, named: Mapping[str, object]) -> tuple[int, ...]:
        """Return where a cell stands, an index for each column.

        Raises:
            InvalidTable: if not every column is named, or has no such key.
        """
        columns = self.keys.columns
        if sorted(named) != sorted(columns):
            raise InvalidTable(
                f"a cell of {', '.join(columns)} was named by {', '.join(named) or 'nothing'}; "
                "write each column once"
            )
        parts = zip(columns, self.keys.domains, strict=True)
        return tuple(domain.find(named[name], name) for name, domain in parts)


def in_order(table: npt.NDArray[_Number], axes: list[int]) -> npt.NDArray[_Number]:
    """Return a table whose axes, once sorted, stand as they were asked for."""
    return np.transpose(table, np.argsort(np.argsort(axes)))
