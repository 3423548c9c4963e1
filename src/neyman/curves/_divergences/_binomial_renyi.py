"""Rényi divergences of a sampled Gaussian at orders where its law is out of the doubles' reach.

At a whole order a, with Q0 = N(mu, 1), P = N(0, 1) and Q = (1 - q) P + q Q0,

    K(a) = log E_P[(dQ/dP)^a] = log Σ_k C(a, k) (1 - q)^(a-k) q^k e^(mu^2 k (k - 1) / 2),

a sum of positive terms. K is convex: between whole orders it lies below the chord, and above the
chords on either side, extended. Everywhere K(a) >= a log q + mu^2 a (a - 1) / 2, what is left with
q dQ0/dP for dQ/dP, and D_a <= a mu^2 / 2, that without sampling.

Source: Mironov, Talwar and Zhang (2019), "Rényi differential privacy of the sampled Gaussian
mechanism", for the sum, and theorem 5 for the other direction, which loses no more.
"""

import math
from fractions import Fraction

import numpy as np

from neyman.numerics import ULP, Array, Bracket, standing
from neyman.numerics._distributions._binomial import log_binomial_mass

__all__ = ["binomial_renyi", "capped_renyi", "outermost_renyi"]

# Orders up to which the sum is taken.
_MOST_TERMS = 2**16


def binomial_renyi(order: Array, square: Fraction, probability: Fraction) -> Bracket:
    """Bracket D_order of (P, (1 - q) P + q Q0), orders above 1.

    Args:
        order: above 1, one dimension; infinity is answered by infinity.
        square: mu^2.
        probability: q, strictly between 0 and 1.
    """
    (down, up), log_q = standing(square), math.log(float(probability))
    lower, upper = np.zeros(order.shape), np.full(order.shape, np.inf)
    for i, a in enumerate(order.tolist()):
        if math.isinf(a):
            lower[i] = np.inf
            continue
        tail = (a * log_q + a * (a - 1) / 2 * down) / (a - 1)
        slack = abs(tail) + a * abs(log_q) / (a - 1) + a * down
        lower[i] = max(tail - 8 * ULP * slack, 0.0)
        upper[i] = a * up / 2 * (1 + 4 * ULP)
        if a <= _MOST_TERMS:
            least, most = _between(a, (down, up), probability)
            lower[i] = max(lower[i], least / (a - 1) * (1 - 4 * ULP))
            upper[i] = min(upper[i], most / (a - 1) * (1 + 4 * ULP))
    return Bracket(np.minimum(lower, upper), upper)


def capped_renyi(found: Bracket, order: Array, square: Fraction | None) -> Bracket:
    """Return the bracket, its upper end at most that of the Gaussian of this mu^2."""
    if square is None:
        return found
    with np.errstate(over="ignore"):
        upper = np.minimum(found.upper, order * (standing(square)[1] / 2 * (1 + 4 * ULP)))
    return Bracket(np.minimum(found.lower, upper), upper)


def outermost_renyi(order: Array, square: Fraction, p: float, q: float) -> Bracket:
    """Bound D_a, a > 1, of mixtures of normals by their outermost means, d = sqrt(square) apart.

    With the weight p of P's last mean m, P >= p N(m), and right of m P <= N(m); Q >= q N(m + d),
    and Q is nearer to N(m) than N(m + d) is. So (a log q - log 2)/(a - 1) + a d²/2 <= D_a <=
    a d²/2 - log p.
    """
    low, high = standing(square)
    a = np.where((order > 1) & np.isfinite(order), order, 2.0)
    with np.errstate(over="ignore"):
        lower = a * low / 2 + (a * math.log(q) - math.log(2)) / (a - 1)
        lower = lower - 8 * ULP * (a * low + (a * abs(math.log(q)) + 1) / (a - 1))
        upper = (a * high / 2 - math.log(p)) * (1 + 8 * ULP) + ULP
    known = a == order
    return Bracket(np.where(known, np.maximum(lower, 0.0), 0.0), np.where(known, upper, np.inf))


def _between(a: float, squares: tuple[float, float], probability: Fraction) -> tuple[float, float]:
    """Bound K(a) by its values at whole orders."""
    n = math.floor(a)
    share = a - n
    here = _cumulant(n, squares, probability)
    if share == 0:
        return here
    after = _cumulant(n + 1, squares, probability)
    beyond = _cumulant(n + 2, squares, probability)
    most = (1 - share) * here[1] + share * after[1]
    least = after[0] - (1 - share) * (beyond[1] - after[0])
    if n > 1:
        before = _cumulant(n - 1, squares, probability)
        least = max(least, here[0] + share * (here[0] - before[1]))
    slack = 8 * ULP * (abs(here[1]) + abs(after[1]) + abs(beyond[1]))
    return max(least - slack, 0.0), most + slack


def _cumulant(n: int, squares: tuple[float, float], probability: Fraction) -> tuple[float, float]:
    """Bound K(n), from both ends of mu^2."""
    if n == 1:
        return 0.0, 0.0
    k = np.arange(n + 1.0)
    masses = log_binomial_mass(k, n, probability, 1 - probability)
    log, error = masses.middle, masses.upper - masses.lower
    sides: list[float] = []
    for square, sign in zip(squares, (-1, 1), strict=True):
        grown = k * (k - 1) / 2 * square
        term = log + grown + sign * (error + 4 * ULP * (grown + np.abs(log)))
        top = float(term.max())
        # The largest term is 1, so that the logarithm is at least 0 and loses little.
        value = top + math.log(float(np.exp(term - top).sum()))
        sides.append(value + sign * ULP * (16 + n / 64 + 4 * abs(value) + 4 * abs(top)))
    return max(sides[0], 0.0), sides[1]
