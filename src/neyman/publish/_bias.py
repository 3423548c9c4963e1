"""The bias from limits and bounds: an answer about public data with and without them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from neyman.aggregate import Aggregate, Columns
from neyman.arguments import check_type
from neyman.errors import InvalidParameter, InvalidTable
from neyman.publish._exact_answers import NOISELESS
from neyman.released import text_of
from neyman.tables import Bounds, Rows, Table

__all__ = ["Bias", "bias"]

_SHOWN = 20
# The suffixes of columns about noise.
_OF_NOISE = ("stddev", "lower", "upper")
# The columns that label the numbers of a group.
_ASKED = ("probability",)


@final
@dataclass(frozen=True, slots=True)
class Bias:
    """An estimate of the bias from contribution limits and clipping, on public data.

    Attributes:
        columns: the keys of each group and, for each number of the answer, its value under limits
            and bounds, `NAME`; the part due to dropped rows, `NAME_truncation`; and the part due to
            clipped values, `NAME_clamping`, if the public table has its own bounds. The answer
            without limits and bounds is the first minus the other two.
        keys: the names of the columns with keys.
    """

    columns: Columns
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return text_of(self.columns, rows=_SHOWN, keys=len(self.keys))


def bias(ask: Callable[[Table], Aggregate], table: Table, public: Table) -> Bias:
    """Estimate the bias of an answer from limits and bounds, on public or simulated data.

    Let A be the answer under limits and bounds, B without contribution limits, and C also with the
    wider bounds of the public table:

        truncation = A - B,   clamping = B - C

    The private rows are not read, and nothing is charged. The answers about the public rows have no
    noise, so do not pass private rows as public ones. The same table or file is refused. The check
    does not recognise the same rows in a frame with another name, or in both a database and a file.

    Args:
        ask: a function that returns the question about a table, such as
            `lambda t: t.mean("delay", by=keys)`, with its filters and computed columns.
        table: the private table, with its unit and bounds.
        public: similar data that need no protection, such as a published table of last year or
            simulated rows, opened with unit=Rows(), and with bounds that clip no value in the
            columns of the question. Without bounds, clamping is not estimated. If the private
            table is joined, or another table names its unit, join the public rows in the same steps
            with public tables; the limits of their unit are not used.

    Raises:
        InvalidParameter: if `public` is the private data, or `ask` uses other rows than its
            argument, or numbers that depend on the bounds, such as coefficients of a density.
        InvalidTable: if the public data have other steps, or do not fit the question.
        UnknownColumn: if the public data do not have a column.

    Error: an estimate: the bias of the private data if they resemble the public ones. Values
        beyond the wider bounds are clipped to these.
    """
    if not callable(ask):
        raise InvalidParameter(
            f"ask must be a function of a table; got {type(ask).__name__}. Write for example "
            "lambda t: t.count()"
        )
    check_type("table", table, Table, "the private table, from open_table(...)")
    check_type("public", public, Table, "a public table, from open_table(...)")
    _refuse_unlike(table, public)
    if not set(public.engine.identities).isdisjoint(table.engine.identities):
        raise InvalidParameter(
            "public must be other data than the table, because its answers have no noise; got the "
            "table itself. Write published or simulated data"
        )
    free = replace(public, unit=Rows(), bounds=table.bounds)
    questions = [ask(replace(free, unit=table.unit)), ask(free)]
    if public.bounds:
        questions.append(_wide(ask, table, public))
    for question in questions:
        check_type("ask(t)", question, Aggregate, "one question, such as lambda t: t.count()")
    _refuse_other_rows(questions, public)
    keys = questions[0].keys
    return Bias(_compared(keys, [_exact(question) for question in questions]), tuple(keys))


def _wide(ask: Callable[[Table], Aggregate], table: Table, public: Table) -> Aggregate:
    """Return the question under the bounds of the public table."""
    try:
        return ask(replace(public, unit=Rows()))
    except InvalidTable as error:
        raise type(error)(
            f"{error}. The public table has bounds for {_named(public.bounds)}, and the private "
            f"one for {_named(table.bounds)}. Open the public one with wide bounds for every "
            "column of the question, or for none"
        ) from error


def _refuse_unlike(table: Table, public: Table) -> None:
    """Refuse public rows that were not made in the same steps as the private ones."""
    if table.view.made and table.view.made != public.view.made:
        raise InvalidTable(
            "public must have the same filters, expressions and joins as the table; it has others. "
            "Apply the same steps to both, with public tables in the joins, or apply filters in "
            "ask: lambda t: t.where(...).count()"
        )
    if table.unit.through is not None and public.unit.through is None:
        raise InvalidTable(
            f"public must find {table.unit.entity!r} by a foreign key, as the table does; it has "
            "none. Open it with unit=Entity(ForeignKey(...), ...) to a public table"
        )


def _named(names: Mapping[str, Bounds]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _refuse_other_rows(questions: Sequence[Aggregate], public: Table) -> None:
    """Refuse questions about other rows than the public ones, because answers have no noise.

    Raises:
        InvalidParameter: if `ask` reads other rows.
        InvalidTable: if the groups are not declared.
    """
    for question in questions:
        if question.source != public.engine.identity:
            raise InvalidParameter(
                "ask(t) must use the rows of its argument t alone, because answers have no noise; "
                "it uses others. Write lambda t: t.count()"
            )
        if question.unknown is not None:
            raise InvalidTable(
                "groups must be declared, because answers with and without bounds may have "
                "different ones; they are not. Write by=Keys({...})"
            )


def _exact(question: Aggregate) -> Columns:
    return question.exactly(question.compute(), NOISELESS, 0.5)


def _compared(keys: Columns, answers: Sequence[Columns]) -> Columns:
    found = dict(keys)
    causes = ("truncation", "clamping")
    if any({*map(len, one.values())} != {*map(len, answers[0].values())} for one in answers):
        raise InvalidParameter(
            "ask(t) must give the same numbers under wider bounds; it does not, as a density "
            "between the bounds. Write domain=... in the question, or open the public table "
            "without bounds"
        )
    for name, first in answers[0].items():
        if name.endswith(_OF_NOISE):
            continue
        found[name] = first
        if name in _ASKED or any(isinstance(cell, str) for cell in first):
            continue
        for cause, one, other in zip(causes, answers, answers[1:], strict=False):
            found[f"{name}_{cause}"] = [
                float(a) - float(b) for a, b in zip(one[name], other[name], strict=True)
            ]
    return found
