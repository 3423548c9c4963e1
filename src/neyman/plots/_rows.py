"""Values with intervals, one row a group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from matplotlib.axes import Axes

from neyman.numerics import Array
from neyman.plots._style import ACCENT, INK, QUIET, TRUTH, clean
from neyman.released import Release

__all__ = ["TRUE", "Rows", "height", "rows_of"]

TRUE = "true (public data)"
_ROOM = 0.05


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """What is drawn of one statistic.

    Attributes:
        labels: of the rows.
        values: NaN where none is.
        intervals: of the noise, lower and upper.
    """

    labels: Sequence[str]
    values: Array
    intervals: tuple[Array, Array]

    def at(self, places: Sequence[int]) -> "Rows":
        """Return some of the rows."""
        chosen = list(places)
        lower, upper = self.intervals
        labels = [self.labels[i] for i in chosen]
        return Rows(labels, self.values[chosen], (lower[chosen], upper[chosen]))

    def draw(
        self, axes: Axes, what: str, truth: Sequence[float] | None = None, *, ticks: int = 9
    ) -> None:
        """Draw them; an end that is infinite lies at the edge of the picture."""
        places = np.arange(len(self.values))
        shown = [self.values, *self.intervals, np.array(truth or [], float)]
        least, most = _span(np.concatenate(shown))
        lower, upper = (
            np.clip(np.nan_to_num(end, nan=least), least, most) for end in self.intervals
        )
        axes.hlines(places, lower, upper, color=ACCENT, linewidth=4, alpha=0.4)
        # Open where the noise leaves the interval without an end.
        for end, place, marker in ((self.intervals[0], least, "<"), (self.intervals[1], most, ">")):
            (endless,) = np.nonzero(~np.isfinite(end))
            if endless.size:
                there = np.full(endless.size, place)
                axes.plot(there, endless, marker, color=ACCENT, markersize=6, clip_on=False)
        known = np.isfinite(self.values)
        axes.plot(
            self.values[known],
            places[known],
            "o",
            color=ACCENT,
            markersize=4,
            label="private, with noise interval",
        )
        if truth is not None:
            axes.plot(truth, places, "|", color=TRUTH, markersize=11, mew=1.6, label=TRUE)
        clean(axes).set_yticks(places, self.labels)
        axes.set_xlim(least, most)
        axes.locator_params(axis="x", nbins=ticks)
        axes.set_ylim(max(len(places), 1) - 0.5, -0.5)
        axes.grid(axis="x", color=QUIET, alpha=0.25)
        axes.set_xlabel(what, color=INK)


def height(rows: int) -> float:
    """Return inches for so many rows and an axis."""
    return 0.9 + 0.24 * max(rows, 2)


def rows_of(release: Release, value: str) -> Rows:
    """Return the rows of a release, by the name of the column of its values."""

    def column(name: str) -> Array:
        return np.array(cast("list[float]", release.columns[name]), np.float64)

    return Rows(
        release.groups,
        column(value),
        (column("lower"), column("upper")),
    )


def _span(shown: Array) -> tuple[float, float]:
    finite = shown[np.isfinite(shown)]
    if not finite.size:
        return 0.0, 1.0
    least, most = float(finite.min()), float(finite.max())
    room = _ROOM * (most - least) or _ROOM * abs(most) or 1.0
    return least - room, most + room
