"""Pictures of released functions."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional import (
    Band,
    Generator,
    RegressionFit,
    ReleasedFunction,
    SurvivalCurve,
)
from neyman.numerics import Array
from neyman.plots._style import ACCENT, INK, TRUTH, clean, figure

__all__ = ["density", "draw_density", "regression", "survival"]

# A picture in a page has no more points than this across.
_MOST_POINTS = 700


def density(
    function: ReleasedFunction,
    *,
    level: float = 0.95,
    truth: Callable[[Array], Array] | None = None,
) -> Figure:
    """Draw a released density with two bands: for its noise, and for noise and sampling.

    Args:
        function: at the bandwidth that it shall be drawn with.
        level: that each band covers everywhere at once; the outer one is an estimate.
        truth: the density without noise, drawn beside. Only for data that are public anyway.
    """
    instead = "a density: functional.function(release, functional.ReleasedFunction)"
    check_type("function", function, ReleasedFunction, instead)
    check_type("truth", truth, Callable | None, "the density as a function, or None")
    picture = figure(6.4, 3.6)
    axes = clean(picture.add_subplot())
    draw_density(axes, function, level, truth)
    axes.legend(frameon=False)
    return picture


def survival(
    curve: SurvivalCurve,
    *,
    generator: Generator,
    level: float = 0.95,
    repetitions: int = 300,
    truth: Callable[[Array], Array] | None = None,
) -> Figure:
    """Draw a released survival curve with two bands: for its noise, and for noise and sampling.

    Args:
        curve: drawn up to `until`.
        generator: for the bands, which are simulated.
        level: that each band covers everywhere at once; both are estimates.
        repetitions: simulated releases for each.
        truth: the curve without noise, drawn beside. Only for data that are public anyway.
    """
    instead = "a survival curve: functional.function(release, functional.SurvivalCurve)"
    check_type("curve", curve, SurvivalCurve, instead)
    check_type("truth", truth, Callable | None, "the curve as a function, or None")
    total = curve.band(level, "total", generator=generator, repetitions=repetitions)
    noise = curve.band(level, "noise", generator=generator, repetitions=repetitions)
    picture = figure(6.4, 3.6)
    axes = clean(picture.add_subplot())
    _draw(axes, "private survival", total, noise, f"{100 * level:g} %", truth)
    axes.set(xlim=(0, float(noise.x[-1])), ylim=(0, 1))
    axes.set_xlabel("time", color=INK)
    axes.set_ylabel("share without the event", color=INK)
    axes.legend(frameon=False)
    return picture


def regression(
    fit: RegressionFit,
    *,
    generator: Generator,
    level: float = 0.95,
    repetitions: int = 300,
    truth: Callable[[Array], Array] | None = None,
    labels: tuple[str, str] = ("x", "mean response"),
) -> Figure:
    """Draw a released regression curve with two bands: for its noise, and for noise and sampling.

    Where too few records are to be told from the noise nothing is drawn.

    Args:
        fit: a reading of the curve, such as `curve.gaussian_process()`; the title says which.
        generator: for the bands, which are simulated.
        level: that each band covers everywhere at once; both are estimates.
        repetitions: simulated releases for each.
        truth: the curve without noise, drawn beside. Only for data that are public anyway.
        labels: of the axes: what x and the response are.

    Raises:
        InvalidParameter: if there are not two labels.
    """
    if len(labels) != 2:
        raise InvalidParameter(f"{len(labels)} labels were given; write two, one for each axis")
    check_type("fit", fit, RegressionFit, "a reading such as curve.gaussian_process()")
    check_type("truth", truth, Callable | None, "the curve as a function, or None")
    total, noise = (
        fit.band(level, kind, generator=generator, repetitions=repetitions)
        for kind in ("total", "noise")
    )
    picture = figure(6.4, 3.6)
    axes = clean(picture.add_subplot())
    _draw(axes, "private mean", total, noise, f"{100 * level:g} %", truth)
    axes.set_xlim(float(noise.x[0]), float(noise.x[-1]))
    across, up = labels
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.set_title(f"read by {fit.smoother.words}", color=INK, fontsize=9, loc="left")
    axes.legend(frameon=False)
    return picture


def draw_density(
    axes: Axes,
    function: ReleasedFunction,
    level: float,
    truth: Callable[[Array], Array] | None = None,
) -> None:
    """Draw a density with both bands."""
    noise, total = function.band(level, "noise"), function.band(level, "total")
    _draw(axes, "private density", total, noise, f"{100 * level:g} %", truth)
    axes.axhline(0, color=INK, linewidth=0.6)
    axes.set_xlim(float(noise.x[0]), float(noise.x[-1]))
    axes.set_ylabel(f"density, bandwidth {float(function.bandwidth):.3g}", color=INK)


def _draw(
    axes: Axes,
    name: str,
    total: Band,
    noise: Band,
    words: str,
    truth: Callable[[Array], Array] | None,
) -> None:
    """Draw both bands, the curve, and the true one where it is given."""
    for band, label, alpha in (
        (total, f"noise and sampling, {words}", 0.18),
        (noise, f"noise, {words}", 0.4),
    ):
        x, lower, upper = (_thinned(part) for part in (band.x, band.lower, band.upper))
        axes.fill_between(x, lower, upper, color=ACCENT, alpha=alpha, linewidth=0, label=label)
    axes.plot(_thinned(noise.x), _thinned(noise.estimate), color=ACCENT, linewidth=1.6, label=name)
    if truth is not None:
        known = np.asarray(truth(noise.x))
        axes.plot(noise.x, known, color=TRUTH, linewidth=1, label="true (public data)")


def _thinned(values: Array) -> Array:
    """Return as many values as a picture can show, the last among them."""
    step = -(-len(values) // _MOST_POINTS)
    return np.append(values[:-1:step], values[-1])
