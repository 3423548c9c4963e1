"""Which rows of a statistic are suppressed, and why: one rule for every output."""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias, cast

from neyman.publish._presentation import RowState, Suppression
from neyman.publish._same_counts import Fact, facts_of
from neyman.released import RecordedQuestion, Release, Side

__all__ = [
    "HiddenCount",
    "beside",
    "hidden_counts",
    "states_of",
]


def states_of(release: Release, side: Side, rule: Suppression, scale: int = 1) -> list[RowState]:
    """Return the state of each row of a statistic.

    Args:
        release: the answer.
        side: the statistic.
        rule: the rule that suppresses rows.
        scale: the factor of the numbers as presented: 100 for per cent.
    """
    rows = len(release.groups)
    flags = side.noise_alone or [False] * rows
    least, counts = rule.count_below, _counts(release, side)
    amount = side.question.amount
    found: list[RowState] = []
    for row in range(rows):
        count = None if counts is None else counts[row]
        if least is not None and count is not None and not count >= least:
            found.append(RowState.BELOW)
        elif flags[row] and not amount:
            found.append(RowState.TOO_FEW)
        elif _too_wide(side, row, rule, scale):
            found.append(RowState.TOO_UNCERTAIN)
        else:
            found.append(RowState.MARKED if flags[row] else RowState.SHOWN)
    return found


def _too_wide(side: Side, row: int, rule: Suppression, scale: int) -> bool:
    """Return whether the noise interval of a row is wider than the rule allows."""
    if rule.interval_wider_than is None and rule.interval_wider_than_share is None:
        return False
    if "lower" not in side.columns or "upper" not in side.columns:
        return False
    value, lower, upper = (
        scale * _float(side.columns[name][row]) for name in (side.value, "lower", "upper")
    )
    width = upper - lower
    allowed = [math.inf]
    if rule.interval_wider_than is not None:
        allowed.append(float(rule.interval_wider_than))
    if rule.interval_wider_than_share is not None:
        allowed.append(float(rule.interval_wider_than_share) * abs(value))
    return not width <= min(allowed)


def _counts(release: Release, side: Side) -> Sequence[float] | None:
    """Return the noisy count of each row: its own, or that of another statistic."""
    own = side.value if side.question.counts else "count"
    if own in side.columns:
        return [_float(cell) for cell in side.columns[own]]
    for other in release.sides:
        if other.question.counts:
            return [_float(cell) for cell in other.columns[other.value]]
    return None


def _float(cell: object) -> float:
    return float(cast("float", cell))


HiddenCount: TypeAlias = tuple[object, ...]
"""A key for the number of rows, or units, of a group, also of those with a value."""


def hidden_counts(
    release: Release, side: Side, states: Sequence[RowState], table: Sequence[Fact]
) -> Iterator[HiddenCount]:
    """Yield the counts that a table suppresses.

    Args:
        release: the release, in its own order.
        side: one of its statistics.
        states: the states of its rows.
        table: the counts of the rows of a contingency table; empty for other answers.
    """
    if side.question.counts:
        counts = list(map(_alike, table)) or _counts_beside(release, side)
        for count, state in zip(counts, states, strict=False):
            if state.left_out:
                yield count


def beside(release: Release, side: Side, found: Collection[HiddenCount]) -> list[bool]:
    """Return for each row whether the count beside it is suppressed in another table."""
    if not found or "count" not in side.columns or side.value == "count":
        return [False] * len(release.groups)
    return [count in found for count in _counts_beside(release, side)]


def _counts_beside(release: Release, side: Side) -> list[HiddenCount]:
    """Return the key of the count of each row's group."""
    groups = [
        tuple(release.columns[key][row] for key in release.keys)
        for row in range(len(release.groups))
    ]
    starts = [row for row, group in enumerate(groups) if row == 0 or groups[row - 1] != group]
    # The same key for the rows in the group and for those with a value.
    counted = "count_units" if side.question.per_unit else "count"
    facts = facts_of(release, RecordedQuestion.of({"statistic": counted}), len(starts))
    each = len(groups) // max(len(starts), 1)
    return [_alike(facts[row // each]) for row in range(len(groups))]


def _alike(fact: Fact) -> HiddenCount:
    return fact.rows.data[1], fact.rows.limits, fact.rows.units, fact.group
