"""The largest epsilon whose curve stays above G_mu: closed forms, rounded down."""

from fractions import Fraction
from typing import Final

import numpy as np

from neyman.numerics import Real, exact_positive, log_ndtr

__all__ = ["laplace_epsilon", "pure_epsilon"]

_DOWN: Final = 1 - 2.0**-40
_SERIES_BELOW: Final = 0.5


def laplace_epsilon(mu: Real) -> Fraction:
    """Return -2 log(2 Phi(-mu/2)) for the Laplace curve, as -2 log1p(-2 (Phi(mu/2) - 1/2)).

    Raises:
        InvalidParameter: if mu is not positive.
    """
    half = _half(mu)
    if half < _SERIES_BELOW:
        log = float(np.log1p(-2 * _above_half(half)))
    else:
        log = float(log_ndtr(np.asarray(-half))) + float(np.log(2.0))
    return Fraction(-2 * log * _DOWN)


def pure_epsilon(mu: Real) -> Fraction:
    """Return log(Phi(mu/2) / Phi(-mu/2)) for pure DP, as 2 artanh(2 (Phi(mu/2) - 1/2)).

    Raises:
        InvalidParameter: if mu is not positive.
    """
    half = _half(mu)
    if half < _SERIES_BELOW:
        odds = 2 * float(np.arctanh(2 * _above_half(half)))
    else:
        odds = float(log_ndtr(np.asarray(half)) - log_ndtr(np.asarray(-half)))
    return Fraction(odds * _DOWN)


def _half(mu: Real) -> float:
    target = exact_positive(mu, "mu")
    return float(target) / 2


def _above_half(x: float) -> float:
    """Return Phi(x) - 1/2 by its series, 0 < x < 1/2: sum (-1)^k x^(2k+1) / (2^k k! (2k+1))."""
    term, total = x, x
    for k in range(1, 14):
        term *= -x * x / (2 * k)
        total += term / (2 * k + 1)
    return total / float(np.sqrt(2 * np.pi))
