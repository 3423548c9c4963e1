"""Combines answers that measure the same number, and describes how."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Self, cast, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.printable import listed
from neyman.publish._cells import NoisyMargin, noisy_margin
from neyman.publish._crosstab import CrosstabReading
from neyman.publish._least_squares import Fixed, SolvedGroup, solved
from neyman.publish._same_counts import Fact, Part, facts_of, margin_fact, parts_of
from neyman.released import Drawn, Release

__all__ = ["reconciled", "table_facts"]

_NORMAL, _LAPLACE = "gaussian", "laplace"


@final
@dataclass(frozen=True, slots=True, eq=False)
class _ReconciledTable:
    """A contingency table, combined from all releases that measure its cells or margins.

    Attributes:
        columns: its columns, without the keys.
        names: the names of the combined releases.
        fixed: the numbers that it shows, by fact.
    """

    columns: Columns
    names: tuple[str, ...]
    fixed: Mapping[Fact, Fixed]


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A released contingency table.

    Attributes:
        name: the name of the release.
        release: the release.
        drawn: its noisy integers.
        reading: turns them into numbers.
        facts: the facts of the cells, then of each margin, in the order of their rows.
    """

    name: str
    release: Release
    drawn: Drawn
    reading: CrosstabReading
    facts: tuple[tuple[Fact, ...], ...]

    @staticmethod
    def of(name: str, release: Release) -> "_Table | None":
        drawn = release.drawn
        if drawn is None or not isinstance(drawn.reading, CrosstabReading):
            return None
        by = drawn.reading.layout.by
        columns, query = by.to_columns(), dict(release.query) | {"statistic": "count"}
        cells = replace(release, columns=columns, keys=tuple(columns), query=query)
        own = facts_of(cells, cells.question, len(by))
        margins: list[tuple[Fact, ...]] = []
        for part in drawn.reading.layout.parts:
            first: list[int] = np.unique(part.index, return_index=True)[1].tolist()
            margins.append(
                tuple(margin_fact(own[cell], cells.question.groups, part.names) for cell in first)
            )
        return _Table(name, release, drawn, drawn.reading, tuple(margins))

    def own(self) -> list[NoisyMargin]:
        """The counts of the table itself."""
        return self.reading.measured(self.drawn.integers, self.drawn.noise.stddev)

    def more(self, part: Part) -> NoisyMargin | None:
        """Return the counts of a statistic if they are all cells, or a whole margin."""
        if part.counts is None or part.chosen:
            return None
        at, weight = part.counts
        places = {fact: place for place, fact in enumerate(part.facts)}
        layout = self.reading.layout
        for margin, facts in zip(layout.parts, self.facts, strict=True):
            if not all(fact in places for fact in facts):
                continue
            counts = part.integers[[places[fact] for fact in facts], at] / weight
            return noisy_margin(layout.by, margin.names, counts, (part.noise.stddev / weight) ** 2)
        return None


def table_facts(release: Release) -> tuple[Fact, ...]:
    """Return the facts of the rows of a contingency table; none for other answers."""
    table = _Table.of("", release)
    return () if table is None else tuple(fact for margin in table.facts for fact in margin)


def _reconciled_tables(
    named: Sequence[tuple[str, Release]], parts: Sequence[Part]
) -> dict[str, _ReconciledTable]:
    """Combine each contingency table with all counts of its cells, or of one of its margins.

    Counts of only some cells are not used: with them cells would have different variances, and
    least squares would have no closed form. Such counts show the numbers of the table.
    """
    found = [_Table.of(name, release) for name, release in named]
    tables = [table for table in found if table is not None]
    return {table.name: _put_together(table, tables, parts) for table in tables}


def _put_together(
    table: _Table, tables: Sequence[_Table], parts: Sequence[Part]
) -> _ReconciledTable:
    release, reading = table.release, table.reading
    same = [
        other
        for other in tables
        if other.facts[0] == table.facts[0]
        and other.reading.layout.by.columns == reading.layout.by.columns
    ]
    measured = [one for other in same for one in other.own()]
    names, laws = [other.name for other in same], [_law(other.release) for other in same]
    for part in parts:
        more = table.more(part)
        if more is not None:
            measured.append(more)
            names.append(part.name)
            laws.append(part.law)
    columns = {name: release.columns[name] for name in release.columns if name not in release.keys}
    if len(measured) > len(table.own()):
        whole = any(other.reading.whole for other in same)
        normal = all(law == _NORMAL for law in laws)
        columns = replace(reading, whole=whole).put_together(measured, release.confidence, normal)
    told = tuple(dict.fromkeys(names))
    # The least precise one.
    worst = max(laws, key=lambda law: (law != _NORMAL, law != _LAPLACE))
    return _ReconciledTable(columns, told, dict(_table_counts(table, columns, worst, told)))


