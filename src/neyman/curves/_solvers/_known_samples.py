"""A bound for sampled Gaussians: the attacker learns in which steps the record took part.

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
from neyman.curves._pairs._sampled import sampling_of
from neyman.curves._solvers._view import EPSILON, View
from neyman.numerics import Array, Interval, gaussian_log_delta, shortened_up
from neyman.numerics._distributions._binomial import log_binomial_mass
from neyman.numerics._primitives import exp, log, log_total

__all__ = ["KnownSamples", "known_samples"]

_MOST_STEPS = 2**20
# Counts of steps are grouped in blocks, and each counts as the largest of its block.
_BLOCKS = 512
_HALVINGS = 60
# The most Gaussian deltas in memory at a time.
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
        return np.minimum(log_total(each + self.log_weight).upper, 0.0)

    def bracket(self, view: View, at: Array) -> Interval:
        """Bracket log delta or epsilon, vacuously from below."""
        vacuous = view.vacuous(at)
        if view is EPSILON:
            return Interval(vacuous.lower, np.minimum(self.epsilon(at), vacuous.upper))
        crude = np.where(at >= 0, self.log_delta(np.maximum(at, 0.0)), 0.0)
        return Interval(vacuous.lower, crude)

    def epsilon(self, delta: Array) -> Array:
        """Bound epsilon from above, by halving; any point at which delta is small enough does."""
        target = log(Interval.exactly(np.maximum(delta, 5e-324))).lower
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
    sampled = sampling_of(pair)
    if sampled is None or not isinstance(sampled.base, GaussianPair) or times > _MOST_STEPS:
        return None
    return _blocks(shortened_up(sampled.base.mu_squared), sampled.probability, times)


def _blocks(square: Fraction, probability: Fraction, times: int) -> KnownSamples:
    count = np.arange(times + 1.0)
    masses = log_binomial_mass(count, times, probability, 1 - probability)
    # The first steps one by one, for those weigh most where q is small; then about evenly.
    ends = np.unique(np.geomspace(1, times + 1, _BLOCKS).astype(np.int64))
    mode = math.floor(times * probability)
    spread = math.isqrt(math.ceil(times * probability)) + 1
    around = mode + spread * np.linspace(-8, 8, _BLOCKS)
    ends = np.append(ends, np.clip(around, 1, times + 1).astype(np.int64))
    ends = np.unique(np.append(ends, times + 1))
    starts = np.append(0, ends[:-1])
    top = np.maximum.reduceat(masses.upper, starts)
    share = exp(masses - np.repeat(top, ends - starts))
    weight = log(share.total(starts=starts)) + top
    largest = (ends - 1).astype(np.float64)
    kept = largest > 0
    mu = (Interval.exactly(largest[kept]) * Interval.of(square)).sqrt().upper
    return KnownSamples(weight.upper[kept], mu)
