"""Numbers that a person reads off a released function. Post-processing, free."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

import numpy as np

from neyman.aggregate import Columns
from neyman.errors import InvalidParameter
from neyman.functional import (
    Function,
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    function,
    functions,
    select_bandwidth,
)
from neyman.released import Release, called

__all__ = ["ReadOff", "figures", "read_off"]

Reader: TypeAlias = Callable[[Function, Sequence[str]], Columns | None]

_SHARES: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_TIMES: Final = 10


class ReadOff(NamedTuple):
    """What a person is told of a released function.

    Attributes:
        columns: a few numbers; None where there are none.
        hidden: why there are none, a sentence for each group that its noise hides.
    """

    columns: Columns | None
    hidden: tuple[str, ...] = ()


def figures(release: Release) -> Columns | None:
    """Return a few numbers that stand for a released function; None for other releases.

    Of a density the quantiles of the nearest proper one, at the bandwidth that the release itself
    chooses, and of each column where it is of several; of a survival curve its values at tenths of
    the time that it is known for; of a regression the curve at tenths of the domain, NaN where too
    few records are. By group, the groups one after another, without those that the noise hides:
    whose released number of records is not told from 0 at the confidence of the release.
    """
    return read_off(release).columns


def read_off(release: Release) -> ReadOff:
    """Return what `figures` does, and in words which groups it leaves out, and why."""
    read = _READ.get(str(release.query["statistic"]))
    if read is None:
        return ReadOff(None)
    names = cast("list[str]", release.query.get("columns", []))
    if release.query.get("keys") is None:
        try:
            return ReadOff(_read(read, function(release), names, release.confidence))
        except InvalidParameter as error:
            return ReadOff(None, (str(error),))
    parts = functions(release)
    found: dict[str, list[object]] = {}
    hidden: list[str] = []
    for key, part in parts.items():
        try:
            columns = _read(read, part, names, release.confidence)
        except InvalidParameter as error:
            hidden.append(f"{called(dict(zip(parts.columns, key, strict=True)))}: {error}")
            continue
        if columns is None:
            continue
        length = len(next(iter(columns.values())))
        named = {name: [cell] * length for name, cell in zip(parts.columns, key, strict=True)}
        for name, column in (named | columns).items():
            found.setdefault(name, []).extend(column)
    return ReadOff(cast("Columns", found) or None, tuple(hidden))


def _read(read: Reader, made: Function, names: Sequence[str], confidence: float) -> Columns | None:
    """Read a function.

    Raises:
        InvalidParameter: if there is more noise than data.
    """
    made.require_records(confidence)
    return read(made, names)


def _field(found: Function, names: Sequence[str]) -> Columns | None:
    """Read the quantiles of each column by itself."""
    match found:
        case ReleasedField():
            smooth = found.smooth(select_bandwidth(found))
            read: dict[str, list[object]] = {"column": [], "share below": [], "value": []}
            for axis in range(len(smooth.basis.sides)):
                values = np.asarray(smooth.marginal(axis).project().quantile(_SHARES)).tolist()
                name = names[axis] if axis < len(names) else f"coordinate {axis + 1}"
                read["column"] += [name] * len(_SHARES)
                read["share below"] += _SHARES
                read["value"] += values
            return cast("Columns", read)
        case _:
            return None


def _density(found: Function, names: Sequence[str]) -> Columns | None:  # noqa: ARG001
    match found:
        case ReleasedFunction():
            shown = found.smooth(select_bandwidth(found)).project()
            values: list[float] = np.asarray(shown.quantile(_SHARES)).tolist()
            return {"share below": list(_SHARES), "value": values}
        case _:
            return None


def _survival(curve: Function, names: Sequence[str]) -> Columns | None:  # noqa: ARG001
    match curve:
        case SurvivalCurve():
            times = np.linspace(0.0, curve.until, _TIMES + 1)
            return {
                "time": times.tolist(),
                "share without the event": curve(times).tolist(),
                "at risk": curve.at_risk(times).tolist(),
                "stddev at risk": curve.at_risk_sd(times).tolist(),
            }
        case _:
            return None


def _regression(curve: Function, names: Sequence[str]) -> Columns | None:  # noqa: ARG001
    match curve:
        case RegressionCurve():
            fit = curve.gaussian_process()
            x, means = fit.grid(_TIMES + 1)
            return {
                "x": x.tolist(),
                "mean response": means.tolist(),
                "stddev of the noise": fit.noise_sd(x).tolist(),
            }
        case _:
            return None


_READ: Final[Mapping[str, Reader]] = {
    "density": _density,
    "field": _field,
    "survival": _survival,
    "regression": _regression,
}
