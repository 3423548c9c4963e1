"""Where the rule of a test comes from: fixed beforehand, or learnt from a part of the scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

from neyman.arguments import got
from neyman.audit._checks import is_number, seed_of
from neyman.audit._rule import Rule
from neyman.audit._scores import Scores
from neyman.errors import InvalidParameter

__all__ = ["Choice", "Chosen"]

# Of the scores, to learn from; and from how many at least, where a larger share gives as many.
_SHARE, _MOST_SHARE, _ENOUGH = 0.1, 0.2, 20


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
        share: of the scores that a rule is learnt from; None goes by their number.
        seed: of the split; None draws one.
    """

    threshold: float | None
    weight: float
    share: float | None
    seed: int | None

    def of(self, scores: Scores, learn: Callable[[Scores, Scores], Rule]) -> Chosen:
        """Return the rule and what it is tested on.

        Args:
            scores: all of them.
            learn: makes a rule from the part to learn from, for the part to test.

        Raises:
            InvalidParameter: if a number is outside its range, or a weight has no threshold.
        """
        share = _usual(scores) if self.share is None else self.share
        if not is_number(share) or not 0.01 <= share <= 0.9:
            raise InvalidParameter(
                f"share must be in [0.01, 0.9]; got {got(share)}. Write the share "
                "of the scores that the rule is learnt from, such as 0.1"
            )
        if self.threshold is not None:
            rule = Rule(threshold=self.threshold, direction=1, weight=self.weight)
            return Chosen(rule, scores, None)
        if self.weight != 1:
            raise InvalidParameter(
                f"weight goes with a threshold that you fixed; got {got(self.weight)} "
                "without one. Write threshold= as well, or leave weight out: it is then learnt"
            )
        seed = seed_of(self.seed)
        train, test = scores.split(share, seed)
        return Chosen(learn(train, test), test, seed)


def _usual(scores: Scores) -> float:
    size = min(scores.inside.size, scores.outside.size)
    return min(_MOST_SHARE, max(_SHARE, _ENOUGH / size))
