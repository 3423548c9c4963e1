"""Values with intervals, one row for each group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from neyman.numerics import Array
from neyman.plots._axes import number_axis
from neyman.plots._style import ACCENT, INK, QUIET, TRUTH, clean, inches, say_instead, tick_of
from neyman.publish import Presented, RowState
from neyman.released import Side

__all__ = [
    "TRUE",
    "Rows",
    "height",
    "interval_of",
    "label_width",
    "numbers_of",
    "rows_of",
    "tick_labels",
]

TRUE = "true (public data)"
_ROOM = 0.05
# Inches between the names of rows and the axis, and at the other side.
_BESIDE = 0.35


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one statistic.

    Attributes:
        labels: the labels of the rows.
        values: the values, NaN if there is none.
        intervals: the lower and upper ends of the noise intervals.
        marked: whether noise alone could have made the value, which is then grey.
        instead: the text that replaces a suppressed value; "" otherwise.
        interval: the meaning of the bars, such as "95 % noise interval".
    """

    labels: Sequence[str]
    values: Array
    intervals: tuple[Array, Array]
    marked: npt.NDArray[np.bool_]
    instead: Sequence[str]
    interval: str

    def at(self, places: Sequence[int]) -> "Rows":
        """Return some of the rows."""
        chosen = list(places)
        lower, upper = self.intervals
        return Rows(
            [self.labels[i] for i in chosen],
            self.values[chosen],
            (lower[chosen], upper[chosen]),
            self.marked[chosen],
            [self.instead[i] for i in chosen],
            self.interval,
        )

    def draw(self, axes: Axes, what: str, truth: Sequence[float] | None = None) -> None:
        """Draw them; words stand in the place of what is left out."""
        places = np.arange(len(self.values))
        drawn = np.array([not word for word in self.instead], bool)
        parts = [self.values, *self.intervals]
        shown = [*(part[drawn] for part in parts), np.array(truth or [], float)]
        least, most = _span(np.concatenate(shown))
        colours = np.where(self.marked, QUIET, ACCENT)
        lower, upper = (
            np.clip(np.nan_to_num(end, nan=least), least, most)[drawn] for end in self.intervals
        )
        axes.hlines(
            places[drawn], lower, upper, colors=colours[drawn].tolist(), linewidth=4, alpha=0.4
        )
        for place in np.flatnonzero(~drawn).tolist():
            say_instead(axes, float(place), self.instead[place])
        known = np.isfinite(self.values) & drawn
        for chosen, colour, label in (
            (known & ~self.marked, ACCENT, f"private, with {self.interval}"),
            (known & self.marked, QUIET, "the same, and noise alone could have made it"),
        ):
            if np.any(chosen) or colour == ACCENT:
                values = self.values[chosen], places[chosen]
                axes.plot(*values, "o", color=colour, markersize=4, label=label)
        if truth is not None:
            axes.plot(truth, places, "|", color=TRUTH, markersize=11, mew=1.6, label=TRUE)
        clean(axes).set_yticks(places, self.labels)
        axes.set_xlim(least, most)
        number_axis(axes.xaxis)
        if not np.any(known):
            axes.set_xticks([])
        axes.set_ylim(max(len(places), 1) - 0.5, -0.5)
        axes.grid(axis="x", color=QUIET, alpha=0.25)
        axes.set_xlabel(what, color=INK)


def height(rows: int, label: str = "") -> float:
    """Return inches for so many rows and an axis with its label."""
    return 0.9 + 0.24 * max(rows, 2) + 0.18 * label.count("\n")


def label_width(labels: Sequence[str]) -> float:
    """Return how many inches the names of rows take."""
    return max(map(inches, labels), default=0.0) + _BESIDE


def rows_of(shown: Presented, side: Side) -> Rows:
    """Return the rows of one statistic of an answer."""
    states = shown.states(side)
    return Rows(
        tick_labels(shown),
        numbers_of(shown, side, side.value),
        (numbers_of(shown, side, "lower"), numbers_of(shown, side, "upper")),
        np.array([state == RowState.MARKED for state in states], bool),
        [shown.rule.instead_of(state) for state in states],
        interval_of(shown),
    )


def tick_labels(shown: Presented) -> list[str]:
    """Return what each row's group is called at an axis; "all" where there is one of all."""
    return [tick_of(shown.group(row)) or "all" for row in range(len(shown.release.groups))]


def numbers_of(shown: Presented, side: Side, name: str) -> Array:
    """Return a column of a statistic, as it is shown: in percent or not."""
    return shown.scale * np.array(cast("list[float]", side.columns[name]), np.float64)


def interval_of(shown: Presented) -> str:
    """Return what the intervals of an answer are."""
    return f"{100 * shown.release.confidence:g} % noise interval"


def _span(shown: Array) -> tuple[float, float]:
    finite = shown[np.isfinite(shown)]
    if not finite.size:
        return 0.0, 1.0
    least, most = float(finite.min()), float(finite.max())
    room = _ROOM * (most - least) or _ROOM * abs(most) or 1.0
    return least - room, most + room
