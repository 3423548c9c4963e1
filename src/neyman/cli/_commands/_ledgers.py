"""`neyman ledger` and its actions."""

from typing import Any, Final

from neyman.cli._parser import command

__all__ = ["add_ledgers"]

_ACTIONS: Final = {
    "show": "print each charge, what remains, and the head of the chain",
    "check": "look for damage, tampering and overspending; exit status 1 if it finds any",
    "export": "print everything in the ledger as JSON",
    "merge": "add the charges of a copy of the ledger; exit status 1 if they exceed the budget",
    "copy": "copy the ledger to another place, from a file to a database or back",
}
_EXAMPLES: Final = {
    "show": ["ledger show visits.ledger", "ledger show visits.ledger --json"],
    "check": ["ledger check visits.ledger", "ledger check visits.ledger --head DIGEST"],
    "export": ["ledger export visits.ledger > visits.json"],
    "merge": ["ledger merge visits.ledger laptop.ledger"],
    "copy": ["ledger copy visits.ledger postgresql://me@host/database"],
}


def add_ledgers(commands: Any) -> None:
    """Add `neyman ledger` with its actions."""
    ledger = command(
        commands,
        "ledger",
        module="_ledger",
        told="show, check, export, merge or copy a ledger",
        description="Show, check or move a ledger. A ledger is a file, or tables in PostgreSQL. It "
        "records everything that is ever spent on some data, and every answer.",
        examples=["ledger show visits.ledger", "ledger check visits.ledger"],
    )
    actions = ledger.add_subparsers(title="actions", metavar="ACTION", required=True)
    subs = {
        action: command(
            actions,
            action,
            module="_ledger",
            told=told,
            description=f"{told[0].upper()}{told[1:]}.",
            examples=_EXAMPLES[action],
        )
        for action, told in _ACTIONS.items()
    }
    for action, sub in subs.items():
        sub.add_argument(
            "place", metavar="LEDGER", help="a file, or postgresql://USER@HOST/DATABASE"
        )
        sub.set_defaults(action=action)
    for action in ("show", "check"):
        subs[action].add_argument("--json", action="store_true", help="print JSON")
    subs["check"].add_argument(
        "--head",
        metavar="DIGEST",
        help="a head that `show` printed earlier; it must still be in the chain",
    )
    subs["export"].add_argument(
        "--registry", action="store_true", help="print a draft for the deployments registry, YAML"
    )
    subs["copy"].add_argument("target", metavar="PLACE", help="a place without a ledger")
    subs["merge"].add_argument("copy", metavar="COPY", help="a copy of the ledger")
    subs["merge"].add_argument(
        "--keep-both",
        action="store_true",
        help="if both used an id after the copy was made, charge it twice instead of refusing",
    )
