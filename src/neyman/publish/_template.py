"""Helps to write a spec: a draft, and the JSON schema for editors."""

import json
import re
from collections.abc import Mapping
from datetime import date
from textwrap import fill
from typing import Any, Final, cast

from neyman.printable import printable
from neyman.publish._queries import QUERIES
from neyman.publish._spec import Spec
from neyman.tables import Key, Schema

__all__ = ["json_schema", "template"]

_HEAD: Final = """\
# A spec of private statistics. Replace every text that begins with "FILL IN", and its quotes where
# you write a number. No row was read: write public knowledge, and do not look it up in the data.
# A line that begins with # without a space is an example: delete the # to use it.
"""
_UNIT: Final = """\
# The privacy unit: all rows of one entity. If each row is a unit of its own, write rows = true
# instead of the two lines.
[unit]
entity = "FILL IN: the column that names the entity of a row; or rows = true"
max_rows = "FILL IN: the most rows of one entity that count in an answer, such as 5"

# The ledger records everything that is ever spent on these data.
[budget]
ledger = {ledger}
mu = "FILL IN: the total budget, such as 1; or epsilon, or epsilon and delta"

# A query: the number of rows. Each query has its own id in the ledger.
[[query]]
entry = "count"
statistic = "count"
mu = "FILL IN: its budget, such as 0.3; or epsilon, rho, or a share of the total budget"

# A mean by group: it needs public bounds of its column, and every value that gets a group.
#[columns.{number}]
#lower = "FILL IN: the least value; smaller ones are moved here"
#upper = "FILL IN: the greatest value; greater ones are moved here"
#grid = "FILL IN: the step that values are rounded to; it divides both bounds"
#[keys.groups]
#{key} = ["FILL IN: every value that gets a group{kinds}"]
#[[query]]
#entry = "mean"
#statistic = "mean"
#column = {column}
#by = "groups"
#mu = "FILL IN: its budget"

"""
_REST: Final = """\
# A spec can also have [join.NAME], [join_public.NAME], [derive], [unknown.NAME] for undeclared
# groups, and more keys. `neyman schema > neyman.schema.json` lists them all. Editors that support
# TOML complete them if the first line of the spec is: #:schema neyman.schema.json
"""
# How to write keys of each type.
_WRITTEN: Final[Mapping[type[Key], str]] = {
    str: "text in quotes",
    int: "whole numbers",
    bool: "true, false",
    date: "dates such as 2024-02-29",
}
_MOST_NAMED: Final = 40
_WIDTH: Final = 100
_NAME: Final = re.compile(r"[^\W\d][\w .()/%-]{0,62}")
_KEY: Final = re.compile("^([a-z]+) = ", re.MULTILINE)


def template(schema: Schema, *, path: str, ledger: str, title: str) -> str:
    """Return a draft spec, with comments that say how to complete it.

    Until it is complete it is refused, with a sentence for each missing value. Columns of a CSV
    file are named only if all look like names: without a header, the first line is a record.

    Args:
        schema: the schema of the table, such as `table.view.schema`.
        path: the path of the data, relative to the spec.
        ledger: the path of the ledger, relative to the spec.
        title: the title of the page.
    """
    data = f"title = {_quoted(title)}\n\n[data]\npath = {_quoted(path)}\n"
    parts = [_HEAD + data + _columns(schema), _example(schema, ledger) + _others(), _REST]
    return "\n".join(parts)


def _can_be_told(schema: Schema) -> bool:
    """Return whether all column names look like names and not like values."""
    return schema.told or all(map(_NAME.fullmatch, schema.names))


def _columns(schema: Schema) -> str:
    """Return a comment with the columns."""
    if not _can_be_told(schema):
        return (
            f"# The {len(schema.columns)} columns get their names from the first line of the file. "
            "It looks like\n# a record, so it is not shown here: write a header above it.\n"
        )
    named = [
        f"{_key(column.name)} ({column.kind.label})" if schema.told else _key(column.name)
        for column in schema.columns[:_MOST_NAMED]
    ]
    more = len(schema.columns) - _MOST_NAMED
    listed = ", ".join([*named, *([f"and {more} more"] if more > 0 else [])])
    title = "Columns: " if schema.told else "Columns, by the first line of the file: "
    return (
        fill(
            title + listed,
            _WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_long_words=False,
        )
        + "\n"
    )


def _example(schema: Schema, ledger: str) -> str:
    """Return the required sections, and an example with columns of the table."""
    typed = schema.columns if schema.told else ()
    numbers = [c.name for c in typed if c.kind.number is not None and bool not in c.kind.keys]
    grouped = sorted(
        (c for c in typed if c.kind.keys),
        key=lambda c: (c.kind.identity is None, str not in c.kind.keys),
    )
    # The first text column is usually the entity.
    by = grouped[1] if len(grouped) > 1 else grouped[0] if grouped else None
    kinds = "" if by is None else f", {' or '.join(_WRITTEN[kind] for kind in by.kind.keys)}"
    numbers = [name for name in numbers if by is None or name != by.name]
    number = numbers[0] if numbers else "NAME"
    return _UNIT.format(
        ledger=_quoted(ledger),
        number=_key(number),
        key="NAME" if by is None else _key(by.name),
        kinds=kinds,
        column=_quoted(number),
    )


def _others() -> str:
    """Return a comment with every other statistic and its keys."""
    lines = ["# Other statistics, with their keys in addition to entry, mu and by:\n"]
    for name, query in QUERIES.items():
        if name not in ("count", "mean"):
            summary = (query.__doc__ or "").partition("\n")[0].removesuffix(".")
            keys = [key for key in dict.fromkeys(_KEY.findall(query.example)) if key != "by"]
            also = f": {', '.join(keys)}" if keys else ""
            lines.append(
                fill(
                    f"{name}{also}. {summary}.",
                    _WIDTH,
                    initial_indent="#   ",
                    subsequent_indent="#     ",
                )
                + "\n"
            )
    return "".join(lines)


def _key(name: str) -> str:
    """Return a TOML key, without quotes if possible."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _quoted(name)


def _quoted(text: str) -> str:
    """Return text in TOML quotes, with invisible characters escaped."""
    return "".join(
        sign if printable(sign) == sign else f"\\U{ord(sign):08x}"
        for sign in json.dumps(text, ensure_ascii=False)
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a spec, JSON-able.

    Error: it does not check rules on several keys at once; `read_spec` does.

    >>> sorted(json_schema()["required"])
    ['budget', 'data', 'query', 'unit']
    """
    made = Spec.model_json_schema()
    for section in cast("dict[str, dict[str, Any]]", made["$defs"]).values():
        _plain(section)
    _plain(made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A spec of private statistics, for neyman",
        **{key: part for key, part in made.items() if key != "title"},
    }


def _plain(section: dict[str, Any]) -> None:
    """Remove null, which TOML does not have, and titles that repeat the key."""
    for part in cast("dict[str, dict[str, Any]]", section.get("properties", {})).values():
        part.pop("title", None)
        if part.get("default", 0) is None:
            del part["default"]
        kinds = [kind for kind in part.get("anyOf", ()) if kind.get("type") != "null"]
        if len(kinds) == 1:
            del part["anyOf"]
            part.update(kinds[0])
        elif kinds:
            part["anyOf"] = kinds
