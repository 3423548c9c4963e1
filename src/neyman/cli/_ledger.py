"""`neyman ledger show` and `neyman ledger check`."""

import argparse
import json

from neyman.ledger import Ledger
from neyman.numerics import at_least, at_most

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Show or check a ledger."""
    ledger = Ledger.existing(options.path)
    return (
        _check(ledger, options.json) if options.action == "check" else _show(ledger, options.json)
    )


def _check(ledger: Ledger, as_json: bool) -> int:
    findings = ledger.check()
    if as_json:
        print(json.dumps({"findings": list(findings)}, indent=1))
    else:
        print("\n".join(findings) or f"{ledger.path}: sound")
    return 1 if findings else 0


def _show(ledger: Ledger, as_json: bool) -> int:
    entries, spent, remaining = ledger.entries(), ledger.spent(), ledger.remaining()
    if as_json:
        record = {
            "path": str(ledger.path),
            "cap": ledger.cap.to_json(),
            "unit": ledger.unit,
            "neighbors": ledger.neighbors,
            "account": ledger.account,
            "spent": str(spent),
            "remaining": str(remaining),
            "entries": [
                {
                    "id": entry.id,
                    "state": entry.state,
                    "curve": entry.curve.to_json(),
                    "cost": str(entry.cost),
                    "request": entry.request,
                    "reserved_at": entry.reserved_at,
                    "committed_at": entry.committed_at,
                }
                for entry in entries
            ],
        }
        print(json.dumps(record, indent=1, ensure_ascii=False))
        return 0
    whole = spent + remaining
    print(f"{ledger.path}\ncap {ledger.cap}, unit {ledger.unit} ({ledger.neighbors})")
    for entry in entries:
        print(
            f"{at_most(100 * entry.cost / whole, 5):>9} %  {entry.state:9}  {entry.curve!s:24}  "
            f"{entry.reserved_at}  {entry.id}"
        )
    together = ledger.total() if entries else "nothing yet"
    print(
        f"{at_most(100 * spent / whole, 5):>9} %  spent of the {ledger.account} "
        f"{at_least(whole, 6)}: {together}"
    )
    return 0
