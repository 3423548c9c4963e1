"""From which releases a number is combined, in sentences."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from neyman.printable import listed
from neyman.publish._facts import columns_in
from neyman.publish._parts import Part
from neyman.publish._solved import Solved
from neyman.publish._tables_agree import Tabled
from neyman.released import counted, limits_said, units_of

__all__ = ["Told", "combined_notes", "other_notes", "table_note"]


@final
@dataclass(slots=True)
class Told:
    """What the numbers of a statistic are combined from.

    Attributes:
        part: the statistic.
        counts: the releases that the numbers of rows are made of, in order.
        shown: those of them that show these numbers; the others show totals alone.
        totals: those that tell the totals.
        groups: how many groups are combined.
        moved: in how many the number of rows was moved to fit that of others.
    """

    part: Part
    counts: dict[str, None] = field(default_factory=dict[str, None])
    shown: dict[str, None] = field(default_factory=dict[str, None])
    totals: dict[str, None] = field(default_factory=dict[str, None])
    groups: int = 0
    moved: int = 0

    def add(self, one: Solved) -> None:
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


def table_note(name: str, table: Tabled | None) -> Iterator[str]:
    """Say from which releases a contingency table is made, if there are others."""
    if table is not None and table.names != (name,):
        yield f"The counts are combined from {_releases(table.names)}, and add up."


def combined_notes(told: Sequence[Told]) -> list[str]:
    """Say it of each statistic of a release, each sentence once."""
    return list(dict.fromkeys(sentence for one in told for sentence in _sentences(one)))


def other_notes(parts: Sequence[Part]) -> dict[int, list[str]]:
    """Say, by the identity of a statistic, which counts of its groups are of other rows, and why.

    They are not combined; a reader who sees two numbers of a group must know it.
    """
    alike: defaultdict[object, dict[int, Part]] = defaultdict(dict)
    for part in parts if len(parts) > 1 else ():
        for fact in part.facts if part.counts is not None else ():
            alike[fact.rows.data, counted(part.query), fact.group][id(part)] = part
    met: defaultdict[int, dict[int, Part]] = defaultdict(dict)
    for bundle in alike.values():
        for own in bundle:
            met[own] |= {other: part for other, part in bundle.items() if other != own}
    return {id(part): list(_others(part, [*met[id(part)].values()])) for part in parts}


def _others(part: Part, others: Sequence[Part]) -> Iterator[str]:
    own, limits = part.facts[0].rows, limits_said(part.query)
    under: defaultdict[str | None, dict[str, None]] = defaultdict(dict)
    for other in others:
        rows = other.facts[0].rows
        if rows.known == own.known and rows.limits != own.limits:
            under[limits_said(other.query)][other.name] = None
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
            f"Limits cut rows of many {units_of(part.query)}, and "
            f"{_releases(tuple(dict.fromkeys(chosen)))} can keep other rows of them: the numbers "
            "are not combined. They would be with higher limits."
        )
    found = [(other.name, other.facts[0].rows) for other in others]
    whole = [name for name, rows in found if not rows.known and rows.limits == own.limits]
    if own.known and whole:
        yield (
            f"These counts are of {_rows(part)}; those of all {counted(part.query)} are in "
            f"{listed(tuple(dict.fromkeys(whole)))}."
        )


def _sentences(told: Told) -> Iterator[str]:
    part, some = told.part, _some(told.groups, told.part)
    if told.counts:
        yield f"The counts of {_rows(part)}{some} are {_from(told)}."
    if len(told.totals) > 1:
        column = listed(columns_in(part.query))
        yield f"The total of {column}{some} is combined from {_releases(tuple(told.totals))}."
    if told.moved:
        where = _some(told.moved, part).strip() or ("in every group" if part.release.keys else "")
        said = "noise made the count of rows with a known value larger than the count of all rows"
        there = " there" if where else ""
        sentence = f"{where}, {said}" if where else said
        yield f"{sentence[0].upper()}{sentence[1:]}. Both show the same number{there}."


def _from(told: Told) -> str:
    """Return what counts are made of."""
    names = tuple(told.counts)
    if len(names) > 1:
        same = ", which show the same number" if told.counts.keys() <= told.shown.keys() else ""
        return f"combined from {_releases(names)}{same}"
    if names == (told.part.name,):
        return "combined from several statistics of this release"
    return f"those of {_releases(names)}"


def _some(groups: int, part: Part) -> str:
    """Return which part of the groups is meant, if it is not all."""
    return "" if groups == len(part.facts) else f" in {groups:,} of {len(part.facts):,} groups"


def _rows(part: Part) -> str:
    known = [name for name in columns_in(part.query) if name in part.facts[0].rows.known]
    of = f" with a known {listed(known)}" if known else ""
    what = units_of(part.query) if part.facts[0].rows.units else counted(part.query)
    return f"{what}{of}"


def _releases(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"the release {names[0]}"
    return f"{len(names):,} releases ({', '.join(names)})"
