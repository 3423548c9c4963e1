"""The number of n records in a Poisson sample: binomial counts from 256 random bits each."""

from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

from neyman.training._stream import Stream

__all__ = ["MOST_RECORDS", "binomial_count"]

# A table has some 33 standard deviations, which are at most 2^15 records here.
MOST_RECORDS: Final = 2**32
_BITS, _ONE = 256, 2**192


def binomial_count(stream: Stream, number: int, chance: Fraction) -> int:
    """Draw from Binomial(number, chance).

    Error: total variation below 2^-128. Weights are integers, relative to a largest one of 2^192.
        There are W <= 2^21 of them. Each is off by at most W, and the cut tails by at most W^2, so
        that the sum is below 4 W^2 2^-192 < 2^-146. 256 bits add 2^-256 at each threshold.
    """
    if chance == 1:
        return number
    first, thresholds = _table(number, chance)
    drawn = stream.integer(_BITS) * thresholds[-1] >> _BITS
    return first + bisect_right(thresholds, drawn)


@lru_cache(maxsize=32)
def _table(number: int, chance: Fraction) -> tuple[int, tuple[int, ...]]:
    """Return the first count with a weight, and the running sums of weights from there."""
    taken, left = chance.numerator, chance.denominator - chance.numerator
    mode = min((number + 1) * taken // chance.denominator, number)
    below = [*_falling(mode, number - mode, left, taken)]
    above = [*_falling(number - mode, mode, taken, left)]
    weights = [*reversed(below), _ONE, *above]
    return mode - len(below), tuple(accumulate(weights))


def _falling(left: int, passed: int, chance: int, other: int) -> Iterator[int]:
    """Yield weights from the mode outwards; the ratio of two is left/(passed + 1) chance/other."""
    weight = _ONE
    while left and (weight := weight * left * chance // ((passed + 1) * other)):
        yield weight
        left, passed = left - 1, passed + 1
