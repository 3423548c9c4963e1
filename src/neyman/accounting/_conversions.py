"""Published conversions of one Rényi divergence to (epsilon, delta), under their authors' names.

Every function takes an order a and an upper bound R of D_a in both directions, and broadcasts. All
round up. Orders are at least 1. At a = 1, a formula that needs a > 1 returns the trivial bound.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from neyman.numerics import Array, Interval, exp, expm1, log, log1p
from neyman.numerics._distributions._moment_bound import epsilon_bound, log_delta_bound
from neyman.numerics._interval import quiet
from neyman.numerics._primitives import log_growth, softplus
from neyman.numerics._zoom import least

__all__ = [
    "ASOODEH",
    "BRETAGNOLLE_HUBER",
    "CANONNE_KAMATH_STEINKE",
    "MIRONOV",
    "OPTIMAL",
    "Conversion",
    "asoodeh_delta",
    "asoodeh_epsilon",
    "bretagnolle_huber_delta",
    "bretagnolle_huber_epsilon",
    "canonne_kamath_steinke_delta",
    "canonne_kamath_steinke_epsilon",
    "mironov_delta",
    "mironov_epsilon",
    "optimal_delta",
    "optimal_epsilon",
]

Formula: TypeAlias = Callable[[Array, Array, Array], Array]
_GRID = 48


class Conversion(NamedTuple):
    """A conversion: delta from (order, R, epsilon), and epsilon from (order, R, delta)."""

    delta: Formula
    epsilon: Formula


def mironov_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return e^(-(a-1)(epsilon - R)).

    Source: Mironov (2017), proposition 3; Abadi et al. (2016), theorem 2.2.
    """
    b, r, at = _read(order, divergence, epsilon)
    return _probability(b * (r - at))


def mironov_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return R + log(1/delta) / (a - 1).

    Source: Mironov (2017), proposition 3.
    """
    b, r, at = _read(order, divergence, delta)
    return _loss(r - log(at) / b)


def canonne_kamath_steinke_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return e^((a-1)(R - epsilon)) (1 - 1/a)^(a-1) / a.

    Source: Canonne, Kamath and Steinke (2020), proposition 12; the same, Balle, Barthe, Gaboardi,
    Hsu and Sato (2020), theorem 21.
    """
    b, r, at = _read(order, divergence, epsilon)
    return _probability(b * (r - at) - b * log1p(1 / b) - log1p(b))


def canonne_kamath_steinke_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return R + log(1 - 1/a) - (log delta + log a) / (a - 1).

    Source: Canonne, Kamath and Steinke (2020), proposition 12.
    """
    b, r, at = _read(order, divergence, delta)
    return _loss(r - log1p(1 / b) - (log(at) + log1p(b)) / b)


def asoodeh_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return (e^((a-1) R) - 1) / (a (e^((a-1) epsilon) - 1)).

    Source: Asoodeh, Liao, Calmon, Kosut and Sankar (2020), the closed form.
    """
    b, r, at = _read(order, divergence, epsilon)
    at = at.larger(0)
    return _probability(log(r) - log(at) + log_growth(b * r) - log_growth(b * at) - log1p(b))


def asoodeh_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return log(1 + (e^((a-1) R) - 1) / (a delta)) / (a - 1).

    Source: Asoodeh, Liao, Calmon, Kosut and Sankar (2020), the closed form.
    """
    b, r, at = _read(order, divergence, delta)
    return _loss(_log1p_over(b, log(r) + log_growth(b * r) - log1p(b) - log(at)))


def bretagnolle_huber_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return sqrt(1 - e^-R), for R >= KL, at any epsilon >= 0.

    D_a increases with a, so any order of at least 1 gives a bound of KL.

    Source: Bretagnolle and Huber (1979).
    """
    _, r, at = _read(order, divergence, epsilon)
    # At a negative epsilon the profile is larger by at most 1 - e^epsilon.
    return np.minimum(((-expm1(-r)).sqrt() - expm1(at.smaller(0))).upper, 1.0)


