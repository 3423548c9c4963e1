"""Ledgers: the budget, what remains of it, and the last entries."""

from collections.abc import Iterator

from neyman.errors import NeymanError
from neyman.ledger import Ledger
from neyman.notebook._card import ROWS, card, facts, lines, table, warning
from neyman.numerics import at_least, at_most

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of a ledger in its current state."""
    match shown:
        case Ledger():
            return card(f"Ledger {shown.store}", _ledger(shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _ledger(shown: Ledger) -> Iterator[str]:
    yield facts({"Budget": shown.cap, "Protects": f"{shown.unit} ({shown.neighbors})"})
    try:
        left, state, entries = shown.left(), shown.state(), shown.entries()
        stocks = shown.stocks()
    except NeymanError as error:
        yield warning(str(error))
        return
    delta = shown.delta_aside
    yield facts(
        {
            "State": state,
            "Left": f"{at_least(100 * left.cost / shown.capacity, 4)} % of the budget",
            "Left of the delta set aside": (
                f"{at_least(left.delta, 6)} of {at_most(delta, 6)}" if delta else None
            ),
            "Entries": f"{len(entries):,}",
        }
    )
    if stocks:
        yield table(
            ("Allowance", "Steps"), [(stock.id, stock.told()) for stock in stocks[-ROWS:]], 2
        )
    rows = [
        (one.id, one.curve, f"{at_most(100 * one.cost / shown.capacity, 4)} %", one.state)
        for one in entries[-ROWS:]
    ]
    if rows:
        yield table(("Last entries", "Guarantee alone", "Of the budget", "State"), rows, 2)
