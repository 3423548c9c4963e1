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

from neyman.numerics import ULP, Array, Bracket
from neyman.numerics._distributions._moment_bound import excess_threshold, log_excess_bound
from neyman.numerics._zoom import least

__all__ = ["FixedPoint", "Orders", "fixed_points", "log_delta_above", "log_errors"]

_MOST_POINTS, _GRID = 2**17, 48
# No subnormal number comes near a logarithm.
_LEAST = 1e-290
_FAR = 300.0
# Of the search for a fixed point, and how far around it a proof is tried.
_STEPS, _AHEAD, _WIDTHS = 12, 1e-5, (1e-13, 1e-12, 1e-10, 1e-6, 1e-2, 0.5)


class Orders(ABC):
    """Bounds D_(1+b) <= R at some orders 1 + b >= 1/2."""

    __slots__ = ()

    @property
    @abstractmethod
    def width(self) -> int:
        """How many rows each question is asked in: one for each order that is tried in turn."""

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

    loss: Bracket
    log_slope: Array


def _response_divergence(b: Array, loss: Array) -> Array:
    """Return D_(1+b) of randomized response; relative error within ULP (16 + 4 (1 + b) loss)."""
    half = loss / 2
    near = (b + 1) * half < _FAR
    h = np.where(near, half, 0.0)
    x = np.abs(b) * h
    sinhc = np.where(x > 0, np.sinh(x) / np.where(x > 0, x, 1.0), 1.0)
    ratio = 2 * np.sinh((b + 1) * h) * h * sinhc / np.cosh(h)
    inner = b * ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(np.abs(inner) > 0, np.log1p(inner) / np.where(inner == 0, 1, inner), 1.0)
        far = loss - np.where(b > 0.25, np.log1p(np.exp(-loss)) / np.maximum(b, 0.25), 0.0)
    return np.where(near, ratio * shrink, far)


def fixed_points(b: Array, divergence: Array, least_divergence: Array) -> FixedPoint:
    """Return the fixed point of the curve of each single order.

    Args:
        b: orders less 1.
        divergence: bounds of the divergence, rounded up.
        least_divergence: the same, rounded down.
    """
    near = np.maximum(np.sqrt(2 * divergence / (b + 1)), np.minimum(divergence, 1.0))
    for _ in range(_STEPS):
        now, ahead = _response_divergence(b, near), _response_divergence(b, near * (1 + _AHEAD))
        # log D grows with log loss at a rate between 1 and 2.
        rate = np.clip(np.log(ahead / now) / np.log1p(_AHEAD), 0.5, 2.5)
        near = near * np.exp(np.log(divergence / now) / rate)
    lower, upper = np.zeros_like(near), np.full_like(near, np.inf)
    for width in _WIDTHS:
        low, high = near * (1 - width), near * (1 + width)
        proved = _response_divergence(b, low) * (1 + _slack(b, low)) <= least_divergence
        lower = np.where((lower == 0) & proved, low, lower)
        proved = _response_divergence(b, high) * (1 - _slack(b, high)) >= divergence
        upper = np.where(np.isinf(upper) & proved, high, upper)
    return FixedPoint(Bracket(lower, upper), _log_slope(b, lower))


def _slack(b: Array, loss: Array) -> Array:
    return ULP * (16 + 4 * np.minimum((b + 1) * loss, _FAR))


def _log_slope(b: Array, loss: Array) -> Array:
    """Return S(2 loss) - loss rounded down: 0 where b <= -1/2."""
    positive = np.maximum(loss, 1e-300)
    return np.maximum(excess_threshold(b, 2 * positive) * (1 - 8 * ULP) - positive, 0.0)


def _through_fixed_point(epsilon: Array, fixed: FixedPoint) -> Array:
    """Return log of 1 - c - e^epsilon c rounded up, infinite beyond the slopes; epsilon >= 0."""
    at = epsilon[:, None]
    loss = fixed.loss.upper
    advantage, rest = np.tanh(loss / 2), np.exp(-loss) / (1 + np.exp(-loss))
    inside = at <= fixed.log_slope
    fall = np.expm1(np.where(inside, at, 0.0)) * rest
    value = np.maximum(advantage - fall, 0.0) + 8 * ULP * (advantage + fall)
    return np.min(np.where(inside, np.log(value) + ULP, np.inf), axis=1)


def log_delta_above(epsilon: Array, orders: Orders, fixed: FixedPoint) -> Array:
    """Return an upper bound of log delta at epsilon >= 0, one-dimensional and finite."""
    parts = [
        np.minimum(_one_way(part, orders), _through_fixed_point(part, fixed))
        for part in _chunks(epsilon, orders)
    ]
    return np.minimum(np.concatenate(parts), 0.0)


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
        y = np.maximum((excess_threshold(b, z) - at) * (1 + ULP), 0.0)
        return _sure(log_excess_bound(b, divergence, y, z))

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
    logs = np.repeat(np.log(alpha), orders.width)
    log = logs[:, None]

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        t = points[..., 0]
        y = np.logaddexp(0.0, t)
        z = y + np.logaddexp(-y, t - y - log)
        x = excess_threshold(b, z) - y
        spent = x + log + ULP * (4 + np.abs(x) + np.abs(log))
        return _sure(np.logaddexp(log_excess_bound(b, divergence, y, z), spent))

    loss = orders.loss(logs)
    high = np.minimum(logs + 2 * loss + 5, loss + 8)
    value = _search(score, logs + orders.log_spread(logs) - 8, high, loss, orders)
    return np.minimum(value + 2 * ULP * (1 + np.abs(value)), 0.0)


def _log_miss(alpha: Array, orders: Orders) -> Array:
    """Return the largest e^-x (1 - alpha - delta(x)), by the other direction.

    The line touches at alpha: y = t log(1/alpha), w = (1 - alpha) v / (v - alpha).
    """
    rows = np.repeat(alpha, orders.width)
    reach, rest = -np.log(rows)[:, None], (1 - rows)[:, None]

    def score(points: Array) -> Array:
        b, divergence = orders.at(points[..., 1:])
        t = points[..., 0]
        y, left = reach / (1 + np.exp(-t)), reach / (1 + np.exp(t))
        z = np.log(rest / rows[:, None]) - np.log(np.expm1(left))
        z = np.where(z > 0, z, np.nan)
        x = excess_threshold(b, z) - y
        delta = np.exp(log_excess_bound(b, divergence, y, z))
        kept = rest * (1 - ULP) - delta * (1 + ULP)
        value = x - np.log(np.where(kept > _LEAST, kept, np.nan))
        return _sure(value + ULP * (4 + np.abs(x) + np.abs(value)))

    loss = orders.loss(np.log(rest[:, 0]))
    value = _search(score, orders.log_spread(rows) - 6, loss + 6, loss, orders)
    return np.minimum(-value, 0.0)
