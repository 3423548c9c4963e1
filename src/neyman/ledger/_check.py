"""Everything that can be wrong with a ledger, in sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
from neyman.errors import NeymanError
from neyman.ledger._chain import genesis, link
from neyman.ledger._events import Events
from neyman.ledger._history import History
from neyman.ledger._records import read_curve, read_payload, shown
from neyman.ledger._schema import Meta
from neyman.ledger._stock import Stock, stock_curve
from neyman.ledger._store import Tables

__all__ = ["damage", "findings"]

# Another version of neyman may round the last digits of a cost differently.
_ROUNDING = 1 - Fraction(1, 10**6)


def findings(tables: Tables, known: Callable[[], Meta], noted: str | None) -> tuple[str, ...]:
    """Return what is wrong, on the snapshot of the caller's transaction.

    Args:
        tables: inside a transaction.
        known: a function that reads their opening row.
        noted: an earlier head of this ledger; None if there is none.
    """
    altered = tables.collected(tables.altered())
    return (*altered, *tables.collected(_rows(tables, known, noted)))


def damage(tables: Tables, meta: Meta) -> tuple[str, ...]:
    """Return what is wrong with tables and rows, without checking their sums."""
    parts = (tables.altered(), *_parts(tables, meta, None))
    return tuple(finding for part in parts for finding in tables.collected(part))


def _rows(tables: Tables, known: Callable[[], Meta], noted: str | None) -> Iterator[str]:
    # A row that cannot be read is also a finding.
    meta = known()
    for part in (*_parts(tables, meta, noted), _budget(tables, meta)):
        yield from tables.collected(part)


def _parts(tables: Tables, meta: Meta, noted: str | None) -> tuple[Iterator[str], ...]:
    return tables.damaged(), _chain(tables, meta, noted), _order(tables)


def _chain(tables: Tables, meta: Meta, noted: str | None) -> Iterator[str]:
    before, previous = 0, genesis(meta)
    missing = noted not in (None, previous)
    for *told, digest in Events(tables, meta).rows():
        seq, _, entry, kind = told[:4]
        if seq != before + 1:
            yield f"row {seq} follows row {before}: what stood between was removed"
        if link(previous, told) != digest:
            yield (
                f"the chain breaks at row {seq}, {kind} of {brief(entry)!r}: this row, or the one "
                "before it, was edited, removed, added or moved"
            )
        before, previous = seq, digest
        missing = missing and digest != noted
    if missing:
        yield (
            f"the head {noted} that was noted is on no row: rows were cut off the end since, or "
            "the chain was written anew, or the head is another ledger's"
        )


def _order(tables: Tables) -> Iterator[str]:
    orphans = tables.select(
        "SELECT DISTINCT entry FROM events AS e WHERE NOT EXISTS (SELECT 1 FROM events AS r "
        "WHERE r.entry = e.entry AND r.kind = 'reserve' AND r.seq <= e.seq)"
    )
    for (entry,) in orphans:
        yield f"entry {brief(entry)!r} has an event before, or without, its reserve"
    twice = tables.select("SELECT entry, kind FROM events GROUP BY entry, kind HAVING count(*) > 1")
    for entry, kind in twice:
        yield f"entry {brief(entry)!r} has more than one {kind}"


def _budget(tables: Tables, meta: Meta) -> Iterator[str]:
    try:
        spending = meta.budget()
        cap = read_curve(read_payload(meta.cap, "the cap"), "the cap")
        if not spending.spent_curve(spending.capacity).implies(cap):
            most = f"{shown(spending.capacity)} {spending.filter.account}"
            yield f"a capacity of {most} exceeds cap={brief(str(cap))}"
        spent = Events(tables, meta).spent()
        if not spent.fits(spending.capacity):
            yield (
                f"{shown(spent)} {spending.filter.account} is spent, above the capacity "
                f"{shown(spending.capacity)}; nothing more can be charged"
            )
    except NeymanError as error:
        yield str(error)
        return
    events, stocks = Events(tables, meta), dict[str, Stock]()
    try:
        stocks = {stock.event: stock for stock in events.stocks()}
    except NeymanError as error:
        yield str(error)
    yield from _overdrawn(stocks.values())
    reserved = tables.select("SELECT entry FROM events WHERE kind = 'reserve' ORDER BY seq")
    for (entry,) in tuple(reserved):
        yield from _entry(events, entry, spending, stocks)


def _overdrawn(stocks: Iterable[Stock]) -> Iterator[str]:
    for stock in stocks:
        for steps in stock.excess():
            yield (
                f"the allowance {brief(stock.id)!r} is overdrawn: merged copies took {steps} more "
                "than were declared, so the cap is no longer proved; nothing more can be taken or "
                "charged"
            )


def _entry(
    events: Events, entry: str, spending: Budget, stocks: Mapping[str, Stock]
) -> Iterator[str]:
    try:
        history = events.entry(entry)
        if history is None:
            yield f"entry {brief(entry)!r} cannot be found by its id"
            return
        take = history.take()
        if take is not None:
            yield from _take(history, stocks.get(take[0]), take[1])
            return
        found = history.entry({})
        stock = history.stock()
        if stock and stock_curve(stock) != found.curve:
            yield f"the allowance {brief(entry)!r} was charged for other steps than it declares"
        # At the delta that was charged: another version of neyman may choose another pair.
        due = spending.due(found.curve, found.delta)
    except NeymanError as error:
        yield f"entry {brief(entry)!r}: {error}"
        return
    if found.cost < due.cost * _ROUNDING or found.delta < due.delta * _ROUNDING:
        yield (
            f"entry {brief(entry)!r} was charged {shown(Amount(found.cost, found.delta))} "
            f"{spending.filter.account}, and "
            f"{brief(str(found.curve))} costs {shown(due)}"
        )


def _take(history: History, stock: Stock | None, taken: Sequence[int]) -> Iterator[str]:
    if stock is None or len(stock.declared) != len(taken):
        yield f"{brief(history.id)!r} took steps of an allowance that this ledger does not hold"
        return
    step, paid = history.step(), history.cost
    if paid != Amount(Fraction(0)):
        yield f"{brief(history.id)!r} took steps of an allowance, and was charged {shown(paid)}"
    for kind, count in zip(stock.declared, taken, strict=True):
        if count and step != kind.step and not step.implies(kind.step):
            yield (
                f"{brief(history.id)!r} took {count:,} steps of the allowance {brief(stock.id)!r} "
                f"for {brief(str(step))}, which is not proved to be dominated by "
                f"{brief(str(kind.step))}"
            )
