"""Sentences and numbers in a reader's language; each language is one file."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Protocol, cast, final

from neyman.arguments import given
from neyman.errors import InvalidParameter
from neyman.printable import printable
from neyman.sensitivity import Neighbors

__all__ = [
    "Count",
    "Language",
    "Numeral",
    "Quoted",
    "Value",
    "read_language",
    "relation",
    "translated",
]

_SUFFIX = ".toml"


@final
@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language.

    Attributes:
        name: such as "en".
        title: of every text.
        headings: by section.
        sentences: by name, with {fields}.
        page: texts of a page, by name, with {fields}.
        asked: what a question is made of, by name, with {fields}.
        columns: what columns of answers are called.
        notes: what stands for sentences that come from elsewhere, by name, with {fields}.
        patterns: these sentences, in English; of other languages none.
        group: between thousands.
        decimal: before the decimals.
    """

    name: str
    title: str
    headings: Mapping[str, str]
    sentences: Mapping[str, str]
    page: Mapping[str, str]
    asked: Mapping[str, str]
    columns: Mapping[str, str]
    notes: Mapping[str, str]
    patterns: Mapping[str, str]
    group: str
    decimal: str

    def say(self, name: str, values: Mapping[str, "Value"]) -> str:
        """Return a sentence with its values in place."""
        written = {field: value.written(self) for field, value in values.items()}
        return self.sentences[name].format(**written)

    def put(self, name: str, **values: object) -> str:
        """Return a text of a page with its values in place."""
        return self.page[name].format(**values)


class Value(Protocol):
    """What stands in a sentence."""

    @property
    def plain(self) -> int | str: ...
    def written(self, language: Language) -> str: ...


@final
@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of suspicions."""

    plain: int

    def written(self, language: Language) -> str:
        """In groups of three."""
        return f"{self.plain:,}".replace(",", language.group)


@final
@dataclass(frozen=True, slots=True)
class Numeral:
    """A number that was rounded already, as text."""

    plain: str

    def written(self, language: Language) -> str:
        """With the language's decimal mark."""
        return self.plain.replace(".", language.decimal)


@final
@dataclass(frozen=True, slots=True)
class Quoted:
    """Words that somebody else wrote, on one line."""

    plain: str

    def written(self, language: Language) -> str:  # noqa: ARG002
        """As they are, but for signs that are not seen."""
        return printable(self.plain)


def read_language(name: str) -> Language:
    """Return the words of a language.

    Raises:
        InvalidParameter: if there are none.
    """
    known = _known()
    if type(name) is not str or name not in known:
        raise InvalidParameter(
            f"{given('language', name)} was asked; write one of "
            f"{', '.join(map(repr, sorted(known)))}"
        )
    return _read(name)


def _known() -> dict[str, Traversable]:
    """Return the files by language."""
    return {
        place.name.removesuffix(_SUFFIX): place
        for place in files("neyman.report").joinpath("languages").iterdir()
        if place.name.endswith(_SUFFIX)
    }


@cache
def _read(name: str) -> Language:
    words = tomllib.loads(_known()[name].read_text(encoding="utf-8"))
    tables = cast("Mapping[str, Mapping[str, str]]", words)
    marks = tables["numbers"]
    return Language(
        name=name,
        title=str(words["title"]),
        headings=tables["headings"],
        sentences=tables["sentences"],
        page=tables["page"],
        asked=tables["asked"],
        columns=tables["columns"],
        notes=tables["notes"],
        patterns=tables.get("patterns", {}),
        group=marks["group"],
        decimal=marks["decimal"],
    )


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


def relation(neighbors: Neighbors, unit: str) -> str:
    """Say which two tables nobody shall be able to tell apart."""
    if neighbors == "add_remove":
        return f"a table, or the same table with {unit} taken out"
    return f"a table, or the same table with {unit} changed at will"
