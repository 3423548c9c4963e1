"""From a spec to releases: everything is compiled and priced before the first charge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

from neyman.accounting import filter_for
from neyman.aggregate import Aggregate
from neyman.door import release, release_batch
from neyman.errors import BudgetExceeded, InvalidParameter, InvalidTable, NeymanError, SpecError
from neyman.ledger import Ledger
from neyman.mechanisms import Mechanism
from neyman.numerics import at_least, at_most
from neyman.publish._noise import NOISES, USUAL
from neyman.publish._queries import Query
from neyman.publish._spec import Column, Spec, UnitOf
from neyman.released import Release
from neyman.sensitivity import Neighbors
from neyman.tables import Bounds, Entity, Keys, Rows, Table, open_table
from neyman.tradeoff import TradeOff, compose

__all__ = ["Bill", "Charge", "Plan", "Publication", "Step", "bill", "plan", "publish"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One query, compiled, with its noise calibrated to what it may spend.

    Attributes:
        entry: its id in the ledger; in a batch its name there.
        aggregate: the question.
        mechanism: its noise.
        batch: the id in the ledger of all that is charged together with it; None for itself alone.
    """

    entry: str
    aggregate: Aggregate
    mechanism: Mechanism
    batch: str | None = None

    @property
    def curve(self) -> TradeOff:
        """What it guarantees, and is charged for."""
        return self.mechanism.tradeoff(self.aggregate.sensitivity)


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
        return compose(*(step.curve for step in self.steps))

    def release(self, ledger: Ledger) -> tuple[Release, ...]:
        """Charge, draw and store what is not stored yet; return an answer for each step."""
        asked = [(step.aggregate, step.mechanism) for step in self.steps]
        if self.batched:
            return release_batch(asked, ledger, entry=self.entry)
        return (release(*asked[0], ledger, entry=self.entry),)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A spec made ready. Nothing has been charged, and no row read."""

    title: str
    steps: tuple[Step, ...]
    data: Path
    ledger: Path
    cap: TradeOff
    unit: str
    neighbors: Neighbors

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The steps as they are charged, in the order of the first step of each."""
        together: dict[str, list[Step]] = {}
        for step in self.steps:
            together.setdefault(step.batch or step.entry, []).append(step)
        return tuple(Charge(entry=entry, steps=tuple(held)) for entry, held in together.items())

    def open_ledger(self) -> Ledger:
        """Open the ledger, or create it."""
        return Ledger.open(self.ledger, cap=self.cap, unit=self.unit, neighbors=self.neighbors)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a plan would cost now, in the unit of the ledger's account.

    Attributes:
        account: what is added up.
        capacity: of the ledger.
        remaining: in the ledger before the plan.
        costs: of each charge, in order; None for an entry that the ledger holds already.
    """

    account: str
    capacity: Fraction
    remaining: Fraction
    costs: tuple[Fraction | None, ...]

    @property
    def due(self) -> Fraction:
        """All that is still to be paid."""
        return sum((cost for cost in self.costs if cost is not None), Fraction(0))

    @property
    def fits(self) -> bool:
        """Whether the ledger can pay it."""
        return not self.due or self.due <= self.remaining


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Everything that a spec released, and the state of its ledger afterwards.

    Attributes:
        title: of the spec.
        names: of the queries, in the spec's order.
        releases: the answer to each; those of a batch have one entry.
        cap: of the ledger.
        total: the guarantee of all that the ledger ever released.
        unit: who is protected.
        neighbors: the neighbouring relation.
        ledger: path of the ledger.
    """

    title: str
    names: tuple[str, ...]
    releases: tuple[Release, ...]
    cap: TradeOff
    total: TradeOff
    unit: str
    neighbors: Neighbors
    ledger: Path


def plan(spec: Spec, folder: Path) -> Plan:
    """Compile every query and calibrate its noise; paths are relative to `folder`.

    Raises:
        InvalidTable: if the table, its unit, bounds or keys are not usable as declared.
        SpecError: if a noise does not go with the integers that its query releases.
        InvalidParameter: if a share of the budget calls for noise that cannot be drawn.
    """
    table = open_table(
        folder / spec.data.path,
        unit=_unit(spec.unit),
        bounds={name: _bounds(name, column) for name, column in spec.columns.items()},
        max_rows=spec.data.max_rows,
    )
    keys = {name: Keys(values) for name, values in spec.keys.items()}
    steps = tuple(_step(query, _limited(table, spec.unit, query), keys) for query in spec.query)
    return Plan(
        title=spec.title,
        steps=steps,
        data=folder / spec.data.path,
        ledger=folder / spec.budget.ledger,
        cap=spec.budget.cap,
        unit=steps[0].aggregate.unit,
        neighbors=steps[0].aggregate.sensitivity.neighbors,
    )