def _table_counts(
    table: _Table, columns: Columns, law: str, names: tuple[str, ...]
) -> Iterator[tuple[Fact, Fixed]]:
    facts = [fact for margin in table.facts for fact in margin]
    cells = [cast("list[float]", columns[name]) for name in Fixed.columns]
    for fact, row in zip(facts, zip(*cells, strict=True), strict=True):
        count, lower, upper, unbiased, stddev = row
        shown = int(count) if count == round(count) else count
        yield fact, Fixed(shown, lower, upper, unbiased, stddev, law, names)


def _law(release: Release) -> str:
    return str(release.mechanism.get("mechanism"))


_COUNTS: Final = ("count", "count_units")
_MEANS: Final = ("mean", "mean_per_unit")

Cells = dict[str, Sequence[object]]


def _shown_columns(part: Part, groups: Mapping[int, SolvedGroup]) -> Iterator[tuple[int, Cells]]:
    """Yield the columns of each group, named as if the statistic stood alone.

    Intervals are around the estimates, extended to include the numbers shown. Intervals of
    variances, and of everything else that depends on many integers, are as wide as with the
    statistic's own noise, which is larger in every direction (Anderson's inequality).

    Args:
        part: the statistic.
        groups: the groups, by their places in it.
    """
    read = _read_together(part, groups) if part.reading.joint else _read_alone(part, groups)
    for (group, one), found in zip(groups.items(), read, strict=True):
        yield group, found | _count(part, one, found) | _mean(part, one, found)


def _read_alone(part: Part, groups: Mapping[int, SolvedGroup]) -> Iterator[Cells]:
    """Return the columns of groups whose integers have their own noise."""
    for one in groups.values():
        integers = np.array(one.integers(part), np.int64)
        found = part.reading.columns(integers, one.noise(part), part.release.confidence)
        yield cast("Cells", found)


def _read_together(part: Part, groups: Mapping[int, SolvedGroup]) -> Iterator[Cells]:
    """Return the columns of groups with the noise of the statistic, as an upper bound."""
    values = part.integers[list(groups)].astype(np.float64)
    places = [i for i, term in enumerate(part.terms) if term is not None]
    for row, one in zip(values, groups.values(), strict=True):
        # With noise that is not Gaussian, a sum of less noise can be larger; so can a count that
        # does not use the statistic's own.
        if part.noise.normal and one.system.uses(part):
            row[places] = (one.system.forms(part) @ one.estimates)[places]
    # They are treated as integers.
    whole = cast("IntArray", values.reshape(-1))
    columns = cast("Cells", part.reading.columns(whole, part.noise, part.release.confidence))
    length = len(next(iter(columns.values()))) // len(groups)
    for place in range(len(groups)):
        yield {name: cells[place * length :][:length] for name, cells in columns.items()}


def _count(part: Part, one: SolvedGroup, found: Cells) -> Cells:
    """Return the number of rows; for a count with its interval."""
    if part.counts is None:
        return {}
    count, fixed = one.shown[0], one.fixed
    counts: Cells = {name: [count] * len(found[name]) for name in _COUNTS if name in found}
    if part.question.statistic not in _COUNTS:
        return counts
    if fixed is not None:
        ends: Cells = {"stddev": [fixed.stddev], "lower": [fixed.lower], "upper": [fixed.upper]}
    else:
        low, high = one.count_ends(part)
        ends = {"lower": [low], "upper": [high]}
    for name, outer in (("lower", min), ("upper", max)):
        if f"total_{name}" in found:
            both = (ends[name][0], found[f"total_{name}"][0])
            ends[f"total_{name}"] = [outer(cast("tuple[float, float]", both))]
    return counts | ends


def _mean(part: Part, one: SolvedGroup, found: Cells) -> Cells:
    """Return the mean of the numbers shown, with its intervals."""
    name = next((name for name in _MEANS if name in found), None)
    if name is None or part.variable is None or part.variable not in one.system.variables:
        return {}
    shown = one.shown
    count, total = shown[0], shown[1 + one.system.variables.index(part.variable)]
    mean = part.variable.at(Fraction(total) / Fraction(count)) if count > 0 else math.nan
    before = "mean_" if part.reading.joint else ""
    low, high, total_low, total_high = (
        cast("float", found[f"{before}{end}"][0])
        for end in ("lower", "upper", "total_lower", "total_upper")
    )
    if part.reading.joint:
        low, high = (part.variable.at(end) for end in one.mean_ends(part))
    if count > 0:
        low, high = min(low, mean), max(high, mean)
    return {
        name: [mean],
        f"{before}lower": [low],
        f"{before}upper": [high],
        f"{before}total_lower": [min(total_low, low)],
        f"{before}total_upper": [max(total_high, high)],
    }


