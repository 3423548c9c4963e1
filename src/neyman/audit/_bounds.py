"""Lower bounds on the privacy loss of a mechanism, from scores."""

from dataclasses import replace
from functools import partial

import numpy.typing as npt

from neyman.audit._checks import check_delta, check_level
from neyman.audit._choice import Choice
from neyman.audit._lower_bound import (
    MOST_EPSILON,
    MOST_MU,
    LowerBound,
    epsilon_bound,
    mu_bound,
)
from neyman.audit._ranks import largest_by_rank
from neyman.audit._rule import Rule, learnt_for_family
from neyman.audit._scores import read_scores
from neyman.calls import plain_calls
from neyman.curves import TradeOff, approx_dp, gdp

__all__ = ["epsilon", "mu"]


@plain_calls
def mu(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    *,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float | None = None,
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
    rule, test, used = choice.of(scores, partial(learnt_for_family, gdp, MOST_MU))
    return mu_bound(rule.statistic(test), level, rule, used)


@plain_calls
def epsilon(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    *,
    delta: float,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float | None = None,
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
    check_delta(delta)
    scores = read_scores(inside, outside, least=2)
    choice = Choice(threshold, weight, share, seed)

    def family(parameter: float) -> TradeOff:
        return approx_dp(parameter, delta)

    check_level(level)
    rule, test, used = choice.of(scores, partial(learnt_for_family, family, MOST_EPSILON))
    if used is None:
        return epsilon_bound(rule.statistic(test), delta, level, rule, used)
    learnt = replace(epsilon_bound(rule.statistic(test), delta, level / 2, rule, used), level=level)
    found = largest_by_rank(
        test,
        rule.direction,
        delta=delta,
        level=level / 2,
        most=MOST_EPSILON,
        known=learnt.value,
    )
    if found.epsilon <= learnt.value:
        return learnt
    ranked = Rule(threshold=found.threshold, direction=rule.direction)
    return replace(learnt, value=found.epsilon, rule=ranked)
