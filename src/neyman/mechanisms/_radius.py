# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
"""Bounds of the norm of a vector of independent noise, with a confidence."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

__all__ = ["chi_radius", "squares_radius"]

_CELLS: Final = 2048
_STEP: Final = 1 / 32
_SPARE: Final = 1e-3
_LEAST: Final = 2.0**-50
_UP: Final = 1 + 1e-9


def chi_radius(scale: float, rank: int, size: int, confidence: float) -> float:
    """Return R with P(|P round(sigma Z)| <= R) >= confidence, P a projection of this rank.

        |P round(sigma Z)| <= sigma |P Z| + |rounding| <= sigma chi_rank + sqrt(size) / 2

    Error: rounded up by 1e-9, far more than the error of the incomplete gamma function.
    """
    from scipy.special import gammainccinv

    chi = math.sqrt(2 * float(gammainccinv(rank / 2, 1 - confidence)))
    return (scale * chi + math.sqrt(size) / 2) * _UP


def squares_radius(half_width: Callable[[float], int], size: int, confidence: float) -> float:
    """Return R with P(K_1^2 + ... + K_size^2 <= R^2) >= confidence, for any law of |K|.

    |K| is rounded up to its next quantile, and K^2 up to the next of 2,048 cells. The masses are
    convolved; mass beyond the cells counts as infinite.

    Args:
        half_width: a function from p to the smallest h with P(|K| <= h) >= p, or a larger one.
        size: how many K.
        confidence: in (0, 1).

    Error: never too small, except for the rounding of the convolution, which 1e-9 covers; about 2 %
        too large, and infinite if 1 - confidence is below about 1e-12 size.
    """
    spare = (1 - confidence) * _SPARE / size
    if spare < _LEAST:
        return math.inf
    tails = np.append(np.exp(-np.arange(0.0, -math.log(spare), _STEP)), spare)
    ends = np.array([float(half_width(1 - tail)) for tail in tails[1:]])
    cell = max(float(ends[-1]), 1.0) ** 2 / _CELLS
    places = np.ceil(ends**2 / cell).astype(np.int64)
    one = np.bincount(places, weights=tails[:-1] - tails[1:])
    total = one
    for _ in range(size - 1):
        total = np.convolve(total, one)[: 4 * _CELLS]
    reached = np.cumsum(total) >= confidence + _UP - 1
    # If no cell is reached, use the sum of the largest squares; `spare` covers larger ones.
    last = int(np.argmax(reached)) if bool(reached[-1]) else size * _CELLS
    return math.sqrt(last * cell) * _UP
