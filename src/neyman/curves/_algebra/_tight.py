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
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from neyman.curves._algebra._composed import composed
from neyman.curves._named._constructors import gdp
from neyman.curves._order import least_mu, least_mu_until
from neyman.curves._pair import Pair
from neyman.curves._tradeoff import TradeOff
from neyman.numerics import ceil_float, gaussian_log_delta, square_roots

__all__ = ["tight_gaussian"]

# Each different factor takes some ms at each place of the proof.
_MOST_FACTORS = 16
# Few large losses take up to a minute, for the near end of their law is hard: not waited for.
_FEW, _LARGE = 8, 1
_LARGEST_EPSILON = 700.0
# Far more than rounding, far less than matters.
_ROOM = 1e-6


def tight_gaussian(curve: TradeOff) -> Fraction | None:
    """Return a mu^2 with f >= G_mu, at most the sum over the factors; None where there is none.

    Factors with a largest loss are composed exactly, with each other and with one Gaussian for all
    the rest, and the smallest mu of that composition is proved from above. Of more than 16
    different factors with a largest loss, and of fewer than 8 of which one is larger than 1, the
    sum is taken.

    Error: rounded up; where the rest are Gaussians, relatively about 1e-10, at most 1e-2.

    >>> from neyman.curves import laplace
    >>> f = laplace(0.1) ** 10
    >>> float(tight_gaussian(f)) / float(f.outer_gaussian()) < 0.68
    True
    """
    squares = [_tight(pair) for pair in {curve.remove: None, curve.add: None}]
    known = [square for square in squares if square is not None]
    return max(known) if len(known) == len(squares) else None


def _tight(pair: Pair) -> Fraction | None:
    whole = pair.outer_gaussian()
    if whole is None:
        return None
    bounded = [(part, n) for part, n in pair.factors() if part.outer_pure() is not None]
    rest = _sum(
        (part.outer_gaussian(), n) for part, n in pair.factors() if part.outer_pure() is None
    )
    steps = sum(n for _, n in bounded)
    if not bounded or len(bounded) > _MOST_FACTORS or (not rest and steps < 2):
        return whole
    if steps < _FEW and max(part.outer_pure() or 0 for part, _ in bounded) > _LARGE:
        return whole
    if rest:
        largest = _sum((part.outer_pure(), n) for part, n in bounded)
        together = _beside(composed([(gdp(squared=rest).remove, 1), *bounded]), rest, largest)
        if math.isfinite(together):
            return min(whole, Fraction(together) ** 2)
    mu = least_mu(composed(bounded), 0.0)[1]
    return min(whole, rest + Fraction(mu) ** 2) if math.isfinite(mu) else whole


def _sum(parts: Iterable[tuple[Fraction | None, int]]) -> Fraction:
    return sum((n * amount for amount, n in parts if amount is not None), Fraction(0))


def _beside(pair: Pair, square: Fraction, largest: Fraction) -> float:
    """Return the mu of a Gaussian with a largest loss beside it; infinite where none is proved."""
    a, most = square_roots(square)[1], ceil_float(largest)
    stop = most + a * a / 2 + a
    mu = least_mu_until(pair, stop)[1]
    # A larger mu is settled where a smaller one is.
    while not _settled(a, most, mu, stop):
        stop *= 1.25
        if not (stop <= _LARGEST_EPSILON and a < mu < math.inf):
            return math.inf
    mu = least_mu_until(pair, stop)[1]
    return mu if _settled(a, most, mu, stop) else math.inf


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
