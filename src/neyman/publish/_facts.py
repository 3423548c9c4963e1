"""Which numbers of different answers are the same number before noise.

The number of rows of a group is one fact in two answers where it is of the same rows of the same
data in the same group, under contribution limits that leave the same of one unit's rows:

* no limit on all groups together cuts anything: then a unit adds min(its rows, r) to a group, so
  that r must be equal, and the group may stand in any list of groups;
* otherwise what is left in a group depends on all of them: the limits and the list must be equal,
  and, where the companion tells that limits cut rows of more than 1 % of the units, the columns by
  which rows of a unit are chosen.

A count beside a mean is of the rows where the column is known. That is another fact, unless the
column was declared to be complete.

`parts_of` takes a release apart into its statistics, each with its facts and its noisy integers.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, cast, final

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.numerics import rational
from neyman.released import Release, list_of, record_of

__all__ = [
    "Fact",
    "Part",
    "Rows",
    "Variable",
    "columns_in",
    "facts_of",
    "known_columns",
    "margin_fact",
    "parts_of",
    "variable_of",
]

# From this share of units on, limits cut rows of many.
_MANY: Final = 0.01
_NUMBERS: Final = ("int", "float")
_PER_UNIT: Final = ("count_units", "mean_per_unit")


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, or units, before they are put into groups.

    Attributes:
        data: of what, made how.
        limits: under which contribution limits.
        units: whether units are counted, and not their rows.
        known: the columns that must have a value; none that a group has one of anyway.
        of_all: whether, of a unit with too many rows, some are kept of all, and not of those with a
            value alone.
        choice: where limits cut much, by what the rows of a unit are told apart that are kept.
    """

    data: tuple[object, str]
    limits: str
    units: bool
    known: frozenset[str]
    of_all: bool
    choice: str = ""


