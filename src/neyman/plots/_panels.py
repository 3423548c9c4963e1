"""Pictures with several panels: for statistics, coefficients or margins."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.plots._rows import Rows, height, interval_of, label_width, rows_of
from neyman.plots._style import INK, QUIET, SENTENCE, figure, signs, turned, words
from neyman.publish import Presented

__all__ = ["coefficients", "margins", "panels", "together"]

_ACROSS = 3
_INTERCEPT = "(intercept)"
# Inches: of the axis of a panel, between two of them, and of a picture.
_PANEL = 2.4
_BETWEEN = 0.3
_NARROWEST = 6.4
_WIDEST = 10.4


def coefficients(shown: Presented) -> Figure:
    """Draw a linear regression with a panel for each term, because their units differ.

    The bars are simultaneous noise intervals of all coefficients of a group.
    """
    (side,) = shown.release.sides
    names = [str(name) for name in side.columns["term"]]
    terms = list(dict.fromkeys(names))
    rows = rows_of(shown, side)
    response = shown.release.question.response
    drawn = {
        f"{'' if term == _INTERCEPT else 'slope of '}{words(shown.term(term))}": rows.at(
            range(place, len(names), len(terms))
        )
        for place, term in enumerate(terms)
    }
    picture = _side_by_side(drawn, same_rows=True)
    for axes in picture.axes:
        axes.axvline(0, color=QUIET, linewidth=0.8)
    what = "" if response is None else words(shown.label(response.name))
    _say(picture, f"{what}: coefficients, with {rows.interval}s")
    return picture


def margins(shown: Presented) -> Figure:
    """Draw a contingency table with a panel for the cells and each margin, as scales differ."""
    (side,) = shown.release.sides
    places: dict[str, list[int]] = {}
    for place, margin in enumerate(shown.margins):
        places.setdefault(margin, []).append(place)
    # A total is told, not drawn.
    places = {margin: held for margin, held in places.items() if len(held) > 1} or places
    rows = rows_of(shown, side)
    what = words(shown.sentence(side), SENTENCE)
    drawn = {f"{what} {words(margin)}": rows.at(held) for margin, held in places.items()}
    picture = _side_by_side(drawn, same_rows=False)
    _say(picture, f"with {rows.interval}s")
    return picture


def together(shown: Presented) -> Figure:
    """Draw several statistics of the same groups, each in its own panel."""
    drawn = {
        words(shown.sentence(side), SENTENCE): rows_of(shown, side) for side in shown.release.sides
    }
    picture = _side_by_side(drawn, same_rows=True)
    _say(picture, f"with {interval_of(shown)}s")
    return picture


def panels(picture: Figure, count: int) -> Iterator[Axes]:
    """Return so many axes, in rows."""
    across = min(count, _ACROSS)
    for place in range(count):
        yield picture.add_subplot(-(-count // across), across, place + 1)


def _side_by_side(drawn: Mapping[str, Rows], *, same_rows: bool) -> Figure:
    """Draw a panel for each, as many side by side as there is room for.

    Args:
        drawn: by what they are.
        same_rows: whether the names of rows are the same, and need not stand in each panel.
    """
    names = max(label_width(rows.labels) for rows in drawn.values())
    shared, own = (names, 0.0) if same_rows else (0.0, names)
    across = max(min(len(drawn), _ACROSS, int((_WIDEST - shared) / (own + _PANEL))), 1)
    wide = max(shared + across * (own + _PANEL), _NARROWEST)
    line = signs((wide - shared) / across - own - _BETWEEN)
    said = [(turned(what, line), rows) for what, rows in drawn.items()]
    in_rows = [said[i : i + across] for i in range(0, len(said), across)]
    high = [max(height(len(rows.values), what) for what, rows in row) for row in in_rows]
    picture = figure(wide, sum(high) + 0.3)
    grid = picture.add_gridspec(len(high), across, height_ratios=high)
    for down, row in enumerate(in_rows):
        for place, (what, rows) in enumerate(row):
            axes = picture.add_subplot(grid[down, place])
            rows.draw(axes, what)
            if same_rows and place:
                axes.set_yticklabels([])
    return picture


def _say(picture: Figure, sentence: str) -> None:
    line = signs(picture.get_figwidth())
    picture.suptitle(turned(sentence, line), color=INK, fontsize=9)
