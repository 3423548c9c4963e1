"""What bounds cost: an answer of public data with them and without, before anything is spent."""

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
# What the readings of statistics call the ends of intervals.
_OF_NOISE = ("stddev", "lower", "upper")
# What says which number of a group a row is.
_ASKED = ("probability",)


@final
@dataclass(frozen=True, slots=True)
class Bias:
    """An estimate: what contribution bounds and clamping did to an answer of public data.

    Attributes:
        columns: of each group its keys; of each number of the answer, as found within the bounds,
            `NAME`, how much of it is due to rows left out, `NAME_truncation`, and how much to
            values moved to their bounds, `NAME_clamping`, where the public table has bounds of its
            own. The answer without bounds is the first less the other two.
        keys: which of the columns are those of the groups.
    """

    columns: Columns
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return text_of(self.columns, rows=_SHOWN, keys=len(self.keys))


def bias(ask: Callable[[Table], Aggregate], table: Table, public: Table) -> Bias:
    """Estimate what the bounds of a table do to an answer, on public or simulated data.

    With A the answer of the public data under all bounds, B without contribution bounds, C with
    the public table's own, wider bounds:

        truncation = A - B,   clamping = B - C

    The private rows are not asked, and nothing is charged. The public rows are, and the answers of
    them come without noise: who calls private rows public publishes them. The same table or file
    is refused; that a frame by another name, or a database and a file, hold the same rows is not
    seen.

    Args:
        ask: asks the question of a table, as in `lambda t: t.mean("delay", by=keys)`; filters and
            made columns belong in it.
        table: the private one, which says unit and bounds.
        public: data like the private ones that need no protection, last year's published table or
            simulated rows, opened with unit=Rows() and with bounds that clamp nothing, of the
            columns that the question uses. Without bounds clamping is not estimated. Of a joined
            table, or one whose unit another table names, public rows that are joined in the same
            steps with public tables; the limits of their unit play no part.

    Raises:
        InvalidParameter: if `public` is the private data, or `ask` asks of other rows than it is
            given, or of numbers that depend on the bounds, as coefficients between them do.
        InvalidTable: if the public data are not made in the same steps, or do not fit the question.
        UnknownColumn: if the public data lack a column.

    Error: an estimate. It says nothing of the private data but how they would behave if they were
        like the public ones. Values beyond wide bounds are clamped by those.
    """
    if not callable(ask):
        raise InvalidParameter(
            f"ask of type {type(ask).__name__} was given; write what asks the question of a table, "
            "such as lambda t: t.count()"
        )
    check_type("table", table, Table, "the private table, from open_table(...)")
    check_type("public", public, Table, "a public table, from open_table(...)")
    _refuse_unlike(table, public)
    if not set(public.engine.identities).isdisjoint(table.engine.identities):
        raise InvalidParameter(
            "the public data are the table itself, and its answers would be shown without noise; "
            "write other data, published or simulated"
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
    """Ask under the public table's own bounds, and say of a mistake that it is in these."""
    try:
        return ask(replace(public, unit=Rows()))
    except InvalidTable as error:
        raise type(error)(
            f"{error}. The public table bounds {_named(public.bounds)}, and the private one "
            f"{_named(table.bounds)}; open the public one with wide bounds of every column that "
            "the question uses, or of none"
        ) from error


def _refuse_unlike(table: Table, public: Table) -> None:
    """Refuse tables whose rows are not made in the same steps, for they are not alike then."""
    if table.view.made and table.view.made != public.view.made:
        raise InvalidTable(
            "the table was made of another by filters, expressions or joins, and the public one "
            "not in the same steps; join both alike before, public tables with the public one, and "
            "make filters and columns of both alike, or in ask: lambda t: t.where(...).count()"
        )
    if table.unit.through is not None and public.unit.through is None:
        raise InvalidTable(
            f"the table finds {table.unit.entity!r} by a foreign key, and the public one does not; "
            "open it with a ForeignKey to a public table as well: unit=Entity(ForeignKey(...), ...)"
        )


def _named(names: Mapping[str, Bounds]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _refuse_other_rows(questions: Sequence[Aggregate], public: Table) -> None:
    """Refuse what is not asked of the public rows alone, for answers come without noise.

    Raises:
        InvalidParameter: if `ask` reads other rows.
        InvalidTable: if it asks by groups that nobody declared.
    """
    for question in questions:
        if question.source != public.engine.identity:
            raise InvalidParameter(
                "ask(t) asks of other rows than those of the table t that it is given, and their "
                "answers would be shown without noise; ask of t alone: lambda t: t.count()"
            )
        if question.unknown is not None:
            raise InvalidTable(
                "answers by unknown groups were asked for, and those with bounds and without may "
                "be of other groups; declare them: by=Keys({...})"
            )


def _exact(question: Aggregate) -> Columns:
    return question.exactly(question.compute(), NOISELESS, 0.5)


def _compared(keys: Columns, answers: Sequence[Columns]) -> Columns:
    found = dict(keys)
    causes = ("truncation", "clamping")
    if any({*map(len, one.values())} != {*map(len, answers[0].values())} for one in answers):
        raise InvalidParameter(
            "ask(t) asks of other numbers where bounds are wider, as a density between them does; "
            "write domain=... in the question, or open the public table without bounds"
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
