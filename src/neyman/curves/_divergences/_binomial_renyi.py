"""Rényi divergences of a sampled Gaussian at orders where its law is out of the doubles' reach.

At a whole order a, with Q0 = N(mu, 1), P = N(0, 1) and Q = (1 - q) P + q Q0,

    K(a) = log E_P[(dQ/dP)^a] = log Σ_k C(a, k) (1 - q)^(a-k) q^k e^(mu^2 k (k - 1) / 2),

a sum of positive terms. K is convex: between whole orders it lies below the chord, and above the
chords on either side, extended. Everywhere K(a) >= a log q + mu^2 a (a - 1) / 2, its value with
q dQ0/dP in place of dQ/dP, and D_a <= a mu^2 / 2, the divergence without sampling.

Source: Mironov, Talwar and Zhang (2019), "Rényi differential privacy of the sampled Gaussian
mechanism", for the sum, and theorem 5 for the other direction, which loses no more.
"""

import math
from fractions import Fraction

import numpy as np

from neyman.numerics import Array, Interval, exp, log
from neyman.numerics._distributions._binomial import log_binomial_mass

__all__ = ["binomial_renyi", "capped_renyi", "outermost_renyi"]

# The largest order for which the sum is taken.
_MOST_TERMS = 2**16


def binomial_renyi(order: Array, square: Fraction, probability: Fraction) -> Interval:
    """Bracket D_order of (P, (1 - q) P + q Q0), orders above 1.

    Args:
        order: above 1, one dimension; infinity is answered by infinity.
        square: mu^2.
        probability: q, strictly between 0 and 1.
    """
    a, found = Interval.decimal(order), _Cumulants(square, probability)
    tail = a * log(Interval.of(probability)) / (a - 1) + a * found.square / 2
    lower, upper = np.maximum(tail.lower, 0.0), (a * found.square / 2).upper
    for i in np.flatnonzero(order <= _MOST_TERMS).tolist():
        value = found.between(float(order[i]))
        lower[i], upper[i] = max(lower[i], value.lower), min(upper[i], value.upper)
    endless = np.isinf(order)
    lower, upper = np.where(endless, np.inf, lower), np.where(endless, np.inf, upper)
    return Interval(np.minimum(lower, upper), upper)


def capped_renyi(found: Interval, order: Array, square: Fraction | None) -> Interval:
    """Return the bracket, its upper end at most that of the Gaussian of this mu^2."""
    if square is None:
        return found
    upper = np.minimum(found.upper, (Interval.decimal(order) * Interval.of(square) / 2).upper)
    return Interval(np.minimum(found.lower, upper), upper)


def outermost_renyi(order: Array, square: Fraction, p: Fraction, q: Fraction) -> Interval:
    """Bound D_a, a > 1, of mixtures of normals by their outermost means, d = sqrt(square) apart.

    With the weight p of P's last mean m, P >= p N(m), and right of m P <= N(m); Q >= q N(m + d),
    and Q is nearer to N(m) than N(m + d) is. So (a log q - log 2)/(a - 1) + a d²/2 <= D_a <=
    a d²/2 - log p.
    """
    known = (order > 1) & np.isfinite(order)
    a = Interval.decimal(np.where(known, order, 2.0))
    whole, weight = a * Interval.of(square) / 2, Interval.of(q)
    lower = whole + (a * log(weight) - log(Interval.exactly(2.0))) / (a - 1)
    upper = whole - log(Interval.of(p))
    return Interval(
        np.where(known, np.maximum(lower.lower, 0.0), 0.0), np.where(known, upper.upper, np.inf)
    )


class _Cumulants:
    """K of one sampled Gaussian at whole orders, each summed once."""

    def __init__(self, square: Fraction, probability: Fraction) -> None:
        self.square, self._probability = Interval.of(square), probability
        self._known: dict[int, Interval] = {1: Interval.exactly(0.0)}

    def between(self, order: float) -> Interval:
        """Return D of an order above 1: K by its values at whole orders."""
        n = math.floor(order)
        if order == n:
            return self._at(n) / (n - 1)
        a = Interval.decimal(order)
        share, after = a - n, self._at(n + 1)
        least = after - (1 - share) * (self._at(n + 2) - after)
        if n == 1:
            # D grows with the order.
            return Interval((least / (a - 1)).larger(0.0).lower, after.upper)
        here = self._at(n)
        least = least.larger(here + share * (here - self._at(n - 1)))
        most = here + share * (after - here)
        return Interval((least / (a - 1)).lower, (most / (a - 1)).upper)

    def _at(self, n: int) -> Interval:
        """Return K(n)."""
        if n not in self._known:
            k, q = np.arange(n + 1.0), self._probability
            term = log_binomial_mass(k, n, q, 1 - q) + self.square * (k * (k - 1) / 2)
            # The largest term is about 1, so that the logarithm loses little.
            top = float(np.max(term.middle))
            self._known[n] = (log(exp(term - top).total()) + top).larger(0.0)
        return self._known[n]
