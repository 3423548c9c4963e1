"""The Edgeworth expansion of the loss of a composition: estimates, never bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.accounting._estimate import Estimate
from neyman.curves import Pair, TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array, log_ndtr

__all__ = ["Edgeworth", "edgeworth", "loss_cumulants"]

_POINTS = 128
_TARGET = 0.1
_MOST_HALVINGS, _MOST_DOUBLINGS = 80, 40
_FACTORIALS = np.asarray([1.0, 2.0, 6.0, 24.0])


def loss_cumulants(pair: Pair, at: float) -> Array:
    """Return the first four cumulants of L under P (at = 0) or under Q (at = 1).

    They are derivatives of K at 0 and 1, by Cauchy's formula on a circle inside one on which |K| is
    at most 0.1. There exp(K) has no zero, and the trapezoidal rule is exact to rounding.

    Error: an estimate; the relative error is about 1e-12 for closed forms.

    Raises:
        InvalidParameter: if the loss can be infinite, or K is not analytic there.
    """
    if max(pair.log_singular) > -np.inf:
        raise InvalidParameter(
            f"cumulants need a finite loss; the loss of {pair} is infinite with positive "
            "probability. Factor f_{0,delta} out and compose it by itself: approx_dp(0, delta) ** n"
        )
    angles = 2 * np.pi * np.arange(_POINTS) / _POINTS
    circle = np.asarray(np.exp(1j * angles), dtype=np.complex128)

    def small(log_radius: int) -> bool:
        with np.errstate(all="ignore"):
            values = pair.cumulant(at + 2.0**log_radius * circle)
        return bool(np.all(np.abs(values) <= _TARGET))

    # The largest power of 2, searched from 1: far out, K of a mixture takes long to compute.
    log_radius = 0
    if small(0):
        while log_radius < _MOST_DOUBLINGS and small(log_radius + 1):
            log_radius += 1
    else:
        log_radius = -1
        while log_radius >= -_MOST_HALVINGS and not small(log_radius):
            log_radius -= 1
    if log_radius < -_MOST_HALVINGS:
        raise InvalidParameter(
            f"the expansion needs a pair with exponential moments; for {pair}, K is not small "
            f"near {at:g}"
        )
    # Smaller by sqrt(2): the trapezoidal rule adds coefficients of 128 orders higher, then < 2^-64.
    radius = 2.0 ** (log_radius - 0.5)
    values = pair.cumulant(at + radius * circle)
    powers = circle[None, :] ** -np.arange(1, 5)[:, None]
    return _FACTORIALS * np.real(powers @ values) / _POINTS / radius ** np.arange(1, 5)


@final
@dataclass(frozen=True, slots=True)
class Edgeworth:
    """The loss of a composition under P and under Q, each by its first four cumulants.

        F(z) = Phi(z) - phi(z) (l3 (z^2 - 1)/6 + l4 (z^3 - 3z)/24 + l3^2 (z^5 - 10 z^3 + 15 z)/72)

    Attributes:
        under_p: cumulants of the sum of losses under P.
        under_q: cumulants of the sum of losses under Q.

    Source: Wang, Gao, Zhang, Shen and Su (2022), "Analytical composition of differential privacy
        via the Edgeworth accountant"; their error bounds are not used.
    """

    under_p: tuple[float, float, float, float]
    under_q: tuple[float, float, float, float]

    def beta(self, alpha: float) -> Estimate:
        """Estimate f(alpha), at the threshold where the false positive rate is alpha."""
        if not 0 < alpha < 1:
            raise InvalidParameter(f"alpha must be strictly between 0 and 1; got {alpha!r}")
        center, spread = self.under_p[0], math.sqrt(self.under_p[1])
        low, high = center - 12 * spread, center + 12 * spread
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if _above(middle, self.under_p) > alpha else (low, middle)
        value = 1 - _above(high, self.under_q)
        return Estimate(min(max(value, 0.0), 1 - alpha), "Edgeworth expansion of order 2")

    def delta(self, epsilon: float) -> Estimate:
        """Estimate Q(L > epsilon) - e^epsilon P(L > epsilon), in the remove direction."""
        value = _above(epsilon, self.under_q) - math.exp(epsilon) * _above(epsilon, self.under_p)
        return Estimate(min(max(value, 0.0), 1.0), "Edgeworth expansion of order 2")


def edgeworth(steps: Sequence[tuple[TradeOff, int]]) -> Edgeworth:
    """Return the Edgeworth expansion of a composition, in the remove direction.

    Args:
        steps: pairs of a trade-off function and how many times it is run.

    Raises:
        InvalidParameter: if K is not analytic near 0 and 1, or if nothing is composed.
        UnsupportedComposition: if a guarantee has no pair of laws.

    >>> from neyman.curves import pure_dp
    >>> print(edgeworth([(pure_dp(0.1), 100)]).beta(0.3))
    estimate 0.31696 (Edgeworth expansion of order 2)
    """

    def total(at: float) -> tuple[float, float, float, float]:
        sums = [count * loss_cumulants(curve.remove, at) for curve, count in steps]
        first, second, third, fourth = (float(x) for x in np.sum(sums, axis=0))
        return first, second, third, fourth

    if not any(count > 0 for _, count in steps):
        raise InvalidParameter("nothing is composed; write [(curve, count), ...]")
    return Edgeworth(total(0.0), total(1.0))


def _above(threshold: float, cumulants: tuple[float, float, float, float]) -> float:
    """Return the expansion of P(L > threshold)."""
    mean, variance, third, fourth = cumulants
    if variance <= 0:
        return float(threshold < mean)
    z = (threshold - mean) / math.sqrt(variance)
    l3, l4 = third / variance**1.5, fourth / variance**2
    shape = l3 * (z * z - 1) / 6 + l4 * (z**3 - 3 * z) / 24
    shape += l3 * l3 * (z**5 - 10 * z**3 + 15 * z) / 72
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float(np.exp(log_ndtr(np.asarray(-z)))) + density * shape
