"""Correlated noise with balls-in-bins sampling: bounds by simulated losses, with a confidence."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.accounting import ConfidentBound, CorrelatedNoise
from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, text

__all__ = ["SimulatedLosses", "simulate_balls_in_bins"]

_MOST_BINS, _MOST_SAMPLES = 4096, 10**9
# What is added to every covariance, over the largest: more than rounding takes.
_MORE = 2.0**-30
# Numbers held at once.
_CHUNK = 2**22
_ROUNDED = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class SimulatedLosses:
    """Random draws of the privacy loss of a dominating pair.

    delta(epsilon) = E (1 - e^(epsilon - L))_+, a mean of numbers in [0, 1]: with n draws of mean m,
    n KL(m, p) <= log(2 / (1 - confidence)) bounds it by p.

    Guarantee: with probability at least `confidence` over the draws, one answer is at least the
        true value, in both directions.
    Source: Hoeffding (1963), theorem 1, for means of numbers in [0, 1].

    Attributes:
        removed: the losses above 0, drawn with the record.
        added: the losses above 0 of the other direction, drawn without it.
        samples: number of draws in each direction.
        confidence: confidence of each answer.
    """

    removed: Array
    added: Array
    samples: int
    confidence: float

    def delta(self, epsilon: Real) -> ConfidentBound:
        """Return an upper bound on delta at an epsilon of at least 0.

        Raises:
            InvalidParameter: if epsilon is negative.
        """
        at = float(exact(epsilon, "epsilon"))
        if at < 0:
            raise InvalidParameter(f"epsilon must be at least 0; got {at:g}")
        return self._answer(self._most(at), self._mean(at))

    def epsilon(self, delta: Real) -> ConfidentBound:
        """Return an upper bound on epsilon at delta.

        The bound on delta falls with epsilon, as delta does. So it also holds at the least epsilon
        where it is small enough.

        Raises:
            InvalidParameter: if delta is outside (0, 1), or too small for this number of draws to
                prove.
        """
        goal = float(exact(delta, "delta"))
        if not 0 < goal < 1:
            raise InvalidParameter(f"delta must be strictly between 0 and 1; got {goal:g}")
        if _upper(0.0, self.samples, self._log_inverse) > goal:
            needed = math.ceil(self._log_inverse / -math.log1p(-goal) * (1 + 2 * _ROUNDED)) + 1
            raise InvalidParameter(
                f"delta={goal:g} needs at least {needed} draws for {100 * self.confidence:g} % "
                f"confidence; got {self.samples}. Draw a few times more"
            )
        return self._answer(self._least(self._most, goal), self._least(self._mean, goal))

    @property
    def _log_inverse(self) -> float:
        return math.log(2 / (1 - self.confidence))

    def _mean(self, epsilon: float) -> float:
        return max(
            float(np.sum(np.maximum(-np.expm1(epsilon - losses), 0.0))) / self.samples
            for losses in (self.removed, self.added)
        )

    def _most(self, epsilon: float) -> float:
        return _upper(self._mean(epsilon), self.samples, self._log_inverse)

    def _least(self, of: Callable[[float], float], goal: float) -> float:
        """Return an epsilon where a falling function is at most the goal."""
        if of(0.0) <= goal:
            return 0.0
        low = 0.0
        high = float(max(np.max(self.removed, initial=0.0), np.max(self.added, initial=0.0)))
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if of(middle) <= goal else (middle, high)
        return high

    def _answer(self, value: float, estimate: float) -> ConfidentBound:
        return ConfidentBound(
            value=value, confidence=self.confidence, estimate=estimate, samples=self.samples
        )


def simulate_balls_in_bins(
    strategy: CorrelatedNoise,
    *,
    noise_multiplier: Real,
    bins: int,
    samples: int,
    confidence: Real,
    rng: np.random.Generator,
) -> SimulatedLosses:
    """Simulate the losses where each record is in the same random step of every epoch.

    The bin j of a record is drawn once, uniformly and independently. The record takes part in the
    steps j, j + bins, j + 2 bins, .... With M_j the sum of these columns of C, the pair

        N(0, sigma^2 I) and (1/bins) sum over j of N(M_j, sigma^2 I)

    dominates for all contributions, also for those that depend on earlier releases. It does not
    cover a new draw of the bin in each epoch.

    Args:
        strategy: the matrix C, lower triangular.
        noise_multiplier: sigma, divided by the norm of a contribution.
        bins: number of steps of an epoch, at most 4096; a draw takes about bins^2 multiplications.
        samples: number of draws in each direction. A bound near delta needs about 10 / delta of
            them.
        confidence: confidence of each answer, such as 0.999.
        rng: the generator of the draws; it is not the noise of a training.

    Guarantee: for one record added or removed, each answer with the stated confidence, if the draws
        are random. It is not a proof, so a ledger cannot charge it.

    Raises:
        InvalidParameter: if a parameter is out of range, or the strategy is not lower triangular.

    Source: Choquette-Choo, Ganesh, Haque, Steinke and Thakurta (2024), "Near exact privacy
        amplification for matrix mechanisms"; Chua et al. (2024), "Balls-and-bins sampling for
        DP-SGD"; proof of the pair: docs/theory/correlated_noise.md.

    >>> import numpy as np
    >>> from neyman.accounting import banded_strategy, random_allocation
    >>> losses = simulate_balls_in_bins(
    ...     banded_strategy(10, 1), noise_multiplier=1, bins=10, samples=100_000,
    ...     confidence=0.999, rng=np.random.default_rng(1),
    ... )
    >>> exact = random_allocation(noise_multiplier=1, steps=10)
    >>> exact.delta(0.5) < losses.delta(0.5).value < 1.1 * exact.delta(0.5)
    True
    """
    sigma, sure = (
        exact(noise_multiplier, "noise_multiplier"),
        float(exact(confidence, "confidence")),
    )
    count = whole("samples", samples, 1)
    if whole("bins", bins, 1) > min(_MOST_BINS, strategy.steps):
        raise InvalidParameter(
            f"bins must be at most the number of steps, {strategy.steps}, and {_MOST_BINS}; got "
            f"{bins}"
        )
    if sigma <= 0 or not 0 < sure < 1 or count > _MOST_SAMPLES:
        raise InvalidParameter(
            "noise_multiplier must be positive, confidence strictly between 0 and 1, and samples "
            f"at most {_MOST_SAMPLES}; got noise_multiplier={text(sigma)}, confidence={sure:g}, "
            f"samples={count}"
        )
    covariance = _covariance(strategy, bins) / float(sigma) ** 2
    # Larger covariances lose more, each of them.
    covariance = covariance + float(np.max(covariance)) * _MORE * (1 + np.eye(bins))
    return SimulatedLosses(*_losses(covariance, count, rng), count, sure)


def _covariance(strategy: CorrelatedNoise, bins: int) -> Array:
    # Refuses what is not lower triangular: for that, nothing is proved where data are adaptive.
    _ = strategy.bands
    means = np.stack([strategy.column_sum(range(j, strategy.steps, bins)) for j in range(bins)])
    return means @ means.T


def _losses(covariance: Array, samples: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the losses above 0 of draws with the record and of draws without it, rounded up."""
    bins = len(covariance)
    root = np.linalg.cholesky(covariance).T
    half = np.diag(covariance) / 2
    removed: list[Array] = []
    added: list[Array] = []
    chunk = max(_CHUNK // bins, 1)
    for start in range(0, samples, chunk):
        size = min(chunk, samples - start)
        bin_of = rng.integers(bins, size=size)
        with_record = rng.standard_normal((size, bins)) @ root + covariance[bin_of]
        without = rng.standard_normal((size, bins)) @ root
        removed.append(_log_mean(with_record - half))
        added.append(-_log_mean(without - half))
    more = _MORE * (1 + float(np.max(covariance)))
    found = (np.concatenate(losses) + more for losses in (removed, added))
    first, second = (losses[losses > 0] for losses in found)
    return first, second


def _log_mean(exponents: Array) -> Array:
    most = np.max(exponents, axis=1)
    return most + np.log(np.mean(np.exp(exponents - most[:, None]), axis=1))


def _upper(mean: float, count: int, log_inverse: float) -> float:
    """Return the largest p with count KL(mean, p) <= log_inverse, rounded up."""
    mean = min(mean * (1 + _ROUNDED), 1.0)
    low, high = mean, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        far = mean * math.log(mean / middle) if mean else 0.0
        if mean < 1:
            far += (1 - mean) * (math.log1p(-mean) - math.log1p(-middle))
        low, high = (low, middle) if count * far > log_inverse else (middle, high)
    return min(high * (1 + _ROUNDED), 1.0)
