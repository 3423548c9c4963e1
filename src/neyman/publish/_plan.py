"""Everything that is asked, compiled and priced before the first charge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import final

from neyman.accounting import Budget, budget_for, filter_from
from neyman.aggregate import Aggregate
from neyman.curves import TradeOff, compose
from neyman.divided import SHARE, Part, divided
from neyman.door import already_answered, released
from neyman.ledger import Ledger, Store
from neyman.mechanisms import Mechanism
from neyman.numerics import Real
from neyman.publish._likeness import label_of, public_of
from neyman.publish._plan_preview import Bill, ChargePreview, PlanPreview
from neyman.publish._presentation import Presentation
from neyman.publish._preview import Preview, preview_of
from neyman.publish._stand_ins import of_question, refuse_unknown, spreads_of
from neyman.released import Release
from neyman.sensitivity import Neighbors

__all__ = ["Charge", "Plan", "Step", "bill", "budget_at"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One query, compiled, with its noise calibrated to what it may spend.

    Attributes:
        entry: its id in the ledger; in a batch its name there.
        aggregate: the question.
        mechanism: the noise that spends all of its budget.
        companion: the share of that which tells what limits and bounds did.
        batch: the id in the ledger of all that is charged together with it; None for itself alone.
        complete: columns that somebody declared to have a value in every row.
    """

    entry: str
    aggregate: Aggregate
    mechanism: Mechanism
    companion: Fraction = SHARE
    batch: str | None = None
    complete: frozenset[str] = frozenset()

    @property
    def curve(self) -> TradeOff:
        """What it guarantees, and is charged for, if it has a companion of its own."""
        return divided([(self.aggregate, self.mechanism, self.companion)])[0].curve


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What the ledger is charged for at once: one step, or all those of a batch.

    Attributes:
        entry: the id in the ledger.
        steps: what is answered for it.
    """

    entry: str
    steps: tuple[Step, ...]

    @property
    def batched(self) -> bool:
        """Whether it is a batch, of however many steps."""
        return self.steps[0].batch is not None

    @property
    def curve(self) -> TradeOff:
        """What the answers together guarantee: of a batch the exact composition."""
        return compose(*(part.curve for part in self.parts))

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is drawn for each step, its companion included."""
        return divided([(step.aggregate, step.mechanism, step.companion) for step in self.steps])

    def release(self, ledger: Ledger) -> tuple[Release, ...]:
        """Charge, draw and store what is not stored yet; return an answer for each step."""
        return released(self.parts, ledger, entry=self.entry, batched=self.batched)

    def already_answered(self, ledger: Ledger) -> bool:
        """Return whether a ledger holds this already; nothing is charged, and no row read.

        Raises:
            EntryConflict: if its id stands for something else there, as `release` would.
        """
        return already_answered(self.parts, ledger, entry=self.entry, batched=self.batched)


def budget_at(place: Store, cap: TradeOff, delta_aside: Real | None) -> Budget:
    """Return the budget of the ledger at a place; where none is yet, that of a new one.

    A ledger keeps what was set aside when it was created, and nobody need write it again.
    """
    new = budget_for(cap, delta_aside)
    if delta_aside is not None or not new.delta or not place.exists():
        return new
    ledger = Ledger.existing(place)
    return Budget(filter_from(ledger.account, ledger.capacity), ledger.delta_aside)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A spec made ready. Nothing has been charged, and no row read.

    Attributes:
        title: of the page.
        steps: the queries.
        files: those that are read.
        ledger: pays.
        cap: of the ledger.
        unit: who is protected.
        neighbors: the neighbouring relation.
        delta_aside: how much of the cap's delta is set aside; None for the usual part.
        like: public rows that previews rest on: a file.
        spread: means and standard deviations by column that previews rest on.
        presentation: how the answers are presented.
    """

    title: str
    steps: tuple[Step, ...]
    files: tuple[Path, ...]
    ledger: Store
    cap: TradeOff
    unit: str
    neighbors: Neighbors
    delta_aside: Real | None = None
    like: Path | None = None
    spread: Mapping[str, tuple[Real, Real]] = field(default_factory=dict[str, tuple[Real, Real]])
    presentation: Presentation = field(default_factory=Presentation)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The steps as they are charged, in the order of the first step of each."""
        together: dict[str, list[Step]] = {}
        for step in self.steps:
            together.setdefault(step.batch or step.entry, []).append(step)
        return tuple(Charge(entry=entry, steps=tuple(held)) for entry, held in together.items())

    def open_ledger(self) -> Ledger:
        """Open the ledger, or create it."""
        return Ledger.open(
            self.ledger,
            cap=self.cap,
            unit=self.unit,
            neighbors=self.neighbors,
            delta_aside=self.delta_aside,
        )

    @property
    def budget(self) -> Budget:
        """What the ledger spends, and how releases are charged to it."""
        return budget_at(self.ledger, self.cap, self.delta_aside)

    def preview(
        self,
        *,
        records: int | Sequence[int] | None = None,
        confidence: float = 0.95,
        like: object = None,
        spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
    ) -> PlanPreview:
        """Say what everything would cost and look like; nothing is charged, no private row read.

        Args:
            records: as for `publish.preview`.
            confidence: of the intervals, in (0, 1).
            like: as for `publish.preview`, for every query; the plan's own by default.
            spread: as for `publish.preview`, beside the plan's own.

        Raises:
            InvalidParameter: as `publish.preview` does.
            InvalidTable: if a query cannot be asked of the public rows.
            LedgerMismatch: if the ledger was created with another cap, unit or relation.
            EntryConflict: if an entry stands for something else in the ledger.
        """
        known = self.like if like is None else like
        public, label = None if known is None else public_of(known), label_of(known)
        spreads = spreads_of({**self.spread, **spread})
        refuse_unknown(spreads_of(spread), [step.aggregate for step in self.steps])

        def seen(part: Part) -> Preview:
            rows = of_question(part.aggregate, records, public, spreads, label)
            return preview_of(rows, part, confidence)

        priced = bill(self)
        return PlanPreview(
            title=self.title,
            cap=self.cap,
            unit=self.unit,
            neighbors=self.neighbors,
            bill=priced,
            charges=tuple(
                ChargePreview(
                    entry=charge.entry,
                    batched=charge.batched,
                    curve=charge.curve,
                    cost=cost,
                    questions={
                        step.entry: seen(part)
                        for step, part in zip(charge.steps, charge.parts, strict=True)
                    },
                )
                for charge, cost in zip(self.charges, priced.costs, strict=True)
            ),
        )


def bill(plan: Plan) -> Bill:
    """Price a plan against its ledger as it stands; nothing is created, charged or read.

    Raises:
        LedgerMismatch: if the ledger was created with another cap, unit, relation or delta.
        EntryConflict: if an entry stands for something else in the ledger, as a run would.
        UnsupportedComposition: if the ledger can never pay a step, whatever remains in it.
    """
    budget = plan.budget
    stored, remaining = frozenset[str](), budget.capacity
    if plan.ledger.exists():
        ledger = plan.open_ledger()
        known = {entry.id for entry in ledger.entries()}
        stored = frozenset(
            charge.entry
            for charge in plan.charges
            # Without its id there is nothing to compare, and a batch need not be composed.
            if charge.entry in known and charge.already_answered(ledger)
        )
        remaining = ledger.left()
    return Bill(
        account=budget.filter.account,
        capacity=budget.capacity,
        remaining=remaining,
        costs=tuple(
            None if charge.entry in stored else budget.cost(charge.curve) for charge in plan.charges
        ),
    )
