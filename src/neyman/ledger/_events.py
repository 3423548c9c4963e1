"""The append-only table of events, read and written in one transaction."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from neyman.accounting import Amount, Budget
from neyman.curves import TradeOff, compose
from neyman.errors import LedgerCorrupt
from neyman.ledger._chain import COLUMNS, genesis, link
from neyman.ledger._history import History
from neyman.ledger._records import Entry, garbled, now, read_payload
from neyman.ledger._schema import Meta, read_amount
from neyman.ledger._stock import Stock, read_take, stock_curve
from neyman.ledger._store import Tables

__all__ = ["Events", "composed_of", "total_of"]

_Kind: TypeAlias = Literal["reserve", "redraw", "commit"]

_SELECT = (
    "SELECT r.event, r.entry, r.cost, r.payload, r.at, d.seq IS NOT NULL, c.payload, c.at "
    "FROM events AS r "
    "LEFT JOIN events AS d ON d.entry = r.entry AND d.kind = 'redraw' "
    "LEFT JOIN events AS c ON c.entry = r.entry AND c.kind = 'commit' WHERE r.kind = 'reserve'"
)
_ALL = ", ".join((*COLUMNS, "digest"))


@dataclass(frozen=True, slots=True)
class Events:
    """Queries on the table, inside the caller's transaction."""

    tables: Tables
    meta: Meta

    def append(self, entry: str, kind: _Kind, payload: str, *, cost: Amount | None = None) -> None:
        """Add one event with the current time."""
        price = None if cost is None else str(cost)
        self.add(secrets.token_hex(16), entry, kind, price, payload, now())

    def add(self, *told: object) -> None:
        """Add one event at the end of the chain: its id, entry, kind, cost, payload and time."""
        seq, previous = self._last()
        row = (seq + 1, *told)
        self.tables.insert("events", (*row, link(previous, row)))

    def head(self) -> str:
        """Return the last digest, which covers everything ever written."""
        return self._last()[1]

    def _last(self) -> tuple[int, str]:
        rows = self.tables.select("SELECT seq, digest FROM events ORDER BY seq DESC LIMIT 1")
        row = next(rows, None)
        return (0, genesis(self.meta)) if row is None else (row[0], row[1])

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Return all rows in order: the columns that a digest covers, and the digest."""
        return self.tables.select(f"SELECT {_ALL} FROM events ORDER BY seq")

    def spent(self) -> Amount:
        """Return the exact sums of the charges for all reserved entries."""
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
        """Return what can still be charged to both accounts."""
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
        """Return an allowance from which more was taken than it declared, if there is one."""
        # Most ledgers hold no allowance; then nothing else is read.
        stocks = self.stocks() if self._taken() else ()
        return next((stock for stock in stocks if stock.excess()), None)

    def stocks(self) -> tuple[Stock, ...]:
        """Return all allowances with what was taken from them, in order."""
        # The text only narrows the search: a request may contain it too.
        rows = self.tables.select(f"{_SELECT} AND r.payload LIKE ? ORDER BY r.seq", '%"stock":%')
        found = [history for history in map(_history, rows) if "stock" in history.reserve]
        taken = self._taken()
        return tuple(_stock(history, taken.get(history.event, [])) for history in found)

    def stock(self, event: str) -> Stock | None:
        """Return an allowance by the event of its reserve, with what was taken from it."""
        row = next(self.tables.select(f"{_SELECT} AND r.event = ?", event), None)
        found = None if row is None else _history(row)
        if found is None or "stock" not in found.reserve:
            return None
        return _stock(found, self._taken().get(event, []))

    def _taken(self) -> dict[str, list[tuple[tuple[int, ...], int]]]:
        """Return, by allowance, the blocks of steps taken from it, with their number of takes."""
        # Only takes cost 0. Equal takes have equal records, so few are read.
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


def total_of(events: Events, spending: Budget) -> TradeOff:
    """Return the guarantee of everything charged, and of steps taken beyond allowances."""
    excess = [steps for stock in events.stocks() for steps in stock.excess()]
    charged = spending.spent_curve(events.spent())
    return compose(charged, stock_curve(excess))


def composed_of(events: Events) -> TradeOff:
    """Return the exact composition of everything charged, and of steps taken beyond allowances."""
    excess = [steps for stock in events.stocks() for steps in stock.excess()]
    charged = [entry.curve for entry in events.entries() if entry.of is None]
    return compose(*charged, stock_curve(excess))
