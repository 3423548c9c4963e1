"""Which counts of different answers are the same count before noise.

The number of rows of a group is the same fact in two answers if both use the same rows of the same
data in the same group, under contribution limits that keep the same rows of a unit:

* If no limit over all groups drops rows, a unit adds min(its rows, r) to a group. Then r must be
  equal, and the lists of groups may differ.
* Otherwise the rows that remain in a group depend on all groups. Then the limits and the lists must
  be equal and, if the companion shows that limits drop rows of more than 1 % of the units, also the
  columns by which the rows of a unit are chosen.

A count beside a mean counts rows with a known value. That is another fact, unless the column was
declared to be complete.

`parts_of` splits a release into its statistics, each with its facts and its noisy integers.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, cast, final

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.released import RecordedGroups, RecordedQuestion, RecordedUnit, Release

__all__ = ["Fact", "Part", "Variable", "facts_of", "known_columns", "margin_fact", "parts_of"]

# If limits drop rows of more than this share of units, the choice of rows matters.
_MANY: Final = 0.01
_NUMBERS: Final = ("int", "float")
_PER_UNIT: Final = ("count_units", "mean_per_unit")


@final
@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows, or units, before grouping.

    Attributes:
        data: the data and their steps.
        limits: the contribution limits.
        units: whether units are counted instead of rows.
        known: the columns that must have a value, except those that every group has.
        of_all: whether a limit chooses among all rows of a unit, not only those with a value.
        choice: if limits drop many rows, the columns by which the kept rows are chosen.
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
    """The number of rows, or units, of one group.

    Attributes:
        rows: the rows.
        group: the value of each column, with its type, and further conditions.
    """

    rows: _Rows
    group: frozenset[tuple[str, ...]]


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A column in a sum.

    Attributes:
        name: the name of the column.
        lower, upper, grid: its bounds.
        centre: their middle, in grid steps.
        per: whether rows or units are added up.
        choice: as for `_Rows`.
    """

    name: str
    lower: Fraction
    upper: Fraction
    grid: Fraction
    centre: int
    per: str
    choice: str

    def at(self, steps: float | Fraction) -> float:
        """Return the value at some grid steps from the centre, within the bounds."""
        most = (self.upper - self.lower) / self.grid
        value = (self.centre + Fraction(min(max(steps, -most), most))) * self.grid
        return float(min(max(value, self.lower), self.upper))


def _variable_of(release: Release, question: RecordedQuestion) -> Variable | None:
    """Return the column that a statistic adds up; None if there is not exactly one.

    Args:
        release: the answer.
        question: the question of the statistic, which may be one of several.
    """
    names, grid = question.summed, question.grid
    if len(names) != 1 or question.bounds is None or grid is None:
        return None
    lower, upper = question.bounds
    per = question.statistic if question.statistic.endswith("per_unit") else "rows"
    if "total" in question.record:
        per += json.dumps(question.record["total"])
    centre = int(lower / grid + upper / grid) // 2
    return Variable(names[0], lower, upper, grid, centre, per, _choice(release))


def known_columns(release: Release, question: RecordedQuestion) -> frozenset[str]:
    """Return the columns in which rows need a value, and may have none.

    Args:
        release: the answer.
        question: the question of the statistic, which may be one of several.
    """
    return frozenset(question.summed) - _numbers_in(release.question.groups) - release.complete


def facts_of(release: Release, question: RecordedQuestion, number: int) -> tuple[Fact, ...]:
    """Return the facts of a statistic, one for each group.

    Args:
        release: the answer, with its noisy integers.
        question: the question of the statistic, which may be one of several.
        number: the number of groups.
    """
    whole, statistic = release.question, question.statistic
    groups, unit = whole.groups, whole.unit
    known = known_columns(release, question)
    each, among = _most_in_a_group(unit), _most_groups(whole, number)
    most = unit.max_rows
    cut = most is not None and (among is None or most < among * each)
    used = {*groups.columns, *question.summed, str(unit.entity)}
    made = [_steps_used(whole, used), statistic if statistic == "sum_per_unit" else ""]
    limits = (
        [unit.record, groups.record] if cut else [unit.entity, unit.record.get("through"), each]
    )
    rows = _Rows(
        data=(
            None if release.drawn is None else release.drawn.source,
            json.dumps(made, sort_keys=True),
        ),
        limits=json.dumps(limits, sort_keys=True),
        # With one row in a group, counting rows counts units.
        units=unit.entity is not None and (statistic in _PER_UNIT or each == 1),
        known=known,
        of_all=whole.together and bool(known) and unit.entity is not None,
        choice=_choice(release) if cut else "",
    )
    within = [] if whole.margin is None else _within(groups, whole.margin)
    length = max(map(len, release.columns.values()), default=0) // max(number, 1)
    parts = _grouped(release)
    return tuple(Fact(rows, frozenset({*parts(i * length), *within})) for i in range(number))


def margin_fact(fact: Fact, groups: RecordedGroups, names: Collection[str]) -> Fact:
    """Return the fact of a margin, from that of one of its cells."""
    kept = frozenset(part for part in fact.group if part[0] in names)
    return Fact(fact.rows, kept | frozenset(_within(groups, names)))


