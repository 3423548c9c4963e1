"""Rules that turn scores into error counts, and how one is learnt from a part of the scores."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from neyman.arguments import got
from neyman.audit._checks import is_number
from neyman.audit._null import Claim, Null
from neyman.audit._scores import Scores
from neyman.audit._statistic import Counts, Statistic
from neyman.calls import plain_calls_of
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.numerics._special import ndtr, ndtri

__all__ = [
    "Family",
    "Prospect",
    "Rule",
    "allowed_by",
    "learnt_for",
    "learnt_for_family",
    "prospects",
]

Family = Callable[[float], Claim]
"""Claims by one parameter; a larger one allows an attacker more."""

_THRESHOLDS = 40
_WEIGHTS = 2.0 ** (np.arange(-48, 49) / 4)
_EVEN = 48
# For a first look at many features, of which a few are refined.
_FEW_WEIGHTS, _REFINED = _WEIGHTS[::4], 6
_RATES = np.concatenate([[0.0], ndtr(np.linspace(-5, 5, 61)), [1.0]])
# One-sided, at about the usual level: a predicted statistic that is as extreme refutes.
_REFUTES = 1.645
_HALVINGS = 14
# Rates are taken for worse than they seem by as many standard deviations: the best of many
# candidates would be the luckiest one.
_DOUBTED = 3.0


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Call a score "in" where direction * score > direction * threshold.

    Attributes:
        threshold: in the unit of the scores.
        direction: 1 where large scores suggest that the record was in the data, -1 where small
            ones do.
        weight: of a false positive; a false negative has the weight 1.
    """

    threshold: float
    direction: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an invalid rule.

        Raises:
            InvalidParameter: if a number is outside its range.
        """
        if not is_number(self.threshold) or math.isnan(self.threshold):
            raise InvalidParameter(
                f"threshold must be a number; got {got(self.threshold)}. Write the "
                "score above which a run is called in, such as 0.5"
            )
        if self.direction not in (1, -1):
            raise InvalidParameter(
                f"direction must be 1 or -1; got {got(self.direction)}. Write 1 if "
                "large scores suggest that the record was in the data"
            )
        if not is_number(self.weight) or not 0 < self.weight < math.inf:
            raise InvalidParameter(
                f"weight must be positive and finite; got {got(self.weight)}. Write "
                "about the likelihood ratio at the threshold; 1 is half-way between the sides"
            )

    def called(self, scores: Array) -> NDArray[np.bool_]:
        """Return which scores are called "in"."""
        return self.direction * scores > self.direction * self.threshold

    def statistic(self, scores: Scores) -> Statistic:
        """Count the errors of the rule."""
        sides = scores.outside, scores.inside
        outside, inside = (int(np.sum(self.called(side))) for side in sides)
        counts = Counts(
            false_positives=outside,
            outside=scores.outside.size,
            false_negatives=scores.inside.size - inside,
            inside=scores.inside.size,
        )
        return Statistic(counts, self.weight)


@final
@dataclass(frozen=True, slots=True)
class _Candidates:
    """Thresholds with the error rates that they seem to have, times weights.

    Attributes:
        thresholds: of the rules; the first lies half-way between the two sides.
        x: their false positive rates, shrunk by a count.
        y: their false negative rates, shrunk by a count.
        direction: of all of them.
        sizes: of the scores that will be tested, outside and inside.
        learnt: sizes of the scores that were learnt from.
    """

    thresholds: Array
    x: Array
    y: Array
    direction: int
    sizes: tuple[int, int]
    learnt: tuple[int, int]

    def scores(self, f: Array, weights: Array = _WEIGHTS) -> Array:
        """Return how many deviations each (threshold, weight) is below the claim, at the least."""
        w = weights[:, None]
        spread = w * w * _RATES * (1 - _RATES) / self.sizes[0] + f * (1 - f) / self.sizes[1]
        spread += ((w + 1) / min(self.sizes)) ** 2 / 4
        at = w * _RATES + f
        seen = self.x[:, None] * weights + self.y[:, None]
        doubts = self.x * (1 - self.x) / self.learnt[0], self.y * (1 - self.y) / self.learnt[1]
        doubt = np.sqrt(doubts[0][:, None] * weights**2 + doubts[1][:, None])
        doubt[0, weights == 1] = 0.0
        seen += _DOUBTED * doubt
        # The nearest law of the null, for each weight and threshold.
        gaps = (at[None] - seen[:, :, None]) / np.sqrt(spread)[None]
        return gaps.min(axis=2)

    def best(self, f: Array) -> "Prospect":
        """Return the rule that should refute the claim best."""
        found = self.scores(f)
        row, column = np.unravel_index(int(np.argmax(found)), found.shape)
        # A search among many profits from chance: a smooth model is left for a clear gain alone.
        if found[0, _EVEN] > found[row, column] - 1:
            row, column = 0, _EVEN
        rule = Rule(
            threshold=float(self.thresholds[row]),
            direction=self.direction,
            weight=float(_WEIGHTS[column]),
        )
        return Prospect(float(found[row, column]), rule)


class Prospect(NamedTuple):
    """A rule, and by how many deviations it should refute the claim."""

    gap: float
    rule: Rule


def allowed_by(null: Null) -> Array:
    """Return the claim's curve at the rates that rules are compared at."""
    return null.ends(_RATES)[0]


