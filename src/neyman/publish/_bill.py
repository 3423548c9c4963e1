"""What a plan would cost."""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import final

from neyman.accounting import Amount
from neyman.numerics import at_least, at_most

__all__ = ["Bill"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a plan would cost now: in the unit of the ledger's account, and of delta.

    Attributes:
        account: what is added up.
        capacity: of the ledger; its delta is what was set aside for unknown groups.
        remaining: in the ledger before the plan.
        costs: of each charge, in order; None for an entry that the ledger holds already.
    """

    account: str
    capacity: Amount
    remaining: Amount
    costs: tuple[Amount | None, ...]

    @property
    def due(self) -> Amount:
        """All that is still to be paid."""
        costs = (cost for cost in self.costs if cost is not None)
        return reduce(add, costs, Amount(Fraction(0)))

    @property
    def fits(self) -> bool:
        """Whether the ledger can pay it, in both accounts."""
        return self.due == Amount(Fraction(0)) or self.due.fits(self.remaining)

    def share(self, cost: Amount) -> str:
        """Write a cost for people, in per cent of the ledger, rounded up."""
        said = f"{at_most(100 * cost.cost / self.capacity.cost, 4)} % of the ledger"
        if not cost.delta:
            return said
        return f"{said}, {at_most(100 * cost.delta / self.capacity.delta, 4)} % of its delta"

    @property
    def left(self) -> str:
        """What remains, for people, in per cent of the ledger, rounded down."""
        said = f"{at_least(100 * self.remaining.cost / self.capacity.cost, 4)} %"
        if not self.capacity.delta:
            return said
        delta = at_least(100 * self.remaining.delta / self.capacity.delta, 4)
        return f"{said} and {delta} % of its delta"

    def to_json(self) -> dict[str, object]:
        """Return the two accounts, JSON-able."""
        return {
            "account": self.account,
            "capacity": str(self.capacity.cost),
            "remaining": str(self.remaining.cost),
            "due": str(self.due.cost),
            "delta_for_groups": str(self.capacity.delta),
            "delta_remaining": str(self.remaining.delta),
            "delta_due": str(self.due.delta),
            "fits": self.fits,
        }
