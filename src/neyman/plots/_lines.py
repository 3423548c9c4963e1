"""A linear regression on one column: its line, over the bounds of the column."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from fractions import Fraction
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.numerics import Array
from neyman.plots._axes import number_axis
from neyman.plots._panels import panels
from neyman.plots._rows import Rows, rows_of
from neyman.plots._style import ACCENT, INK, NOTE, QUIET, clean, figure, legend, words
from neyman.publish import Presented

__all__ = ["lines"]

# More panels make a picture that nobody can read.
_MOST_PANELS: Final = 12
_POINTS: Final = 65


def lines(shown: Presented) -> Figure | None:
    """Draw the line of each group in its own panel, with a band for the noise.

    The intervals of intercept and slope hold together, so a line within both of them is in the band
    everywhere. The band covers the whole line at least as often as they do.

    Returns:
        None if there are several features, or too many groups.
    """
    question = shown.release.question
    (side,) = shown.release.sides
    rows = rows_of(shown, side)
    groups = len(rows.values) // 2
    feature, response = next(iter(question.features), None), question.response
    several = len(question.features) > 1 or not 1 <= groups <= _MOST_PANELS
    if several or feature is None or response is None:
        return None
    low, high = feature.bounds or (Fraction(0), Fraction(1))
    x = np.linspace(float(low), float(high), _POINTS)
    across = min(groups, 3)
    size = (6.4, 4.0) if groups == 1 else (3.2 * max(across, 2), 2.6 * -(-groups // across) + 0.6)
    picture = figure(*size)
    level = f"{100 * shown.release.confidence:g}"
    first: Axes | None = None
    for group, axes in enumerate(panels(picture, groups)):
        # Groups are compared on one scale.
        if first is None:
            first = axes
        else:
            axes.sharey(first)
        if question.grouped:
            axes.set_title(rows.labels[2 * group], color=INK, fontsize=9, loc="left")
        _draw(clean(axes), x, rows.at([2 * group, 2 * group + 1]), level)
        axes.set_xlabel(words(shown.with_unit(feature.name)), color=INK)
        axes.set_ylabel(f"mean of {words(shown.with_unit(response.name))}", color=INK)
    legend(picture)
    return picture


def _draw(axes: Axes, x: Array, rows: Rows, level: str) -> None:
    """Draw one line, or why there is none."""
    axes.set_xlim(float(x[0]), float(x[-1]))
    number_axis(axes.xaxis)
    number_axis(axes.yaxis)
    left_out = next((word for word in rows.instead if word), "")
    if left_out or not np.all(np.isfinite(rows.values)):
        said = left_out or "more noise than data"
        axes.text(0.5, 0.5, said, transform=axes.transAxes, color=NOTE, ha="center", fontsize=9)
        axes.tick_params(left=False, labelleft=False)
        return
    colour = QUIET if np.all(rows.marked) else ACCENT
    (intercept, slope), ends = rows.values, rows.intervals
    lower, upper = (
        pick(ends[0][1] * x, ends[1][1] * x) + end[0]
        for pick, end in zip((np.minimum, np.maximum), ends, strict=True)
    )
    if np.all(np.isfinite(lower) & np.isfinite(upper)):
        said = f"noise, {level} % band of the whole curve"
        axes.fill_between(x, lower, upper, color=colour, alpha=0.4, linewidth=0, label=said)
    axes.plot(x, intercept + slope * x, color=colour, linewidth=1.6, label="private mean")
