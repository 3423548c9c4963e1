"""What helps to write a spec: one to be filled in, and the JSON schema for editors."""

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
# A spec of private statistics. Replace what begins with "FILL IN", the quotes of numbers too. No
# row was read: write what is known in public, and do not look it up in the data.
# A line that begins with # and no space is an example: delete the # where you want it.
"""
_UNIT: Final = """\
# Who is protected: all rows of one entity; where each row is somebody of its own, write rows = true
# in place of the two lines.
[unit]
entity = "FILL IN: the column that names whose a row is; or rows = true"
max_rows = "FILL IN: the most rows of one of them that count in an answer, such as 5"

# The ledger adds up all that is ever spent on these data.
[budget]
ledger = {ledger}
mu = "FILL IN: all that it may ever spend, such as 1; or epsilon, and delta, in place"

# What is asked: here how many rows there are. Each query has an id of its own in the ledger.
[[query]]
entry = "count"
statistic = "count"
mu = "FILL IN: what it may spend, such as 0.3; or epsilon, rho, or a share of the budget"

# A mean in groups needs public bounds of its column, and every value that is to have a group.
#[columns.{number}]
#lower = "FILL IN: the least that counts; what is below is moved here"
#upper = "FILL IN: the most that counts; what is above is moved here"
#grid = "FILL IN: the step between values that are told apart; it divides both"
#[keys.groups]
#{key} = ["FILL IN: every value that is to have a group{kinds}"]
#[[query]]
#entry = "mean"
#statistic = "mean"
#column = {column}
#by = "groups"
#mu = "FILL IN: what it may spend"

"""
_REST: Final = """\
# There are also [join.NAME] and [join_public.NAME], [derive], [unknown.NAME] for groups that nobody
# declared, and more keys. `neyman schema > neyman.schema.json` writes them all down; editors that
# know TOML complete them where the first line of a spec is: #:schema neyman.schema.json
"""
# How keys of each type are written.
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
    """Return a spec to be filled in, with comments that say how.

    As it is it is refused, with a sentence for each place. Columns of a CSV file are named where
    every one looks like a name: without a header its first line would be a record.

    Args:
        schema: of the table, such as `table.view.schema`.
        path: of the data, relative to the spec.
        ledger: its path, relative to the spec.
        title: of the page.
    """
    data = f"title = {_quoted(title)}\n\n[data]\npath = {_quoted(path)}\n"
    parts = [_HEAD + data + _columns(schema), _example(schema, ledger) + _others(), _REST]
    return "\n".join(parts)


def _can_be_told(schema: Schema) -> bool:
    """Return whether the names of columns are no values, as far as can be seen."""
    return schema.told or all(map(_NAME.fullmatch, schema.names))


def _columns(schema: Schema) -> str:
    """Name the columns in a comment."""
    if not _can_be_told(schema):
        return (
            f"# The {len(schema.columns)} columns are named by the first line of the file. It "
            "looks like\n# a record, and is not repeated here: write a header above it.\n"
        )
    named = [
        f"{_key(column.name)} ({column.kind.label})" if schema.told else _key(column.name)
        for column in schema.columns[:_MOST_NAMED]
    ]
    more = len(schema.columns) - _MOST_NAMED
    listed = ", ".join([*named, *([f"and {more} more"] if more > 0 else [])])
    told = "Columns: " if schema.told else "Columns, by the first line of the file: "
    return (
        fill(
            told + listed,
            _WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_long_words=False,
        )
        + "\n"
    )


def _example(schema: Schema, ledger: str) -> str:
    """Write what must stand, and one example more of the columns that there are."""
    told = schema.columns if schema.told else ()
    numbers = [c.name for c in told if c.kind.number is not None and bool not in c.kind.keys]
    grouped = sorted(
        (c for c in told if c.kind.keys),
        key=lambda c: (c.kind.identity is None, str not in c.kind.keys),
    )
    # The first text column is who a row is of, more often than not.
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
    """Name every other statistic once, with the keys that it takes."""
    lines = ["# Other statistics, with the keys that they take beside entry, mu and by:\n"]
    for name, query in QUERIES.items():
        if name not in ("count", "mean"):
            said = (query.__doc__ or "").partition("\n")[0].removesuffix(".")
            keys = [key for key in dict.fromkeys(_KEY.findall(query.example)) if key != "by"]
            also = f": {', '.join(keys)}" if keys else ""
            lines.append(
                fill(
                    f"{name}{also}. {said}.",
                    _WIDTH,
                    initial_indent="#   ",
                    subsequent_indent="#     ",
                )
                + "\n"
            )
    return "".join(lines)


def _key(name: str) -> str:
    """Write a key, bare where TOML allows it."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _quoted(name)


def _quoted(text: str) -> str:
    """Write text as TOML does, as JSON does but for signs that are not seen."""
    return "".join(
        sign if printable(sign) == sign else f"\\U{ord(sign):08x}"
        for sign in json.dumps(text, ensure_ascii=False)
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a spec, JSON-able.

    Error: what depends on several keys at once is not in it; `read_spec` tells those mistakes.

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
    """Leave out what a TOML file cannot say: null, and titles that repeat the key."""
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