@final
@dataclass(slots=True)
class _Sources:
    """The sources of the numbers of a statistic.

    Attributes:
        part: the statistic.
        counts: the releases that the numbers of rows come from, in order.
        shown: those of them that show these numbers; the others show only totals.
        totals: the releases that the totals come from.
        groups: the number of combined groups.
        moved: the number of groups whose count was changed to fit others.
    """

    part: Part
    counts: dict[str, None] = field(default_factory=dict[str, None])
    shown: dict[str, None] = field(default_factory=dict[str, None])
    totals: dict[str, None] = field(default_factory=dict[str, None])
    groups: int = 0
    moved: int = 0

    @classmethod
    def of(cls, part: Part, groups: Iterable[SolvedGroup]) -> Self:
        """Return the sources of groups with combined numbers."""
        found = cls(part)
        for one in groups:
            found.add(one)
        return found

    def add(self, one: SolvedGroup) -> None:
        """Add a group."""
        self.moved += one.moved
        if not (one.combined and one.system.changes(self.part)):
            return
        self.groups += 1
        counts = [part.name for part in one.system.counted_from]
        self.shown |= dict.fromkeys(part.name for part in one.system.telling)
        if self.part.counts is not None:
            self.counts |= dict.fromkeys(counts if one.fixed is None else one.fixed.names)
            self.shown |= dict.fromkeys(() if one.fixed is None else one.fixed.names)
        if self.part.variable in one.system.variables:
            own = [part.name for part in one.system.parts if part.variable == self.part.variable]
            self.totals |= dict.fromkeys(own)


def _table_note(name: str, table: _ReconciledTable | None) -> Iterator[str]:
    """Return a sentence on the releases that a contingency table combines, if there are others."""
    if table is not None and table.names != (name,):
        yield f"The counts are combined from {_releases(table.names)}, and add up."


def _combined_notes(told: Sequence[_Sources]) -> list[str]:
    """Return the sentences on the sources of a release, each once."""
    return list(dict.fromkeys(sentence for one in told for sentence in _sentences(one)))


def _other_notes(parts: Sequence[Part]) -> dict[int, list[str]]:
    """Return sentences on counts of the same groups that are not combined, and why.

    Readers who see two numbers for a group must know the reason.
    """
    alike: defaultdict[object, dict[int, Part]] = defaultdict(dict)
    for part in parts if len(parts) > 1 else ():
        for fact in part.facts if part.counts is not None else ():
            alike[fact.rows.data, part.question.counted, fact.group][id(part)] = part
    met: defaultdict[int, dict[int, Part]] = defaultdict(dict)
    for bundle in alike.values():
        for own in bundle:
            met[own] |= {other: part for other, part in bundle.items() if other != own}
    return {id(part): list(_others(part, [*met[id(part)].values()])) for part in parts}


def _others(part: Part, others: Sequence[Part]) -> Iterator[str]:
    own, limits = part.facts[0].rows, part.question.limits
    under: defaultdict[str | None, dict[str, None]] = defaultdict(dict)
    for other in others:
        rows = other.facts[0].rows
        if rows.known == own.known and rows.limits != own.limits:
            under[other.question.limits][other.name] = None
    for said, names in under.items():
        how = "beside other groups" if said == limits else said
        yield (
            f"The same groups are counted under other limits ({how}) by {_releases(tuple(names))}: "
            "other rows count there, so the numbers are not combined."
        )
    chosen = [
        other.name
        for other in others
        if replace(other.facts[0].rows, choice=own.choice) == own != other.facts[0].rows
    ]
    if chosen:
        yield (
            f"Limits cut rows of many {part.question.unit.many}, and "
            f"{_releases(tuple(dict.fromkeys(chosen)))} can keep other rows of them: the numbers "
            "are not combined. They would be with higher limits."
        )
    found = [(other.name, other.facts[0].rows) for other in others]
    whole = [name for name, rows in found if not rows.known and rows.limits == own.limits]
    if own.known and whole:
        yield (
            f"These counts are of {_rows(part)}; those of all {part.question.counted} are in "
            f"{listed(tuple(dict.fromkeys(whole)))}."
        )


def _sentences(sources: _Sources) -> Iterator[str]:
    part, some = sources.part, _some(sources.groups, sources.part)
    if sources.counts:
        yield f"The counts of {_rows(part)}{some} are {_from(sources)}."
    if len(sources.totals) > 1:
        column = listed(part.question.summed)
        yield f"The total of {column}{some} is combined from {_releases(tuple(sources.totals))}."
    if sources.moved:
        where = _some(sources.moved, part).strip() or (
            "in every group" if part.release.keys else ""
        )
        said = "noise made the count of rows with a known value larger than the count of all rows"
        there = " there" if where else ""
        sentence = f"{where}, {said}" if where else said
        yield f"{sentence[0].upper()}{sentence[1:]}. Both show the same number{there}."


