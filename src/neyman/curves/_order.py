"""The one-number summaries that are suprema over the whole curve, proved by refinement."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from neyman.numerics import (
    Array,
    Interval,
    dominated,
    exp_outward,
    first_double,
    gaussian_log_delta,
    gaussian_mu_near,
    log_ndtr,
)

__all__ = [
    "Deltas",
    "inner_gaussian_square",
    "least_mu",
    "least_mu_until",
    "least_rho",
    "proved_below",
]

_GRID = 65
_ZOOMS, _ZOOMED = 5, 17
# Tried in turn: how far above the sampled extreme a proof may have to go.
_TOLERANCES = (1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-2)
_MOST_CELLS = 100_000
_TINY_MU = 1e-150
_LARGEST_EPSILON = 700.0
# A bracket wider than this is worth the slower profile.
_LOOSE = 1e-5
# A delta that is closer to 1 than this, relatively, does not determine mu.
_TELLING = 1e-9
# Relative offsets from an estimate of mu at which a lower bound is tried.
_STEPS_DOWN = np.concatenate([-np.geomspace(1e-16, 0.5, 48), np.geomspace(1e-16, 1e-12, 8)])


class Deltas(Protocol):
    """A profile by itself."""

    def delta_bracket(self, epsilon: Array) -> Interval: ...


class Profile(Deltas, Protocol):
    """What the suprema need of a curve."""

    @property
    def symmetric(self) -> bool: ...
    def swap(self) -> "Profile": ...
    def epsilon_bracket(self, delta: Array) -> Interval: ...
    def renyi_bracket(self, order: Array) -> Interval: ...


def _gaussian_delta(epsilon: Array, mu: Array) -> Interval:
    return exp_outward(gaussian_log_delta(epsilon, np.maximum(mu, _TINY_MU)))


def _extreme(score: Callable[[Array], Array], stop: float) -> tuple[float, float]:
    """Return where the largest score was found on [0, stop], and the score.

    By zooming in on the best of a grid.
    """
    low, high, best = 0.0, stop, (0.0, -math.inf)
    for _ in range(_ZOOMS):
        points = np.linspace(low, high, _GRID)
        scores = score(points)
        at = int(np.argmax(scores))
        if float(scores[at]) > best[1]:
            best = float(points[at]), float(scores[at])
        low, high = float(points[max(at - 1, 0)]), float(points[min(at + 1, _GRID - 1)])
    return best


def proved_below(
    curve: Profile, other: Profile, mass: float, slope: Callable[[Array], Array]
) -> bool:
    """Return whether delta of `curve` is proved to be at most delta of `other`, both symmetric.

    Args:
        curve: its profile from above.
        other: its profile from below.
        mass: a lower bound of the other's delta at infinity; once `curve` is there all is settled.
        slope: -d delta_other / d e^epsilon.
    """
    if not (curve.symmetric and other.symmetric):
        return False
    stop = float(curve.epsilon_bracket(np.asarray(mass)).upper)
    if stop == 0 or stop > _LARGEST_EPSILON:
        return stop == 0
    return dominated(
        lambda e: curve.delta_bracket(e).upper, lambda e: other.delta_bracket(e).lower, slope, stop
    )


def least_mu(
    curve: Profile, slack: float, quick: Callable[[Profile, float], Deltas] | None = None
) -> tuple[float, float]:
    """Return bounds of the smallest mu with delta_f <= slack + (1 - slack) delta_mu everywhere.

    Every point of the profile gives a lower bound; a candidate just above the largest is proved.
    There is no condition beyond the epsilon at which delta_f reaches `slack`. If a curve is not
    symmetric, both of its directions count.

    Args:
        curve: f.
        slack: in [0, 1).
        quick: returns a profile, for many questions where delta is at least some number, that may
            be a little looser than the curve's own.
    """
    sides = [curve] if curve.symmetric else [curve, curve.swap()]
    # The slack is a decimal, off by up to half a step: the lower bound uses less, the upper more.
    least, most = math.nextafter(slack, 0.0), math.nextafter(slack, 1.0)
    stops = [float(side.epsilon_bracket(np.asarray(least)).upper) for side in sides]
    asked = [(side, stop) for side, stop in zip(sides, stops, strict=True) if stop > 0]
    if not asked:
        return 0.0, 0.0
    lower, upper = 0.0, math.inf
    if quick is not None:
        lower, upper = _least_mu([(quick(side, least), stop) for side, stop in asked], least, most)
        if upper <= lower * (1 + _LOOSE):
            return lower, upper
    other = _least_mu(asked, least, most)
    return max(lower, other[0]), min(upper, other[1])


def least_mu_until(curve: Profile, stop: float) -> tuple[float, float]:
    """Return bounds of the smallest mu with delta_f <= delta_mu on [-stop, stop]."""
    sides = [curve] if curve.symmetric else [curve, curve.swap()]
    return _least_mu([(side, stop) for side in sides], 0.0, math.nextafter(0.0, 1.0))


def _least_mu(
    sides: Sequence[tuple[Deltas, float]], least: float, most: float
) -> tuple[float, float]:
    """Return the bounds for profiles, each on [0, stop], where the slack is between the two."""
    lower = max(_most_seen(side, min(stop, _LARGEST_EPSILON), most) for side, stop in sides)
    if max(stop for _, stop in sides) > _LARGEST_EPSILON:
        return lower, math.inf
    for tolerance in _TOLERANCES:
        mu = max(lower, _TINY_MU) * (1 + tolerance)
        if all(
            dominated(
                lambda e, side=side: (side.delta_bracket(e).upper - least) / (1 - least),
                lambda e, mu=mu: _gaussian_delta(e, np.asarray(mu)).lower,
                lambda e, mu=mu: np.exp(log_ndtr(-e / mu - mu / 2)),
                stop,
            )
            for side, stop in sides
        ):
            return lower, mu
    return lower, math.inf


def _most_seen(side: Deltas, stop: float, slack: float) -> float:
    """Return the largest proved lower bound of mu by one point of the profile."""

    def need(epsilon: Array) -> Array:
        return (side.delta_bracket(epsilon).lower - slack) / (1 - slack)

    def near(epsilon: Array) -> Array:
        asked = need(epsilon)
        log = np.log(np.where(asked > 0, asked, 1.0))
        # A delta next to 1 hardly determines mu.
        return np.where(log < -_TELLING, gaussian_mu_near(epsilon, log), 0.0)

    at, mu = _extreme(near, stop)
    if mu == 0:
        return 0.0
    tried = mu * (1 + _STEPS_DOWN)
    short = _gaussian_delta(np.asarray(at), tried).upper < need(np.asarray(at))
    return float(np.max(tried[short], initial=0.0))


def inner_gaussian_square(curve: Profile, mass: float, slope: Callable[[Array], Array]) -> Fraction:
    """Return the largest mu^2 found with delta_mu <= delta_f everywhere, proved.

    Args:
        curve: symmetric; any other gives 0.
        mass: a lower bound of delta_f at infinity; where it is 0 no Gaussian fits.
        slope: -d delta_f / d e^epsilon = P(L > epsilon).
    """
    if mass <= 0 or not curve.symmetric:
        return Fraction(0)

    def minus_largest(epsilon: Array) -> Array:
        room = curve.delta_bracket(epsilon).lower
        return -first_double(lambda mu: _gaussian_delta(epsilon, mu).upper > room, epsilon.shape)

    # Beyond `stop`, delta_mu <= delta_mu(stop) <= mass <= delta_f.
    at_zero = np.asarray(-minus_largest(np.asarray(0.0)))
    stop = float(first_double(lambda e: _gaussian_delta(e, at_zero).upper <= mass, ()))
    if stop > _LARGEST_EPSILON:
        return Fraction(0)
    largest = -_extreme(minus_largest, stop)[1]
    for tolerance in _TOLERANCES:
        mu = largest * (1 - tolerance)
        if dominated(
            lambda e, mu=mu: _gaussian_delta(e, np.asarray(mu)).upper,
            lambda e: curve.delta_bracket(e).lower,
            slope,
            stop,
        ):
            return Fraction(mu) ** 2
    return Fraction(0)


def largest_ratio(curve: Profile, orders: Array) -> float:
    """Bound from below the largest D_order / order at some orders above 1."""
    found = curve.renyi_bracket(orders)
    ratios = (found / Interval.decimal(orders)).lower
    return float(np.max(np.where(np.isinf(found.lower), np.inf, ratios)))


def least_rho(
    curve: Profile, most: float = math.inf, last: float = math.inf
) -> tuple[float, float]:
    """Return bounds of sup over orders in (1, last) of D_order / order.

    A candidate rho just above the largest ratio seen is proved: D_order grows with the order,
    which settles the orders next to 1 and beyond D_inf / rho; between, K(a) = (a - 1) D_a and
    rho a (a - 1) are convex, and on a cell the one's chord stays below the other's tangent.

    Args:
        curve: with its Rényi divergences.
        most: a bound that is known already.
        last: where the orders end.
    """
    largest = float(curve.renyi_bracket(np.asarray(last)).upper)
    if largest == 0:
        return 0.0, 0.0
    count, first = (400, 0) if math.isinf(last) else (60, 1)
    lower, upper = _largest_ratios(curve, count, last)
    if most <= lower * (1 + 1e-6) or math.isinf(largest):
        return min(lower, most), most
    # Where the divergences are known from above only, the largest bound of a ratio is tried too.
    for sup in (lower, upper) if lower > 0 else (upper,):
        for tolerance in (1e-8, 1e-6, 1e-4, 1e-2)[first:]:
            rho = sup * (1 + tolerance)
            end = min(largest / rho, last) - 1
            if most <= rho or _rho_suffices(curve, rho, end, tolerance):
                return lower, min(most, rho)
    return lower, min(most, largest)


def _largest_ratios(curve: Profile, count: int, last: float) -> tuple[float, float]:
    """Return the largest lower and the largest upper bound of D_order / order that are seen."""
    grid = np.concatenate([[1.0], 1 + np.logspace(-6, 6, count)])
    grid = np.append(grid[grid < last], min(last, grid[-1]))
    orders, lower, upper = np.asarray(grid, dtype=np.float64), 0.0, 0.0
    for _ in range(_ZOOMS):
        found = curve.renyi_bracket(orders)
        low, high = found.lower / orders, found.upper / orders
        lower, upper = max(lower, float(np.max(low))), max(upper, float(np.max(high)))
        # Between two orders of a grid the largest one is missed by too much.
        best = int(np.argmax(low if lower > 0 else high))
        ends = orders[max(best - 1, 0)], orders[min(best + 1, orders.size - 1)]
        orders = np.asarray(np.linspace(*ends, _ZOOMED), dtype=np.float64)
    return lower, upper


def _rho_suffices(curve: Profile, rho: float, end: float, tolerance: float) -> bool:
    def cumulant(u: Array) -> Array:
        """Bound K(1 + u) from above; divergences grow with the order."""
        order = (1 + Interval.exactly(u)).upper
        return (curve.renyi_bracket(order) * u).upper

    def tangent(u: Array, at: Array) -> Array:
        """Bound from below the tangent of rho u (u + 1) that is drawn at another place."""
        place = Interval.exactly(u)
        return ((place * (place + 1) - (place - at).squared()) * Interval.decimal(rho)).lower

    first = tolerance / 4
    if float(curve.renyi_bracket(np.asarray(1 + first)).upper) > Interval.decimal(rho).lower:
        return False
    edges = np.geomspace(first, max(end * (1 + 1e-9), first), _GRID)
    known = cumulant(edges)
    if np.any(tangent(edges, edges) < known):
        return False
    left, right, k_left, k_right = edges[:-1], edges[1:], known[:-1], known[1:]
    while left.size:
        middle = (left + right) / 2
        open_ = tangent(left, middle) < k_left
        open_ |= tangent(right, middle) < k_right
        left, middle, right = left[open_], middle[open_], right[open_]
        k_left, k_middle, k_right = k_left[open_], cumulant(middle), k_right[open_]
        # No finer cells help where the bound is above the parabola.
        if np.any(tangent(middle, middle) < k_middle):
            return False
        if left.size > _MOST_CELLS or np.any((middle <= left) | (middle >= right)):
            return False
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        k_left, k_right = np.concatenate([k_left, k_middle]), np.concatenate([k_middle, k_right])
    return True
