"""The append-only table of events, read and written inside one transaction."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import BudgetExceeded, EntryConflict, InvalidParameter, LedgerCorrupt
from neyman.ledger._chain import COLUMNS, genesis, link
from neyman.ledger._differences import budgets, differences, only_companions, same_budget
from neyman.ledger._records import (
    Entry,
    Groups,
    Reservation,
    State,
    canonical,
    fingerprint,
    garbled,
    now,
    read_curve,
    read_groups,
    read_payload,
    read_values,
    shown,
)
from neyman.ledger._schema import Meta, read_amount
from neyman.ledger._store import Tables

__all__ = ["Ask", "Asked", "Events"]

_Kind: TypeAlias = Literal["reserve", "redraw", "commit"]

_SELECT = (
    "SELECT r.entry, r.cost, r.payload, r.at, d.seq IS NOT NULL, c.payload, c.at FROM events AS r "
    "LEFT JOIN events AS d ON d.entry = r.entry AND d.kind = 'redraw' "
    "LEFT JOIN events AS c ON c.entry = r.entry AND c.kind = 'commit' WHERE r.kind = 'reserve'"
)
_ALL = ", ".join((*COLUMNS, "digest"))


@dataclass(frozen=True, slots=True)
class _History:
    """What happened to one entry, as stored."""

    id: str
    cost: Amount
    reserve: dict[str, Any]
    reserved_at: str
    redrawn: bool
    commit: str | None
    committed_at: str | None

    def values(self) -> tuple[int, ...] | None:
        """Return the stored answer, if there is one."""
        return None if self.commit is None else read_values(self.commit, self.id)

    def groups(self) -> Groups:
        """Return the keys of the groups that the stored answer found."""
        return () if self.commit is None else read_groups(self.commit, self.id)

    def answered(self, reservation: Reservation) -> Reservation:
        """Return a reservation with what was charged, and the answer if one is stored."""
        return replace(
            reservation,
            cost=self.cost.cost,
            delta=self.cost.delta,
            values=self.values(),
            groups=self.groups(),
        )

    def require_same(self, asked: dict[str, Any], curve: TradeOff) -> None:
        """Refuse an id that stands for another question.

        Args:
            asked: the record of what is asked now.
            curve: its trade-off function.

        Raises:
            EntryConflict: naming what differs; of the dataset, nothing is shown.
        """
        names = {"request": "request", "source": "dataset", "curve": "budget"}
        # As text: to Python 1, 1.0 and true are equal.
        differing = [
            key
            for key in names
            if canonical({key: self.reserve.get(key)}) != canonical({key: asked[key]})
        ]
        if not differing:
            return
        paid = "curve" in differing
        before = read_curve(self.reserve.get("curve"), self.id)
        if (
            "source" not in differing
            and only_companions(self.reserve.get("request"), asked["request"])
            and same_budget(before, curve)
        ):
            raise EntryConflict(
                f"entry {brief(self.id)!r} was used before with another companion=, the share of "
                "the budget that tells what limits and bounds did; ask the same again, or use a "
                "new id"
            )
        places = differences(self.reserve.get("request"), asked["request"], sizes=not paid)
        # With another budget, noise of another size is no other question.
        words = [names[key] for key in differing if key != "request" or places or not paid]
        if paid:
            places = "; ".join(filter(None, [f"budget: {budgets(before, curve)}", places]))
        raise EntryConflict(
            f"entry {brief(self.id)!r} was used before with another {' and '.join(words)}"
            f"{f' ({places})' if places else ''}; ask the same again, or use a new id"
        )

    def require_redraw_left(self) -> None:
        """Refuse a third draw.

        Raises:
            EntryConflict: if the redraw was used.
        """
        if self.redrawn:
            raise EntryConflict(
                f"entry {brief(self.id)!r} was drawn twice and never committed; it stays charged "
                "and cannot be drawn again. If another process is drawing it now, ask again when "
                "that has committed; otherwise use a new id"
            )

    def entry(self) -> Entry:
        """Return the public view."""
        request = self.reserve.get("request")
        if not isinstance(request, dict):
            raise garbled("request", self.id)
        state: State = "redrawn" if self.redrawn else "reserved"
        return Entry(
            id=self.id,
            state=state if self.commit is None else "committed",
            curve=read_curve(self.reserve.get("curve"), self.id),
            cost=self.cost.cost,
            delta=self.cost.delta,
            request=cast("dict[str, object]", request),
            reserved_at=self.reserved_at,
            committed_at=self.committed_at,
            values=self.values(),
            groups=self.groups(),
        )


@dataclass(frozen=True, slots=True)
class Events:
    """Queries on the table; the transaction is the caller's."""

    tables: Tables
    meta: Meta

    def append(self, entry: str, kind: _Kind, payload: str, *, cost: Amount | None = None) -> None:
        """Add one event that happens now."""
        price = None if cost is None else str(cost)
        self.add(secrets.token_hex(16), entry, kind, price, payload, now())

    def add(self, *told: object) -> None:
        """Add one event at the end of the chain: its id, entry, kind, cost, payload and time."""
        seq, previous = self._last()
        row = (seq + 1, *told)
        self.tables.insert("events", (*row, link(previous, row)))

    def head(self) -> str:
        """Return the last digest, which covers all that was ever written."""
        return self._last()[1]

    def _last(self) -> tuple[int, str]:
        rows = self.tables.select("SELECT seq, digest FROM events ORDER BY seq DESC LIMIT 1")
        row = next(rows, None)
        return (0, genesis(self.meta)) if row is None else (row[0], row[1])

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Return all rows in order: what a digest covers, and the digest."""
        return self.tables.select(f"SELECT {_ALL} FROM events ORDER BY seq")

    def spent(self) -> Amount:
        """Return the exact sums of what all reserved entries were charged."""
        rows = self.tables.select(
            "SELECT cost, count(*) FROM events WHERE kind = 'reserve' GROUP BY cost"
        )
        amounts = [(read_amount(cost), count) for cost, count in rows]
        if any(min(amount.cost, amount.delta) < 0 for amount, _ in amounts):
            raise LedgerCorrupt(
                "an entry in the ledger is charged less than nothing, which no ledger writes; "
                "restore it from a backup; `neyman ledger check` lists what is wrong"
            )
        return sum((amount.times(count) for amount, count in amounts), Amount(Fraction(0)))

    def left(self) -> Amount:
        """Return what may still be charged to both accounts."""
        return self.meta.budget().capacity - self.spent()

    def entry(self, entry: str) -> _History | None:
        """Return one entry's history."""
        row = next(self.tables.select(f"{_SELECT} AND r.entry = ?", entry), None)
        return None if row is None else _history(row)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order."""
        rows = self.tables.select(f"{_SELECT} ORDER BY r.seq")
        return tuple(_history(row).entry() for row in rows)


def _history(row: tuple[Any, ...]) -> _History:
    entry, cost, payload, reserved_at, redrawn, commit, committed_at = row
    record = read_payload(payload, entry)
    return _History(
        entry, read_amount(cost), record, reserved_at, bool(redrawn), commit, committed_at
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an entry would stand for."""

    entry: str
    request: Mapping[str, object]
    source: str = field(repr=False)
    curve: TradeOff

    def payload(self, meta: Meta) -> str:
        """Return it as the ledger records it."""
        record: dict[str, object] = {
            "curve": self.curve.to_json(),
            "request": self.request,
            "source": fingerprint(meta.secret, self.source),
        }
        return canonical(record)

    def before(self, tables: Tables, meta: Meta) -> _History | None:
        """Return what was reserved under its id before; None if nothing was.

        Raises:
            EntryConflict: if that was something else, or has used up its redraw.
        """
        found = Events(tables, meta).entry(self.entry)
        if found is None:
            return None
        found.require_same(read_payload(self.payload(meta), self.entry), self.curve)
        if found.commit is None:
            found.require_redraw_left()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a caller wants to be charged for."""

    asked: Asked
    cost: Amount
    cap: TradeOff

    def reserved(self, tables: Tables, meta: Meta) -> Reservation:
        """Charge it, or find it charged before; the caller's transaction makes it durable."""
        events, spending = Events(tables, meta), meta.budget()
        entry, curve = self.asked.entry, self.asked.curve
        before = self.asked.before(tables, meta)
        if before is None:
            if TradeOff.from_json(curve.to_json()) != curve:
                raise InvalidParameter(
                    f"{brief(str(curve))} cannot be read back from its JSON, so it cannot be "
                    "recorded; charge a curve of this library's leaves"
                )
            remaining = events.left()
            self._require_room(remaining, spending)
            events.append(entry, "reserve", self.asked.payload(meta), cost=self.cost)
            return Reservation(
                entry=entry,
                curve=curve,
                cost=self.cost.cost,
                left=remaining - self.cost,
                delta=self.cost.delta,
            )
        if before.commit is None:
            events.append(entry, "redraw", "{}")
        return before.answered(
            Reservation(entry=entry, curve=curve, cost=Fraction(0), left=events.left())
        )

    def _require_room(self, remaining: Amount, spending: Budget) -> None:
        capacity = spending.capacity
        if self.cost.fits(remaining):
            return
        if min(remaining.cost, remaining.delta) < 0:
            over = Amount(max(-remaining.cost, Fraction(0)), max(-remaining.delta, Fraction(0)))
            left = f"the cap is exceeded by {shown(over)} since another copy was merged in"
        else:
            left = f"{shown(remaining)} {'remain' if spending.delta else 'remains'}"
        instead = "more noise" if self.cost.cost > remaining.cost else "a smaller delta"
        if self.cost.cost > remaining.cost and self.cost.delta > remaining.delta:
            instead = "more noise and a smaller delta"
        raise BudgetExceeded(
            f"entry {self.asked.entry!r} with {brief(str(self.asked.curve))} asks "
            f"{spending.filter.account} = {shown(self.cost)}; of {shown(capacity)} under "
            f"cap={brief(str(self.cap))}, "
            f"{shown(capacity - remaining)} {'are' if spending.delta else 'is'} spent and {left}, "
            f"so {spending.largest(remaining)}. "
            f"Nothing was charged; ask with {instead}, or not at all"
        )
