"""A lower bound of what a mechanism loses, and the one that a fixed rule proves."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, final

from neyman.audit._refuted import largest_refuted
from neyman.audit._rule import Rule
from neyman.audit._statistic import Statistic
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, approx_dp, gdp
from neyman.displayed import Displayed

__all__ = ["MOST_EPSILON", "MOST_MU", "LowerBound", "epsilon_bound", "mu_bound"]

MOST_MU: Final = 40.0
MOST_EPSILON: Final = 60.0
# Of the standard error of the bound, about.
_NEAR: Final = 0.02


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound(Displayed):
    """A parameter that the mechanism loses at least, at a confidence of 1 - level.

    `float(bound)` is its value.

    Attributes:
        value: the bound; 0 where the scores refute nothing. That is no evidence of privacy.
        of: "mu" or "epsilon".
        delta: of epsilon; 0 for mu.
        level: the probability that the bound exceeds the truth, at most.
        rule: that the bound rests on; None where it rests on all thresholds at once.
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
