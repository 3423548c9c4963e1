"""One answer of a page: what was asked, a picture, the numbers, and what they do not say."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, final

from neyman.publish import Display, Publication
from neyman.released import Release, limits_said
from neyman.report._asked import asked, what_of
from neyman.report._crosstabs import crosstab_of
from neyman.report._downloads import csv_link
from neyman.report._functions import read_off
from neyman.report._html import labelled, safe
from neyman.report._language import Language, read_language
from neyman.report._pictures import pictured
from neyman.report._tables import answer_table, crosstab_cells, table_of
from neyman.report._translated import translated

__all__ = ["Answer", "answers_of", "told"]

# Longer answers open on demand.
_OPEN: Final = 20


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as a page shows it.

    Attributes:
        number: its place on the page, from 1.
        name: of the release.
        title: as text.
        release: the numbers.
        publication: that it is of.
        words: of the language.
    """

    number: int
    name: str
    title: str
    release: Release
    publication: Publication
    words: Language

    @property
    def anchor(self) -> str:
        """The id of its section."""
        return f"answer-{self.number}"

    @property
    def display(self) -> Display:
        """How it is displayed."""
        return self.publication.presentation.display(self.name)

    @property
    def is_function(self) -> bool:
        """Whether the release is a function, of which numbers are read off."""
        return "coefficient" in self.release.columns

    def called(self, column: str) -> str:
        """Return what a column is called."""
        labels = {**self.publication.presentation.labels, **self.display.labels}
        return labels.get(column, column)

    @property
    def asked(self) -> str:
        """What was asked, in one sentence."""
        return asked(self.release.query, language=self.words.name, called=self.called)

    @property
    def notes(self) -> list[str]:
        """What the intervals cover, as HTML, a paragraph each."""
        if self.is_function:
            return [safe(self.words.put("bands", level=f"{100 * self.release.confidence:g}"))]
        return [told(note, self.words) for note in self.release.interval_notes]

    def html(self, svg: str | None, notes: list[str]) -> str:
        """Return its section.

        Args:
            svg: its picture.
            notes: what is said of its intervals here, and not of others as well, as HTML.
        """
        head = f"{self.number}. {self.title}"
        return labelled(self.anchor, 3, head, self._parts(svg, notes), "answer")

    def _parts(self, svg: str | None, notes: list[str]) -> Iterator[str]:
        yield self._question()
        if self.display.note:
            yield f"<p>{safe(self.display.note)}</p>"
        if self.release.shown_from is not None:
            said = self.words.put("unknown", least=self.release.shown_from)
            yield f'<p class="quiet">{safe(said)}</p>'
        yield self._limits()
        if not self.release.groups:
            yield f"<p>{safe(self.words.page['no_group'])}</p>"
            return
        if svg is not None:
            title = self.words.put("picture", title=self.title)
            about = self.words.put("picture_about", asked=_begun(self.asked, self.words))
            yield pictured(svg, f"picture-{self.number}", title, about)
        yield self._function() if self.is_function else self._numbers()
        yield "".join(f'<p class="quiet">{note}</p>' for note in notes)
        link = csv_link(self.name, self.release, self.words.page["csv"])
        yield f'<p class="downloads">{link}</p>'

    def _question(self) -> str:
        """Say what was asked, as far as the title does not."""
        if self.display.title is not None:
            return f"<p>{safe(_begun(self.asked, self.words))}.</p>"
        limits = limits_said(self.release.query)
        if limits is None:
            return ""
        found = translated(limits, self.words) or limits
        return f"<p>{safe(_begun(found, self.words))}.</p>"

    def _limits(self) -> str:
        """Say what contribution limits and bounds did, plainly where it is much."""
        batch = self.publication.batch_of(self.release)
        notes, at = self.release.limit_notes([*batch]), self.release.companion_at
        source = self.release if at is None or at >= len(batch) else [*batch.values()][at]
        warns = source.companion is not None and source.companion.warns
        said = " ".join(told(note, self.words) for note in notes)
        return f'<p class="{"warning" if warns else "quiet"}">{said}</p>' if said else ""

    def _numbers(self) -> str:
        table = crosstab_of(self.release)
        if table is not None:
            level = f"{100 * self.release.confidence:g}"
            about = safe(self.words.put("crosstab_cells", level=level))
            shown = table.html(crosstab_cells(self.release), self.words.page)
            return f'{shown}<p class="quiet">{about}</p>'
        shown, length = answer_table(self.release), len(self.release.groups)
        if length <= _OPEN:
            return shown
        said = self.words.put("rows", count=f"{length:,}")
        return f"<details><summary>{safe(said)}</summary>{shown}</details>"

    def _function(self) -> str:
        """Return what is read off a function, never its coefficients."""
        read, hidden = read_off(self.release)
        shown = "" if read is None else table_of(read, len(self.release.keys))
        shown += "".join(f"<p>{told(said, self.words)}.</p>" for said in hidden)
        kept = self.words.put(
            "coefficients",
            count=f"{len(self.release.groups):,}",
            ledger=self.publication.ledger.name,
            release=self.release.entry,
        )
        return f'{shown}<p class="quiet">{safe(kept)}</p>'


def answers_of(publication: Publication) -> list[Answer]:
    """Return the answers of a publication, in order, each with a title of its own."""
    words = read_language(publication.presentation.language)
    found: list[Answer] = []
    named = zip(publication.names, publication.releases, strict=True)
    for number, (name, release) in enumerate(named, 1):
        answer = Answer(number, name, "", release, publication, words)
        made = what_of(release.query, language=words.name, called=answer.called)
        found.append(replace(answer, title=answer.display.title or _begun(made, words)))
    titles = [answer.title for answer in found]
    return [
        answer
        if titles.count(answer.title) == 1
        else replace(answer, title=f"{answer.title} ({answer.name})")
        for answer in found
    ]


def told(text: str, words: Language) -> str:
    """Return a text of another room as HTML: in the language, or in English and marked as such."""
    found = translated(text, words)
    if found is None:
        return f'<span lang="en">{safe(text)}</span>'
    return safe(found)


def _begun(text: str, words: Language) -> str:
    """Begin a sentence; in other languages it may begin with a name, which stays as it is."""
    return text[:1].upper() + text[1:] if words.name == "en" else text
