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
    """The texts of one language.

    Attributes:
        name: the code of the language, such as "en".
        title: the title of every explanation.
        headings: the headings of an explanation, by section.
        sentences: the sentences of an explanation, by name, with {fields}.
        page: the texts of a page, by name, with {fields}.
        asked: the parts of a question, by name, with {fields}.
        columns: the heads of columns.
        notes: the translations of sentences from other packages, by name, with {fields}.
        patterns: these sentences in English; only English has them.
        group: the separator of thousands.
        decimal: the decimal mark.
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
        """Return a sentence of an explanation with its values."""
        written = {field: value.written(self) for field, value in values.items()}
        return self.sentences[name].format(**written)

    def put(self, name: str, **values: object) -> str:
        """Return a text of a page with its values."""
        return self.page[name].format(**values)


class Value(Protocol):
    """A value in a sentence."""

    @property
    def plain(self) -> int | str: ...
    def written(self, language: Language) -> str: ...


@final
@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of suspicions."""

    plain: int

    def written(self, language: Language) -> str:
        """With separated thousands."""
        return f"{self.plain:,}".replace(",", language.group)


@final
@dataclass(frozen=True, slots=True)
class Numeral:
    """A rounded number, as text."""

    plain: str

    def written(self, language: Language) -> str:
        """With the language's decimal mark."""
        return self.plain.replace(".", language.decimal)


@final
@dataclass(frozen=True, slots=True)
class Quoted:
    """A quoted text, on one line."""

    plain: str

    def written(self, language: Language) -> str:  # noqa: ARG002
        """Unchanged, except for invisible characters."""
        return printable(self.plain)


def read_language(name: str) -> Language:
    """Return the texts of a language.

    Raises:
        InvalidParameter: if the language is unknown.
    """
    known = _known()
    if type(name) is not str or name not in known:
        raise InvalidParameter(
            f"language must be known; got {given('language', name)}. Write one of "
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


# Fields whose values are translated; others are numbers, or names that stay unchanged.
_OURS: Final = frozenset(
    ("again", "beyond", "count", "drawn", "how", "kind", "left_out", "limit", "limits", "name")
) | {"releases", "statistic", "unit", "units", "what", "where"}
# The separators of fields that are lists.
_LISTS: Final = {
    "beyond": re.compile(", or |, "),
    "columns": re.compile(", | and "),
    "either": re.compile(" or "),
    "lacking": re.compile(" or "),
    "names": re.compile(", | and "),
}
_FULL_STOP: Final = "\u3002"
# Longer text is not in the catalogue, and is not searched.
_LONGEST: Final = 2000
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


def translated(text: str, words: Language) -> str | None:
    """Return translated sentences; None if one of them is not in the catalogue.

    Args:
        text: one or more English sentences.
        words: the language.
    """
    # English text without another form stays unchanged.
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
    """Return one translated sentence or phrase; None if it is not in the catalogue."""
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
        (name, re.compile(_FIELD.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL))
        for name, sentence in read_language("en").patterns.items()
    ]


def relation(neighbors: Neighbors, unit: str) -> str:
    """Return the two neighbouring tables, in words."""
    if neighbors == "add_remove":
        return f"a table, or the same table with {unit} taken out"
    return f"a table, or the same table with {unit} changed at will"
