"""Steps taken from an allowance, and their checkpoints, each in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from neyman.accounting import Amount
from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import EntryConflict, LedgerCorrupt
from neyman.ledger._differences import differences
from neyman.ledger._events import Events
from neyman.ledger._history import History
from neyman.ledger._records import canonical
from neyman.ledger._schema import Meta
from neyman.ledger._store import Tables

__all__ = ["Commit", "Taking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """Steps that a training is about to run.

    Attributes:
        entry: their id.
        of: the event of the allowance.
        step: the guarantee of each of them.
        kinds: the allowance's kinds that dominate it, in the order to take from.
        steps: how many.
        revealed: whether anything from them may leave the process before they are committed.
    """

    entry: str
    of: str
    step: TradeOff
    kinds: tuple[int, ...]
    steps: int
    revealed: bool

    def taken(self, tables: Tables, meta: Meta) -> tuple[str, str | None]:
        """Take them, or find them taken; return the event, and their committed checkpoint if any.

        Raises:
            BudgetExceeded: if fewer are left.
            EntryConflict: if the id belongs to something else, or they are consumed.
        """
        events = Events(tables, meta)
        found = events.entry(self.entry)
        if found is not None:
            return found.event, self._again(events, found)
        stock = events.stock(self.of)
        if stock is None:
            raise LedgerCorrupt(
                f"the allowance that {brief(self.entry)!r} is to be taken of is no longer in the "
                "ledger; restore it from a backup"
            )
        record = {**self._asked(), "steps": stock.drawn(self.kinds, self.steps)}
        events.append(self.entry, "reserve", canonical(record), cost=Amount(Fraction(0)))
        tables.renew()
        return _known(events, self.entry).event, None

    def _asked(self) -> dict[str, Any]:
        return {"of": self.of, "step": self.step.to_json(), "revealed": self.revealed}

    def _again(self, events: Events, found: History) -> str | None:
        self._require_same(found)
        if found.commit is not None:
            return found.checkpoint()
        if found.reserve.get("revealed") is not False:
            raise EntryConflict(
                f"{brief(self.entry)!r} was taken before and not committed. Its logs or metrics "
                f"may have left the process, so its {self.steps:,} steps are consumed. If another "
                "process runs them now, wait until it has committed; otherwise go on from the "
                "last checkpoint under a new name"
            )
        if self.revealed:
            raise EntryConflict(
                f"{brief(self.entry)!r} was taken with revealed=False and may be run once more in "
                "that way only: the process that took it may be alive and commit its own run, and "
                "then two runs would be seen and one paid for. Take it with revealed=False, or go "
                "on under a new name"
            )
        found.require_redraw_left()
        events.append(self.entry, "redraw", "{}")
        return None

    def _require_same(self, found: History) -> None:
        """Refuse an id that belongs to other steps.

        Raises:
            EntryConflict: if they differ; the message names the differences.
        """
        found.require_kind({"of": self.of})
        stored, asked = (
            {key: record.get(key) for key in ("of", "step")} | {"steps": steps}
            for record, steps in (
                (found.reserve, sum((found.take() or ("", ()))[1])),
                (self._asked(), self.steps),
            )
        )
        if canonical(stored) != canonical(asked):
            raise EntryConflict(
                f"{brief(self.entry)!r} was taken before for other steps "
                f"({differences(stored, asked)}); take the same again, or use a new name"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The result of steps that were run: a checkpoint.

    Attributes:
        entry: the id of the steps.
        event: the event of their taking.
        checkpoint: a digest of the parameters after them, or another name of a stored state.
    """

    entry: str
    event: str
    checkpoint: str

    def committed(self, tables: Tables, meta: Meta) -> None:
        """Store the checkpoint, once.

        Raises:
            EntryConflict: if another one was stored before, or these steps were never taken.
        """
        events = Events(tables, meta)
        found = _known(events, self.entry)
        if found.event != self.event:
            raise EntryConflict(
                f"{brief(self.entry)!r} now belongs to other steps than those that were taken; "
                "open the ledger that they were taken from"
            )
        if found.commit is None:
            record: Mapping[str, object] = {"values": [], "checkpoint": self.checkpoint}
            events.append(self.entry, "commit", canonical(record))
            return
        stored = found.checkpoint()
        if stored != self.checkpoint:
            raise EntryConflict(
                f"{brief(self.entry)!r} was committed before with the checkpoint "
                f"{brief(str(stored))!r}. Nothing of this run may leave the process: discard its "
                "parameters, and load that checkpoint"
            )


def _known(events: Events, entry: str) -> History:
    found = events.entry(entry)
    if found is None or found.take() is None:
        raise EntryConflict(
            f"a checkpoint can be committed only after its steps were taken; none were taken under "
            f"{brief(entry)!r}. Take them first"
        )
    return found
