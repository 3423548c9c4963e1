"""Testing a claim with scores."""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy.typing as npt

from neyman.arguments import brief
from neyman.audit._choice import SHARE, Choice
from neyman.audit._joint import p_value
from neyman.audit._null import Claim, Null
from neyman.audit._power import seen_by
from neyman.audit._rule import Rule, learnt_for
from neyman.audit._scores import read_scores
from neyman.audit._statistic import Counts
from neyman.calls import plain_calls
from neyman.errors import InvalidParameter
from neyman.numerics import at_most

__all__ = ["Verdict", "check_level", "refute"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What two lists of scores say of a claim.

    Attributes:
        claim: that was tested.
        level: the probability with which a claim that holds is refuted, at most.
        p_value: certified: no law that keeps the claim gives a smaller one with a larger
            probability than itself.
        rule: the threshold, the direction and the weight of the test.
        counts: the errors of the rule on the scores that were tested.
        sees: the balanced accuracy, (TPR + TNR) / 2, of an attack that this test would have refuted
            the claim with in nine cases of ten, about; None where no attack is as good.
        allows: the balanced accuracy that the claim allows.
        seed: of the split that the rule was learnt from; None where the rule was given.
    """

    claim: Claim
    level: float
    p_value: float
    rule: Rule
    counts: Counts
    sees: float | None
    allows: float
    seed: int | None

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the level."""
        return self.p_value <= self.level

    def __str__(self) -> str:
        c = self.counts
        rates = 100 * c.false_positives / c.outside, 100 - 100 * c.false_negatives / c.inside
        found = "is refuted" if self.refuted else "is not refuted"
        sees = (
            "No attack would have been refuted with so few runs."
            if self.sees is None
            else f"With so many runs the test refutes, nine times in ten, an attack that is right "
            f"{100 * self.sees:.3g} % of the time; the claim allows {100 * self.allows:.3g} %."
        )
        return (
            f"{brief(self.claim)} {found} at level {self.level:g}: p = {at_most(self.p_value, 3)}. "
            f"The rule calls {rates[1]:.3g} % of {c.inside:,} runs with the record in, and "
            f"{rates[0]:.3g} % of {c.outside:,} without. {sees}"
        )


@plain_calls
def refute(
    inside: npt.ArrayLike,
    outside: npt.ArrayLike,
    claim: Claim,
    *,
    level: float = 0.05,
    threshold: float | None = None,
    weight: float = 1.0,
    share: float = SHARE,
    seed: int | None = None,
) -> Verdict:
    """Test whether scores of an attack refute a claimed guarantee.

        p = sup {P(S <= s): FNR >= f(FPR)},   S = w FP / n0 + FN / n1

    Every score is of a run of its own, and the runs are independent. A rule that calls scores "in"
    or "out" is learnt from a random tenth of them, and tested on the rest; or you give it.

    Args:
        inside: scores of an attack on runs with the record, one a run; any shape of law.
        outside: scores on runs without it.
        claim: a guarantee f, for its two-way curve; or one direction of it, such as `f.remove`:
            of runs without the record against runs with it.
        level: the probability of refuting a claim that holds, at most.
        threshold: of a rule that was fixed before the scores were seen: scores above are called in.
        weight: of a false positive, for a rule that was fixed; near the likelihood ratio at the
            threshold is best.
        share: of the scores, that the rule is learnt from where no threshold is given.
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
    rule, test, used = choice.of(scores, partial(learnt_for, claim))
    statistic = rule.statistic(test)
    sees, allows = seen_by(statistic, null, level)
    return Verdict(
        claim=claim,
        level=level,
        p_value=p_value(statistic, null).upper,
        rule=rule,
        counts=statistic.counts,
        sees=sees,
        allows=allows,
        seed=used,
    )


def check_level(level: float) -> None:
    """Refuse what is no level of a test.

    Raises:
        InvalidParameter: if it is outside (0, 1/2).
    """
    if not 0 < level < 0.5:
        raise InvalidParameter(
            f"level must lie in (0, 0.5); {level!r} was given. Write the probability of a false "
            "alarm that you accept, such as 0.05"
        )
