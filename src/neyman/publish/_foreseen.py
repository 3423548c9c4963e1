"""The noise of every number of an answer, read off made-up integers as an answer would be."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from statistics import NormalDist
from typing import Final, NamedTuple, final

import numpy as np

from neyman.aggregate import Aggregate, Columns, IntArray
from neyman.errors import InvalidParameter
from neyman.functional import (
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    function,
)
from neyman.mechanisms import Mechanism

__all__ = ["Foreseen", "foreseen_by"]


@final
@dataclass(frozen=True, slots=True)
class Foreseen:
    """One number of an answer: how far its noise moves it, in its own units.

    Attributes:
        name: of the number.
        records: the size of the group that it holds for; None where it is the same for all.
        stddev: of the noise; None where there is none, as of a quotient.
        half_width: half of the noise interval; None where nothing is known.
    """

    name: str
    records: int | None
    stddev: float | None
    half_width: float | None

    @property
    def size(self) -> str:
        """The size of the group, for people."""
        return "any" if self.records is None else f"{self.records:,}"

    @property
    def spread(self) -> str:
        """The standard deviation, for people."""
        return "" if self.stddev is None else f"{self.stddev:.4g}"

    @property
    def width(self) -> str:
        """The interval about the number, for people."""
        return "unknown" if self.half_width is None else f"± {self.half_width:.4g}"

    def to_json(self) -> dict[str, object]:
        """Return it, JSON-able."""
        return {
            "name": self.name,
            "records": self.records,
            "stddev": self.stddev,
            "half_width": self.half_width,
        }


class _Width(NamedTuple):
    stddev: float | None
    half_width: float | None


_UNKNOWN: Final = _Width(None, None)


class _Answer(NamedTuple):
    """What stands for a release: the question, and columns that made-up integers read as."""

    query: Mapping[str, object]
    columns: Columns


def foreseen_by(
    aggregate: Aggregate,
    mechanism: Mechanism,
    made: Mapping[int, IntArray],
    told: Collection[int],
    confidence: float,
) -> tuple[Foreseen, ...]:
    """Return every number for groups of each size; once, where its noise is always the same.

    Args:
        aggregate: the question.
        mechanism: its noise.
        made: by size, the integers of one made-up group; none where nobody can make some up. Of
            two sizes at least, for of one nothing says whether it makes a difference.
        told: those of the sizes that were asked for.
        confidence: of the intervals.
    """
    plain = _Width(mechanism.stddev, float(mechanism.half_width(confidence)))
    if not made:
        return (Foreseen("integer", None, *plain),)
    found: dict[str, dict[int, _Width]] = {}
    for size, integers in made.items():
        columns = aggregate.reading.columns(integers, mechanism, confidence)
        # Of one group, which is made up.
        answer = _Answer({**aggregate.query, "keys": None}, columns)
        numbers = _FUNCTIONS.get(str(aggregate.query.get("statistic")))
        if numbers is None:
            for name, width in _numbers(columns):
                found.setdefault(name, {})[size] = width
            continue
        for name, read in numbers.items():
            held = found.setdefault(name, {})
            # Where noise hides so few rows, nothing is known of the curve, and that is said.
            with suppress(InvalidParameter):
                held[size] = read(answer, confidence)
    return tuple(
        Foreseen(name, size, *width)
        for name, widths in found.items()
        for size, width in _merged(widths, list(made))
        if size is None or size in told
    )


def _merged(widths: Mapping[int, _Width], sizes: Sequence[int]) -> list[tuple[int | None, _Width]]:
    """Leave the size out where it makes no difference, and say where nothing is known."""
    every = [widths.get(size, _UNKNOWN) for size in sizes]
    same = len(set(every)) == 1 and None not in every[0]
    return [(None, every[0])] if same else list(zip(sizes, every, strict=True))


def _numbers(columns: Columns) -> Iterator[tuple[str, _Width]]:
    """Tell every column that has ends, lower and upper or x_lower and x_upper, row by row."""
    for low in columns:
        prefix = low.removesuffix("lower")
        high = f"{prefix}upper"
        # Total ends are those of sampling too, which rests on what the rows are like.
        if prefix == low or high not in columns or prefix.endswith("total_"):
            continue
        labels = _labels(columns, low)
        for i, (lower, upper) in enumerate(zip(columns[low], columns[high], strict=True)):
            half = (float(upper) - float(lower)) / 2
            spread = columns.get(f"{prefix}stddev")
            stddev = None if spread is None else float(spread[i])
            yield labels[i], _Width(stddev, half if math.isfinite(half) else None)


def _labels(columns: Columns, low: str) -> list[str]:
    """Return what the number of each row is called: its column, and the marks before it."""
    rows = len(columns[low])
    if low != "lower":
        return [low.removesuffix("_lower")] * rows
    before = takewhile(lambda column: column != low, columns)
    *marks, name = [column for column in before if column != "stddev"]
    return [" ".join([name, *(str(columns[mark][i]) for mark in marks)]) for i in range(rows)]


def _pointwise(stddev: float, confidence: float) -> _Width:
    return _Width(stddev, NormalDist().inv_cdf((1 + confidence) / 2) * stddev)


def _density_rows(answer: _Answer, confidence: float) -> _Width:
    return _pointwise(function(answer, ReleasedFunction).count_sd, confidence)


def _density(answer: _Answer, confidence: float) -> _Width:
    released = function(answer, ReleasedFunction)
    band = released.band(confidence, "noise")
    middle = band.x.size // 2
    width = float(band.upper[middle] - band.lower[middle]) / 2
    return _Width(float(released.noise_sd(band.x[middle])), width)


def _field_rows(answer: _Answer, confidence: float) -> _Width:
    return _pointwise(function(answer, ReleasedField).count_sd, confidence)


def _field(answer: _Answer, confidence: float) -> _Width:
    released = function(answer, ReleasedField)
    middle = [side.start + float(side.length) / 2 for side in released.basis.sides]
    return _pointwise(float(released.noise_sd(np.array(middle))), confidence)


def _at_risk(answer: _Answer, confidence: float) -> _Width:
    return _pointwise(float(function(answer, SurvivalCurve).at_risk_sd(0.0)), confidence)


def _regression_rows(answer: _Answer, confidence: float) -> _Width:
    return _pointwise(function(answer, RegressionCurve).density.count_sd, confidence)


def _regression(answer: _Answer, confidence: float) -> _Width:
    curve = function(answer, RegressionCurve)
    domain = curve.channels.domain
    fit = curve.nadaraya_watson(curve.channels.bandwidth)
    stddev = float(fit.noise_sd(domain.start + float(domain.length) / 2))
    return _pointwise(stddev, confidence) if math.isfinite(stddev) else _UNKNOWN


# What a curve is read off its coefficients for; all else has its ends among its columns.
_FUNCTIONS: Final[Mapping[str, Mapping[str, Callable[[_Answer, float], _Width]]]] = {
    name: read
    for kind, read in (
        (
            ReleasedFunction,
            {
                "number of rows": _density_rows,
                "density at its least bandwidth, everywhere at once": _density,
            },
        ),
        (
            ReleasedField,
            {
                "number of rows": _field_rows,
                "density at its least bandwidths, in the middle": _field,
            },
        ),
        (SurvivalCurve, {"number at risk, at the start": _at_risk}),
        (
            RegressionCurve,
            {
                "mean response at the least bandwidth, in the middle": _regression,
                "number of rows": _regression_rows,
            },
        ),
    )
    for name in kind.statistics
}
