"""Testing a claim with scores."""

from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy.typing as npt

from neyman.arguments import brief
from neyman.audit._checks import check_delta, check_level
from neyman.audit._choice import Choice
from neyman.audit._joint import p_value, region
from neyman.audit._lines import ErrorRates
from neyman.audit._lower_bound import LowerBound, epsilon_bound, mu_bound
from neyman.audit._null import Claim, Null
from neyman.audit._power import detected
from neyman.audit._rule import Rule, learnt_for
from neyman.audit._scores import read_scores
from neyman.audit._statistic import Counts, Statistic
from neyman.calls import plain_calls, plain_calls_of
from neyman.displayed import Displayed
from neyman.errors import InvalidCall
from neyman.numerics import at_least, at_most

__all__ = ["Verdict", "refute"]

# A mu below it is rounding.
_VISIBLE: Final = 1e-6


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Displayed):
    """The result of testing a claim with two lists of scores.

    Attributes:
        claim: the claim that was tested.
        level: the probability with which a claim that holds is refuted, at most.
        p_value: certified: no law that keeps the claim gives a smaller one with a larger
            probability than itself.
        rule: the threshold, the direction and the weight of the test.
        counts: the errors of the rule on the scores that were tested.
        detectable_mu: the mu of a mechanism that this test would have refuted the claim with in
            eight cases of ten, about, at the best threshold; None where no mechanism is as bad.
        claimed_mu: the mu of the advantage that the claim allows; its own mu if it is Gaussian.
        seed: of the split that the rule was learnt from; None where the rule was given.
        early: whether bets ended the counts because of their values: then they give no bound.
    """

    claim: Claim
    level: float
    p_value: float
    rule: Rule
    counts: Counts
    detectable_mu: float | None
    claimed_mu: float
    seed: int | None
    early: bool = False

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the level."""
        return self.p_value <= self.level

    def mu(self) -> LowerBound:
        """Return the largest mu for which the same rule and counts refute mu-GDP.

        Guarantee: the p-value and all bounds of one verdict hold together: with probability
            1 - level none of them is wrong.

        Raises:
            InvalidCall: if bets ended the counts early.
        """
        return mu_bound(self._statistic(), self.level, self.rule, self.seed)

    def epsilon(self, delta: float) -> LowerBound:
        """Return the largest epsilon for which they refute (epsilon, delta)-DP.

        Args:
            delta: in [0, 1). You may ask for several, after you have seen the scores: the rule
                and the counts stay the same.

        Raises:
            InvalidParameter: if it is outside.
            InvalidCall: if bets ended the counts early.
        """
        check_delta(delta)
        return epsilon_bound(self._statistic(), delta, self.level, self.rule, self.seed)

    def region(self) -> ErrorRates:
        """Return the upper end of the error rates that the counts do not exclude at the level.

        The true rates of the rule lie on or below this line with probability 1 - level at least,
        and the claim is refuted where its whole curve lies above.

        Raises:
            InvalidCall: if bets ended the counts early.
        """
        return region(self._statistic(), self.level)

    def __str__(self) -> str:
        c, rule = self.counts, self.rule
        rates = 100 * c.false_positives / c.outside, 100 - 100 * c.false_negatives / c.inside
        found = "is refuted" if self.refuted else "is not refuted"
        sign = ">" if rule.direction > 0 else "<"
        return (
            f"{brief(self.claim)} {found} at level {self.level:g}: p = {at_most(self.p_value, 3)}. "
            f'The rule "score {sign} {rule.threshold:.4g}" calls {rates[1]:.3g} % of {c.inside:,} '
            f"runs with the record in, and {rates[0]:.3g} % of {c.outside:,} without"
            f"{self._bound()}. {self.power()}"
        )

    def _bound(self) -> str:
        return "" if self.early else f"; by this rule, mu >= {at_least(self.mu().value, 3)}"

    def power(self) -> str:
        """Return a sentence on what the test could have refuted."""
        mu, claimed = self.detectable_mu, self.claimed_mu
        if mu is None:
            return "With this number of runs, the test can refute no mechanism."
        noise = f" (noise times {claimed / mu:.2g})" if _VISIBLE < claimed < mu else ""
        against = f"mu = {claimed:.3g}" if claimed > _VISIBLE else "no loss at all"
        return (
            "With this number of runs, the test refutes the claim in about four of five audits if "
            f"the truth is mu = {mu:.3g}{noise}. The claim corresponds to {against}."
        )

    def _statistic(self) -> Statistic:
        if self.early:
            raise InvalidCall(
                "a bound needs a number of runs that was fixed beforehand; bets ended these runs "
                "early, because of their outputs. Write draws= in place of seconds="
            )
        return Statistic(self.counts, self.rule.weight)


@plain_calls
def refute(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    claim: Claim,
    *,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float | None = None,
    seed: int | None = None,
) -> Verdict:
    """Test whether scores of an attack refute a claimed guarantee.

        p = sup {P(S <= s): FNR >= f(FPR)},   S = w FP / n0 + FN / n1

    Each score comes from a run of its own, and the runs are independent. A rule that calls scores
    "in" or "out" is learnt from a random part of them and tested on the rest; or you fix it.

    Args:
        inside: scores of an attack on runs with the record, one a run; any shape of law.
        outside: scores on runs without it.
        claim: a guarantee f, for its two-way curve; or one direction of it, such as `f.remove`:
            of runs without the record against runs with it.
        level: the probability of refuting a claim that holds, at most.
        threshold: of a rule that was fixed before the scores were seen: scores above are called in.
        weight: of a false positive, for a rule that was fixed; near the likelihood ratio at the
            threshold is best.
        share: of the scores that the rule is learnt from if no threshold is given. None takes a
            tenth, and up to a fifth if a tenth is less than 20 scores of a side.
        seed: of the split; None draws one, which the verdict names.

    Guarantee: if the claim holds and the runs are independent, the claim is refuted with
        probability at most `level`.

    Error: the p-value is a proved upper bound, at most 2e-4, or 1 % of itself, above the supremum.

    Raises:
        InvalidParameter: if a list is too short or holds NaN, or a number is outside its range.
        NotCertified: if the claim gives estimates only.

    Source: Neyman and Pearson (1933) for the claim's curve; docs/theory/audit.md for the supremum.

    >>> import numpy as np
    >>> from neyman.curves import gdp
    >>> draw = np.random.default_rng(0)
    >>> verdict = refute(draw.normal(1, 0.5, 500), draw.normal(0, 0.5, 500), gdp(1), seed=1)
    >>> verdict.refuted, verdict.p_value < 1e-9
    (True, True)
    """
    scores, null = read_scores(inside, outside, least=2), Null(claim)
    check_level(level)
    choice = Choice(threshold, weight, share, seed)
    rule, test, used = choice.of(scores, partial(learnt_for, null))
    statistic = rule.statistic(test)
    detectable, claimed = detected(statistic, null, level)
    return Verdict(
        claim=claim,
        level=level,
        p_value=p_value(statistic, null).upper,
        rule=rule,
        counts=statistic.counts,
        detectable_mu=detectable,
        claimed_mu=claimed,
        seed=used,
    )