def publish(
    plan: Plan, *, progress: Callable[[str, int, int], None] = lambda _entry, _done, _all: None
) -> Publication:
    """Run a plan: every entry that the ledger does not hold yet is charged, drawn and stored.

    Run again, it returns the stored answers at no cost; stopped in between, it goes on.

    Args:
        plan: from `plan`.
        progress: told the entry about to run, how many are done, and of how many.

    Raises:
        BudgetExceeded: if the queries do not fit together; nothing has been charged then.
    """
    _check_fits(plan)
    ledger, charges = plan.open_ledger(), plan.charges
    answers: dict[str, Release] = {}
    for done, charge in enumerate(charges):
        progress(charge.entry, done, len(charges))
        try:
            released = charge.release(ledger)
        except NeymanError as error:
            if answers:
                error.add_note(
                    f"{done} of {len(charges)} entries before it are stored; ask again, and "
                    "they are free"
                )
            raise
        answers |= zip((step.entry for step in charge.steps), released, strict=True)
    return Publication(
        title=plan.title,
        names=tuple(step.entry for step in plan.steps),
        releases=tuple(answers[step.entry] for step in plan.steps),
        cap=ledger.cap,
        total=ledger.total(),
        unit=ledger.unit,
        neighbors=ledger.neighbors,
        ledger=plan.ledger,
    )


def _bounds(name: str, column: Column) -> Bounds:
    try:
        return Bounds(Fraction(column.lower), Fraction(column.upper), grid=Fraction(column.grid))
    except (InvalidParameter, InvalidTable) as error:
        raise SpecError(f"columns.{name}: {error}") from error


def _unit(declared: UnitOf) -> Rows | Entity:
    groups, rows = declared.max_groups, declared.max_rows_per_group
    if declared.entity is None or groups is None or rows is None:
        return Rows()
    return Entity(declared.entity, max_groups=groups, max_rows_per_group=rows)


def _limited(table: Table, declared: UnitOf, query: Query) -> Table:
    """Return the table with a query's own limits, where it has some."""
    groups = query.max_groups or declared.max_groups
    rows = query.max_rows_per_group or declared.max_rows_per_group
    if groups is None or rows is None:
        return table
    return table.bounded(max_groups=groups, max_rows_per_group=rows)


def _step(query: Query, table: Table, keys: Mapping[str, Keys]) -> Step:
    try:
        by = None if query.grouped_by is None else keys[query.grouped_by]
        aggregate = query.ask(table, by)
    except InvalidParameter as error:
        raise SpecError(f"query {query.entry!r}: {error}") from error
    ((key, share),) = query.shares.items()
    noise = NOISES[query.noise or USUAL[key]]
    mechanism = noise.calibrated(query.entry, aggregate.sensitivity, key, share)
    return Step(entry=query.entry, aggregate=aggregate, mechanism=mechanism, batch=query.batch)


def bill(plan: Plan) -> Bill:
    """Price a plan against its ledger as it stands; nothing is created, charged or read.

    Raises:
        LedgerMismatch: if the ledger was created with another cap, unit or relation.
    """
    rule = filter_for(plan.cap)
    held, remaining = frozenset[str](), rule.capacity
    if plan.ledger.exists():
        ledger = plan.open_ledger()
        held, remaining = frozenset(entry.id for entry in ledger.entries()), ledger.remaining()
    costs = tuple(
        None if charge.entry in held else rule.cost(charge.curve) for charge in plan.charges
    )
    return Bill(account=rule.account, capacity=rule.capacity, remaining=remaining, costs=costs)


def _check_fits(plan: Plan) -> None:
    """Refuse a plan that would stop half-way; the ledger itself still guards every charge."""
    price = bill(plan)
    if not price.fits:
        raise BudgetExceeded(
            f"the queries ask for {price.account} = {at_most(price.due, 6)} together, and the "
            f"ledger {plan.ledger} has {at_least(price.remaining, 6)} of "
            f"{at_most(price.capacity, 6)} left; nothing was charged. Give the queries smaller "
            "shares, or leave some out"
        )
