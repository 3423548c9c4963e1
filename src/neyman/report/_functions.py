"""Numbers that a person reads off a released function. Post-processing, free."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from neyman.aggregate import Columns
from neyman.errors import InvalidParameter
from neyman.functional import (
    RegressionCurve,
    ReleasedFunction,
    SurvivalCurve,
    function,
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
    regression the curve at tenths of the domain, NaN where too few records are.
    """
    read = _READ.get(str(release.query["statistic"]))
    if read is None:
        return None
    try:
        return read(release)
    except InvalidParameter:
        # More noise than data, or a domain of several sides.
        return None


def _density(release: Release) -> Columns:
    released = function(release, ReleasedFunction)
    shown = released.smooth(select_bandwidth(released)).project()
    return {"share below": list(_SHARES), "value": np.asarray(shown.quantile(_SHARES)).tolist()}


def _survival(release: Release) -> Columns:
    curve = function(release, SurvivalCurve)
    times = np.linspace(0.0, curve.until, _TIMES + 1)
    return {
        "time": times.tolist(),
        "share without the event": curve(times).tolist(),
        "at risk": curve.at_risk(times).tolist(),
        "stddev at risk": curve.at_risk_sd(times).tolist(),
    }


def _regression(release: Release) -> Columns:
    fit = function(release, RegressionCurve).gaussian_process()
    x, means = fit.grid(_TIMES + 1)
    return {
        "x": x.tolist(),
        "mean response": means.tolist(),
        "stddev of the noise": fit.noise_sd(x).tolist(),
    }


_READ: Final[Mapping[str, Callable[[Release], Columns]]] = {
    "density": _density,
    "survival": _survival,
    "regression": _regression,
}
