"""Pictures of released functions."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist
from textwrap import fill
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional import (
    AdditiveCurve,
    Band,
    DensityFunction,
    Generator,
    RegressionCurve,
    RegressionFit,
    ScaledInterval,
    SurvivalCurve,
)
from neyman.functional._answers import Answer, found_in
from neyman.functional._arguments import check_level
from neyman.functional._generator import public_generator
from neyman.functional._lifetimes._survival_curve import LifeView
from neyman.numerics import Array
from neyman.plots._axes import number_axis, scaled_axis
from neyman.plots._style import ACCENT, INK, TRUTH, clean, figure, legend, plain, words

__all__ = [
    "density",
    "draw_density",
    "draw_regression",
    "draw_survival",
    "effects",
    "regression",
    "survival",
]

Truth: TypeAlias = Callable[[Array], Array] | None

# A picture in a page has no more points than this across.
_MOST_POINTS = 700
# Panels of one row, and points of each.
_ACROSS, _PANEL_POINTS = 3, 200
# Characters of an inch of text within a picture, and of its shortest line.
_PER_INCH, _SHORTEST = 9, 16


@plain
def density(
    function: DensityFunction | Answer,
    *,
    level: float = 0.95,
    truth: Callable[[Array], Array] | None = None,
    label: str | None = None,
) -> Figure:
    """Draw a released density with two bands: for its noise, and for the density itself.

    On a domain with a scale, such as log x, it draws the density of the scaled values. The area
    under it is the share of the records.

    Args:
        function: a released density, at any bandwidth, or an answer of a session.
        level: the coverage of each band, everywhere at once; both are estimates.
        truth: the density without noise, for public data only.
        label: the label of the values.
    """
    instead = "a density: functional.function(release, functional.DensityFunction)"
    found = found_in(function)
    check_type("function", found, DensityFunction, instead)
    check_type("truth", truth, Callable | None, "the density as a function, or None")
    picture = figure(6.4, 4.0)
    axes = clean(picture.add_subplot())
    draw_density(axes, found, level, truth, label=label)
    legend(picture)
    return picture


@plain
def survival(
    curve: SurvivalCurve | Answer,
    *,
    generator: Generator | None = None,
    level: float = 0.95,
    repetitions: int = 300,
    truth: Callable[[Array], Array] | None = None,
    label: str = "time",
    of: LifeView = "survival",
    cause: int = 1,
) -> Figure:
    """Draw a released survival curve with two bands: for its noise, and for noise and sampling.

    Args:
        curve: a released survival curve, drawn up to `until`, or an answer of a session.
        generator: for the simulated bands; by default one with a fixed, public seed. It draws no
            privacy noise, because the simulation uses only the release.
        level: the coverage of each band, for the whole curve; both are estimates.
        repetitions: the number of simulations.
        truth: the curve without noise, for public data only.
        label: the label of the times.
        of: "survival", "cumulative_hazard" or "cumulative_incidence".
        cause: the cause of the incidence.
    """
    instead = "a survival curve: functional.function(release, functional.SurvivalCurve)"
    found = found_in(curve)
    check_type("curve", found, SurvivalCurve, instead)
    check_type("truth", truth, Callable | None, "the curve as a function, or None")
    total, noise = _simulated(
        partial(found.band, of=of, cause=cause), generator, level, repetitions
    )
    picture = figure(6.4, 4.0)
    axes = clean(picture.add_subplot())
    draw_survival(axes, total, noise, level, truth, label=label, of=of)
    legend(picture)
    return picture


@plain
def regression(
    fit: RegressionFit | RegressionCurve | Answer,
    *,
    generator: Generator | None = None,
    level: float = 0.95,
    repetitions: int = 300,
    truth: Callable[[Array], Array] | None = None,
    labels: tuple[str, str] = ("x", "mean response"),
) -> Figure:
    """Draw a released regression curve with two bands: for its noise, and for noise and sampling.

    Nothing is drawn where noise hides the number of records.

    Args:
        fit: a released regression curve or an answer of a session, which is smoothed by
            `gaussian_process`; or another fit of it. The title names the smoother.
        generator: for the simulated bands; by default one with a fixed, public seed. It draws no
            privacy noise, because the simulation uses only the release.
        level: the coverage of each band, for the whole curve; both are estimates.
        repetitions: the number of simulations.
        truth: the curve without noise, for public data only.
        labels: the labels of x and of the response.

    Raises:
        InvalidParameter: if there are not two labels.
    """
    if len(labels) != 2:
        raise InvalidParameter(f"there must be two labels, one for each axis; got {len(labels)}")
    found = found_in(fit)
    reading = found.gaussian_process() if isinstance(found, RegressionCurve) else found
    check_type("fit", reading, RegressionFit, "a curve, or a reading of it")
    check_type("truth", truth, Callable | None, "the curve as a function, or None")
    total, noise = _simulated(reading.band, generator, level, repetitions)
    picture = figure(6.4, 4.0)
    axes = clean(picture.add_subplot())
    draw_regression(axes, total, noise, level, truth, labels=labels)
    axes.set_title(f"read by {reading.smoother.words}", color=INK, fontsize=9, loc="left")
    legend(picture)
    return picture


@plain
def effects(
    curve: AdditiveCurve | Answer,
    *,
    level: float = 0.95,
    labels: Sequence[str] | None = None,
    response: str = "mean response",
) -> Figure:
    """Draw the contribution of each feature to the mean response, with pointwise intervals.

    Interactions are not drawn; evaluate `curve.effect(k, l)` instead.

    Args:
        curve: a released sum of curves, or an answer of a session.
        level: the coverage of each interval, at a single point; they are estimates.
        labels: the labels of the features; by default numbers from 0.
        response: the label of the response.

    Raises:
        InvalidParameter: if the numbers of labels and features differ.
    """
    instead = "a sum of curves: functional.function(release, functional.AdditiveCurve)"
    found = found_in(curve)
    check_type("curve", found, AdditiveCurve, instead)
    alone = [effect for effect in found.effects if len(effect.features) == 1]
    names = [f"feature {k}" for k in range(len(alone))] if labels is None else list(labels)
    if len(names) != len(alone):
        raise InvalidParameter(f"labels must be {len(alone)}, one a feature; got {len(names)}")
    across = min(len(alone), _ACROSS)
    down = -(-len(alone) // across)
    picture = figure(max(2.6 * across, 3.6), 2.6 * down)
    shared: Axes | None = None
    for place, (effect, name) in enumerate(zip(alone, names, strict=True)):
        axes = clean(picture.add_subplot(down, across, place + 1, sharey=shared))
        shared = axes if shared is None else shared
        x, y = effect.grid(_PANEL_POINTS)
        reach = NormalDist().inv_cdf((1 + check_level(level)) / 2) * effect.sd(x)
        label = f"{100 * level:g} % interval at each place"
        axes.fill_between(x, y - reach, y + reach, color=ACCENT, alpha=0.3, lw=0, label=label)
        axes.plot(x, y, color=ACCENT, linewidth=1.6, label="private effect")
        axes.set_xlim(float(x[0]), float(x[-1]))
        axes.set_xlabel(words(name), color=INK)
        if place % across == 0:
            axes.set_ylabel(words(response), color=INK)
        _numbered(axes)
    legend(picture)
    return picture


def draw_density(
    axes: Axes,
    function: DensityFunction,
    level: float,
    truth: Truth = None,
    *,
    label: str | None = None,
    independent: bool = True,
) -> None:
    """Draw a density with its bands; that for the density only if records are independent."""
    noise = function.band(level, "noise")
    whole = function.band(level, "density") if independent else None
    curve = Band((noise.x,), function(noise.x), noise.lower, noise.upper, noise.width)
    what, side = "density", function.sides[0]
    if isinstance(side, ScaledInterval):
        # On its line, where the area under the curve is the share of the records.
        curve, what = _on_line(curve, side), f"density of {side.scale.words}"
        whole = whole and _on_line(whole, side)
        truth = truth and partial(_truth_on_line, truth, side)
    _draw(axes, "private density", whole, curve, level, truth, outer="the density itself")
    axes.axhline(0, color=INK, linewidth=0.6)
    axes.set_xlim(float(noise.x[0]), float(noise.x[-1]))
    _numbered(axes)
    if isinstance(side, ScaledInterval):
        scaled_axis(axes, side)
    read = "" if function.bandwidth is None else f", bandwidth {float(function.bandwidth[0]):.3g}"
    axes.set_ylabel(f"{what}{read}", color=INK)
    if function.unresolved is not None:
        inches = float(axes.bbox.width / axes.figure.dpi)
        why = fill(function.unresolved.partition(";")[0], max(int(_PER_INCH * inches), _SHORTEST))
        # The peaks of heaped values reach up to it.
        paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
        where = axes.transAxes
        axes.text(0.02, 0.98, why, transform=where, va="top", color=INK, fontsize=8, bbox=paper)
    if label is not None:
        axes.set_xlabel(words(label), color=INK)


def _on_line(band: Band, side: ScaledInterval) -> Band:
    """Return the band of the density of values on the scale, at the same places."""
    slope = side.slope(band.x)
    return band._replace(
        estimate=band.estimate / slope, lower=band.lower / slope, upper=band.upper / slope
    )


def _truth_on_line(truth: Callable[[Array], Array], side: ScaledInterval, x: Array) -> Array:
    return np.asarray(truth(x), np.float64) / side.slope(x)


def draw_survival(
    axes: Axes,
    total: Band | None,
    noise: Band,
    level: float,
    truth: Truth = None,
    *,
    label: str,
    of: LifeView = "survival",
) -> None:
    """Draw a survival curve, or another of its release, with its bands."""
    named = of.replace("_", " ")
    _draw(axes, f"private {named}", total, noise, level, truth)
    most = 1.0 if of != "cumulative_hazard" else float(noise.upper.max())
    axes.set(xlim=(0, float(noise.x[-1])), ylim=(0, most))
    axes.set_xlabel(words(label), color=INK)
    axes.set_ylabel("share without the event" if of == "survival" else named, color=INK)
    _numbered(axes)


def draw_regression(
    axes: Axes,
    total: Band | None,
    noise: Band,
    level: float,
    truth: Truth = None,
    *,
    labels: tuple[str, str],
) -> None:
    """Draw a regression curve with its bands."""
    _draw(axes, "private mean", total, noise, level, truth)
    axes.set_xlim(float(noise.x[0]), float(noise.x[-1]))
    across, up = labels
    axes.set_xlabel(words(across), color=INK)
    axes.set_ylabel(words(up), color=INK)
    _numbered(axes)


def _numbered(axes: Axes) -> None:
    number_axis(axes.xaxis)
    number_axis(axes.yaxis)


def _simulated(
    band: Callable[..., Band],
    generator: Generator | None,
    level: float,
    repetitions: int,
) -> tuple[Band, Band]:
    """Return the bands for noise and sampling, and for noise, one after the other."""
    source = public_generator() if generator is None else generator
    total = band(level, "total", generator=source, repetitions=repetitions)
    return total, band(level, "noise", generator=source, repetitions=repetitions)


def _draw(
    axes: Axes,
    name: str,
    total: Band | None,
    noise: Band,
    level: float,
    truth: Truth,
    *,
    outer: str = "noise and sampling",
) -> None:
    """Draw the bands, the curve, and the true curve if it is given."""
    said = f"{100 * level:g} % band of the whole curve"
    bands = [(noise, f"noise, {said}", 0.4)]
    if total is not None:
        bands.insert(0, (total, f"{outer}, {said}", 0.18))
    for band, label, alpha in bands:
        kept = _kept(band.lower, band.upper)
        x, lower, upper = (part[kept] for part in (band.x, band.lower, band.upper))
        axes.fill_between(x, lower, upper, color=ACCENT, alpha=alpha, linewidth=0, label=label)
    kept = _kept(noise.estimate)
    axes.plot(noise.x[kept], noise.estimate[kept], color=ACCENT, linewidth=1.6, label=name)
    if truth is not None:
        known = np.asarray(truth(noise.x))
        axes.plot(
            noise.x, known, color=TRUTH, linewidth=1, linestyle="--", label="true (public data)"
        )


def _kept(*curves: Array) -> npt.NDArray[np.intp]:
    """Return as many points as a picture can show: the least and the largest value of each stretch.

    So narrow peaks keep their height.
    """
    size = curves[0].size
    if size <= _MOST_POINTS:
        return np.arange(size)
    each = -(-2 * len(curves) * size // _MOST_POINTS)
    found = [np.array([0, size - 1])]
    for values in curves:
        rows = np.pad(values, (0, -size % each), mode="edge").reshape(-1, each)
        first = np.arange(len(rows)) * each
        found += [first + rows.argmin(axis=1), first + rows.argmax(axis=1)]
    return np.unique(np.minimum(np.concatenate(found), size - 1))
