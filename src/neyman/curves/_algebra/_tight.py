"""The Gaussian below a composition, by its exact curve and not by the sum of its parts.

    f = G_a ⊗ B,   B with a largest loss E:   delta_f(e) = E_Q[delta_a(e - L_B)] <= delta_a(e - E)

Up to a place S, delta_f <= delta_m is proved on the exact composition. Beyond, it is enough that
delta_a(S - E) <= delta_m(S), and that the left side falls faster from there on. With the Mills
ratio R and x = e / m + m / 2, y = x - m, the rate of delta_m is R(x) / (R(y) - R(x)); by
z / (z^2 + 1) < R(z) < 1 / z and 1 / (z^2 + 3) < 1 - z R(z) < 1 / (z^2 + 1) for z > 0 it is

    at most  e / m^2 + 1/2 + 3 / (m x),   for a and e - E at least  (e - E) / a^2 - 3/2,  if y > 0,

so that e (1 / a^2 - 1 / m^2) >= E / a^2 + 2 + 3 / (m x) at S, and with it everywhere beyond, will
do. Where no S below 700 is found, the squares of mu of the two parts are added.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import TypeAlias

import numpy as np

from neyman.curves._algebra._factors import Factors
from neyman.curves._order import least_mu, least_mu_until
from neyman.curves._pair import Pair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._solvers._contour import loss_law
from neyman.curves._solvers._exact import has_exact_profile
from neyman.curves._solvers._lattice import lattice_sum
from neyman.curves._solvers._solver import Auto, Contour, Solver, in_use, using
from neyman.numerics import ceil_float, gaussian_log_delta, square_roots

__all__ = ["LeastMu", "tight_mu"]

Compose: TypeAlias = Callable[[Sequence[tuple[Pair, int]]], Pair]
# A lower bound of the least mu, and a proved upper bound of its square.
LeastMu: TypeAlias = tuple[float, Fraction]

# Each different factor makes each place of the proof slower: 6 take a second, 12 some minutes.
_MOST_FACTORS = 6
# Fewer and larger losses than this take up to a minute, and are left to the lattice.
_FEW, _LARGE = 8, 1
_LARGEST_EPSILON = 700.0
# Far more than rounding, far less than matters.
_ROOM = 1e-6
# A bracket that is wider than the first is refined by a lattice until it is as close as the second,
# or the work is done: each different factor takes some 0.1 s, and each level four times as long.
_LOOSE, _CLOSE, _WORK = 1e-5, 1e-4, 32


def tight_mu(factors: Factors, compose: Compose) -> LeastMu:
    """Bracket the least mu of a composition whose factors all have a Gaussian below them.

    Factors with a largest loss are composed, with each other and with one Gaussian for all the
    rest, and the least mu of that composition is proved from above: point by point, where the
    profile is quick to find, and by a lattice else.

    Error: relatively about 1e-10 to 1e-6 for factors with a largest loss, beside others 1e-2.
    """
    effort = in_use()
    if isinstance(effort.solver, Auto) and effort.solver.seconds is not None:
        return _tight(factors, compose)
    found, methods = _remembered(factors, compose, effort.solver)
    effort.methods.update(methods)
    return found


@lru_cache(maxsize=256)
def _remembered(
    factors: Factors, compose: Compose, solver: Solver
) -> tuple[LeastMu, frozenset[str]]:
    with using(solver) as effort:
        return _tight(factors, compose), frozenset(effort.methods)


def _tight(factors: Factors, compose: Compose) -> LeastMu:
    whole = _total((pair.tight_gaussian(), n) for pair, n in factors)
    bounded = tuple((pair, n) for pair, n in factors if pair.outer_pure() is not None)
    others = [(pair, n) for pair, n in factors if pair.outer_pure() is None]
    rest = _total((pair.tight_gaussian(), n) for pair, n in others)
    if not bounded or (not rest and sum(n for _, n in bounded) < 2):
        return 0.0, whole
    quick = _quick(bounded)
    if rest and quick:
        largest = _total((pair.outer_pure(), n) for pair, n in bounded)
        found = _beside(compose([(GaussianPair(rest), 1), *bounded]), rest, largest)
        if math.isfinite(found[1]):
            # Below others than Gaussians a Gaussian tells nothing from below.
            known = all(pair.kind == GaussianPair.kind for pair, _ in others)
            return found[0] if known else 0.0, min(whole, Fraction(found[1]) ** 2)
    lower, upper = least_mu(compose(bounded), 0.0) if quick else (0.0, math.inf)
    if upper > lower * (1 + _LOOSE) and not isinstance(in_use().solver, Contour):
        other = _by_lattice(bounded)
        lower, upper = max(lower, other[0]), min(upper, other[1])
    return lower, min(whole, rest + Fraction(upper) ** 2) if math.isfinite(upper) else whole


def _quick(bounded: Factors) -> bool:
    """Return whether the profile of a composition takes milliseconds, and may be read."""
    if in_use().step is not None:
        return False
    if has_exact_profile(bounded):
        return True
    if len(bounded) > _MOST_FACTORS or loss_law(bounded) is None:
        return False
    large = max(pair.outer_pure() or 0 for pair, _ in bounded) > _LARGE
    return sum(n for _, n in bounded) >= _FEW or not large


def _by_lattice(bounded: Factors) -> tuple[float, float]:
    """Bracket the least mu by both directions of a lattice."""
    lower, upper, effort = 0.0, math.inf, in_use()
    if effort.step is None and len(bounded) > _WORK:
        return lower, upper
    both = {bounded: None, tuple((pair.swap(), n) for pair, n in bounded): None}
    sums = [lattice_sum(side, effort.step) for side in both]
    known = [side.mu() for side in sums if side is not None]
    if len(known) < len(both):
        return lower, upper
    effort.methods.add("lattice")
    for level, *found in zip(count(1), *known, strict=False):
        lower = max(lower, *(low for low, _ in found))
        upper = min(upper, max(high for _, high in found))
        if upper <= lower * (1 + _CLOSE) or effort.late or len(bounded) * 4**level > _WORK:
            break
    return lower, upper


def _total(parts: Iterable[tuple[Fraction | None, int]]) -> Fraction:
    return sum((n * amount for amount, n in parts if amount is not None), Fraction(0))


def _beside(pair: Pair, square: Fraction, largest: Fraction) -> tuple[float, float]:
    """Bracket the mu of a Gaussian with a largest loss beside it; infinite where none is proved."""
    a, most = square_roots(square)[1], ceil_float(largest)
    stop = most + a * a / 2 + a
    mu = least_mu_until(pair, stop)[1]
    # A larger mu is settled where a smaller one is.
    while not _settled(a, most, mu, stop):
        stop *= 1.25
        if not (stop <= _LARGEST_EPSILON and a < mu < math.inf):
            return 0.0, math.inf
    lower, mu = least_mu_until(pair, stop)
    return lower, mu if _settled(a, most, mu, stop) else math.inf


def _settled(a: float, most: float, mu: float, stop: float) -> bool:
    """Return whether delta_a(e - most) <= delta_mu(e) is proved for all e >= stop."""
    near = stop - most
    if not (mu > a and math.isfinite(mu) and near / a - a / 2 > 0):
        return False
    # The difference first: near a it has no digits left after the squares.
    falls = stop * (mu - a) * (mu + a) / (a * mu) ** 2 * (1 - _ROOM)
    if falls < (most / a**2 + 2 + 3 / (stop + mu * mu / 2)) * (1 + _ROOM):
        return False
    left = gaussian_log_delta(np.asarray(near), np.asarray(a)).upper
    return bool(left <= gaussian_log_delta(np.asarray(stop), np.asarray(mu)).lower)
