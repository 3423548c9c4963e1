"""The worst pair of laws whose Rényi divergences are bounded, in both directions.

Testing one against the other is a pair on two points, and Rényi divergences shrink under tests.
So (alpha, beta) can be reached if and only if the two-point laws (alpha, 1 - alpha) and
(1 - beta, beta) obey every bound, and the smallest such beta is the trade-off function of the whole
class. Here each order gives its own bound of it; any choice of the dual variables is one.

The orders enter by `Orders`: all of a half-line, searched, or finitely many, tried in turn.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neyman.curves._divergences._renyi import (
    randomized_response_divergence,
    randomized_response_renyi,
)
from neyman.numerics import (
    Array,
    Interval,
    exp,
    expm1,
    log,
    log1p,
    log_sinhc,
    logistic,
    tanh,
)
from neyman.numerics._distributions._moment_bound import (
    epsilon_bound,
    excess_threshold,
    log_delta_bound,
    log_excess_bound,
)
from neyman.numerics._primitives import log_sum
from neyman.numerics._zoom import least

__all__ = [
    "FixedPoint",
    "Orders",
    "epsilon_above",
    "fixed_points",
    "log_delta_above",
    "log_errors",
]

_MOST_POINTS, _GRID = 2**17, 48
# From where, beside the typical loss, and how far beyond the divergence y is sought.
_BEFORE, _BEYOND = 1e-6, 60.0
# Of the search for a fixed point, and how far around it a proof is tried.
_STEPS, _AHEAD, _SETTLED = 12, 1e-5, 1e-9
_WIDTHS = (1e-13, 1e-12, 1e-10, 1e-6, 1e-2, 0.5)


class Orders(ABC):
    """Bounds D_(1+b) <= R at some orders 1 + b >= 1/2."""

    __slots__ = ()

    @property
    @abstractmethod
    def width(self) -> int:
        """Rows per question: one for each order that is tried."""

    @property
    @abstractmethod
    def first(self) -> tuple[int, ...]:
        """How many points of the first grid along each coordinate of the orders."""

    @abstractmethod
    def at(self, coordinates: Array) -> tuple[Array, Array]:
        """Return b and R, rounded up.

        Args:
            coordinates: shape (rows, points, coordinates), each from 0 on.

        Returns:
            Two arrays that broadcast to (rows, points).
        """

    @abstractmethod
    def reach(self, loss: Array) -> tuple[Array, ...]:
        """Return the largest useful coordinates where e^loss is a likelihood ratio of interest."""

    @abstractmethod
    def loss(self, log: Array) -> Array:
        """Return about how large a loss an event of log probability `log` can show, per row."""

    @abstractmethod
    def log_spread(self, rows: Array) -> Array:
        """Return about the logarithm of the typical loss, at most 0, for as many rows."""


class FixedPoint(NamedTuple):
    """f(c) = c and where f is steep there, from below and above, per order.

    Attributes:
        loss: log((1 - c)/c), the loss of the randomized response that just obeys the bound.
        log_slope: the lines through (c, c) of slopes -e^x with |x| at most this stay below f.
    """

    loss: Interval
    log_slope: Array


def fixed_points(b: Array, divergence: Array, least_divergence: Array) -> FixedPoint:
    """Return the fixed point of the curve of each single order.

    Args:
        b: orders less 1.
        divergence: bounds of the divergence, rounded up.
        least_divergence: the same, rounded down.
    """
    near = np.maximum(np.sqrt(2 * divergence / (b + 1)), np.minimum(divergence, 1.0))
    for _ in range(_STEPS):
        now, ahead = (_divergence(b, loss) for loss in (near, near * (1 + _AHEAD)))
        # log D grows with log loss at a rate between 1 and 2.
        rate = np.clip(np.log(ahead / now) / np.log1p(_AHEAD), 0.5, 2.5)
        step = np.log(divergence / now) / rate
        near = near * np.exp(step)
        if np.all(np.abs(step) < _SETTLED):
            break
    order = Interval.exactly(b) + 1
    lower, upper = np.zeros_like(near), np.full_like(near, np.inf)
    for width in _WIDTHS:
        low, high = near * (1 - width), near * (1 + width)
        proved = randomized_response_renyi(order, Interval.exactly(low)) <= least_divergence
        lower = np.where((lower == 0) & proved, low, lower)
        proved = randomized_response_renyi(order, Interval.exactly(high)) >= divergence
        upper = np.where(np.isinf(upper) & proved, high, upper)
        if np.all((lower > 0) & np.isfinite(upper)):
            break
    return FixedPoint(Interval(lower, upper), _log_slope(b, lower))


def _divergence(b: Array, loss: Array) -> Array:
    """Estimate D_(1+b) of randomized response."""
    with np.errstate(all="ignore"):
        return randomized_response_divergence(1 + b, loss)


def _log_slope(b: Array, loss: Array) -> Array:
    """Return S(2 loss) - loss rounded down: 0 where b <= -1/2."""
    order, known = Interval.exactly(b) + 1, Interval.exactly(loss)
    slope = log_sinhc(order * known) - log_sinhc(np.abs(b) * known)
    return np.maximum(slope.lower, 0.0)


def _through_fixed_point(epsilon: Array, fixed: FixedPoint) -> Array:
    """Return log of 1 - c - e^epsilon c rounded up, infinite beyond the slopes; epsilon >= 0."""
    at, loss = epsilon[:, None], Interval.exactly(fixed.loss.upper)
    inside = at <= fixed.log_slope
    fall = expm1(Interval.exactly(np.where(inside, at, 0.0))) * logistic(-loss)
    value = log((tanh(loss / 2) - fall).larger(0.0)).upper
    return np.min(np.where(inside, value, np.inf), axis=1)


def log_delta_above(epsilon: Array, orders: Orders, fixed: FixedPoint) -> Array:
    """Return an upper bound of log delta at epsilon >= 0, one-dimensional and finite."""
    parts = [
        np.minimum(_one_way(part, orders), _through_fixed_point(part, fixed))
        for part in _chunks(epsilon, orders)
    ]
    return np.minimum(np.concatenate(parts), 0.0)


def epsilon_above(delta: Array, orders: Orders, fixed: FixedPoint) -> Array:
    """Return an upper bound of epsilon at delta in (0, 1), one-dimensional."""
    parts = [
        np.minimum(_epsilon_one_way(part, orders), _epsilon_at_fixed_point(part, fixed))
        for part in _chunks(delta, orders)
    ]
    return np.concatenate(parts)


def _epsilon_at_fixed_point(delta: Array, fixed: FixedPoint) -> Array:
    """Return where 1 - c - e^epsilon c is delta, infinite beyond the slopes."""
    loss = Interval.exactly(fixed.loss.upper)
    spare = (tanh(loss / 2) - delta[:, None]).larger(0.0)
    found = log1p(spare / logistic(-loss)).upper
    return np.min(np.where(found <= fixed.log_slope, found, np.inf), axis=1)


def _epsilon_one_way(delta: Array, orders: Orders) -> Array:
    """Return the least epsilon at which the dual bound is delta, over y and the orders."""
    rows = np.repeat(delta, orders.width)
    logs = log(Interval.exactly(rows[:, None]))

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        share = points[..., 0]
        first = np.minimum(np.sqrt(divergence), 1.0) * _BEFORE
        y = first * ((divergence + _BEYOND) / first) ** share
        return epsilon_bound(b, divergence, y, logs)

    low, high = np.zeros(rows.shape), np.ones(rows.shape)
    return _search(score, low, high, orders.loss(logs.middle[:, 0]), orders)


def _chunks(values: Array, orders: Orders) -> list[Array]:
    most = max(1, _MOST_POINTS // (_GRID * math.prod(orders.first) * orders.width))
    return np.array_split(values, max(1, -(-values.size // most)))


def _search(
    score: Callable[[Array], Array], low: Array, high: Array, loss: Array, orders: Orders
) -> Array:
    """Return the least score over a dual variable and the orders, per question."""
    ends = orders.reach(loss)
    lows = np.stack([low, *(np.zeros_like(low) for _ in ends)], axis=-1)
    highs = np.stack([high, *ends], axis=-1)
    value = least(score, lows, highs, (_GRID, *orders.first))
    return np.min(value.reshape(-1, orders.width), axis=1)


def _one_way(epsilon: Array, orders: Orders) -> Array:
    """Return the least dual bound over orders and z = epsilon + e^k / (1 + b + 1/spread)."""
    rows = np.repeat(epsilon, orders.width)
    at = rows[:, None]
    # With this divisor the best k hardly depends on b.
    base = 1 + np.exp(-orders.log_spread(rows))[:, None]

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        z = at + np.exp(points[..., 0]) / (base + b)
        return log_delta_bound(b, divergence, z, at)

    low, high = np.full(rows.shape, -6.0), np.log((4 * rows + 200) * base[:, 0])
    return _search(score, low, high, rows, orders)


def _sure(log: Array) -> Array:
    return np.where(np.isnan(log), np.inf, log)


def log_errors(alpha: Array, orders: Orders) -> tuple[Array, Array]:
    """Return log tpr from above and log beta from below at alpha in (0, 1), one-dimensional."""
    parts = [(_log_power(part, orders), _log_miss(part, orders)) for part in _chunks(alpha, orders)]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _log_power(alpha: Array, orders: Orders) -> Array:
    """Return the least delta(x) + e^x alpha over lines that touch at alpha; 1 - v = expit(t)."""
    column = log(Interval.exactly(np.repeat(alpha, orders.width)[:, None]))
    logs = column.middle[:, 0]

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        t = points[..., 0]
        y = np.logaddexp(0.0, t)
        z = y + np.logaddexp(-y, t - y - logs[:, None])
        x = (Interval.exactly(excess_threshold(b, z)) - y).upper
        known = log_excess_bound(b, divergence, y, z)
        both = Interval.exactly(known), Interval.exactly((column + x).upper)
        return _sure(log_sum(*both).upper)

    loss = orders.loss(logs)
    high = np.minimum(logs + 2 * loss + 5, loss + 8)
    value = _search(score, logs + orders.log_spread(logs) - 8, high, loss, orders)
    return np.minimum(value, 0.0)


def _log_miss(alpha: Array, orders: Orders) -> Array:
    """Return the largest e^-x (1 - alpha - delta(x)), by the other direction.

    The line touches at alpha: y = t log(1/alpha), w = (1 - alpha) v / (v - alpha).
    """
    rows = np.repeat(alpha, orders.width)
    reach, rest = -np.log(rows)[:, None], 1 - Interval.exactly(rows[:, None])
    odds = np.log(rest.lower / rows[:, None])

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        t = points[..., 0]
        y, left = reach / (1 + np.exp(-t)), reach / (1 + np.exp(t))
        z = odds - np.log(np.expm1(left))
        z = np.where(z > 0, z, np.nan)
        x = (Interval.exactly(excess_threshold(b, z)) - y).upper
        kept = (rest - exp(log_excess_bound(b, divergence, y, z))).lower
        return _sure((x - log(kept)).upper)

    loss = orders.loss(np.log(rest.lower[:, 0]))
    value = _search(score, orders.log_spread(rows) - 6, loss + 6, loss, orders)
    return np.minimum(-value, 0.0)
