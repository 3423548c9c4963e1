"""Statistics by bins: bars between their edges, or a heat map of two columns."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.numerics import Array
from neyman.plots._rows import TRUE
from neyman.plots._style import ACCENT, INK, NOTE, QUIET, TRUTH, clean, figure, tick, turned, words
from neyman.released import TOO_FEW, Release, is_amount, noise_alone

__all__ = ["bars", "bins_of", "heat"]

Edges: TypeAlias = list[object]

_MOST_TICKS = 13


def bins_of(release: Release) -> dict[str, Edges] | None:
    """Return the edges by column, where the keys are every bin of one or two columns."""
    starts, ends = release.keys[::2], release.keys[1::2]
    if len(release.keys) not in (2, 4):
        return None
    found: dict[str, Edges] = {}
    for start, end in zip(starts, ends, strict=True):
        column = start.removesuffix("_from")
        if (start, end) != (f"{column}_from", f"{column}_to"):
            return None
        low, high = (list(dict.fromkeys(release.columns[name])) for name in (start, end))
        if low[1:] != high[:-1]:
            return None
        found[column] = [*cast("Edges", low), high[-1]]
    cells = int(np.prod([len(edges) - 1 for edges in found.values()]))
    return found if cells == len(release.groups) else None


def bars(
    release: Release, value: str, what: str, edges: dict[str, Edges], truth: Sequence[float] | None
) -> Figure:
    """Draw a bar for each bin, of equal widths, with the noise interval; the edges are written."""
    ((column, marks),) = edges.items()
    heights, lower, upper = (_numbers(release, name) for name in (value, "lower", "upper"))
    few = np.array(noise_alone(release.query, release.columns), bool)
    gone = few & (not is_amount(release.query))
    heights, lower, upper = (np.where(gone, np.nan, part) for part in (heights, lower, upper))
    colours = np.where(few, QUIET, ACCENT).tolist()
    places = np.arange(len(heights)) + 0.5
    picture = figure(6.4, 3.4)
    axes = clean(picture.add_subplot())
    axes.bar(places, np.nan_to_num(heights), width=0.96, color=colours, alpha=0.45)
    _grey(axes, few, amounts=is_amount(release.query))
    known = np.isfinite(lower) & np.isfinite(upper)
    axes.vlines(
        places[known],
        lower[known],
        upper[known],
        color=ACCENT,
        linewidth=2,
        label="private, with noise interval",
    )
    if truth is not None:
        axes.plot(places, truth, "_", color=TRUTH, markersize=14, mew=1.6, label=TRUE)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    axes.axhline(0, color=INK, linewidth=0.6)
    _marked(axes, marks, across=True)
    axes.grid(axis="y", color=QUIET, alpha=0.25)
    axes.set_xlabel(_axis(column, marks), color=INK)
    axes.set_ylabel(turned(what, 40), color=INK)
    return picture


def heat(release: Release, value: str, what: str, edges: dict[str, Edges]) -> Figure:
    """Draw a cell for each pair of bins; the title says how wide the noise intervals are."""
    (across, x), (up, y) = edges.items()
    few = np.array(noise_alone(release.query, release.columns), bool)
    gone = few & (not is_amount(release.query))
    values = np.where(gone, np.nan, _numbers(release, value)).reshape(len(x) - 1, len(y) - 1)
    picture = figure(5.8, 4.4)
    axes = picture.add_subplot()
    image = axes.pcolormesh(np.ma.masked_invalid(values.T), cmap="viridis")
    picture.colorbar(image, ax=axes, pad=0.02).set_label(turned(what, 50), color=INK)
    _marked(axes, x, across=True)
    _marked(axes, y, across=False)
    axes.set_xlabel(_axis(across, x), color=INK)
    axes.set_ylabel(_axis(up, y), color=INK)
    width = _numbers(release, "upper") - _numbers(release, "lower")
    known = width[np.isfinite(width) & ~gone]
    said = ""
    if known.size:
        said = f"{100 * release.confidence:g} % noise intervals are at most {known.max():.4g} wide"
    if np.any(gone):
        said += f"\nblank: {TOO_FEW}"
    elif np.any(few):
        said += f"\n{int(few.sum())} of {few.size} cells may be noise alone"
    axes.set_title(said.strip(), color=INK, fontsize=9, loc="left")
    return picture


def _grey(axes: Axes, few: npt.NDArray[np.bool_], *, amounts: bool) -> None:
    """Say what grey bars and gaps are."""
    if np.any(few):
        said = "grey: noise alone could have made it" if amounts else f"gaps: {TOO_FEW}"
        axes.text(1, 1.01, said, transform=axes.transAxes, ha="right", color=NOTE, fontsize=9)


def _numbers(release: Release, name: str) -> Array:
    return np.array(cast("list[float]", release.columns[name]), np.float64)


def _marked(axes: Axes, edges: Edges, *, across: bool) -> None:
    """Write edges, not all of many; they are equally far apart, whatever they say."""
    step = -(-len(edges) // _MOST_TICKS)
    places = list(range(0, len(edges), step))
    words = [f"{edge:g}" if isinstance(edge, float) else tick(edge) for edge in edges[::step]]
    if across:
        tilt = 30 if max(map(len, words)) > 6 else 0
        axes.set_xticks(places, words, rotation=tilt)
        axes.set_xlim(0, len(edges) - 1)
    else:
        axes.set_yticks(places, words)
    axes.tick_params(colors=INK)


def _axis(column: str, edges: Edges) -> str:
    numbers = [edge for edge in edges if isinstance(edge, (int, float))]
    widths = np.diff(np.array(numbers, np.float64)) if len(numbers) == len(edges) else np.array([])
    even = not widths.size or np.ptp(widths) <= 1e-9 * float(widths.max())
    return words(column) if even else f"{words(column)} (bins of unequal width)"
