"""Pictures of released statistics."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._abstract import Released
from neyman.functional._answers import Answer, release_of
from neyman.plots._histograms import bars, bins_of, heat
from neyman.plots._lines import lines
from neyman.plots._panels import coefficients, margins, together
from neyman.plots._quantiles import quantiles
from neyman.plots._released_functions import FUNCTIONS
from neyman.plots._rows import height, label_width, rows_of
from neyman.plots._style import LEGEND, SENTENCE, figure, legend, plain, signs, turned, words
from neyman.publish import Presented
from neyman.released import Release

__all__ = ["released"]

_WIDE = 6.4
_PICTURES: Final[Mapping[str, Callable[[Presented], Figure]]] = {
    **FUNCTIONS,
    "quantile": quantiles,
    "linear_regression": lambda shown: lines(shown) or coefficients(shown),
    "crosstab": margins,
}


@plain
def released(
    release: Release | Presented | Answer, *, truth: Sequence[float] | None = None
) -> Figure:
    """Draw a released statistic with its noise intervals.

    One row a group; bars between their edges where the groups are the bins of one column, a heat
    map where they are those of two. Several statistics at once have a panel each, and so has each
    term of a linear regression on several columns, and each margin of a crosstab; one on a single
    column is drawn as a line, with the band that the intervals of both coefficients give. Quantiles
    are drawn as `quantiles` does; a density as `density` does, at the bandwidth that the release
    chooses; a density of two columns as `heatmap` draws the nearest proper one, of three that of
    the first two; survival and regression curves with the bands that `survival` and `regression`
    draw, from 100 simulated releases each and a fixed, public seed, that for sampling only where no
    unit has several rows. Lines and functions by group have a panel each, up to 12.

    Args:
        release: of any question, or what a session answered; or with the words, order and rule of
            a publication, as `publication.presented()` gives it.
        truth: exact values in the order of the release, drawn beside: of one statistic. Only for
            data that are public anyway: whoever sees them needs no release.

    Raises:
        InvalidParameter: if it is a release of another function, or of one that its noise hides, or
            true values are given for what has no place for them.
    """
    shown = release if isinstance(release, Presented) else _presented(release_of(release))
    statistic, sides = shown.release.question.statistic, shown.release.sides
    several = statistic == "together"
    if truth is not None and (several or statistic in _PICTURES):
        raise InvalidParameter(
            f"the picture of a release of {statistic!r} takes no true values. Leave truth= out, or "
            "write plots.density, plots.survival or plots.regression of "
            "functional.function(release), which take a true function"
        )
    if several:
        return together(shown)
    if statistic in _PICTURES:
        return _PICTURES[statistic](shown)
    if not sides:
        raise InvalidParameter(
            f"a release of {statistic!r} has no picture of its own; write "
            "functional.function(release), and draw the values that it gives"
        )
    (side,) = sides
    edges = bins_of(shown)
    if edges is not None and len(edges) == 1:
        return bars(shown, side, edges, truth)
    if edges is not None and truth is None:
        return heat(shown, side, edges)
    rows, what = rows_of(shown, side), words(shown.sentence(side), SENTENCE)
    said = what if truth is not None else f"{what}, with {rows.interval}s"
    label = turned(said, signs(_WIDE - label_width(rows.labels)))
    above = 0.0 if truth is None else LEGEND
    picture = figure(_WIDE, height(len(rows.values), label) + above)
    axes = picture.add_subplot()
    rows.draw(axes, label, truth)
    if truth is not None:
        legend(picture)
    return picture


def _presented(release: Released) -> Presented:
    check_type(
        "release", release, Release, "what release(query, noise, ledger, entry=...) returned"
    )
    own = cast("Release", release)
    return Presented(own.entry, own)
