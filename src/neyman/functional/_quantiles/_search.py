"""A search for a few quantiles: noisy counts at a few places, which earlier answers determine."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, NamedTuple, final

import numpy as np

from neyman.aggregate import Columns, DrawnNoise, IntArray, Noise
from neyman.functional._bases._features import clamped
from neyman.functional._quantiles._columns import NAMES, columns_of, half_rank
from neyman.functional._quantiles._located import NoisyCounts
from neyman.functional._quantiles._rounds import PAIRS, Round, rounds_of, sensitivity_of_rounds
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.numerics import Array, log_ndtr, ndtri
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["QuantileSearch", "SearchReading"]

# The first rounds ask beside the middle of the posterior by turns, so that both sides are known.
_BESIDE: Final = 0.1
# What the first rounds have of the probability that an interval fails.
_FIRST: Final = 0.1
# By so much a total interval is wider, for it goes by straight lines; measured.
_WIDER: Final = 1.15
# Noise so small, in lattice units, is none.
_LEAST: Final = 0.125
# Added to G: a count of exactly p n is at the quantile, whatever its last bit.
_TIE: Final = 1e-6
_BLOCK: Final = 256
# Of the law of a sum of positive parts: steps of 1/256 up to 12.
_FINENESS: Final = 256
_FARTHEST: Final = 12
# P(Z > 12) is below 2^-108.
_BEYOND: Final = PAIRS * 2.0**-108


class _Found(NamedTuple):
    """The answers so far.

    Attributes:
        places: nodes, shape (groups, probabilities, answers), in the order of the rounds.
        above: G + noise there, same shape.
        stddev: standard deviation of the noise, same shape.
        records: n + noise, shape (groups,).
        records_sd: standard deviation of that noise.
    """

    places: IntArray
    above: Array
    stddev: Array
    records: Array
    records_sd: float


@final
@dataclass(frozen=True, slots=True)
class QuantileSearch:
    """Rounds of noisy counts at one or two places for each probability, group by group.

    The exact integers are F(x) at every node. A round has G(x) = F(x) - p n at a place for each p,
    in one vector of least noise. Its share of the budget is fixed before the search:

        1. ceil(log2 nodes) + 2 rounds, alternating between the 40th and 60th percentile of the
        posterior;
        2. four rounds on the left and right of the crossing of G, four deviations away.

    Released numbers alone determine the places. The places and the noisy integers are stored.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v,
        because each round is mu_t-GDP for all earlier answers, and mu_1^2 + ... = mu^2 is fixed.
    Source: Dong, Roth and Su, *Gaussian differential privacy*, JRSS-B 2022, Theorem 4 and Corollary
        2 (adaptive composition); Karp and Kleinberg, *Noisy binary search and its applications*,
        SODA 2007.

    Attributes:
        basis: the grid.
        probabilities: the p of each quantile, in [0, 1], increasing.
    """

    statistic: ClassVar[str] = StepBasis.statistic
    rules: ClassVar[int] = 1

    basis: StepBasis
    probabilities: tuple[Fraction, ...]

    @property
    def nodes(self) -> int:
        """The number of exact integers of a group."""
        return self.basis.nodes

    @property
    def size(self) -> int:
        """The number of stored integers of a group: places and noisy sums."""
        return sum(one.size for one in self.rounds)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds, in order."""
        return rounds_of(self.probabilities, self.nodes)

    def sums(self, counts: IntArray) -> IntArray:
        """Return the exact integers: numbers of records up to each node, shape (groups, nodes)."""
        return np.cumsum(clamped(counts, self.nodes), axis=-1, dtype=np.int64)

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the sensitivity of the integers of all rounds."""
        return sensitivity_of_rounds(self.rounds, neighbors)

    def drawn(self, exact: IntArray, noise: DrawnNoise) -> IntArray:
        """Return the stored integers of all rounds, with noise."""
        return self._run(exact, noise.stddev, noise)

    def expected(self, exact: IntArray, noise: Noise) -> IntArray:
        """Return the integers that would be stored if each draw of noise were 0."""
        return self._run(exact, noise.stddev, None)

    def answers(self, kept: IntArray, stddev: float) -> _Found:
        """Return the answers in stored integers with noise `stddev`, shape (groups, size)."""
        first, parts = 0, list[tuple[Round, IntArray, IntArray]]()
        for one in self.rounds:
            middle, last = first + one.places, first + one.size
            if first == kept.shape[1]:
                break
            parts.append((one, kept[:, first:middle], kept[:, middle:last]))
            first = last
        return self._pooled_answers(parts, max(stddev, _LEAST))

    def _run(self, exact: IntArray, stddev: float, draws: DrawnNoise | None) -> IntArray:
        up_to = exact.reshape(-1, self.nodes)
        blocks = range(0, len(up_to), _BLOCK)
        made = [self._block(up_to[low : low + _BLOCK], stddev, draws) for low in blocks]
        return np.concatenate(made).reshape(-1)

    def _block(self, up_to: IntArray, stddev: float, draws: DrawnNoise | None) -> IntArray:
        kept = np.zeros((len(up_to), 0), np.int64)
        for number, one in enumerate(self.rounds):
            if draws is None and stddev == 0:
                chosen = self._exactly(up_to, one, number)
            else:
                chosen = self._chosen(kept, stddev, one, number)
            places = chosen.reshape(len(up_to), -1).clip(0, self.nodes - 2)
            sums = one.sums(up_to, places)
            answer = sums if draws is None else draws.add_noise(sums)
            kept = np.concatenate([kept, places, answer], axis=1)
        return kept

    def _chosen(self, kept: IntArray, stddev: float, one: Round, number: int) -> IntArray:
        """Return the places of a round by the stored earlier rounds, shape (groups, p, targets)."""
        if not kept.size:
            share = 0.5 - _BESIDE
            middle = int(share * (self.nodes - 1))
            return np.full((len(kept), len(self.probabilities), 1), middle, np.int64)
        length = max(stddev, _LEAST)
        counts = self.located(self.answers(kept, stddev))
        if one.targets == (0,):
            side = _BESIDE if number % 2 else -_BESIDE
            return counts.quantile(0.5 + side)[..., None]
        # On the left the last node before the crossing, where counts of a heap are still below.
        found = [
            counts.beyond(side * length * one.apart).crossing() - (side < 0) for side in one.targets
        ]
        return np.stack(found, axis=2)

    def _exactly(self, up_to: IntArray, one: Round, number: int) -> IntArray:
        """Return the places of exact answers: the quantile and the node before it."""
        p = np.array([float(share) for share in self.probabilities])
        ranks = p * up_to[:, -1:] + half_rank(p) - 1e-9
        place = np.stack([np.sum(up_to < rank[:, None], axis=1) for rank in ranks.T], axis=1)
        before = np.array([target < 0 or number % 2 == 0 for target in one.targets], np.int64)
        return np.maximum(place[..., None] - before, 0)

    def located(self, found: _Found) -> NoisyCounts:
        """Return the counts, sorted, with the estimates at the ends."""
        p = np.array([float(share) for share in self.probabilities])
        size = np.maximum(found.records, 1.0)[:, None]
        low, high = -p * size - half_rank(p), (1 - p) * size - half_rank(p)
        return NoisyCounts.of(found.places, found.above, found.stddev, self.nodes - 1, (low, high))

    def _pooled_answers(
        self, parts: list[tuple[Round, IntArray, IntArray]], stddev: float
    ) -> _Found:
        shares = len(self.probabilities)
        p = np.array([float(one) for one in self.probabilities])[:, None]
        moved = _TIE - half_rank(p)
        places, above, deviations = list[IntArray](), list[Array](), list[Array]()
        count, weight = np.zeros(len(parts[0][1])), 0.0
        for one, asked, noisy in parts:
            sums, length = noisy @ one.read.T, stddev * one.records_sd
            # At which of the places in order each probability asked.
            rank = np.argsort(np.argsort(asked, axis=1, kind="stable"), axis=1)
            shape = -1, shares, len(one.targets)
            up_to = np.take_along_axis(sums, rank, 1).reshape(shape)
            places.append(asked.reshape(shape))
            above.append(up_to - p * sums[:, -1:, None] + moved)
            which = np.repeat(np.arange(shares), len(one.targets))
            deviations.append(stddev * one.deviations[rank, which].reshape(shape))
            count += sums[:, -1] / length**2
            weight += 1 / length**2
        return _Found(
            places=np.concatenate(places, axis=2),
            above=np.concatenate(above, axis=2),
            stddev=np.concatenate(deviations, axis=2),
            records=count / weight,
            records_sd=1 / math.sqrt(weight),
        )


@final
@dataclass(frozen=True, slots=True)
class SearchReading:
    """The columns of a search: nodes where pooled counts cross p n, and their intervals.

    For a node q, let s_t = 1 if the place of round t is before q, else -1. If q is the quantile, G
    is not positive before it and not negative from it on. So s_t y_t / sd_t is at most a standard
    normal variable, for all earlier answers. The lower end is the first q with

        (max(s_1 y_1 / sd_1, 0) + ... + max(s_4 y_4 / sd_4, 0)) / 2 <= c

    over the four rounds on the left, where c is the quantile of this sum for normal variables. The
    upper end is the same with the rounds on the right. An answer of the first rounds that is beyond
    Bonferroni's limit for a tenth of the error probability also ends the interval. So the level
    holds for any data.

    The total interval is for the quantile of the population. If a unit has at most r records, which
    can all be equal, sampling gives G a variance of at most r n p (1 - p). With s the noise of the
    four rounds together and z the normal quantile of the level, the interval is between the places
    where the pooled counts cross -d and d, and includes the noise interval:

        d = 1.15 z hypot(2 s, sqrt(r n p (1 - p))) + r

    2 s is used because counts away from the quantile are noisier, and 1.15 because counts between
    places are interpolated by straight lines. It is an estimate, whose coverage is measured. At p =
    0 and 1 it extends to the bound.

    If the number of rows of a group may be 0, it has no quantile: the answer is NaN, and the
    interval is the bounds.

    Attributes:
        search: the search with these answers.
        probabilities: the p of each quantile, in [0, 1], in the order of the question.
        unit_records: r, the most records of one unit.
        coarser: whether the steps of the basis are larger than the declared grid.
    """

    search: QuantileSearch
    probabilities: tuple[Fraction, ...]
    unit_records: int
    coarser: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return NAMES

    @property
    def rows(self) -> int:
        """The number of rows of a group: one for each probability."""
        return len(self.probabilities)

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns, from the stored integers of all rounds."""
        kept = noisy.reshape(-1, self.search.size)
        blocks = range(0, len(kept), _BLOCK)
        found = [self._places(kept[low : low + _BLOCK], noise.stddev, confidence) for low in blocks]
        places = np.concatenate([one[0] for one in found])
        counts = np.concatenate([one[1] for one in found])
        order = [self.search.probabilities.index(p) for p in self.probabilities]
        return columns_of(
            self.search.basis,
            self.probabilities,
            places[..., order],
            counts,
            found[0][2],
            coarser=self.coarser,
        )

    def _places(
        self, kept: IntArray, stddev: float, confidence: float
    ) -> tuple[IntArray, Array, float]:
        """Return the five places of each group, its count, and half of the count's interval."""
        found = self.search.answers(kept, stddev)
        counts = self.search.located(found)
        # Noise may cross neighbours: of rising probabilities quantiles rise.
        place = np.sort(counts.crossing(), axis=1)
        p = np.array([float(share) for share in self.search.probabilities])
        z = float(ndtri(np.array((1 + confidence) / 2)))
        own = self._interval(found, confidence)
        ends = np.minimum(own[0], place), np.maximum(own[1], place)
        noise = found.stddev[..., -1] / math.sqrt(PAIRS) if stddev > 0 else 0.0
        spread = np.sqrt(self.unit_records * np.maximum(found.records, 0)[:, None] * p * (1 - p))
        reach = _WIDER * z * np.hypot(2 * noise, spread) + self.unit_records
        lower = np.minimum(counts.beyond(-reach).crossing(), ends[0])
        upper = np.maximum(counts.beyond(reach).crossing(), ends[1])
        lower, upper = np.where(p == 0, 0, lower), np.where(p == 1, self.search.nodes - 1, upper)
        hidden = z * found.records_sd if stddev > 0 else 0.0
        return np.stack([place, *ends, lower, upper], axis=1), found.records, hidden

    def _interval(self, found: _Found, confidence: float) -> tuple[IntArray, IntArray]:
        """Return the ends that the noise allows."""
        first = found.places.shape[2] - 2 * PAIRS
        missed = (1 - confidence) / 2
        sure = -float(ndtri(np.array(missed * _FIRST / first))) * found.stddev[..., :first]
        above, places = found.above[..., :first], found.places[..., :first]
        last = self.search.nodes - 1
        lower = np.where(above < -sure, places + 1, 0).max(axis=2)
        upper = np.where(above > sure, places, last).min(axis=2)
        limit = _limit(missed * (1 - _FIRST))
        ends = [
            _rejected(
                found.places[..., first + side :: 2],
                found.above[..., first + side :: 2],
                found.stddev[..., first + side :: 2],
                limit,
                last,
            )
            for side in (0, 1)
        ]
        return np.maximum(lower, ends[0][0]), np.minimum(upper, ends[1][1])


