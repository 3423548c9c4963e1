"""From a spec to releases: everything is compiled and priced before the first charge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

from neyman.accounting import filter_for
from neyman.aggregate import Aggregate
from neyman.door import release
from neyman.errors import BudgetExceeded, InvalidParameter, InvalidTable, NeymanError, SpecError
from neyman.functional import Circle, Interval, Side, pilot_bandwidth
from neyman.ledger import Ledger, Store, store_of
from neyman.mechanisms import Mechanism
from neyman.numerics import at_least, at_most
from neyman.publish._functions import bounded_domain, density, survival
from neyman.publish._noise import NOISES, USUAL
from neyman.publish._spec import Column, DomainOf, Query, Spec, UnitOf
from neyman.released import Release
from neyman.sensitivity import Neighbors
from neyman.tables import Bounds, Entity, Keys, Rows, Table, open_table
from neyman.tradeoff import TradeOff

__all__ = ["Bill", "Plan", "Publication", "Step", "bill", "plan", "publish"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One query, compiled, with its noise calibrated to what it may spend."""

    entry: str
    aggregate: Aggregate
    mechanism: Mechanism

    @property
    def curve(self) -> TradeOff:
        """What it guarantees, and is charged for."""
        return self.mechanism.tradeoff(self.aggregate.sensitivity)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A spec made ready. Nothing has been charged, and no row read."""

    title: str
    steps: tuple[Step, ...]
    data: Path
    ledger: Store
    cap: TradeOff
    unit: str
    neighbors: Neighbors

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
        costs: of each step, in order; None for an entry that the ledger holds already.
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
        releases: in the spec's order.
        cap: of the ledger.
        total: the guarantee of all that the ledger ever released.
        unit: who is protected.
        neighbors: the neighbouring relation.
        ledger: where it is kept.
    """

    title: str
    releases: tuple[Release, ...]
    cap: TradeOff
    total: TradeOff
    unit: str
    neighbors: Neighbors
    ledger: Store


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
        ledger=store_of(spec.budget.ledger, folder),
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
    ledger = plan.open_ledger()
    releases: list[Release] = []
    for done, step in enumerate(plan.steps):
        progress(step.entry, done, len(plan.steps))
        try:
            releases.append(release(step.aggregate, step.mechanism, ledger, entry=step.entry))
        except NeymanError as error:
            if releases:
                error.add_note(
                    f"{done} of {len(plan.steps)} entries before it are stored; ask again, and "
                    "they are free"
                )
            raise
    return Publication(
        title=plan.title,
        releases=tuple(releases),
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
        aggregate = _aggregate(query, table, keys)
    except InvalidParameter as error:
        raise SpecError(f"query {query.entry!r}: {error}") from error
    ((key, share),) = query.shares.items()
    noise = NOISES[query.noise or USUAL[key]]
    mechanism = noise.calibrated(query.entry, aggregate.sensitivity, key, share)
    return Step(entry=query.entry, aggregate=aggregate, mechanism=mechanism)


def _aggregate(query: Query, table: Table, keys: Mapping[str, Keys]) -> Aggregate:
    by = None if query.by is None else keys[query.by]
    match query:
        case Query(statistic="sum", column=str(column)):
            return table.sum(column, by=by)
        case Query(statistic="mean", column=str(column)):
            return table.mean(column, by=by)
        case Query(statistic="density", column=str(column)):
            return _density(query, table, column)
        case Query(statistic="survival", duration=str(duration), observed=str(observed)):
            return survival(
                table,
                duration=duration,
                observed=observed,
                horizon=query.horizon or 0,
                bandwidth=query.bandwidth or 0,
            )
        case _:
            return table.count(by=by)


def _density(query: Query, table: Table, column: str) -> Aggregate:
    domain = bounded_domain(table, column) if query.domain is None else _domain(query.domain)
    bandwidth = query.bandwidth or pilot_bandwidth(domain, query.records or 0)
    return density(table, column, domain=domain, bandwidth=bandwidth)


def _domain(declared: DomainOf) -> Side:
    if declared.period is not None:
        return Circle(declared.period)
    return Interval(declared.lower or 0, declared.upper or 0, outside=declared.outside or "clip")


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
    costs = tuple(None if step.entry in held else rule.cost(step.curve) for step in plan.steps)
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
