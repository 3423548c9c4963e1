"""Where the rule of a test comes from: fixed beforehand, or learnt from a part of the scores."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

from neyman.audit._rule import Rule
from neyman.audit._scores import Scores
from neyman.errors import InvalidParameter

__all__ = ["SHARE", "Choice", "Chosen"]

SHARE = 0.1
"""How much of the scores a rule is learnt from."""


class Chosen(NamedTuple):
    """A rule, and the scores that it may be tested on.

    Attributes:
        rule: fixed before these scores were seen.
        test: the scores.
        seed: of the split that the rule was learnt from; None where the rule was given.
    """

    rule: Rule
    test: Scores
    seed: int | None


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """How a rule is chosen.

    Attributes:
        threshold: of a rule that was fixed before the scores were seen; None to learn one.
        weight: of a false positive, for a rule that was fixed.
        share: of the scores, that a rule is learnt from.
        seed: of the split; None draws one.
    """

    threshold: float | None
    weight: float
    share: float
    seed: int | None

    def of(self, scores: Scores, learn: Callable[[Scores, Scores], Rule]) -> Chosen:
        """Return the rule and what it is tested on.

        Args:
            scores: all there are.
            learn: what makes a rule of a part to learn from, for the part to test.

        Raises:
            InvalidParameter: if the share is outside [1/100, 9/10].
        """
        if self.threshold is not None:
            rule = Rule(threshold=float(self.threshold), direction=1, weight=self.weight)
            return Chosen(rule, scores, None)
        if not 0.01 <= self.share <= 0.9:
            raise InvalidParameter(
                f"share must lie in [0.01, 0.9]; {self.share!r} was given. Write the share of the "
                "scores that the rule is learnt from, such as 0.1"
            )
        seed = secrets.randbits(63) if self.seed is None else self.seed
        train, test = scores.split(self.share, seed)
        return Chosen(learn(train, test), test, seed)
