"""Functions of a statement, and functions of a user's database that could replace them.

DuckDB's own parser says which functions a statement calls, operators included: `a + b` calls the
function "+". A Python function that a user registers becomes one more overload of DuckDB's own, and
is marked as one. Only a comparison with an empty database shows the difference.
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
    """Return the called functions that have more overloads there than in DuckDB itself.

    Args:
        connection: a connection that sees the user's databases. This calls none of their functions.
        texts: the texts of the statements.

    Raises:
        InvalidTable: if this DuckDB cannot list the functions of a statement.
    """
    known = _built_in()
    called = sorted(set[str]().union(*(_called(connection, text) for text in texts)))
    marks = ", ?" * len(called)
    found = _overloads(connection, f" WHERE {_NAME} IN (NULL{marks})", called)
    return [name for name in called if not found.get(name, set()) <= known.get(name, set())]


@final
@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a statement; every connection parses it the same way, so equality is by text."""

    text: str
    connection: duckdb.DuckDBPyConnection = field(compare=False, repr=False)


def _called(connection: duckdb.DuckDBPyConnection, text: str) -> frozenset[str]:
    """Return the functions that a statement calls, directly or through DuckDB's own macros."""
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
    """Yield statements with the bodies of macros."""
    for _, _, _, function_type, *_, body in overloads:
        if body is not None:
            yield str(body) if function_type == "table_macro" else f"SELECT {body}"


def _named(connection: duckdb.DuckDBPyConnection, text: str) -> set[str]:
    """Return the functions anywhere in a statement."""
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
    """Return the functions of an empty database."""
    with private_session(Room()) as connection:
        return _overloads(connection)


def _overloads(
    connection: duckdb.DuckDBPyConnection, where: str = "", names: Sequence[str] = ()
) -> Mapping[str, set[_Function]]:
    found: defaultdict[str, set[_Function]] = defaultdict(set)
    for row in connection.execute(_FUNCTIONS + where, list(names)).fetchall():
        found[row[0]].add(tuple(map(str, row[:-1])) + row[-1:])
    return found
