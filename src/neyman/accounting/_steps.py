"""The number of steps of one mechanism that still fit into a budget."""

import math
from collections.abc import Callable
from typing import Final

from neyman.accounting._budget import Amount, Budget
from neyman.accounting._search import Wholes, crossing
from neyman.accounting._tail import failure_within
from neyman.accounting._targets import Room
from neyman.curves import TradeOff

__all__ = ["steps_within"]

_MOST: Final = 2**50
# Costs are about proportional to counts, except for few steps with a negligible tail.
_LEAP: Final = 64


def steps_within(
    budget: Budget, step: TradeOff, left: Amount, *, least: int = 1, most: int = _MOST
) -> int:
    """Return the most steps that fit into the remaining budget, charged as one release.

    Args:
        budget: the budget that charges `step ** n`.
        step: the guarantee of one step.
        left: the remaining amount, in both accounts.
        least: the search tries no fewer, because the charge of a handful can take seconds.
        most: the search tries no more.

    Returns:
        The number; 0 if `least` steps do not fit.

    Raises:
        NotCertified, InvalidParameter, UnsupportedComposition: as `Budget.cost`.

    >>> from neyman.accounting import budget_for, dp_sgd
    >>> from neyman.curves import approx_dp
    >>> budget = budget_for(approx_dp(8, 1e-5))
    >>> step = dp_sgd(noise_multiplier=10, sampling_probability=0.25, steps=1)
    >>> steps_within(budget, step, budget.capacity)
    4378
    """
    if left.cost <= 0 or left.delta < 0:
        return 0

    def with_all_of_delta(count: int) -> Room:
        """Return the margin beside a tail that takes all of delta, which no charge exceeds."""
        cost = budget.filter.cost_beside(step**count, failure_within(left.delta))
        return charged(count) if cost is None else _room(Amount(cost), left)

    def charged(count: int) -> Room:
        return _room(budget.cost(step**count), left)

    start = most if most < _MOST else least
    bound = _last(with_all_of_delta, start, (least, most)) if left.delta else start
    return _last(charged, bound, (least, most)) if bound else 0


def _last(room_of: Callable[[int], Room], start: int, within: tuple[int, int]) -> int:
    """Return the last count that fits, searched for from `start`; 0 if none does."""
    least, most = within
    known: dict[float, Room] = {}

    def room(count: float) -> Room:
        if count not in known:
            known[count] = room_of(int(count))
        return known[count]

    here = start
    while room(here).met:
        if here == most:
            return here
        leap = min(math.exp(min(room(here).guess, 9.0)), _LEAP)
        met, here = here, min(int(here * leap) + 1, most)
        if not room(here).met:
            return int(crossing(room, Wholes(), met, here)[0])
    missed = here
    while not room(here).met:
        if here == least:
            return 0
        fall = math.exp(max(room(here).guess, -math.log(_LEAP)))
        missed, here = here, max(min(int(here * fall), here - 1), least)
    return int(crossing(room, Wholes(), here, missed)[0])


def _room(cost: Amount, left: Amount) -> Room:
    """Return the logarithm of how many times a charge fits, the smaller of both accounts."""
    pairs = ((cost.cost, left.cost), (cost.delta, left.delta))
    least = min(rest / part for part, rest in pairs if part)
    found = math.log(least) if least > 0 else -math.inf
    # The logarithm of nearly 1 may be rounded to 0.
    found = max(found, 0.0) if cost.fits(left) else min(found, -5e-324)
    return Room(found, found, found)
