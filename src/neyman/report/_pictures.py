"""Pictures in a page: told to screen readers, with ids of their own, as wide as can be read."""

import re
from typing import Final

from neyman.report._html import safe

__all__ = ["pictured"]

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
