"""Numbers that a person reads off a released function. Post-processing, free."""

from collections.abc import Callable, Mapping
from typing import Final, cast

import numpy as np

from neyman.aggregate import Columns
from neyman.errors import InvalidParameter
from neyman.functional import (
    Function,
    RegressionCurve,
    ReleasedFunction,
    SurvivalCurve,
    function,
    functions,
    select_bandwidth,
)
from neyman.released import Release

__all__ = ["figures"]

_SHARES: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_TIMES: Final = 10


def figures(release: Release) -> Columns | None:
    """Return a few numbers that stand for a released function; None for other releases.

    Of a density the quantiles of the nearest proper one, at the bandwidth that the release itself
    chooses; of a survival curve its values at tenths of the time that it is known for; of a
    regression the curve at tenths of the domain, NaN where too few records are. By group, the
    groups one after another, without those that the noise hides.
    """
    read = _READ.get(str(release.query["statistic"]))
    if read is None:
        return None
    if release.query.get("keys") is None:
        return _read(read, function(release))
    parts = functions(release)
    found: dict[str, list[object]] = {}
    for key, part in parts.items():
        columns = _read(read, part)
        if columns is None:
            continue
        length = len(next(iter(columns.values())))
        named = {name: [cell] * length for name, cell in zip(parts.columns, key, strict=True)}
        for name, column in (named | columns).items():
            found.setdefault(name, []).extend(column)
    return cast("Columns", found) or None


def _read(read: Callable[[Function], Columns | None], made: Function) -> Columns | None:
    try:
        return read(made)
    except InvalidParameter:
        # More noise than data, or a domain of several sides.
        return None


def _density(found: Function) -> Columns | None:
    match found:
        case ReleasedFunction():
            shown = found.smooth(select_bandwidth(found)).project()
            values: list[float] = np.asarray(shown.quantile(_SHARES)).tolist()
            return {"share below": list(_SHARES), "value": values}
        case _:
            return None


def _survival(curve: Function) -> Columns | None:
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


def _regression(curve: Function) -> Columns | None:
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


_READ: Final[Mapping[str, Callable[[Function], Columns | None]]] = {
    "density": _density,
    "survival": _survival,
    "regression": _regression,
}
