"""Functions that a statement calls, and those of a user's database that could stand in for them.

Which functions a statement calls DuckDB's own parser says, operators among them: `a + b` calls the
function "+". A Python function that a user registers becomes one more overload of DuckDB's own and
is marked as such, so that only a comparison with a database of nobody's tells them apart.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final, TypeAlias, final

import duckdb

from neyman.errors import InvalidTable
from neyman.tables._engines._duckdb_session import private_session
from neyman.tables._engines._room import Room
from neyman.tables._engines._spelling import words_before_brackets

__all__ = ["stand_ins"]

_Function: TypeAlias = tuple[object, ...]

# A question is looked at when it is made, before its charge and as it runs.
_REMEMBERED: Final = 16
_NAME: Final = "lower(function_name)"
# All that tells one overload from another.
_FUNCTIONS: Final = (
    f"SELECT {_NAME}, internal, schema_name, function_type, parameter_types, "
    "return_type, varargs, macro_definition FROM system.main.duckdb_functions()"
)


def stand_ins(connection: duckdb.DuckDBPyConnection, *texts: str) -> list[str]:
    """Return the names that statements call and that mean more there than to DuckDB itself.

    Args:
        connection: sees what the user's databases hold. No function of theirs is called by this.
        texts: of the statements.

    Raises:
        InvalidTable: if this DuckDB cannot say which functions a statement calls.
    """
    known = _built_in()
    called = sorted(set[str]().union(*(_called(connection, text) for text in texts)))
    marks = ", ?" * len(called)
    found = _overloads(connection, f" WHERE {_NAME} IN (NULL{marks})", called)
    return [name for name in called if not found.get(name, set()) <= known.get(name, set())]


@final
@dataclass(frozen=True, slots=True)
class _Text:
    """A statement's text; every connection parses it alike, so one text is like another."""

    text: str
    connection: duckdb.DuckDBPyConnection = field(compare=False, repr=False)


def _called(connection: duckdb.DuckDBPyConnection, text: str) -> frozenset[str]:
    """Return the functions that a statement calls, and those that DuckDB's own macros call."""
    return _calls_of(_Text(text, connection))


@lru_cache(_REMEMBERED)
def _calls_of(statement: _Text) -> frozenset[str]:
    called: set[str] = set()
    known = _built_in()
    waiting = [statement.text]
    while waiting:
        for name in _named(statement.connection, waiting.pop()) - called:
            called.add(name)
            waiting += _bodies(known.get(name, set()))
    # COUNT(*) is "count_star" to the parser; whoever reads the statement takes it for "count".
    return frozenset(called | (words_before_brackets(statement.text, "duckdb") & known.keys()))


def _bodies(overloads: Iterable[_Function]) -> Iterator[str]:
    """Yield statements that hold what macros stand for."""
    for _, _, _, function_type, *_, body in overloads:
        if body is not None:
            yield str(body) if function_type == "table_macro" else f"SELECT {body}"


def _named(connection: duckdb.DuckDBPyConnection, text: str) -> set[str]:
    """Return the functions that stand in a statement, wherever in it."""
    row = connection.execute("SELECT system.main.json_serialize_sql(?::VARCHAR)", [text]).fetchone()
    names: set[str] = set()

    def noted(node: dict[str, object]) -> dict[str, object]:
        if "function_name" in node:
            names.add(str(node["function_name"]).lower())
        return node

    tree = json.loads("{}" if row is None else row[0], object_hook=noted)
    if tree.get("error", True):
        raise InvalidTable(
            "this DuckDB cannot tell which functions the question calls; write "
            "pip install 'neyman[tables]', which brings one that can"
        )
    return names


@cache
def _built_in() -> Mapping[str, set[_Function]]:
    """Return the functions of a database of nobody's."""
    with private_session(Room()) as connection:
        return _overloads(connection)


def _overloads(
    connection: duckdb.DuckDBPyConnection, where: str = "", names: Sequence[str] = ()
) -> Mapping[str, set[_Function]]:
    found: defaultdict[str, set[_Function]] = defaultdict(set)
    for row in connection.execute(_FUNCTIONS + where, list(names)).fetchall():
        found[row[0]].add(tuple(map(str, row[:-1])) + row[-1:])
    return found
