"""How far two empirical laws may lie from the true ones, together: Massart's inequality, twice."""

import math
from functools import lru_cache

import numpy as np

from neyman.numerics import Array

__all__ = ["joint_deviation"]

_CELLS = 4000
_HALVINGS = 50
# Massart (1990), theorem 1: the bound holds from the smaller of the two, in units of 1 / sqrt(n).
_CUT, _CUT_OF_MANY = math.sqrt(math.log(2) / 2), 1.0841


@lru_cache(maxsize=64)
def joint_deviation(first: int, second: int, level: float) -> float:
    """Return q with P(D + D' > q) <= level.

        D = sup_t F(t) - F_n(t),   P(D > a) <= exp(-2 n a^2)

    D and D' belong to independent samples. Each is dominated by a variable with Massart's tail,
    and so is the sum; the law of the sum of the two is a convolution.

    Args:
        first: the size of one sample.
        second: the size of the other.
        level: in (0, 1).

    Error: q is at most about 1/1000 of itself above the quantile of that convolution.

    Source: Massart (1990), theorem 1.

    >>> 2.07 < joint_deviation(1000, 1000, 0.05) * 1000**0.5 < 2.08
    True
    """
    low, high = 0.0, 8.0 / math.sqrt(min(first, second))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _exceeds(first, second, middle) > level
        low, high = (middle, high) if above else (low, middle)
    return high


def _exceeds(first: int, second: int, q: float) -> float:
    """Bound P(D + D' > q): on a cell D counts as its right end."""
    least = min(_cut(first), q)
    a = np.linspace(least, q, _CELLS + 1)
    tail = _tail(first, a)
    masses = np.concatenate([[1 - tail[0]], tail[:-1] - tail[1:]])
    return float(np.sum(masses * _tail(second, np.maximum(q - a, 0.0)))) + float(tail[-1])


def _cut(n: int) -> float:
    return min(_CUT, _CUT_OF_MANY * n ** (-1 / 6)) / math.sqrt(n)


def _tail(n: int, a: Array) -> Array:
    """P(D > a), rounded up; 1 where the inequality is not proved."""
    return np.where(a >= _cut(n) * (1 - 1e-12), np.exp(-2 * n * a * a) * (1 + 1e-12), 1.0)
