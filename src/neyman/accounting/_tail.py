"""How much of a release's tail to charge to delta, so that the rest costs little."""

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
# After this many trials by interpolation, bisection.
_INTERPOLATED: Final = 4


@final
@dataclass(frozen=True, slots=True)
class Tail:
    """A release as a guarantee ⊗ f_{0,failure}.

    Attributes:
        failure: the charge to delta.
        cost: the charge for the rest, in the account's unit.
        share: the larger of the shares that they take of the two accounts.
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

    A larger tail costs more delta and less of the account, so the best one is where the two shares
    cross. Only a few of the 321 tails are tried. Each trial is next to the tail at which the shares
    would cross if the cost stayed the same as in the last trial.

    Args:
        cost_beside: a function from a tail, a probability, to the cost of the release beside it;
            None if it cannot be charged.
        most: capacity of the account, and the delta that was set aside.
        known: the cost of the release without a tail, or None if there is none; and the delta that
            it costs in any case.

    Returns:
        The tail; None if no tail saves at least one part in a hundred. For most releases, one trial
            shows that.
    """
    (capacity, delta), (whole, failed) = most, known
    limit = None if whole is None else max(whole / capacity, failed / delta) * Fraction(99, 100)
    tried: dict[int, Tail] = {}

    def deficit(k: int) -> Fraction | None:
        """Return by how much the account's share exceeds delta's; None if it is infinite."""
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
    """Return a double that is at most a probability, also as the decimal that it prints as."""
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
        # Some curves have no profile; they are charged without a tail.
        return None


def _before(share: Fraction) -> int:
    """Return the first k whose tail takes at most this share of delta; others are not worth it."""
    if share <= 0:
        return _MOST + 1
    return max(0, math.ceil(-_STEPS_PER_HALF * math.log2(share)))


def _next(low: int, high: int, near: Fraction | None) -> int:
    """Return the next k to try: next to the expected crossing, or the middle of the open range."""
    if near is None:
        return (low + high) // 2
    if near <= 0:
        return high - 1
    expected = math.ceil(-_STEPS_PER_HALF * math.log2(near))
    return min(max(expected, low + 1), high - 1)
