"""Questions: their groups, and the integers that they would release."""

from collections.abc import Iterator

from neyman.aggregate import Aggregate
from neyman.notebook._card import card, facts, first_rows, lines, more, quiet
from neyman.numerics import at_most
from neyman.released import RecordedQuestion
from neyman.report import question_text, table_of
from neyman.sensitivity import Sensitivity

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of a question."""
    match shown:
        case Aggregate():
            return card(
                f"Question: {question_text(RecordedQuestion.of(shown.query))}", _question(shown)
            )
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _question(shown: Aggregate) -> Iterator[str]:
    rows = max(map(len, shown.keys.values()), default=1)
    groups = None if shown.unknown is None else ", ".join(shown.unknown.parsers)
    yield facts(
        {
            "Protects": shown.unit,
            "Groups": f"values of {groups} that have large noisy counts" if groups else None,
            "Integers to release": f"{shown.size:,}" if not groups else None,
            "Sensitivity": _sensitivity(shown.sensitivity),
        }
    )
    if shown.keys and rows > 0:
        yield table_of(first_rows(shown.keys), len(shown.keys)) + more(shown.keys, ".keys")
    yield quiet("Not released yet: no row was read, and nothing was charged.")


def _sensitivity(known: Sensitivity) -> str:
    l1 = None if known.l1 is None else f"L1 {at_most(known.l1, 6)}"
    l2 = None if known.l2_squared is None else f"L2 squared {at_most(known.l2_squared, 6)}"
    return f"{', '.join(filter(None, (l1, l2)))} ({known.neighbors})"
