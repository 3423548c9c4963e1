"""Rehearses a query on public rows: under its limits, without them, and under others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Columns, IntArray
from neyman.errors import InvalidParameter, InvalidTable, SpecError
from neyman.mechanisms import Mechanism
from neyman.publish._exact_answers import (
    NOISELESS,
    UNLIMITED,
    counted,
    free,
    read,
    share_kept,
    share_moved,
    widened,
)
from neyman.publish._expected_noise import widths_of
from neyman.publish._numbers import Key, Number, Place, groups_of, numbers_of
from neyman.publish._query_on_table import QueryOnTable
from neyman.publish._rehearsal import Judged, RehearsedGroup, RehearsedNumber, Searched, verdict
from neyman.tables import Entity

__all__ = ["rehearsed"]

_STATISTICS: Final = ("count", "sum", "mean")
_LADDER: Final = tuple(part * 10**power for power in range(13) for part in (1, 2, 3, 5))
# The share of normal noise within one standard deviation.
_ONE: Final = 0.682689492137


def _best_limits(
    asked: QueryOnTable, truth: Mapping[Place, Number], limits: Sequence[int]
) -> Searched | None:
    """Return the RMSE of each limit; None for statistics without a search.

    Args:
        asked: the query about public rows.
        truth: its exact numbers without limits, within the same bounds.
        limits: the limits to try; by default 1, 2, 3, 5, 10, ... up to the most rows of a unit.
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
    """The result for a limit: its companion, and its RMSE; None without noise."""

    told: tuple[int, ...]
    error: float | None


@final
@dataclass(frozen=True, slots=True)
class _Trials:
    """The results for limits, each computed once."""

    asked: QueryOnTable
    truth: Mapping[Place, Number]
    done: dict[int, _Trial]

    def at(self, limit: int) -> _Trial:
        """Return the result for a limit."""
        if limit not in self.done:
            self.done[limit] = self._tried(limit)
        return self.done[limit]

    def most_rows(self) -> int:
        """Return the least limit that keeps all rows of every unit."""
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
            noise = self.asked.drawn_noise(question)
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


_CONFIDENCE: Final = 0.95
# Numbers that are read in all runs of a query; the least and the most integers in them.
_MOST_READ: Final = 20_000
_FEWEST_RUNS: Final = 20
_MOST_DRAWN: Final = 2**22
_NOT_WIDER: Final = "truth within the same bounds"

_Flags = npt.NDArray[np.bool_]


