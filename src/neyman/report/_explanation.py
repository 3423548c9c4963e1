"""A text by sections and sentences, with the numbers in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from neyman.curves import TradeOff
from neyman.report._html import safe

__all__ = ["Explanation", "Section", "Sentence"]


@final
@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Attributes:
        name: the same in every language.
        values: the numbers in it, as they were rounded, and the words of others.
        text: in the language.
    """

    name: str
    values: Mapping[str, int | str]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Section:
    """Sentences under a heading.

    Attributes:
        name: the same in every language.
        heading: in the language.
        sentences: in order.
    """

    name: str
    heading: str
    sentences: tuple[Sentence, ...]


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """What a guarantee means; `str()` is the text, and a notebook shows it as HTML.

    Attributes:
        language: that it is written in.
        title: in the language.
        curve: that is explained.
        sections: in order.
    """

    language: str
    title: str
    curve: TradeOff
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        """The whole text, a sentence or two on each line."""
        parts = [self.title]
        for section in self.sections:
            lines = [f"- {sentence.text}" for sentence in section.sentences]
            parts.append("\n".join([section.heading, *lines]))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        parts = [f"<h2>{safe(self.title)}</h2>"]
        for section in self.sections:
            items = "".join(f"<li>{safe(sentence.text)}</li>" for sentence in section.sentences)
            parts.append(f"<h3>{safe(section.heading)}</h3><ul>{items}</ul>")
        return f'<section lang="{safe(self.language)}">{"".join(parts)}</section>'

    def to_json(self) -> dict[str, object]:
        """Return the text with the numbers in it, JSON-able."""
        return {
            "format": "neyman.explanation",
            "version": 1,
            "language": self.language,
            "title": self.title,
            "curve": self.curve.to_json(),
            "sections": [
                {
                    "name": section.name,
                    "heading": section.heading,
                    "sentences": [
                        {"name": said.name, "values": dict(said.values), "text": said.text}
                        for said in section.sentences
                    ],
                }
                for section in self.sections
            ],
        }
