"""One answer of a page: the question, a picture, the numbers and the notes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, cast, final

from neyman.publish import Presented, Publication
from neyman.released import Release
from neyman.report._answer_tables import AnswerTable, answer_tables, title_of
from neyman.report._crosstabs import crosstab_of
from neyman.report._html import labelled, pictured, safe
from neyman.report._language import Language, read_language, translated
from neyman.report._question_text import capitalised, question_text
from neyman.report._records import csv_link, recorded
from neyman.report._tables import answer_html, crosstab_cells, sentence_html

__all__ = ["Answer", "answers_of"]

# Longer tables are folded until the reader opens them.
_OPEN: Final = 20


@final
@dataclass(frozen=True)
class Answer:
    """An answer on a page.

    Attributes:
        number: its place on the page, from 1.
        title: its title, unique on the page.
        shown: the release with its presentation.
        publication: the publication that it belongs to.
        words: the language.
    """

    number: int
    title: str
    shown: Presented
    publication: Publication
    words: Language

    @property
    def anchor(self) -> str:
        """The id of its section."""
        return f"answer-{self.number}"

    @property
    def release(self) -> Release:
        """The release."""
        return self.shown.release

    @cached_property
    def tables(self) -> tuple[AnswerTable, ...]:
        """Its tables."""
        return answer_tables(self.shown)

    @cached_property
    def released(self) -> dict[str, object]:
        """The record of the release."""
        return recorded(self.shown.name, self.release)

    @property
    def record(self) -> dict[str, object]:
        """The record of the answer: its tables and, unless a rule suppresses some, the release."""
        record: dict[str, object] = {
            "id": self.shown.name,
            "tables": [table.to_json() for table in self.tables],
        }
        return record if self.shown.rule.sentences else record | {"release": self.released}

    @property
    def is_function(self) -> bool:
        """Whether the release is a function."""
        return "coefficient" in self.release.columns

    @property
    def question(self) -> str:
        """The question, as one sentence."""
        return question_text(
            self.release.question, language=self.words.name, called=self.shown.label
        )

    @property
    def notes(self) -> list[str]:
        """The notes on its intervals, as HTML."""
        if self.is_function:
            return [safe(self.words.put("bands", level=f"{100 * self.release.confidence:g}"))]
        return [sentence_html(note, self.words) for note in self.release.interval_notes]

    def html(self, svg: str | None, notes: list[str]) -> str:
        """Return the section of the answer.

        Args:
            svg: a picture; None without one.
            notes: the notes that no other answer has, as HTML.
        """
        head = f"{self.number}. {self.title}"
        return labelled(self.anchor, 3, head, self._parts(svg, notes), "answer")

    def _parts(self, svg: str | None, notes: list[str]) -> Iterator[str]:
        yield self._question()
        if self.shown.display.note:
            yield f"<p>{safe(self.shown.display.note)}</p>"
        if self.release.shown_from is not None:
            found = self.words.put("unknown", least=self.release.shown_from)
            yield f'<p class="quiet">{safe(found)}</p>'
        yield self._limits()
        if not self.release.groups:
            yield f"<p>{safe(self.words.page['no_group'])}</p>"
            return
        if svg is not None:
            title = self.words.put("picture", title=self.title)
            about = self.words.put(
                "picture_about", asked=capitalised(self.question, self.words.name)
            )
            yield pictured(svg, f"picture-{self.number}", title, about)
        yield self._function() if self.is_function else self._numbers()
        yield "".join(f'<p class="quiet">{note}</p>' for note in notes)
        links = (csv_link(table, len(self.tables), self.words) for table in self.tables)
        yield f'<p class="downloads">{" ".join(links)}</p>'

    @property
    def _stop(self) -> str:
        return self.words.page["stop"]

    def _question(self) -> str:
        """Return the part of the question that the title does not contain."""
        if self.shown.display.title is not None:
            return f"<p>{safe(capitalised(self.question, self.words.name))}{self._stop}</p>"
        limits = self.release.question.limits
        if limits is None:
            return ""
        found = translated(limits, self.words) or limits
        return f"<p>{safe(capitalised(found, self.words.name))}{self._stop}</p>"

    def _limits(self) -> str:
        """Return the effect of contribution limits and bounds, as a warning if it is large."""
        batch = self.publication.batch_of(self.release)
        notes, at = self.release.limit_notes([*batch]), self.release.companion_at
        source = self.release if at is None or at >= len(batch) else [*batch.values()][at]
        warns = source.companion is not None and source.companion.warns
        effect = " ".join(sentence_html(note, self.words) for note in notes)
        return f'<p class="{"warning" if warns else "quiet"}">{effect}</p>' if effect else ""

    def _numbers(self) -> str:
        cross = crosstab_of(self.shown)
        if cross is not None:
            level = f"{100 * self.release.confidence:g}"
            about = safe(self.words.put("crosstab_cells", level=level))
            (table,) = self.tables
            shown = cross.html(crosstab_cells(table, self.words), self.words.page)
            notes = "".join(
                f'<p class="quiet">{sentence_html(note, self.words)}</p>' for note in table.notes
            )
            return f'{shown}<p class="quiet">{about}</p>{notes}'
        several = len(self.tables) > 1
        return "".join(
            self._table(table, table.title if several else self.title, hidden=not several)
            for table in self.tables
        )

    def _table(self, table: AnswerTable, caption: str, *, hidden: bool) -> str:
        own = self.publication.presentation.words
        shown = answer_html(
            table, language=self.words.name, own=own, caption=caption, hidden=hidden
        )
        if len(table.rows) <= _OPEN:
            return shown
        rows = self.words.put("rows", count=f"{len(table.rows):,}")
        return f"<details><summary>{safe(rows)}</summary>{shown}</details>"

    def _function(self) -> str:
        """Return values of a function, not its coefficients."""
        parts = (
            sentence_html(f"{one}.", self.words)
            for one in cast("list[str]", self.released["hidden"])
        )
        hidden = "".join(f"<p>{one}</p>" for one in parts)
        stored = self.words.put(
            "coefficients",
            count=f"{len(self.release.groups):,}",
            ledger=self.publication.ledger.name,
            release=self.release.entry,
        )
        return f'{self._numbers()}{hidden}<p class="quiet">{safe(stored)}</p>'


def answers_of(publication: Publication) -> list[Answer]:
    """Return the answers of a publication in order, with unique titles."""
    words = read_language(publication.presentation.language)
    found = [
        Answer(number, title_of(shown), shown, publication, words)
        for number, shown in enumerate(publication.presented(), 1)
    ]
    titles = [answer.title for answer in found]
    return [
        answer
        if titles.count(answer.title) == 1
        else replace(answer, title=f"{answer.title} ({answer.shown.name})")
        for answer in found
    ]
