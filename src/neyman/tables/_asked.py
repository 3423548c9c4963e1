"""The question of a statistic: its public part, and the function that computes it later."""

import json
from dataclasses import replace
from typing import Final, TypeAlias

from sqlglot import exp

from neyman.aggregate import (
    COMPANION,
    Aggregate,
    Companion,
    FoundGroups,
    IntArray,
    refuse_key_names,
    repeated,
)
from neyman.errors import InvalidTable
from neyman.tables._engines._engine import Engine
from neyman.tables._imagined import ImaginedRows
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._mistakes import refuse_no_keys
from neyman.tables._statements._companion import (
    MARK,
    companion_record,
    companion_sensitivity,
)
from neyman.tables._statements._found import new_groups, unknown_groups
from neyman.tables._statements._identity import statement_digest
from neyman.tables._statements._statement import Question, by_group, groups_of, limits_of, salt_of
from neyman.tables._statistics._statistic import Statistic, sensitivity_of
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Groups", "asked"]

Groups: TypeAlias = Keys | UnknownKeys | None

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 4
_MOST: Final = 2**62


def asked(
    engine: Engine, view: View, unit: Unit, max_rows: int, *, statistic: Statistic, by: Groups
) -> Aggregate:
    """Return the question, not yet run.

    Args:
        engine: the engine that reads the rows.
        view: the rows and columns of the question.
        unit: the privacy unit.
        max_rows: number of rows of one group above which an answer is clamped.
        statistic: the statistic.
        by: the groups, declared or unknown; None for one group of all rows.

    Raises:
        UnknownColumn: if the view lacks a column.
        InvalidTable: if a column's type does not fit its use, the sums could exceed 62 bits, or
            user functions could run in place of the engine's own.
        EngineFailure: if the table is a file that has changed since it was opened.
    """
    refuse_no_keys(by)
    _refuse_unfit(statistic, max_rows, by)
    query = statistic.describe() | {
        "unit": (unit.once() if statistic.per_unit else unit).describe(
            () if by is None else by.by_value
        ),
        "keys": None if by is None else by.describe(),
        "max_table_rows": max_rows,
        "rules": _RULES,
    }
    query |= view.describe()
    asks = Question(statistic, unit, by, salt_of(view, unit, by), max_rows)
    statement, both = asks.statement(view), replace(asks, companion=True)
    more = [] if unit.entity is None else [both.statement(view)]
    engine.refuse_stand_ins(statement, *more)
    groups, width, limits = groups_of(by), len(statistic.components), limits_of(unit, by, statistic)
    question = Aggregate(
        # What a statistic says of itself is for people: a parameter may be missing there.
        query=query | {"computation": statement_digest(statement)},
        source=engine.identity,
        unit=unit.label,
        sensitivity=sensitivity_of(statistic.components, limits),
        size=(groups or 0) * width,
        reading=statistic.reading(unit_rows=limits.rows),
        compute=lambda: by_group(engine.integers(statement, 1 + width), groups or 0).reshape(-1),
        sql=lambda: engine.text(statement),
        imagined=ImaginedRows(asks, engine, view),
        companion=_companion(engine, view, both, *more) if more else None,
        check=lambda: engine.refuse_stand_ins(statement),
    )
    match by:
        case None:
            return question
        case Keys():
            return replace(question, keys=repeated(by.to_columns(), statistic.rows))
        case UnknownKeys():

            def find() -> FoundGroups:
                return engine.groups(statement, len(by.columns), width, MARK[1])[0]

            new = new_groups(statistic, limits)
            return replace(
                question,
                sensitivity=replace(question.sensitivity, new_groups=new),
                compute=lambda: find().integers.reshape(-1),
                unknown=unknown_groups(by, statistic, view, find),
            )


def _companion(engine: Engine, view: View, asks: Question, statement: exp.Query) -> Companion:
    """Return a function that runs a statement with the companion."""
    whole = () if asks.keys is None else asks.keys.by_value
    own, by, width = len(asks.statistic.components), asks.keys, asks.width

    def compute() -> tuple[IntArray | FoundGroups, IntArray]:
        if isinstance(by, UnknownKeys):
            names, last = engine.groups(statement, len(by.columns), width, MARK[1])
            found = replace(names, integers=names.integers[:, :own])
            return found, last[:, :COMPANION].reshape(-1)
        rows = engine.integers(statement, 1 + width)
        marked = rows[:, 0] == MARK[0]
        answer = by_group(rows[~marked, : 1 + own], groups_of(by) or 0)
        return answer.reshape(-1), rows[marked, 1 : 1 + COMPANION].reshape(-1)

    columns = [measured.describe() for measured in asks.statistic.columns]
    own_of = (
        asks.statistic.describe() if asks.statistic.per_unit else {"rows": asks.statistic.complete}
    )
    about = [columns, own_of, asks.unit.describe(whole), None if by is None else by.describe()]
    return Companion(
        about=json.dumps([*about, view.describe()], sort_keys=True),
        digest=statement_digest(statement),
        check=lambda: engine.refuse_stand_ins(statement),
        record=companion_record(
            asks.unit,
            asks.limits,
            units=asks.statistic.per_unit,
            bounds=bool(asks.statistic.columns),
            totals=asks.statistic.totals,
        ),
        sensitivity=companion_sensitivity(),
        compute=compute,
    )


def _refuse_unfit(statistic: Statistic, max_rows: int, by: Groups) -> None:
    limit = max(component.limit for component in statistic.components)
    if limit * max_rows > _MOST:
        named = ", ".join(repr(measured.column) for measured in statistic.columns)
        of = f" of column {named}" if named else ""
        raise InvalidTable(
            f"a sum{of} of max_table_rows={max_rows} rows of up to {limit} grid steps each could "
            "leave 62 bits; write a coarser grid, narrower bounds or a smaller max_table_rows"
        )
    refuse_key_names(() if by is None else by.names, statistic.names)