def prospects(
    f: Array, trains: Sequence[Scores], sizes: tuple[int, int]
) -> list[tuple[int, Prospect]]:
    """Return, for the best few of several scores, their place and the rule on them.

    Rules of both directions are tried.

    Args:
        f: what `allowed_by` gives.
        trains: scores to learn from, of several features of the same runs.
        sizes: of the scores that will be tested, outside and inside.
    """
    tried: list[tuple[int, _Candidates]] = [
        (place, _candidates(train, sizes, direction))
        for place, train in enumerate(trains)
        for direction in (1, -1)
    ]
    rough = [float(candidates.scores(f, _FEW_WEIGHTS).max()) for _, candidates in tried]
    best = np.sort(np.argsort(-np.array(rough), kind="stable")[:_REFINED])
    refined = [tried[int(k)] for k in best]
    return [(place, candidates.best(f)) for place, candidates in refined]


def learnt_for(null: Null, train: Scores, test: Scores) -> Rule:
    """Return the rule that should refute this claim best, by what the training part shows."""
    return _candidates(train, _sizes(test)).best(allowed_by(null)).rule


def learnt_for_family(family: Family, most: float, train: Scores, test: Scores) -> Rule:
    """Return the rule that should refute the largest parameter of a family."""
    candidates = _candidates(train, _sizes(test))
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        seen = float(candidates.scores(allowed_by(Null(family(middle)))).max()) >= _REFUTES
        low, high = (middle, high) if seen else (low, middle)
    return candidates.best(allowed_by(Null(family(low)))).rule


def _sizes(scores: Scores) -> tuple[int, int]:
    return scores.outside.size, scores.inside.size


def _candidates(train: Scores, sizes: tuple[int, int], direction: int | None = None) -> _Candidates:
    values, towards, middle = _between_means(train)
    direction = towards if direction is None else direction
    with np.errstate(invalid="ignore"):
        between = (values[1:] + values[:-1]) / 2 if values.size > 1 else values
    between = np.where(np.isfinite(between), between, values[: between.size])
    if between.size > _THRESHOLDS:
        between = np.unique(np.quantile(between, np.linspace(0, 1, _THRESHOLDS), method="nearest"))
    thresholds = np.concatenate([[middle], between])
    signed = direction * thresholds[:, None]
    rates = [
        (np.sum(direction * side > signed, axis=1) + add) / (side.size + 2)
        for side, add in ((train.outside, 1), (train.inside, 1))
    ]
    learnt = _sizes(train)
    return _Candidates(thresholds, rates[0], 1 - rates[1], direction, sizes, learnt)


def _between_means(train: Scores) -> tuple[Array, int, float]:
    """Return all values, the direction, and the threshold half-way between the sides.

    Half-way between the means of normal scores, so that any increasing function of the scores gives
    the same rule.
    """
    both = np.concatenate([train.outside, train.inside])
    values, place, times = np.unique(both, return_inverse=True, return_counts=True)
    normal = ndtri((np.cumsum(times) - times / 2) / both.size)[place]
    means = normal[: train.outside.size].mean(), normal[train.outside.size :].mean()
    share = float(ndtr((means[0] + means[1]) / 2))
    middle = float(np.quantile(both, share, method="lower"))
    return values, (1 if means[1] >= means[0] else -1), middle
