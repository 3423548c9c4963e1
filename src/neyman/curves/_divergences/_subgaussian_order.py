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
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from neyman.numerics import ULP, Array, Bracket

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
# Places where V is read, and r, in units of 1 / deviation.
_PLACES = 2.0 ** -np.arange(1.0, 15.0)
_NEAREST, _FARTHEST, _LARGEST = 1e-12, 1e8, 1e15


class DivergentPair(Protocol):
    """A pair with its Rényi divergences, and its swap."""

    def renyi_bracket(self, order: Array) -> Bracket: ...
    def zcdp_bracket(self) -> tuple[float, float]: ...
    def swap(self) -> "DivergentPair": ...


class _Loss(NamedTuple):
    """psi of one pair, at x = sign * size."""

    pair: DivergentPair
    back: DivergentPair
    mean: tuple[float, float]

    def psi(self, size: Array, sign: int) -> Bracket:
        """Bracket it at sizes from `_told`, any shape."""
        low, high = self.mean
        if sign > 0:
            found = self.pair.renyi_bracket(1 + size)
            return _outward(size * (found.lower - high), size * (found.upper - low), size * high)
        far = size > 1
        b = np.where(far, size, 2.0)
        there = self.back.renyi_bracket(b)
        # At -1 itself it is m: no mass is singular.
        near = np.where(size < 1, size, 0.5)
        here = self.pair.renyi_bracket(1 - near)
        sides = zip((low, high), there, (here.upper, here.lower), strict=True)
        lower, upper = (
            np.where(far, (b - 1) * d + b * m, np.where(size < 1, near * (m - less), m))
            for m, d, less in sides
        )
        return _outward(lower, upper, size * high)


def _outward(lower: Array, upper: Array, size: Array) -> Bracket:
    slack = 8 * ULP * (size + np.abs(np.where(np.isfinite(upper), upper, 0.0)))
    return Bracket(np.maximum(lower - slack, 0.0), np.maximum(upper + slack, 0.0))


def _told(size: Array) -> Array:
    """Return sizes close by for which 1 + x and 1 - x are doubles."""
    return (1 + size) - 1


def least_tau_squared(pair: DivergentPair) -> tuple[float, float]:
    """Return bounds of sup over x of 2 psi(x) / x^2, infinite where no rho is finite."""
    back, one = pair.swap(), np.ones(())
    mean = pair.renyi_bracket(one)
    loss = _Loss(pair, back, (float(mean.lower), float(mean.upper)))
    rhos = pair.zcdp_bracket()[1], back.zcdp_bracket()[1]
    if not math.isfinite(loss.mean[1] + max(rhos)):
        return 0.0, math.inf
    if loss.mean[1] == 0:
        return 0.0, 0.0
    grid = _told(np.geomspace(1e-3, _FARTHEST, 56) / max(math.sqrt(2 * loss.mean[1]), 1e-3))
    grid = np.append(grid, 1.0)
    seen = [2 * loss.psi(grid, sign).lower / grid**2 for sign in (1, -1)]
    lower = max(float(np.max(x)) for x in seen) * (1 - 4 * ULP)
    for tolerance in _TOLERANCES:
        target = lower * (1 + tolerance)
        if _suffices(loss, target, rhos):
            return lower, target
    return lower, tau_squared_of_rho(max(*rhos, loss.mean[1]))


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
    sides = [loss.psi(d, sign).upper for sign in (1, -1)]
    with np.errstate(over="ignore"):
        both = sum((np.expm1(side) for side in sides), start=np.zeros(d.shape)) * (1 + 4 * ULP)
    variance = float(np.min(both / d**2)) * (1 + 4 * ULP)
    # V + 2 c B / r^3 <= target, at the best r.
    room = (target - variance) * d**3 / (2 * both) * (1 - 8 * ULP)
    return max(float(np.max(np.minimum(room, d))), 0.0)


def _last(loss: _Loss, target: float, sign: int, rho: float) -> float:
    """Return where the bounds by rho and by the largest loss take over."""
    low, high = loss.mean
    end = (loss.pair if sign > 0 else loss.back).renyi_bracket(np.asarray(np.inf)).upper
    most = float(end) - low if sign > 0 else float(end) + high
    ends = [2 * most / target]
    if sign > 0 and target > 2 * rho:
        ends.append(2 * (rho - low) / (target - 2 * rho))
    if sign < 0 and target >= 2 * rho * (1 + 4 * ULP):
        # (b - 1) D'_b + b m <= b^2 rho + b (m - rho), for b >= 1.
        ends.append(max(2 * (high - rho) / max(target - 2 * rho, 1e-300), 1.0))
    return max(min(ends), 1e-300) * (1 + 16 * ULP)


def _below(loss: _Loss, target: float, sign: int, first: float, last: float) -> bool:
    """Return whether 2 psi <= target x^2 is proved between, by chords on cells that are halved."""
    if last <= first:
        return True
    edges = _told(np.geomspace(first, last * (1 + 1e-3), _CELLS + 1))
    edges[0] = first
    values = loss.psi(edges, sign).upper
    left, right, low, high = edges[:-1], edges[1:], values[:-1], values[1:]
    while left.size:
        slope = (high - low) / (right - left)
        rest = low - slope * left
        with np.errstate(divide="ignore", invalid="ignore"):
            at = -2 * rest / slope
            peak = np.where((rest < 0) & (at > left) & (at < right), -(slope**2) / (4 * rest), 0.0)
        ends = np.maximum(low / left**2, high / right**2)
        open_ = ~(2 * np.maximum(peak, ends) * (1 + 32 * ULP) <= target)
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


def tau_squared_of_rho(rho: float) -> float:
    """Return a tau^2 that every rho-zCDP loss has, in both directions.

    2 psi(x)/x^2 is at most 2 rho (1 + 1/c) for |x| >= c, and 2 B/c^2 within, B at the worst mean
    in [0, rho]: an end, for B is convex in it.
    """
    c = np.geomspace(1e-4, 64.0, 4001) / max(rho, math.sqrt(rho))
    with np.errstate(over="ignore"):
        least = np.expm1(rho * c * (c + 1)) + np.expm1(np.maximum(rho * c * (c - 1), 0.0))
        most = np.expm1(rho * c**2) + np.expm1(rho * c * np.maximum(c, 1.0))
        within = 2 * np.maximum(least, most) / c**2
    return float(np.min(np.maximum(within, 2 * rho * (1 + 1 / c)))) * (1 + 64 * ULP)


def added_subgaussian(factors: Iterable[tuple[Subgaussianity, int]]) -> Subgaussianity:
    """Return those of a composition of parts with counts: psi adds.

    So means do, and tau^2 of one part alone; of unlike parts it is at most the sum, and at least
    2 E L, which is 2 psi(-1).
    """
    parts = list(factors)
    slack = 4 * ULP * len(parts)
    sums = [
        [math.fsum(found[which][side] * count for found, count in parts) for side in (0, 1)]
        for which in (0, 1)
    ]
    (low, high), (least, most) = sums
    least = least if len(parts) == 1 else min(2 * low, most)
    return (low * (1 - slack), high * (1 + slack)), (least * (1 - slack), most * (1 + slack))