def _rejected(
    places: IntArray, above: Array, stddev: Array, limit: float, last: int
) -> tuple[IntArray, IntArray]:
    """Return the first and the last node that the pooled answers of one side allow."""
    order = np.argsort(places, axis=2, kind="stable")
    above, places = np.take_along_axis(above, order, 2), np.take_along_axis(places, order, 2)
    length = np.take_along_axis(np.broadcast_to(stddev, above.shape), order, 2)
    none = np.zeros((*places.shape[:2], 1), np.int64)
    against_later = np.cumsum(np.maximum(above / length, 0), axis=2)
    against_earlier = np.cumsum(np.maximum(-above / length, 0)[..., ::-1], axis=2)
    evidence = np.concatenate([none, against_later], axis=2)
    evidence += np.concatenate([against_earlier[..., ::-1], none], axis=2)
    edges = np.concatenate([none - 1, places, none + last], axis=2)
    allowed = (evidence <= limit * math.sqrt(PAIRS)) & (np.diff(edges, axis=2) > 0)
    lower = np.where(allowed, edges[..., :-1] + 1, last).min(axis=2)
    upper = np.where(allowed, edges[..., 1:], 0).max(axis=2)
    return lower, upper


@lru_cache(maxsize=64)
def _limit(missed: float) -> float:
    """Return c with P((Z_1^+ + ... + Z_4^+) / 2 > c) <= missed, Z independent standard normal.

    Error: never too small: each Z^+ is rounded up to a multiple of 1/256, and is infinite beyond
        12.
    """
    steps = np.arange(_FARTHEST * _FINENESS + 1) / _FINENESS
    one = -np.diff(np.exp(log_ndtr(-steps)), prepend=1.0)
    law = one
    for _ in range(PAIRS - 1):
        law = np.convolve(law, one)
    # From the far end, so that small probabilities are not lost.
    beyond = np.append(np.cumsum(law[::-1])[::-1][1:], 0.0) + _BEYOND
    place = int(np.argmax(beyond <= missed))
    return place / _FINENESS / math.sqrt(PAIRS) if beyond[place] <= missed else math.inf
