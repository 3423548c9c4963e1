"""Merge two copies of one ledger that were both used.

An event has a permanent id, so copies know what they share. One reserve is one charge. If both
copies reserved the same id after they were copied, two answers may have been drawn, and two charges
are due. No event is dropped, so the sum of the merged ledger is never below the draws of both
copies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from neyman.arguments import brief
from neyman.errors import EntryConflict, LedgerCorrupt, LedgerMismatch
from neyman.ledger._chain import inherited_event
from neyman.ledger._check import damage
from neyman.ledger._events import Events
from neyman.ledger._schema import Meta
from neyman.ledger._store import Tables

__all__ = ["Copy", "copied", "merged"]

Row: TypeAlias = tuple[str, str, str, str | None, str, str]
"""Event, entry, kind, cost, payload, time: a row without its place in a chain."""

_SHOWN: Final = 5
# Leaves space for a suffix in an id.
_LONGEST: Final = 170


@dataclass(frozen=True, slots=True)
class Copy:
    """All rows of one copy."""

    meta: Meta
    rows: tuple[Row, ...]
    renewed: bool


def copied(tables: Tables, meta: Meta) -> Copy:
    """Read a copy that is sound.

    Raises:
        LedgerCorrupt: if its chain is broken; spending beyond the cap is not damage.
    """
    _require_sound(tables, meta, "copy")
    rows = tuple(row[1:-1] for row in Events(tables, meta).rows())
    return Copy(meta, rows, tables.renewed)


def merged(tables: Tables, meta: Meta, other: Copy, *, keep_both: bool) -> tuple[str, ...]:
    """Add the entries that the other copy holds and this one does not; return the ids charged.

    Raises:
        LedgerMismatch: if the two are not copies of one ledger.
        EntryConflict: if both charged or answered one id after they were copied, unless
            `keep_both`.
    """
    if other.meta != meta:
        raise LedgerMismatch(
            "the two ledgers are not copies of one: they were opened apart, and which dataset an "
            "entry of theirs is about cannot be compared. Keep both, and add their spent amounts"
        )
    _require_sound(tables, meta, "ledger")
    here = _Here(Events(tables, meta))
    groups = _by_entry(other.rows)
    apart = [entry for entry, told in groups.items() if here.parted(entry, told)]
    if apart and not keep_both:
        named = [repr(brief(entry)) for entry in apart[:_SHOWN]]
        more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
        raise EntryConflict(
            f"both copies charged or answered {', '.join(named)}{more} after they parted, so two "
            "answers may have been drawn. Nothing was merged. Write "
            "keep_both=True (--keep-both) to charge both, the other copy's under new ids"
        )
    added = [
        here.again(entry, told) if here.parted(entry, told) else here.once(entry, told)
        for entry, told in groups.items()
    ]
    if other.renewed:
        tables.renew()
    return tuple(entry for entry in added if entry is not None)


def _by_entry(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    groups: dict[str, dict[str, Row]] = {}
    for row in rows:
        groups.setdefault(row[1], {})[row[2]] = row
    return groups


class _Here:
    """This ledger, while the entries of the other are added one by one."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.names: dict[str, str] = {}
        self.entries: dict[str, dict[str, Row]] = {}
        for row in events.rows():
            self._know(row[1:-1])

    def parted(self, entry: str, told: Mapping[str, Row]) -> bool:
        """Return whether an entry of the other copy was charged or answered separately here."""
        name = self.names.get(told["reserve"][0])
        if name is None:
            return entry in self.entries
        mine, theirs = self.entries[name].get("commit"), told.get("commit")
        return mine is not None and theirs is not None and mine[0] != theirs[0]

    def once(self, entry: str, told: Mapping[str, Row]) -> str | None:
        """Add what is missing; return the id if this charges it."""
        # An earlier merge may have given a shared entry another id here.
        name = self.names.get(told["reserve"][0], entry)
        known = self.entries.get(name, {})
        self._add(name, [row for kind, row in told.items() if kind not in known])
        return None if known else name

    def again(self, entry: str, told: Mapping[str, Row]) -> str | None:
        """Charge the other copy's version under a new id, only once even if it is merged again."""
        last = told.get("commit", told["reserve"])[0]
        reserve, *rest = told.values()
        if reserve[0] in self.names:
            # Reserved before the copy and answered twice since: charge the second answer.
            reserve = (inherited_event(self.events.meta.ledger, (last, "reserve")), *reserve[1:])
        if reserve[0] in self.names:
            return None
        # Anyone may have used the id: only the event identifies a merged entry.
        marks = (last[:length] for length in range(12, len(last) + 1))
        twins = (f"{entry[:_LONGEST]} (copy {mark})" for mark in marks)
        twin = next((name for name in twins if name not in self.entries), None)
        if twin is None:
            raise EntryConflict(
                f"the ids under which the copy's {brief(entry)!r} could be charged are all taken. "
                "Nothing was merged. Keep both ledgers, and add their spent amounts"
            )
        self._add(twin, [reserve, *rest])
        return twin

    def _add(self, name: str, rows: Iterable[Row]) -> None:
        for event, _, *told in rows:
            if event not in self.names:
                self.events.add(event, name, *told)
                self._know((event, name, *told))

    def _know(self, row: Any) -> None:
        self.names[row[0]] = row[1]
        self.entries.setdefault(row[1], {})[row[2]] = row


def _require_sound(tables: Tables, meta: Meta, which: str) -> None:
    found = damage(tables, meta)
    if found:
        raise LedgerCorrupt(
            f"the {which} is damaged ({found[0]}), so nothing was merged; restore it from a "
            "backup; `neyman ledger check` lists what is wrong"
        )
