"""Published conversions of one Rényi divergence to (epsilon, delta), each under its authors' name.

Every function takes an order a, an upper bound R of D_a in both directions, and broadcasts. All
round up. Orders are at least 1; a formula that needs a > 1 answers with the trivial bound at 1.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from neyman.numerics import ULP, Array, around
from neyman.numerics._distributions._moment_bound import (
    excess_threshold,
    log_excess_bound,
    log_growth,
)
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
_TINY = 1e-290
_GRID = 48


class Conversion(NamedTuple):
    """A conversion, read both ways: delta of (order, R, epsilon), epsilon of (order, R, delta)."""

    delta: Formula
    epsilon: Formula


def mironov_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return e^(-(a-1)(epsilon - R)).

    Source: Mironov (2017), proposition 3; Abadi et al. (2016), theorem 2.2.
    """
    b, r, at = _read(order, divergence, epsilon)
    return _probability(b * (r - at), 1 + np.abs(b) * (np.abs(r) + np.abs(at)))


def mironov_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return R + log(1/delta) / (a - 1).

    Source: Mironov (2017), proposition 3.
    """
    b, r, at = _read(order, divergence, delta)
    with np.errstate(all="ignore"):
        return _loss(b, at, r, -np.log(at) / b)


def canonne_kamath_steinke_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return e^((a-1)(R - epsilon)) (1 - 1/a)^(a-1) / a.

    Source: Canonne, Kamath and Steinke (2020), proposition 12; the same, Balle, Barthe, Gaboardi,
    Hsu and Sato (2020), theorem 21.
    """
    b, r, at = _read(order, divergence, epsilon)
    shape = _b_log_ratio(b) - np.log1p(b)
    return _probability(b * (r - at) + shape, 4 + np.abs(b) * (r + np.abs(at)) + np.abs(shape))


def canonne_kamath_steinke_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return R + log(1 - 1/a) - (log delta + log a) / (a - 1).

    Source: Canonne, Kamath and Steinke (2020), proposition 12.
    """
    b, r, at = _read(order, divergence, delta)
    with np.errstate(all="ignore"):
        return _loss(b, at, r, _b_log_ratio(b) / b, -np.log(at) / b, -np.log1p(b) / b)


def asoodeh_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return (e^((a-1) R) - 1) / (a (e^((a-1) epsilon) - 1)).

    Source: Asoodeh, Liao, Calmon, Kosut and Sankar (2020), the closed form.
    """
    b, r, at = _read(order, divergence, epsilon)
    top, bottom = b * r, b * np.maximum(at, 0.0)
    with np.errstate(all="ignore"):
        log = np.log(r) - np.log(at) + log_growth(top) - log_growth(bottom) - np.log1p(b)
    log = np.where(at > 0, log, np.inf)
    return _probability(log, 8 + top + bottom + np.abs(np.where(np.isfinite(log), log, 0.0)))


def asoodeh_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return log(1 + (e^((a-1) R) - 1) / (a delta)) / (a - 1).

    Source: Asoodeh, Liao, Calmon, Kosut and Sankar (2020), the closed form.
    """
    b, r, at = _read(order, divergence, delta)
    with np.errstate(all="ignore"):
        log = np.log(r) + log_growth(b * r) - np.log1p(b) - np.log(at)
        size = np.where(r > 0, np.minimum(np.abs(log), 1e300), 1.0)
        # Off by ULP size in the logarithm, log(1 + b e^log) / b is by no more, relatively.
        value = _softplus(b, log + ULP * (8 + b * r + size)) * (1 + 4 * ULP)
    return np.where(at > 0, value, np.inf)


def bretagnolle_huber_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return sqrt(1 - e^-R), for R >= KL, whatever epsilon >= 0.

    D_a grows with a, so that any order of at least 1 will do.

    Source: Bretagnolle and Huber (1979).
    """
    _, r, at = _read(order, divergence, epsilon)
    value = np.nextafter(np.sqrt(-np.expm1(-r)) * (1 + 2 * ULP), 2.0)
    # At a negative epsilon the profile is larger by at most 1 - e^epsilon.
    return np.minimum(value - np.expm1(np.minimum(at, 0.0)) * (1 + ULP), 1.0)


