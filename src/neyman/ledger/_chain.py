"""The hash chain: each row's digest covers the digest before it and the whole row.

    digest_n = sha256([digest_{n-1}, seq, event, entry, kind, cost, payload, at])

digest_0 covers the opening row, with the secret replaced by its own digest. A row that is edited,
removed, added or moved breaks the chain at that row or the next. The chain alone cannot show two
things: rows cut off the end, and a chain that was recomputed from some row on. Both change the last
digest, the head: if you noted it elsewhere, you can detect them.
"""

import hashlib
import json
from collections.abc import Sequence

from neyman.ledger._schema import Meta

__all__ = ["COLUMNS", "genesis", "inherited_event", "link"]

# The columns that a digest covers, in this order.
COLUMNS = ("seq", "event", "entry", "kind", "cost", "payload", "at")


def genesis(meta: Meta) -> str:
    """Return the digest before the first row."""
    said = (meta.ledger, meta.cap, meta.account, meta.capacity)
    secret = hashlib.sha256(meta.secret).hexdigest()
    return _digest(["neyman.ledger", *said, meta.unit, meta.neighbors, meta.created, secret])


def link(previous: str, row: Sequence[object]) -> str:
    """Return the digest of a row, in the order of `COLUMNS`."""
    return _digest([previous, *row])


def inherited_event(ledger: str, row: Sequence[object]) -> str:
    """Return the id of an event that was written before events had ids.

    It is the same in every copy of the ledger, so older copies know which events they share.
    """
    return _digest([ledger, *row])[:32]


def _digest(cells: list[object]) -> str:
    # As JSON, so that different lists of cells have different texts. `repr` is for types that no
    # ledger writes.
    text = json.dumps(cells, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
