"""What a statistic shows of a group whose numbers are known from more than its own integers."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, cast

import numpy as np

from neyman.aggregate import IntArray
from neyman.publish._parts import Part
from neyman.publish._systems import Fixed, Numbers, System

__all__ = ["fitted"]

_COUNTS: Final = ("count", "count_units")
_MEANS: Final = ("mean", "mean_per_unit")

Cells = dict[str, Sequence[object]]


def fitted(
    part: Part, group: int, system: System, numbers: Numbers, fixed: Fixed | None
) -> Mapping[str, Sequence[object]]:
    """Return the columns of a group, called as if the statistic had been asked alone.

    Intervals are around the estimates, and stretched to hold the numbers shown. Those of variances
    and all else that is read from many integers together are as wide as with the statistic's own
    noise: the noise on its integers is less in every direction (Anderson's inequality).
    """
    found = _read(part, group, system, numbers)
    count = None if part.counts is None else numbers.shown[0]
    if count is not None:
        for name in _COUNTS:
            if name in found:
                found[name] = [count] * len(found[name])
    if part.query.get("statistic") in _COUNTS:
        found |= _count_ends(found, fixed)
    if count is not None and part.variable in system.variables:
        found |= _mean(part, system, numbers, found)
    return found


def _read(part: Part, group: int, system: System, numbers: Numbers) -> Cells:
    confidence = part.release.confidence
    if not part.reading.joint:
        integers = np.array(system.integers(part, numbers), np.int64)
        noise = system.noise(part, numbers)
        return cast("Cells", part.reading.columns(integers, noise, confidence))
    if not part.noise.normal:
        own = part.columns()
        length = len(next(iter(own.values()))) // len(part.facts)
        return {name: cells[group * length :][:length] for name, cells in own.items()}
    values = part.integers[group].astype(np.float64)
    for i, value in enumerate(system.forms(part) @ numbers.estimates):
        if part.reading.terms[i] is not None:
            values[i] = value
    # They stand for integers, and are read as such.
    return cast("Cells", part.reading.columns(cast("IntArray", values), part.noise, confidence))


def _count_ends(found: Cells, fixed: Fixed | None) -> Cells:
    if fixed is not None:
        ends: Cells = {"stddev": [fixed.stddev], "lower": [fixed.lower], "upper": [fixed.upper]}
    else:
        ends = {name: [round(cast("float", found[name][0]))] for name in ("lower", "upper")}
    for name, outer in (("lower", min), ("upper", max)):
        if f"total_{name}" in found:
            both = (ends[name][0], found[f"total_{name}"][0])
            ends[f"total_{name}"] = [outer(cast("tuple[float, float]", both))]
    return ends


def _mean(part: Part, system: System, numbers: Numbers, found: Cells) -> Cells:
    """Return the mean of the numbers shown, with its intervals."""
    name = next((name for name in _MEANS if name in found), None)
    if name is None or part.variable is None:
        return {}
    count, total = numbers.shown[0], numbers.shown[1 + system.variables.index(part.variable)]
    mean = part.variable.at(Fraction(total) / Fraction(count)) if count > 0 else math.nan
    before = "mean_" if part.reading.joint else ""
    low, high, total_low, total_high = (
        cast("float", found[f"{before}{end}"][0])
        for end in ("lower", "upper", "total_lower", "total_upper")
    )
    if part.reading.joint:
        low, high = (part.variable.at(end) for end in system.mean_ends(part, numbers))
    if count > 0:
        low, high = min(low, mean), max(high, mean)
    return {
        name: [mean],
        f"{before}lower": [low],
        f"{before}upper": [high],
        f"{before}total_lower": [min(total_low, low)],
        f"{before}total_upper": [max(total_high, high)],
    }
