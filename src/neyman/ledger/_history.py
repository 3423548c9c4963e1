"""The stored history of one entry, and what may still happen to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from neyman.accounting import Amount
from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import EntryConflict
from neyman.ledger._differences import budgets, differences, only_companions, same_budget
from neyman.ledger._records import (
    Entry,
    Groups,
    Reservation,
    State,
    canonical,
    garbled,
    read_checkpoint,
    read_curve,
    read_groups,
    read_values,
)
from neyman.ledger._stock import Steps, read_stock, read_take

__all__ = ["History"]


@dataclass(frozen=True, slots=True)
class History:
    """The stored history of one entry."""

    event: str
    id: str
    cost: Amount
    reserve: dict[str, Any]
    reserved_at: str
    redrawn: bool
    commit: str | None
    committed_at: str | None

    def stock(self) -> tuple[Steps, ...]:
        """Return the steps that it declares; empty unless it is an allowance."""
        return read_stock(self.reserve, self.id)

    def take(self) -> tuple[str, tuple[int, ...]] | None:
        """Return the allowance's event and the steps of each kind; None if this is not a take."""
        return read_take(self.reserve, self.id)

    def step(self) -> TradeOff:
        """Return the guarantee of each step that it took."""
        return read_curve(self.reserve.get("step"), self.id)

    def checkpoint(self) -> str | None:
        """Return the checkpoint that was committed for the steps, if any."""
        return None if self.commit is None else read_checkpoint(self.commit, self.id)

    def values(self) -> tuple[int, ...] | None:
        """Return the stored answer, if there is one."""
        return None if self.commit is None else read_values(self.commit, self.id)

    def groups(self) -> Groups:
        """Return the keys of the groups in the stored answer."""
        return () if self.commit is None else read_groups(self.commit, self.id)

    def answered(self, reservation: Reservation) -> Reservation:
        """Return a reservation with the charge, and with the answer if one is stored."""
        return replace(
            reservation,
            cost=self.cost.cost,
            delta=self.cost.delta,
            values=self.values(),
            groups=self.groups(),
        )

    def require_same(self, asked: dict[str, Any], curve: TradeOff) -> None:
        """Refuse an id that belongs to another question.

        Args:
            asked: the record of the question now.
            curve: its trade-off function.

        Raises:
            EntryConflict: if they differ. The message names the differences, but nothing about the
                dataset.
        """
        names = {"request": "request", "source": "dataset"} | (
            {"stock": "schedule of steps"} if "stock" in asked else {"curve": "budget"}
        )
        self.require_kind(asked)
        # Compare as text: Python treats 1, 1.0 and True as equal.
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
                "the budget for the effect of limits and bounds; ask the same again, or use a new "
                "id"
            )
        places = differences(self.reserve.get("request"), asked["request"], sizes=not paid)
        # If only the budget differs, the size of the noise need not be named.
        words = [names[key] for key in differing if key != "request" or places or not paid]
        if paid:
            places = "; ".join(filter(None, [f"budget: {budgets(before, curve)}", places]))
        if "stock" in differing:
            held = ", ".join(map(str, self.stock()))
            wanted = ", ".join(map(str, read_stock(asked, self.id)))
            places = "; ".join(filter(None, [f"steps: {held} in the ledger, {wanted} now", places]))
        raise EntryConflict(
            f"entry {brief(self.id)!r} was used before with another {' and '.join(words)}"
            f"{f' ({places})' if places else ''}; ask the same again, or use a new id"
        )

    def require_kind(self, asked: Mapping[str, object]) -> None:
        """Refuse an id that belongs to another kind of entry: a question, an allowance or steps.

        Raises:
            EntryConflict: if the kinds differ; the message names both.
        """
        kinds = {"stock": "an allowance of steps", "of": "steps taken of an allowance"}
        found, wanted = (
            next((kinds[key] for key in kinds if key in record), "a question")
            for record in (self.reserve, asked)
        )
        if found != wanted:
            raise EntryConflict(
                f"entry {brief(self.id)!r} is {found}; got {wanted} under the same id. Use a new id"
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
