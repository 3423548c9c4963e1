"""The exponential mechanism, drawn exactly.

Candidates with the same score form a level. A level at gap d below the largest score has the weight
n_d e^(-rate d). A uniform U is compared with the running sums to draw a level, then a candidate in
it. Float64 decides if no running sum is within the band of U; otherwise the uniform gets more bits
and the sums are balls. A weight has an error below 2^-49 n_d, because its exponent x is within
2^-51 x and x e^-x < 1/2. So a running sum and the total T together have an error below 2^-48 n;
their rounding in k levels adds less than 2^-52 k T, and U T adds 2^-51 T. The band is four times as
wide.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.curves import TradeOff, bounded_range, dominated_by
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._decided import LazyUniform, ball, below, decided
from neyman.mechanisms._folded import FloatArray
from neyman.mechanisms._gaussian_below import pure_epsilon
from neyman.mechanisms._selection import Selection
from neyman.numerics import Real
from neyman.overriding import override

__all__ = ["ExponentialMechanism", "level_of"]

_BAND = 2.0**-46


@final
class ExponentialMechanism(Selection):
    """Chooses i with probability proportional to e^(rate u_i), like noisy max with Gumbel noise.

    The loss has range epsilon, max L - min L <= epsilon, because ratios of weights have this range.
    So the release is dominated by `bounded_range(epsilon)`. It is epsilon-DP, and costs half the mu
    of epsilon-DP.

    Source: McSherry and Talwar (2007), "Mechanism design via differential privacy"; Dong, Durfee
        and Rogers (2020), for the range.

    >>> import numpy as np
    >>> choice = ExponentialMechanism(epsilon=1, sensitivity=1)
    >>> f"{choice.tradeoff.mu():.4f}"
    '0.6239'
    >>> choice.probabilities(np.array([0, 2, 2])).round(4).tolist()
    [0.1554, 0.4223, 0.4223]
    """

    __slots__ = ()

    @classmethod
    def calibrate(cls, mu: Real, *, sensitivity: Real, monotone: bool = False) -> Self:
        """Return the mechanism with the largest epsilon that is mu-GDP.

            epsilon = 2 log(Phi(mu/2) / Phi(-mu/2))

        Args:
            mu: of one selection; positive.
            sensitivity: the most that one unit moves a score.
            monotone: whether neighbouring data move all scores in one direction.

        Raises:
            InvalidParameter: if mu is not positive, or needs an epsilon outside [2^-40, 700].

        Error: epsilon is rounded down, by at most 1e-12 relatively.
        """
        return cls(epsilon=2 * pure_epsilon(mu), sensitivity=sensitivity, monotone=monotone)

    @property
    @override
    def tradeoff(self) -> TradeOff:
        return dominated_by(bounded_range(self.epsilon))

    @override
    def describe(self) -> dict[str, object]:
        return self._record("exponential_mechanism")

    def regret(self, candidates: int, confidence: float) -> int:
        """Return r such that the chosen score is within r of the largest, with this confidence.

            r = log(candidates / (1 - confidence)) / rate, rounded up

        Args:
            candidates: how many there are.
            confidence: in (0, 1).
        """
        return self._regret(candidates, confidence)

    @override
    def probabilities(self, scores: IntArray) -> FloatArray:
        weights = np.exp(-float(self.rate) * (np.max(scores) - scores).astype(np.float64))
        return weights / np.sum(weights)

    def _choose(self, gaps: npt.NDArray[np.uint64], source: BitSource) -> int:
        levels, counts = np.unique(gaps, return_counts=True)
        chosen = levels[level_of(levels, counts, self.rate, source)]
        members = np.flatnonzero(gaps == chosen)
        return int(members[below(members.size, source)])


def level_of(
    levels: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.intp],
    rate: Fraction,
    source: BitSource,
    band: float = _BAND,
) -> int:
    """Return an index of `levels`, drawn with weights counts e^(-rate levels); levels[0] is 0.

    Args:
        levels: increasing gaps.
        counts: the number of candidates at each.
        rate: exact.
        source: of fair bits.
        band: the distance within which float64 does not decide; a wider one changes the time, never
            the answer.
    """
    word = int(source.uint64(1)[0])
    if levels.size == 1:
        return 0
    sums = np.cumsum(counts * np.exp(-float(rate) * levels.astype(np.float64)))
    at = word * 2.0**-64 * sums[-1]
    room = band * float(np.sum(counts) + (levels.size + 4) / 8 * sums[-1])
    first, last = np.searchsorted(sums[:-1], [at - room, at + room])
    if first == last:
        return int(first)
    uniform = LazyUniform(word, 64, source)
    whole, sizes = [int(gap) for gap in levels], [int(count) for count in counts]
    return decided([uniform], lambda: _exact_level(whole, sizes, rate, uniform))


def _exact_level(
    levels: Sequence[int], counts: Sequence[int], rate: Fraction, uniform: LazyUniform
) -> int | None:
    """Return the level whose share of [0, 1) contains the whole uniform; None if undecided."""
    sums = [ball(Fraction(0))]
    for gap, count in zip(levels, counts, strict=True):
        sums.append(sums[-1] + count * ball(-rate * gap).exp())
    low, high = (end * sums[-1] for end in uniform.ends())
    last = len(levels) - 1
    for i in range(len(levels)):
        # The ends 0 and 1 need no comparison.
        if (i == 0 or bool(sums[i] <= low)) and (i == last or bool(high <= sums[i + 1])):
            return i
    return None
