"""The price of a plan, and the noise of its answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import final

from neyman.accounting import Amount
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.numerics import at_least, at_most
from neyman.printable import printable
from neyman.publish._preview import Preview
from neyman.sensitivity import Neighbors

__all__ = ["Bill", "ChargePreview", "PlanPreview"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The price of a plan now, in the ledger's account and in delta.

    Attributes:
        account: the quantity that the ledger adds up.
        capacity: the total budget of the ledger, with the delta that was set aside.
        remaining: what remains in the ledger before the plan.
        costs: the cost of each charge, in order; None if its answers are stored already.
    """

    account: str
    capacity: Amount
    remaining: Amount
    costs: tuple[Amount | None, ...]

    @property
    def due(self) -> Amount:
        """The cost that is still to be paid."""
        costs = (cost for cost in self.costs if cost is not None)
        return reduce(add, costs, Amount(Fraction(0)))

    @property
    def fits(self) -> bool:
        """Whether the ledger can pay, in both accounts."""
        return self.due == Amount(Fraction(0)) or self.due.fits(self.remaining)

    def share(self, cost: Amount) -> str:
        """Return a cost in per cent of the ledger, rounded up."""
        percent = f"{at_most(100 * cost.cost / self.capacity.cost, 4)} % of the ledger"
        if not cost.delta:
            return percent
        return f"{percent}, {at_most(100 * cost.delta / self.capacity.delta, 4)} % of its delta"

    @property
    def left(self) -> str:
        """What remains, in per cent of the ledger, rounded down."""
        percent = f"{at_least(100 * self.remaining.cost / self.capacity.cost, 4)} %"
        if not self.capacity.delta:
            return percent
        delta = at_least(100 * self.remaining.delta / self.capacity.delta, 4)
        return f"{percent} and {delta} % of its delta"

    def to_json(self) -> dict[str, object]:
        """Return the two accounts, JSON-able."""
        return {
            "account": self.account,
            "capacity": str(self.capacity.cost),
            "remaining": str(self.remaining.cost),
            "due": str(self.due.cost),
            "delta_aside": str(self.capacity.delta),
            "delta_remaining": str(self.remaining.delta),
            "delta_due": str(self.due.delta),
            "fits": self.fits,
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ChargePreview:
    """The preview of one charge.

    Attributes:
        entry: the id in the ledger.
        batched: whether it is a batch.
        curve: the guarantee of its answers together.
        cost: the cost in the ledger's account and in delta; None if it is stored, and free.
        questions: the previews of its questions, by name.
    """

    entry: str
    batched: bool
    curve: TradeOff
    cost: Amount | None
    questions: Mapping[str, Preview]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPreview(Displayed):
    """The preview of a plan. It is public, because it uses no row.

    Attributes:
        title: the title of the plan.
        cap: the total budget of the ledger.
        unit: the privacy unit.
        neighbors: the neighbouring relation.
        bill: the price, and what remains.
        charges: the charges, in order.
    """

    title: str
    cap: TradeOff
    unit: str
    neighbors: Neighbors
    bill: Bill
    charges: tuple[ChargePreview, ...]

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, *, sql: bool = False) -> str:
        """Return the preview as text.

        Args:
            sql: whether to include the SQL statements.
        """
        head = (
            f"{printable(self.title)}: cap {printable(self.cap)}, unit {printable(self.unit)} "
            f"({self.neighbors})"
        )
        if self.bill.capacity.delta:
            head += f", delta {at_most(self.bill.capacity.delta, 6)} set aside"
        parts = [head]
        for charge in self.charges:
            price = "stored, free" if charge.cost is None else self.bill.share(charge.cost)
            if charge.batched:
                batch = f"{printable(charge.entry)}: a batch of {len(charge.questions)}"
                together = f"{batch}, {printable(charge.curve)}"
                parts.append(f"{together}, {price}")
            for entry, question in charge.questions.items():
                name = printable(entry)
                first = name if charge.batched else f"{name}: {price}"
                parts.append(f"{first}\n{question.to_text(sql=sql)}")
        verdict = "fits" if self.bill.fits else "does not fit, and would be refused"
        due = self.bill.share(self.bill.due)
        parts.append(f"to pay: {due}; {self.bill.left} remain now: the plan {verdict}")
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, object]:
        """Return everything, JSON-able."""
        return {
            "format": "neyman.plan_preview",
            "version": 1,
            "title": self.title,
            "cap": self.cap.to_json(),
            "unit": self.unit,
            "neighbors": self.neighbors,
            **self.bill.to_json(),
            "charges": [
                {
                    "entry": charge.entry,
                    "batch": charge.batched,
                    "curve": charge.curve.to_json(),
                    "cost": None if charge.cost is None else str(charge.cost.cost),
                    "delta": None if charge.cost is None else str(charge.cost.delta),
                    "questions": [
                        {"name": name, **question.to_json()}
                        for name, question in charge.questions.items()
                    ],
                }
                for charge in self.charges
            ],
        }
