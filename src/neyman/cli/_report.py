"""`neyman report`: the page again, of what a ledger holds already."""

import argparse
from pathlib import Path

from neyman.cli._say import say
from neyman.errors import InvalidParameter
from neyman.files import check_page, write_text
from neyman.ledger import Ledger, Store, store_of
from neyman.publish import Plan, bill, plan, publish, read_spec

__all__ = ["run"]

_SQLITE = b"SQLite format 3\0"
# Of many ids the first are named.
_NAMED = 5


def run(options: argparse.Namespace) -> int:
    """Write the page of a spec, or of a ledger; nothing is charged, and no row is read."""
    ledger = _ledger(options.source)
    if ledger is not None:
        path = options.output or Path(f"{ledger.store.name}.html")
        check_page("-o", path, set(ledger.store.files))
        # Drawing takes as long to load as all the rest.
        from neyman.plots import to_svg, tradeoff
        from neyman.report import ledger_html

        total = ledger.total()
        language = options.language or "en"
        text = ledger_html(ledger, to_svg(tradeoff({str(total): total})), language=language)
    else:
        spec = Path(options.source)
        path = options.output or Path(f"{spec.stem}.html")
        prepared = plan(read_spec(spec), spec.resolve().parent)
        check_page("-o", path, {spec, *prepared.files, *prepared.ledger.files})
        _require_released(prepared)
        from neyman.session import page_of

        text = page_of(publish(prepared).in_language(options.language))
    write_text(path, text)
    say(f"{path} written")
    return 0


def _ledger(source: str) -> Ledger | None:
    """Return the ledger that is meant; None where it is a spec."""
    store: Store = store_of(source)
    for path in store.files:
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                return None
    return Ledger.existing(store)


def _require_released(prepared: Plan) -> None:
    """Refuse to answer what was not answered before.

    Raises:
        InvalidParameter: naming what the ledger does not hold.
        EntryConflict, LedgerMismatch: as a run would.
    """
    costs = zip(prepared.charges, bill(prepared).costs, strict=True)
    new = {charge.entry for charge, cost in costs if cost is not None}
    if prepared.ledger.exists():
        entries = Ledger.existing(prepared.ledger).entries()
        # What was charged and never stored would be drawn now.
        new |= {entry.id for entry in entries if entry.state != "committed"}
    missing = [charge.entry for charge in prepared.charges if charge.entry in new]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        named = ", ".join(map(repr, missing[:_NAMED]))
        raise InvalidParameter(
            f"a report shows what was released, and {prepared.ledger} holds no answer to {named}"
            f"{more} yet; write neyman release with --report, which charges them"
        )
