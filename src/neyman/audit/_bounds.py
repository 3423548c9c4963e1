"""Lower bounds of what a mechanism loses, from scores."""

import math
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy.typing as npt

from neyman.audit._choice import SHARE, Choice, Chosen
from neyman.audit._ranks import largest_by_rank
from neyman.audit._refute import check_level
from neyman.audit._refuted import largest_refuted
from neyman.audit._rule import Family, Rule, learnt_for_family
from neyman.audit._scores import read_scores
from neyman.calls import plain_calls
from neyman.curves import TradeOff, approx_dp, gdp
from neyman.errors import InvalidParameter

__all__ = ["LowerBound", "epsilon", "mu"]

_MOST_MU, _MOST_EPSILON = 40.0, 60.0
# Of the standard error of the bound, about.
_NEAR = 0.02


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """A parameter that the mechanism loses at least, at a confidence of 1 - level.

    `float(bound)` is its value.

    Attributes:
        value: the bound; 0 where the scores refute nothing. That is no evidence of privacy.
        of: "mu" or "epsilon".
        delta: of epsilon; 0 for mu.
        level: the probability that the bound exceeds the truth, at most.
        rule: that the bound rests on; its threshold may be a score of a fixed rank.
        seed: of the split that the rule was learnt from; None where the rule was given.
    """

    value: float
    of: str
    delta: float
    level: float
    rule: Rule
    seed: int | None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        at = f" at delta = {self.delta:g}" if self.of == "epsilon" else ""
        return (
            f"{self.of} >= {self.value:.4g}{at}, at confidence {1 - self.level:g}. A bound of 0, "
            "or a small one, is no evidence of privacy: a better attack may find more"
        )


@plain_calls
def mu(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    *,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float = SHARE,
    seed: int | None = None,
) -> LowerBound:
    """Return the largest mu for which scores refute the claim of mu-GDP.

    Args:
        inside: as for `refute`.
        outside: as for `refute`.
        level: the probability that the bound exceeds the truth, at most.
        threshold: as for `refute`.
        weight: as for `refute`.
        share: as for `refute`.
        seed: as for `refute`.

    Guarantee: if the mechanism is mu0-GDP for the two datasets and the runs are independent, the
        bound is above mu0 with probability at most `level`.
    Error: the bound lies at most 0.02 / sqrt(n) below what the same test proves.

    Raises:
        InvalidParameter: as `refute`.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> 0.8 < float(mu(draw.normal(1, 1, 1000), draw.normal(0, 1, 1000), seed=1)) < 1.0
    True
    """
    scores = read_scores(inside, outside, least=2)
    choice = Choice(threshold, weight, share, seed)
    check_level(level)
    chosen = choice.of(scores, partial(learnt_for_family, gdp, _MOST_MU))
    value = _largest(chosen, gdp, _MOST_MU, level)
    return LowerBound(
        value=value, of="mu", delta=0.0, level=level, rule=chosen.rule, seed=chosen.seed
    )


@plain_calls
def epsilon(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    *,
    delta: float,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float = SHARE,
    seed: int | None = None,
) -> LowerBound:
    """Return the largest epsilon for which scores refute the claim of (epsilon, delta)-DP.

    A large epsilon shows in the tails. So, where no threshold is given, half of the level is for
    the rule that was learnt, and half for thresholds at scores of fixed ranks: the 1st, 3rd, 9th,
    ... largest without the record, and smallest with it.

    Args:
        inside: as for `refute`.
        outside: as for `refute`.
        delta: in [0, 1); fixed before the scores were seen.
        level: the probability that the bound exceeds the truth, at most.
        threshold: as for `refute`.
        weight: as for `refute`.
        share: as for `refute`.
        seed: as for `refute`.

    Guarantee: if the mechanism is (epsilon0, delta)-DP for the two datasets and the runs are
        independent, the bound is above epsilon0 with probability at most `level`.
    Error: the bound lies at most 0.02 / sqrt(n) below what the same test proves, or 1e-4 and what
        p-values that are a few per cent too large take away.

    Raises:
        InvalidParameter: as `refute`; or if delta is outside.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> found = epsilon(draw.normal(1, 1, 1000), draw.normal(0, 1, 1000), delta=1e-5, seed=1)
    >>> 0.4 < float(found) < 4.3772
    True
    """
    if not 0 <= delta < 1:
        raise InvalidParameter(
            f"delta must lie in [0, 1); {delta!r} was given. Write a probability such as 1e-6"
        )
    scores = read_scores(inside, outside, least=2)
    choice = Choice(threshold, weight, share, seed)

    def family(parameter: float) -> TradeOff:
        return approx_dp(parameter, delta)

    check_level(level)
    chosen = choice.of(scores, partial(learnt_for_family, family, _MOST_EPSILON))
    if chosen.seed is None:
        value, rule = _largest(chosen, family, _MOST_EPSILON, level), chosen.rule
    else:
        value, rule = _with_tails(chosen, family, delta, level)
    return LowerBound(
        value=value, of="epsilon", delta=delta, level=level, rule=rule, seed=chosen.seed
    )


def _with_tails(chosen: Chosen, family: Family, delta: float, level: float) -> tuple[float, Rule]:
    """Return the larger of two bounds, at half of the level each, and the rule it rests on."""
    learnt = _largest(chosen, family, _MOST_EPSILON, level / 2)
    direction = chosen.rule.direction
    found = largest_by_rank(
        chosen.test, direction, delta=delta, level=level / 2, most=_MOST_EPSILON, known=learnt
    )
    if found.epsilon > learnt:
        return found.epsilon, Rule(threshold=found.threshold, direction=direction)
    return learnt, chosen.rule


def _largest(chosen: Chosen, family: Family, most: float, level: float) -> float:
    """Return the largest parameter that a rule refutes."""
    rule, test, _ = chosen
    near = _NEAR / math.sqrt(min(test.inside.size, test.outside.size))
    return largest_refuted(rule.statistic(test), family, level=level, most=most, tolerance=near)
