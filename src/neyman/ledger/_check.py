"""Everything that can be wrong with a ledger's file, in sentences."""

import sqlite3
from collections.abc import Iterable, Iterator
from fractions import Fraction

from neyman.accounting import Filter
from neyman.errors import NeymanError
from neyman.ledger._chain import genesis, link
from neyman.ledger._events import Events
from neyman.ledger._meta import Meta
from neyman.ledger._records import Entry, read_curve, read_payload, shown
from neyman.ledger._schema import OBJECTS

__all__ = ["damage", "findings"]

# Another release may round a cost elsewhere in its last digits.
_ROUNDING = 1 - Fraction(1, 10**6)


def findings(connection: sqlite3.Connection, meta: Meta, noted: str | None) -> tuple[str, ...]:
    """Return what is wrong, on the snapshot of the caller's transaction.

    Args:
        connection: inside a transaction.
        meta: its opening row.
        noted: a head that this ledger had once; None if nobody noted one.
    """
    return damage(connection, meta, noted) + _collected([_budget(connection, meta)])


def damage(connection: sqlite3.Connection, meta: Meta, noted: str | None) -> tuple[str, ...]:
    """Return what is wrong with the rows, whatever they add up to."""
    return _collected([_structure(connection), _chain(connection, meta, noted), _order(connection)])


def _collected(parts: Iterable[Iterator[str]]) -> tuple[str, ...]:
    found: list[str] = []
    for part in parts:
        try:
            found.extend(part)
        except sqlite3.DatabaseError as error:
            found.append(f"a page cannot be read (SQLite result {error.sqlite_errorcode})")
    return tuple(found)


def _structure(connection: sqlite3.Connection) -> Iterator[str]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield f"SQLite's integrity check: {message}"
    present = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
    for name, statement in OBJECTS.items():
        if present.get(name) != statement:
            yield f"{name} is missing or altered; it keeps the ledger append-only"


def _chain(connection: sqlite3.Connection, meta: Meta, noted: str | None) -> Iterator[str]:
    before, previous = 0, genesis(meta)
    missing = noted not in (None, previous)
    for *told, digest in Events(connection, meta).rows():
        seq, _, entry, kind = told[:4]
        if seq != before + 1:
            yield f"row {seq} follows row {before}: what stood between was removed"
        if link(previous, told) != digest:
            yield (
                f"the chain breaks at row {seq}, {kind} of {entry!r}: this row, or the one before "
                "it, was edited, removed, added or moved"
            )
        before, previous = seq, digest
        missing = missing and digest != noted
    if missing:
        yield (
            f"the head {noted} that was noted is on no row: rows were cut off the end since, or "
            "the chain was written anew, or the head is another ledger's"
        )


def _order(connection: sqlite3.Connection) -> Iterator[str]:
    orphans = connection.execute(
        "SELECT DISTINCT entry FROM events AS e WHERE NOT EXISTS (SELECT 1 FROM events AS r "
        "WHERE r.entry = e.entry AND r.kind = 'reserve' AND r.seq <= e.seq)"
    )
    for (entry,) in orphans:
        yield f"entry {entry!r} has an event before, or without, its reserve"
    twice = connection.execute(
        "SELECT entry, kind FROM events GROUP BY entry, kind HAVING count(*) > 1"
    )
    for entry, kind in twice:
        yield f"entry {entry!r} has more than one {kind}"


def _budget(connection: sqlite3.Connection, meta: Meta) -> Iterator[str]:
    try:
        spending = meta.filter()
        cap = read_curve(read_payload(meta.cap, "the cap"), "the cap")
        if not spending.spent_curve(spending.capacity).implies(cap):
            yield f"a capacity of {shown(spending.capacity)} {spending.account} exceeds cap={cap}"
        spent = Events(connection, meta).spent()
        if spent > spending.capacity:
            yield (
                f"{shown(spent)} {spending.account} is spent, above the capacity "
                f"{shown(spending.capacity)}; nothing more can be charged"
            )
    except NeymanError as error:
        yield str(error)
        return
    reserved = connection.execute("SELECT entry FROM events WHERE kind = 'reserve' ORDER BY seq")
    for (entry,) in reserved.fetchall():
        yield from _entry(Events(connection, meta), entry, spending)


def _entry(events: Events, entry: str, spending: Filter) -> Iterator[str]:
    try:
        history = events.entry(entry)
        if history is None:
            yield f"entry {entry!r} cannot be found by its id"
            return
        found: Entry = history.entry()
        due = spending.cost(found.curve)
    except NeymanError as error:
        yield f"entry {entry!r}: {error}"
        return
    if found.cost < due * _ROUNDING:
        yield (
            f"entry {entry!r} was charged {shown(found.cost)} {spending.account}, and "
            f"{found.curve} costs {shown(due)}"
        )
