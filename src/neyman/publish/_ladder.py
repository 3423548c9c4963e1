"""Which limit errs least: every other one tried on public rows."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from neyman.aggregate import IntArray
from neyman.errors import InvalidParameter, SpecError
from neyman.publish._asked import Asked
from neyman.publish._numbers_of import Number, Place, counted, read
from neyman.publish._rehearsal import Searched
from neyman.publish._wide import UNLIMITED
from neyman.tables import Entity

__all__ = ["most_rows", "searched"]

_STATISTICS: Final = ("count", "sum", "mean")
_LADDER: Final = tuple(part * 10**power for power in range(13) for part in (1, 2, 3, 5))
# That share of normal noise is within one standard deviation.
_ONE: Final = 0.682689492137


def searched(
    asked: Asked, truth: Mapping[Place, Number], limits: Sequence[int]
) -> Searched | None:
    """Return the RMSE of each limit; None where the statistic is none that is searched for.

    Args:
        asked: the query on public rows.
        truth: its numbers without limits, within the same bounds.
        limits: to try; by default 1, 2, 3, 5, 10, ... to the most that a unit has.
    """
    unit = asked.table.unit
    if not isinstance(unit, Entity) or asked.query.statistic_name not in _STATISTICS:
        return None
    most = most_rows(asked)
    tried = limits or [*(limit for limit in _LADDER if limit < most), most]
    errors = {
        limit: error
        for limit in sorted({*tried, min(unit.max_rows, most) if not limits else unit.max_rows})
        if (error := _error(asked, truth, limit)) is not None
    }
    return Searched(now=unit.max_rows, most=most, rmse=errors) if errors else None


def _error(asked: Asked, truth: Mapping[Place, Number], limit: int) -> float | None:
    try:
        question = asked.question(asked.table.bounded(max_rows=limit))
        noise = asked.noise(question)
    except (InvalidParameter, SpecError):
        return None
    integers, keys, _ = counted(question)
    found = read(question, integers, keys, noise, _ONE)
    squares = [
        (number.value - truth[place].value) ** 2 + number.half_width**2
        for place, number in found.items()
        if place in truth
    ]
    error = math.sqrt(sum(squares) / len(squares)) if squares else math.inf
    return error if math.isfinite(error) else None


def most_rows(asked: Asked) -> int:
    """Return the least limit from which on no larger one keeps more rows of any unit."""

    def told(limit: int) -> IntArray:
        own = counted(asked.table.bounded(max_rows=limit).count(asked.by))[2]
        return np.zeros(0, np.int64) if own is None else own

    every = told(UNLIMITED)
    high = 1
    while high < UNLIMITED and not np.array_equal(told(high), every):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if np.array_equal(told(middle), every) else (middle, high)
    return high
