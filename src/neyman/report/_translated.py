"""Sentences that other rooms say in English, in the reader's language.

A sentence is known by its pattern in the English catalogue; its numbers and names are taken out of
it, and put into the same pattern of the other language. What is unknown stays as it is.
"""

import re
from functools import cache
from typing import Final

from neyman.report._language import Language, read_language

__all__ = ["translated"]

# What stands for words of ours; all else is a number, or a name that stays as it was given.
_OURS: Final = frozenset(
    ("again", "beyond", "count", "drawn", "how", "kind", "left_out", "limit", "limits", "name")
) | {"releases", "statistic", "unit", "units", "what", "where"}
# What stands between the parts of a list.
_LISTS: Final = {
    "beyond": re.compile(", or |, "),
    "columns": re.compile(", | and "),
    "either": re.compile(" or "),
    "lacking": re.compile(" or "),
    "names": re.compile(", | and "),
}
_FULL_STOP: Final = "\u3002"
# Longer text is not ours, and is not searched for patterns.
_LONGEST: Final = 2000
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


def translated(text: str, words: Language) -> str | None:
    """Return sentences in a language; None if one of them is not in the catalogue.

    Args:
        text: in English, a sentence or several.
        words: of the language.
    """
    # What English does not say otherwise stays as it is.
    same = text if words.name == "en" else None
    if len(text) > _LONGEST:
        return same
    found = _one(text, words)
    if found is not None:
        return found
    for stop in re.finditer(r"\. ", text):
        first = _one(text[: stop.start() + 1], words)
        rest = translated(text[stop.end() :], words) if first is not None else None
        if first is not None and rest is not None:
            return f"{first}{'' if first.endswith(_FULL_STOP) else ' '}{rest}"
    return same


def _one(sentence: str, words: Language) -> str | None:
    """Return one sentence, or one phrase."""
    for name, pattern in _patterns():
        match = pattern.fullmatch(sentence) if name in words.notes else None
        if match is not None:
            values = {
                field: _inner(field, value, words) for field, value in match.groupdict().items()
            }
            return words.notes[name].format(**values)
    return None


def _inner(field: str, value: str, words: Language) -> str:
    if words.name == "en":
        return value
    parts = _LISTS[field].split(value) if field in _LISTS else [value]
    if field in _OURS:
        known = {**words.asked, **words.columns}
        parts = [_one(part, words) or known.get(part, part) for part in parts]
    return words.page["list_separator"].join(parts)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the English sentences as patterns, in the order of the catalogue."""
    return [
        (name, re.compile(_FIELD.sub(r"(?P<\1>.+?)", re.escape(said)), re.DOTALL))
        for name, said in read_language("en").patterns.items()
    ]
