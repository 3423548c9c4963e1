"""Tables: columns, types, privacy unit and bounds. No row is read."""

from collections.abc import Iterator

from neyman.notebook._card import card, facts, lines, quiet, table
from neyman.tables import Table
from neyman.tables._described import Described

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of a table."""
    match shown:
        case Table():
            known = shown.described
            return card(f"Table of {known.many:,} columns", _table(known))
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
