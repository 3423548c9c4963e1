"""The report page of a publication, with its pictures."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from neyman.errors import InvalidParameter
from neyman.files import check_page, write_text
from neyman.plots import released, to_svg, tradeoff
from neyman.publish import Publication
from neyman.report import crosstab_of, html, read_language, translated

__all__ = ["page_of", "write_page"]

# One number needs no picture, and a picture of more groups cannot be read; the table has them all.
_FEWEST_DRAWN: Final = 2
_MOST_DRAWN: Final = 60
# With more cells than this, the crosstab table is easier to read than a picture.
_MOST_CROSSED: Final = 20
# In inches, so that the text can be read on a phone.
_WIDTH: Final = 4.8


def write_page(path: Path, publication: Publication) -> Path:
    """Write the page, whole or not at all, and return its path.

    Raises:
        InvalidParameter: if the path cannot be written to, or has a file that is no page.
    """
    check_page("path", path, frozenset(publication.ledger.files))
    write_text(path, page_of(publication))
    return path


def page_of(publication: Publication) -> str:
    """Return the report page with a picture of each release that has one."""
    language = read_language(publication.presentation.language)
    own = publication.presentation.words

    def words(text: str) -> str:
        return text if text in own else translated(text, language) or text

    pictures: dict[str, str] = {}
    for shown in publication.presented():
        groups = len(shown.release.groups)
        if not ("coefficient" in shown.release.columns or _FEWEST_DRAWN <= groups <= _MOST_DRAWN):
            continue
        if groups > _MOST_CROSSED and crosstab_of(shown) is not None:
            continue
        # A function that its noise hides, or that has no picture, is described in words.
        with suppress(InvalidParameter):
            pictures[shown.name] = to_svg(released(shown), width=_WIDTH, words=words)
    curve = to_svg(tradeoff(publication.total), width=_WIDTH, words=words)
    return html(publication, tradeoff_svg=curve, release_svgs=pictures)