def bretagnolle_huber_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return 0 if `bretagnolle_huber_delta` at epsilon = 0 is at most delta, else infinity."""
    found = bretagnolle_huber_delta(order, divergence, np.zeros_like(delta))
    return np.where(found <= Interval.decimal(delta).lower, 0.0, np.inf)


@quiet
def optimal_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return the largest p - e^epsilon q over laws on two points that satisfy the bound.

        sup { p - e^epsilon q : p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= e^((a-1) R) }

    Guarantee: an upper bound through the dual, never above Canonne-Kamath-Steinke's. Like the other
        formulas it uses the bound in one direction; `rdp` and `zcdp` use both.
    Source: Asoodeh et al. (2020), the optimal conversion; Zhu, Dong and Wang (2022), appendix F.
    """
    simple = canonne_kamath_steinke_delta(order, divergence, epsilon)
    b, r, at = _rows(order, divergence, epsilon, simple.shape)
    start = np.maximum(at, 0.0)
    spread = 1 + np.maximum(r, 1e-30) ** -0.5

    def score(points: Array) -> Array:
        z = start + np.exp(points[..., 0]) / (spread + b)
        return log_delta_bound(b, np.maximum(r, 1e-300), z, at)

    high = np.log((4 * (start + np.minimum(r, 1e6)) + 200) * spread)[:, 0]
    found = least(score, np.full((high.size, 1), -6.0), high[:, None], (_GRID,))
    return np.minimum(_probability(Interval.exactly(found)).reshape(simple.shape), simple)


@quiet
def optimal_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return the least epsilon at which the optimal delta is at most delta.

    Source: as `optimal_delta`, solved for z: log(1 + (a-1) N / (a delta)) / (a - 1).
    """
    simple = canonne_kamath_steinke_epsilon(order, divergence, delta)
    b, r, at = _rows(order, divergence, delta, simple.shape)
    target = log(at)

    def score(points: Array) -> Array:
        return epsilon_bound(b, np.maximum(r, 1e-300), np.exp(points[..., 0]), target)

    low, high = np.log(np.maximum(r, 1e-30)[:, 0]) - 12, np.log(np.minimum(r, 1e6)[:, 0] + 60)
    value = least(score, low[:, None], np.maximum(high, low)[:, None], (_GRID,))
    value = np.where(at[:, 0] > 0, value, np.inf)
    return np.minimum(value.reshape(simple.shape), simple)


MIRONOV = Conversion(mironov_delta, mironov_epsilon)
CANONNE_KAMATH_STEINKE = Conversion(canonne_kamath_steinke_delta, canonne_kamath_steinke_epsilon)
ASOODEH = Conversion(asoodeh_delta, asoodeh_epsilon)
BRETAGNOLLE_HUBER = Conversion(bretagnolle_huber_delta, bretagnolle_huber_epsilon)
OPTIMAL = Conversion(optimal_delta, optimal_epsilon)


def _read(order: Array, divergence: Array, at: Array) -> tuple[Interval, Interval, Interval]:
    """Return order - 1 from below, the divergence from above, and epsilon or delta from below.

    D increases with the order, so a bound at a larger order also bounds the smaller order.
    """
    b = np.maximum((Interval.decimal(order) - 1).lower, 0.0)
    r, least_at = Interval.decimal(divergence).upper, Interval.decimal(at).lower
    return Interval.exactly(b), Interval.exactly(r), Interval.exactly(least_at)


def _rows(
    order: Array, divergence: Array, at: Array, shape: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Return the same three, each as a column with one row for each element."""
    b, r, at = (
        np.broadcast_to(x.lower, shape).reshape(-1, 1) for x in _read(order, divergence, at)
    )
    return b, r, at


def _sure(value: Array) -> Array:
    """Return the bounds, with infinity in place of nan."""
    return np.where(np.isnan(value), np.inf, value)


def _probability(log: Interval) -> Array:
    """Return e^log rounded up, at most 1; 1 in place of nan."""
    return np.minimum(_sure(exp(log).upper), 1.0)


def _loss(value: Interval) -> Array:
    """Return a loss rounded up, at least 0; infinity in place of nan."""
    return np.maximum(_sure(value.upper), 0.0)


def _log1p_over(b: Interval, log_x: Interval) -> Interval:
    """Return log(1 + b x) / b, or x where b is 0."""
    return Interval.where(b > 0, softplus(log(b) + log_x) / b, exp(log_x))
