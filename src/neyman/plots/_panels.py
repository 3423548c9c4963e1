"""Several rows of pictures in one: a panel a statistic, a coefficient or a margin."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.plots._rows import height, rows_of
from neyman.plots._style import INK, QUIET, figure, turned, words
from neyman.released import Release, Side

__all__ = ["coefficients", "margins", "panels", "together"]

_ACROSS = 3
_WIDE = 3.4
_TICKS = 4


def coefficients(release: Release) -> Figure:
    """Draw a linear regression, one panel a term, for their units differ.

    The bars are noise intervals of all coefficients of a group at once.
    """
    names = cast("list[str]", release.columns["term"])
    terms = list(dict.fromkeys(names))
    rows = rows_of(release, "estimate")
    response = str(cast("dict[str, object]", release.query["response"])["column"])
    groups = len(names) // len(terms)
    picture = figure(*_size(len(terms), height(groups)))
    for place, axes in enumerate(panels(picture, len(terms))):
        chosen = rows.at(range(place, len(names), len(terms)))
        axes.axvline(0, color=QUIET, linewidth=0.8)
        term = words(terms[place])
        what = "intercept" if terms[place] == "(intercept)" else f"slope of {term}"
        chosen.draw(axes, what, ticks=_TICKS)
    picture.suptitle(
        turned(
            f"{words(response)}: coefficients, "
            f"{100 * release.confidence:g} % intervals of the noise"
        ),
        color=INK,
        fontsize=9,
    )
    return picture


def margins(release: Release) -> Figure:
    """Draw a contingency table, one panel for the cells and for each margin: scales differ."""
    of = cast("list[str]", release.columns["margin"])
    places: dict[str, list[int]] = {}
    for place, margin in enumerate(of):
        places.setdefault(margin, []).append(place)
    # A total is told, not drawn.
    places = {margin: rows for margin, rows in places.items() if len(rows) > 1} or places
    rows = rows_of(release, "count")
    picture = figure(*_size(len(places), height(max(map(len, places.values())))))
    for axes, (margin, chosen) in zip(panels(picture, len(places)), places.items(), strict=True):
        rows.at(chosen).draw(axes, f"count {words(margin)}", ticks=_TICKS)
    return picture


def together(release: Release, sides: tuple[Side, ...]) -> Figure:
    """Draw several statistics of the same groups, one panel each."""
    picture = figure(*_size(len(sides), height(len(release.groups))))
    for axes, side in zip(panels(picture, len(sides)), sides, strict=True):
        alone = replace(release, query=side.query, columns=side.columns)
        rows_of(alone, str(side.query["statistic"])).draw(
            axes, words(side.name.replace("_", " ", 1)), ticks=_TICKS
        )
    return picture


def panels(picture: Figure, count: int) -> Iterator[Axes]:
    """Return so many axes, in rows."""
    across = min(count, _ACROSS)
    for place in range(count):
        yield picture.add_subplot(-(-count // across), across, place + 1)


def _size(count: int, each: float) -> tuple[float, float]:
    across = min(count, _ACROSS)
    return max(_WIDE * across, 6.4), each * -(-count // across) + 0.3
