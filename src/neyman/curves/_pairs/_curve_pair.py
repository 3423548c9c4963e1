"""Pairs that are known by their curve alone, not by the law of their loss."""

import numpy as np

from neyman.curves._pair import Pair
from neyman.curves._pairs._bounded import check_epsilon
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.numerics import Array, Bracket, Interval, ceil_float, floor_float
from neyman.overriding import override

__all__ = ["CurvePair"]

_GRID = np.concatenate([np.linspace(0.0, 2.0, 301), np.geomspace(2.0, 690.0, 301)[1:]])
_STEPS, _WIDENINGS = 14, 12


class CurvePair(Pair):
    """A pair that gives its profile and its powers; it composes over a lattice of losses."""

    __slots__ = ()

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        target = np.ravel(delta)
        lower, upper = np.zeros(target.shape), np.zeros(target.shape)
        open_ = np.flatnonzero(self.delta_bracket(np.zeros(1)).upper > target)
        if open_.size:
            lower[open_], upper[open_] = self._roots(target[open_])
        rest = np.flatnonzero(np.isnan(lower) | np.isnan(upper))
        if rest.size:
            lower[rest], upper[rest] = super().epsilon_bracket(target[rest])
        lower = np.clip(lower, 0.0, upper)
        return Bracket(lower.reshape(np.shape(delta)), upper.reshape(np.shape(delta)))

    def _roots(self, target: Array) -> Bracket:
        """Return the bounds that are proved, and nan."""
        log = self.log_delta_bracket(_GRID).upper
        with np.errstate(divide="ignore"):
            level = np.log(target)
        at = np.clip(np.searchsorted(-log, -level), 1, _GRID.size - 1)
        low, high = _GRID[at - 1], _GRID[at]
        t = high
        with np.errstate(invalid="ignore", divide="ignore"):
            above, below = log[at - 1] - level, log[at] - level
            for _ in range(_STEPS):
                share = above / (above - below)
                t = low + (high - low) * np.where(np.isfinite(share), share, 0.5)
                here = self.log_delta_bracket(t).upper - level
                left = here > 0
                # An end that stays counts half (Illinois).
                above, below = np.where(left, here, above / 2), np.where(left, below / 2, here)
                low, high = np.where(left, t, low), np.where(left, high, t)
        lower, upper = np.full(t.shape, np.nan), np.full(t.shape, np.nan)
        pad = 1e-13 * (1 + t)
        for _ in range(_WIDENINGS):
            least = np.maximum(t - pad, 0.0)
            proved = self.delta_bracket(least).lower > target
            lower = np.where(np.isnan(lower) & (proved | (least == 0)), least, lower)
            proved = self.delta_bracket(t + pad).upper <= target
            upper = np.where(np.isnan(upper) & proved, t + pad, upper)
            if not np.any(np.isnan(lower) | np.isnan(upper)):
                break
            pad = pad * 4
        return Bracket(lower, upper)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        square, most = self.outer_gaussian(), self.outer_pure()
        upper, a = np.full(order.shape, np.inf), Interval.decimal(order)
        if square is not None:
            upper = np.where(np.isinf(order), np.inf, (a * (square / 2)).upper)
        if most is not None:
            upper = np.minimum(upper, ceil_float(most))
        lower = (a * (self.inner_gaussian() / 2)).lower
        least = self.inner_pure()
        if least > 0:
            check_epsilon(least)
            lower = np.maximum(lower, RandomizedResponsePair(least).renyi_bracket(order).lower)
        return Bracket(np.minimum(lower, upper), upper)

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        square, most = self.outer_gaussian(), self.outer_pure()
        known = [x for x in (square, None if most is None else most**2) if x]
        upper = ceil_float(min(known) / 2) if known else np.inf
        return floor_float(self.inner_gaussian() / 2), upper
