"""A question of a statistic: what is public of it, and what computes it later."""

import hashlib
import json
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np
from sqlglot import exp

from neyman.aggregate import Aggregate, FoundGroups, IntArray, refuse_key_names, repeated
from neyman.errors import InvalidTable
from neyman.tables._engines._engine import Engine
from neyman.tables._imagined import ImaginedRows
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._mistakes import refuse_no_keys
from neyman.tables._statements._found import new_groups, unknown_groups
from neyman.tables._statements._statement import Question, groups_of
from neyman.tables._statistics._statistic import Statistic, sensitivity_of
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Groups", "asked"]

Groups: TypeAlias = Keys | UnknownKeys | None

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 3
_MOST: Final = 2**62


def asked(
    engine: Engine, view: View, unit: Unit, max_rows: int, *, statistic: Statistic, by: Groups
) -> Aggregate:
    """Return the question, not yet run.

    Args:
        engine: reads the rows.
        view: what is asked of.
        unit: who is protected.
        max_rows: rows of one group beyond which an answer is clamped.
        statistic: what each row adds.
        by: the groups, declared or unknown; None for one of all rows.

    Raises:
        UnknownColumn: if the view lacks a column.
        InvalidTable: if a column's type does not fit its use, or the sums could leave 62 bits.
        EngineFailure: if the table is a file that has changed since it was opened.
    """
    refuse_no_keys(by)
    _refuse_unfit(statistic, max_rows, by)
    query = statistic.describe() | {
        "unit": unit.describe(),
        "keys": None if by is None else by.describe(),
        "max_table_rows": max_rows,
        "rules": _RULES,
    }
    query |= view.describe()
    salt = hashlib.sha256(json.dumps(query, sort_keys=True).encode()).hexdigest()
    counted = Question(statistic, unit, by, salt, max_rows)
    statement = counted.statement(view)
    groups, width = groups_of(by), len(statistic.components)
    question = Aggregate(
        query=query,
        source=engine.identity,
        unit=unit.label,
        sensitivity=sensitivity_of(statistic.components, unit, groups),
        size=(groups or 0) * width,
        reading=statistic.reading(),
        compute=lambda: _integers(engine, statement, groups or 0, width),
        sql=lambda: engine.text(statement),
        imagined=ImaginedRows(counted, engine, view),
    )
    match by:
        case None:
            return question
        case Keys():
            return replace(question, keys=repeated(by.to_columns(), statistic.rows))
        case UnknownKeys():

            def find() -> FoundGroups:
                return engine.groups(statement, len(by.columns), width)

            new = new_groups(statistic, unit)
            return replace(
                question,
                sensitivity=replace(question.sensitivity, new_groups=new),
                compute=lambda: find().integers.reshape(-1),
                unknown=unknown_groups(by, statistic, view, find),
            )


def _integers(engine: Engine, statement: exp.Query, groups: int, width: int) -> IntArray:
    """Return those of all declared groups; of groups without rows they are 0."""
    found = engine.integers(statement, 1 + width)
    answer = np.zeros((groups, width), np.int64)
    answer[found[:, 0]] = found[:, 1:]
    return answer.reshape(-1)


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