def rehearsed(asked: QueryOnTable, runs: int, limits: Sequence[int]) -> list[RehearsedNumber]:
    """Return every number of a query.

    Args:
        asked: the query about public rows.
        runs: the number of noisy answers to simulate.
        limits: the limits to try instead of the query's own.
    """
    question = asked.question(asked.table)
    noise = asked.drawn_noise(question)
    integers, keys, own = counted(question)
    kept, moved = share_kept(asked, own), share_moved(asked, question, own)
    if "coefficient" in question.exactly(integers, noise, _CONFIDENCE):
        return _function(asked, question, noise, integers, kept=kept, moved=moved)
    return _Answer.of(asked, question, noise, integers, keys).rows(
        runs, limits, kept=kept, moved=moved
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The exact numbers of an answer, with and without limits and bounds.

    Attributes:
        asked: the query.
        question: the question.
        noise: its mechanism.
        integers: its exact integers.
        keys: the keys of its groups.
        limited: the numbers under limits and bounds.
        bounded: the numbers without limits, within the same bounds.
        truth: the numbers without limits, within wide bounds.
        wide: whether the wide bounds clip nothing.
    """

    asked: QueryOnTable
    question: Aggregate
    noise: Mechanism
    integers: IntArray
    keys: Columns
    limited: Mapping[Place, Number]
    bounded: Mapping[Place, Number]
    truth: Mapping[Place, Number]
    wide: bool

    @classmethod
    def of(
        cls,
        asked: QueryOnTable,
        question: Aggregate,
        noise: Mechanism,
        integers: IntArray,
        keys: Columns,
    ) -> "_Answer":
        """Compute the answer with limits, without them, and within wide bounds if there are any."""
        table = free(asked.table, per_unit=asked.query.per_unit)
        bounded = _exact(asked.question(table))
        truth, wide = bounded, True
        try:
            open_wide = widened(table, asked.query.bounds)
            if open_wide is not table:
                truth = _exact(asked.question(open_wide))
        except (InvalidTable, InvalidParameter, SpecError):
            wide = False
        return cls(
            asked=asked,
            question=question,
            noise=noise,
            integers=integers,
            keys=keys,
            limited=numbers_of(question.exactly(integers, NOISELESS, _CONFIDENCE), keys),
            bounded=bounded,
            truth=truth,
            wide=wide,
        )

    def rows(
        self, runs: int, limits: Sequence[int], *, kept: float | None, moved: float | None
    ) -> list[RehearsedNumber]:
        """Return the results for each number, with all its groups."""
        held = self._coverage(runs)
        widths = read(self.question, self.integers, self.keys, self.noise, _CONFIDENCE)
        best = _best_limits(self.asked, self.bounded, limits)
        found: dict[str, dict[Key, tuple[RehearsedGroup, Judged]]] = {}
        for place, number in self.limited.items():
            group = self._group(place, number, widths[place], held)
            judged = Judged(
                limited=number.value,
                bounded=_value(self.bounded, place),
                truth=_value(self.truth, place),
                half_width=group.half_width,
                held=group.held,
            )
            found.setdefault(place.name, {})[place.key] = group, judged
        return [self._row(name, of, best, held, kept, moved) for name, of in found.items()]

    def _row(
        self,
        name: str,
        of: Mapping[Key, tuple[RehearsedGroup, Judged]],
        best: Searched | None,
        held: "_Coverage",
        kept: float | None,
        moved: float | None,
    ) -> RehearsedNumber:
        judged = [one for _, one in of.values()]
        return RehearsedNumber(
            entry=self.asked.query.entry,
            number=name,
            groups=tuple(group for group, _ in of.values()),
            kept=kept,
            moved=moved,
            runs=held.runs,
            searched=best,
            verdict=verdict(self.asked, name, judged, best, held.runs),
            note="" if self.wide else _NOT_WIDER,
        )

    def _group(
        self, place: Place, number: Number, widths: Number, held: "_Coverage"
    ) -> RehearsedGroup:
        half = widths.half_width
        return RehearsedGroup(
            key=dict(place.key),
            truth=_value(self.truth, place),
            limited=number.value if math.isfinite(number.value) else None,
            half_width=half if math.isfinite(half) else None,
            held=held.noise.get(place),
            total_held=held.total.get(place),
        )

    def _coverage(self, runs: int) -> "_Coverage":
        """Simulate noisy answers, and count the intervals that contain the truth."""
        cells = max(len(self.limited), 1)
        fewer = min(_MOST_READ // cells, _MOST_DRAWN // max(self.integers.size, 1))
        runs = min(runs, max(fewer, _FEWEST_RUNS))
        noisy = self.question.noised(np.tile(self.integers, (runs, 1)), self.noise)
        shown, rows = self._groups_shown(noisy), len(groups_of(self.keys))
        counts: dict[Place, list[int]] = {}
        for drawn, seen in zip(noisy, shown, strict=True):
            columns = self.question.reading.columns(drawn, self.noise, _CONFIDENCE)
            answer = numbers_of(columns, self.keys)
            for i, (place, number) in enumerate(answer.items()):
                truth = self.truth.get(place)
                if truth is None or not seen[i % rows * len(seen) // rows]:
                    continue
                of = counts.setdefault(place, [0, 0, 0])
                of[0] += 1
                of[1] += number.lower <= truth.value <= number.upper
                if number.total is not None:
                    of[2] += number.total[0] <= truth.value <= number.total[1]
        totals = {place for place, number in self.limited.items() if number.total is not None}
        return _Coverage(
            runs,
            {place: of[1] / of[0] for place, of in counts.items()},
            {place: of[2] / of[0] for place, of in counts.items() if place in totals},
        )

    def _groups_shown(self, noisy: IntArray) -> _Flags:
        """Return the groups that appear in each run; all if they are declared."""
        unknown = self.question.unknown
        if unknown is None:
            return np.ones((len(noisy), 1), np.bool_)
        of = noisy.reshape(len(noisy), -1, unknown.width)[:, :, unknown.count]
        flags = np.zeros(of.shape, np.bool_)
        for run, one in enumerate(of):
            flags[run, self.noise.shown(one)] = True
        return flags


@final
@dataclass(frozen=True, slots=True)
class _Coverage:
    """How often intervals contain the truth."""

    runs: int
    noise: Mapping[Place, float]
    total: Mapping[Place, float]


def _exact(question: Aggregate) -> dict[Place, Number]:
    integers, keys, _ = counted(replace(question, companion=None))
    return numbers_of(question.exactly(integers, NOISELESS, _CONFIDENCE), keys)


def _value(numbers: Mapping[Place, Number], place: Place) -> float | None:
    found = numbers.get(place)
    return None if found is None or not math.isfinite(found.value) else found.value


def _function(
    asked: QueryOnTable,
    question: Aggregate,
    noise: Mechanism,
    integers: IntArray,
    *,
    kept: float | None,
    moved: float | None,
) -> list[RehearsedNumber]:
    """Return the noise of a curve in each group."""
    keys = list(dict.fromkeys(groups_of(question.keys)))
    found: dict[str, list[RehearsedGroup]] = {}
    for key, part in zip(keys, np.split(integers, len(keys)), strict=True):
        for name, width in widths_of(question, noise, _CONFIDENCE)(part):
            known = width.half_width if math.isfinite(width.half_width) else None
            group = RehearsedGroup(key=dict(key), half_width=known)
            found.setdefault(name, []).append(group)
    return [
        RehearsedNumber(
            entry=asked.query.entry,
            number=name,
            groups=tuple(groups),
            kept=kept,
            moved=moved,
            runs=0,
            searched=None,
            verdict=verdict(
                asked, name, [Judged(None, None, None, g.half_width) for g in groups], None
            ),
            note="a curve has no one truth",
        )
        for name, groups in found.items()
    ]
