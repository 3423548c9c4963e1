"""Pictures of released statistics."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

import numpy as np
from matplotlib.figure import Figure

from neyman.errors import InvalidParameter
from neyman.functional import (
    RegressionCurve,
    ReleasedFunction,
    SurvivalCurve,
    function,
    select_bandwidth,
)
from neyman.plots._functions import density
from neyman.plots._quantiles import quantiles
from neyman.plots._style import ACCENT, INK, QUIET, TRUTH, clean, figure
from neyman.released import Release

__all__ = ["released"]

_TRUE = "true (public data)"
_POINTS = 513


def released(release: Release, *, truth: Sequence[float] | None = None) -> Figure:
    """Draw a released statistic, one line a group, with its noise intervals.

    Args:
        release: any count, sum or mean; quantiles, drawn as `quantiles` does; a density of one
            variable, drawn as `density` does at the bandwidth that the release chooses; or a
            survival or regression curve, without bands, which `survival` and `regression` draw.
        truth: exact values in the order of the release, drawn beside. Only for data that are
            public anyway: whoever sees them needs no release.

    Raises:
        InvalidParameter: if it is a release of another function, or of one that its noise hides.
    """
    columns = release.columns
    statistic = str(release.query["statistic"])
    if statistic in _FUNCTIONS and truth is None:
        return _FUNCTIONS[statistic](release)
    if statistic not in columns:
        raise InvalidParameter(
            f"a release of {statistic!r} was to be drawn, which is a function; make it one by "
            "functional.function(release), and write plots.density, plots.survival or "
            "plots.regression, which take a true function beside"
        )
    values = cast("list[float]", columns[statistic])
    lower, upper = (cast("list[float]", columns[name]) for name in ("lower", "upper"))
    places = range(len(values))
    picture = figure(6.4, 0.9 + 0.24 * max(len(values), 2))
    axes = clean(picture.add_subplot())
    axes.hlines(places, lower, upper, color=ACCENT, linewidth=5, alpha=0.3)
    drawn = [(i, value) for i, value in enumerate(values) if math.isfinite(value)]
    points, rows = [value for _, value in drawn], [i for i, _ in drawn]
    axes.plot(points, rows, "o", color=ACCENT, markersize=4, label="private, with noise interval")
    if truth is not None:
        axes.plot(truth, places, "|", color=TRUTH, markersize=11, mew=1.6, label=_TRUE)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    axes.set_yticks(places, release.groups)
    axes.invert_yaxis()
    axes.grid(axis="x", color=QUIET, alpha=0.25)
    what = statistic if statistic == "count" else f"{statistic} of {release.query['column']}"
    axes.set_xlabel(what, color=INK)
    return picture


def _density(release: Release) -> Figure:
    found = function(release, ReleasedFunction)
    return density(found.smooth(select_bandwidth(found)))


def _survival(release: Release) -> Figure:
    """Draw the curve alone: its bands are simulated, and that takes a generator and a while."""
    curve = function(release, SurvivalCurve)
    times = np.linspace(0.0, curve.until, _POINTS)
    picture = figure(6.4, 3.6)
    axes = clean(picture.add_subplot())
    axes.plot(times, curve(times), color=ACCENT, linewidth=1.6)
    axes.set(xlim=(0, curve.until), ylim=(0, 1))
    axes.set_xlabel("time", color=INK)
    axes.set_ylabel("share without the event", color=INK)
    return picture


def _regression(release: Release) -> Figure:
    """Draw the curve alone, broken where too few records are, for the same reason."""
    x, means = function(release, RegressionCurve).gaussian_process().grid(_POINTS)
    picture = figure(6.4, 3.6)
    axes = clean(picture.add_subplot())
    axes.plot(x, means, color=ACCENT, linewidth=1.6)
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylabel("mean response", color=INK)
    return picture


_FUNCTIONS: Final[Mapping[str, Callable[[Release], Figure]]] = {
    "density": _density,
    "survival": _survival,
    "regression": _regression,
    "quantile": quantiles,
}
