# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""Randomised response on categories, with rational probabilities."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.curves import TradeOff, discrete
from neyman.errors import InvalidParameter
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource, Words
from neyman.mechanisms._mechanism import check_confidence
from neyman.numerics import Array, Interval, Real, exact, exp, text

__all__ = ["Frequencies", "RandomizedResponse"]

_MOST: Final = 1 << 16
_BLOCK: Final = 1 << 16
_LENGTH: Final = 64


class Frequencies(NamedTuple):
    """Estimated shares of the categories among the respondents, shape (k,) each.

    Attributes:
        estimate: unbiased, so it may be below 0; adds up to 1.
        lower: lower ends of an interval for each share separately.
        upper: upper ends.
    """

    estimate: Array
    lower: Array
    upper: Array


@final
@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Reports the true category with probability `truth`, else one of the others at random.

        P(report y | x) = truth if y = x, else (1 - truth) / (k - 1)

    The report is (x + shift) mod k with a shift that does not depend on x. The probabilities are
    rational and drawn exactly, so the curve is also exact: that of two rows,

        (t, o, (k - 2) o)  against  (o, t, (k - 2) o),   o = (1 - t) / (k - 1);

    it is log(t/o)-DP. This is local privacy: every person randomises their own answer. So it takes
    codes instead of an `Aggregate`, and needs no ledger.

    Source: Warner, *Randomized response*, JASA 1965; Kairouz, Bonawitz and Ramage, *Discrete
        distribution estimation under local privacy*, ICML 2016.

    Attributes:
        categories: k, from 2 to 2^16.
        truth: exact, above 1/k and below 1.

    >>> RandomizedResponse(categories=2, truth=Fraction(3, 4)).tradeoff().epsilon(0)
    1.098612288668...
    """

    categories: int
    truth: Fraction

    def __init__(self, *, categories: int, truth: Real) -> None:
        """Create the response from k and the probability; a float means its decimal.

        Args:
            categories: k, from 2 to 2^16.
            truth: the probability of the true category, above 1/k and below 1.

        Raises:
            InvalidParameter: if k or the probability is out of range.
        """
        kept = exact(truth, "truth")
        if type(categories) is not int or not 2 <= categories <= _MOST:
            raise InvalidParameter(
                f"categories must be an int from 2 to {_MOST}; got {categories!r}"
            )
        if not Fraction(1, categories) < kept < 1:
            raise InvalidParameter(
                f"truth={text(kept)} is not between 1/{categories}, which tells nothing, and 1, "
                "which hides nothing; write a probability in between"
            )
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "truth", kept)

    @classmethod
    def calibrate(cls, epsilon: Real, *, categories: int) -> Self:
        """Return the epsilon-DP response: truth = e^epsilon / (e^epsilon + k - 1), rounded down.

        Args:
            epsilon: of one report, in [1e-9, 50].
            categories: k, from 2 to 2^16.

        Raises:
            InvalidParameter: if epsilon or k is out of range.

        Error: the loss is at most epsilon, and at least epsilon - 2^-46 (1 + epsilon).
        """
        loss = exact(epsilon, "epsilon")
        if not Fraction(1, 10**9) <= loss <= 50:
            raise InvalidParameter(
                f"epsilon={text(loss)} is outside [1e-9, 50]; write one in that range"
            )
        # A little below epsilon, because the loss that is computed from the odds is rounded up.
        odds = Fraction(float(exp(Interval.of(loss - (1 + loss) / 2**47)).lower))
        return cls(categories=categories, truth=odds / (odds + categories - 1))

    @property
    def other(self) -> Fraction:
        """The probability of each category other than the true one."""
        return (1 - self.truth) / (self.categories - 1)

    def tradeoff(self) -> TradeOff:
        """Return the exact curve of one report, for one person whose category changes."""
        t, o, rest = self.truth, self.other, (self.categories - 2) * self.other
        return discrete((t, o, rest), (o, t, rest)) if rest else discrete((t, o), (o, t))

    def randomize(self, codes: IntArray, source: BitSource = OPERATING_SYSTEM) -> IntArray:
        """Return one report for each category, drawn independently.

        Args:
            codes: int64 in 0, ..., k - 1, any shape. Other codes are taken modulo k. They raise no
                error, because whether one occurs is private.
            source: of fair bits.

        Raises:
            InvalidParameter: if `codes` is not an int64 array.

        Guarantee: each report satisfies `tradeoff()` exactly, if the bits are fair. No floats are
            used.
        """
        if codes.dtype != np.int64:
            raise InvalidParameter(
                f"codes must be int64, from 0 to {self.categories - 1}; got {codes.dtype}"
            )
        shifts = self._shifts(codes.size, source).reshape(codes.shape)
        return (codes % self.categories + shifts) % self.categories

    def _boundary(self, s: int, length: int) -> tuple[int, bool]:
        """Return floor(2^length c), c = truth + s other, and whether it is exactly 2^length c."""
        c = self.truth + s * self.other
        whole, cut = divmod(c.numerator << length, c.denominator)
        return whole, cut == 0

    def _shifts(self, count: int, source: BitSource) -> IntArray:
        """Return draws of the shift: how many of c_0 < ... < c_(k-2) are at most V, V uniform.

        With V in [m, m + 1) / 2^64, m > floor(2^64 c) implies V > c, and m < floor(2^64 c) implies
        V < c. At m = floor(2^64 c) more bits decide.
        """
        edges = [self._boundary(s, _LENGTH)[0] for s in range(self.categories - 1)]
        table = np.array(edges, dtype=np.uint64)
        found = np.empty(count, dtype=np.int64)
        for start in range(0, count, _BLOCK):
            part = found[start : start + _BLOCK]
            words = source.uint64(part.size)
            part[:] = np.searchsorted(table, words, side="left")
            for i in self._tied(table, words, part):
                part[i] = self._decided(int(words[i]), int(part[i]), source)
        return found

    @staticmethod
    def _tied(table: Words, words: Words, found: IntArray) -> list[int]:
        inside = np.minimum(found, table.size - 1)
        return np.flatnonzero(table[inside] == words).tolist()

    def _decided(self, bits: int, shift: int, source: BitSource) -> int:
        length = _LENGTH
        while shift < self.categories - 1:
            whole, exactly = self._boundary(shift, length)
            if bits < whole:
                return shift
            if bits > whole or exactly:
                shift += 1
            else:
                bits, length = bits << 64 | int(source.uint64(1)[0]), length + 64
        return shift

    def frequencies(self, counts: npt.ArrayLike, confidence: float) -> Frequencies:
        """Return the shares of the categories from the counts of the reports: post-processing.

            estimate = (count / n - o) / (t - o)

        The interval is the Clopper-Pearson interval of the mean probability of a report,
        transformed. The reports of n given people are n coins of two kinds. Between its mean and
        either end, their sum is less spread than the binomial with the same mean, which needs n o >
        1.

        Args:
            counts: how many times each category was reported, shape (k,).
            confidence: of each interval separately, in [0.5, 1).

        Raises:
            InvalidParameter: if the shape is wrong, a count is negative, or n o <= 1.

        Source: Hoeffding, *On the distribution of the number of successes in independent trials*,
            Annals of Mathematical Statistics 1956, theorem 5; Greenberg and Mohri, *Tight lower
            bound on the probability of a binomial exceeding its expectation*, 2014.
        """
        check_confidence(confidence)
        seen = np.asarray(counts)
        if seen.shape != (self.categories,) or seen.dtype.kind not in "iu" or np.any(seen < 0):
            raise InvalidParameter(
                f"counts must be the {self.categories} counts of the reports, as whole numbers; "
                f"got shape {seen.shape} and type {seen.dtype}"
            )
        n = int(seen.sum())
        if n * self.other <= 1 or confidence < 0.5:
            raise InvalidParameter(
                "an interval needs a confidence of at least 0.5 and more than "
                f"{math.floor(1 / self.other)} reports; got confidence={confidence} and {n} reports"
            )
        low, high = _clopper_pearson(seen.astype(np.float64), n, (1 - confidence) / 2)
        other, gap = Interval.of(self.other), Interval.of(self.truth - self.other)
        bounds = ((Interval(low, high) - other) / gap).clip(0.0, 1.0)
        estimate = (seen / n - float(self.other)) / float(self.truth - self.other)
        return Frequencies(estimate, *bounds)

    def describe(self) -> dict[str, object]:
        """Return the record: the number of categories and the exact probability."""
        return {
            "mechanism": "randomized_response",
            "categories": self.categories,
            "truth": text(self.truth),
        }


def _clopper_pearson(seen: Array, n: int, level: float) -> tuple[Array, Array]:
    """Return bounds of a binomial probability, each wrong with probability `level`.

    Error: rounded outwards by 1e-9.
    """
    from scipy.special import betaincinv

    with np.errstate(invalid="ignore"):
        low = betaincinv(seen, n - seen + 1, level) * (1 - 1e-9)
        high = 1 - betaincinv(n - seen, seen + 1, level) * (1 - 1e-9)
    return np.where(seen > 0, low, 0.0), np.where(seen < n, high, 1.0)
