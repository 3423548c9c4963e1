"""Charging one question, inside one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from neyman.accounting import Amount, Budget
from neyman.arguments import brief
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
    cost: Amount
    cap: TradeOff

    def reserved(self, tables: Tables, meta: Meta) -> Reservation:
        """Charge it, or find it charged before; the caller's transaction makes it durable."""
        events, spending = Events(tables, meta), meta.budget()
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
                    f"{brief(str(self.curve))} cannot be read back from its JSON, so it cannot be "
                    "recorded; charge a curve of this library's leaves"
                )
            self._require_room(events.spent(), spending)
            events.append(self.entry, "reserve", payload, cost=self.cost)
            return Reservation(
                entry=self.entry, curve=self.curve, cost=self.cost.cost, delta=self.cost.delta
            )
        before.require_same(read_payload(payload, self.entry))
        if before.commit is None:
            before.require_redraw_left()
            events.append(self.entry, "redraw", "{}")
        return before.answered(Reservation(entry=self.entry, curve=self.curve, cost=Fraction(0)))

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
            f"entry {self.entry!r} with {brief(str(self.curve))} asks {spending.filter.account} = "
            f"{shown(self.cost)}; of {shown(capacity)} under cap={brief(str(self.cap))}, "
            f"{shown(spent)} {'are' if spending.delta else 'is'} spent and {left}, so "
            f"{spending.largest(remaining)}. "
            f"Nothing was charged; ask with {instead}, or not at all"
        )
