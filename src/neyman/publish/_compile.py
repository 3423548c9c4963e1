"""From a spec to a plan."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import cast

from neyman.divided import SHARE
from neyman.errors import InvalidParameter, InvalidTable, SpecError
from neyman.ledger import store_of
from neyman.mechanisms import Thresholded
from neyman.printable import printable
from neyman.publish._bins_of import BinsOf, domain_of
from neyman.publish._form import expression_of
from neyman.publish._joins_of import JoinOf, PublicJoinOf
from neyman.publish._noise import NOISES, USUAL
from neyman.publish._plan import Plan, Step
from neyman.publish._queries import Query
from neyman.publish._section import Cell
from neyman.publish._spec import Spec
from neyman.publish._unknown_of import UnknownOf
from neyman.tables import Bounds, Expression, Keys, Table, UnknownKeys, open_table

__all__ = ["plan"]


def plan(spec: Spec, folder: Path) -> Plan:
    """Compile every query and calibrate its noise; paths are relative to `folder`.

    Raises:
        InvalidTable: if the table, its unit, bounds or keys are not usable as declared.
        SpecError: if a noise does not go with the integers that its query releases.
        InvalidParameter: if a share of the budget calls for noise that cannot be drawn.
    """
    table = _opened(spec, folder)
    made = {name: expression_of(form) for name, form in spec.derive.items()}
    bounds = {name: column.bounds() for name, column in spec.columns.items()}
    # Here that mistakes are found in what no query uses, too.
    with _named("derive"):
        whole = table.with_columns(**made) if made else table
    with _named("columns"):
        whole = whole.with_bounds(bounds)
    groups: dict[str, Keys | UnknownKeys] = {
        **{name: _keys(name, domains) for name, domains in spec.keys.items()},
        **{name: _unknown(name, found) for name, found in spec.unknown.items()},
    }
    for query in spec.query:
        if query.by is not None:
            with _named(f"query {query.entry!r}, by = {query.by!r}"):
                for column in groups[query.by].columns:
                    whole.view.schema[column]
    steps = tuple(
        _step(query, _made(query, groups, table, made, bounds), groups) for query in spec.query
    )
    return Plan(
        title=spec.title,
        steps=steps,
        files=_files(spec, folder),
        ledger=store_of(spec.budget.ledger, folder),
        cap=spec.budget.cap,
        unit=steps[0].aggregate.unit,
        neighbors=steps[0].aggregate.sensitivity.neighbors,
        delta_for_groups=spec.budget.delta_for_groups,
        like=None if spec.data.like is None else folder / spec.data.like,
        spread={
            name: (column.spread[0], column.spread[1])
            for name, column in spec.columns.items()
            if column.spread is not None
        },
    )


def _opened(spec: Spec, folder: Path) -> Table:
    """Open the table, and join what is joined."""
    with _named("unit"):
        unit = spec.unit.unit(folder)
    data = spec.data
    spilled = data.temporary_directory
    with _named("[data] and [unit]"):
        table = open_table(
            folder / data.path,
            unit=unit,
            max_table_rows=data.max_table_rows,
            memory_limit=data.memory_limit,
            temporary_directory=None if spilled is None else folder / spilled,
        )
    for place, join in _joins(spec):
        with _named(place):
            table = join.joined(table, folder)
    return table


def _joins(spec: Spec) -> Iterator[tuple[str, JoinOf | PublicJoinOf]]:
    """Return the joins with their places, in the order that they are made in."""
    for private in (*spec.join, None):
        for name, join in spec.join_public.items():
            if join.before == private:
                yield f"join_public.{printable(name)}", join
        if private is not None:
            yield f"join.{printable(private)}", spec.join[private]


def _files(spec: Spec, folder: Path) -> tuple[Path, ...]:
    """Return every file that is read."""
    joined = [*spec.join.values(), *spec.join_public.values()]
    paths = [spec.data.path, *(join.path for join in joined)]
    return (*(folder / path for path in paths), *spec.unit.files(folder))


def _made(
    query: Query,
    groups: Mapping[str, Keys | UnknownKeys],
    table: Table,
    made: Mapping[str, Expression],
    bounds: Mapping[str, Bounds],
) -> Table:
    """Return the table with the columns that a query uses, so that others leave its record alone.

    A name counts as used wherever the query says it: one too many is made, never one too few.
    """
    said = set(_words(query.model_dump()))
    if query.by is not None:
        said |= set(groups[query.by].columns)
    used = {name: expression for name, expression in made.items() if name in said}
    held = {name: bound for name, bound in bounds.items() if name in used or name not in made}
    return (table.with_columns(**used) if used else table).with_bounds(held)


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


def _keys(name: str, domains: Mapping[str, list[Cell] | BinsOf]) -> Keys:
    try:
        return Keys({column: domain_of(declared) for column, declared in domains.items()})
    except (InvalidParameter, InvalidTable) as error:
        raise SpecError(f"keys.{name}: {error}") from error


def _unknown(name: str, found: UnknownOf) -> UnknownKeys:
    try:
        return found.keys
    except InvalidTable as error:
        raise SpecError(f"unknown.{name}: {error}") from error


def _limited(table: Table, query: Query) -> Table:
    """Return the rows that a query is about, with its own limits where it has some."""
    if query.where is not None:
        table = table.where(expression_of(query.where))
    if not query.limited:
        return table
    return table.bounded(max_rows=query.max_rows, max_rows_per_group=query.max_rows_per_group)


def _step(query: Query, table: Table, groups: Mapping[str, Keys | UnknownKeys]) -> Step:
    by = None if query.by is None else groups[query.by]
    ((key, share),) = query.spends.items()
    with _named(f"query {query.entry!r}"):
        aggregate = query.ask(_limited(table, query), by)
    noise = NOISES[query.noise or USUAL[key]]
    mechanism = noise.calibrated(query.entry, aggregate.sensitivity, key, share)
    if query.delta is not None:
        with _named(f"query {query.entry!r}"):
            mechanism = Thresholded.calibrate(
                aggregate.sensitivity, noise=mechanism, delta=query.delta
            )
    share = SHARE if query.companion is None else Fraction(query.companion)
    return Step(
        entry=query.entry,
        aggregate=aggregate,
        mechanism=mechanism,
        companion=share,
        batch=query.batch,
    )


@contextmanager
def _named(place: str) -> Generator[None]:
    """Say of a mistake which part of the spec it is in."""
    try:
        yield
    except InvalidParameter as error:
        raise SpecError(f"{place}: {error}") from error
    except InvalidTable as error:
        raise type(error)(f"{place}: {error}") from error
