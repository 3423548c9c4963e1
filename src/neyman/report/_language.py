"""Sentences and numbers in a reader's language; each language is one file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Protocol, cast, final

from neyman.arguments import given
from neyman.errors import InvalidParameter
from neyman.printable import printable

__all__ = ["Count", "Language", "Numeral", "Quoted", "Value", "read_language"]

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
