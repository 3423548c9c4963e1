"""Parts of a page, as HTML that harms nobody."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Final

from neyman.printable import printable
from neyman.report._language import read_language

__all__ = ["framed", "labelled", "listed", "pictured", "safe", "table_html"]

# Nothing on a page can be run, and nothing is fetched: neither by us, nor by a name in the data.
_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"


def safe(shown: object) -> str:
    """Return text as HTML shows it; signs that nobody sees are written as their numbers."""
    return escape(printable(shown))


def framed(title: str, body: Iterable[str], *, language: str) -> str:
    """Return a page in the style of all of them.

    Args:
        title: as text.
        body: its parts, as HTML.
        language: of the page.
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
    """Return sentences as a list."""
    return "<ul>" + "".join(f"<li>{safe(sentence)}</li>" for sentence in sentences) + "</ul>"


def labelled(name: str, level: int, heading: str, parts: Iterable[str], kind: str = "") -> str:
    """Return a section with its heading, which contents lists lead to.

    Args:
        name: of the section, unlike any other on the page.
        level: of the heading, 1 to 6.
        heading: as text.
        parts: what follows it, as HTML.
        kind: a class for its style.
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
    """Return a table that scrolls where it is too wide.

    A cell is text to a spreadsheet that the page is copied into, so that none of it is run.

    Args:
        head: of the columns.
        rows: of text.
        texts: so many first columns say what the row is of.
        caption: as text; what screen readers read out first.
        quiet: of each row, whether it is grey; none by default.
        above: of each column, the head that it shares with its neighbours; empty if none.
        hidden: whether the caption is there for screen readers alone.
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
    said = f"<caption{kind}>{safe(caption)}</caption>" if caption else ""
    name = f' role="region" aria-label="{safe(caption)}"' if caption else ""
    top = _heads(head, texts, above)
    return (
        f'<div class="scroll" tabindex="0"{name}><table>{said}<thead>{top}</thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _heads(head: Sequence[str], texts: int, above: Sequence[str]) -> str:
    """Return one row of heads, or two where columns share heads."""

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
# Text of 10 points is 9.5 to 16 pixels high.
_LEAST: Final = 0.95
_MOST: Final = 1.6
# What a phone has room for.
_PHONE: Final = 352
# Points; what is higher cannot be read on paper at the height of the others.
_TALL: Final = 360


def pictured(svg: str, name: str, title: str, about: str, caption: str = "") -> str:
    """Return a picture as a figure.

    A picture that would be too small on a phone to be read can be scrolled.

    Args:
        svg: an SVG element, of `plots.to_svg`.
        name: what its ids begin with, unlike any other on the page.
        title: what is drawn, as text.
        about: what it shows, for those who do not see it.
        caption: below it, as text.
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
    told = (
        f'<title id="{name}-title">{safe(title)}</title><desc id="{name}-desc">{safe(about)}</desc>'
    )
    if opened:
        role = f' role="img" aria-labelledby="{name}-title" aria-describedby="{name}-desc"'
        renamed = f"{head}{role}>{told}{rest}"
    below = f"<figcaption>{safe(caption)}</figcaption>" if caption else ""
    # What can be scrolled is reached by the keyboard, too.
    reached = f' tabindex="0" role="region" aria-label="{safe(title)}"' if "wide" in kinds else ""
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<figure{kind}{reached}>{renamed}{below}</figure>"
