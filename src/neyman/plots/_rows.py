"""Values with intervals, one row a group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, final

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from neyman.numerics import Array
from neyman.plots._style import ACCENT, INK, QUIET, TRUTH, clean, say_too_few, tick, turned
from neyman.released import Release, is_amount, noise_alone

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
        few: which of them noise alone could have made.
        amounts: whether these are counts or sums, which are drawn all the same, in grey; in the
            place of other numbers words stand.
    """

    labels: Sequence[str]
    values: Array
    intervals: tuple[Array, Array]
    few: npt.NDArray[np.bool_]
    amounts: bool

    def at(self, places: Sequence[int]) -> "Rows":
        """Return some of the rows."""
        chosen = list(places)
        lower, upper = self.intervals
        labels = [self.labels[i] for i in chosen]
        ends = lower[chosen], upper[chosen]
        return Rows(labels, self.values[chosen], ends, self.few[chosen], self.amounts)

    def draw(
        self, axes: Axes, what: str, truth: Sequence[float] | None = None, *, ticks: int = 9
    ) -> None:
        """Draw them; words stand in the place of what noise alone could have made."""
        places = np.arange(len(self.values))
        drawn = ~self.few | self.amounts
        parts = [self.values, *self.intervals]
        shown = [*(part[drawn] for part in parts), np.array(truth or [], float)]
        least, most = _span(np.concatenate(shown))
        colours = np.where(self.few, QUIET, ACCENT)
        lower, upper = (
            np.clip(np.nan_to_num(end, nan=least), least, most)[drawn] for end in self.intervals
        )
        axes.hlines(
            places[drawn], lower, upper, colors=colours[drawn].tolist(), linewidth=4, alpha=0.4
        )
        for place in places[~drawn]:
            say_too_few(axes, float(place))
        known = np.isfinite(self.values) & drawn
        for chosen, colour, label in (
            (known & ~self.few, ACCENT, "private, with noise interval"),
            (known & self.few, QUIET, "the same, and noise alone could have made it"),
        ):
            if np.any(chosen) or colour == ACCENT:
                values = self.values[chosen], places[chosen]
                axes.plot(*values, "o", color=colour, markersize=4, label=label)
        if truth is not None:
            axes.plot(truth, places, "|", color=TRUTH, markersize=11, mew=1.6, label=TRUE)
        clean(axes).set_yticks(places, [tick(label) for label in self.labels])
        axes.set_xlim(least, most)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
        # The longer its numbers, the fewer there is room for.
        figures = len(f"{max(abs(least), abs(most)):,.6g}")
        axes.locator_params(axis="x", nbins=max(2, min(ticks, 4 * ticks // max(figures - 1, 4))))
        axes.set_ylim(max(len(places), 1) - 0.5, -0.5)
        axes.grid(axis="x", color=QUIET, alpha=0.25)
        axes.set_xlabel(turned(what, 8 * ticks), color=INK)


def height(rows: int) -> float:
    """Return inches for so many rows and an axis."""
    return 0.9 + 0.24 * max(rows, 2)


def rows_of(release: Release, value: str) -> Rows:
    """Return the rows of a release, by the name of the column of its values."""

    def column(name: str) -> Array:
        return np.array(cast("list[float]", release.columns[name]), np.float64)

    flags = noise_alone(release.query, release.columns)
    return Rows(
        release.groups,
        column(value),
        (column("lower"), column("upper")),
        np.array(flags, bool),
        is_amount(release.query),
    )


def _span(shown: Array) -> tuple[float, float]:
    finite = shown[np.isfinite(shown)]
    if not finite.size:
        return 0.0, 1.0
    least, most = float(finite.min()), float(finite.max())
    room = _ROOM * (most - least) or _ROOM * abs(most) or 1.0
    return least - room, most + room
