"""Numbers that a person reads off a released function. Post-processing, free."""

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
    """What a person is told of a released function.

    Attributes:
        columns: a few numbers; None where there are none.
        hidden: why there are none, a sentence for each group that its noise hides.
        notes: which densities the release does not resolve, and why; a sentence for each.
    """

    columns: Columns | None
    hidden: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def figures(release: Release) -> Columns | None:
    """Return a few numbers that stand for a released function; None for other releases.

    Of a density its quantiles, and those of each column where it is of several; of a survival curve
    its values at tenths of the time that it is known for; of a regression the curve at tenths of
    the domain, NaN where too few records are. The last two with the ends of their bands, each of
    which holds for the whole curve at once: `lower`, `upper` for noise, and `total_lower`,
    `total_upper` for noise and sampling, where no unit has several records. By group, the groups
    one after another, without those that the noise hides: whose released number of records is not
    told from 0 at the confidence of the release.
    """
    return read_off(release).columns


def read_off(release: Release) -> ReadOff:
    """Return what `figures` does, and in words which groups it leaves out, and why."""
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
    """Read a function.

    Raises:
        InvalidParameter: if there is more noise than data.
    """
    made.require_records(release.confidence)
    return read(made, release)


def _field(found: Function, release: Release) -> Columns | None:
    """Read the quantiles of each column by itself."""
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
    """Return the ends of the bands at some places; that for sampling where it holds."""
    kinds = {"": bands.noise}
    if independent_records(release.query):
        kinds["total_"] = bands.total
    return {
        f"{kind}{end}": _at(band, places, curve)
        for kind, band in kinds.items()
        for end, curve in (("lower", band.lower), ("upper", band.upper))
    }


def _at(band: Band, places: Array, curve: Array) -> list[float]:
    """Return a curve of a band between its nodes; NaN beside a node where it is not known."""
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
