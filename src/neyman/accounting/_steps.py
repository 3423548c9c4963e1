"""How many steps of one mechanism still fit into what is left of a budget."""

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
# Costs grow about as counts do; but for few steps, whose tail is next to nothing.
_LEAP: Final = 64


def steps_within(
    budget: Budget, step: TradeOff, left: Amount, *, least: int = 1, most: int = _MOST
) -> int:
    """Return how many steps fit into what is left, charged as one release, while one more does not.

    Args:
        budget: that charges `step ** n`.
        step: one of them.
        left: of both accounts.
        least: fewer are not looked for; the charge of a handful can take seconds to find.
        most: more are not looked for.

    Returns:
        The number; 0 where `least` do not fit.

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
        """Return the room beside a tail that takes all of delta: no charge has more."""
        cost = budget.filter.cost_beside(step**count, failure_within(left.delta))
        return charged(count) if cost is None else _room(Amount(cost), left)

    def charged(count: int) -> Room:
        return _room(budget.cost(step**count), left)

    start = most if most < _MOST else least
    bound = _last(with_all_of_delta, start, (least, most)) if left.delta else start
    return _last(charged, bound, (least, most)) if bound else 0


def _last(room_of: Callable[[int], Room], start: int, within: tuple[int, int]) -> int:
    """Return the last count with room for it, looked for from `start` on; 0 if there is none."""
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
    """Return the logarithm of how often a charge fits, of both accounts the smaller."""
    pairs = ((cost.cost, left.cost), (cost.delta, left.delta))
    least = min(rest / part for part, rest in pairs if part)
    found = math.log(least) if least > 0 else -math.inf
    # The logarithm of nearly 1 may be rounded to 0.
    found = max(found, 0.0) if cost.fits(left) else min(found, -5e-324)
    return Room(found, found, found)
