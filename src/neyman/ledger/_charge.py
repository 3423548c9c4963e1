"""The charge for a release and its answer, each in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import BudgetExceeded, EntryConflict, InvalidParameter
from neyman.ledger._events import Events
from neyman.ledger._history import History
from neyman.ledger._records import Reservation, canonical, fingerprint, read_payload, shown
from neyman.ledger._schema import Meta
from neyman.ledger._stock import Steps, stock_record
from neyman.ledger._store import Tables

__all__ = ["Answer", "Ask", "Asked", "require_recordable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The content of a new or existing entry."""

    entry: str
    request: Mapping[str, object]
    source: str = field(repr=False)
    curve: TradeOff
    stock: tuple[Steps, ...] = ()

    def payload(self, meta: Meta) -> str:
        """Return the record that the ledger stores."""
        record: dict[str, object] = {
            "curve": self.curve.to_json(),
            "request": self.request,
            "source": fingerprint(meta.secret, self.source),
        }
        if self.stock:
            record["stock"] = stock_record(self.stock)
        return canonical(record)

    def before(self, tables: Tables, meta: Meta) -> History | None:
        """Return what was reserved earlier under its id; None if nothing was.

        Raises:
            EntryConflict: if that was something else, or its redraw is used up.
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
    """A charge that a caller requests."""

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
            f"entry {self.asked.entry!r} with {brief(str(self.asked.curve))} costs "
            f"{spending.filter.account} = {shown(self.cost)}; of {shown(capacity)} under "
            f"cap={brief(str(self.cap))}, "
            f"{shown(capacity - remaining)} {'are' if spending.delta else 'is'} spent and {left}, "
            f"so {spending.largest(remaining)}. "
            f"Nothing was charged; ask with {instead}, or not at all"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The values that were drawn for an entry.

    Attributes:
        reservation: of the entry.
        values: the noisy integers, as stored.
    """

    reservation: Reservation
    values: str = field(repr=False)

    def committed(self, tables: Tables, meta: Meta) -> Reservation:
        """Store the values, once; return what is stored.

        Raises:
            EntryConflict: if nothing, or something else, was reserved under this id.
        """
        events, entry = Events(tables, meta), self.reservation.entry
        before = events.entry(entry)
        if before is None:
            raise EntryConflict(
                f"values can be committed only to a reserved entry; this ledger never reserved "
                f"{entry!r}. Reserve it first"
            )
        before.require_kind({})
        if before.commit is None:
            events.append(entry, "commit", self.values)
            before = events.entry(entry) or before
        return before.answered(replace(self.reservation, left=events.left()))


def require_recordable(curve: TradeOff) -> None:
    """Refuse a curve that could not be read back from its record.

    Raises:
        InvalidParameter: if it could not.
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
