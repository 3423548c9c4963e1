"""`neyman ledger` and what it does."""

from typing import Any, Final

from neyman.cli._parser import command

__all__ = ["add_ledgers"]

_ACTIONS: Final = {
    "show": "print what was spent on what, what remains, and the head of the chain",
    "check": "look for damage, tampering and overspending; status 1 if any is found",
    "export": "print everything that the ledger holds as JSON",
    "merge": "add what a copy of the ledger was charged; status 1 if the cap is exceeded then",
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
    """Add the actions with ledgers."""
    ledger = command(
        commands,
        "ledger",
        module="_ledger",
        told="show, check, export, merge or copy a ledger",
        description="Look at a ledger, or look after it. A ledger adds up all that is ever spent "
        "on some data, and holds every answer: a file, or tables in PostgreSQL.",
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
            "place", metavar="LEDGER", help="its file, or postgresql://USER@HOST/DATABASE"
        )
        sub.set_defaults(action=action)
    for action in ("show", "check"):
        subs[action].add_argument("--json", action="store_true", help="print JSON")
    subs["check"].add_argument(
        "--head", metavar="DIGEST", help="a head that `show` printed before: it must still be there"
    )
    subs["export"].add_argument(
        "--registry", action="store_true", help="print a draft for the deployments registry, YAML"
    )
    subs["copy"].add_argument("target", metavar="PLACE", help="where no ledger is kept yet")
    subs["merge"].add_argument("copy", metavar="COPY", help="a copy of it")
    subs["merge"].add_argument(
        "--keep-both",
        action="store_true",
        help="charge an id that both used after they parted twice, instead of refusing",
    )
