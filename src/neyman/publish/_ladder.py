"""Which limit errs least: every other one tried on public rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from neyman.errors import InvalidParameter, SpecError
from neyman.publish._asked import Asked
from neyman.publish._numbers_of import Number, Place, counted, read
from neyman.publish._rehearsal import Searched
from neyman.publish._wide import UNLIMITED
from neyman.tables import Entity

__all__ = ["searched"]

_STATISTICS: Final = ("count", "sum", "mean")
_LADDER: Final = tuple(part * 10**power for power in range(13) for part in (1, 2, 3, 5))
# That share of normal noise is within one standard deviation.
_ONE: Final = 0.682689492137


def searched(asked: Asked, truth: Mapping[Place, Number], limits: Sequence[int]) -> Searched | None:
    """Return the RMSE of each limit; None where the statistic is none that is searched for.

    Args:
        asked: the query on public rows.
        truth: its numbers without limits, within the same bounds.
        limits: to try; by default 1, 2, 3, 5, 10, ... to the most that a unit has.
    """
    unit = asked.table.unit
    if not isinstance(unit, Entity) or asked.query.statistic_name not in _STATISTICS:
        return None
    trials = _Trials(asked, truth, {})
    most = trials.most_rows()
    tried = limits or [*(limit for limit in _LADDER if limit < most), most]
    errors = {
        limit: error
        for limit in sorted({*tried, unit.max_rows})
        if (error := trials.at(limit).error) is not None
    }
    return Searched(now=unit.max_rows, most=most, rmse=errors) if errors else None


class _Trial(NamedTuple):
    """A limit, tried: what its companion tells, and the RMSE; None where there is no noise."""

    told: tuple[int, ...]
    error: float | None


@final
@dataclass(frozen=True, slots=True)
class _Trials:
    """Limits that were tried, so that none is twice."""

    asked: Asked
    truth: Mapping[Place, Number]
    done: dict[int, _Trial]

    def at(self, limit: int) -> _Trial:
        """Try a limit."""
        if limit not in self.done:
            self.done[limit] = self._tried(limit)
        return self.done[limit]

    def most_rows(self) -> int:
        """Return the least limit from which on no larger one keeps more rows of any unit."""
        every = self.at(UNLIMITED).told
        steps = (*_LADDER, UNLIMITED)
        place = next(i for i, limit in enumerate(steps) if self.at(limit).told == every)
        low, high = (0, *steps)[place], steps[place]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle).told == every else (middle, high)
        return high

    def _tried(self, limit: int) -> _Trial:
        question = self.asked.question(self.asked.table.bounded(max_rows=limit))
        integers, keys, own = counted(question)
        told = () if own is None else tuple(own.tolist())
        try:
            noise = self.asked.drawn(question)
        except (InvalidParameter, SpecError):
            return _Trial(told, None)
        found = read(question, integers, keys, noise, _ONE)
        squares = [
            (number.value - self.truth[place].value) ** 2 + number.half_width**2
            for place, number in found.items()
            if place in self.truth and place.name in _STATISTICS
        ]
        error = math.sqrt(sum(squares) / len(squares)) if squares else math.inf
        return _Trial(told, error if math.isfinite(error) else None)