def _grouped(release: Release) -> Callable[[int], Iterator[tuple[str, ...]]]:
    """Return a function that yields the columns of a row's group; a bin is its two ends.

    The group of missing values is the same under any name. The group of other values depends on
    the keys of its column.
    """
    groups = release.question.groups
    bins, rest, kinds = groups.bins, groups.rest, groups.types
    held = {n: (f"{n}_from", f"{n}_to") if n in bins else (n,) for n in groups.columns}
    held = {name: ends for name, ends in held.items() if {*ends} <= {*release.keys}}
    edges = {name: json.dumps(bins.get(name)) for name in held}
    beside = {name: _keys_beside(release, name) for name in held if name in rest}

    def parts(row: int) -> Iterator[tuple[str, ...]]:
        for name, ends in held.items():
            cells = [release.columns[end][row] for end in ends]
            more, kind = rest.get(name, {}), kinds.get(name, type(cells[0]).__name__)
            if cells == [more.get("missing")]:
                yield name, "missing"
            elif cells == [more.get("other")]:
                yield name, "other", kind, *beside[name]
            else:
                yield name, kind, *map(str, cells), edges[name]

    return parts


def _keys_beside(release: Release, name: str) -> list[str]:
    """Return the keys of a column, which decide its group of other values."""
    groups = release.question.groups
    texts = set(map(str, groups.listed_keys(name) or release.columns[name]))
    return sorted(texts - set(map(str, groups.rest[name].values())))


def _numbers_in(groups: RecordedGroups) -> frozenset[str]:
    """Return the columns in which every row of a group certainly has a number.

    These have numeric keys or bins, and no group of other values.
    """
    found: set[str] = set()
    for name, kind in groups.types.items() if groups.declared else ():
        edges = groups.edges(name)
        whole = bool(edges) and all("0x" in str(edge) for edge in edges)
        if (kind in _NUMBERS or whole) and name not in groups.rest:
            found.add(name)
    return frozenset(found)


def _within(groups: RecordedGroups, names: Collection[str]) -> list[tuple[str, ...]]:
    """Return the groups that the rows of a margin must be in.

    None if the columns that are summed over have a group for every row.
    """
    whole = {name for name, more in groups.rest.items() if {"missing", "other"} <= more.keys()}
    if {*names, *whole} >= {*groups.columns}:
        return []
    return [("", json.dumps(groups.record, sort_keys=True))]


def _most_in_a_group(unit: RecordedUnit) -> int:
    """Return the most rows of a unit in a group."""
    limits = [unit.max_rows, unit.max_rows_per_group, *(most for _, most in unit.max_rows_per)]
    return min([most for most in limits if most is not None], default=1)


def _most_groups(question: RecordedQuestion, number: int) -> int | None:
    """Return the number of groups under the limits; None if they are not declared."""
    groups = question.groups
    if not groups.record:
        return 1
    if not groups.declared:
        return None
    return number if groups.size is None else groups.size


def _choice(release: Release) -> str:
    """Return the columns by which rows are chosen, if limits drop rows of many units.

    The rows that are kept are pseudo-random, and depend on the columns of the question.
    """
    companion, question = release.companion, release.question
    if companion is None:
        return ""
    # At twice the half-width, because it decides silently, and for each release.
    surely = companion.cut - 2 * companion.cut_half_width
    if companion.of is None or surely <= _MANY * max(companion.units, 1):
        return ""
    columns = dict.fromkeys(name for part in question.parts for name in part.summed)
    return json.dumps([*columns, question.per_unit, "parts" in question.record])


def _steps_used(question: RecordedQuestion, used: set[str]) -> list[object]:
    """Return the steps that decide the rows, and the values of the columns used.

    A computed column that the question does not use is ignored.
    """
    kept: list[object] = []
    for step in reversed(question.steps):
        if step.get("step") != "with_columns":
            kept.append(dict(step))
            used |= set(_words(step))
            continue
        columns = cast("Mapping[str, object]", step.get("columns") or {})
        made = {name: form for name, form in columns.items() if name in used}
        if made:
            kept.append({"columns": made, "version": step.get("version")})
            used |= set(_words(made))
    return kept[::-1]


def _words(form: object) -> Iterator[str]:
    """Yield every text in a record, among them the names of all columns."""
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
        place: the place of the release in its publication.
        name: the name of the release.
        release: the release.
        question: the question of the statistic.
        names: the names of its columns in the release, by their names alone.
        reading: turns its integers into numbers.
        terms: the meaning of each integer.
        integers: the noisy integers, of shape (groups, width).
        noise: the noise on each.
        facts: the facts of its groups.
        variable: the column that it adds up; None if there is not exactly one.
    """

    place: int
    name: str
    release: Release
    question: RecordedQuestion
    names: Mapping[str, str]
    reading: SumsReading
    terms: tuple[Term | None, ...]
    integers: IntArray = field(repr=False)
    noise: Noise
    facts: tuple[Fact, ...] = field(repr=False)
    variable: Variable | None

    @property
    def law(self) -> str:
        """The name of the noise in the ledger."""
        return str(self.release.mechanism.get("mechanism"))

    @property
    def chosen(self) -> bool:
        """Whether groups appear only if their noisy count is large."""
        return self.release.threshold is not None

    @property
    def counts(self) -> tuple[int, int] | None:
        """The integer that is the number of rows, with its factor; None if there is none."""
        rows = [(i, term.rows) for i, term in enumerate(self.terms) if term and not term.total]
        return rows[0] if rows else None

    def columns(self) -> Columns:
        """The columns of the statistic, named as if it stood alone."""
        return {own: self.release.columns[held] for own, held in self.names.items()}


def parts_of(name: str, place: int, release: Release) -> Iterator[Part]:
    """Yield the statistics of a release whose integers can be combined with others."""
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
                question=side.question,
                names={own: held for own, held in side.names.items() if own not in release.keys},
                reading=reading,
                terms=reading.terms,
                integers=table[:, start : start + size],
                noise=drawn.noise,
                facts=facts_of(release, side.question, len(table)),
                variable=_variable_of(release, side.question),
            )
        start += size
