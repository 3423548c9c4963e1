"""Pictures of released fields."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import numpy as np
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional import Generator, ReleasedField
from neyman.numerics import Array
from neyman.plots._style import INK, figure

__all__ = ["heatmap"]


def heatmap(
    field: ReleasedField,
    *,
    generator: Generator,
    level: float = 0.95,
    points: int = 129,
    repetitions: int = 200,
    labels: tuple[str, str] = ("first coordinate", "second coordinate"),
) -> Figure:
    """Draw a released density of two coordinates, and around where it is more than noise.

    Inside the line the field is above zero beyond what its noise can do, at all points of the grid
    at once with the probability `level` (see `ReleasedField.band`). Where the field is below zero
    it is shown as zero.

    Args:
        field: at the bandwidths that it shall be drawn with.
        generator: for the band, which is simulated.
        level: of the band.
        points: on each axis.
        repetitions: of the simulation.
        labels: of the axes.

    Raises:
        InvalidParameter: if the field has three coordinates, or there are not two labels.
    """
    check_type("field", field, ReleasedField, "functional.function(release) of a density on a Box")
    if field.basis.dimensions != 2:
        raise InvalidParameter(
            f"a heat map of {field.basis.dimensions} coordinates was asked for; write one of a "
            "field of two: heatmap(field.plane(0, 1), ...)"
        )
    if len(labels) != 2:
        raise InvalidParameter(f"{len(labels)} labels were given; write two, one for each axis")
    across, up = labels
    band = field.band(level, generator=generator, points=points, repetitions=repetitions)
    picture = figure(5.6, 4.4)
    axes = picture.add_subplot()
    (x, y), estimate, lower = band.axes, band.estimate, band.lower
    first, second = field.basis.sides
    if first.closed:
        x, estimate, lower = np.append(x, first.period), _turned(estimate), _turned(lower)
    if second.closed:
        y, estimate, lower = np.append(y, second.period), _turned(estimate.T).T, _turned(lower.T).T
    image = axes.pcolormesh(
        x,
        y,
        np.maximum(estimate, 0.0).T,
        cmap="viridis",
        shading="gouraud",
        vmin=0.0,
        rasterized=True,
    )
    if lower.min() < 0 < lower.max():
        axes.contour(x, y, lower.T, levels=[0.0], colors="white", linewidths=1.1)
    bandwidths = " and ".join(f"{float(h):.3g}" for h in field.bandwidth)
    bar = picture.colorbar(image, ax=axes, pad=0.02)
    bar.set_label("density", color=INK)
    axes.set_title(
        f"private density, bandwidths {bandwidths}; inside the line\n"
        f"above zero beyond noise, {100 * level:g} % everywhere at once",
        color=INK,
        fontsize=9,
        loc="left",
    )
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    axes.tick_params(colors=INK)
    return picture


def _turned(values: Array) -> Array:
    """Return the first row again behind the last."""
    return np.concatenate([values, values[:1]])
