"""The style of all pictures. Figures are made without pyplot, so they share no state.

Text from users, specs or data is drawn literally: it may look like a formula
("$25k_$50k"), no TeX is run, and no text can stop a picture.
"""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import io
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from textwrap import fill
from typing import Any, Final, ParamSpec
from warnings import catch_warnings, filterwarnings

from neyman.calls import plain_calls
from neyman.errors import MissingExtra
from neyman.overriding import override
from neyman.printable import shortened, width

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
except ImportError as error:
    raise MissingExtra(
        "pictures need matplotlib, which is not installed; run pip install 'neyman[plots]'"
    ) from error

__all__ = [
    "ACCENT",
    "INK",
    "LEGEND",
    "NOTE",
    "PALETTE",
    "QUIET",
    "SENTENCE",
    "TRUTH",
    "calm",
    "clean",
    "figure",
    "inches",
    "legend",
    "plain",
    "say_instead",
    "signs",
    "tick",
    "tick_of",
    "turned",
    "words",
]

# Lines may be quieter than text, which has a contrast of 4.5 to white at least.
INK, NOTE, QUIET = "#22262e", "#5d6573", "#9aa1ad"
ACCENT, TRUTH = "#1f5fa8", "#c2571a"
# Told apart by whoever sees no red or no green, too (Okabe and Ito, 2008; the yellow is left out).
PALETTE = (ACCENT, "#d55e00", "#008f68", "#b45a92", "#3c96cc")

# Columns of text: of a tick, of a name in a sentence, and of a line of one.
_TICK: Final = 36
_NAME: Final = 60
SENTENCE: Final = 160
# Columns that are left of a key beside others.
_SHORTEST: Final = 6
# Inches of a legend of two or three lines.
LEGEND: Final = 0.6
# Of a sign of 10 points.
_INCHES: Final = 0.083
_LINE: Final = 84
# What matplotlib warns of and draws all the same: a box for a sign that the font lacks.
_HARMLESS: Final = ("Glyph .* missing from", "constrained_layout not applied")

# Dots an inch of a screen, and how many times as many a fine one has.
_SCREEN: Final = 96
_FINE: Final = 2

P = ParamSpec("P")


class Picture(Figure):
    """A figure that is drawn without warnings about its text.

    A notebook shows it without `%matplotlib inline`, and with it only once. Figures of pyplot are
    not affected.
    """

    @override
    def draw(self, renderer: Any) -> None:
        with calm():
            super().draw(renderer)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return what a notebook shows, as sharp as a fine screen is, and how large in pixels."""
        with calm(), io.BytesIO() as file:
            self.savefig(file, format="png", dpi=_FINE * _SCREEN)
            drawn = file.getvalue()
        wide, high = self.get_size_inches()
        return drawn, {"width": round(wide * _SCREEN), "height": round(high * _SCREEN)}


def figure(wide: float, high: float) -> Figure:
    """Return an empty figure of this size in inches."""
    return Picture(figsize=(wide, high), layout="constrained")


def plain(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function so that its figure draws all text literally."""
    asked = plain_calls(draw)

    @wraps(draw)
    def drawn(*args: P.args, **given: P.kwargs) -> Figure:
        picture = asked(*args, **given)
        # Numbers on a logarithmic axis are formulas of matplotlib's own, such as 10^-3.
        numbers: set[Text] = set()
        for axes in picture.axes:
            for axis, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
                if scale == "log":
                    numbers |= set(axis.findobj(Text)) - {axis.label}
        for text in picture.findobj(Text):
            if text not in numbers:
                text.set(parse_math=False, usetex=False)  # pyright: ignore[reportCallIssue]
        return picture

    return drawn


def words(shown: object, most: int = _NAME) -> str:
    """Return a name from users, specs or data as text for a picture.

    matplotlib leaves names out of legends if they are empty or begin with an underscore.

    Args:
        shown: the name.
        most: the most columns of text.
    """
    text = shortened(shown, most)
    return f" {text}" if text.startswith("_") or not text else text


def tick(shown: object) -> str:
    """Return a key as it can stand at an axis."""
    return shortened(shown, _TICK)


def tick_of(parts: Sequence[str]) -> str:
    """Return the name of a group of several keys as it can stand at an axis, the longest cut."""
    shown = [tick(part) for part in parts]
    while shown and sum(map(width, shown)) + 3 * (len(shown) - 1) > _TICK:
        longest = max(range(len(shown)), key=lambda i: width(shown[i]))
        if width(shown[longest]) <= _SHORTEST:
            break
        shown[longest] = shortened(shown[longest].removesuffix("…"), width(shown[longest]) - 2)
    return tick(" · ".join(shown))


def inches(text: str) -> float:
    """Return about how wide a text is."""
    return _INCHES * width(text)


def signs(room: float) -> int:
    """Return how many signs stand side by side in so many inches, at least a few."""
    return max(int(room / _INCHES), 12)


def turned(sentence: str, line: int = _LINE) -> str:
    """Return a sentence in lines that a picture has room for."""
    return fill(sentence, line, break_on_hyphens=False)


def clean(axes: Axes) -> Axes:
    """Take away what carries no information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=INK, color=QUIET)
    return axes


def legend(picture: Figure) -> None:
    """Say what the lines are above all axes, where nothing is drawn."""
    for axes in picture.axes:
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            picture.legend(handles, labels, frameon=False, loc="outside upper left")
            return


def say_instead(axes: Axes, row: float, word: str) -> None:
    """Write in the place of a row's number why it is left out."""
    across = axes.get_yaxis_transform()
    axes.text(0.01, row, word, transform=across, color=NOTE, va="center", fontsize=9)


@contextmanager
def calm() -> Generator[None]:
    """Have matplotlib draw without warnings of what text holds."""
    with catch_warnings():
        for message in _HARMLESS:
            filterwarnings("ignore", message=message)
        yield