def bretagnolle_huber_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return 0 where the bound above is at most delta, else infinity."""
    _, r, at = _read(order, divergence, delta)
    return np.where(bretagnolle_huber_delta(order, r, np.zeros_like(at)) <= at, 0.0, np.inf)


def optimal_delta(order: Array, divergence: Array, epsilon: Array) -> Array:
    """Return the largest p - e^epsilon q of laws on two points that obey the bound.

    sup { p - e^epsilon q : p^a q^(1-a) + (1-p)^a (1-q)^(1-a) <= e^((a-1) R) }

    Guarantee: an upper bound through the dual, never above Canonne-Kamath-Steinke's. For one
        direction of the bound, as the other formulas; `rdp` and `zcdp` use both.
    Source: Asoodeh et al. (2020), the optimal conversion; Zhu, Dong and Wang (2022), appendix F.
    """
    b, r, at = _read(order, divergence, epsilon)
    simple = canonne_kamath_steinke_delta(order, divergence, epsilon)
    shape, rows = simple.shape, [np.broadcast_to(x, simple.shape).ravel() for x in (b, r, at)]
    b, r, at = (row[:, None] for row in rows)
    start = np.maximum(at, 0.0)
    spread = 1 + np.maximum(r, 1e-30) ** -0.5

    def score(points: Array) -> Array:
        z = start + np.exp(points[..., 0]) / (spread + b)
        y = np.maximum((excess_threshold(b, z) - at) * (1 + ULP), 0.0)
        return _sure(log_excess_bound(b, np.maximum(r, 1e-300), y, z))

    with np.errstate(all="ignore"):
        high = np.log((4 * (start + np.minimum(r, 1e6)) + 200) * spread)[:, 0]
        log = least(score, np.full((high.size, 1), -6.0), high[:, None], (_GRID,))
    return np.minimum(_probability(log, 1 + np.abs(log)).reshape(shape), simple)


def optimal_epsilon(order: Array, divergence: Array, delta: Array) -> Array:
    """Return the least epsilon at which the optimal delta is at most delta.

    Source: as `optimal_delta`, with z solved for: log(1 + (a-1) N / (a delta)) / (a - 1).
    """
    b, r, at = _read(order, divergence, delta)
    simple = canonne_kamath_steinke_epsilon(order, divergence, delta)
    shape, rows = simple.shape, [np.broadcast_to(x, simple.shape).ravel() for x in (b, r, at)]
    b, r, at = (row[:, None] for row in rows)
    target = np.log(at) - ULP * (1 + np.abs(np.log(at)))

    def score(points: Array) -> Array:
        y = np.exp(points[..., 0]) + np.zeros_like(b)
        # The bound at z = 1, without its factor z E(bz).
        ones = np.ones_like(y)
        log = log_excess_bound(b, np.maximum(r, 1e-300), y, ones) + log_growth(b * ones)
        log = log + ULP * (4 + np.abs(log) + 2 * b) - target
        z = _softplus(b, log + ULP * (4 + np.abs(log))) * (1 + 4 * ULP)
        return _sure((excess_threshold(b, z) - y) * (1 + ULP))

    with np.errstate(all="ignore"):
        low, high = np.log(np.maximum(r, 1e-30)[:, 0]) - 12, np.log(np.minimum(r, 1e6)[:, 0] + 60)
        value = least(score, low[:, None], np.maximum(high, low)[:, None], (_GRID,))
    value = np.where(at[:, 0] > 0, np.maximum(value, 0.0), np.inf)
    return np.minimum(value.reshape(shape), simple)


MIRONOV = Conversion(mironov_delta, mironov_epsilon)
CANONNE_KAMATH_STEINKE = Conversion(canonne_kamath_steinke_delta, canonne_kamath_steinke_epsilon)
ASOODEH = Conversion(asoodeh_delta, asoodeh_epsilon)
BRETAGNOLLE_HUBER = Conversion(bretagnolle_huber_delta, bretagnolle_huber_epsilon)
OPTIMAL = Conversion(optimal_delta, optimal_epsilon)


def _read(order: Array, divergence: Array, at: Array) -> tuple[Array, Array, Array]:
    """Return the order less 1 from below, the divergence from above, epsilon or delta from below.

    D grows with the order, so that a bound at a larger order is one at a smaller.
    """
    b = np.maximum(around(order).lower - 1, 0.0)
    return b, around(divergence).upper, around(at).lower


def _sure(value: Array) -> Array:
    return np.where(np.isnan(value), np.inf, value)


def _probability(log: Array, size: Array) -> Array:
    """Return e^log rounded up, at most 1; 1 where nothing is known."""
    with np.errstate(all="ignore"):
        value = np.exp(log + 2 * ULP * size)
    return np.minimum(_sure(np.nextafter(value, np.inf)), 1.0)


def _b_log_ratio(b: Array) -> Array:
    """Return b log(b / (1 + b)), 0 at 0."""
    return np.where(b > 0, -b * np.log1p(1 / np.where(b > 0, b, 1.0)), 0.0)


def _loss(b: Array, delta: Array, *terms: Array) -> Array:
    """Return the sum rounded up, at least 0; infinite at order 1 or delta 0."""
    size = sum((np.abs(term) for term in terms), start=np.zeros_like(b))
    total = sum(terms, start=np.zeros_like(b)) + 4 * ULP * size
    known = (b > 0) & (delta > 0) & np.isfinite(total)
    return np.where(known, np.maximum(total, 0.0), np.inf)


def _softplus(b: Array, log: Array) -> Array:
    """Return log(1 + b e^log) / b; e^log at b = 0."""
    shift = np.log(np.maximum(b, _TINY)) + log
    large = np.logaddexp(0.0, shift) / np.maximum(b, _TINY)
    return np.where((b > 0) & (shift > -30), large, np.exp(np.minimum(log, 700.0)))
