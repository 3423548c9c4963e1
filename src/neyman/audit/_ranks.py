"""Thresholds at scores of fixed ranks, for tails that a part to learn from is too small to show."""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np

from neyman.audit._scores import Scores
from neyman.audit._statistic import chances_of
from neyman.numerics import Array

__all__ = ["Ranked", "largest_by_rank"]

# The ranks 1, 3, 9, ... up to half of a side.
_RATIO: Final = 3
# In logs of x, whose deviation is about 1 / sqrt(rank); epsilon loses a cell's width at most.
_NODES: Final = 500
_DEVIATIONS, _HIGHEST = 8.0, 4.0
_NEAR: Final = 1e-4
# Relatively, of sums of chances; and what windows of binomials leave out, of all nodes together.
_SAFE: Final = 1e-9
_LEFT_OUT: Final = 1e-9


class Ranked(NamedTuple):
    """An epsilon that is refuted, and the threshold that refutes it.

    Attributes:
        epsilon: 0 where nothing is refuted.
        threshold: of the scores.
    """

    epsilon: float
    threshold: float


@final
@dataclass(frozen=True, slots=True)
class _Look:
    """A threshold at the j-th most extreme score of one side, and how many of the other pass it.

    The chance to pass it is x on the one side, Beta(j, n + 1 - j), or less where scores are equal.
    Under the claim it is at most tpr(x) on the other.

    Attributes:
        rank: j.
        size: n, of the side that gives the threshold.
        passed: of the other side, that lie beyond it.
        others: how many there are on the other side.
        threshold: of the scores.
    """

    rank: int
    size: int
    passed: int
    others: int
    threshold: float

    def laws(self) -> tuple[Array, Array]:
        """Return nodes of x, increasing, and the chance that x lies below each."""
        mean, wide = self.rank / (self.size + 1), _DEVIATIONS / math.sqrt(self.rank)
        high = min(1.0, mean * math.exp(min(wide, _HIGHEST)))
        nodes = np.geomspace(mean * math.exp(-wide), high, _NODES)
        return nodes, chances_of(self.size, nodes, self.rank)

    def p_value(self, epsilon: float, delta: float) -> float:
        """Return E P(Bin(others, tpr(x)) >= passed), rounded up.

        Between two nodes the upper one counts, above the last one all.
        """
        if self.passed == 0:
            return 1.0
        nodes, below = self.laws()
        odds = np.exp(epsilon)
        power = np.minimum(delta + odds * nodes, 1 - np.maximum(1 - delta - nodes, 0) / odds)
        chances = chances_of(self.others, np.clip(power * (1 + _SAFE), 0, 1), self.passed)
        masses = np.diff(below, prepend=0.0)
        found = float(np.sum(np.maximum(masses, 0) * chances)) + 1 - float(below[-1])
        return min(1.0, found * (1 + _SAFE) + _LEFT_OUT)


def largest_by_rank(
    scores: Scores, direction: int, *, delta: float, level: float, most: float, known: float
) -> Ranked:
    """Return the largest epsilon that one of the ranks refutes at its share of the level.

    Args:
        scores: of independent runs.
        direction: 1 where high scores speak for the record; fixed before the scores were seen.
        delta: of the claims (epsilon, delta)-DP.
        level: of all ranks together.
        most: no epsilon above it is tried.
        known: an epsilon that is refuted already; what does not exceed it is not sought.
    """
    looks = [
        *_looks(-direction * scores.outside, -direction * scores.inside, -direction),
        *_looks(direction * scores.inside, direction * scores.outside, direction),
    ]
    share, best = level / len(looks), Ranked(known, np.nan)
    for look in looks:
        if look.p_value(best.epsilon, delta) <= share:
            best = Ranked(_last(look, delta, share, best.epsilon, most), look.threshold)
    return best


def _looks(own: Array, others: Array, sign: int) -> list[_Look]:
    """Return thresholds at the smallest scores of a side, and how many of the others lie below."""
    ordered, found = np.sort(own), list[_Look]()
    rank = 1
    while rank <= max(1, own.size // 2):
        at = float(ordered[rank - 1])
        passed = int(np.sum(others < at))
        found.append(_Look(rank, own.size, passed, others.size, sign * at))
        rank *= _RATIO
    return found


def _last(look: _Look, delta: float, share: float, low: float, high: float) -> float:
    while high - low > _NEAR:
        middle = (low + high) / 2
        low, high = (middle, high) if look.p_value(middle, delta) <= share else (low, middle)
    return low
