"""The append-only table of events, read and written inside one transaction."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
from neyman.curves import TradeOff, compose
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
    read_checkpoint,
    read_curve,
    read_groups,
    read_payload,
    read_values,
    shown,
)
from neyman.ledger._schema import Meta, read_amount
from neyman.ledger._stock import Steps, Stock, read_stock, read_take, stock_curve, stock_record
from neyman.ledger._store import Tables

__all__ = ["Ask", "Asked", "Events", "History", "composed_of", "require_recordable", "total_of"]

_Kind: TypeAlias = Literal["reserve", "redraw", "commit"]

_SELECT = (
    "SELECT r.event, r.entry, r.cost, r.payload, r.at, d.seq IS NOT NULL, c.payload, c.at "
    "FROM events AS r "
    "LEFT JOIN events AS d ON d.entry = r.entry AND d.kind = 'redraw' "
    "LEFT JOIN events AS c ON c.entry = r.entry AND c.kind = 'commit' WHERE r.kind = 'reserve'"
)
_ALL = ", ".join((*COLUMNS, "digest"))


@dataclass(frozen=True, slots=True)
class History:
    """What happened to one entry, as stored."""

    event: str
    id: str
    cost: Amount
    reserve: dict[str, Any]
    reserved_at: str
    redrawn: bool
    commit: str | None
    committed_at: str | None

    def stock(self) -> tuple[Steps, ...]:
        """Return the steps that it declares; none unless it is an allowance."""
        return read_stock(self.reserve, self.id)

    def take(self) -> tuple[str, tuple[int, ...]] | None:
        """Return the allowance's event and the steps taken of each kind; None if it is no take."""
        return read_take(self.reserve, self.id)

    def step(self) -> TradeOff:
        """Return what each step is that it took."""
        return read_curve(self.reserve.get("step"), self.id)

    def checkpoint(self) -> str | None:
        """Return what was committed of the steps that it took, if anything was."""
        return None if self.commit is None else read_checkpoint(self.commit, self.id)

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
        names = {"request": "request", "source": "dataset"} | (
            {"stock": "schedule of steps"} if "stock" in asked else {"curve": "budget"}
        )
        self.require_kind(asked)
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
        if "stock" in differing:
            held = ", ".join(map(str, self.stock()))
            wanted = ", ".join(map(str, read_stock(asked, self.id)))
            places = "; ".join(
                filter(None, [f"steps: {held} in the ledger, {wanted} asked", places])
            )
        raise EntryConflict(
            f"entry {brief(self.id)!r} was used before with another {' and '.join(words)}"
            f"{f' ({places})' if places else ''}; ask the same again, or use a new id"
        )

    def require_kind(self, asked: Mapping[str, object]) -> None:
        """Refuse an id that stands for a question, an allowance or steps, and not for the same.

        Raises:
            EntryConflict: naming what it stands for.
        """
        kinds = {"stock": "an allowance of steps", "of": "steps taken of an allowance"}
        found, wanted = (
            next((kinds[key] for key in kinds if key in record), "a question")
            for record in (self.reserve, asked)
        )
        if found != wanted:
            raise EntryConflict(
                f"entry {brief(self.id)!r} stands for {found}, and {wanted} was asked under this "
                "id; use a new id"
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

    def entry(self, allowances: Mapping[str, str]) -> Entry:
        """Return the public view.

        Args:
            allowances: ids of allowances by their events.
        """
        take = self.take()
        if take is not None:
            return self._steps(allowances, *take)
        request = self.reserve.get("request")
        if not isinstance(request, dict):
            raise garbled("request", self.id)
        return Entry(
            id=self.id,
            state=self._state(),
            curve=read_curve(self.reserve.get("curve"), self.id),
            cost=self.cost.cost,
            delta=self.cost.delta,
            request=cast("dict[str, object]", request),
            reserved_at=self.reserved_at,
            committed_at=self.committed_at,
            values=self.values(),
            groups=self.groups(),
        )

    def _steps(self, allowances: Mapping[str, str], of: str, steps: Sequence[int]) -> Entry:
        return Entry(
            id=self.id,
            state=self._state(),
            curve=self.step() ** sum(steps),
            cost=self.cost.cost,
            delta=self.cost.delta,
            request={},
            reserved_at=self.reserved_at,
            committed_at=self.committed_at,
            values=None,
            of=allowances.get(of, "an allowance that is missing"),
            checkpoint=self.checkpoint(),
        )

    def _state(self) -> State:
        drawn: State = "redrawn" if self.redrawn else "reserved"
        return drawn if self.commit is None else "committed"


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

    def entry(self, entry: str) -> History | None:
        """Return one entry's history."""
        row = next(self.tables.select(f"{_SELECT} AND r.entry = ?", entry), None)
        return None if row is None else _history(row)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order."""
        rows = self.tables.select(f"{_SELECT} ORDER BY r.seq")
        found = [_history(row) for row in rows]
        allowances = {history.event: history.id for history in found if "stock" in history.reserve}
        return tuple(history.entry(allowances) for history in found)

    def overdrawn(self) -> Stock | None:
        """Return an allowance of which more was taken than it declared, if there is one."""
        # Most ledgers hold no allowance, and then nothing else is read.
        stocks = self.stocks() if self._taken() else ()
        return next((stock for stock in stocks if stock.excess()), None)

    def stocks(self) -> tuple[Stock, ...]:
        """Return all allowances with what was taken of them, in order."""
        # The text is only where to look: a request may say it too.
        rows = self.tables.select(f"{_SELECT} AND r.payload LIKE ? ORDER BY r.seq", '%"stock":%')
        found = [history for history in map(_history, rows) if "stock" in history.reserve]
        taken = self._taken()
        return tuple(_stock(history, taken.get(history.event, [])) for history in found)

    def stock(self, event: str) -> Stock | None:
        """Return an allowance by the event of its reserve, with what was taken of it."""
        row = next(self.tables.select(f"{_SELECT} AND r.event = ?", event), None)
        found = None if row is None else _history(row)
        if found is None or "stock" not in found.reserve:
            return None
        return _stock(found, self._taken().get(event, []))

    def _taken(self) -> dict[str, list[tuple[tuple[int, ...], int]]]:
        """Return, by the events of allowances, what was taken at once, and how often."""
        # Nothing else is free. Equal takes have equal records, so that few are read.
        rows = self.tables.select(
            "SELECT payload, count(*) FROM events WHERE kind = 'reserve' AND cost = '0' "
            "GROUP BY payload"
        )
        found: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        for payload, times in rows:
            take = read_take(read_payload(payload, "what was taken"), "what was taken")
            if take is not None:
                found.setdefault(take[0], []).append((take[1], times))
        return found


def _stock(history: History, taken: Sequence[tuple[tuple[int, ...], int]]) -> Stock:
    declared = history.stock()
    if any(len(steps) != len(declared) for steps, _ in taken):
        raise garbled("steps", history.id)
    sums = tuple(sum(times * steps[i] for steps, times in taken) for i in range(len(declared)))
    return Stock(history.id, declared, sums, history.event)


def _history(row: tuple[Any, ...]) -> History:
    event, entry, cost, payload, reserved_at, redrawn, commit, committed_at = row
    record = read_payload(payload, entry)
    return History(
        event, entry, read_amount(cost), record, reserved_at, bool(redrawn), commit, committed_at
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an entry would stand for."""

    entry: str
    request: Mapping[str, object]
    source: str = field(repr=False)
    curve: TradeOff
    stock: tuple[Steps, ...] = ()

    def payload(self, meta: Meta) -> str:
        """Return it as the ledger records it."""
        record: dict[str, object] = {
            "curve": self.curve.to_json(),
            "request": self.request,
            "source": fingerprint(meta.secret, self.source),
        }
        if self.stock:
            record["stock"] = stock_record(self.stock)
        return canonical(record)

    def before(self, tables: Tables, meta: Meta) -> History | None:
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
            require_recordable(curve)
            remaining = events.left()
            self._require_room(remaining, spending)
            _require_no_overdraft(events)
            if self.asked.stock or self.cost.delta > curve.without_failure()[2]:
                tables.renew()
            events.append(entry, "reserve", self.asked.payload(meta), cost=self.cost)
            return Reservation(
                entry=entry,
                curve=curve,
                cost=self.cost.cost,
                left=remaining - self.cost,
                delta=self.cost.delta,
            )
        if before.commit is None and not self.asked.stock:
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


def total_of(events: Events, spending: Budget) -> TradeOff:
    """Return the guarantee of all that was charged, and of what was taken beyond allowances."""
    excess = [steps for stock in events.stocks() for steps in stock.excess()]
    charged = spending.spent_curve(events.spent())
    return compose(charged, stock_curve(excess))


def composed_of(events: Events) -> TradeOff:
    """Return the exact composition of all that was charged, and was taken beyond allowances."""
    excess = [steps for stock in events.stocks() for steps in stock.excess()]
    charged = [entry.curve for entry in events.entries() if entry.of is None]
    return compose(*charged, stock_curve(excess))


def require_recordable(curve: TradeOff) -> None:
    """Refuse a curve that could not be read back.

    Raises:
        InvalidParameter: if it cannot.
    """
    if TradeOff.from_json(curve.to_json()) != curve:
        raise InvalidParameter(
            f"{brief(str(curve))} cannot be read back from its JSON, so it cannot be "
            "recorded; charge a curve of this library's leaves"
        )


def _require_no_overdraft(events: Events) -> None:
    stock = events.overdrawn()
    if stock is not None:
        raise BudgetExceeded(
            f"the allowance {brief(stock.id)!r} is overdrawn: merged copies took "
            f"{', '.join(map(str, stock.excess()))} more than were declared, so the cap is no "
            "longer proved. Nothing was charged, and nothing more can be"
        )
