"""Pictures of releases of functions, without simulated bands: small multiples by group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.errors import InvalidParameter
from neyman.functional import (
    Function,
    ProjectedField,
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    function,
    functions,
    select_bandwidth,
)
from neyman.plots._fields import draw_field, heatmap
from neyman.plots._functions import draw_density
from neyman.plots._panels import panels
from neyman.plots._style import ACCENT, INK, clean, figure
from neyman.released import Release

__all__ = ["FUNCTIONS"]

Draw: TypeAlias = Callable[[Axes, Function], None]

_POINTS: Final = 513
_LEVEL: Final = 0.95
# More panels make a picture that nobody can read.
_MOST_PANELS: Final = 12


def _drawn(release: Release, draw: Draw) -> Figure:
    """Draw the function of a release, or those of its groups, one panel each."""
    if release.query.get("keys") is None:
        picture = figure(6.4, 3.6)
        axes = clean(picture.add_subplot())
        found = function(release)
        found.require_records(release.confidence)
        draw(axes, found)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
        return picture
    parts = functions(release)
    shown = list(parts.items())[:_MOST_PANELS]
    across = min(len(shown), 3)
    picture = figure(max(3.2 * across, 6.4), 2.4 * -(-len(shown) // across) + 0.3)
    for axes, (key, part) in zip(panels(picture, len(shown)), shown, strict=True):
        clean(axes).set_title(" · ".join(map(str, key)), color=INK, fontsize=9, loc="left")
        try:
            part.require_records(release.confidence)
            draw(axes, part)
        except InvalidParameter:
            # The noise hides how many records there are: there is nothing to divide by.
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, "more noise than data", transform=axes.transAxes, ha="center")
    if len(parts) > len(shown):
        picture.suptitle(f"the first {len(shown)} of {len(parts)} groups", color=INK, fontsize=9)
    return picture


def _density(axes: Axes, found: Function) -> None:
    match found:
        case ReleasedFunction():
            draw_density(axes, found.smooth(select_bandwidth(found)), _LEVEL)
        case _:
            raise _other(found)


def _survival(axes: Axes, curve: Function) -> None:
    """Draw the curve alone: its bands are simulated, and that takes a generator and a while."""
    match curve:
        case SurvivalCurve():
            times = np.linspace(0.0, curve.until, _POINTS)
            axes.plot(times, curve(times), color=ACCENT, linewidth=1.6)
            axes.set(xlim=(0, curve.until), ylim=(0, 1))
            axes.set_xlabel("time", color=INK)
            axes.set_ylabel("share without the event", color=INK)
        case _:
            raise _other(curve)


def _regression(axes: Axes, curve: Function) -> None:
    """Draw the curve alone, broken where too few records are, for the same reason."""
    match curve:
        case RegressionCurve():
            x, means = curve.gaussian_process().grid(_POINTS)
            axes.plot(x, means, color=ACCENT, linewidth=1.6)
            axes.set_xlim(float(x[0]), float(x[-1]))
            axes.set_ylabel("mean response", color=INK)
        case _:
            raise _other(curve)


def _other(found: Function) -> InvalidParameter:
    return InvalidParameter(
        f"a {type(found).__name__} was to be drawn of a release; write plots.density, "
        "plots.survival or plots.regression of what functional.function(release) gives"
    )


def _field(release: Release) -> Figure:
    """Draw the nearest proper density of two columns; of three, of the first two of them."""
    names = cast("list[str]", release.query.get("columns", []))
    labels = (names[0], names[1]) if len(names) > 1 else ("first coordinate", "second coordinate")
    if release.query.get("keys") is None:
        found = function(release)
        found.require_records(release.confidence)
        return heatmap(_proper(found), labels=labels)
    return _drawn(release, lambda axes, found: draw_field(axes, _proper(found), labels))


def _proper(found: Function) -> ProjectedField:
    match found:
        case ReleasedField():
            smooth = found.smooth(select_bandwidth(found))
            return (smooth.plane(0, 1) if len(smooth.basis.sides) > 2 else smooth).project()
        case _:
            raise _other(found)


FUNCTIONS: Final[Mapping[str, Callable[[Release], Figure]]] = {
    "density": lambda release: _drawn(release, _density),
    "field": _field,
    "survival": lambda release: _drawn(release, _survival),
    "regression": lambda release: _drawn(release, _regression),
}
