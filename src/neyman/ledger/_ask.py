"""Charging one question, inside one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from neyman.accounting import Filter
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.ledger._events import Events
from neyman.ledger._meta import Meta
from neyman.ledger._records import Reservation, canonical, fingerprint, read_payload, shown
from neyman.ledger._store import Tables
from neyman.tradeoff import TradeOff

__all__ = ["Ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a caller wants to be charged for."""

    entry: str
    request: Mapping[str, object]
    source: str = field(repr=False)
    curve: TradeOff
    cost: Fraction
    cap: TradeOff

    def reserved(self, tables: Tables, meta: Meta) -> Reservation:
        """Charge it, or find it charged before; the caller's transaction makes it durable."""
        events, spending = Events(tables, meta), meta.filter()
        record: dict[str, object] = {
            "curve": self.curve.to_json(),
            "request": self.request,
            "source": fingerprint(meta.secret, self.source),
        }
        payload = canonical(record)
        before = events.entry(self.entry)
        if before is None:
            if TradeOff.from_json(self.curve.to_json()) != self.curve:
                raise InvalidParameter(
                    f"{self.curve} cannot be read back from its JSON, so it cannot be recorded; "
                    "charge a curve of this library's leaves"
                )
            self._require_room(events.spent(), spending)
            events.append(self.entry, "reserve", payload, cost=self.cost)
            return Reservation(entry=self.entry, curve=self.curve, cost=self.cost)
        before.require_same(read_payload(payload, self.entry))
        values = before.values()
        if values is None:
            before.require_redraw_left()
            events.append(self.entry, "redraw", "{}")
        return Reservation(entry=self.entry, curve=self.curve, cost=before.cost, values=values)

    def _require_room(self, spent: Fraction, spending: Filter) -> None:
        remaining = spending.capacity - spent
        if self.cost <= remaining:
            return
        fitting = f"the most that still fits is {spending.largest(remaining)}"
        left = f"{shown(remaining)} remains"
        if remaining < 0:
            left = f"the cap is exceeded by {shown(-remaining)} since another copy was merged in"
        raise BudgetExceeded(
            f"entry {self.entry!r} with {self.curve} asks {spending.account} = {shown(self.cost)}; "
            f"of {shown(spending.capacity)} under cap={self.cap}, {shown(spent)} is spent and "
            f"{left}, so {fitting if remaining > 0 else 'nothing fits any more'}. "
            "Nothing was charged; ask with more noise, or not at all"
        )
