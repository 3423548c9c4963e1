"""Least squares on all margins of a table at once.

Let x be the table, of n_1 ... n_d cells, and y_S = M_S x + noise of variance v_S a margin: the sums
over the axes that are not in S. The normal matrix  A = sum_S M_S^T M_S / v_S  is diagonal in every
product of orthonormal bases, one an axis, whose first vectors are constant; here in those of the
cosine transform. At a coefficient k, which is not 0 on the axes T,

    A_k = sum over S containing T of  (product of n_i, i not in S) / v_S

and so  x = C^T (C sum_S M_S^T y_S / v_S) / A, of covariance  C^T (1 / A) C,  is the unbiased linear
estimate of least variance of every linear function (Gauss and Markov).
"""
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt

__all__ = ["cosines", "least_squares", "nonnegative", "on_simplex", "slab"]

Floats = npt.NDArray[np.float64]

_ROUNDS, _CLOSE = 2000, 1e-4


def cosines(table: Floats) -> Floats:
    """Return the orthonormal cosine transform, C x."""
    from scipy.fft import dctn

    # Of a single number it is that number; SciPy knows no transform of no axes.
    return np.asarray(dctn(table, norm="ortho")) if table.ndim else table


def _table_of(coefficients: Floats) -> Floats:
    """Return C^T k."""
    from scipy.fft import idctn

    return np.asarray(idctn(coefficients, norm="ortho"))


def slab(axes: Set[int], dimensions: int) -> tuple[slice | int, ...]:
    """Return where the coefficients are that are constant on all other axes."""
    return tuple(slice(None) if i in axes else 0 for i in range(dimensions))


def least_squares(
    shape: Sequence[int], margins: Sequence[tuple[frozenset[int], Floats, float]]
) -> tuple[Floats, Floats]:
    """Return the table and its precision A, both of `shape`.

    Args:
        shape: of the table.
        margins: the axes S, the margin with its axes in their order, the variance of its noise;
            one of them of all axes.

    Error: relatively some 1e-15 log(cells), of the largest cell.
    """
    pulled, precision = np.zeros(tuple(shape)), np.zeros(tuple(shape))
    for axes, margin, variance in margins:
        place = slab(axes, len(shape))
        folded = math.prod(n for i, n in enumerate(shape) if i not in axes)
        pulled[place] += math.sqrt(folded) / variance * cosines(margin)
        precision[place] += folded / variance
    return _table_of(pulled / precision), precision


def nonnegative(table: Floats, precision: Floats, total: float) -> Floats:
    """Return the table z >= 0 of this total that is nearest, in (z - x)^T A (z - x).

    With one precision for all it is exact; else by alternating directions, until the two of them
    differ by less than 10^-4 of a cell's standard deviation.
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
    """Return the nearest table without negative cells of a total >= 0: max(x - t, 0)."""
    cells = np.sort(table, axis=None)[::-1]
    cuts = (np.cumsum(cells) - total) / np.arange(1, len(cells) + 1)
    last = int(np.flatnonzero(cells >= cuts)[-1])
    return np.maximum(table - cuts[last], 0)
