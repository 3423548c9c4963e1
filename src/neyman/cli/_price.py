"""What a plan would cost, before anything is charged."""

from fractions import Fraction

from neyman.numerics import at_least, at_most
from neyman.publish import Bill, Plan, bill

__all__ = ["price"]


def price(prepared: Plan) -> int:
    """Print what each step would cost now; return 0 if the ledger can pay it all, else 1."""
    found = bill(prepared)
    print(f"cap {prepared.cap}, unit {prepared.unit} ({prepared.neighbors})")
    for charge, cost in zip(prepared.charges, found.costs, strict=True):
        share = "   stored, free" if cost is None else _percent(cost, found)
        together = ", ".join(step.entry for step in charge.steps)
        said = f"{charge.entry}: {together}, together" if charge.batched else charge.entry
        print(f"{share}  {charge.curve!s:24}  {said}")
    print(f"{_percent(found.due, found)}  to pay, of the budget")
    left = at_least(100 * found.remaining / found.capacity, 6)
    verdict = "fits" if found.fits else "does not fit, and would be refused"
    print(f"{left:>13} %  remain in the ledger now: the plan {verdict}")
    return 0 if found.fits else 1


def _percent(amount: Fraction, found: Bill) -> str:
    return f"{at_most(100 * amount / found.capacity, 6):>13} %"
