"""A ledger as one JSON record, from which a stranger can compute the chain again."""

import hashlib
import json

from neyman.ledger._chain import COLUMNS
from neyman.ledger._events import Events
from neyman.ledger._meta import Meta
from neyman.ledger._records import Entry
from neyman.ledger._store import Tables

__all__ = ["ledger_record"]


def ledger_record(tables: Tables, meta: Meta) -> dict[str, object]:
    """Return everything but the secret, of which the digest stands for it, on one snapshot."""
    events, spending = Events(tables, meta), meta.filter()
    spent = events.spent()
    return {
        "format": "neyman.ledger",
        "version": 1,
        "ledger": meta.ledger,
        "cap": json.loads(meta.cap),
        "account": meta.account,
        "capacity": meta.capacity,
        "unit": meta.unit,
        "neighbors": meta.neighbors,
        "created": meta.created,
        "spent": str(spent),
        "remaining": str(spending.capacity - spent),
        "total": spending.spent_curve(spent).to_json() if spent else None,
        "entries": [_entry(entry) for entry in events.entries()],
        "chain": {
            "columns": [*COLUMNS, "digest"],
            "opening": {"cap": meta.cap, "secret_sha256": hashlib.sha256(meta.secret).hexdigest()},
            "rows": [list(row) for row in events.rows()],
            "head": events.head(),
        },
    }


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "state": entry.state,
        "curve": entry.curve.to_json(),
        "cost": str(entry.cost),
        "request": entry.request,
        "reserved_at": entry.reserved_at,
        "committed_at": entry.committed_at,
        "values": None if entry.values is None else list(entry.values),
    }
