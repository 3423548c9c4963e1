"""The pair of random allocation: each record in exactly one of T steps of an epoch."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, final

import numpy as np

from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair
from neyman.curves._profiles._conjugate import powers_of_profile
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    gaussian_log_delta,
    proved_root,
    standing,
    text,
)
from neyman.numerics._distributions._lognormal_mean import LognormalMean
from neyman.numerics._primitives import exp, expm1, log
from neyman.overriding import override

__all__ = ["AllocationPair", "AllocationSwapPair"]

_LEAST_NOISE, _MOST_NOISE, _MOST_STEPS = Fraction(1, 4), 100, 10**6
# Points of a round, and rounds, before Newton's method.
_POINTS, _ROUNDS = 17, 4


@dataclass(frozen=True, slots=True)
class _Allocated(Pair):
    """What both directions share."""

    noise_multiplier: Fraction
    steps: int

    proved: ClassVar[bool] = True
    relation = "add_remove"

    def __post_init__(self) -> None:
        """Refuse what the quadrature is not laid out for."""
        if not (
            _LEAST_NOISE <= self.noise_multiplier <= _MOST_NOISE and 2 <= self.steps <= _MOST_STEPS
        ):
            raise InvalidParameter(
                f"noise_multiplier must be in [{float(_LEAST_NOISE):g}, {_MOST_NOISE}] and steps "
                f"in [2, {_MOST_STEPS}]; got {text(self.noise_multiplier)} and {self.steps}. Write "
                "both within these ranges"
            )

    def means(self) -> tuple[LognormalMean, LognormalMean]:
        """Return S for 1/σ rounded down and up: more noise gives away less."""
        low, high = standing(1 / self.noise_multiplier)
        return LognormalMean(float(low), self.steps), LognormalMean(float(high), self.steps)

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta,
            epsilon=self._epsilon,
            tpr=partial(powers_of_profile, self.delta_bracket),
            method=lambda: "contour",
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(outer_gaussian=lambda: self.noise_multiplier**-2)

    @staticmethod
    @abstractmethod
    def side(mean: LognormalMean, epsilon: Array) -> Interval:
        """Bracket log delta at finite epsilon, one dimension, by the law of S."""

    def _log_delta(self, epsilon: Array) -> Interval:
        """Take the lower bound at more noise and the larger neighbour of epsilon, and so on."""
        flat = np.ravel(epsilon).astype(np.float64)
        lower, upper = np.full(flat.shape, -np.inf), np.zeros(flat.shape)
        upper[np.isposinf(flat)], lower[np.isneginf(flat)] = -np.inf, 0.0
        inner = np.isfinite(flat)
        near, (less, more) = Interval.decimal(flat[inner]), self.means()
        if np.any(inner) and less == more:
            # One set of lines serves both neighbours.
            found = self.side(more, np.concatenate([near.lower, near.upper]))
            upper[inner] = np.minimum(found.upper[: near.lower.size], 0.0)
            lower[inner] = found.lower[near.lower.size :]
        elif np.any(inner):
            lower[inner] = self.side(less, near.upper).lower
            upper[inner] = np.minimum(self.side(more, near.lower).upper, 0.0)
        shape = np.shape(epsilon)
        return Interval(np.minimum(lower, upper).reshape(shape), upper.reshape(shape))

    def _epsilon(self, delta: Array) -> Interval:
        flat = np.ravel(delta)
        lower, upper = np.zeros(flat.shape), np.zeros(flat.shape)
        lower[flat == 0] = upper[flat == 0] = np.inf
        at_zero = self.delta_bracket(np.zeros(()))
        for i in np.flatnonzero((flat > 0) & (flat < at_zero.upper)).tolist():
            found = self._root(np.log(flat[i : i + 1]))
            certain = flat[i] < at_zero.lower
            lower[i] = max(float(found.lower[0]), 0.0) if certain else 0.0
            upper[i] = max(float(found.upper[0]), 0.0)
        return Interval(lower.reshape(np.shape(delta)), upper.reshape(np.shape(delta)))

    def _root(self, target: Array) -> Interval:
        mu = np.asarray(1 / float(self.noise_multiplier))
        low, high = 0.0, 1.0
        while float(gaussian_log_delta(np.asarray(high), mu).upper) > target[0]:
            high *= 2
        for _ in range(_ROUNDS):
            grid = np.linspace(low, high, _POINTS)
            above = self.log_delta_bracket(grid).upper > target[0]
            at = int(np.count_nonzero(above))
            low, high = grid[max(at - 1, 0)], grid[min(max(at, 1), _POINTS - 1)]
        return proved_root(
            self.log_delta_bracket,
            lambda e: self.log_delta_bracket(np.maximum(e, 0.0)).upper,
            target,
            np.asarray([(low + high) / 2]),
            np.asarray([-1.0 / max(high - low, 1e-300)]),
        )


@final
@dataclass(frozen=True, slots=True)
class AllocationPair(_Allocated):
    """(N(0, σ² I), (1/T) Σ_t N(e_t, σ² I)), the T steps of an epoch at once.

    e^L is the mean S of T independent variables e^Y, Y ~ N(-1/2σ², 1/σ²), so that

        delta(epsilon) = E(S - e^epsilon)_+.

    Source: Chua et al. (2025), "Balls-and-bins sampling for DP-SGD"; docs/theory/allocation.md.
    """

    kind: ClassVar[str] = "allocation"

    def __str__(self) -> str:
        noise = text(self.noise_multiplier)
        return f"random_allocation(noise_multiplier={noise}, steps={self.steps})"

    @override
    def swap(self) -> Pair:
        return AllocationSwapPair(self.noise_multiplier, self.steps)

    @staticmethod
    @override
    def side(mean: LognormalMean, epsilon: Array) -> Interval:
        return _joined(
            epsilon,
            mean.log_excess(epsilon[epsilon >= 0]),
            _above_floor(epsilon[epsilon < 0], mean.log_shortfall(epsilon[epsilon < 0]), 0.0),
        )


@final
@dataclass(frozen=True, slots=True)
class AllocationSwapPair(_Allocated):
    """((1/T) Σ_t N(e_t, σ² I), N(0, σ² I)): delta(epsilon) = E(1 - e^epsilon S)_+."""

    kind: ClassVar[str] = "allocation_swap"

    def __str__(self) -> str:
        return f"{self.swap()}.swap()"

    @override
    def swap(self) -> Pair:
        return AllocationPair(self.noise_multiplier, self.steps)

    @staticmethod
    @override
    def side(mean: LognormalMean, epsilon: Array) -> Interval:
        right, left = epsilon[epsilon >= 0], epsilon[epsilon < 0]
        return _joined(
            epsilon,
            mean.log_shortfall(-right) + right,
            _above_floor(left, mean.log_excess(-left), left),
        )


def _joined(epsilon: Array, right: Interval, left: Interval) -> Interval:
    lower, upper = np.empty(epsilon.shape), np.empty(epsilon.shape)
    at = epsilon >= 0
    lower[at], lower[~at] = right.lower, left.lower
    upper[at], upper[~at] = right.upper, left.upper
    return Interval(lower, upper)


def _above_floor(epsilon: Array, found: Interval, shift: Array | float) -> Interval:
    """Return log(1 - e^epsilon + e^(shift + found))."""
    return log(exp((found + shift).smaller(0)) - expm1(epsilon))
