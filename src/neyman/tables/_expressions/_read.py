"""Expressions from a record, from JSON, from a spec."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, cast

from neyman.errors import InvalidParameter
from neyman.tables._expressions._calendar import iso_value
from neyman.tables._expressions._expression import Expression
from neyman.tables._expressions._operations import OPERATIONS
from neyman.tables._expressions._parts import Call, col, lit

__all__ = ["VERSION", "expression_from_json", "expression_to_json", "read_expression"]

# Raise it whenever the meaning of an unchanged form changes.
VERSION = 1
_MOST_DEEP = 64


def read_expression(form: object) -> Expression:
    """Return the expression of nested lists, as in JSON and TOML.

    A list has an operation and its arguments: [">", ["col", "delay"], 15]. Numbers, text and
    booleans are literals. ["date", "2020-02-29"] is a date (or write a date of TOML), ["timestamp",
    "2020-02-29T12:00:00"] is a timestamp, and ["null"] is NULL.

    Raises:
        InvalidParameter: if it is something else, or an operation is unknown.

    >>> read_expression(["and", [">", ["col", "delay"], 15], ["in", ["col", "to"], "JFK", "LGA"]])
    ((col('delay') > 15) & col('to').is_in(['JFK', 'LGA']))
    """
    return _read(form, 0)


def expression_to_json(expression: Expression) -> str:
    """Return the JSON of an expression, with the version of its rules."""
    return json.dumps({"version": VERSION, "expression": expression.form()})


def expression_from_json(text: str) -> Expression:
    """Return the expression that `expression_to_json` wrote.

    Raises:
        InvalidParameter: if it is not JSON of an expression, or of another version.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping) or set(cast("Any", found)) != {"version", "expression"}:
        raise InvalidParameter(
            'this is not the JSON of an expression; write {"version": 1, "expression": [...]}'
        )
    record = cast("Mapping[str, object]", found)
    if record["version"] != VERSION or type(record["version"]) is not int:
        raise InvalidParameter(
            f"this release reads expressions of version {VERSION}; got version "
            f"{record['version']!r:.40}. Write the expression anew"
        )
    return read_expression(record["expression"])


def _read(form: object, depth: int) -> Expression:
    if depth > _MOST_DEEP:
        raise InvalidParameter(f"the form is nested {depth} deep; write a shorter one")
    match form:
        case bool() | int() | float() | str() | date():
            return lit(form)
        case list():
            return _listed(cast("list[object]", form), depth)
        case _:
            raise InvalidParameter(
                "the form of an expression must be a number, a text, a boolean, or a list such as "
                f'[">", ["col", "delay"], 15]; got a {type(form).__name__}'
            )


def _listed(form: list[object], depth: int) -> Expression:
    match form:
        case ["col", str(name)]:
            return col(name)
        case ["date", str(text)]:
            return lit(_date(text))
        case ["timestamp", str(text)]:
            return lit(_timestamp(text))
        case ["null"]:
            return lit(None)
        case [str(name), *arguments] if name in OPERATIONS:
            return Call(name, [_read(part, depth + 1) for part in arguments])
        case [str(name), *_]:
            raise InvalidParameter(
                f"{name!r:.80} is no operation, or has other arguments; write one of "
                f"{', '.join(OPERATIONS)}, or ['col', name], ['date', '2020-02-29'], ['timestamp', "
                "'2020-02-29T12:00:00'], ['null']"
            )
        case _:
            raise InvalidParameter(
                'a list must begin with the name of an operation, as in [">", ["col", "delay"], 15]'
            )


def _timestamp(text: str) -> datetime:
    found = iso_value(text)
    if not isinstance(found, datetime) or found.isoformat() != text:
        raise InvalidParameter(
            f"{text!r:.40} is no timestamp; write it as '2020-02-29T12:00:00', in UTC"
        )
    return found


def _date(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise InvalidParameter(f"{text!r:.40} is no date; write it as '2020-02-29'")
    return day