def _from(sources: _Sources) -> str:
    """Return the sources of counts, in words."""
    names = tuple(sources.counts)
    if len(names) > 1:
        same = (
            ", which show the same number" if sources.counts.keys() <= sources.shown.keys() else ""
        )
        return f"combined from {_releases(names)}{same}"
    if names == (sources.part.name,):
        return "combined from several statistics of this release"
    return f"those of {_releases(names)}"


def _some(groups: int, part: Part) -> str:
    """Return the number of groups, in words, if it is not all."""
    return "" if groups == len(part.facts) else f" in {groups:,} of {len(part.facts):,} groups"


def _rows(part: Part) -> str:
    known = [name for name in part.question.summed if name in part.facts[0].rows.known]
    of = f" with a known {listed(known)}" if known else ""
    what = part.question.unit.many if part.facts[0].rows.units else part.question.counted
    return f"{what}{of}"


def _releases(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"the release {names[0]}"
    return f"{len(names):,} releases ({', '.join(names)})"


def reconciled(names: Sequence[str], releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return releases that show one number for each fact.

    If several releases measure the number of rows of a group, or the total of a column over them,
    all show the estimate with the least variance, as a whole number. Means and totals use the
    numbers shown, so a mean times its count is the total. A contingency table still adds up, and
    the others show its numbers. Numbers that only one release measures do not change.

    Args:
        names: the names of the releases.
        releases: the releases of a publication.

    Guarantee: post-processing, which is free.
    Error: intervals are exact for Gaussian noise, up to rounding, and conservative for any other
        (`neyman.publish._least_squares`). If contribution limits drop rows, two statistics of one
        group may keep different rows of a unit. Intervals do not cover that.
    """
    alone = [release.alone for release in releases]
    # The same draw twice is no new information; equal answers of one entry are one draw.
    first = [alone.index(release) for release in alone]
    kept = sorted(set(first))
    made = dict(zip(kept, _one_number_each([(names[i], alone[i]) for i in kept]), strict=True))
    return tuple(
        made[i]
        if i == place
        else replace(alone[place], columns=made[i].columns, notes=made[i].notes)
        for place, i in enumerate(first)
    )


def _one_number_each(named: Sequence[tuple[str, Release]]) -> list[Release]:
    """Return releases with different draws that show one number for each fact."""
    parts = [
        part
        for place, (name, release) in enumerate(named)
        for part in parts_of(name, place, _with_companion(release, named))
    ]
    tables = _reconciled_tables(
        [(name, _with_companion(release, named)) for name, release in named], parts
    )
    facts = {fact: fixed for table in tables.values() for fact, fixed in table.fixed.items()}
    answers = [_Answer.of(release, tables.get(name)) for name, release in named]
    changed: defaultdict[int, dict[int, SolvedGroup]] = defaultdict(dict)
    for one in solved(parts, facts):
        for part, group in one.held:
            if one.moved or one.system.changes(part):
                changed[id(part)][group] = one
    for part in parts:
        groups = changed[id(part)]
        for group, cells in _shown_columns(part, groups) if groups else ():
            answers[part.place].put(part, group, cells)
    others = _other_notes(parts)
    for place, (name, _) in enumerate(named):
        own = [part for part in parts if part.place == place]
        combined = _combined_notes([_Sources.of(part, changed[id(part)].values()) for part in own])
        notes = [note for part in own for note in others[id(part)]]
        answers[place].notes += dict.fromkeys(
            [*_table_note(name, tables.get(name)), *combined, *notes]
        )
    return [answer.release() for answer in answers]


def _with_companion(release: Release, named: Sequence[tuple[str, Release]]) -> Release:
    """Return a release with the companion of its batch, if another release has it."""
    batch = [other for _, other in named if other.entry == release.entry]
    at = release.companion_at
    if at is None or at >= len(batch) or release.companion is not None:
        return release
    return replace(release, companion=batch[at].companion)


@final
@dataclass(slots=True)
class _Answer:
    """A release while it is changed."""

    own: Release
    columns: dict[str, list[object]]
    notes: list[str] = field(default_factory=list[str])

    @staticmethod
    def of(release: Release, table: _ReconciledTable | None) -> "_Answer":
        columns = release.columns | ({} if table is None else table.columns)
        return _Answer(release, {name: list[object](cells) for name, cells in columns.items()})

    def put(self, part: Part, group: int, cells: Mapping[str, Sequence[object]]) -> None:
        for own, column in cells.items():
            start = group * len(column)
            self.columns[part.names[own]][start : start + len(column)] = column

    def release(self) -> Release:
        if not self.notes:
            return self.own
        return replace(self.own, columns=_columns(self.columns), notes=tuple(self.notes))


def _columns(columns: Mapping[str, list[object]]) -> Columns:
    return dict(columns)  # pyright: ignore[reportReturnType]
