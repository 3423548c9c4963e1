"""Lower bounds on a mechanism's privacy loss: the largest parameter that counts refute."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

import numpy as np

from neyman.audit._joint import attained, p_value
from neyman.audit._null import Null
from neyman.audit._rule import Family, Rule
from neyman.audit._statistic import Statistic
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, approx_dp, gdp
from neyman.displayed import Displayed
from neyman.numerics._special import ndtri

__all__ = ["MOST_EPSILON", "MOST_MU", "LowerBound", "epsilon_bound", "largest_refuted", "mu_bound"]

MOST_MU: Final = 40.0
MOST_EPSILON: Final = 60.0
# Of the standard error of the bound, about.
_NEAR: Final = 0.02
_MOST_STEPS: Final = 60


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound(Displayed):
    """A lower bound on the mechanism's privacy loss, at confidence 1 - level.

    `float(bound)` is its value.

    Attributes:
        value: the bound; 0 where the scores refute nothing. That is no evidence of privacy.
        of: "mu" or "epsilon".
        delta: of epsilon; 0 for mu.
        level: the probability that the bound exceeds the truth, at most.
        rule: the rule that the bound rests on; None if it rests on all thresholds at once.
        seed: of the split that the rule was learnt from; None where nothing was learnt.
    """

    value: float
    of: str
    delta: float
    level: float
    rule: Rule | None
    seed: int | None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        at = f" at delta = {self.delta:g}" if self.of == "epsilon" else ""
        return (
            f"{self.of} >= {self.value:.4g}{at}, at confidence {1 - self.level:g}. A small bound "
            "is no evidence of privacy: a better attack may find more"
        )


@lru_cache(maxsize=32)
def mu_bound(statistic: Statistic, level: float, rule: Rule, seed: int | None) -> LowerBound:
    """Return the largest mu that the counts of a fixed rule refute."""
    value = largest_refuted(
        statistic, gdp, level=level, most=MOST_MU, tolerance=_tolerance(statistic)
    )
    return LowerBound(value=value, of="mu", delta=0.0, level=level, rule=rule, seed=seed)


def epsilon_bound(
    statistic: Statistic, delta: float, level: float, rule: Rule, seed: int | None
) -> LowerBound:
    """Return the largest epsilon at this delta that the counts of a fixed rule refute."""

    def family(parameter: float) -> TradeOff:
        return approx_dp(parameter, delta)

    value = largest_refuted(
        statistic, family, level=level, most=MOST_EPSILON, tolerance=_tolerance(statistic)
    )
    return LowerBound(value=value, of="epsilon", delta=delta, level=level, rule=rule, seed=seed)


def _tolerance(statistic: Statistic) -> float:
    return _NEAR / math.sqrt(min(statistic.counts.inside, statistic.counts.outside))


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
