"""Binomial masses and tails in logarithms, far out and for huge n, with a proved bracket.

The mass by the saddle point, with d = k - np,

    log b(k; n, p) = r(n) - r(k) - r(n - k) - D(k, np) - D(n - k, nq) - log(2π k (n - k)/n)/2,
    D(k, m) = k log(k/m) + m - k,   r = what Stirling's formula leaves of log x!,

and the tail as a beta integral, P(X >= k) = k b(k; n, p) ∫_0^1 e^(E(t)) dt, where

    E(t) = -t (d - q)/q + (k - 1) l(-t) + (n - k) l(tp/q),   l(x) = log(1 + x) - x <= 0.

At u = p (1 - t) the integrand is a multiple of u^(k-1) (1 - u)^(n-k), whose logarithm is concave,
and at u + iv its modulus is at most exp(v² c(u)/2) times its value at u, where
c(u) = k/u² + (n - k)/(1 - u)². So Gauss's rule with m nodes on a panel of width w of u is within
(32/15) w M ρ^(2-2m) / (1 - ρ^-2), M the largest modulus on the ellipse of Bernstein of parameter ρ
(Trefethen, "Approximation theory and approximation practice", 19.3). The ten panels have
w² c(p) <= 0.96², w times the slope at p is at most 8.8, and w <= p/20. With ρ = 4 the ellipses
reach 0.5625 w beyond them and |v| <= 0.9375 w; c(u) is at most 4.8 c(p) there, so that
M <= e^(4.95 + 1.95), and the integral is at least w e^(-8.8 - 0.52). With 20 nodes a panel the rule
is therefore within 2^-48 of it.

Source: Loader (2000), "Fast and accurate computation of binomial probabilities".
"""

import math

import numpy as np

from neyman.numerics._interval import Array, Interval, Operand, interval, quiet
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import exp, log, log1mexp, log1p_gap

__all__ = ["log_binomial_mass", "log_binomial_tail", "log_even_mass"]

_NODES, _WEIGHTS = legendre(20)
# Panels are almost a deviation wide; a log decay of 44 ends the integral.
_PANELS, _PANEL, _DECAY = 10, 0.96, 44.0
# In panels, and where the last one ends.
_INNER = (np.arange(_PANELS)[:, None] * 2 + 1 + _NODES) / 2
_PLACES = Interval.within(np.append(_INNER, float(_PANELS)), 2.0**-51, 2.0**-51)
_SHARES = np.append(np.tile(_WEIGHTS, _PANELS) / 2, 0.0)
# The rule, and a sum of so many products of positive numbers with weights correct to a unit.
_RULE = Interval.within(np.ones(()), 2.0**-48 + (_SHARES.size + 4) * 2.0**-53)
# Of log x! less Stirling's formula: for x from 1 to 15, then a series, the next term of which is
# below 2^-57 of the whole from 16 on.
_FIRST = np.asarray(
    [
        0.08106146679532726,
        0.0413406959554093,
        0.02767792568499834,
        0.020790672103765093,
        0.016644691189821193,
        0.013876128823070748,
        0.01189670994589177,
        0.010411265261972096,
        0.009255462182712733,
        0.00833056343336287,
        0.007573675487951841,
        0.00694284010720953,
        0.006408994188004207,
        0.0059513701127588475,
        0.005554733551962801,
    ]
)
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


# Where D(k, n/2) + D(n - k, n/2) = n (x²/2 + x⁴/12 + x⁶/30 + ...), x = 2k/n - 1, is summed.
_EVEN = 0.3
_EVENS = tuple(1 / (2 * j * (2 * j - 1)) for j in range(1, 14))


def log_even_mass(k: Array, n: Array | int) -> Interval:
    """Return a bracket of log b(k; n, 1/2) for whole k from 0 to n, as doubles.

    Error: relative 2^-47 and absolute 2^-49, the size of a few roundings.
    """
    rest = np.asarray(n - k)
    x = np.minimum(np.abs(k - rest) / n, _EVEN)
    square, series = x * x, np.full(x.shape, _EVENS[-1])
    for coefficient in reversed(_EVENS[:-1]):
        series = series * square + coefficient
    share, other = k / n * 2, rest / n * 2
    far = k * np.log(np.maximum(share, 1e-300)) + rest * np.log(np.maximum(other, 1e-300))
    near = n * series * square
    return Interval.within(_log_peak(k, rest) - np.where(x < _EVEN, near, far), 2.0**-47, 2.0**-49)


def _log_peak(k: Array, rest: Array) -> Array:
    """Return r(n) - r(k) - r(n - k) - log(2π k (n - k)/n)/2; 0 where k or n - k is."""
    inner = (k > 0) & (rest > 0)
    some, others = np.where(inner, k, 1.0), np.where(inner, rest, 1.0)
    n = some + others
    value = _stirling_rest(n) - _stirling_rest(some) - _stirling_rest(others)
    return np.where(inner, value - np.log(2 * math.pi * some * (others / n)) / 2, 0.0)


