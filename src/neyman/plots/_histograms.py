"""Statistics by bins: bars between their edges, or a heat map of two columns."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.plots._axes import number_axis
from neyman.plots._rows import TRUE, interval_of, numbers_of
from neyman.plots._style import (
    ACCENT,
    INK,
    LEGEND,
    NOTE,
    QUIET,
    SENTENCE,
    TRUTH,
    clean,
    figure,
    legend,
    tick,
    turned,
    words,
)
from neyman.publish import Presented, RowState
from neyman.released import Side

__all__ = ["bars", "bins_of", "heat"]

Edges: TypeAlias = list[object]

_MOST_TICKS = 13


def bins_of(shown: Presented) -> dict[str, Edges] | None:
    """Return the edges by column, where the keys are every bin of one or two columns."""
    release = shown.release
    if shown.ordered() is not shown or shown.display.order != "declared":
        return None
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
    shown: Presented, side: Side, edges: dict[str, Edges], truth: Sequence[float] | None
) -> Figure:
    """Draw a bar for each bin, of equal widths, with the noise interval; the edges are written."""
    ((column, marks),) = edges.items()
    states = shown.states(side)
    gone = np.array([state.left_out for state in states], bool)
    marked = np.array([state == RowState.MARKED for state in states], bool)
    heights, lower, upper = (
        np.where(gone, np.nan, numbers_of(shown, side, name))
        for name in (side.value, "lower", "upper")
    )
    places = np.arange(len(heights)) + 0.5
    picture = figure(6.4, 3.4 if truth is None else 3.4 + LEGEND)
    axes = clean(picture.add_subplot())
    colours = np.where(marked, QUIET, ACCENT).tolist()
    axes.bar(places, np.nan_to_num(heights), width=0.96, color=colours, alpha=0.45)
    _grey(axes, _left_out(shown, states) if np.any(gone) else "", marked=bool(np.any(marked)))
    known = np.isfinite(lower) & np.isfinite(upper)
    label = f"private, with {interval_of(shown)}"
    drawn = lower[known], upper[known]
    axes.vlines(places[known], *drawn, color=ACCENT, linewidth=2, label=label)
    if truth is not None:
        axes.plot(places, truth, "_", color=TRUTH, markersize=14, mew=1.6, label=TRUE)
        legend(picture)
    axes.axhline(0, color=INK, linewidth=0.6)
    _marked(axes, marks, across=True)
    axes.grid(axis="y", color=QUIET, alpha=0.25)
    axes.set_xlabel(_axis(shown.with_unit(column), marks), color=INK)
    what = words(shown.sentence(side), SENTENCE)
    what = what if truth is not None else f"{what}, with {interval_of(shown)}s"
    number_axis(axes.yaxis)
    axes.set_ylabel(turned(what, 40), color=INK)
    return picture


def heat(shown: Presented, side: Side, edges: dict[str, Edges]) -> Figure:
    """Draw a cell for each pair of bins; the title says how wide the noise intervals are."""
    (across, x), (up, y) = edges.items()
    states = shown.states(side)
    gone = np.array([state.left_out for state in states], bool)
    held = np.where(gone, np.nan, numbers_of(shown, side, side.value))
    values = held.reshape(len(x) - 1, len(y) - 1)
    picture = figure(5.8, 4.4)
    axes = picture.add_subplot()
    image = axes.pcolormesh(np.ma.masked_invalid(values.T), cmap="viridis")
    scale = picture.colorbar(image, ax=axes, pad=0.02)
    scale.set_label(turned(words(shown.sentence(side), SENTENCE), 50), color=INK)
    number_axis(scale.ax.yaxis)
    _marked(axes, x, across=True)
    _marked(axes, y, across=False)
    axes.set_xlabel(_axis(shown.with_unit(across), x), color=INK)
    axes.set_ylabel(_axis(shown.with_unit(up), y), color=INK)
    width = numbers_of(shown, side, "upper") - numbers_of(shown, side, "lower")
    known = width[np.isfinite(width) & ~gone]
    said = f"{interval_of(shown)}s are at most {known.max():,.4g} wide" if known.size else ""
    few = states.count(RowState.MARKED)
    if np.any(gone):
        said += f"\nblank: {_left_out(shown, states)}"
    elif few:
        said += f"\n{few} of {len(states)} cells may be noise alone"
    axes.set_title(said.strip(), color=INK, fontsize=9, loc="left")
    return picture


def _left_out(shown: Presented, states: Sequence[RowState]) -> str:
    """Return why rows are suppressed, each reason once."""
    return ", ".join(
        dict.fromkeys(shown.rule.instead_of(state) for state in states if state.left_out)
    )


def _grey(axes: Axes, left_out: str, *, marked: bool) -> None:
    """Return the meaning of grey bars and gaps."""
    said = "grey: noise alone could have made it" if marked else ""
    said += ("; " if said and left_out else "") + (f"gaps: {left_out}" if left_out else "")
    axes.text(1, 1.01, said, transform=axes.transAxes, ha="right", color=NOTE, fontsize=9)


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
