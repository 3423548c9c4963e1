"""The best of a random number of runs: private hyperparameter tuning."""

import math

import numpy as np

from neyman.curves import TradeOff, identity, rdp
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Array, Real, exact, text

__all__ = ["log_inverse_gamma", "repeat_and_select"]

# Orders - 1.
_ORDERS = np.geomspace(2.0**-5, 2.0**11, 257)
# A relative bound of the rounding in a sum of positive terms; smaller than the one of `rdp`.
_ROUNDED, _LEAST, _MOST = 1e-13, 2.0**-99, 2.0**20


def repeat_and_select(f: TradeOff, *, mean: Real, shape: Real) -> TradeOff:
    """Return the guarantee of the best of K runs, if only that one is published.

    K is random, and drawn once, independently of the results:

        shape eta = 1: geometric; eta = 0: logarithmic; else truncated negative binomial
        D_a <= R(a) + log(mean)/(a - 1) + (1 + eta) inf over b of [(1 - 1/b) R(b) + log(1/gamma)/b]

        shape infinite: Poisson, which may be 0
        D_a <= R(a) + log(mean)/(a - 1) + mean delta(log(1 + 1/(a - 1)))

    Args:
        f: the guarantee of one run; R are its Rényi divergences, in both directions.
        mean: the mean of K, at least 1.
        shape: eta, at least 0; or infinity.

    Guarantee: a bound at 257 orders: `answer.of` is "class". `repeat_and_select_profile` usually
        has a much smaller delta.

    Raises:
        InvalidParameter: if the mean or the shape is out of range.
        UnsupportedComposition: if f has no finite divergence above order 1, for example because it
            may fail outright.

    Source: Papernot and Steinke (2022), "Hyperparameter tuning with Rényi differential privacy",
        theorems 2 and 6.

    >>> from neyman.curves import gdp
    >>> f"{repeat_and_select(gdp(0.5), mean=10, shape=1).epsilon(1e-5):.2f}"
    '4.32'
    """
    times, endless = exact(mean, "mean"), shape == math.inf
    eta = math.inf if endless else float(exact(shape, "shape"))
    if not 1 <= times <= 2**100 or eta < 0:
        raise InvalidParameter(
            f"mean={text(times)} and shape={shape!r} must be a mean number of runs from 1 on, and "
            "at least 0; write shape=1 for a geometric number of runs"
        )
    if f == identity():
        return f
    runs = float(times) * (1 + _ROUNDED)
    orders = 1 + _ORDERS
    own = np.asarray(f.renyi(orders), dtype=np.float64)
    spread = math.log(runs) / _ORDERS
    if endless:
        more = runs * np.asarray(f.delta(np.log1p(1 / _ORDERS) * (1 - _ROUNDED)), dtype=np.float64)
    else:
        more = (1 + eta) * _least(f, orders, own, log_inverse_gamma(runs, eta))
    bounds = np.maximum((own + spread + more) * (1 + _ROUNDED), _LEAST)
    points = [(a, r) for a, r in zip(orders.tolist(), bounds.tolist(), strict=True) if r <= _MOST]
    if not points:
        raise UnsupportedComposition(
            "repeat_and_select needs a guarantee with a finite Rényi divergence; those of "
            f"{f} are infinite. Write a guarantee that cannot fail"
        )
    return rdp(points)


def _least(f: TradeOff, orders: Array, own: Array, log_inverse: float) -> float:
    """Return the least of (1 - 1/b) R(b) + log(1/gamma)/b over orders, infinity included."""
    between = (1 - 1 / orders) * own + log_inverse / orders
    return min(float(np.min(between)), float(np.asarray(f.renyi(math.inf))))


def log_inverse_gamma(mean: float, eta: float) -> float:
    """Return log(1/gamma) with a mean of at least this, eta (1/gamma - 1)/(1 - gamma^eta)."""

    def enough(x: float) -> bool:
        spread = -math.expm1(-eta * x) / eta if eta else x
        return math.expm1(x) / spread * (1 - _ROUNDED) >= mean

    low, high = 0.0, 1.0
    while not enough(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high or middle < _ROUNDED:
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
