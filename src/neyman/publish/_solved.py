"""Every group of a publication: what tells its numbers, and the numbers that are shown.

Rows with a known value of a column are no more than all rows. Where noise says otherwise, both show
the mean of the two, weighted by the inverse variances: the nearest numbers that fit. Their
intervals are around the estimates as they were, stretched to hold what is shown, so that they hold
as often as before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from neyman.publish._combined import Floats
from neyman.publish._facts import Fact
from neyman.publish._parts import Part
from neyman.publish._systems import Fixed, System

__all__ = ["Solved", "solved"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """One group.

    Attributes:
        fact: the number of its rows.
        held: the statistics about it, each with the place of the group there.
        system: what they tell.
        estimates: of its numbers.
        fixed: the number of rows, where a contingency table shows it.
        count: that is shown; None where it is not known.
        moved: whether that is not the estimate, so that it fits the count of other rows.
    """

    fact: Fact
    held: tuple[tuple[Part, int], ...]
    system: System
    estimates: Floats
    fixed: Fixed | None
    count: int | float | None
    moved: bool = False

    @property
    def combined(self) -> bool:
        """Whether more than one statistic is about it, or a table."""
        return len(self.held) > 1 or self.fixed is not None


def solved(parts: Sequence[Part], facts: Mapping[Fact, Fixed]) -> list[Solved]:
    """Return the groups of which more is known than one statistic tells.

    Args:
        parts: the statistics.
        facts: the numbers of rows that contingency tables show.
    """
    places: defaultdict[Fact, list[tuple[Part, int]]] = defaultdict(list)
    for part in parts:
        for group, fact in enumerate(part.facts):
            places[fact].append((part, group))
    nested: defaultdict[object, list[Fact]] = defaultdict(list)
    for fact in places:
        nested[_bundle(fact)].append(fact)
    for fact in facts:
        if fact not in places and _bundle(fact) in nested:
            nested[_bundle(fact)].append(fact)
    systems: dict[object, System] = {}
    found: list[Solved] = []
    for bundle in nested.values():
        groups = [
            _solve(fact, places.get(fact, []), facts.get(fact), systems)
            for fact in bundle
            if len(bundle) > 1 or len(places[fact]) > 1 or fact in facts
        ]
        found += _nested(groups)
    return [one for one in found if one.combined or one.moved]


def _bundle(fact: Fact) -> object:
    """Return what is equal for rows of which some may be among the others."""
    rows = fact.rows
    return rows.data, rows.limits, rows.units, fact.group


def _solve(
    fact: Fact,
    held: Sequence[tuple[Part, int]],
    fixed: Fixed | None,
    systems: dict[object, System],
) -> Solved:
    alike = (tuple(id(part) for part, _ in held), fixed and (fixed.stddev, fixed.law))
    if alike not in systems:
        systems[alike] = System.of([part for part, _ in held], fixed)
    system = systems[alike]
    estimates = system.estimates([group for _, group in held], fixed)
    count = None
    if system.counted:
        count = round(float(estimates[0])) if fixed is None else fixed.count
    return Solved(fact, tuple(held), system, estimates, fixed, count)


def _nested(groups: Sequence[Solved]) -> Iterator[Solved]:
    """Yield them with counts of which none is larger than that of rows that include its own."""
    blocks = [[one] for one in groups if one.count is not None]
    while True:
        pairs = [(x, y) for x in blocks for y in blocks if x is not y and _within(x, y)]
        wrong = [(x, y) for x, y in pairs if _level(x) > _level(y)]
        if not wrong:
            break
        first, second = max(wrong, key=lambda pair: _level(pair[0]) - _level(pair[1]))
        blocks = [block for block in blocks if block is not first and block is not second]
        blocks.append([*first, *second])
    yield from (one for one in groups if one.count is None)
    for block in blocks:
        if len(block) == 1:
            yield block[0]
            continue
        level = _level(block)
        whole = level if any(one.fixed is not None for one in block) else round(level)
        yield from (replace(one, count=whole, moved=True) for one in block)


def _within(first: Sequence[Solved], second: Sequence[Solved]) -> bool:
    """Whether rows of the first are among those of the second."""
    return any(x.fact.rows.known > y.fact.rows.known for x in first for y in second)


def _level(block: Sequence[Solved]) -> float:
    """Return the mean of the estimates, weighted; what a table shows stands."""
    fixed = [one.fixed.count for one in block if one.fixed is not None]
    if fixed:
        return float(fixed[0]) if fixed[0] != round(fixed[0]) else round(fixed[0])
    weights = [1 / one.system.variance for one in block]
    values = [float(one.estimates[0]) for one in block]
    return sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
