"""The page of what was released, with its pictures, from a spec as from a session."""

from contextlib import suppress
from typing import Final

from neyman.errors import InvalidParameter
from neyman.plots import released, to_svg, tradeoff
from neyman.publish import Publication
from neyman.report import html

__all__ = ["page_of"]

# More groups make a picture that nobody can read; the table has them all.
_MOST_DRAWN: Final = 60


def page_of(publication: Publication) -> str:
    """Return the report page with a picture of each release that has one."""
    pictures: dict[str, str] = {}
    for shown in publication.presented():
        release = shown.release
        if "coefficient" not in release.columns and len(release.groups) > _MOST_DRAWN:
            continue
        # Of a function that its noise hides, or that has no picture, the page says the rest.
        with suppress(InvalidParameter):
            pictures[shown.name] = to_svg(released(shown))
    curve = to_svg(tradeoff({str(publication.total): publication.total}))
    return html(publication, tradeoff_svg=curve, release_svgs=pictures)
