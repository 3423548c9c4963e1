"""Charging one question, inside one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.ledger._events import Events, History
from neyman.ledger._meta import Meta
from neyman.ledger._records import Reservation, canonical, fingerprint, read_payload, shown
from neyman.ledger._store import Tables

__all__ = ["Ask", "Asked"]


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
            if TradeOff.from_json(curve.to_json()) != curve:
                raise InvalidParameter(
                    f"{brief(str(curve))} cannot be read back from its JSON, so it cannot be "
                    "recorded; charge a curve of this library's leaves"
                )
            self._require_room(events.spent(), spending)
            events.append(entry, "reserve", self.asked.payload(meta), cost=self.cost)
            return Reservation(entry=entry, curve=curve, cost=self.cost.cost, delta=self.cost.delta)
        if before.commit is None:
            events.append(entry, "redraw", "{}")
        return before.answered(Reservation(entry=entry, curve=curve, cost=Fraction(0)))

    def _require_room(self, spent: Amount, spending: Budget) -> None:
        capacity = spending.capacity
        remaining = capacity - spent
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
            f"{shown(spent)} {'are' if spending.delta else 'is'} spent and {left}, so "
            f"{spending.largest(remaining)}. "
            f"Nothing was charged; ask with {instead}, or not at all"
        )
