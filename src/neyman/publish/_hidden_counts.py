"""Counts that a rule leaves out of one table, where they stand beside a number of another."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from neyman.publish._facts import Fact, facts_of
from neyman.publish._left_out import COUNTS, State, hidden
from neyman.released import Release, Side

__all__ = ["HiddenCount", "beside", "hidden_counts"]

HiddenCount: TypeAlias = tuple[object, ...]
"""The number of rows, or units, of a group; also of those of them that have a value."""


def hidden_counts(
    release: Release, side: Side, states: Sequence[State], table: Sequence[Fact]
) -> Iterator[HiddenCount]:
    """Yield the counts that a table leaves out.

    Args:
        release: as it was released, in its own order.
        side: one of its statistics.
        states: of its rows.
        table: what each row of a contingency table counts; none of any other answer.
    """
    if side.query.get("statistic") in COUNTS:
        counts = list(map(_alike, table)) or _counts(release, side)
        for count, state in zip(counts, states, strict=False):
            if hidden(state):
                yield count


def beside(release: Release, side: Side, found: Collection[HiddenCount]) -> list[bool]:
    """Return for each row of a statistic whether the count beside it is left out elsewhere."""
    if not found or "count" not in side.columns or side.value == "count":
        return [False] * len(release.groups)
    return [count in found for count in _counts(release, side)]


def _counts(release: Release, side: Side) -> list[HiddenCount]:
    """Return the count of the group of each row."""
    groups = [
        tuple(release.columns[key][row] for key in release.keys)
        for row in range(len(release.groups))
    ]
    starts = [row for row, group in enumerate(groups) if row == 0 or groups[row - 1] != group]
    # The same of the rows in the group, and of those with a value.
    per_unit = str(side.query.get("statistic")).endswith(("_units", "_per_unit"))
    query = {"statistic": "count_units" if per_unit else "count"}
    facts = facts_of(release, query, len(starts))
    each = len(groups) // max(len(starts), 1)
    return [_alike(facts[row // each]) for row in range(len(groups))]


def _alike(fact: Fact) -> HiddenCount:
    return fact.rows.data[1], fact.rows.limits, fact.rows.units, fact.group
