"""The smallest subgaussian parameter of a privacy loss, from its Rényi divergences.

With m = D_1 and psi(x) = log E_Q e^(x (L - m)), tau^2 is the supremum of 2 psi(x) / x^2:

    psi(x) = x (D_(1+x) - m) from -1 on,   (b - 1) D'_b + b m at x = -b below (D' of the swap).

psi is convex and 0 at 0. On a cell it lies below its chord. Beyond the cells D_a <= rho a and
D_a <= D_infinity bound it. Next to 0, for |x| <= c <= r, with B = e^psi(r) + e^psi(-r) - 2,

    psi(x) <= x^2 V / 2 + (|x| / r)^3 B,   V <= (e^psi(d) + e^psi(-d) - 2) / d^2 for every d,

for |x|^k E|X|^k / k! adds up to at most (|x| / r)^3 E e^(r|X|) from k = 3 on, and cosh is above
its parabola. Proofs: docs/theory/renyi.md.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from neyman.numerics import Array, Interval, expm1

__all__ = [
    "DivergentPair",
    "Subgaussianity",
    "added_subgaussian",
    "least_tau_squared",
    "tau_squared_of_rho",
]

# Brackets of E_Q[L] and of the least tau^2.
Subgaussianity: TypeAlias = tuple[tuple[float, float], tuple[float, float]]

_TOLERANCES = 1e-6, 1e-4, 1e-3, 1e-2, 0.1
_CELLS, _MOST_CELLS = 48, 1024
# Values of d and r, in units of 1 / deviation.
_PLACES = 2.0 ** -np.arange(1.0, 15.0)
_NEAREST, _FARTHEST, _LARGEST = 1e-12, 1e8, 1e15


class DivergentPair(Protocol):
    """A pair with its Rényi divergences, and its swap."""

    def renyi_bracket(self, order: Array) -> Interval: ...
    def zcdp_bracket(self) -> tuple[float, float]: ...
    def swap(self) -> "DivergentPair": ...


class _Loss(NamedTuple):
    """psi of one pair, at x = sign * size."""

    pair: DivergentPair
    back: DivergentPair
    mean: Interval

    def psi(self, size: Array, sign: int) -> Interval:
        """Bracket it at sizes from `_told`, any shape."""
        if sign > 0:
            found = Interval(*self.pair.renyi_bracket(1 + size))
            return (size * (found - self.mean)).larger(0.0)
        far = size > 1
        b = np.where(far, size, 2.0)
        beyond = (Interval.exactly(b) - 1) * Interval(*self.back.renyi_bracket(b)) + b * self.mean
        # At -1 itself it is m: no mass is singular.
        near = np.where(size < 1, size, 0.5)
        inside = near * (self.mean - Interval(*self.pair.renyi_bracket(1 - near)))
        rest = Interval.where(size < 1, inside, self.mean)
        return Interval.where(far, beyond, rest).larger(0.0)


def _told(size: Array) -> Array:
    """Return sizes close by for which 1 + x and 1 - x are doubles."""
    return (1 + size) - 1


def least_tau_squared(pair: DivergentPair) -> tuple[float, float]:
    """Return bounds of sup over x of 2 psi(x) / x^2, infinite where no rho is finite."""
    back, one = pair.swap(), np.ones(())
    mean = Interval(*pair.renyi_bracket(one))
    loss = _Loss(pair, back, mean)
    rhos = pair.zcdp_bracket()[1], back.zcdp_bracket()[1]
    largest = float(mean.upper)
    if not math.isfinite(largest + max(rhos)):
        return 0.0, math.inf
    if largest == 0:
        return 0.0, 0.0
    grid = _told(np.geomspace(1e-3, _FARTHEST, 56) / max(math.sqrt(2 * largest), 1e-3))
    grid = np.append(grid, 1.0)
    seen = [2 * loss.psi(grid, sign) / Interval.exactly(grid).squared() for sign in (1, -1)]
    lower = max(float(np.max(x.lower)) for x in seen)
    for tolerance in _TOLERANCES if lower > 0 else ():
        target = lower * (1 + tolerance)
        if _suffices(loss, target, rhos):
            return lower, target
    return lower, tau_squared_of_rho(max(*rhos, largest))


def _suffices(loss: _Loss, target: float, rhos: tuple[float, float]) -> bool:
    first = float(_told(np.asarray(_from_zero(loss, target) * (1 - 1e-3))))
    if first < _NEAREST:
        return False
    for sign, rho in ((1, rhos[0]), (-1, rhos[1])):
        last = _last(loss, target, sign, rho)
        if last > _LARGEST * first or not _below(loss, target, sign, first, last):
            return False
    return True


def _from_zero(loss: _Loss, target: float) -> float:
    """Return c up to which psi(x) <= x^2 target / 2 is proved; 0 if none is."""
    deviation = math.sqrt(target)
    d = _told(_PLACES / deviation)
    more, less = (expm1(loss.psi(d, sign)) for sign in (1, -1))
    both = Interval.exactly((more + less).upper)
    variance = float(np.min((both / Interval.exactly(d).squared()).upper))
    # V + 2 c B / r^3 <= target, at the best r.
    spare = Interval.exactly(target) - variance
    room = (spare * d * d * d / (2 * both)).lower
    return max(float(np.max(np.minimum(room, d))), 0.0)


def _last(loss: _Loss, target: float, sign: int, rho: float) -> float:
    """Return where the bounds by rho and by the largest loss take over."""
    end = (loss.pair if sign > 0 else loss.back).renyi_bracket(np.asarray(np.inf)).upper
    most = Interval.exactly(end) - loss.mean if sign > 0 else Interval.exactly(end) + loss.mean
    ends, spare = [2 * most / target], Interval.exactly(target) - 2 * Interval.exactly(rho)
    if sign > 0 and spare > 0:
        ends.append(2 * (rho - loss.mean) / spare)
    if sign < 0 and spare > 0:
        # (b - 1) D'_b + b m <= b^2 rho + b (m - rho), for b >= 1.
        ends.append((2 * (loss.mean - rho) / spare).larger(1.0))
    return max(min(float(found.upper) for found in ends), 1e-300)


def _below(loss: _Loss, target: float, sign: int, first: float, last: float) -> bool:
    """Return whether 2 psi <= target x^2 is proved between, by chords on cells that are halved."""
    if last <= first:
        return True
    edges = _told(np.geomspace(first, last * (1 + 1e-3), _CELLS + 1))
    edges[0] = first
    values = loss.psi(edges, sign).upper
    left, right, low, high = edges[:-1], edges[1:], values[:-1], values[1:]
    while left.size:
        start, stop = (Interval.exactly(edge) for edge in (left, right))
        slope = (high - Interval.exactly(low)) / (stop - start)
        rest = low - slope * start
        # Where the chord over x^2 has its peak, and that is within the cell.
        at = -2 * rest / slope
        inside = (rest.lower < 0) & (at.upper > left) & (at.lower < right)
        peak = np.where(inside, (slope.squared() / (-4 * rest)).upper, 0.0)
        ends = (low / start.squared()).larger(high / stop.squared()).upper
        open_ = ~(2 * np.maximum(peak, ends) <= target)
        if not np.any(open_):
            return True
        # A value above the target at an edge cannot be mended.
        if np.any(2 * ends > target) or 2 * int(np.sum(open_)) > _MOST_CELLS:
            return False
        left, right, low, high = (x[open_] for x in (left, right, low, high))
        middle = _told(np.sqrt(left * right))
        if np.any((middle <= left) | (middle >= right)):
            return False
        value = loss.psi(middle, sign).upper
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        low, high = np.concatenate([low, value]), np.concatenate([value, high])
    return True


@lru_cache(maxsize=64)
def tau_squared_of_rho(rho: float) -> float:
    """Return a tau^2 that every rho-zCDP loss has, in both directions.

    2 psi(x)/x^2 is at most 2 rho (1 + 1/c) for |x| >= c, and 2 B/c^2 within, B at the worst mean
    in [0, rho]: an end, for B is convex in it.
    """
    c: Array = np.geomspace(1e-4, 64.0, 129) / max(rho, math.sqrt(rho))
    least = math.inf
    for _ in range(3):
        found = _tau_squared(rho, c)
        at = int(np.argmin(found))
        least = min(least, float(found[at]))
        sides = np.take(c, [at - 1, at + 1], mode="clip")
        c = np.asarray(np.geomspace(sides[0], sides[1], 33), dtype=np.float64)
    return least


def _tau_squared(rho: float, c: Array) -> Array:
    own = Interval.exactly(rho) * c
    low, high = (own * (Interval.exactly(c) + step) for step in (-1.0, 1.0))
    least = expm1(high) + expm1(low.larger(0.0))
    most = expm1(own * c) + expm1(own * np.maximum(c, 1.0))
    within = 2 * least.larger(most) / Interval.exactly(c).squared()
    return within.larger(2 * rho * (1 + 1 / Interval.exactly(c))).upper


def added_subgaussian(factors: Iterable[tuple[Subgaussianity, int]]) -> Subgaussianity:
    """Return those of a composition of parts with counts: psi adds.

    So means do, and tau^2 of one part alone; of unlike parts it is at most the sum, and at least
    2 E L, which is 2 psi(-1).
    """
    parts = list(factors)
    mean, square = (_sum((found[which], count) for found, count in parts) for which in (0, 1))
    least = float(square.lower)
    if len(parts) > 1:
        least = min(2 * float(mean.lower), float(square.upper))
    return (float(mean.lower), float(mean.upper)), (least, float(square.upper))


def _sum(parts: Iterable[tuple[tuple[float, float], int]]) -> Interval:
    total = Interval.exactly(0.0)
    for (low, high), count in parts:
        total = total + Interval(np.asarray(low), np.asarray(high)) * count
    return total
