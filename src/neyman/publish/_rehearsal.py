"""What a rehearsal finds: every number of a spec on public rows, and a verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from neyman.aggregate import Columns
from neyman.displayed import Displayed
from neyman.publish._query_on_table import QueryOnTable
from neyman.released import group_name, text_of
from neyman.tables import Entity

__all__ = [
    "NOTICE",
    "Judged",
    "Rehearsal",
    "RehearsedGroup",
    "RehearsedNumber",
    "Searched",
    "verdict",
]

NOTICE: Final = "REHEARSAL: not private. Public rows only."
# Limits whose error is at most so many times the least are as good.
_NEAR: Final = 1.05


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedGroup:
    """One number of one group.

    Attributes:
        key: of the group, by column; empty where there is one group of all.
        truth: without limits, and within bounds that move nothing; None where there is none.
        limited: what the question gives, without noise.
        half_width: of the interval of its noise; None where nothing is known then.
        held: the share of the runs whose interval holds the truth.
        total_held: the same of the interval of noise and sampling, where there is one.
    """

    key: Mapping[str, str | int | float | bool]
    truth: float | None = None
    limited: float | None = None
    half_width: float | None = None
    held: float | None = None
    total_held: float | None = None

    @property
    def off(self) -> float:
        """How far limits and bounds move it, in half-widths; 0 where there is no truth."""
        if self.truth is None or self.limited is None:
            return 0.0
        distance = abs(self.limited - self.truth)
        if not distance or self.half_width is None:
            return 0.0
        return distance / self.half_width if self.half_width else float("inf")

    def to_json(self) -> dict[str, object]:
        """Return it, JSON-able."""
        return {
            "key": dict(self.key),
            "truth": self.truth,
            "limited": self.limited,
            "half_width": self.half_width,
            "held": self.held,
            "total_held": self.total_held,
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """How far an answer is from the truth for each limit: RMSE = sqrt(bias^2 + noise^2).

    Attributes:
        now: the limit that the query has.
        most: the most rows of one unit among the public ones.
        rmse: by limit, over all groups.
    """

    now: int
    most: int
    rmse: Mapping[int, float]

    @property
    def best(self) -> int:
        """The limit of the least RMSE."""
        return min(self.rmse, key=lambda limit: (self.rmse[limit], limit))

    @property
    def flat(self) -> tuple[int, ...]:
        """The limits within 5 % of the best."""
        least = self.rmse[self.best]
        return tuple(limit for limit, error in self.rmse.items() if error <= _NEAR * least)

    @property
    def times(self) -> float:
        """How many times the least RMSE that of the query's own limit is; 1 where it has none."""
        least = self.rmse[self.best]
        return self.rmse.get(self.now, least) / least if least else 1.0

    def __str__(self) -> str:
        flat = ", ".join(f"{limit:,}" for limit in self.flat)
        more = f"; within 5 %: {flat}" if len(self.flat) > 1 else ""
        return f"best max_rows: {self.best:,} (RMSE {self.rmse[self.best]:.2g}{more})"

    def to_json(self) -> dict[str, object]:
        """Return it, JSON-able."""
        return {
            "now": self.now,
            "most": self.most,
            "rmse": {str(limit): error for limit, error in self.rmse.items()},
            "best": self.best,
            "flat": list(self.flat),
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedNumber:
    """One number of a query, over all its groups.

    Attributes:
        entry: of the query.
        number: what the answer calls it.
        groups: all of them.
        kept: the share of the rows that limits keep; of units in groups, where a unit counts once.
        moved: the share of the values that bounds move; None where nothing tells.
        runs: how many answers with noise were looked at.
        searched: other limits, where they were tried.
        verdict: in words.
        note: what the truth is, where it is not what it should be.
    """

    entry: str
    number: str
    groups: tuple[RehearsedGroup, ...]
    kept: float | None
    moved: float | None
    runs: int
    searched: Searched | None
    verdict: str
    note: str = ""

    @property
    def median(self) -> RehearsedGroup:
        """The group in the middle, by how far limits and bounds move it."""
        return sorted(self.groups, key=_badness)[(len(self.groups) - 1) // 2]

    @property
    def worst(self) -> RehearsedGroup:
        """The group that limits and bounds move the farthest, or that the noise hides most."""
        return max(self.groups, key=_badness)

    def to_json(self) -> dict[str, object]:
        """Return it with all its groups, JSON-able."""
        return {
            "entry": self.entry,
            "number": self.number,
            "kept": self.kept,
            "moved": self.moved,
            "runs": self.runs,
            "verdict": self.verdict,
            "note": self.note,
            "searched": None if self.searched is None else self.searched.to_json(),
            "groups": [group.to_json() for group in self.groups],
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal(Displayed):
    """What a spec gives on public rows. Nothing was charged, and it is not private.

    Attributes:
        title: of the spec.
        rows: every number of every query.
        notes: what was not done.
    """

    title: str
    rows: tuple[RehearsedNumber, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_columns(self) -> Columns:
        """Return a line for each number: the group in the middle, and the worst beside it."""
        made = [_line(row) for row in self.rows]
        names = list(made[0]) if made else []
        found = {name: [line[name] for line in made] for name in names}
        return {name: cells for name, cells in found.items() if any(cells)}

    def verdicts(self) -> tuple[str, ...]:
        """Return what is to be said of each number."""
        return tuple(
            f"{row.entry}, {row.number}: {row.verdict}{f' ({row.note})' * bool(row.note)}"
            for row in self.rows
        )

    def to_text(self) -> str:
        """Return it for people."""
        told = text_of(self.to_columns(), keys=2)
        return "\n".join([NOTICE, *self.notes, "", told, "", *self.verdicts()])

    def to_json(self) -> dict[str, object]:
        """Return everything, all groups of it, JSON-able."""
        return {
            "format": "neyman.rehearsal",
            "version": 1,
            "notice": NOTICE,
            "title": self.title,
            "notes": list(self.notes),
            "rows": [row.to_json() for row in self.rows],
        }


def _badness(group: RehearsedGroup) -> tuple[bool, float, float]:
    width = group.half_width or 0.0
    # Of groups that nothing moves, the one whose noise is large beside its number.
    return group.half_width is None, group.off, width / max(abs(group.limited or 0.0), 1e-9)


def _line(row: RehearsedNumber) -> dict[str, str]:
    middle, worst, several = row.median, row.worst, len(row.groups) > 1
    held, off = _share(middle.held), _times(middle.off)
    if several:
        held, off = f"{held}; {_share(worst.held)}", f"{off}; {_times(worst.off)}"
    return {
        "query": row.entry,
        "number": row.number,
        "groups": str(len(row.groups)),
        "truth": _number(middle.truth),
        "within limits": _number(middle.limited),
        "kept": _share(row.kept),
        "moved": _share(row.moved),
        "noise ±": "unknown" if middle.half_width is None else _number(middle.half_width),
        "off/±": off,
        "held": held,
        "total held": _both((middle.total_held, worst.total_held)[: 1 + several]),
        "middle; worst group": f"{group_name(middle.key)}; {group_name(worst.key)}"
        if several
        else "",
    }


def _both(shares: Sequence[float | None]) -> str:
    return "" if None in shares else "; ".join(map(_share, shares))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _times(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.3g} %"


# Of the intervals.
_LEVEL = 0.95
# From here on an interval says nothing beside what was known before.
_ALL = 0.9
# Numbers whose own size tells whether the noise is large.
_SIZED = ("count", "sum", "units", "variance", "standard_deviation")
_BOUNDED = ("mean", "quantile")
_CHANGE = "change the {} by more than its noise interval covers"


class Judged(NamedTuple):
    """A number of one group.

    Attributes:
        limited: under limits and bounds.
        bounded: without limits.
        truth: without bounds, too.
        half_width: of the noise; None where nothing is known.
        held: the share of the runs whose interval held the truth; None where there is none.
    """

    limited: float | None
    bounded: float | None
    truth: float | None
    half_width: float | None
    held: float | None = None


def verdict(
    asked: QueryOnTable, name: str, judged: Sequence[Judged], best: Searched | None, runs: int = 0
) -> str:
    """Return what a reader has to know of one number, in all groups together, after some runs."""
    if not judged:
        return "there are no groups"
    hidden = [_hidden(asked, name, one) for one in judged]
    better = best is not None and best.times > _NEAR
    said: list[str] = []
    if all(hidden):
        return f"the noise hides the {name} at this budget" + (f"; {best}" if better else "")
    cut = sum(_moved(one.limited, one.bounded, one.half_width) for one in judged)
    if cut:
        said.append(_limits(asked, name, best, _of(cut, len(judged))))
    elif best is not None and better:
        said.append(
            f"max_rows = {best.now:,} has {best.times:.2g} times the error of the best limit; "
            f"{best}"
        )
    bound = sum(_moved(one.bounded, one.truth, one.half_width) for one in judged)
    if bound:
        said.append(f"the bounds {_CHANGE.format(name)}{_of(bound, len(judged))}")
    missed = [one.held for one in judged if one.held is not None and _misses(one.held, runs)]
    if missed and not (cut or bound):
        said.append(
            f"limits and bounds move the {name} so far that its interval held the truth in only "
            f"{100 * min(missed):.0f} % of the runs{_of(len(missed), len(judged))}"
        )
    if any(hidden):
        said.append(f"too few rows to tell in {sum(hidden)} of {len(judged)} groups")
    return "; ".join(said) or "ok"


def _misses(held: float, runs: int) -> bool:
    """Whether so few intervals hold the truth that chance alone does not explain it."""
    return held < _LEVEL - 3 * math.sqrt(_LEVEL * (1 - _LEVEL) / max(runs, 1))


def _moved(one: float | None, other: float | None, half_width: float | None) -> bool:
    if one is None or other is None or half_width is None:
        return False
    # Two readings of the same rows differ by their rounding.
    return abs(one - other) > max(half_width, 1e-9 * abs(other))


def _limits(asked: QueryOnTable, name: str, best: Searched | None, where: str) -> str:
    unit = asked.table.unit
    if best is None or not isinstance(unit, Entity):
        return f"the limits {_CHANGE.format(name)}{where}"
    if best.now < best.most:
        return (
            f"the limits cut too much{where}: one {unit.entity} has up to {best.most:,} rows, and "
            f"at most {best.now:,} of them count; {best}"
        )
    return f"the limit of rows in each group cuts too much{where}, whatever max_rows is; {best}"


def _of(some: int, every: int) -> str:
    return f" in {some} of {every} groups" if every > 1 else ""


def _hidden(asked: QueryOnTable, name: str, one: Judged) -> bool:
    if one.half_width is None:
        return True
    scale = _scale(asked, name, one)
    return scale is not None and one.half_width > _ALL * scale


def _scale(asked: QueryOnTable, name: str, one: Judged) -> float | None:
    """Return the half-width that says nothing; None where each finite one says something."""
    if name.startswith("correlation"):
        return 1.0
    if name.startswith(_BOUNDED):
        bounds = asked.table.bounds
        held = [column for column in asked.query.bounds if column in bounds]
        named = [column for column in held if name.endswith(f"_{column}")] or held
        return float(bounds[named[0]].upper - bounds[named[0]].lower) / 2 if named else None
    if name.startswith(_SIZED) and one.limited is not None:
        return abs(one.limited)
    return None
