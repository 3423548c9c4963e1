"""Pictures as SVG with real text, colours that a page can change, and narrow versions."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import io
import re
from collections.abc import Callable
from typing import Final

from neyman.plots._style import calm, turned

from matplotlib import rc_context  # isort: skip
from matplotlib.figure import Figure  # isort: skip
from matplotlib.text import Text  # isort: skip

__all__ = ["to_svg"]

_TAG: Final = re.compile(r"<[a-z][^<>]*>")
_STYLED: Final = re.compile(r' style="([^"]*)"')
# A hundredth of a point is not seen.
_FINE: Final = re.compile(r"(\.\d\d)\d+")
_ID: Final = re.compile(r' id="([^"]*)"')
_REFERRED: Final = re.compile(r'(?:url\(#|href="#)([^")]*)')
_ROUNDED: Final = re.compile(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
_HEAD: Final = '<svg stroke-linejoin="round" stroke-linecap="butt" font-family="sans-serif" '

_NO_METADATA: Final = dict.fromkeys(("Creator", "Date", "Format", "Type"))
# A sign of text on paper, in points.
_SIGN: Final = 6.0


def to_svg(
    picture: Figure, *, width: float | None = None, words: Callable[[str], str] = str
) -> str:
    """Return a figure as an SVG element for a page.

    Colours are attributes, so the style of a page can change them, for example in dark mode.

    Args:
        picture: any figure.
        width: the width in inches. A wider figure with one panel is laid out again with shorter
            lines. By default the figure does not change.
        words: a function that replaces each text, such as a translation. By default none.
    """
    _rewritten(picture, width, words)
    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neyman"}), calm():
        # Text stays text, which the reader's own fonts show; the same figure gives the same file.
        picture.savefig(buffer, format="svg", metadata=_NO_METADATA)
    text = buffer.getvalue()
    return _bare(text[text.index("<svg") :])


def _rewritten(picture: Figure, width: float | None, words: Callable[[str], str]) -> None:
    """Change the texts of a figure, and its width."""
    most = 0
    if width is not None and width < picture.get_figwidth() and _across(picture) == 1:
        picture.set_figwidth(width)
        most = int(72 * width / _SIGN)
        for axes in picture.axes:
            # What is longer than its axis goes on to the left, where names of rows leave room.
            axes.xaxis.label.set(horizontalalignment="right", x=1.0)
    for text in picture.findobj(Text):
        lines = text.get_text().split("\n")
        before = " ".join(" ".join(lines).split())
        if not before:
            continue
        longest, after = max(map(len, lines)), words(before)
        if len(lines) > 1 or (most and longest > most):
            after = turned(after, min(longest, most or longest))
        if after != before:
            text.set_text(after)


def _across(picture: Figure) -> int:
    """Return how many panels stand side by side."""
    specs = (axes.get_subplotspec() for axes in picture.axes)
    return max((spec.get_gridspec().ncols for spec in specs if spec is not None), default=1)


def _bare(svg: str) -> str:
    """Leave out what would style the page around, fonts of one machine, and ids of no use."""
    svg = _ROUNDED.sub("", svg, count=1).replace("<svg ", _HEAD, 1)
    known = set(_REFERRED.findall(svg))

    def tidied(tag: re.Match[str]) -> str:
        kept = _ID.sub(lambda found: found[0] if found[1] in known else "", tag[0])
        return _FINE.sub(r"\1", _STYLED.sub(_attributes, kept))

    return _TAG.sub(tidied, svg)


def _attributes(style: re.Match[str]) -> str:
    """Write a style as attributes, which the style of a page goes before."""
    pairs = (part.split(":", 1) for part in style[1].split(";") if ":" in part)
    named = {name.strip(): value.strip() for name, value in pairs}
    named.pop("font-family", None)
    return "".join(f' {name}="{value}"' for name, value in named.items())