@final
@dataclass(frozen=True, slots=True)
class Fact:
    """A number of rows, or units: those of one group.

    Attributes:
        rows: of which.
        group: by column its value, with its type; and what else a row must be in.
    """

    rows: Rows
    group: frozenset[tuple[str, ...]]


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A column as it is added up.

    Attributes:
        name: of the column.
        lower, upper, grid: of its bounds.
        centre: their middle, in grid steps.
        per: what is added up once, rows or units.
        choice: as of `Rows`.
    """

    name: str
    lower: Fraction
    upper: Fraction
    grid: Fraction
    centre: int
    per: str
    choice: str

    def at(self, steps: float | Fraction) -> float:
        """Return the value so many grid steps from the centre, within the bounds."""
        most = (self.upper - self.lower) / self.grid
        value = (self.centre + Fraction(min(max(steps, -most), most))) * self.grid
        return float(min(max(value, self.lower), self.upper))


def columns_in(query: Mapping[str, object]) -> tuple[str, ...]:
    """Return the columns that a statistic is of, all of which a row must have a value in."""
    parts = [query, query.get("other"), query.get("response"), *list_of(query.get("features"))]
    found = (record_of(part).get("column") for part in parts)
    return tuple(name for name in found if isinstance(name, str))


def variable_of(release: Release, query: Mapping[str, object]) -> Variable | None:
    """Return the column that a statistic adds up; None where there is none, or more than one.

    Args:
        release: the answer.
        query: of the statistic, which may be one of several.
    """
    names, bounds = columns_in(query), [rational(end) for end in list_of(query.get("bounds"))]
    grid = rational(query.get("grid"))
    if len(names) != 1 or len(bounds) != 2 or grid is None or None in bounds:
        return None
    lower, upper = cast("list[Fraction]", bounds)
    statistic = str(query.get("statistic"))
    per = statistic if statistic.endswith("per_unit") else "rows"
    if "total" in query:
        per += json.dumps(query["total"])
    centre = int(lower / grid + upper / grid) // 2
    return Variable(names[0], lower, upper, grid, centre, per, _choice(release))


def known_columns(release: Release, query: Mapping[str, object]) -> frozenset[str]:
    """Return the columns that rows must have a value in, which some in a group may not have.

    Args:
        release: the answer.
        query: of the statistic, which may be one of several.
    """
    sure = _numbers_in(record_of(release.query.get("keys")))
    of = (*columns_in(query), *map(str, list_of(query.get("columns"))))
    return frozenset(of) - sure - release.complete


def facts_of(release: Release, query: Mapping[str, object], groups: int) -> tuple[Fact, ...]:
    """Return the number of rows that a statistic has of each group.

    Args:
        release: the answer, with what it was read from.
        query: of the statistic, which may be one of several.
        groups: how many there are.
    """
    keys, columns = record_of(release.query.get("keys")), columns_in(query)
    named = [str(name) for name in list_of(keys.get("columns", keys.get("unknown")))]
    known = known_columns(release, query)
    statistic = query.get("statistic")
    each, among = _each(release.query), _among(keys, groups)
    most = record_of(release.query.get("unit")).get("max_rows")
    cut = isinstance(most, int) and (among is None or most < among * each)
    together = release.query.get("statistic") == "together"
    of_units = _unit(release.query) is not None
    made = [
        _made(release.query, {*named, *columns, str(_unit(release.query))}),
        statistic if statistic == "sum_per_unit" else "",
    ]
    source = None if release.drawn is None else release.drawn.source
    rows = Rows(
        data=(source, json.dumps(made, sort_keys=True)),
        limits=json.dumps(_limits(release.query, keys, each, cut=cut), sort_keys=True),
        # With one row in a group, a unit is counted once.
        units=of_units and (statistic in _PER_UNIT or each == 1),
        known=known,
        of_all=together and bool(known) and of_units,
        choice=_choice(release) if cut else "",
    )
    within = _margin(release.query, keys)
    length = max(map(len, release.columns.values()), default=0) // max(groups, 1)
    parts = _grouped(release, keys)
    return tuple(Fact(rows, frozenset({*parts(i * length), *within})) for i in range(groups))


def margin_fact(fact: Fact, keys: Mapping[str, object], names: Collection[str]) -> Fact:
    """Return the fact of a margin by some of the columns, from that of one of its cells."""
    kept = frozenset(part for part in fact.group if part[0] in names)
    return Fact(fact.rows, kept | frozenset(_within(keys, names)))


def _grouped(
    release: Release, keys: Mapping[str, object]
) -> Callable[[int], Iterator[tuple[str, ...]]]:
    """Return what yields a part for each column of the group in a row; a bin is its two ends.

    The group of rows without a value is one, whatever it is called. That of all other values is
    another with other keys of its column.
    """
    bins, rest = record_of(keys.get("bins")), record_of(keys.get("rest"))
    names = [str(name) for name in list_of(keys.get("columns", keys.get("unknown")))]
    kinds = dict(zip(names, list_of(keys.get("types")), strict=False))
    held = {name: (f"{name}_from", f"{name}_to") if name in bins else (name,) for name in names}
    held = {name: ends for name, ends in held.items() if {*ends} <= {*release.keys}}
    edges = {name: json.dumps(bins.get(name)) for name in held}
    beside = {name: _keys_beside(release, keys, name) for name in held if name in rest}

    def parts(row: int) -> Iterator[tuple[str, ...]]:
        for name, ends in held.items():
            cells = [release.columns[end][row] for end in ends]
            more, kind = record_of(rest.get(name)), str(kinds.get(name, type(cells[0]).__name__))
            if cells == [more.get("missing")]:
                yield name, "missing"
            elif cells == [more.get("other")]:
                yield name, "other", kind, *beside[name]
            else:
                yield name, kind, *map(str, cells), edges[name]

    return parts


def _keys_beside(release: Release, keys: Mapping[str, object], name: str) -> list[str]:
    """Return the keys of a column that may have a group of all others."""
    listed = record_of(keys.get("listed")).get(name)
    texts = set(map(str, list_of(listed) or release.columns[name]))
    return sorted(texts - set(map(str, record_of(record_of(keys.get("rest")).get(name)).values())))


def _numbers_in(keys: Mapping[str, object]) -> frozenset[str]:
    """Return the columns in which every row that is in a group surely has a number.

    A key that is a number, and a bin of numbers. Text need not be one, nor what a group of all
    other values holds.
    """
    names, kinds = list_of(keys.get("columns")), list_of(keys.get("types"))
    bins, rest = record_of(keys.get("bins")), record_of(keys.get("rest"))
    found: set[str] = set()
    for name, kind in zip(map(str, names), kinds, strict=False):
        edges = list_of(record_of(bins.get(name)).get("edges"))
        whole = bool(edges) and all("0x" in str(edge) for edge in edges)
        if (kind in _NUMBERS or whole) and name not in rest:
            found.add(name)
    return frozenset(found)


def _margin(query: Mapping[str, object], keys: Mapping[str, object]) -> list[tuple[str, ...]]:
    """Return what rows of a margin must be in: one of the groups that it adds up."""
    if "margin" not in query:
        return []
    return _within(keys, [str(name) for name in list_of(query["margin"])])


def _within(keys: Mapping[str, object], names: Collection[str]) -> list[tuple[str, ...]]:
    """Return the groups that rows must be in, where the columns left out do not have all rows."""
    rest = record_of(keys.get("rest"))
    whole = {name for name, more in rest.items() if {"missing", "other"} <= record_of(more).keys()}
    if {*names, *whole} >= {str(name) for name in list_of(keys.get("columns"))}:
        return []
    return [("", json.dumps(keys, sort_keys=True))]


def _each(query: Mapping[str, object]) -> int:
    """Return the most rows of a unit in a group."""
    unit = record_of(query.get("unit"))
    known = cast("list[tuple[object, int]]", unit.get("max_rows_per", []))
    limits = [unit.get("max_rows"), unit.get("max_rows_per_group"), *(most for _, most in known)]
    return min([most for most in limits if isinstance(most, int)], default=1)


def _limits(
    query: Mapping[str, object], keys: Mapping[str, object], each: int, *, cut: bool
) -> object:
    """Return what decides how many rows of a unit are left in a group."""
    unit = record_of(query.get("unit"))
    return [unit, keys] if cut else [unit.get("entity"), unit.get("through"), each]


def _choice(release: Release) -> str:
    """Return by what rows are told apart, where limits cut those of more than a few units.

    Of a unit with too many rows a pseudo-random part is kept, which depends on the columns that a
    question is of.
    """
    companion = release.companion
    if companion is None:
        return ""
    # At twice the half-width, for it decides silently, and of each release.
    surely = companion.cut - 2 * companion.cut_half_width
    if companion.of is None or surely <= _MANY * max(companion.units, 1):
        return ""
    query = release.query
    parts = [record_of(part) for part in list_of(query.get("parts"))] or [query]
    columns = dict.fromkeys(name for part in parts for name in columns_in(part))
    per_unit = str(query.get("statistic")).endswith(("units", "per_unit"))
    return json.dumps([*columns, per_unit, bool(query.get("parts"))])


def _among(keys: Mapping[str, object], groups: int) -> int | None:
    """Return how many groups limits are of; None where nobody declared them."""
    if not keys:
        return 1
    if "unknown" in keys:
        return None
    values, count = keys.get("values"), keys.get("count")
    return len(list_of(values)) if values is not None else count if type(count) is int else groups


def _unit(query: Mapping[str, object]) -> object:
    return record_of(query.get("unit")).get("entity")


def _made(query: Mapping[str, object], used: set[str]) -> list[object]:
    """Return the steps that decide which rows there are, and what is in the columns used.

    A column that is made and has no part in the question is left out, so that it may be there or
    not.
    """
    kept: list[object] = []
    for step in reversed([record_of(step) for step in list_of(query.get("made"))]):
        if step.get("step") != "with_columns":
            kept.append(dict(step))
            used |= set(_words(step))
            continue
        made = {name: form for name, form in record_of(step.get("columns")).items() if name in used}
        if made:
            kept.append({"columns": made, "version": step.get("version")})
            used |= set(_words(made))
    return kept[::-1]


def _words(form: object) -> Iterator[str]:
    """Yield every text in a record: the names of all columns are among them."""
    match form:
        case str():
            yield form
        case Mapping():
            for part in cast("Mapping[str, object]", form).values():
                yield from _words(part)
        case list() | tuple():
            for part in cast("list[object]", form):
                yield from _words(part)
        case _:
            return


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Part:
    """One statistic of one release.

    Attributes:
        place: of the release in its publication.
        name: of the release.
        release: itself.
        query: of the statistic.
        names: what its columns are called in the release, by what they are called alone.
        reading: of its integers.
        terms: what each is of.
        integers: noisy, shape (groups, width).
        noise: on each.
        facts: the number of rows of each group.
        variable: what it adds up; None of more columns, or none.
    """

    place: int
    name: str
    release: Release
    query: Mapping[str, object]
    names: Mapping[str, str]
    reading: SumsReading
    terms: tuple[Term | None, ...]
    integers: IntArray = field(repr=False)
    noise: Noise
    facts: tuple[Fact, ...] = field(repr=False)
    variable: Variable | None

    @property
    def law(self) -> str:
        """What the noise is called in the ledger."""
        return str(self.release.mechanism.get("mechanism"))

    @property
    def chosen(self) -> bool:
        """Whether a group is shown because its own noisy count is large."""
        return self.release.threshold is not None

    @property
    def counts(self) -> tuple[int, int] | None:
        """Which integer is the number of rows, and times what; None where none is."""
        rows = [(i, term.rows) for i, term in enumerate(self.terms) if term and not term.total]
        return rows[0] if rows else None

    def columns(self) -> Columns:
        """The columns of the statistic, called as if it had been asked alone."""
        return {own: self.release.columns[held] for own, held in self.names.items()}


def parts_of(name: str, place: int, release: Release) -> Iterator[Part]:
    """Yield the statistics of a release whose integers can be put together with others."""
    drawn = release.drawn
    if drawn is None:
        return
    readings = drawn.reading.apart()
    width = sum(size for size, _ in readings)
    if not width or not drawn.integers.size:
        return
    table, start = drawn.integers.reshape(-1, width), 0
    for (size, reading), side in zip(readings, release.sides, strict=True):
        if isinstance(reading, SumsReading):
            yield Part(
                place=place,
                name=name,
                release=release,
                query=side.query,
                names={own: held for own, held in side.names.items() if own not in release.keys},
                reading=reading,
                terms=reading.terms,
                integers=table[:, start : start + size],
                noise=drawn.noise,
                facts=facts_of(release, side.query, len(table)),
                variable=variable_of(release, side.query),
            )
        start += size
