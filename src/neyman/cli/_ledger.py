"""`neyman ledger show`, `check`, `export`, `merge` and `copy`."""

import argparse

from neyman.arguments import brief
from neyman.cli._registry import registry_draft
from neyman.cli._say import say, say_json
from neyman.ledger import Ledger, Stock, inspect, store_of
from neyman.numerics import at_least, at_most

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Execute an action on a ledger."""
    if options.action == "check":
        return _check(options)
    actions = {"show": _show, "export": _export, "merge": _merge, "copy": _copy}
    return actions[options.action](Ledger.existing(options.place), options)


def _check(options: argparse.Namespace) -> int:
    # A ledger that was altered cannot be opened, so it is inspected as a store.
    store = store_of(options.place).settled()
    findings = inspect(store, options.head)
    if options.json:
        say_json({"findings": list(findings)})
    else:
        say("\n".join(findings) or f"{store}: sound")
    return 1 if findings else 0


def _export(ledger: Ledger, options: argparse.Namespace) -> int:
    if options.registry:
        say(registry_draft(ledger), end="")
    else:
        say_json(ledger.export(), readable=True)
    return 0


def _merge(ledger: Ledger, options: argparse.Namespace) -> int:
    copy = Ledger.existing(options.copy)
    added = ledger.merge(copy, keep_both=options.keep_both)
    count = "1 entry" if len(added) == 1 else f"{len(added)} entries"
    say(f"{count} of {copy.store} added to {ledger.store}")
    for entry in added:
        say(f"  {brief(entry)}")
    say(_spent(ledger))
    left = ledger.left()
    overdrawn = [stock for stock in ledger.stocks() if stock.excess()]
    for stock in overdrawn:
        say(f"allowance {brief(stock.id)}: {stock.told()}")
    return 0 if min(left.cost, left.delta) >= 0 and not overdrawn else 1


def _copy(ledger: Ledger, options: argparse.Namespace) -> int:
    copy = ledger.copy(options.target)
    say(f"{ledger.store} copied to {copy.store}\nhead {copy.head()}")
    say("from now on use only one of them: each ledger alone allows the whole budget")
    return 0


def _show(ledger: Ledger, options: argparse.Namespace) -> int:
    if options.json:
        record = ledger.export()
        del record["chain"]
        say_json({"place": str(ledger.store), **record}, readable=True)
        return 0
    cap, unit = brief(str(ledger.cap)), brief(ledger.unit)
    say(f"{ledger.store}\ncap {cap}, unit {unit} ({ledger.neighbors})")
    allowances = {stock.id: stock for stock in ledger.stocks()}
    for entry in ledger.entries():
        state = _allowance_state(allowances[entry.id]) if entry.id in allowances else entry.state
        say(
            f"{at_most(100 * entry.cost / ledger.capacity, 5):>9} %  {state:9}  "
            f"{brief(str(entry.curve)):24}  {entry.reserved_at}  {brief(entry.id)}"
        )
    for stock in allowances.values():
        say(f"allowance {brief(stock.id)}: {stock.told()}")
    say(f"{_spent(ledger)}\nhead {ledger.head()}")
    return 0


def _allowance_state(stock: Stock) -> str:
    """Return whether steps of an allowance are left: it is paid for as a whole when it is made."""
    return "allowance" if any(kind.count for kind in stock.rest()) else "used up"


def _spent(ledger: Ledger) -> str:
    left = ledger.left()
    spent, delta = ledger.capacity - left.cost, ledger.delta_aside - left.delta
    together = ledger.total() if spent else "nothing yet"
    line = (
        f"{at_most(100 * spent / ledger.capacity, 5):>9} %  spent of the {ledger.account} "
        f"{at_least(ledger.capacity, 6)}: {brief(str(together))}"
    )
    if ledger.delta_aside:
        line += (
            f"\n{at_most(100 * delta / ledger.delta_aside, 5):>9} %  spent of the delta "
            f"{at_least(ledger.delta_aside, 6)} set aside"
        )
    if spent > ledger.capacity or delta > ledger.delta_aside:
        line += (
            f"\nthe budget {brief(str(ledger.cap))} is exceeded: copies of this ledger spent it "
            "separately. Nothing more can be charged"
        )
    else:
        line += (
            f"\nall releases together, including future ones, stay within {brief(str(ledger.cap))}"
        )
    return line
