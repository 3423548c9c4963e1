"""The report page: one HTML file that needs no network. The details for checking come last."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version

from neyman.publish import Publication
from neyman.report import _audit
from neyman.report._answers import Answer, answers_of
from neyman.report._explain import Explanation
from neyman.report._html import framed, labelled, safe
from neyman.report._language import Language, read_language
from neyman.report._records import json_link

__all__ = ["html"]


def html(
    publication: Publication,
    *,
    tradeoff_svg: str,
    release_svgs: Mapping[str, str],
    notes: Sequence[str] = (),
    made: date | None = None,
) -> str:
    """Return the report page, in the language of its presentation.

    Args:
        publication: the releases.
        tradeoff_svg: a picture of the total guarantee, an SVG element.
        release_svgs: pictures of releases, by their names.
        notes: sentences for the top of the page, such as the source of true values.
        made: the date that the page shows; by default today.
    """
    language = publication.presentation.language
    words, answers = read_language(language), answers_of(publication)
    day = datetime.now(UTC).date() if made is None else made
    explanation = _audit.explained(publication, language)
    shared, own = _shared_notes(answers)
    records = [one.record for one in answers]
    body = [
        *_head(publication, notes, words, day),
        labelled("summary", 2, words.page["summary"], [_summary(publication, explanation, words)]),
        _contents(answers, shared, words),
        labelled(
            "answers",
            2,
            words.page["answers"],
            (one.html(release_svgs.get(one.shown.name), own[one.number]) for one in answers),
        ),
        _covers(shared, answers, words),
        labelled(
            "downloads",
            2,
            words.page["downloads"],
            [
                f"<p>{safe(words.page['downloads_about'])}</p>",
                f"<p>{json_link(publication, records, day, words.page['json'])}</p>",
            ],
            "downloads",
        ),
        labelled(
            "audit",
            2,
            words.page["audit"],
            _audit.parts(publication, answers, explanation, tradeoff_svg, words),
        ),
    ]
    return framed(publication.title, body, language=language)


def _head(
    publication: Publication, notes: Sequence[str], words: Language, made: date
) -> Iterator[str]:
    shown, page = publication.presentation, words.page
    yield f"<header><h1>{safe(publication.title)}</h1>"
    if shown.subtitle:
        yield f'<p class="subtitle">{safe(shown.subtitle)}</p>'
    facts = {
        "data_date": shown.data_date,
        "made": made.isoformat(),
        "version": f"neyman {version('neyman')}",
        "contact": shown.contact,
    }
    lines = (f"<dt>{page[name]}</dt><dd>{safe(x)}</dd>" for name, x in facts.items() if x)
    yield f'<dl class="about">{"".join(lines)}</dl>'
    yield from (f"<p>{safe(note)}</p>" for note in (*shown.notes, *notes))
    yield "</header>"


def _summary(publication: Publication, explanation: Explanation, words: Language) -> str:
    """Return who is protected, and how often the best attacker is right."""
    page = words.page
    record = words.put("record", unit=_audit.unit_text(publication.unit, words))
    guess = _audit.best_guess(explanation, publication.neighbors, words)
    return f'<p>{safe(page["noise"])}</p><p>{safe(record)}</p><p class="headline">{safe(guess)}</p>'


def _contents(answers: Sequence[Answer], shared: Sequence[object], words: Language) -> str:
    page = words.page
    inner = "".join(_entry(one.anchor, one.title) for one in answers)
    checked = "".join(_entry(name, page[text]) for name, text in _audit.CONTENTS.items())
    lines = [
        _entry("answers", page["answers"], f"<ol>{inner}</ol>" if inner else ""),
        _entry("covers", page["covers"]) if shared else "",
        _entry("downloads", page["downloads"]).replace("<li>", '<li class="downloads">', 1),
        _entry("audit", page["audit"], f"<ol>{checked}</ol>"),
    ]
    return (
        f'<nav aria-labelledby="contents"><h2 id="contents">{safe(page["contents"])}</h2>'
        f"<ol>{''.join(lines)}</ol></nav>"
    )


def _entry(anchor: str, label: str, inner: str = "") -> str:
    return f'<li><a href="#{anchor}">{safe(label)}</a>{inner}</li>'


def _shared_notes(
    answers: Sequence[Answer],
) -> tuple[list[tuple[str, list[Answer]]], dict[int, list[str]]]:
    """Return notes that several answers share, with these, and the other notes by answer number."""
    about: dict[str, list[Answer]] = {}
    for answer in answers:
        for note in answer.notes if answer.release.groups else ():
            about.setdefault(note, []).append(answer)
    own: dict[int, list[str]] = {answer.number: [] for answer in answers}
    for note, of in about.items():
        if len(of) == 1:
            own[of[0].number].append(note)
    return [(note, of) for note, of in about.items() if len(of) > 1], own


def _covers(
    shared: Sequence[tuple[str, list[Answer]]], answers: Sequence[Answer], words: Language
) -> str:
    """Return the notes on intervals that several answers share, with links to the answers."""
    if not shared:
        return ""
    lines: list[str] = []
    for note, of in shared:
        links = words.page["list_separator"].join(
            f'<a href="#{one.anchor}">{one.number}</a>' for one in of
        )
        before, _, after = words.page["applies"].partition("{answers}")
        which = "" if len(of) == len(answers) else f" {safe(before)}{links}{safe(after)}"
        lines.append(f'<li>{note}<span class="quiet">{which}</span></li>')
    return labelled("covers", 2, words.page["covers"], [f"<ul>{''.join(lines)}</ul>"])
