"""Turns a spec into a plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import cast

from neyman.accounting import Budget, budget_for
from neyman.errors import SpecError
from neyman.ledger import store_of
from neyman.numerics import at_most
from neyman.printable import printable
from neyman.publish._data import JoinOf, PublicJoinOf
from neyman.publish._groups import BinsOf, UnknownOf, ValuesOf
from neyman.publish._mistakes import Mistakes
from neyman.publish._plan import Plan, budget_at
from neyman.publish._queries import Query
from neyman.publish._queries._query import SHOWN
from neyman.publish._query_on_table import QueryOnTable, in_part
from neyman.publish._section import Cell
from neyman.publish._spec import Spec
from neyman.tables import (
    Bounds,
    Expression,
    Keys,
    Table,
    UnknownKeys,
    expression_of_text,
    files_of,
    open_table,
)

__all__ = ["plan", "private_files", "queries_of"]


def _divided_by_shares(asked: Sequence[QueryOnTable], budget: Budget) -> tuple[QueryOnTable, ...]:
    """Give each query with a share its part of the total budget that the others leave.

    The parts do not depend on what was spent before, so running the same spec again is free.

    Raises:
        SpecError: if the others leave nothing.
    """
    weights = [Fraction(one.query.share) for one in asked if one.query.share is not None]
    if not weights:
        return tuple(asked)
    fixed = sum(
        (budget.cost(one.step().curve).cost for one in asked if one.query.share is None),
        Fraction(0),
    )
    rest = budget.filter.capacity - fixed
    if rest <= 0:
        taken = at_most(100 * fixed / budget.filter.capacity, 4)
        raise SpecError(
            "queries with a share divide what the others leave of the budget; the others spend "
            f"{taken} % of it. Give them less, or give all queries a share"
        )
    part, account = rest / sum(weights, Fraction(0)), budget.filter.account
    return tuple(
        one
        if one.query.share is None
        else replace(one, amount=(account, part * Fraction(one.query.share)))
        for one in asked
    )


def plan(spec: Spec, folder: Path) -> Plan:
    """Compile every query and calibrate its noise; paths are relative to `folder`.

    Raises:
        InvalidTable: if the declared table, unit, bounds or keys cannot be used.
        SpecError: if a noise does not fit the integers of its query.
        InvalidParameter: if the noise for a share of the budget cannot be drawn.
    """
    mistakes = Mistakes()
    steps = [
        step for one in queries_of(spec, folder) if (step := mistakes.of(one.step)) is not None
    ]
    mistakes.raise_all()
    complete = frozenset(name for name, column in spec.columns.items() if column.complete)
    return Plan(
        title=spec.title,
        steps=tuple(replace(step, complete=complete) for step in steps),
        files=_files(spec, folder),
        ledger=store_of(spec.budget.ledger, folder),
        cap=spec.budget.build(),
        unit=steps[0].aggregate.unit,
        neighbors=steps[0].aggregate.sensitivity.neighbors,
        delta_aside=spec.budget.delta_aside,
        like=None if spec.data.like is None else folder / spec.data.like,
        spread={
            name: (column.spread[0], column.spread[1])
            for name, column in spec.columns.items()
            if column.spread is not None
        },
        presentation=spec.presentation,
    )


def queries_of(spec: Spec, folder: Path) -> tuple[QueryOnTable, ...]:
    """Return every query with its table and groups.

    Raises:
        InvalidTable: if the declared table, unit, bounds or keys cannot be used.
        SpecError: if they do not fit each other.
    """
    table, mistakes = _opened(spec, folder), Mistakes()
    made = {name: expression_of_text(text) for name, text in spec.derive.items()}
    bounds = {name: held for name, column in spec.columns.items() if (held := column.bounds)}
    # Here that mistakes are found in what no query uses, too.
    with in_part("derive"):
        whole = table.with_columns(**made) if made else table
    usable = {
        name: bound
        for name, bound in bounds.items()
        if mistakes.of(partial(_bounded, whole, name, bound)) is not None
    }
    for name in spec.columns.keys() - bounds.keys():
        mistakes.of(partial(_known, whole, name))
    groups = _groups(spec, mistakes)

    def of(query: Query) -> QueryOnTable:
        by = None if query.by is None else groups[query.by]
        for column, instead in query.bounds.items():
            unbounded = column in made.keys() - bounds.keys()
            # The bounds of true and false are known.
            if unbounded and bool not in whole.view.schema[column].kind.keys:
                raise SpecError(spec.no_bounds(query, column, instead))
        with in_part(f"query {query.entry!r}, by = {query.by!r}"):
            for column in () if by is None else by.columns:
                whole.view.schema[column]
        return QueryOnTable.of(query, _with_used_columns(query, groups, table, made, usable), by)

    # What a wrong part of the spec spoils is not told again of each query.
    wrong = bounds.keys() - usable.keys()
    whole_ones = [
        query
        for query in spec.query
        if (query.by is None or query.by in groups) and not wrong & _texts_of(query)
    ]
    asked = [one for query in whole_ones if (one := mistakes.of(partial(of, query))) is not None]
    shared = any(query.share is not None for query in spec.query)
    for one in asked if mistakes or shared else ():
        # Told together with the mistakes of the others, before the budget is divided.
        mistakes.of(partial(one.question, one.table))
    mistakes.raise_all()
    with in_part("budget"):
        cap, apart = spec.budget.build(), spec.budget.delta_aside
        place = store_of(spec.budget.ledger, folder)
        budget = budget_at(place, cap, apart) if shared else budget_for(cap, apart)
    return _divided_by_shares(asked, budget)


def _bounded(table: Table, name: str, bounds: Bounds) -> Table:
    with in_part("columns"):
        return table.with_bounds({name: bounds})


def _known(table: Table, name: str) -> None:
    with in_part("columns"):
        table.view.schema[name]


def _groups(spec: Spec, mistakes: Mistakes) -> dict[str, Keys | UnknownKeys]:
    """Return the valid groups by their names, and keep the errors of others."""
    made: dict[str, Callable[[], Keys | UnknownKeys]] = {
        **{name: partial(_keys, name, domains) for name, domains in spec.keys.items()},
        **{name: partial(_unknown, name, found) for name, found in spec.unknown.items()},
    }
    found = {name: mistakes.of(make) for name, make in made.items()}
    return {name: groups for name, groups in found.items() if groups is not None}


def _keys(name: str, domains: Mapping[str, list[Cell] | ValuesOf | BinsOf]) -> Keys:
    with in_part(f"keys.{name}", SpecError):
        return Keys({c: x if isinstance(x, list) else x.build() for c, x in domains.items()})


def _unknown(name: str, groups: UnknownOf) -> UnknownKeys:
    with in_part(f"unknown.{name}", SpecError):
        return groups.build()


def _opened(spec: Spec, folder: Path) -> Table:
    """Open the table with its joins."""
    with in_part("unit"):
        unit = spec.unit.build(folder)
    data = spec.data
    spilled = data.temporary_directory
    with in_part("[data] and [unit]"):
        table = open_table(
            folder / data.path
            if isinstance(data.path, str)
            else [folder / path for path in data.path],
            unit=unit,
            max_table_rows=data.max_table_rows,
            memory_limit=data.memory_limit,
            temporary_directory=None if spilled is None else folder / spilled,
        )
    for place, join in _joins(spec):
        with in_part(place):
            table = join.joined(table, folder)
    return table


def _joins(spec: Spec) -> Iterator[tuple[str, JoinOf | PublicJoinOf]]:
    """Return the joins with their places, in order."""
    for private in (*spec.join, None):
        for name, join in spec.join_public.items():
            if join.before == private:
                yield f"join_public.{printable(name)}", join
        if private is not None:
            yield f"join.{printable(private)}", spec.join[private]


def _files(spec: Spec, folder: Path) -> tuple[Path, ...]:
    """Return every file that is read."""
    public = (folder / join.path for join in spec.join_public.values())
    return (*private_files(spec, folder), *public)


def private_files(spec: Spec, folder: Path) -> tuple[Path, ...]:
    """Return every file with protected rows."""
    joined = (folder / join.path for join in spec.join.values())
    path = spec.data.path
    written = [path] if isinstance(path, str) else path
    own = (file for one in written for file in files_of(folder / one))
    return (*own, *joined, *spec.unit.files(folder))


def _with_used_columns(
    query: Query,
    groups: Mapping[str, Keys | UnknownKeys],
    table: Table,
    made: Mapping[str, Expression],
    bounds: Mapping[str, Bounds],
) -> Table:
    """Return the table with only those computed columns that a query uses.

    Every name in the query counts as used: the table may have too many columns, but not too few.
    """
    said = _texts_of(query)
    if query.where is not None:
        said |= set(_words(expression_of_text(query.where).form()))
    if query.by is not None:
        said |= set(groups[query.by].columns)
    used = {name: expression for name, expression in made.items() if name in said}
    held = {name: bound for name, bound in bounds.items() if name in used or name not in made}
    return (table.with_columns(**used) if used else table).with_bounds(held)


def _texts_of(query: Query) -> set[str]:
    """Yield every text in a question, without its presentation."""
    return set(_words(query.model_dump(exclude=set(SHOWN))))


def _words(written: object) -> Iterator[str]:
    match written:
        case str():
            yield written
        case dict():
            for part in cast("dict[str, object]", written).values():
                yield from _words(part)
        case list() | tuple():
            for part in cast("Sequence[object]", written):
                yield from _words(part)
        case _:
            pass
