"""Reads guarantees, and ledgers, from files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger import Ledger, store_of
from neyman.released import Guarantee
from neyman.report import read_language, run_guarantee
from neyman.training import RunRecord

__all__ = ["read_guarantee", "stored_ledger"]

_SQLITE = b"SQLite format 3\0"
_NAMES = {"curve", "neighbors", "unit", "assumptions"}


def read_guarantee(place: str, language: str) -> TradeOff | Guarantee:
    """Return the guarantee so far of a ledger, or that of a JSON file.

    Args:
        place: the path of a file, or the URL of a ledger.
        language: the language of the assumptions of a training.

    Raises:
        InvalidParameter: if the file has no guarantee.
        LedgerUnavailable, LedgerCorrupt: if it is a ledger that cannot be read.
    """
    ledger = stored_ledger(place)
    if ledger is None:
        return _json(Path(place), language)
    return Guarantee(
        curve=ledger.total(), neighbors=ledger.neighbors, unit=ledger.unit, assumptions=()
    )


def stored_ledger(place: str) -> Ledger | None:
    """Return the ledger at a path or URL; None for a file that is no SQLite database."""
    store = store_of(place)
    for path in store.files:
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                return None
    return Ledger.existing(store)


def _json(path: Path, language: str) -> TradeOff | Guarantee:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        found = None
    record = _mapping(found)
    if record.get("format") == "neyman.run":
        return run_guarantee(RunRecord.from_json(record), read_language(language))
    if record.get("format") == "neyman.tradeoff":
        return TradeOff.from_json(record)
    written = (
        _mapping(record.get("guarantee")) if record.get("format") == "neyman.release" else record
    )
    if not written.keys() >= _NAMES:
        raise InvalidParameter(
            f"{path} must contain a guarantee; it has none. Write the path of a ledger, a run "
            "record, or the JSON of one release, a Guarantee or a trade-off function"
        )
    return Guarantee.from_json(written)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
