"""Parts of a page, as HTML without scripts."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Final

from neyman.printable import printable
from neyman.report._language import read_language

__all__ = ["framed", "labelled", "listed", "pictured", "safe", "table_html"]

# A page runs nothing and fetches nothing, whatever texts in the data contain.
_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"


def safe(shown: object) -> str:
    """Return escaped text; invisible characters are written as their numbers."""
    return escape(printable(shown))


def framed(title: str, body: Iterable[str], *, language: str) -> str:
    """Return a whole page.

    Args:
        title: the title, as text.
        body: its parts, as HTML.
        language: the language of the page.
    """
    style = files("neyman.report").joinpath("page.css").read_text(encoding="utf-8")
    skip = read_language(language).page["skip"]
    return (
        f'<!doctype html>\n<html lang="{safe(language)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_NOTHING_ELSE)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{safe(title)}</title><style>{style}</style></head>"
        f'<body><a class="skip" href="#main">{safe(skip)}</a>'
        f'<main id="main">{"".join(body)}</main></body></html>\n'
    )


def listed(sentences: Iterable[str]) -> str:
    """Return an HTML list of sentences."""
    return "<ul>" + "".join(f"<li>{safe(sentence)}</li>" for sentence in sentences) + "</ul>"


def labelled(name: str, level: int, heading: str, parts: Iterable[str], kind: str = "") -> str:
    """Return a section with a heading that the contents link to.

    Args:
        name: the id of the section, unique on the page.
        level: the level of the heading, 1 to 6.
        heading: the heading, as text.
        parts: the content, as HTML.
        kind: a CSS class.
    """
    classes = f' class="{kind}"' if kind else ""
    return (
        f'<section id="{name}"{classes} aria-labelledby="{name}-head">'
        f'<h{level} id="{name}-head">{safe(heading)}</h{level}>{"".join(parts)}</section>'
    )


def table_html(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: int,
    caption: str = "",
    quiet: Sequence[bool] = (),
    above: Sequence[str] = (),
    hidden: bool = False,
) -> str:
    """Return a table that scrolls if it is too wide.

    Args:
        head: the heads of the columns.
        rows: the texts of the cells.
        texts: the number of first columns that are heads of their row.
        caption: the caption, as text.
        quiet: for each row, whether it is grey; none by default.
        above: for each column, the head that it shares with its neighbours, or "".
        hidden: whether only screen readers get the caption.
    """

    def cell(place: int, text: str) -> str:
        if place < texts:
            return f'<th scope="row" class="text">{safe(text)}</th>'
        return f"<td>{safe(text)}</td>"

    flags = [*quiet]
    lines = "".join(
        f"<tr{' class=few' if place < len(flags) and flags[place] else ''}>"
        f"{''.join(cell(i, text) for i, text in enumerate(row))}</tr>"
        for place, row in enumerate(rows)
    )
    kind = " class=hidden" if hidden else ""
    titled = f"<caption{kind}>{safe(caption)}</caption>" if caption else ""
    name = f' role="region" aria-label="{safe(caption)}"' if caption else ""
    top = _heads(head, texts, above)
    return (
        f'<div class="scroll" tabindex="0"{name}><table>{titled}<thead>{top}</thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _heads(head: Sequence[str], texts: int, above: Sequence[str]) -> str:
    """Return one row of heads, or two if columns share heads."""

    def own(place: int, more: str = "") -> str:
        kind = " class=text" if place < texts else ""
        return f'<th scope="col"{kind}{more}>{safe(head[place])}</th>'

    if not any(above):
        return f"<tr>{''.join(map(own, range(len(head))))}</tr>"
    first, second = list[str](), list[str]()
    for name, run in groupby(range(len(head)), key=lambda place: above[place]):
        places = list(run)
        if name:
            first.append(
                f'<th scope="colgroup" class="shared" colspan="{len(places)}">{safe(name)}</th>'
            )
            second += map(own, places)
        else:
            first += (own(place, ' rowspan="2"') for place in places)
    return f"<tr>{''.join(first)}</tr><tr>{''.join(second)}</tr>"


_BOX: Final = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_TAG: Final = re.compile(r"<[a-z][^<>]*>")
_ID: Final = re.compile(r'( id="|href="#|url\(#)([^")]*)')
_SIZE: Final = re.compile(r' (?:width|height)="[^"]*"')
# The least and the greatest scale of a picture: 10-point text is 9.5 to 16 pixels high.
_LEAST: Final = 0.95
_MOST: Final = 1.6
# The width of a phone, in pixels.
_PHONE: Final = 352
# In points: a higher picture cannot be read on paper if it is scaled to the height of the others.
_TALL: Final = 360


def pictured(svg: str, name: str, title: str, about: str, caption: str = "") -> str:
    """Return a picture as a figure, which scrolls if it is too wide for a phone.

    Args:
        svg: an SVG element from `plots.to_svg`.
        name: the prefix of its ids, unique on the page.
        title: the title, as text.
        about: a description for screen readers.
        caption: the caption, as text.
    """
    renamed = _TAG.sub(lambda tag: _ID.sub(rf"\g<1>{name}-\g<2>", tag[0]), svg)
    head, opened, rest = renamed.partition(">")
    box = _BOX.search(head)
    kinds = list[str]()
    if box is not None:
        wide = float(box[1])
        kinds += ["wide"] if wide * _LEAST > _PHONE else []
        kinds += ["tall"] if float(box[2]) > _TALL else []
        size = f' style="min-width:{_LEAST * wide:.0f}px;max-width:{_MOST * wide:.0f}px"'
        head = _SIZE.sub("", head) + size
    described = (
        f'<title id="{name}-title">{safe(title)}</title><desc id="{name}-desc">{safe(about)}</desc>'
    )
    if opened:
        role = f' role="img" aria-labelledby="{name}-title" aria-describedby="{name}-desc"'
        renamed = f"{head}{role}>{described}{rest}"
    below = f"<figcaption>{safe(caption)}</figcaption>" if caption else ""
    # A figure that scrolls can be focused by the keyboard.
    reached = f' tabindex="0" role="region" aria-label="{safe(title)}"' if "wide" in kinds else ""
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<figure{kind}{reached}>{renamed}{below}</figure>"
