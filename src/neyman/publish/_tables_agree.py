"""Contingency tables of a publication, and the counts of the same cells in other answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, final

import numpy as np

from neyman.aggregate import Columns
from neyman.publish._crosstab import CrosstabReading, Measured
from neyman.publish._facts import Fact, facts_of, margin_fact
from neyman.publish._parts import Part
from neyman.publish._systems import Fixed
from neyman.released import Drawn, Release

__all__ = ["Tabled", "table_facts", "tabled"]

_NORMAL, _LAPLACE = "gaussian", "laplace"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """A contingency table, put together from all that is known of its cells and margins.

    Attributes:
        columns: without the keys.
        names: of the releases that it is made of.
        fixed: what it shows of each fact.
    """

    columns: Columns
    names: tuple[str, ...]
    fixed: Mapping[Fact, Fixed]


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A released table.

    Attributes:
        name: of the release.
        release: itself.
        drawn: its noisy integers.
        reading: of them.
        facts: of the cells, then of each margin, in the order of their rows.
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
        own = facts_of(cells, cells.query, len(by))
        keys = cast("Mapping[str, object]", release.query["keys"])
        margins: list[tuple[Fact, ...]] = []
        for part in drawn.reading.layout.parts:
            first: list[int] = np.unique(part.index, return_index=True)[1].tolist()
            margins.append(tuple(margin_fact(own[cell], keys, part.names) for cell in first))
        return _Table(name, release, drawn, drawn.reading, tuple(margins))

    def own(self) -> list[Measured]:
        """What the table itself counted."""
        return self.reading.measured(self.drawn.integers, self.drawn.noise.stddev)

    def more(self, part: Part) -> Measured | None:
        """Return the counts of a statistic, if they are all those of the cells, or of a margin."""
        if part.counts is None or part.chosen:
            return None
        at, weight = part.counts
        places = {fact: place for place, fact in enumerate(part.facts)}
        layout = self.reading.layout
        for margin, facts in zip(layout.parts, self.facts, strict=True):
            if not all(fact in places for fact in facts):
                continue
            axes = [layout.by.columns.index(name) for name in margin.names]
            shape = [len(layout.by.domains[axis]) for axis in axes]
            counts = part.integers[[places[fact] for fact in facts], at].reshape(shape) / weight
            variance = (part.noise.stddev / weight) ** 2
            return frozenset(axes), np.transpose(counts, np.argsort(axes)), variance
        return None


def table_facts(release: Release) -> tuple[Fact, ...]:
    """Return what each row of a contingency table counts; nothing of any other answer."""
    table = _Table.of("", release)
    return () if table is None else tuple(fact for margin in table.facts for fact in margin)


def tabled(named: Sequence[tuple[str, Release]], parts: Sequence[Part]) -> dict[str, Tabled]:
    """Put each contingency table together with all that counts its cells, or one of its margins.

    Counts of some of the cells are left out: with them the cells were no longer equally well known,
    and least squares would have no closed form. Where they stand, the table's are shown.
    """
    found = [_Table.of(name, release) for name, release in named]
    tables = [table for table in found if table is not None]
    return {table.name: _put_together(table, tables, parts) for table in tables}


def _put_together(table: _Table, tables: Sequence[_Table], parts: Sequence[Part]) -> Tabled:
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
    # That of which least is known.
    worst = max(laws, key=lambda law: (law != _NORMAL, law != _LAPLACE))
    return Tabled(columns, told, dict(_shown(table, columns, worst, told)))


def _shown(
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
