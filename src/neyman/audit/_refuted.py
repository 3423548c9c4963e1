"""The largest parameter of a family of claims that scores refute."""

import math
from collections.abc import Callable

import numpy as np

from neyman.audit._joint import attained, p_value
from neyman.audit._null import Null
from neyman.audit._rule import Family
from neyman.audit._statistic import Statistic
from neyman.numerics._special import ndtri

__all__ = ["largest_refuted"]

_MOST_STEPS = 60


def largest_refuted(
    statistic: Statistic, family: Family, *, level: float, most: float, tolerance: float
) -> float:
    """Return a parameter that is refuted at this level; 0 where none is.

    The claims of a family are nested: a larger parameter allows more, so its p-value is larger,
    and all below one that is refuted are refuted. The search reads p-values that are not certified;
    the answer has one that is.

    Args:
        statistic: observed with a rule that was fixed beforehand.
        family: claims, by their parameter.
        level: of each test.
        most: no parameter above it is tried.
        tolerance: how far below the largest refuted one the answer may lie, about.
    """

    def gap(parameter: float) -> float:
        return _probit(attained(statistic, Null(family(parameter)))) - _probit(level)

    found, step = _root(gap, most, tolerance / 3, min(_sizes(statistic))), tolerance / 3
    while found > 0:
        found = max(0.0, found - step)
        if p_value(statistic, Null(family(found)), level).upper <= level:
            return found
        step *= 2
    return 0.0


def _root(gap: Callable[[float], float], most: float, tolerance: float, size: int) -> float:
    """Return where an increasing gap changes its sign, from below; 0 where it is positive."""
    low, high = 0.0, most
    below = gap(low)
    if below > 0:
        return 0.0
    above = gap(high)
    if above <= 0:
        return high
    # The probit of p is nearly linear in mu: a secant, kept inside the bracket, needs few steps.
    guess = min(high, max(tolerance, -below / math.sqrt(size / 2)))
    for _ in range(_MOST_STEPS):
        if high - low <= tolerance:
            break
        found = gap(guess)
        if found <= 0:
            low, below = guess, found
        else:
            high, above = guess, found
        line = low - below * (high - low) / (above - below)
        # From the side that is already near, a small step beyond closes the bracket.
        line = line + tolerance / 3 if found <= 0 else line - tolerance / 3
        guess = line if low < line < high else (low + high) / 2
    return low


def _sizes(statistic: Statistic) -> tuple[int, int]:
    return statistic.counts.outside, statistic.counts.inside


def _probit(p: float) -> float:
    return float(ndtri(np.clip(p, 1e-16, 1 - 1e-16)))
