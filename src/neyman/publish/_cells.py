"""Counts of cells that add up, and least squares over all margins of a table.

Sums of `Cells` are exact, in doubles and in any order.

Least squares. Let x be the table, of n_1 ... n_d cells, and y_S = M_S x + noise of variance v_S a
margin: the sums over the axes outside S. The normal matrix  A = sum_S M_S^T M_S / v_S  is
diagonal in every product of orthonormal bases, one for each axis, whose first vectors are constant;
here that of the cosine transform. At a coefficient k that is nonzero on the axes T,

    A_k = sum over S containing T of  (product of n_i, i not in S) / v_S

so  x = C^T (C sum_S M_S^T y_S / v_S) / A, with covariance  C^T (1 / A) C,  is the unbiased linear
estimate with the least variance for every linear function (Gauss and Markov).
"""
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.errors import InvalidTable
from neyman.tables import Keys

__all__ = [
    "Cells",
    "Floats",
    "NoisyMargin",
    "cosines",
    "in_order",
    "least_squares",
    "noisy_margin",
    "nonnegative",
    "on_simplex",
    "slab",
]

Floats = npt.NDArray[np.float64]

NoisyMargin: TypeAlias = tuple[frozenset[int], Floats, float]
"""The axes of a margin, its counts along these axes, and the variance of their noise."""

_Number = TypeVar("_Number", np.int64, np.float64)

_DIGITS: Final = 52
_FINEST: Final = 40


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A count for each combination of keys, a whole multiple of 2^-`digits`.

    Attributes:
        keys: the cells: every combination of keys.
        counts: the counts in steps of 2^-digits, with the last column fastest.
        digits: the binary digits after the point.
    """

    keys: Keys
    counts: IntArray = field(repr=False)
    digits: int

    @classmethod
    def of(cls, keys: Keys, values: Floats) -> Self:
        """Round counts to digits for which all sums are exact in doubles."""
        size = math.fsum(np.abs(values).ravel().tolist()) + values.size
        digits = max(min(_DIGITS - math.ceil(math.log2(size)) - 1, _FINEST), 0)
        return cls(keys, np.rint(np.ldexp(values, digits)).astype(np.int64).reshape(-1), digits)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of keys of each column."""
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
        """Return the positions of the columns."""
        return [self.keys.columns.index(name) for name in columns]

    def margin(self, columns: tuple[str, ...]) -> "Cells":
        """Return the sums over all other columns.

        Raises:
            InvalidTable: if a column is unknown, or none is named; use `total` then.
        """
        kept = self.keys.project(*columns)
        axes = self.axes(columns)
        rest = tuple(i for i in range(len(self.shape)) if i not in axes)
        sums = self.counts.reshape(self.shape).sum(axis=rest)
        return Cells(kept, in_order(sums, axes).reshape(-1), self.digits)

    def place(self, named: Mapping[str, object]) -> tuple[int, ...]:
        """Return the index of a cell in each column.

        Raises:
            InvalidTable: if a column is missing, or a key is unknown.
        """
        columns = self.keys.columns
        if sorted(named) != sorted(columns):
            raise InvalidTable(
                f"a cell must have a key for each of {', '.join(columns)}; got "
                f"{', '.join(named) or 'none'}. Write each column once"
            )
        parts = zip(columns, self.keys.domains, strict=True)
        return tuple(domain.find(named[name], name) for name, domain in parts)


def noisy_margin(
    by: Keys, names: Sequence[str], counts: npt.ArrayLike, variance: float
) -> NoisyMargin:
    """Return the counts of a margin, or of the cells, for `least_squares`.

    Args:
        by: the cells.
        names: the columns of the margin, with the last fastest.
        counts: the counts of its groups.
        variance: the variance of the noise on each count.
    """
    axes = [by.columns.index(name) for name in names]
    table = np.asarray(counts, np.float64).reshape([len(by.domains[axis]) for axis in axes])
    return frozenset(axes), np.transpose(table, np.argsort(axes)), variance


def in_order(table: npt.NDArray[_Number], axes: list[int]) -> npt.NDArray[_Number]:
    """Return a table with sorted axes, transposed to the given order."""
    return np.transpose(table, np.argsort(np.argsort(axes)))


_ROUNDS, _CLOSE = 2000, 1e-4


def cosines(table: Floats) -> Floats:
    """Return the orthonormal cosine transform, C x."""
    from scipy.fft import dctn

    # SciPy has no transform of a single number, which is that number.
    return np.asarray(dctn(table, norm="ortho")) if table.ndim else table


def _table_of(coefficients: Floats) -> Floats:
    """Return C^T k."""
    from scipy.fft import idctn

    return np.asarray(idctn(coefficients, norm="ortho"))


def slab(axes: Set[int], dimensions: int) -> tuple[slice | int, ...]:
    """Return the index of the coefficients that are constant on all other axes."""
    return tuple(slice(None) if i in axes else 0 for i in range(dimensions))


def least_squares(shape: Sequence[int], margins: Sequence[NoisyMargin]) -> tuple[Floats, Floats]:
    """Return the table and its precision A, both of `shape`.

    Args:
        shape: the shape of the table.
        margins: the margins; one of them has all axes.

    Error: about 1e-15 log(cells), relative to the largest cell.
    """
    pulled, precision = np.zeros(tuple(shape)), np.zeros(tuple(shape))
    for axes, margin, variance in margins:
        place = slab(axes, len(shape))
        folded = math.prod(n for i, n in enumerate(shape) if i not in axes)
        pulled[place] += math.sqrt(folded) / variance * cosines(margin)
        precision[place] += folded / variance
    return _table_of(pulled / precision), precision


def nonnegative(table: Floats, precision: Floats, total: float) -> Floats:
    """Return the table z >= 0 with this total that minimises (z - x)^T A (z - x).

    With equal precisions it is exact; otherwise it is found by alternating directions, up to 10^-4
    of the standard deviation of a cell.
    """
    found = on_simplex(table, total)
    inner = precision.ravel()[1:]
    if table.size == 1 or np.ptp(inner) <= 1e-12 * inner.max():
        return found
    sd = math.sqrt(float(np.mean(1 / precision)))
    weight = float(np.sqrt(inner.min() * np.median(inner)))
    wanted, dual = precision * cosines(table), np.zeros(table.shape)
    for _ in range(_ROUNDS):
        step = (wanted + weight * cosines(found - dual)) / (precision + weight)
        step.ravel()[0] = total / math.sqrt(table.size)
        near = _table_of(step)
        before, found = found, np.maximum(near + dual, 0)
        dual += near - found
        if max(np.max(np.abs(near - found)), np.max(np.abs(found - before))) < _CLOSE * sd:
            break
    return on_simplex(found, total)


def on_simplex(table: Floats, total: float) -> Floats:
    """Return the nearest table without negative cells and with this total: max(x - t, 0)."""
    cells = np.sort(table, axis=None)[::-1]
    cuts = (np.cumsum(cells) - total) / np.arange(1, len(cells) + 1)
    last = int(np.flatnonzero(cells >= cuts)[-1])
    return np.maximum(table - cuts[last], 0)
