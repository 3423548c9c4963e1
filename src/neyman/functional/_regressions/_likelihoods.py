"""The likelihood of the released sums for curves of each kind."""

import math
from typing import Final, NamedTuple, Self

import numpy as np

from neyman.functional._regressions._model import DEGREES, Model, polynomial_variances
from neyman.functional._regressions._roots import measured, products, whitened
from neyman.functional._regressions._smoother import Sums, Table
from neyman.numerics import Array

__all__ = ["RESIDUALS", "VARIANCES", "Chances"]

# In units of B^2: of the process about a polynomial, and of responses about the curve.
VARIANCES: Final = np.array([0.0, 0.01, 0.03, 0.1, 0.3, 1.0])
RESIDUALS: Final = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0])


class Chances(NamedTuple):
    """The posterior probability of each kind of curve, given the release.

    Attributes:
        degrees: the degrees of the polynomials.
        scales: the length-scales.
        each: probabilities by degree, length-scale, variance and residual variance, with sum 1.
    """

    degrees: tuple[int, ...]
    scales: Array
    each: Array

    @classmethod
    def of(cls, table: Table, sums: Sums, masses: Array, level: float) -> Self:
        """Return the kinds of curves weighted by their marginal likelihood.

            log p = -(z' V^-1 z + log det V) / 2,   z the whitened sums, V their covariance

        Length-scales are 1.5 h 2^(k/2), up to two thirds of an interval or a quarter of a circle.
        The prior is uniform on the grid. Curves of few waves and polynomials change V by a matrix
        of low rank, so one computation covers all their variances.
        """
        largest = table.period / (4 if table.closed else 3)
        least = min(1.5 * float(table.channels.bandwidth), largest)
        scales = least * 2 ** (np.arange(math.floor(2 * math.log2(largest / least)) + 1) / 2)
        degrees = DEGREES[:1] if table.closed else DEGREES
        model = Model.of(table, sums, masses, level, least)
        weights = [model.weights(model.powers(float(scale))) for scale in scales]
        narrow = [weight.size < model.data.size for weight in weights]
        most = max((w.size for w, few in zip(weights, narrow, strict=True) if few), default=0)
        bases = [model.fixed + residual * model.sampling for residual in RESIDUALS]
        rows = np.concatenate([model.bent, model.data[None]])
        found = np.empty((len(degrees), scales.size, VARIANCES.size, RESIDUALS.size))
        for i in np.flatnonzero(np.logical_not(narrow)):
            factor = model.columns[:, : weights[i].size] * weights[i]
            signal = VARIANCES[:, None, None] * (products(factor))
            for k, base in enumerate(bases):
                found[:, i, :, k] = _by_degree(degrees, *measured(base + signal, rows))
        for k, base in enumerate(bases):
            rest = _Without.of(base, rows, model.columns[:, :most])
            for i in np.flatnonzero(narrow):
                found[:, i, :, k] = _by_degree(degrees, *rest.measured(weights[i]))
        chances = np.exp(found - found.max())
        return cls(degrees, scales, chances / chances.sum())


def _by_degree(degrees: tuple[int, ...], logarithms: Array, inner: Array) -> Array:
    """Return log p with polynomials of each degree, shape (degrees, variances).

        det(V + P S P') = det V det(1 + R),   R = S^1/2 P' V^-1 P S^1/2

    Args:
        degrees: of the polynomials.
        logarithms: log det V without the polynomials, for all variances of the process.
        inner: products by V^-1 of P' and, last, the sums; shape (variances, few, few).
    """
    found = np.empty((len(degrees), logarithms.size))
    for row, degree in zip(found, degrees, strict=True):
        root = np.sqrt(polynomial_variances(degree))
        matrix = inner[:, :degree, :degree] * np.outer(root, root) + np.eye(degree)
        told = inner[:, :degree, -1:] * root[:, None]
        known = (told * np.linalg.solve(matrix, told)).sum(axis=(1, 2))
        row[:] = logarithms + np.linalg.slogdet(matrix)[1] + inner[:, -1, -1] - known
    return -0.5 * found


class _Without(NamedTuple):
    """Products by B^-1 of the sums without a process and of its waves.

    Attributes:
        logarithm: log det B.
        own: products of the rows, shape (few, few).
        told: products of the rows with the waves, shape (few, waves).
        products: products of the waves, shape (waves, waves).
    """

    logarithm: float
    own: Array
    told: Array
    products: Array

    @classmethod
    def of(cls, base: Array, rows: Array, columns: Array) -> Self:
        root, white = whitened(base, np.concatenate([columns.T, rows]))
        found = products(white)
        waves = columns.shape[1]
        logarithm = 2 * float(np.log(np.diag(root)).sum())
        return cls(logarithm, found[waves:, waves:], found[waves:, :waves], found[:waves, :waves])

    def measured(self, weights: Array) -> tuple[Array, Array]:
        """Return `measured` of B + v F F' for all v, where F has the weighted columns.

        det(B + v F F') = det B det(1 + v G' G),   G = B^-1/2 F
        """
        few = weights.size
        each = np.arange(few)
        inner = VARIANCES[:, None, None] * (self.products[:few, :few] * np.outer(weights, weights))
        inner[:, each, each] += 1.0
        told = np.sqrt(VARIANCES)[:, None, None] * (self.told[:, :few] * weights)
        logarithms, known = measured(inner, told)
        return self.logarithm + logarithms, self.own - known
