"""What a composition of sampled Gaussians loses to whoever is told in which steps a record was.

One direction of a sampled step is P against (1 - q) P + q Q. Over n steps the sampled law is the
mean of those in which k steps hold the record, k of Binomial(n, q), and each of these is a Gaussian
pair of square k mu^2 to the other one. delta is convex in either law, hence, in both directions,

    delta(epsilon) <= Σ_k Binomial(n, q)(k) delta_(sqrt(k) mu)(epsilon),

far better than a composition without sampling where mu is so large that sampling shows anyway.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.curves._algebra._factors import Factors
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._solvers._view import EPSILON, View
from neyman.numerics import ULP, Array, Bracket, gaussian_log_delta, standing
from neyman.numerics._distributions._binomial_masses import log_binomial

__all__ = ["KnownSamples", "known_samples"]

_MOST_STEPS = 2**20
# Numbers of steps that are told apart; the others count as the largest of their block.
_BLOCKS = 512
_HALVINGS = 60
# Gaussian deltas that are held at a time.
_MOST_CELLS = 2**20


@final
@dataclass(frozen=True, slots=True, eq=False)
class KnownSamples:
    """The mean over the number of steps, as logarithms of weights and standard deviations."""

    log_weight: Array
    mu: Array

    def log_delta(self, epsilon: Array) -> Array:
        """Bound log delta at epsilon >= 0 from above."""
        flat, rows = np.ravel(epsilon), max(_MOST_CELLS // self.mu.size, 1)
        blocks = [self._sums(flat[i : i + rows]) for i in range(0, flat.size, rows)]
        return np.concatenate([np.zeros(0), *blocks]).reshape(epsilon.shape)

    def _sums(self, epsilon: Array) -> Array:
        near = np.broadcast_to(epsilon[:, None], (epsilon.size, self.mu.size))
        each = gaussian_log_delta(near, self.mu)
        total: Array = np.logaddexp.reduce(self.log_weight + each.upper, axis=-1)
        wide = ULP * (8 + self.mu.size) * (1 + np.abs(np.where(np.isneginf(total), 0.0, total)))
        return np.minimum(total + wide, 0.0)

    def bracket(self, view: View, at: Array) -> Bracket:
        """Bracket log delta or epsilon, vacuously from below."""
        vacuous = view.vacuous(at)
        if view is EPSILON:
            return Bracket(vacuous.lower, np.minimum(self.epsilon(at), vacuous.upper))
        crude = np.where(at >= 0, self.log_delta(np.maximum(at, 0.0)), 0.0)
        return Bracket(vacuous.lower, crude)

    def epsilon(self, delta: Array) -> Array:
        """Bound epsilon from above, by halving; any point at which delta is small enough does."""
        target = np.log(np.maximum(delta, 5e-324)) * (1 + 4 * ULP) - 4 * ULP
        high = np.ones(delta.shape)
        for _ in range(_HALVINGS):
            open_ = self.log_delta(high) > target
            if not np.any(open_):
                break
            high = np.where(open_, 2 * high, high)
        proved = self.log_delta(high) <= target
        low = np.zeros(delta.shape)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = self.log_delta(middle) <= target
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(proved & (delta > 0), high, np.inf)


def known_samples(parts: Factors) -> KnownSamples | None:
    """Return the bound for copies of one sampled Gaussian; None for anything else."""
    (pair, times), *more = parts
    if more:
        return None
    base, probability = pair.unsampled()
    if probability == 1:
        base, probability = pair.swap().unsampled()
    square = base.outer_gaussian() if base.kind == GaussianPair.kind else None
    if square is None or probability == 1 or times > _MOST_STEPS:
        return None
    return _blocks(square, probability, times)


def _blocks(square: Fraction, probability: Fraction, times: int) -> KnownSamples:
    log, error = log_binomial(times, float(probability), float(1 - probability))
    log = log + error
    # The first steps one by one, for those weigh most where q is small; then about evenly.
    ends = np.unique(np.geomspace(1, times + 1, _BLOCKS).astype(np.int64))
    mode = math.floor(times * probability)
    spread = math.isqrt(math.ceil(times * probability)) + 1
    around = mode + spread * np.linspace(-8, 8, _BLOCKS)
    ends = np.append(ends, np.clip(around, 1, times + 1).astype(np.int64))
    ends = np.unique(np.append(ends, times + 1))
    starts = np.append(0, ends[:-1])
    weight = np.logaddexp.reduceat(log, starts)
    largest = (ends - 1).astype(np.float64)
    kept = largest > 0
    mu = np.sqrt(largest[kept]) * math.sqrt(standing(square)[1]) * (1 + 4 * ULP)
    return KnownSamples(weight[kept] + ULP * (times + 8), mu)
