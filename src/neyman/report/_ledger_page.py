"""The page of a ledger: one HTML file that needs no network."""

from collections.abc import Mapping, Sequence
from typing import cast

from neyman.ledger import Entry, Ledger
from neyman.numerics import at_least, at_most
from neyman.released import Guarantee, RecordedQuestion
from neyman.report._audit import PRIORS, curve_section, explanation_html, unit_text
from neyman.report._explain import explain
from neyman.report._html import framed, labelled, safe, table_html
from neyman.report._language import Language, read_language, relation, translated
from neyman.report._question_text import statistic_text
from neyman.report._tables import exactly

__all__ = ["ledger_html"]


def ledger_html(ledger: Ledger, tradeoff_svg: str, *, language: str = "en") -> str:
    """Return the page of a ledger: its charges, and the guarantee of all of them together.

    A ledger stores noisy integers, and not how to turn them into means or curves, so the page has
    no answers.

    Args:
        ledger: the ledger.
        tradeoff_svg: a picture of its total guarantee, an SVG element.
        language: "en", "ko" or "zh".
    """
    words, total, entries = read_language(language), ledger.total(), ledger.entries()
    unit = unit_text(ledger.unit, words)
    guarantee = Guarantee(curve=total, neighbors=ledger.neighbors, unit=unit, assumptions=())
    explanation = explain(guarantee, language=language, priors=PRIORS)
    title, page = words.put("ledger_title", ledger=ledger.store.name), words.page
    body = [
        f"<header><h1>{safe(title)}</h1>",
        _terms(ledger, words),
        f'<p class="quiet">{safe(page["no_answers"])}</p></header>',
        labelled(
            "charged", 2, page["charged"], [_charged(ledger, entries, words), _left(ledger, words)]
        ),
        labelled("words", 2, page["words"], [explanation_html(explanation, words)]),
        curve_section(total, tradeoff_svg, words, level=2),
        labelled(
            "questions",
            2,
            page["exactly"],
            (
                f"<details><summary>{safe(entry.id)}</summary>"
                f"{exactly(entry.request, page['question'], words)}</details>"
                for entry in entries
            ),
        ),
    ]
    return framed(title, body, language=language)


def _charged(ledger: Ledger, entries: Sequence[Entry], words: Language) -> str:
    page = words.page
    names = ("entry", "asked", "state", "charged_at", "alone", "share")
    rows = [
        (
            entry.id,
            _questions(entry, words),
            entry.state,
            entry.reserved_at,
            str(entry.curve),
            f"{at_most(100 * entry.cost / ledger.capacity, 4)} %",
        )
        for entry in entries
    ]
    return table_html([page[name] for name in names], rows, texts=3, caption=page["charged"])


def _left(ledger: Ledger, words: Language) -> str:
    """Return a table of the steps of trainings that are left; empty if no training was declared."""
    page = words.page
    rows = [
        (stock.id, str(kind.step), f"{kind.count:,}", f"{taken:,}", f"{left.count:,}")
        for stock in ledger.stocks()
        for kind, taken, left in zip(stock.declared, stock.taken, stock.rest(), strict=True)
    ]
    names = ("entry", "step", "steps_declared", "steps_taken", "steps_left")
    head = [page[name] for name in names]
    return table_html(head, rows, texts=2, caption=page["allowances"]) if rows else ""


def _terms(ledger: Ledger, words: Language) -> str:
    left, between = ledger.left(), relation(ledger.neighbors, ledger.unit)
    rest = at_least(100 * left.cost / ledger.capacity, 5)
    facts = {
        "unit": unit_text(ledger.unit, words),
        "neighbours": translated(between, words) or between,
        "cap": str(ledger.cap),
        "spent": str(ledger.total()),
        "left": f"{rest} %",
    }
    if ledger.delta_aside:
        facts["set_aside"] = at_least(ledger.delta_aside, 5)
        facts["set_aside_left"] = at_least(left.delta, 5)
    facts["ledger_head"] = ledger.head()
    lines = (f"<dt>{safe(words.page[name])}</dt><dd>{safe(x)}</dd>" for name, x in facts.items())
    return f'<dl class="about">{"".join(lines)}</dl>'


def _questions(entry: Entry, words: Language) -> str:
    """Return the questions of an entry in words, separated by semicolons."""
    found: list[str] = []
    left: list[object] = [entry.request]
    while left:
        part = left.pop(0)
        if isinstance(part, Mapping):
            record = cast("Mapping[str, object]", part)
            query = record.get("query")
            if isinstance(query, Mapping):
                found.append(
                    statistic_text(
                        RecordedQuestion.of(cast("Mapping[str, object]", query)),
                        language=words.name,
                    )
                )
            else:
                left += record.values()
        elif isinstance(part, list):
            left += cast("list[object]", part)
    return "; ".join(found)
