"""Steps that are declared and paid for together, before the first of them is taken.

Let V be the composition of all declared steps that are left. If you take one of them, or a step
that one of them dominates, with guarantee f, then the remaining steps have a composition V' with f
⊗ V' >= V, whatever you saw before. So order, stopping and weaker steps may depend on earlier
answers. A step that is not taken remains available: it is never given back as an amount.

Source: Dong, Roth and Su (2022), theorem 3.2, by induction over the steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, final

from neyman.arguments import brief
from neyman.curves import TradeOff, compose
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.ledger._records import garbled, read_curve

__all__ = ["Steps", "Stock", "read_stock", "read_take", "stock_curve", "stock_record"]


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """A number of equal steps.

    Attributes:
        step: the trade-off function of one.
        count: how many.
    """

    step: TradeOff
    count: int

    def __str__(self) -> str:
        return f"{self.count:,} of {brief(str(self.step))}"


@final
@dataclass(frozen=True, slots=True)
class Stock:
    """An allowance at one moment: what was declared, and what was taken.

    Attributes:
        id: the allowance's entry.
        declared: each kind of step, with its number.
        taken: how many steps of each kind were taken.
    """

    id: str
    declared: tuple[Steps, ...]
    taken: tuple[int, ...]
    event: str = field(repr=False)

    def rest(self) -> tuple[Steps, ...]:
        """Return how many steps of each kind are left; 0 if more were taken than declared."""
        pairs = zip(self.declared, self.taken, strict=True)
        return tuple(Steps(kind.step, max(kind.count - taken, 0)) for kind, taken in pairs)

    def excess(self) -> tuple[Steps, ...]:
        """Return the steps that merged copies took beyond the declared ones."""
        pairs = zip(self.declared, self.taken, strict=True)
        return tuple(
            Steps(kind.step, taken - kind.count) for kind, taken in pairs if taken > kind.count
        )

    def told(self) -> str:
        """Return a text with how many steps of each kind are left."""
        over = ", ".join(map(str, self.excess()))
        rest = "; ".join(
            f"{left.count:,} left of {declared}"
            for left, declared in zip(self.rest(), self.declared, strict=True)
        )
        return f"{rest}; overdrawn by {over}, so the cap is no longer proved" if over else rest

    def kinds_for(self, step: TradeOff | None) -> tuple[int, ...]:
        """Return the kinds from which a step may be taken, an equal one first.

        Args:
            step: the guarantee of what is run; None for the only kind.

        Raises:
            InvalidParameter: if no kind is proved to dominate it, or if it is None and there are
                several.
        """
        if step is None:
            if len(self.declared) == 1:
                return (0,)
            raise InvalidParameter(
                f"the allowance {brief(self.id)!r} holds {len(self.declared)} kinds of steps; "
                "write step=... for the one that you run"
            )
        proved = [i for i, kind in enumerate(self.declared) if step.implies(kind.step)]
        if proved:
            return tuple(sorted(proved, key=lambda i: self.declared[i].step != step))
        declared = "; ".join(str(kind) for kind in self.declared)
        raise InvalidParameter(
            f"step={brief(str(step))} is not proved to be at least as private as a step that the "
            f"allowance {brief(self.id)!r} declared ({declared}); write a step with at least its "
            "noise and at most its sampling probability, or declare another allowance"
        )

    def left(self, kinds: Iterable[int]) -> int:
        """Return how many steps may still be taken from these kinds; 0 after an overdraft."""
        rest = self.rest()
        return 0 if self.excess() else sum(rest[i].count for i in kinds)

    def drawn(self, kinds: Sequence[int], steps: int) -> tuple[int, ...]:
        """Return how many steps of each kind pay for `steps` steps, starting with the first kinds.

        Raises:
            BudgetExceeded: if fewer are left.
        """
        left = self.left(kinds)
        if steps > left:
            raise BudgetExceeded(
                f"the allowance {brief(self.id)!r} has {left:,} steps left of the "
                f"{sum(self.declared[i].count for i in kinds):,} declared{self._overdrawn()}; got "
                f"{steps:,}. Nothing was taken. Take fewer, or declare a new allowance"
            )
        rest, due = self.rest(), steps
        shares = [0] * len(rest)
        for i in kinds:
            shares[i] = min(due, rest[i].count)
            due -= shares[i]
        return tuple(shares)

    def _overdrawn(self) -> str:
        over = sum(kind.count for kind in self.excess())
        return f", for merged copies took {over:,} more than that" if over else ""


def stock_curve(declared: Iterable[Steps]) -> TradeOff:
    """Return the guarantee of all steps together."""
    return compose(*(kind.step**kind.count for kind in declared))


def stock_record(declared: Iterable[Steps]) -> list[object]:
    """Return declared steps as a ledger records them."""
    return [[kind.step.to_json(), kind.count] for kind in declared]


def read_stock(record: Mapping[str, Any], entry: str) -> tuple[Steps, ...]:
    """Return the declared steps of a record; empty if it is not an allowance's.

    Raises:
        LedgerCorrupt: if they cannot be read.
    """
    found = record.get("stock", [])
    if not isinstance(found, list):
        raise garbled("declared steps", entry)
    kinds: list[Steps] = []
    for kind in cast("list[object]", found):
        if not isinstance(kind, list) or len(cast("list[object]", kind)) != 2:
            raise garbled("declared steps", entry)
        step, count = cast("list[object]", kind)
        if type(count) is not int or count < 1:
            raise garbled("declared steps", entry)
        kinds.append(Steps(read_curve(step, entry), count))
    return tuple(kinds)


def read_take(record: Mapping[str, Any], entry: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the allowance's event and the steps of each kind; None if the record is not a take.

    Raises:
        LedgerCorrupt: if they cannot be read.
    """
    if "of" not in record:
        return None
    of, steps = record["of"], record.get("steps")
    if type(of) is str and isinstance(steps, list):
        counts = cast("list[object]", steps)
        if counts and all(type(n) is int and n >= 0 for n in counts):
            return of, tuple(cast("list[int]", counts))
    raise garbled("steps", entry)
