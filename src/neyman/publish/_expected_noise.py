"""The noise of every number of an answer, computed from synthetic rows."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias, final

import numpy as np

from neyman.aggregate import Aggregate, Columns, IntArray
from neyman.errors import InvalidParameter
from neyman.functional import (
    DensityFunction,
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    function,
)
from neyman.mechanisms import Mechanism
from neyman.numerics import ndtri
from neyman.publish._numbers import Number, numbers_in
from neyman.publish._synthetic_rows import BEST, LIKE, SPREAD, TYPICAL, WORST, Group, SyntheticRows
from neyman.released import RecordedQuestion

__all__ = ["ExpectedNoise", "ExpectedNumber", "expected_numbers", "widths_of"]

_RUNS: Final = 9
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
# What a plan can rest on, from the first of these that there is; never on the best case, for rows
# are worse than that in 99 of 100 public columns.
_PLANNED: Final = (LIKE, SPREAD, TYPICAL)


@final
@dataclass(frozen=True, slots=True)
class ExpectedNoise:
    """The noise of one number in one case of rows.

    Attributes:
        stddev: the standard deviation of the noise; None if it has none, as for a quotient.
        half_width: half the width of the noise interval; None if it is infinite.
        all_of: the interval, if it is as wide as for a group without rows: it is uninformative.
    """

    stddev: float | None
    half_width: float | None
    all_of: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.all_of is not None:
            low, high = self.all_of
            return f"no information: all of [{low:.6g}, {high:.6g}]"
        return "nothing known" if self.half_width is None else f"± {_short(self.half_width)}"

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
        whole = None if self.all_of is None else list(self.all_of)
        return {"stddev": self.stddev, "half_width": self.half_width, "all_of": whole}


@final
@dataclass(frozen=True, slots=True)
class ExpectedNumber:
    """The noise of one number of an answer, in the units of the number.

    Attributes:
        name: the name of the number.
        records: the number of rows in the group; None if the noise does not depend on the rows.
        group: the group in words; "" if there is only one.
        cases: the noise in each case: "at best" (for a function "spread evenly"), "typical", "at
            worst", and "spread" and "like" if they were given.
    """

    name: str
    records: int | None
    group: str
    cases: Mapping[str, ExpectedNoise]

    @property
    def planned(self) -> ExpectedNoise:
        """The case to plan with: public rows, else the given spread, else typical rows."""
        return next((self.cases[case] for case in _PLANNED if case in self.cases), _NOTHING)

    @property
    def stddev(self) -> float | None:
        """The standard deviation of the noise, in the case to plan with."""
        return self.planned.stddev

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, in the case to plan with; None if it is infinite."""
        return None if self.planned.all_of is not None else self.planned.half_width

    @property
    def size(self) -> str:
        """The size of the group, in words."""
        if self.records is None:
            return "any group"
        return f"n = {self.records:,}" + (f" ({self.group})" if self.group else "")

    def widths(self, like: str) -> list[str]:
        """Return the intervals of all cases, in words.

        Args:
            like: the label of the public rows.
        """
        if self.records is None:
            spread = "" if self.stddev is None else f"stddev {_short(self.stddev)}"
            return [str(self.planned), spread]
        names = {SPREAD: SPREAD, LIKE: f"like = {like}"}
        return [
            f"({names[case]}: {known})" if case in names else _with_case(known, case)
            for case, known in self.cases.items()
        ]

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
        return {
            "name": self.name,
            "records": self.records,
            "group": self.group,
            "stddev": self.stddev,
            "half_width": self.half_width,
            "cases": {case: known.to_json() for case, known in self.cases.items()},
        }


_NOTHING: Final = ExpectedNoise(None, None)


class _Answer(NamedTuple):
    """A synthetic answer, instead of a release: the question, and the columns of its answer."""

    query: Mapping[str, object]
    columns: Columns


_Read: TypeAlias = Callable[[IntArray], Iterable[tuple[str, Number]]]
_Found: TypeAlias = dict[str, dict[tuple[str, int], ExpectedNoise]]


