"""The sparse vector technique: many comparisons, in which only the hits cost budget."""

import math
import os
import threading
from fractions import Fraction
from typing import NoReturn, Self, final

from neyman.curves import TradeOff, dominated_by, pure_dp
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource
from neyman.mechanisms._folded import FoldedLaplace
from neyman.mechanisms._gaussian_below import pure_epsilon
from neyman.mechanisms._laplace import Laplace
from neyman.mechanisms._law import require_flint
from neyman.mechanisms._rounded import draw
from neyman.numerics import Real, exact_positive, text

__all__ = ["AboveThreshold"]

_LARGEST = 2**62


@final
class AboveThreshold:
    """A run of comparisons with a threshold: each says whether a value is above, until `hits` were.

    The whole run is epsilon-DP, however many values were below. Values and thresholds may be chosen
    after earlier answers. The first noise is drawn once, at the start. It takes one part of
    epsilon, and the comparisons take r parts, r = ceil((2 hits)^(2/3)), or ceil(hits^(2/3)) if
    monotone.

    One object is one run. It cannot be copied, pickled or used in a forked child, because two
    halves of a run would share the noise and each would have all the hits. Charge `tradeoff` before
    the first question.

    Guarantee: exactly epsilon-DP for the sequence of answers. The answers reveal nothing else about
        the values; to publish a value that was above, release it again at its own cost. The number
        of hits left is public.
    Source: Dwork and Roth (2014), theorem 3.23; Lyu, Su and Li (2017), "Understanding the sparse
        vector technique for differential privacy", algorithm 1; docs/theory/selection.md.

    >>> from neyman.testing import SeededBits  # for tests and examples only, never for a release
    >>> watch = AboveThreshold(epsilon=1, sensitivity=1, hits=1, source=SeededBits(1))
    >>> watch.ask(-100, threshold=0), watch.ask(100, threshold=0), watch.left
    (False, True, 0)
    """

    __slots__ = ("_epsilon", "_left", "_noise", "_process", "_source", "_threshold", "_turn")

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: int,
        hits: int,
        monotone: bool = False,
        source: BitSource = OPERATING_SYSTEM,
    ) -> None:
        """Draw the noise of the threshold.

        Args:
            epsilon: of the whole run; positive.
            sensitivity: of every value, an int in grid units.
            hits: how many values may be above.
            monotone: whether neighbouring data move all values in one direction.
            source: of fair bits.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the bits are visibly not random.
            InvalidParameter: if a parameter is out of range, or needs noise that cannot be drawn.
        """
        whole = exact_positive(epsilon, "epsilon")
        for name, count in (("sensitivity", sensitivity), ("hits", hits)):
            if type(count) is not int or not 1 <= count <= 2**40:
                raise InvalidParameter(
                    f"{name} must be an int of at least 1, in grid units; got {count!r}"
                )
        first, each = _scales(whole, sensitivity, hits, monotone)
        opening, comparing = Laplace(scale=first), Laplace(scale=each)
        require_flint()
        self._epsilon = whole
        self._left = hits
        self._noise = comparing.law
        self._source = source
        self._threshold = _one(opening.law, source)
        self._process = os.getpid()
        self._turn = threading.Lock()

    @classmethod
    def calibrate(
        cls,
        mu: Real,
        *,
        sensitivity: int,
        hits: int,
        monotone: bool = False,
        source: BitSource = OPERATING_SYSTEM,
    ) -> Self:
        """Start a run with the largest epsilon that is mu-GDP.

            epsilon = log(Phi(mu/2) / Phi(-mu/2))

        Args:
            mu: of the whole run; positive.
            sensitivity: of every value, an int in grid units.
            hits: how many values may be above.
            monotone: whether neighbouring data move all values in one direction.
            source: of fair bits.

        Raises:
            MissingExtra: if python-flint is not installed.
            InvalidParameter: if mu is not positive, or another parameter is out of range.

        Error: epsilon is rounded down, by at most 1e-12 relatively.
        """
        return cls(
            epsilon=pure_epsilon(mu),
            sensitivity=sensitivity,
            hits=hits,
            monotone=monotone,
            source=source,
        )

    def __repr__(self) -> str:
        return f"AboveThreshold(epsilon={text(self._epsilon)}, left={self._left})"

    def __reduce__(self) -> NoReturn:
        """Refuse, because a copy would have all the hits again."""
        raise InvalidParameter(
            "an AboveThreshold must not be copied: one object is one run. Start another one with "
            "an epsilon of its own"
        )

    @property
    def tradeoff(self) -> TradeOff:
        """The guarantee of the whole run, epsilon-DP."""
        return dominated_by(pure_dp(self._epsilon))

    @property
    def left(self) -> int:
        """How many more values may be above."""
        return self._left

    def ask(self, value: int, *, threshold: int) -> bool:
        """Return whether the noisy value is at least the noisy threshold.

        Args:
            value: exact, in grid units. You guarantee its sensitivity, and |value| <= 2^62.
            threshold: public, in grid units.

        Raises:
            BudgetExceeded: if no hit is left.
            InvalidParameter: in a forked child, or if an argument is not an int.
        """
        if type(value) is not int or type(threshold) is not int or abs(threshold) > _LARGEST:
            raise InvalidParameter(
                f"a {type(value).__name__} was compared with a {type(threshold).__name__}; write "
                "ints on a public grid, within 2^62"
            )
        with self._turn:
            if os.getpid() != self._process:
                raise InvalidParameter(
                    "an AboveThreshold was used in a forked process, where it would have all its "
                    "hits once more; ask where it was made"
                )
            if not self._left:
                raise BudgetExceeded(
                    "all hits of an AboveThreshold are used; start another one with an epsilon of "
                    "its own"
                )
            above = value + _one(self._noise, self._source) >= threshold + self._threshold
            self._left -= above
        return above


def _scales(
    epsilon: Fraction, sensitivity: int, hits: int, monotone: bool
) -> tuple[Fraction, Fraction]:
    """Return the scales of the noise of the threshold and of a comparison."""
    crossings = hits if monotone else 2 * hits
    ratio = math.ceil(crossings ** (2 / 3))
    first = epsilon / (1 + ratio)
    return sensitivity / first, crossings * sensitivity / (epsilon - first)


def _one(law: FoldedLaplace, source: BitSource) -> int:
    return int(draw(law, 1, source)[0])
