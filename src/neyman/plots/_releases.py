"""Pictures of released statistics."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from matplotlib.figure import Figure

from neyman.errors import InvalidParameter
from neyman.functional._answers import Answer
from neyman.plots._histograms import bars, bins_of, heat
from neyman.plots._lines import lines
from neyman.plots._panels import coefficients, margins, together
from neyman.plots._quantiles import presented, quantiles
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

    | release | picture |
    |---|---|
    | groups | one row for each group |
    | bins of one column; of two | bars; a heat map |
    | several statistics, or a crosstab | one panel for each statistic or margin |
    | linear regression on one column | a line, with the band of both coefficients |
    | linear regression on several columns | one panel for each term |
    | quantiles | as `quantiles` |
    | density | as `density`, at the bandwidth that the release chooses |
    | density of two or three columns | as `heatmap`, of the proper density of the first two |
    | survival and regression curves | as `survival` and `regression` |

    Bands come from 100 simulated releases with a fixed, public seed; the band for sampling is drawn
    only if no unit has several rows. Lines and functions by group have a panel each, up to 12.

    Args:
        release: a release of any question, an answer of a session, or a presented release from
            `publication.presented()`.
        truth: exact values of one statistic, in the order of the release, for public data only.

    Raises:
        InvalidParameter: if the function has no picture, or its noise hides it, or the picture does
            not take true values.
    """
    shown = release if isinstance(release, Presented) else presented(release)
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
