"""How likely a release makes each length-scale and pair of variances."""

import math
from typing import Final, NamedTuple, Self

import numpy as np

from neyman.functional._regressions._model import Model
from neyman.functional._regressions._roots import measured, products, whitened
from neyman.functional._regressions._smoother import Sums, Table
from neyman.numerics import Array

__all__ = ["RESIDUALS", "VARIANCES", "chances_of"]

VARIANCES: Final = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
RESIDUALS: Final = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0])


def chances_of(table: Table, sums: Sums, masses: Array, level: float) -> tuple[Array, Array]:
    """Return length-scales, and the chances of each with each pair of variances, of sum 1.

        log p = -(z' V^-1 z + log det V) / 2,   z the whitened sums, V their covariance

    Length-scales are 1.5 h 2^(k/2), up to two thirds of an interval or a quarter of a circle; all
    of the grid are alike before. Curves of few waves change V by a matrix of low rank, so that all
    their variances are read from the few waves.
    """
    largest = table.period / (4 if table.closed else 3)
    least = min(1.5 * float(table.channels.bandwidth), largest)
    scales = least * 2 ** (np.arange(math.floor(2 * math.log2(largest / least)) + 1) / 2)
    model = Model.of(table, sums, masses, level, least)
    weights = [model.weights(model.powers(float(scale))) for scale in scales]
    narrow = [weight.size < model.data.size for weight in weights]
    most = max((w.size for w, few in zip(weights, narrow, strict=True) if few), default=0)
    bases = [model.fixed + residual * model.sampling for residual in RESIDUALS]
    found = np.empty((scales.size, VARIANCES.size, RESIDUALS.size))
    for i in np.flatnonzero(np.logical_not(narrow)):
        factor = model.columns[:, : weights[i].size] * weights[i]
        signal = VARIANCES[:, None, None] * (products(factor))
        for k, base in enumerate(bases):
            logarithm, square = measured(base + signal, model.data)
            found[i, :, k] = -0.5 * (square + logarithm)
    for k, base in enumerate(bases):
        rest = _Without.of(base, model.data, model.columns[:, :most])
        for i in np.flatnonzero(narrow):
            found[i, :, k] = rest.likelihoods(weights[i])
    chances = np.exp(found - found.max())
    return scales, chances / chances.sum()


class _Without(NamedTuple):
    """Sums without a curve: -2 log p of them, and what waves of a curve are to them."""

    alone: float
    told: Array
    products: Array

    @classmethod
    def of(cls, base: Array, data: Array, columns: Array) -> Self:
        root, white = whitened(base, np.concatenate([columns.T, data[None]]))
        found = products(white)
        alone = float(found[-1, -1]) + 2 * float(np.log(np.diag(root)).sum())
        return cls(alone, found[-1, :-1], found[:-1, :-1])

    def likelihoods(self, weights: Array) -> Array:
        """Return log p for curves of covariance v F F', for all v; F the columns, weighted.

        det(B + v F F') = det B det(1 + v G' G),   G = B^-1/2 F
        """
        few = weights.size
        each = np.arange(few)
        inner = VARIANCES[:, None, None] * (self.products[:few, :few] * np.outer(weights, weights))
        inner[:, each, each] += 1.0
        told = np.sqrt(VARIANCES)[:, None] * (self.told[:few] * weights)
        logarithm, square = measured(inner, told)
        return -0.5 * (self.alone - square + logarithm)