def expected_numbers(
    rows: SyntheticRows, mechanism: Mechanism, confidence: float
) -> tuple[ExpectedNumber, ...]:
    """Return every number for each group; once, if its noise does not depend on the group.

    Args:
        rows: the synthetic rows.
        mechanism: the noise.
        confidence: the coverage of the intervals.
    """
    plain = ExpectedNoise(mechanism.stddev, float(mechanism.half_width(confidence)))
    if not rows.cases:
        return (ExpectedNumber("integer", None, "", {TYPICAL: plain}),)
    read = widths_of(rows.aggregate, mechanism, confidence)
    first = next(iter(rows.cases))
    # Of a curve its bands are read, and not where it lies.
    curve = RecordedQuestion.of(rows.aggregate.query).statistic in _FUNCTIONS
    hidden = {} if curve else dict(read(rows.integers(first, 0)))
    sizes = list(dict.fromkeys(group.records for group in rows.groups))
    # Of one size alone nothing shows whether it makes a difference.
    others = [] if len(sizes) > 1 else [2 * n if n < 2**52 else n // 2 for n in sizes]
    found: _Found = {}
    for size in (*sizes, *others):
        for case in (first,) if size in others else rows.cases:
            seen: dict[str, list[ExpectedNoise]] = {}
            for name, width in read(rows.integers(case, size)) if rows.cases[case] else ():
                seen.setdefault(name, []).append(_noise_of(width, hidden.get(name)))
            for name, known in seen.items():
                found.setdefault(name, {})[case, size] = max(known, key=_vagueness)
    asked = [(case, size) for size in sizes for case in rows.cases if rows.cases[case]]
    asked += [(first, size) for size in others]
    return tuple(
        number
        for name, widths in found.items()
        for number in _by_group(name, widths, asked, rows.groups, tuple(rows.cases))
    )


def widths_of(aggregate: Aggregate, mechanism: Mechanism, confidence: float) -> _Read:
    """Return a function that turns the integers of one group into numbers."""
    query = aggregate.query
    numbers = _FUNCTIONS.get(RecordedQuestion.of(query).statistic)

    def read(integers: IntArray) -> Iterable[tuple[str, Number]]:
        if aggregate.adaptive is not None:
            return _typical(aggregate, mechanism, confidence, integers)
        columns = aggregate.exactly(integers, mechanism, confidence)
        if numbers is None:
            return ((name, number) for name, _, number in numbers_in(columns))
        # Of one group, which is made up.
        answer, found = _Answer({**query, "keys": None}, columns), dict[str, Number]()
        for name, of in numbers.items():
            found[name] = _UNKNOWN
            # Where noise hides so few rows, nothing is known of the curve, and that is said.
            with suppress(InvalidParameter):
                found[name] = of(answer, confidence)
        return found.items()

    return read


@final
@dataclass(frozen=True, slots=True)
class _PublicDraws:
    """Reproducible normal draws, so that a preview never changes.

    The k-th is Phi^-1 of the fractional part of k^2 times the golden ratio.
    """

    stddev: float
    first: int

    def add_noise(self, values: IntArray) -> IntArray:
        """Return values with noise. NOT private."""
        places = np.arange(self.first, self.first + values.size, dtype=np.float64)
        share = np.modf(places**2 * _GOLDEN)[0].reshape(values.shape)
        return values + np.rint(self.stddev * ndtri(share)).astype(np.int64)


def _typical(
    aggregate: Aggregate, mechanism: Mechanism, confidence: float, integers: IntArray
) -> list[tuple[str, Number]]:
    """Return numbers of median width: in a search, the noise decides the width of intervals."""
    runs: list[list[tuple[str, Number]]] = []
    for run in range(_RUNS):
        kept = aggregate.noised(integers, _PublicDraws(mechanism.stddev, 1 + 1000 * run))
        columns = aggregate.reading.columns(kept, mechanism, confidence)
        runs.append([(name, number) for name, _, number in numbers_in(columns)])
    return [
        sorted(same, key=lambda one: one[1].half_width)[_RUNS // 2]
        for same in zip(*runs, strict=True)
    ]


def _noise_of(width: Number, hidden: Number | None) -> ExpectedNoise:
    half = width.half_width
    if not math.isfinite(half):
        return ExpectedNoise(width.stddev, None)
    same = hidden is not None and (width.lower, width.upper) == (hidden.lower, hidden.upper)
    return ExpectedNoise(width.stddev, half, (width.lower, width.upper) if same else None)


def _by_group(
    name: str,
    widths: Mapping[tuple[str, int], ExpectedNoise],
    asked: Iterable[tuple[str, int]],
    groups: Iterable[Group],
    cases: Iterable[str],
) -> Iterator[ExpectedNumber]:
    """Return the numbers, without sizes where neither size nor rows matter."""
    every = [widths[one] for one in asked]
    # Without a deviation of its own it is a quotient or a quantile, alike by chance.
    told = every[0].stddev is not None and every[0].half_width
    if told and len({_digits(known) for known in every}) == 1:
        yield ExpectedNumber(
            name, None, "", {TYPICAL: ExpectedNoise(every[0].stddev, every[0].half_width)}
        )
        return
    for group in groups:
        known = {case: widths.get((case, group.records), _NOTHING) for case in cases}
        yield ExpectedNumber(name, group.records, group.label, _sorted(known))


def _vagueness(known: ExpectedNoise) -> tuple[bool, float]:
    """Return a sort key: larger is less informative."""
    return known.half_width is None, known.half_width or 0.0


def _sorted(known: dict[str, ExpectedNoise]) -> dict[str, ExpectedNoise]:
    """Make "at best" the best of all cases: in tiny groups rows spread evenly are not."""
    tried = [known[case] for case in (BEST, TYPICAL, WORST) if case in known]
    ends = {BEST: min(tried, key=_vagueness), WORST: max(tried, key=_vagueness)}
    return {case: ends.get(case, width) for case, width in known.items()}


def _digits(known: ExpectedNoise) -> tuple[str, str]:
    """Return the numbers without the effect of rounding."""
    return f"{known.stddev or 0.0:.9g}", f"{known.half_width or 0.0:.9g}"


def _with_case(known: ExpectedNoise, case: str) -> str:
    """Return one case in words; an uninformative interval comes after the case."""
    said, colon, whole = str(known).partition(": ")
    called = "typically" if case == TYPICAL and not said.startswith("±") else case
    return f"{said} {called}{colon}{whole}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


_UNKNOWN: Final = Number(0.0, -math.inf, math.inf)


def _pointwise(stddev: float, confidence: float) -> Number:
    return _about(stddev, NormalDist().inv_cdf((1 + confidence) / 2) * stddev)


def _about(stddev: float, width: float) -> Number:
    return Number(0.0, -width, width, stddev)


def _density_rows(answer: _Answer, confidence: float) -> Number:
    return _pointwise(function(answer, ReleasedFunction).count_sd, confidence)


def _density(answer: _Answer, confidence: float) -> Number:
    released = function(answer, DensityFunction)
    band = released.smooth(released.raw.bandwidths[0]).band(confidence, "noise")
    middle = band.x.size // 2
    width = float(band.upper[middle] - band.lower[middle]) / 2
    return _about(width / band.width, width)


def _field_rows(answer: _Answer, confidence: float) -> Number:
    return _pointwise(function(answer, ReleasedField).count_sd, confidence)


def _field(answer: _Answer, confidence: float) -> Number:
    released = function(answer, ReleasedField)
    middle = [side.start + float(side.length) / 2 for side in released.sides]
    return _pointwise(float(released.noise_sd(np.array(middle))), confidence)


def _at_risk(answer: _Answer, confidence: float) -> Number:
    return _pointwise(float(function(answer, SurvivalCurve).at_risk_sd(0.0)), confidence)


def _regression_rows(answer: _Answer, confidence: float) -> Number:
    return _pointwise(function(answer, RegressionCurve).density.count_sd, confidence)


def _regression(answer: _Answer, confidence: float) -> Number:
    curve = function(answer, RegressionCurve)
    domain = curve.channels.domain
    fit = curve.nadaraya_watson(curve.channels.bandwidth)
    stddev = float(fit.noise_sd(domain.start + float(domain.length) / 2))
    return _pointwise(stddev, confidence) if math.isfinite(stddev) else _UNKNOWN


# What a curve is read off its coefficients for; all else has its ends among its columns.
_FUNCTIONS: Final[Mapping[str, Mapping[str, Callable[[_Answer, float], Number]]]] = {
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
