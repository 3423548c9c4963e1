"""What a plan would cost, before anything is charged."""

from collections.abc import Callable
from fractions import Fraction

from neyman.accounting import Amount
from neyman.cli._say import say
from neyman.numerics import at_least, at_most
from neyman.printable import printable
from neyman.publish import Bill, Plan, bill

__all__ = ["price"]

_FREE = "   stored, free"


def price(prepared: Plan) -> int:
    """Print what each step would cost now; return 0 if the ledger can pay it all, else 1."""
    found = bill(prepared)
    say(f"cap {prepared.cap}, unit {printable(prepared.unit)} ({prepared.neighbors})")
    for charge, cost in zip(prepared.charges, found.costs, strict=True):
        share = _FREE if cost is None else _percent(cost, found)
        together = printable(", ".join(step.entry for step in charge.steps))
        entry = printable(charge.entry)
        said = f"{entry}: {together}, together" if charge.batched else entry
        say(f"{share}  {charge.curve!s:24}  {said}")
    say(f"{_percent(found.due, found)}  to pay, of the budget")
    left = _beside(at_least, found.remaining, found)
    verdict = "fits" if found.fits else "does not fit, and would be refused"
    say(f"{left}  remain in the ledger now: the plan {verdict}")
    return 0 if found.fits else 1


def _percent(amount: Amount, found: Bill) -> str:
    return _beside(at_most, amount, found)


def _beside(rounded: Callable[[Fraction, int], str], amount: Amount, found: Bill) -> str:
    """Write an amount in per cent, and of delta where some was set aside."""
    said = f"{rounded(100 * amount.cost / found.capacity.cost, 6):>13} %"
    if not found.capacity.delta:
        return said
    return f"{said} {rounded(100 * amount.delta / found.capacity.delta, 6):>13} % of delta"