def _stirling_rest(x: Array) -> Array:
    """Return log x! - (x + 1/2) log x + x - log(2π)/2 for whole x >= 1."""
    big = np.maximum(x, 16.0)
    square, series = 1 / (big * big), np.full(x.shape, _SERIES[-1])
    for coefficient in reversed(_SERIES[:-1]):
        series = series * square + coefficient
    small = _FIRST[np.minimum(x, 15.0).astype(np.int64) - 1]
    return np.where(x >= 16, series / big, small)


@quiet
def _deviance(k: Array, gap: Interval, mean: Interval) -> Interval:
    """Return D(k, m); the gap k - m is an argument too, for it may be known more accurately.

    Error: 2^-46 relatively, and the errors of the two arguments times the derivatives in them.
    """
    center, middle, whole = gap.middle, mean.middle, np.maximum(k, 1.0)
    steps, few = [end.upper - end.lower for end in (gap, mean)], mean.lower
    near = np.abs(log1p_gap.function(-center / whole)) * whole
    moved = np.maximum(np.abs(gap.lower), np.abs(gap.upper)) / few * steps[0]
    # k log(k/m) - gap, where m is far below k.
    far, shift = whole * np.log(whole / middle) - center, whole / few * steps[1] + steps[0]
    low = middle < whole / 4
    value = np.where(k == 0, middle, np.where(low, far, near))
    moved = np.where(k == 0, steps[1], np.where(low, shift, moved))
    return Interval.within(value, 2.0**-46, moved).larger(0)


def log_binomial_mass(k: Array, n: Array | int, p: Operand, q: Operand) -> Interval:
    """Return a bracket of log P(X = k).

    Args:
        k: whole numbers from 0 to n, as doubles.
        n: trials, at least 1, broadcast against k.
        p: success probability, above 0.
        q: 1 - p, given apart so that neither loses digits; above 0.
    """
    successes = interval(p) * n
    return _log_mass(k, np.asarray(n - k), k - successes, (successes, interval(q) * n))


@quiet
def _log_mass(k: Array, rest: Array, gap: Interval, means: tuple[Interval, Interval]) -> Interval:
    """Return log b(k; n, p) from n - k, k - np, np and nq."""
    peak = Interval.within(_log_peak(k, rest), 2.0**-50, 2.0**-50)
    return peak - (_deviance(k, gap, means[0]) + _deviance(rest, -gap, means[1]))


def log_binomial_tail(k: Array, n: int, half_gap: Interval) -> Interval:
    """Return a bracket of log P(X >= k), X binomial with success probability 1/2 + half_gap.

    Args:
        k: whole numbers from 0 to n + 1, as doubles, any shape.
        n: trials, at least 2, at most 2^50.
        half_gap: p - 1/2 in (-1/2, 1/2), broadcast against k.

    Error: width of the logarithm 4e-12 where p is near 1/2, 3e-9 at p = 0.7 and n = 10^12. Where k
        or n - k is below 50, 2^-k more, relatively: that lies beyond the panels.
    """
    # The smaller tail is computed: P(X >= k) = 1 - P(X' >= n - k + 1).
    k = np.asarray(k, dtype=np.float64)
    over = k - n / 2 < n * half_gap.middle
    asked = np.where(over, n - k + 1, k)
    found = _small_tail(np.clip(asked, 1.0, n), n, Interval.where(over, -half_gap, half_gap))
    nothing = Interval.exactly(np.full(k.shape, -np.inf))
    found = Interval.where(asked > n, nothing, found.smaller(0))
    return Interval.where(over, log1mexp(found), found)


@quiet
def _small_tail(k: Array, n: int, half_gap: Interval) -> Interval:
    """Return the tail for k above the mean, or hardly below it."""
    p, q, rest, apart = half_gap + 0.5, 0.5 - half_gap, n - k, half_gap * n
    gap, odds = (k - n / 2) - apart, p / q
    steep = (gap - q) / q
    # Concave: at t the logarithm is down by at least t steep, and by about t²/2 spread².
    spread = 1 / np.sqrt(k + rest * odds.upper**2)
    width = np.minimum(_PANEL * spread, 1 / (2 * _PANELS))
    width = np.minimum(width, 2 * _DECAY / (_PANELS * np.maximum(steep.upper, 1e-300)))
    t = _PLACES * width[..., None]
    fall, rise = log1p_gap(-t) * (k - 1)[..., None], log1p_gap(_column(odds) * t) * rest[..., None]
    value = exp(fall - rise - _column(steep) * t)
    total = Interval(value.lower @ _SHARES, value.upper @ _SHARES) * _RULE * width
    # What is left out: the logarithm goes on falling, or rising, at most as at the panels' end.
    reach = Interval.exactly(width * _PANELS)
    left, bend = 1 - reach, odds.squared() * rest / (odds * reach + 1)
    slope = steep + ((k - 1) / left + bend) * reach
    last = (1 / slope.larger(0)).smaller(left * exp((-slope).larger(0) * left))
    whole = Interval(total.lower, (total + last * value.upper[..., -1]).upper)
    return _log_mass(k, rest, gap, (apart + n / 2, n / 2 - apart)) + log(whole * k)


def _column(number: Interval) -> Interval:
    return Interval(number.lower[..., None], number.upper[..., None])
