"""The part of a page for checking it: guarantee, terms, ledger, questions."""

from collections.abc import Iterator, Sequence

from neyman.curves import TradeOff
from neyman.ledger import Entry
from neyman.numerics import at_least, at_most
from neyman.publish import Publication
from neyman.released import Guarantee
from neyman.report._answers import Answer
from neyman.report._explain import Explanation, explain
from neyman.report._html import labelled, pictured, safe, table_html
from neyman.report._language import Count, Language, read_language, relation, translated
from neyman.report._tables import exactly, sentence_html
from neyman.sensitivity import Neighbors

__all__ = [
    "CONTENTS",
    "PRIORS",
    "best_guess",
    "curve_section",
    "explained",
    "explanation_html",
    "parts",
    "unit_text",
]

# The heading of each part, by its anchor.
CONTENTS = {
    "words": "words",
    "curve": "curve",
    "terms": "terms",
    "ledger": "ledger",
    "questions": "exactly",
}
_USUAL_DELTAS = (1e-5, 1e-6, 1e-9)
PRIORS = (0.5, 0.1)
_FIRST_GUESS = "guess"


def explained(publication: Publication, language: str) -> Explanation:
    """Return the explanation of the guarantee of all releases."""
    assumptions = [one for release in publication.releases for one in release.guarantee.assumptions]
    guarantee = Guarantee(
        curve=publication.total,
        neighbors=publication.neighbors,
        unit=unit_text(publication.unit, read_language(language)),
        assumptions=tuple(dict.fromkeys(assumptions)),
    )
    return explain(guarantee, language=language, priors=PRIORS)


def unit_text(unit: str, words: Language) -> str:
    """Return the privacy unit, translated if it is in the catalogue."""
    return translated(unit, words) or unit


def parts(
    publication: Publication,
    answers: Sequence[Answer],
    explanation: Explanation,
    svg: str,
    words: Language,
) -> Iterator[str]:
    """Yield the sections.

    Args:
        publication: the releases.
        answers: the answers, in order.
        explanation: the explanation of the guarantee.
        svg: a picture of the guarantee.
        words: the language.
    """
    yield labelled("words", 3, words.page["words"], [explanation_html(explanation, words)])
    yield curve_section(publication.total, svg, words)
    yield labelled("terms", 3, words.page["terms"], [_terms(publication, words)])
    yield labelled("ledger", 3, words.page["ledger"], [_ledger(publication, answers, words)])
    questions = (_question(answer, words) for answer in answers)
    yield labelled("questions", 3, words.page["exactly"], questions)


def explanation_html(explanation: Explanation, words: Language) -> str:
    """Return the sections of an explanation as HTML, with known assumptions translated."""
    found: list[str] = []
    for section in explanation.sections:
        items = [
            sentence_html(str(said.values["assumption"]), words)
            if said.name == "assumption"
            else safe(said.text)
            for said in section.sentences
        ]
        found.append(f"<h4>{safe(section.heading)}</h4>")
        found.append("<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>")
    return "".join(found)


def best_guess(explanation: Explanation, neighbors: Neighbors, words: Language) -> str:
    """Return a sentence on how often the best attacker guesses right, at prior 1/2."""
    guess = next(
        said
        for section in explanation.sections
        for said in section.sentences
        if said.name == _FIRST_GUESS
    )
    numbers = {
        name: Count(value).written(words)
        for name, value in guess.values.items()
        if isinstance(value, int)
    }
    return words.put(f"guess_{neighbors}", **numbers)


def curve_section(total: TradeOff, svg: str, words: Language, level: int = 3) -> str:
    """Return the picture of a guarantee, and its other forms as a table."""
    page = words.page
    picture = (
        pictured(svg, "picture-curve", page["curve"], page["curve_about"], page["curve_caption"])
        if svg
        else ""
    )
    values = {
        page["mu"]: total.mu(),
        **{
            page["epsilon"].format(delta=f"{delta:.0e}".replace("e-0", "e-")): total.epsilon(delta)
            for delta in _USUAL_DELTAS
        },
        page["rho"]: total.zcdp(),
        page["advantage"]: total.advantage(),
    }
    rows = [(name, at_most(value, 6)) for name, value in values.items()]
    table = table_html(
        (page["other_words"], page["at_most"]), rows, texts=1, caption=page["other_words"]
    )
    return labelled("curve", level, page["curve"], [picture, table])


def _terms(publication: Publication, words: Language) -> str:
    page, unit = words.page, publication.unit
    between = relation(publication.neighbors, unit)
    rows = [
        (page["unit"], safe(unit_text(unit, words))),
        (page["neighbours"], sentence_html(between, words)),
        (page["cap"], safe(publication.cap)),
        (page["spent"], safe(publication.total)),
    ]
    if publication.delta_aside:
        rows += [
            (page["set_aside"], at_least(publication.delta_aside, 6)),
            (page["set_aside_spent"], at_most(publication.delta_spent, 6)),
        ]
    lines = "".join(f"<dt>{safe(name)}</dt><dd>{value}</dd>" for name, value in rows)
    return f'<dl class="about">{lines}</dl>'


def _ledger(publication: Publication, answers: Sequence[Answer], words: Language) -> str:
    about = f"<p>{safe(words.put('ledger_about', ledger=publication.ledger.name))}</p>"
    if publication.head:
        about += f"<p>{safe(words.page['ledger_head'])} <code>{safe(publication.head)}</code></p>"
    page, titles = words.page, dict[str, list[str]]()
    for answer in answers:
        titles.setdefault(answer.release.entry, []).append(answer.title)
    head = [page["entry"], page["asked"], page["charged_at"], page["alone"], page["share"]]
    if publication.delta_aside:
        head.append(page["share_delta"])
    spending = {answer.release.entry: answer.release.spending for answer in answers}
    rows: list[list[str]] = []
    entries = {entry.id: entry for entry in publication.entries}
    for name in dict.fromkeys([*entries, *titles]):
        entry, paid = entries.get(name), spending.get(name)
        alone = [str(a.release.guarantee.curve) for a in answers if a.release.entry == name]
        cap = next((one.cap for one in spending.values()), None)
        cost = entry.cost if entry is not None else paid.cost if paid is not None else None
        row = [
            name,
            "; ".join(titles.get(name, [])),
            "" if entry is None else _minute(entry),
            str(entry.curve) if entry is not None else "; ".join(alone),
            f"{at_most(100 * cost / cap, 4)} %" if cost is not None and cap else "",
        ]
        if publication.delta_aside:
            delta = entry.delta if entry is not None else paid.delta if paid is not None else 0
            row.append(f"{at_most(100 * delta / publication.delta_aside, 4)} %")
        rows.append(row)
    table = table_html(head, rows, texts=3, caption=words.page["charged"])
    return about + table


def _minute(entry: Entry) -> str:
    """Return the time of a charge, to the minute."""
    return entry.reserved_at[:16].replace("T", " ")


def _question(answer: Answer, words: Language) -> str:
    release = answer.release
    paid = str(release.spending)
    cost = words.put(
        "release",
        release=release.entry,
        cost=translated(paid, words) or paid,
        guarantee=str(release.guarantee.curve),
    )
    title = safe(words.put("exactly_one", title=answer.title))
    return (
        f"<details><summary>{title}</summary><p>{safe(cost)}</p>"
        f"{exactly(release.query, words.page['question'], words)}"
        f"{exactly(release.mechanism, words.page['mechanism'], words)}</details>"
    )
