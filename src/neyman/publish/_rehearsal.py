"""The results of a rehearsal: every number of a spec on public rows, with a verdict."""

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
# A limit with at most this multiple of the least error is as good.
_NEAR: Final = 1.05


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedGroup:
    """One number of one group.

    Attributes:
        key: the key of the group, by column; empty without groups.
        truth: the exact number without limits and without clipping; None if there is none.
        limited: the exact number under limits and bounds.
        half_width: half the width of the noise interval; None if it is infinite.
        held: the share of runs whose noise interval contains the truth.
        total_held: the same for the interval for noise and sampling, if there is one.
    """

    key: Mapping[str, str | int | float | bool]
    truth: float | None = None
    limited: float | None = None
    half_width: float | None = None
    held: float | None = None
    total_held: float | None = None

    @property
    def off(self) -> float:
        """The error from limits and bounds, in half-widths; 0 if there is no truth."""
        if self.truth is None or self.limited is None:
            return 0.0
        distance = abs(self.limited - self.truth)
        if not distance or self.half_width is None:
            return 0.0
        return distance / self.half_width if self.half_width else float("inf")

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
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
    """The error of an answer for each limit: RMSE = sqrt(bias^2 + noise^2).

    Attributes:
        now: the limit of the query.
        most: the most public rows of one unit.
        rmse: the RMSE over all groups, by limit.
    """

    now: int
    most: int
    rmse: Mapping[int, float]

    @property
    def best(self) -> int:
        """The limit with the least RMSE."""
        return min(self.rmse, key=lambda limit: (self.rmse[limit], limit))

    @property
    def flat(self) -> tuple[int, ...]:
        """The limits within 5 % of the best."""
        least = self.rmse[self.best]
        return tuple(limit for limit, error in self.rmse.items() if error <= _NEAR * least)

    @property
    def times(self) -> float:
        """The RMSE of the query's limit, divided by the least RMSE; 1 if it has none."""
        least = self.rmse[self.best]
        return self.rmse.get(self.now, least) / least if least else 1.0

    def __str__(self) -> str:
        flat = ", ".join(f"{limit:,}" for limit in self.flat)
        more = f"; within 5 %: {flat}" if len(self.flat) > 1 else ""
        return f"best max_rows: {self.best:,} (RMSE {self.rmse[self.best]:.2g}{more})"

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
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
        entry: the id of the query.
        number: the name of the number in the answer.
        groups: the number in each group.
        kept: the share of rows that limits keep; if a unit counts once, the share of its groups.
        moved: the share of values that bounds clip; None if it is unknown.
        runs: the number of noisy answers.
        searched: the errors of other limits, if they were tried.
        verdict: the verdict in words.
        note: a remark on the truth, if it is not fully exact.
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
        """The median group, by the error from limits and bounds."""
        return sorted(self.groups, key=_badness)[(len(self.groups) - 1) // 2]

    @property
    def worst(self) -> RehearsedGroup:
        """The group with the largest error from limits and bounds, or with the largest noise."""
        return max(self.groups, key=_badness)

    def to_json(self) -> dict[str, object]:
        """Return the number with all its groups, JSON-able."""
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
    """The results of a spec on public rows. Nothing was charged, and they are not private.

    Attributes:
        title: the title of the spec.
        rows: every number of every query.
        notes: remarks on checks that were not possible.
    """

    title: str
    rows: tuple[RehearsedNumber, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_columns(self) -> Columns:
        """Return a line for each number, with its median group and its worst group."""
        made = [_line(row) for row in self.rows]
        names = list(made[0]) if made else []
        found = {name: [line[name] for line in made] for name in names}
        return {name: cells for name, cells in found.items() if any(cells)}

    def verdicts(self) -> tuple[str, ...]:
        """Return the verdict of each number."""
        return tuple(
            f"{row.entry}, {row.number}: {row.verdict}{f' ({row.note})' * bool(row.note)}"
            for row in self.rows
        )

    def to_text(self) -> str:
        """Return the rehearsal as text."""
        told = text_of(self.to_columns(), keys=2)
        return "\n".join([NOTICE, *self.notes, "", told, "", *self.verdicts()])

    def to_json(self) -> dict[str, object]:
        """Return everything with all groups, JSON-able."""
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
    # Among groups without such an error, the one with the largest relative noise.
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


# The coverage of the intervals.
_LEVEL = 0.95
# A half-width above this share of the scale is uninformative.
_ALL = 0.9
# Numbers whose noise is judged by their own size.
_SIZED = ("count", "sum", "units", "variance", "standard_deviation")
_BOUNDED = ("mean", "quantile")
_CHANGE = "change the {} by more than its noise interval covers"


class Judged(NamedTuple):
    """A number of one group.

    Attributes:
        limited: the exact number under limits and bounds.
        bounded: the exact number under bounds, without limits.
        truth: the exact number without limits and bounds.
        half_width: half the width of the noise interval; None if it is infinite.
        held: the share of runs whose interval contains the truth; None if there is none.
    """

    limited: float | None
    bounded: float | None
    truth: float | None
    half_width: float | None
    held: float | None = None


def verdict(
    asked: QueryOnTable, name: str, judged: Sequence[Judged], best: Searched | None, runs: int = 0
) -> str:
    """Return the verdict on one number, over all groups."""
    if not judged:
        return "there are no groups"
    hidden = [_hidden(asked, name, one) for one in judged]
    better = best is not None and best.times > _NEAR
    findings: list[str] = []
    if all(hidden):
        return f"the noise hides the {name} at this budget" + (f"; {best}" if better else "")
    cut = sum(_moved(one.limited, one.bounded, one.half_width) for one in judged)
    if cut:
        findings.append(_limits(asked, name, best, _of(cut, len(judged))))
    elif best is not None and better:
        findings.append(
            f"max_rows = {best.now:,} has {best.times:.2g} times the error of the best limit; "
            f"{best}"
        )
    bound = sum(_moved(one.bounded, one.truth, one.half_width) for one in judged)
    if bound:
        findings.append(f"the bounds {_CHANGE.format(name)}{_of(bound, len(judged))}")
    missed = [one.held for one in judged if one.held is not None and _misses(one.held, runs)]
    if missed and not (cut or bound):
        findings.append(
            f"limits and bounds change the {name} so much that its interval contained the truth in "
            f"only {100 * min(missed):.0f} % of the runs{_of(len(missed), len(judged))}"
        )
    if any(hidden):
        findings.append(f"too few rows to tell in {sum(hidden)} of {len(judged)} groups")
    return "; ".join(findings) or "ok"


def _misses(held: float, runs: int) -> bool:
    """Return whether intervals contain the truth less often than chance explains."""
    return held < _LEVEL - 3 * math.sqrt(_LEVEL * (1 - _LEVEL) / max(runs, 1))


def _moved(one: float | None, other: float | None, half_width: float | None) -> bool:
    if one is None or other is None or half_width is None:
        return False
    # Two results for the same rows may differ by rounding.
    return abs(one - other) > max(half_width, 1e-9 * abs(other))


def _limits(asked: QueryOnTable, name: str, best: Searched | None, where: str) -> str:
    unit = asked.table.unit
    if best is None or not isinstance(unit, Entity):
        return f"the limits {_CHANGE.format(name)}{where}"
    if best.now < best.most:
        return (
            f"the limits drop too many rows{where}: one {unit.entity} has up to {best.most:,} "
            f"rows, and at most {best.now:,} of them count; {best}"
        )
    return (
        f"the limit of rows in each group drops too many rows{where}, whatever max_rows is; {best}"
    )


def _of(some: int, every: int) -> str:
    return f" in {some} of {every} groups" if every > 1 else ""


def _hidden(asked: QueryOnTable, name: str, one: Judged) -> bool:
    if one.half_width is None:
        return True
    scale = _scale(asked, name, one)
    return scale is not None and one.half_width > _ALL * scale


def _scale(asked: QueryOnTable, name: str, one: Judged) -> float | None:
    """Return the scale of an uninformative half-width; None if every finite one is informative."""
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
