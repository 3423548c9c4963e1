"""What a plan would cost."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

__all__ = ["Bill"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a plan would cost now, in the unit of the ledger's account.

    Attributes:
        account: what is added up.
        capacity: of the ledger.
        remaining: in the ledger before the plan.
        costs: of each charge, in order; None for an entry that the ledger holds already.
    """

    account: str
    capacity: Fraction
    remaining: Fraction
    costs: tuple[Fraction | None, ...]

    @property
    def due(self) -> Fraction:
        """All that is still to be paid."""
        return sum((cost for cost in self.costs if cost is not None), Fraction(0))

    @property
    def fits(self) -> bool:
        """Whether the ledger can pay it."""
        return not self.due or self.due <= self.remaining
