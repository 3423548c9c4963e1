"""A plan: queries that are compiled and priced before the first charge."""

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
from neyman.publish._synthetic_rows import of_question, refuse_unknown, spreads_of
from neyman.released import Release
from neyman.sensitivity import Neighbors

__all__ = ["Charge", "Plan", "Step", "bill", "budget_at"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A compiled query, with its calibrated noise.

    Attributes:
        entry: its id in the ledger; in a batch, its name there.
        aggregate: the question.
        mechanism: the noise that spends its whole budget.
        companion: the share of the budget that measures the effect of limits and bounds.
        batch: the id of its batch in the ledger; None without a batch.
        complete: columns that are declared to have a value in every row.
    """

    entry: str
    aggregate: Aggregate
    mechanism: Mechanism
    companion: Fraction = SHARE
    batch: str | None = None
    complete: frozenset[str] = frozenset()

    @property
    def curve(self) -> TradeOff:
        """Its guarantee, which is charged, with a companion of its own."""
        return divided([(self.aggregate, self.mechanism, self.companion)])[0].curve


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One charge of the ledger: a step, or all steps of a batch.

    Attributes:
        entry: the id in the ledger.
        steps: the steps that it pays for.
    """

    entry: str
    steps: tuple[Step, ...]

    @property
    def batched(self) -> bool:
        """Whether it is a batch, also with a single step."""
        return self.steps[0].batch is not None

    @property
    def curve(self) -> TradeOff:
        """The guarantee of its answers together: the exact composition."""
        return compose(*(part.curve for part in self.parts))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The noise to draw for each step, with its companion."""
        return divided([(step.aggregate, step.mechanism, step.companion) for step in self.steps])

    def release(self, ledger: Ledger) -> tuple[Release, ...]:
        """Charge, draw and store the answers not stored yet; return the answer of each step."""
        return released(self.parts, ledger, entry=self.entry, batched=self.batched)

    def already_answered(self, ledger: Ledger) -> bool:
        """Return whether a ledger has the answer; nothing is charged, and no row is read.

        Raises:
            EntryConflict: if its id belongs to another question in the ledger.
        """
        return already_answered(self.parts, ledger, entry=self.entry, batched=self.batched)


def budget_at(place: Store, cap: TradeOff, delta_aside: Real | None) -> Budget:
    """Return the budget of the ledger at a place, or of a new one if there is none.

    A ledger keeps the delta that was set aside when it was created.
    """
    new = budget_for(cap, delta_aside)
    if delta_aside is not None or not new.delta or not place.exists():
        return new
    ledger = Ledger.existing(place)
    return Budget(filter_from(ledger.account, ledger.capacity), ledger.delta_aside)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A compiled spec. Nothing has been charged, and no row has been read.

    Attributes:
        title: the title of the page.
        steps: the compiled queries.
        files: the files that are read.
        ledger: the place of the ledger that pays.
        cap: the total budget of the ledger.
        unit: the privacy unit.
        neighbors: the neighbouring relation.
        delta_aside: the part of the budget's delta that is set aside; None for the usual part.
        like: a file of public rows for previews.
        spread: means and standard deviations by column, for previews.
        presentation: the presentation of the answers.
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
        """The charges, in the order of the first step of each."""
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
        """The budget of the ledger, with its account."""
        return budget_at(self.ledger, self.cap, self.delta_aside)

    def preview(
        self,
        *,
        records: int | Sequence[int] | None = None,
        confidence: float = 0.95,
        like: object = None,
        spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
    ) -> PlanPreview:
        """Return the price and noise of every query; nothing is charged, no private row is read.

        Args:
            records: as for `publish.preview`.
            confidence: the coverage of the intervals, in (0, 1).
            like: as for `publish.preview`, for every query; by default that of the plan.
            spread: as for `publish.preview`, in addition to that of the plan.

        Raises:
            InvalidParameter: as for `publish.preview`.
            InvalidTable: if a query does not fit the public rows.
            LedgerMismatch: if the ledger was created with another budget, unit or relation.
            EntryConflict: if an id belongs to another question in the ledger.
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
    """Return the price of a plan in the current state of its ledger; nothing is charged or read.

    Raises:
        LedgerMismatch: if the ledger was created with another budget, unit, relation or delta.
        EntryConflict: if an id belongs to another question in the ledger.
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
