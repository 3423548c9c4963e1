"""The budget of a spec, divided over the queries that say their share of it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from neyman.accounting import Budget
from neyman.errors import SpecError
from neyman.numerics import at_most
from neyman.publish._asked import Asked

__all__ = ["divided_by_shares"]


def divided_by_shares(asked: Sequence[Asked], budget: Budget) -> tuple[Asked, ...]:
    """Give each query with a share its part of what the others leave of the whole budget.

    The parts do not depend on what was spent before, so the same spec asked again is free.

    Raises:
        SpecError: if the others leave nothing.
    """
    weights = [Fraction(one.query.share) for one in asked if one.query.share is not None]
    if not weights:
        return tuple(asked)
    fixed = sum(
        (budget.cost(one.step().curve).cost for one in asked if one.query.share is None),
        Fraction(0),
    )
    rest = budget.filter.capacity - fixed
    if rest <= 0:
        taken = at_most(100 * fixed / budget.filter.capacity, 4)
        raise SpecError(
            f"queries with share divide what the others leave of the budget; those ask for {taken} "
            "% of it. Give them less, or give all queries a share"
        )
    part, account = rest / sum(weights, Fraction(0)), budget.filter.account
    return tuple(
        one
        if one.query.share is None
        else replace(one, amount=(account, part * Fraction(one.query.share)))
        for one in asked
    )
