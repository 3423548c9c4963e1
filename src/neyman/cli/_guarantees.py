"""Guarantees as files hold them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger import Ledger, Store, store_of
from neyman.released import Guarantee
from neyman.report import read_language, run_guarantee
from neyman.training import RunRecord

__all__ = ["read_guarantee"]

_SQLITE = b"SQLite format 3\0"
_NAMES = {"curve", "neighbors", "unit", "assumptions"}


def read_guarantee(place: str, language: str) -> TradeOff | Guarantee:
    """Return the guarantee of a ledger, so far, wherever it is kept, or of a JSON file.

    Args:
        place: of the ledger or the file.
        language: of the assumptions of a training.

    Raises:
        InvalidParameter: if the file holds none.
        LedgerUnavailable, LedgerCorrupt: if it is a ledger that cannot be read.
    """
    store = store_of(place)
    for path in store.files:
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                return _json(path, language)
    return _ledger(store)


def _ledger(store: Store) -> Guarantee:
    ledger = Ledger.existing(store)
    return Guarantee(
        curve=ledger.total(), neighbors=ledger.neighbors, unit=ledger.unit, assumptions=()
    )


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
    held = _mapping(record.get("guarantee")) if record.get("format") == "neyman.release" else record
    if not held.keys() >= _NAMES:
        raise InvalidParameter(
            f"{path} holds no guarantee; write the path of a ledger, of a run record, or of the "
            "JSON of one release, of a Guarantee or of a trade-off function"
        )
    return Guarantee.from_json(held)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
