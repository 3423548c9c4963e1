"""`neyman report`: the page of earlier releases."""

import argparse
from pathlib import Path

from neyman.cli._guarantees import stored_ledger
from neyman.cli._say import say
from neyman.errors import InvalidParameter
from neyman.files import check_page, write_text
from neyman.ledger import Ledger
from neyman.publish import Plan, bill, plan, publish, read_spec

__all__ = ["run"]

# The number of missing ids that the error names.
_NAMED = 5


def run(options: argparse.Namespace) -> int:
    """Write the page of a spec, or of a ledger; nothing is charged, and no row is read."""
    ledger = stored_ledger(options.source)
    if ledger is not None:
        path = options.output or Path(f"{ledger.store.name}.html")
        check_page("-o", path, set(ledger.store.files))
        # Drawing takes as long to import as everything else.
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


def _require_released(prepared: Plan) -> None:
    """Refuse a plan with a release that its ledger does not store.

    Raises:
        InvalidParameter: if there is one; the error names it.
        EntryConflict, LedgerMismatch: as `neyman release` does.
    """
    costs = zip(prepared.charges, bill(prepared).costs, strict=True)
    new = {charge.entry for charge, cost in costs if cost is not None}
    if prepared.ledger.exists():
        entries = Ledger.existing(prepared.ledger).entries()
        # A release that was charged but never stored would be drawn now.
        new |= {entry.id for entry in entries if entry.state != "committed"}
    missing = [charge.entry for charge in prepared.charges if charge.entry in new]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        named = ", ".join(map(repr, missing[:_NAMED]))
        raise InvalidParameter(
            f"a report needs stored answers; {prepared.ledger} has none for {named}{more}. Write "
            "neyman release with --report, which charges and stores them"
        )
