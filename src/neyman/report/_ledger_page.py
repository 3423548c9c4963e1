"""A ledger as one HTML file that needs no network."""

from collections.abc import Mapping
from typing import cast

from neyman.ledger import Entry, Ledger
from neyman.numerics import at_least, at_most
from neyman.report._page import listed, page
from neyman.report._tables import exactly, rows_table, safe
from neyman.report._words import NOT_PROTECTED, likeness, relation, statement

__all__ = ["ledger_html"]

_HEAD = ("Entry", "What was asked", "State", "Charged at", "Guarantee alone", "Share of the budget")


def ledger_html(ledger: Ledger, tradeoff_svg: str) -> str:
    """Return the page of a ledger: what was charged for what, and what it guarantees together.

    A ledger holds noisy whole numbers, and not what makes means or curves of them: the page shows
    no answers.

    Args:
        ledger: of which.
        tradeoff_svg: the picture of its total guarantee, an SVG element.
    """
    total, entries = ledger.total(), ledger.entries()
    said = statement(total, ledger.unit, ledger.neighbors)
    title = f"Ledger {ledger.store.name}"
    rows = [
        (
            entry.id,
            _asked(entry),
            entry.state,
            entry.reserved_at,
            str(entry.curve),
            f"{at_most(100 * entry.cost / ledger.capacity, 4)} %",
        )
        for entry in entries
    ]
    body = [
        f"<h1>{safe(title)}</h1>",
        f'<p class="headline">Everything that this ledger ever released together satisfies '
        f"<strong>{safe(str(total))}</strong>: whether the data are "
        f"{safe(relation(ledger.neighbors, ledger.unit))}, is no easier to tell than "
        f"{safe(likeness(total))}.</p>",
        '<p class="quiet">The answers are not on this page. A ledger holds noisy whole numbers, '
        "and not what makes means or curves of them; the spec that asked for them does.</p>",
        "<h2>The guarantee in words</h2>",
        f"<p>{safe(said[0])}</p>",
        listed(said[1:]),
        f"<figure>{tradeoff_svg}</figure>",
        "<h2>What was charged</h2>",
        rows_table(_HEAD, rows, len(_HEAD) - 1),
        *(
            f"<details><summary>{safe(entry.id)}, exactly</summary>{exactly(entry.request)}"
            "</details>"
            for entry in entries
        ),
        "<h2>Terms</h2>",
        rows_table(("Term", "Value"), _terms(ledger), 2),
        "<h2>What is not protected</h2>",
        listed(NOT_PROTECTED),
    ]
    return page(title, body)


def _terms(ledger: Ledger) -> list[tuple[str, str]]:
    left = ledger.left()
    rest = at_least(100 * left.cost / ledger.capacity, 5)
    rows = [
        ("Protected unit", ledger.unit),
        ("Neighbouring tables", relation(ledger.neighbors, ledger.unit)),
        ("Budget of the ledger", str(ledger.cap)),
        ("Left of it", f"{rest} %"),
    ]
    if ledger.delta_for_groups:
        rows.append(("Left of the delta set aside for groups", at_least(left.delta, 5)))
    return [*rows, ("Head of the chain", ledger.head())]


def _asked(entry: Entry) -> str:
    """Say which statistics an entry answers; those of a batch one after another."""
    found: list[str] = []
    left: list[object] = [entry.request]
    while left:
        part = left.pop(0)
        if isinstance(part, Mapping):
            held = cast("Mapping[str, object]", part)
            query = held.get("query")
            if isinstance(query, Mapping):
                found.append(_statistic(cast("Mapping[str, object]", query)))
            else:
                left += held.values()
        elif isinstance(part, list):
            left += cast("list[object]", part)
    return ", ".join(found)


def _statistic(query: Mapping[str, object]) -> str:
    """Return a statistic, with its column and its groups."""
    column, keys = query.get("column"), query.get("keys") or query.get("unknown")
    of = f" of {column}" if isinstance(column, str) else ""
    names = cast("Mapping[str, object]", keys).get("columns") if isinstance(keys, Mapping) else None
    by = (
        f" by {', '.join(map(str, cast('list[object]', names)))}" if isinstance(names, list) else ""
    )
    return f"{query.get('statistic')}{of}{by}"
