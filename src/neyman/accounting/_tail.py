"""How much of a release's tail is charged to delta, so that the rest of it costs little."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, final

from neyman.errors import UnsupportedComposition
from neyman.numerics import standing

__all__ = ["Tail", "cheapest_tail", "failure_within"]

# Tails are D 2^(-k/16), k = 0, ..., 320: from all of the delta that is set aside to a millionth.
_MOST: Final = 320
_STEPS_PER_HALF: Final = 16
_FOUR_DIGITS: Final = Context(prec=4, rounding=ROUND_FLOOR)
# More trials by interpolation than this, and what is left is halved.
_INTERPOLATED: Final = 4


@final
@dataclass(frozen=True, slots=True)
class Tail:
    """A release seen as a guarantee ⊗ f_{0,failure}.

    Attributes:
        failure: charged to delta for it.
        cost: charged for the rest, in the account's unit.
        share: the larger of the two shares of all that may be spent.
    """

    failure: Fraction
    cost: Fraction
    share: Fraction


def cheapest_tail(
    cost_beside: Callable[[float], Fraction | None],
    most: tuple[Fraction, Fraction],
    known: tuple[Fraction | None, Fraction],
) -> Tail | None:
    """Return the tail with the least max(cost / capacity, (failure + failed) / delta).

    A larger tail costs more of delta and less of the account, so the best is where the two cross.
    They are compared at few of the 321 tails: next to the one at which they would cross if the cost
    were what it was at the last.

    Args:
        cost_beside: what the release costs beside a tail, a probability; None if it cannot.
        most: capacity of the account, and the delta that was set aside.
        known: what the release costs without a tail, None if it cannot; and the delta that it
            costs anyway.

    Returns:
        None where no tail helps by at least one part in a hundred, which saves most releases all
        trials but one.
    """
    (capacity, delta), (whole, failed) = most, known
    limit = None if whole is None else max(whole / capacity, failed / delta) * Fraction(99, 100)
    tried: dict[int, Tail] = {}

    def deficit(k: int) -> Fraction | None:
        """Return by how much the account's share exceeds delta's; None where it is infinite."""
        failure = _tail(delta, k)
        cost = _tried(cost_beside, failure)
        if cost is None:
            return None
        shares = cost / capacity, (failure + failed) / delta
        tried[k] = Tail(failure, cost, max(shares))
        return shares[0] - shares[1]

    first = 0 if limit is None else _before(limit - failed / delta)
    if first > _MOST:
        return None
    low, high, k, trials = first - 1, _MOST + 1, first, 0
    while low < k < high:
        excess, trials = deficit(k), trials + 1
        # The largest tail that is worth its delta saves most of the account.
        if (
            limit is not None
            and k == first
            and (k not in tried or tried[k].cost > limit * capacity)
        ):
            return None
        if excess is None or excess >= 0:
            high = k
        else:
            low = k
        near = None if excess is None or trials > _INTERPOLATED else excess + _share(delta, k)
        k = _next(low, high, near)
    best = min(tried.values(), key=lambda tail: (tail.share, tail.failure), default=None)
    return None if best is None or (limit is not None and best.share > limit) else best


def failure_within(probability: Fraction) -> float:
    """Return a double that is at most a probability, itself and as the decimal it prints as."""
    near = standing(probability)[0]
    return near if Fraction(near) <= probability else math.nextafter(near, 0.0)


def _tail(delta: Fraction, k: int) -> Fraction:
    share = delta * Fraction(2.0 ** (-k / _STEPS_PER_HALF))
    return Fraction(_FOUR_DIGITS.divide(Decimal(share.numerator), Decimal(share.denominator)))


def _share(delta: Fraction, k: int) -> Fraction:
    return _tail(delta, k) / delta


def _tried(cost_beside: Callable[[float], Fraction | None], failure: Fraction) -> Fraction | None:
    try:
        return cost_beside(failure_within(failure))
    except UnsupportedComposition:
        # What is charged whole today needs no profile, and some have none.
        return None


def _before(share: Fraction) -> int:
    """Return the first k whose tail takes no larger share of delta; none is worth more."""
    if share <= 0:
        return _MOST + 1
    return max(0, math.ceil(-_STEPS_PER_HALF * math.log2(share)))


def _next(low: int, high: int, near: Fraction | None) -> int:
    """Return the next k to try: beside the expected crossing, or the middle of what is left."""
    if near is None:
        return (low + high) // 2
    if near <= 0:
        return high - 1
    expected = math.ceil(-_STEPS_PER_HALF * math.log2(near))
    return min(max(expected, low + 1), high - 1)
