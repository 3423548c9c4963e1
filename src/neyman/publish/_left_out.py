"""Which rows of a statistic are shown, and why others are not: one rule for every output."""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, TypeAlias, cast

from neyman.publish._facts import Fact, facts_of
from neyman.publish._presentation import Suppression
from neyman.released import TOO_FEW, Release, Side, is_amount, noise_alone

__all__ = [
    "COUNTS",
    "HiddenCount",
    "State",
    "beside",
    "hidden",
    "hidden_counts",
    "states_of",
    "word_of",
]

State: TypeAlias = Literal["shown", "marked", "too_few", "too_uncertain", "below"]
"""Of a row. Shown; shown and marked, for noise alone could have made it; and left out: for noise
alone could have made it, for its interval is too wide, for its count is too small."""

COUNTS: Final = ("count", "count_units", "crosstab")


def hidden(state: State) -> bool:
    """Return whether the numbers of a row are left out."""
    return state not in ("shown", "marked")


def word_of(state: State, rule: Suppression) -> str:
    """Return what stands in the place of a number that is left out."""
    match state:
        case "too_few":
            return TOO_FEW
        case "too_uncertain":
            return "too uncertain"
        case "below":
            return f"fewer than {rule.count_below:,}"
        case _:
            return ""


def states_of(release: Release, side: Side, rule: Suppression, scale: int = 1) -> list[State]:
    """Return the state of each row of a statistic.

    Args:
        release: the answer.
        side: the statistic.
        rule: of what is left out.
        scale: by how much numbers are multiplied before they are shown: 100 in percent.
    """
    rows = len(release.groups)
    flags = noise_alone(side.query, side.columns) or [False] * rows
    least, counts = rule.count_below, _counts(release, side)
    amount = is_amount(side.query)
    found: list[State] = []
    for row in range(rows):
        count = None if counts is None else counts[row]
        if least is not None and count is not None and not count >= least:
            found.append("below")
        elif flags[row] and not amount:
            found.append("too_few")
        elif _too_wide(side, row, rule, scale):
            found.append("too_uncertain")
        else:
            found.append("marked" if flags[row] else "shown")
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
    """Return the noisy count of each row: its own, or that of a count beside it."""
    own = side.value if side.query.get("statistic") in COUNTS else "count"
    if own in side.columns:
        return [_float(cell) for cell in side.columns[own]]
    for other in release.sides:
        if other.query.get("statistic") in COUNTS:
            return [_float(cell) for cell in other.columns[other.value]]
    return None


def _float(cell: object) -> float:
    return float(cast("float", cell))


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
        counts = list(map(_alike, table)) or _counts_beside(release, side)
        for count, state in zip(counts, states, strict=False):
            if hidden(state):
                yield count


def beside(release: Release, side: Side, found: Collection[HiddenCount]) -> list[bool]:
    """Return for each row of a statistic whether the count beside it is left out elsewhere."""
    if not found or "count" not in side.columns or side.value == "count":
        return [False] * len(release.groups)
    return [count in found for count in _counts_beside(release, side)]


def _counts_beside(release: Release, side: Side) -> list[HiddenCount]:
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
