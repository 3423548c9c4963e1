"""Text from data or a spec, made harmless for people who read it.

A key of an unknown group is text from a private row, and a title is any text of a spec. Both may
contain characters that clear a terminal, reverse the text, start a new line or are invisible.
Programs (JSON, Arrow, the ledger) keep the text as it is.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ["listed", "printable", "printable_lines", "shortened", "width"]

# Control and format characters (bidi, zero width), surrogates, private use, unassigned, and line
# and paragraph separators.
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Invisible letters and marks: fillers, joiners and variation selectors.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_WIDE: Final = frozenset("WF")
_PLAIN: Final = re.compile(r"[ -~]*")


def listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence.

    >>> listed(["ward", "sex", "year"])
    'ward, sex and year'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def printable(shown: object) -> str:
    r"""Return text as one line of visible characters; any other character is written as its number.

    >>> printable("a\x1b[2J\nb")
    'a\\x1b[2J\\nb'
    """
    text = str(shown)
    if _PLAIN.fullmatch(text):
        return text
    return "".join(sign if _seen(sign) else _numbered(sign) for sign in text)


def printable_lines(shown: object) -> str:
    """Return the same for a text of several lines, which stay separate."""
    return "\n".join(map(printable, str(shown).split("\n")))


def shortened(shown: object, most: int) -> str:
    """Return `printable` text of at most `most` columns, with a sign if it is cut."""
    text = printable(shown)
    if len(text) <= most and width(text) <= most:
        return text
    kept = text[:most]
    while width(kept) >= most:
        kept = kept[:-1]
    return f"{kept}…"


def width(text: str) -> int:
    """Return how many columns a text takes in a terminal: East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(1 + (unicodedata.east_asian_width(sign) in _WIDE) for sign in text)


def _seen(sign: str) -> bool:
    return unicodedata.category(sign) not in _UNSEEN and not _INVISIBLE.match(sign)


def _numbered(sign: str) -> str:
    written = sign.encode("unicode_escape", "surrogatepass").decode("ascii")
    return written if written != sign else f"\\u{ord(sign):04x}"
