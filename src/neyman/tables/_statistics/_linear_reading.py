"""Coefficients with intervals, from noisy X'X, X'y and y'y. Post-processing, free.

Let A b = c be the normal equations before noise, A' = A + N, c' = c + e the noisy ones, and
b' = A'^-1 c'. Then, exactly,

    b' - b = A'^-1 (e - N b),

For the true b, the vector e - N b is a fixed linear map of the noise of rank p + 1. So with |P K|
<= R all its combinations l, also those that depend on A', are at most R |l (e - N b)|, where the
norm is that of the coefficients of K. With t_j the largest |b'_j - b_j| this gives

    t_j <= R (|l_j (e - N b')| + sum_k t_k |l_j N_k|),    l_j row j of A'^-1,

which bounds t if the matrix of the last terms has a spectral radius below 1.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from neyman.aggregate import Columns, IntArray, Noise
from neyman.overriding import override
from neyman.tables._statistics._cone import Floats
from neyman.tables._statistics._moments import Layout
from neyman.tables._statistics._spread_readings import MomentsReading

__all__ = ["LinearReading"]

_ROUNDING = 2.0**-40
_WEAKEST = 1e-9


@final
@dataclass(frozen=True, slots=True)
class LinearReading(MomentsReading):
    """The columns of a linear regression: intercept and slopes in the columns' units.

    `lower` and `upper` hold for all coefficients of a group at once, with the given confidence, for
    the noise only. They are infinite if the features may be dependent within the noise. `stddev` is
    that of the noise to first order, an estimate.

    There is no interval for a population, because the sampling error of a coefficient depends on
    products of four columns, which are not released. Products of two suffice only for residuals of
    equal variance. For unequal variances, the coverage of such an interval was 74 % instead of 95
    %.

    Attributes:
        layout: the layout of the sums; the response is the last column.
        weight: the factor of the integers.
    """

    names: ClassVar = (*("term", "estimate", "stddev", "lower", "upper", "count"),)
    layout: Layout
    weight: int

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        raw = noisy.reshape(-1, len(self.layout.terms)).astype(np.float64)
        rank, size = len(self.layout.axes), len(self.layout.terms)
        # The square of the response is not in the equations.
        radius = noise.radius(rank, size - 1, confidence)
        products = _products(self.layout, self.weight)
        equations = _Equations(self.layout, products, noise, radius)
        found = np.concatenate([equations.solved(group) for group in raw])
        terms = ["(intercept)", *(axis.column.column for axis in self.layout.axes[:-1])]
        answer: Columns = {"term": terms * len(raw)}
        for place, name in enumerate(self.names[1:]):
            answer[name] = [float(x) for x in found[:, place]]
        return answer


@final
@dataclass(frozen=True, slots=True)
class _Equations:
    """The normal equations as linear maps of the noisy integers.

    Attributes:
        layout: the layout of the sums.
        products: forms of the sums of products of (1, features, response), shape (p + 2, p + 2, d).
        noise: the noise on each integer.
        radius: R.
    """

    layout: Layout
    products: Floats
    noise: Noise
    radius: float

    def solved(self, raw: Floats) -> Floats:
        """Return the columns of the answer after the first, for each coefficient."""
        sums = self.products @ raw
        matrix, right = sums[:-1, :-1], sums[-1, :-1]
        if not np.linalg.eigvalsh(matrix)[0] > _WEAKEST * np.max(np.abs(np.diag(matrix))):
            row = [np.nan, np.nan, -np.inf, np.inf, sums[0, 0]]
            return np.tile(row, (len(right), 1))
        inverse = np.asarray(np.linalg.inv(matrix), np.float64)
        scaled = inverse @ right
        to_units, start = self._in_units()
        estimate, rows = to_units @ scaled + start, to_units @ inverse
        # How the noise moves the right side less the matrix times these coefficients.
        signed = np.append(-scaled, 1.0)
        moved = np.einsum("k,kad->ad", signed, self.products[:, :-1])
        stddev = self.noise.stddev * np.linalg.norm(rows @ moved, axis=1)
        width = self._width(raw, inverse, rows, moved)
        ends = estimate - width, estimate + width
        counts = np.full(len(right), sums[0, 0])
        return np.column_stack([estimate, stddev, *ends, counts])

    def _width(self, raw: Floats, inverse: Floats, rows: Floats, moved: Floats) -> Floats:
        radius = self.radius + _ROUNDING * float(np.linalg.norm(raw))
        infinite = np.full(len(rows), np.inf)
        if not np.isfinite(radius):
            return infinite
        more = radius * self._norms(inverse)
        grows = np.asarray(np.linalg.eigvals(more), np.complex128)
        if not np.max(np.abs(grows)) < 1 - _WEAKEST:
            return infinite
        first = radius * np.linalg.norm(inverse @ moved, axis=1)
        most = np.asarray(np.linalg.solve(np.eye(len(first)) - more, first), np.float64)
        most = np.maximum(most, 0.0)
        return radius * (np.linalg.norm(rows @ moved, axis=1) + self._norms(rows) @ most)

    def _norms(self, rows: Floats) -> Floats:
        """Return |l_j N_k| with row j and column k."""
        return np.linalg.norm(np.einsum("ja,kad->jkd", rows, self.products[:-1, :-1]), axis=2)

    def _in_units(self) -> tuple[Floats, Floats]:
        """Return the matrix and the vector from normalised coefficients to the columns' units."""
        *features, response = self.layout.axes
        size = float(response.half_range)
        slopes = np.array([size / float(axis.half_range) for axis in features])
        middles = np.array([float(axis.middle) for axis in features])
        matrix = np.diag(np.append(size, slopes))
        matrix[0, 1:] = -slopes * middles
        start = np.zeros(len(matrix))
        start[0] = float(response.middle)
        return matrix, start


def _products(layout: Layout, weight: int) -> Floats:
    """Return the sum of each product of two of (1, features, response) as a form."""
    units = np.array(layout.units(weight))
    place = {term: m for m, term in enumerate(layout.terms)}
    size = 1 + len(layout.axes)
    terms = [[tuple(sorted(i - 1 for i in (a, b) if i)) for a in range(size)] for b in range(size)]
    return units[np.array([[place[term] for term in row] for row in terms])]
