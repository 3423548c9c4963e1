"""A few values of a released function. They are post-processing, which is free."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, cast

import numpy as np

from neyman.aggregate import Columns
from neyman.errors import InvalidParameter
from neyman.functional import (
    Band,
    DensityFunction,
    Function,
    RegressionCurve,
    SurvivalCurve,
    function,
    functions,
)
from neyman.functional._curve_bands import Bands, bands_of, independent_records
from neyman.numerics import Array
from neyman.released import Release, group_name

__all__ = ["ReadOff", "figures", "read_off"]

Reader: TypeAlias = Callable[[Function, Release], Columns | None]

_SHARES: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_TIMES: Final = 10


class ReadOff(NamedTuple):
    """Values of a released function.

    Attributes:
        columns: the values; None if there are none.
        hidden: for each group that its noise hides, a sentence that says why.
        notes: for each density that the release does not resolve, a sentence that says why.
    """

    columns: Columns | None
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def figures(release: Release) -> Columns | None:
    """Return a few values of a released function; None for other releases.

    | function | values |
    |---|---|
    | density | quantiles, for each column |
    | survival curve | the curve at tenths of the time for which it is known |
    | regression | the curve at tenths of the domain, NaN where there are too few records |

    Survival and regression curves come with their bands, each of which covers the whole curve:
    `lower`, `upper` for noise; `total_lower`, `total_upper` for noise and sampling, if no unit has
    several records. Groups follow one another. A group is left out if noise hides it: its released
    number of records does not differ from 0 at the confidence of the release.
    """
    return read_off(release).columns


def read_off(release: Release) -> ReadOff:
    """Return the values of `figures`, with sentences on the groups that it leaves out."""
    read = _READ.get(release.question.statistic)
    if read is None:
        return ReadOff(None)
    if not release.question.grouped:
        try:
            made = function(release)
            return ReadOff(_read(read, made, release), notes=_notes(made))
        except InvalidParameter as error:
            return ReadOff(None, (str(error),))
    parts = functions(release)
    found: dict[str, list[object]] = {}
    hidden: list[str] = []
    notes: list[str] = []
    for key, part in parts.items():
        name = group_name(dict(zip(parts.columns, key, strict=True)))
        try:
            columns = _read(read, part, release)
        except InvalidParameter as error:
            hidden.append(f"{name}: {error}")
            continue
        notes += [f"{name}: {note}" for note in _notes(part)]
        if columns is None:
            continue
        length = len(next(iter(columns.values())))
        named = {name: [cell] * length for name, cell in zip(parts.columns, key, strict=True)}
        for name, column in (named | columns).items():
            found.setdefault(name, []).extend(column)
    return ReadOff(cast("Columns", found) or None, tuple(hidden), tuple(notes))


def _notes(made: Function) -> tuple[str, ...]:
    match made:
        case DensityFunction(unresolved=str(why)):
            return (why,)
        case _:
            return ()


def _read(read: Reader, made: Function, release: Release) -> Columns | None:
    """Return the values of a function.

    Raises:
        InvalidParameter: if the noise hides the function.
    """
    made.require_records(release.confidence)
    return read(made, release)


def _field(found: Function, release: Release) -> Columns | None:
    """Return the quantiles of each column."""
    match found:
        case DensityFunction():
            read: dict[str, list[object]] = {"column": [], "share below": [], "value": []}
            for axis in range(len(found.sides)):
                values = np.asarray(found.marginal(axis).ppf(_SHARES)).tolist()
                name = _name(release, axis, f"coordinate {axis + 1}")
                read["column"] += [name] * len(_SHARES)
                read["share below"] += _SHARES
                read["value"] += values
            return cast("Columns", read)
        case _:
            return None


def _density(found: Function, release: Release) -> Columns | None:  # noqa: ARG001
    match found:
        case DensityFunction():
            values: list[float] = np.asarray(found.ppf(_SHARES)).tolist()
            return {"share below": list(_SHARES), "value": values}
        case _:
            return None


def _survival(curve: Function, release: Release) -> Columns | None:
    match curve:
        case SurvivalCurve():
            times = np.linspace(0.0, curve.until, _TIMES + 1)
            return {
                "time": times.tolist(),
                "share without the event": curve(times).tolist(),
                **_ends(bands_of(curve, release.confidence), times, release),
                "at risk": curve.at_risk(times).tolist(),
                "stddev at risk": curve.at_risk_sd(times).tolist(),
            }
        case _:
            return None


def _regression(curve: Function, release: Release) -> Columns | None:
    match curve:
        case RegressionCurve():
            found = bands_of(curve, release.confidence)
            x = np.linspace(float(found.noise.x[0]), float(found.noise.x[-1]), _TIMES + 1)
            return {
                _name(release, 0, "x"): x.tolist(),
                f"mean of {_name(release, 1, 'the response')}": _at(
                    found.noise, x, found.noise.estimate
                ),
                **_ends(found, x, release),
            }
        case _:
            return None


def _ends(bands: Bands, places: Array, release: Release) -> Columns:
    """Return the ends of the bands; the one for sampling only if it is valid."""
    kinds = {"": bands.noise}
    if independent_records(release.query):
        kinds["total_"] = bands.total
    return {
        f"{kind}{end}": _at(band, places, curve)
        for kind, band in kinds.items()
        for end, curve in (("lower", band.lower), ("upper", band.upper))
    }


def _at(band: Band, places: Array, curve: Array) -> list[float]:
    """Interpolate a curve of a band; NaN next to a node at which it is unknown."""
    found: list[float] = np.interp(places, band.x, curve).tolist()
    return found


def _name(release: Release, place: int, otherwise: str) -> str:
    names = release.question.columns
    return names[place] if place < len(names) else otherwise


_READ: Final[Mapping[str, Reader]] = {
    "density": _density,
    "field": _field,
    "survival": _survival,
    "regression": _regression,
}
