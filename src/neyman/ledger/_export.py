"""A ledger as one JSON record, from which anyone can recompute the chain."""

import hashlib
import json

from neyman.ledger._chain import COLUMNS
from neyman.ledger._events import Events, total_of
from neyman.ledger._records import Entry
from neyman.ledger._schema import Meta
from neyman.ledger._stock import Stock
from neyman.ledger._store import Tables

__all__ = ["ledger_record"]


def ledger_record(tables: Tables, meta: Meta) -> dict[str, object]:
    """Return everything in the ledger, from one snapshot; the secret is replaced by its digest."""
    events, spending = Events(tables, meta), meta.budget()
    spent = events.spent()
    remaining = spending.capacity - spent
    return {
        "format": "neyman.ledger",
        "version": 1,
        "ledger": meta.ledger,
        "cap": json.loads(meta.cap),
        "account": meta.account,
        "capacity": str(spending.filter.capacity),
        "delta_aside": str(spending.delta),
        "unit": meta.unit,
        "neighbors": meta.neighbors,
        "created": meta.created,
        "spent": str(spent.cost),
        "remaining": str(remaining.cost),
        "delta_spent": str(spent.delta),
        "delta_remaining": str(remaining.delta),
        "total": total_of(events, spending).to_json() if spent.cost else None,
        "entries": [_entry(entry) for entry in events.entries()],
        "allowances": [_allowance(stock) for stock in events.stocks()],
        "chain": {
            "columns": [*COLUMNS, "digest"],
            "opening": {
                "cap": meta.cap,
                "capacity": meta.capacity,
                "secret_sha256": hashlib.sha256(meta.secret).hexdigest(),
            },
            "rows": [list(row) for row in events.rows()],
            "head": events.head(),
        },
    }


def _allowance(stock: Stock) -> dict[str, object]:
    kinds = zip(stock.declared, stock.taken, stock.rest(), strict=True)
    return {
        "id": stock.id,
        "steps": [
            {
                "step": kind.step.to_json(),
                "declared": kind.count,
                "taken": taken,
                "left": rest.count,
            }
            for kind, taken, rest in kinds
        ],
        "overdrawn": bool(stock.excess()),
    }


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "state": entry.state,
        "curve": entry.curve.to_json(),
        "cost": str(entry.cost),
        "delta": str(entry.delta),
        "request": entry.request,
        "reserved_at": entry.reserved_at,
        "committed_at": entry.committed_at,
        "values": None if entry.values is None else list(entry.values),
        "of": entry.of,
        "checkpoint": entry.checkpoint,
        "groups": [[list(key) for key in question] for question in entry.groups],
    }
