"""The page of what was released, with its pictures, from a spec as from a session."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from neyman.errors import InvalidParameter
from neyman.files import check_page, write_text
from neyman.plots import released, to_svg, tradeoff
from neyman.publish import Publication
from neyman.report import crosstab_of, html, read_language, translated

__all__ = ["page_of", "write_page"]

# One number needs no picture; of more groups nobody could read one, and the table has them all.
_FEWEST_DRAWN: Final = 2
_MOST_DRAWN: Final = 60
# Of more cells and sums, the table down and across says more than a picture of its rows.
_MOST_CROSSED: Final = 20
# In inches: as wide as its text can be read on a phone.
_WIDTH: Final = 4.8


def write_page(path: Path, publication: Publication) -> Path:
    """Write the page, whole or not at all, and return where.

    Raises:
        InvalidParameter: if the path cannot be written to, or the file there is no page.
    """
    check_page("path", path, frozenset(publication.ledger.files))
    write_text(path, page_of(publication))
    return path


def page_of(publication: Publication) -> str:
    """Return the report page with a picture of each release that has one."""
    words = read_language(publication.presentation.language)

    own = publication.presentation.words

    def said(text: str) -> str:
        return text if text in own else translated(text, words) or text

    pictures: dict[str, str] = {}
    for shown in publication.presented():
        groups = len(shown.release.groups)
        if not ("coefficient" in shown.release.columns or _FEWEST_DRAWN <= groups <= _MOST_DRAWN):
            continue
        if groups > _MOST_CROSSED and crosstab_of(shown) is not None:
            continue
        # Of a function that its noise hides, or that has no picture, the page says the rest.
        with suppress(InvalidParameter):
            pictures[shown.name] = to_svg(released(shown), width=_WIDTH, words=said)
    curve = to_svg(tradeoff(publication.total), width=_WIDTH, words=said)
    return html(publication, tradeoff_svg=curve, release_svgs=pictures)
