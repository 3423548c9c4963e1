"""What a statistic shows of groups whose numbers are known from more than its own integers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.publish._parts import Part
from neyman.publish._systems import Fixed, Numbers, System

__all__ = ["Fit", "fitted"]

_COUNTS: Final = ("count", "count_units")
_MEANS: Final = ("mean", "mean_per_unit")

Cells = dict[str, Sequence[object]]


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """What is known of a group of a statistic.

    Attributes:
        group: which.
        system: what it is known from.
        numbers: themselves.
        fixed: the number of rows, where a contingency table shows it.
    """

    group: int
    system: System
    numbers: Numbers
    fixed: Fixed | None


def fitted(part: Part, fits: Sequence[Fit]) -> Iterator[Mapping[str, Sequence[object]]]:
    """Yield the columns of each group, called as if the statistic had been asked alone.

    Intervals are around the estimates, and stretched to hold the numbers shown. Those of variances
    and all else that is read from many integers together are as wide as with the statistic's own
    noise: the noise on its integers is less in every direction (Anderson's inequality).
    """
    read = _together(part, fits) if part.reading.joint else [_alone(part, fit) for fit in fits]
    for fit, found in zip(fits, read, strict=True):
        yield found | _count(part, fit, found) | _mean(part, fit, found)


def _alone(part: Part, fit: Fit) -> Cells:
    """Read a group whose integers have noise of their own."""
    integers = np.array(fit.system.integers(part, fit.numbers), np.int64)
    noise = fit.system.noise(part, fit.numbers)
    return cast("Cells", part.reading.columns(integers, noise, part.release.confidence))


def _together(part: Part, fits: Sequence[Fit]) -> list[Cells]:
    """Read groups with the noise of the statistic, if there is no more than that."""
    values = part.integers[[fit.group for fit in fits]].astype(np.float64)
    places = [i for i, term in enumerate(part.terms) if term is not None]
    for row, fit in zip(values, fits, strict=True):
        # Of other noise than Gaussian, a sum of less can be larger; and so can a count be that is
        # not made of the statistic's own.
        if part.noise.normal and fit.system.uses(part):
            row[places] = (fit.system.forms(part) @ fit.numbers.estimates)[places]
    # They stand for integers, and are read as such.
    whole = cast("IntArray", values.reshape(-1))
    columns = cast("Cells", part.reading.columns(whole, part.noise, part.release.confidence))
    length = len(next(iter(columns.values()))) // len(fits)
    return [
        {name: cells[place * length :][:length] for name, cells in columns.items()}
        for place in range(len(fits))
    ]


def _count(part: Part, fit: Fit, found: Cells) -> Cells:
    """Return the number of rows; of a count with its interval."""
    if part.counts is None:
        return {}
    count, fixed = fit.numbers.shown[0], fit.fixed
    counts: Cells = {name: [count] * len(found[name]) for name in _COUNTS if name in found}
    if part.query.get("statistic") not in _COUNTS:
        return counts
    if fixed is not None:
        ends: Cells = {"stddev": [fixed.stddev], "lower": [fixed.lower], "upper": [fixed.upper]}
    else:
        low, high = fit.system.count_ends(part, fit.numbers)
        ends = {"lower": [low], "upper": [high]}
    for name, outer in (("lower", min), ("upper", max)):
        if f"total_{name}" in found:
            both = (ends[name][0], found[f"total_{name}"][0])
            ends[f"total_{name}"] = [outer(cast("tuple[float, float]", both))]
    return counts | ends


def _mean(part: Part, fit: Fit, found: Cells) -> Cells:
    """Return the mean of the numbers shown, with its intervals."""
    name = next((name for name in _MEANS if name in found), None)
    if name is None or part.variable is None or part.variable not in fit.system.variables:
        return {}
    shown = fit.numbers.shown
    count, total = shown[0], shown[1 + fit.system.variables.index(part.variable)]
    mean = part.variable.at(Fraction(total) / Fraction(count)) if count > 0 else math.nan
    before = "mean_" if part.reading.joint else ""
    low, high, total_low, total_high = (
        cast("float", found[f"{before}{end}"][0])
        for end in ("lower", "upper", "total_lower", "total_upper")
    )
    if part.reading.joint:
        low, high = (part.variable.at(end) for end in fit.system.mean_ends(part, fit.numbers))
    if count > 0:
        low, high = min(low, mean), max(high, mean)
    return {
        name: [mean],
        f"{before}lower": [low],
        f"{before}upper": [high],
        f"{before}total_lower": [min(total_low, low)],
        f"{before}total_upper": [max(total_high, high)],
    }
