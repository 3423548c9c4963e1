"""Tables, and questions asked of them. Only what was declared is shown: no row is read."""

from collections.abc import Iterator

from neyman.aggregate import Aggregate
from neyman.notebook._card import card, facts, first_rows, lines, more, quiet, table
from neyman.numerics import at_most
from neyman.report._asked import asked
from neyman.report._tables import table_of
from neyman.sensitivity import Sensitivity
from neyman.tables import Table
from neyman.tables._described import Described

__all__ = ["html"]


def html(shown: object) -> str:
    """Return what a notebook shows of a table or a question."""
    match shown:
        case Table():
            known = shown.described
            return card(f"Table of {known.many:,} columns", _table(known))
        case Aggregate():
            return card(f"Question: {asked(shown.query)}", _question(shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _table(shown: Described) -> Iterator[str]:
    yield facts(
        {"Protects": shown.unit.label, "Unit": repr(shown.unit), "Rows": shown.rows or None}
    )
    rows = [(column.name, column.kind, column.note) for column in shown.columns]
    yield table(("Column", "Type", "Declared"), rows, 3)
    if shown.why:
        yield quiet(f"{shown.why}.")


def _question(shown: Aggregate) -> Iterator[str]:
    rows = max(map(len, shown.keys.values()), default=1)
    groups = None if shown.unknown is None else ", ".join(shown.unknown.parsers)
    yield facts(
        {
            "Protects": shown.unit,
            "Groups": f"those of {groups} that are large enough" if groups else None,
            "Integers to release": f"{shown.size:,}" if not groups else None,
            "Sensitivity": _sensitivity(shown.sensitivity),
        }
    )
    if shown.keys and rows > 0:
        yield table_of(first_rows(shown.keys), len(shown.keys)) + more(shown.keys, ".keys")
    yield quiet("Not asked yet: no row was read, and nothing was charged.")


def _sensitivity(known: Sensitivity) -> str:
    l1 = None if known.l1 is None else f"L1 {at_most(known.l1, 6)}"
    l2 = None if known.l2_squared is None else f"L2 squared {at_most(known.l2_squared, 6)}"
    return f"{', '.join(filter(None, (l1, l2)))} ({known.neighbors})"
