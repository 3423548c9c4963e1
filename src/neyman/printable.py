"""Text from data or a spec, made harmless wherever people read it.

A key of an unknown group is the text of a private row, and a title is whatever a spec holds: both
may carry signs that clear a terminal, turn its text around, begin a new line or show nothing at
all. What programs read (JSON, Arrow, the ledger) keeps the text as it is.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ["listed", "printable", "printable_lines", "shortened", "width"]

# Control signs, format signs (bidi, zero width), surrogates, signs for private use or of no
# meaning yet, separators of lines and paragraphs.
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Letters and marks that show nothing: fillers, joiners, and what selects a variant.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_WIDE: Final = frozenset("WF")
_PLAIN: Final = re.compile(r"[ -~]*")


def listed(words: Iterable[str]) -> str:
    """Return words as a sentence has them.

    >>> listed(["ward", "sex", "year"])
    'ward, sex and year'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def printable(shown: object) -> str:
    r"""Return text as one line of signs that are seen; any other sign is written as its number.

    >>> printable("a\x1b[2J\nb")
    'a\\x1b[2J\\nb'
    """
    text = str(shown)
    if _PLAIN.fullmatch(text):
        return text
    return "".join(sign if _seen(sign) else _numbered(sign) for sign in text)


def printable_lines(shown: object) -> str:
    """Return the same of a text of several lines, which stay apart."""
    return "\n".join(map(printable, str(shown).split("\n")))


def shortened(shown: object, most: int) -> str:
    """Return `printable` text that takes at most so many columns; what is left out is said."""
    text = printable(shown)
    if len(text) <= most and width(text) <= most:
        return text
    kept = text[:most]
    while width(kept) >= most:
        kept = kept[:-1]
    return f"{kept}…"


def width(text: str) -> int:
    """Return how many columns a text takes in a terminal: East Asian signs take two."""
    if text.isascii():
        return len(text)
    return sum(1 + (unicodedata.east_asian_width(sign) in _WIDE) for sign in text)


def _seen(sign: str) -> bool:
    return unicodedata.category(sign) not in _UNSEEN and not _INVISIBLE.match(sign)


def _numbered(sign: str) -> str:
    written = sign.encode("unicode_escape", "surrogatepass").decode("ascii")
    return written if written != sign else f"\\u{ord(sign):04x}"
