"""Permute and flip, drawn exactly.

Every candidate is kept with probability e^(-rate d), d its gap below the largest score, and one of
the kept is drawn uniformly. That equals the first head in a random permutation of coins. Float64
decides a coin unless its uniform is within 2^-46 of the probability (whose error is below 2^-49, as
for the exponential mechanism). Otherwise the uniform gets more bits and the probability is a ball.
"""

from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._decided import LazyUniform, ball, below, decided
from neyman.mechanisms._folded import FloatArray
from neyman.mechanisms._laplace_curve import LaplaceSelection
from neyman.overriding import override

__all__ = ["PermuteAndFlip", "coins"]

_BAND = 2.0**-46


@final
class PermuteAndFlip(LaplaceSelection):
    """Chooses like noisy max with exponential noise.

    Its expected score is never below that of the exponential mechanism with the same epsilon. The
    guarantee is the Laplace curve. At epsilon = 1 it is epsilon-DP and 1.0301-GDP, while the
    exponential mechanism is 0.6239-GDP: compare the two at equal mu.

    Source: McKenna and Sheldon (2020), "Permute-and-flip"; Ding, Kifer, Steinke, Wang, Xiao and
        Zhang (2021), for exponential noise; the curve: docs/theory/selection.md.

    >>> import numpy as np
    >>> choice = PermuteAndFlip(epsilon=1, sensitivity=1)
    >>> choice.probabilities(np.array([0, 2, 2])).round(4).tolist()
    [0.1226, 0.4387, 0.4387]
    """

    __slots__ = ()

    @override
    def describe(self) -> dict[str, object]:
        return self._record("permute_and_flip")

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
        kept = np.exp(-float(self.rate) * (np.max(scores) - scores).astype(np.float64))
        found = np.empty(kept.size)
        for i in range(kept.size):
            law = np.ones(1)
            for p in np.delete(kept, i):
                law = np.convolve(law, [1 - p, p])
            found[i] = kept[i] * np.sum(law / np.arange(1, law.size + 1))
        return found

    def _choose(self, gaps: npt.NDArray[np.uint64], source: BitSource) -> int:
        kept = np.flatnonzero(coins(gaps, self.rate, source))
        return int(kept[below(kept.size, source)])


def coins(
    gaps: npt.NDArray[np.uint64], rate: Fraction, source: BitSource, band: float = _BAND
) -> npt.NDArray[np.bool_]:
    """Return independent heads with probability e^(-rate gap), shape (n,).

    Args:
        gaps: of the scores.
        rate: exact.
        source: of fair bits.
        band: the distance within which float64 does not decide; a wider one changes the time, never
            the answer.
    """
    words = source.uint64(gaps.size)
    uniform = words.astype(np.float64) * 2.0**-64
    chance = np.exp(-float(rate) * gaps.astype(np.float64))
    heads = (uniform < chance) | (gaps == 0)
    doubtful = (np.abs(uniform - chance) <= band) & (gaps > 0)
    for i in np.flatnonzero(doubtful).tolist():
        heads[i] = _exact_coin(int(gaps[i]), rate, LazyUniform(int(words[i]), 64, source))
    return heads


def _exact_coin(gap: int, rate: Fraction, uniform: LazyUniform) -> bool:
    def ask() -> bool | None:
        chance = ball(-rate * gap).exp()
        low, high = uniform.ends()
        if bool(high <= chance):
            return True
        return False if bool(low >= chance) else None

    return decided([uniform], ask)
