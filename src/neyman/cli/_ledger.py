"""`neyman ledger show`, `check`, `export`, `merge` and `copy`."""

import argparse
import json

from neyman.cli._registry import registry_draft
from neyman.ledger import Ledger
from neyman.numerics import at_least, at_most

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Do one of the five with a ledger."""
    ledger = Ledger.existing(options.place)
    actions = {"show": _show, "check": _check, "export": _export, "merge": _merge, "copy": _copy}
    return actions[options.action](ledger, options)


def _check(ledger: Ledger, options: argparse.Namespace) -> int:
    findings = ledger.check(options.head)
    if options.json:
        print(json.dumps({"findings": list(findings)}, indent=1))
    else:
        print("\n".join(findings) or f"{ledger.store}: sound")
    return 1 if findings else 0


def _export(ledger: Ledger, options: argparse.Namespace) -> int:
    if options.registry:
        print(registry_draft(ledger), end="")
    else:
        print(json.dumps(ledger.export(), indent=1, ensure_ascii=False))
    return 0


def _merge(ledger: Ledger, options: argparse.Namespace) -> int:
    copy = Ledger.existing(options.copy)
    added = ledger.merge(copy, keep_both=options.keep_both)
    said = "1 entry" if len(added) == 1 else f"{len(added)} entries"
    print(f"{said} of {copy.store} added to {ledger.store}")
    for entry in added:
        print(f"  {entry}")
    print(_spent(ledger))
    return 0 if min(ledger.remaining(), ledger.remaining_delta()) >= 0 else 1


def _copy(ledger: Ledger, options: argparse.Namespace) -> int:
    copy = ledger.copy(options.target)
    print(f"{ledger.store} copied to {copy.store}\nhead {copy.head()}")
    print("go on with the copy alone: each of two that are in use allows the whole cap")
    return 0


def _show(ledger: Ledger, options: argparse.Namespace) -> int:
    if options.json:
        record = ledger.export()
        del record["chain"]
        print(json.dumps({"place": str(ledger.store), **record}, indent=1, ensure_ascii=False))
        return 0
    print(f"{ledger.store}\ncap {ledger.cap}, unit {ledger.unit} ({ledger.neighbors})")
    for entry in ledger.entries():
        print(
            f"{at_most(100 * entry.cost / ledger.capacity, 5):>9} %  {entry.state:9}  "
            f"{entry.curve!s:24}  {entry.reserved_at}  {entry.id}"
        )
    print(f"{_spent(ledger)}\nhead {ledger.head()}")
    return 0


def _spent(ledger: Ledger) -> str:
    spent = ledger.spent()
    together = ledger.total() if spent else "nothing yet"
    line = (
        f"{at_most(100 * spent / ledger.capacity, 5):>9} %  spent of the {ledger.account} "
        f"{at_least(ledger.capacity, 6)}: {together}"
    )
    delta = ledger.spent_delta()
    if ledger.delta_for_groups:
        line += (
            f"\n{at_most(100 * delta / ledger.delta_for_groups, 5):>9} %  spent of the delta "
            f"{at_least(ledger.delta_for_groups, 6)} set aside for unknown groups"
        )
    if spent > ledger.capacity or delta > ledger.delta_for_groups:
        line += (
            f"\nthe cap {ledger.cap} is exceeded: copies of this ledger spent it apart; nothing "
            "more can be charged"
        )
    return line
