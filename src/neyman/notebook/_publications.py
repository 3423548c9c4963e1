"""Previews, rehearsals, publications and contingency tables."""

from collections.abc import Iterator

from neyman.notebook._card import (
    card,
    facts,
    first_rows,
    lines,
    listed,
    more,
    quiet,
    table,
    warning,
)
from neyman.notebook._releases import answer
from neyman.publish import (
    NOTICE,
    ContingencyTable,
    NonNegativeTable,
    PlanPreview,
    Preview,
    Publication,
    Rehearsal,
)
from neyman.report import question_text, safe, table_of

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of an object of `publish`."""
    match shown:
        case Preview():
            return card(f"Preview: {question_text(shown.question)}", _preview(shown))
        case PlanPreview():
            return card(f"Preview: {shown.title}", _plan(shown))
        case Publication():
            return card(shown.title, _publication(shown))
        case Rehearsal():
            return card(f"{NOTICE} {shown.title}", _rehearsal(shown))
        case ContingencyTable() | NonNegativeTable():
            return card("Contingency table", _table(shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _preview(shown: Preview) -> Iterator[str]:
    yield from _numbers(shown)
    yield quiet("This is a preview: no row was read, and nothing was charged.")


def _numbers(shown: Preview) -> Iterator[str]:
    yield "".join(map(quiet, shown.head))
    longest = max(map(len, shown.rows))
    rows = [[*row, *[""] * (longest - len(row))] for row in shown.rows]
    yield table(("Number", "Rows", "Noise", *[""] * (longest - 3))[:longest], rows, 2)


def _plan(shown: PlanPreview) -> Iterator[str]:
    yield facts({"Budget": shown.cap, "Protects": f"{shown.unit} ({shown.neighbors})"})
    for charge in shown.charges:
        price = "stored, free" if charge.cost is None else shown.bill.share(charge.cost)
        yield f"<p><strong>{safe(charge.entry)}</strong>: {safe(price)}</p>"
        for question in charge.questions.values():
            yield "".join(_numbers(question))
    yield facts({"To pay": shown.bill.share(shown.bill.due), "Left now": shown.bill.left})
    if not shown.bill.fits:
        yield warning("The plan does not fit, and would be refused.")


def _publication(shown: Publication) -> Iterator[str]:
    protects = f"{shown.unit} ({shown.neighbors})"
    yield facts({"Spent": shown.total, "Budget": shown.cap, "Protects": protects})
    for one in shown.presented():
        title, asked = (
            safe(one.display.title or one.name),
            safe(question_text(one.release.question)),
        )
        yield f"<p><strong>{title}</strong>: {asked}</p>{''.join(answer(one))}"


def _rehearsal(shown: Rehearsal) -> Iterator[str]:
    columns = shown.to_columns()
    yield listed(shown.notes) if shown.notes else ""
    yield table(list(columns), list(zip(*columns.values(), strict=True)), 2)
    yield listed(shown.verdicts())


def _table(shown: ContingencyTable | NonNegativeTable) -> Iterator[str]:
    columns = shown.to_columns()
    first = first_rows(columns)
    yield table_of(first, len(shown.keys.to_columns())) + more(columns, ".to_pandas()")
    whose = shown.unbiased if isinstance(shown, NonNegativeTable) else shown
    yield quiet(f"lower, upper: {100 * whose.confidence:g} % interval for the noise of each cell.")
