"""Pictures of released densities of two coordinates."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional import (
    Generator,
    ProperDensity,
    ReleasedField,
    Side,
)
from neyman.functional._answers import Answer, found_in
from neyman.functional._generator import public_generator
from neyman.numerics import Array
from neyman.plots._axes import number_axis
from neyman.plots._style import INK, figure, plain, words

__all__ = ["draw_field", "heatmap"]

# Points on an axis of a small picture.
_COARSE = 65


@plain
def heatmap(
    field: ProperDensity | ReleasedField | Answer,
    *,
    generator: Generator | None = None,
    level: float = 0.95,
    points: int = 129,
    repetitions: int = 200,
    labels: tuple[str, str] = ("first coordinate", "second coordinate"),
) -> Figure:
    """Draw a released density of two coordinates.

    A kernel estimate, `f.raw` or `f.raw.smooth(...)`, gets a line. Inside the line the estimate is
    larger than its noise can explain, at all points of the grid at once with probability `level`
    (see `ReleasedField.band`). Negative values are drawn as zero.

    Args:
        field: a density, a kernel estimate, or an answer of a session.
        generator: for the simulated band; by default one with a fixed, public seed. It draws no
            privacy noise. A proper density has no band.
        level: the coverage of the band.
        points: the number of points on each axis.
        repetitions: the number of simulations.
        labels: the labels of the axes.

    Raises:
        InvalidParameter: if the field has three coordinates, or there are not two labels.
    """
    instead = "functional.function(release) of a density on a Box"
    found = found_in(field)
    check_type("field", found, ProperDensity | ReleasedField, instead)
    if len(labels) != 2:
        raise InvalidParameter(f"there must be two labels, one for each axis; got {len(labels)}")
    _check_plane(found.sides)
    if isinstance(found, ProperDensity):
        places, values = found.grid(points)
        picture, axes = _drawn(found.sides, places, values, labels)
        axes.set_title("private density", color=INK, fontsize=9, loc="left")
        return picture
    source = public_generator() if generator is None else generator
    band = found.band(level, "noise", generator=source, points=points, repetitions=repetitions)
    picture, axes = _drawn(found.sides, band.axes, band.estimate, labels)
    if band.lower.min() < 0 < band.lower.max():
        x, y, lower = _closed(found.sides, band.axes, band.lower)
        axes.contour(x, y, lower.T, levels=[0.0], colors="white", linewidths=1.1)
    bandwidths = " and ".join(f"{float(h):.3g}" for h in found.bandwidth)
    axes.set_title(
        f"private density, bandwidths {bandwidths}; inside the line\n"
        f"above zero beyond noise, {100 * level:g} % everywhere at once",
        color=INK,
        fontsize=9,
        loc="left",
    )
    return picture


def draw_field(axes: Axes, field: ProperDensity, labels: tuple[str, str]) -> None:
    """Draw a density of two coordinates on given axes, with its own colour scale."""
    _colour(axes, field.sides, *field.grid(_COARSE), labels)


def _check_plane(sides: tuple[Side, ...]) -> None:
    if len(sides) != 2:
        raise InvalidParameter(
            f"a heat map needs a field of two coordinates; got {len(sides)}. Write "
            "heatmap(field.plane(0, 1), ...)"
        )


def _drawn(
    sides: tuple[Side, ...], places: tuple[Array, ...], values: Array, labels: tuple[str, str]
) -> tuple[Figure, Axes]:
    picture = figure(5.6, 4.4)
    axes = picture.add_subplot()
    _colour(axes, sides, places, values, labels)
    return picture, axes


def _colour(
    axes: Axes,
    sides: tuple[Side, ...],
    places: tuple[Array, ...],
    values: Array,
    labels: tuple[str, str],
) -> None:
    x, y, shown = _closed(sides, places, values)
    image = axes.pcolormesh(
        x,
        y,
        np.maximum(shown, 0.0).T,
        cmap="viridis",
        shading="gouraud",
        vmin=0.0,
        rasterized=True,
    )
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    for axis in (axes.xaxis, axes.yaxis, bar.ax.yaxis):
        number_axis(axis)
    bar.set_label("density", color=INK)
    axes.set_xlabel(words(labels[0]), color=INK)
    axes.set_ylabel(words(labels[1]), color=INK)
    axes.tick_params(colors=INK)


def _closed(
    sides: tuple[Side, ...], places: tuple[Array, ...], values: Array
) -> tuple[Array, Array, Array]:
    """Return places and values with the first of a circle again behind the last."""
    (first, second), (x, y) = sides, places
    if first.closed:
        x, values = np.append(x, first.period), _turned(values)
    if second.closed:
        y, values = np.append(y, second.period), _turned(values.T).T
    return x, y, values


def _turned(values: Array) -> Array:
    """Return the first row again behind the last."""
    return np.concatenate([values, values[:1]])
