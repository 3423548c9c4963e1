"""What is to be said of a number, in words."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from neyman.publish._asked import Asked
from neyman.publish._rehearsal import NEAR, Searched
from neyman.tables import Entity

__all__ = ["Judged", "verdict"]

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
    asked: Asked, name: str, judged: Sequence[Judged], best: Searched | None, runs: int = 0
) -> str:
    """Return what a reader has to know of one number, in all groups together, after some runs."""
    if not judged:
        return "there are no groups"
    hidden = [_hidden(asked, name, one) for one in judged]
    better = best is not None and best.times > NEAR
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


def _limits(asked: Asked, name: str, best: Searched | None, where: str) -> str:
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


def _hidden(asked: Asked, name: str, one: Judged) -> bool:
    if one.half_width is None:
        return True
    scale = _scale(asked, name, one)
    return scale is not None and one.half_width > _ALL * scale


def _scale(asked: Asked, name: str, one: Judged) -> float | None:
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
