"""A spec to be filled in, written from the schema of a table: no value is looked at."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from neyman.printable import printable
from neyman.publish._queries import QUERIES, Query
from neyman.tables import Key, Schema

__all__ = ["template"]

_HEAD: Final = """\
# A spec of private statistics, to be filled in.
#
# What begins with "FILL IN" is to be replaced, the quotes of numbers too. Nothing was read but the
# names and types of columns: write what is known in public, and do not look it up in the data.
# A line that begins with # and no space is an example: delete the # of what you want, or the line.
# neyman schema > neyman.schema.json writes a schema; with the line below, without its space,
# editors that know TOML complete keys and mark mistakes.
# #:schema neyman.schema.json
"""
_UNIT: Final = """\
# Who is protected: all rows of one entity; or, where each row is of somebody else, each row: then
# write rows = true in place of the two lines.
[unit]
entity = "FILL IN: the column that names who a row is of{fitting}; or rows = true"
max_rows = "FILL IN: the most rows of one of them that count in an answer"
# If you know in public how many rows one of them has for each value of a column, such as one a
# year, say so: there is then less noise in groups by that column, and other queries ignore it.
#[unit.max_rows_per]  # in place of NAME a column
#NAME = "FILL IN: the most rows of one of them for each of its values"
"""
_JOIN: Final = """\
# Where rows point to another table that has the column entity: [unit.through] with on, the columns
# that must be equal, and to, its file. Private tables that name the same entity are joined by
# [join.NAME], public ones with one row a key by [join_public.NAME].
#[join_public.more]
#path = "FILL IN: a .parquet or .csv file"
#on = "FILL IN: the column that both have"
#how = "left"
"""
_BOUNDS: Final = """\
#[columns.{name}]{comment}
#lower = "FILL IN: the least that counts; what is below is moved here"
#upper = "FILL IN: the most that counts; what is above is moved here"
#grid = "FILL IN: the step between values that are told apart; it divides both"
"""
_DERIVE: Final = """\
# Columns made of others, row by row: names in double quotes, text in single ones.
#[derive]
#made = "FILL IN: an expression, such as discharged - admitted"
"""
_KEYS: Final = """\
#[keys.{name}]{comment}
#{name} = ["FILL IN: every value that is to have a group{kinds}"]
"""
_UNKNOWN: Final = """\
# Groups that nobody declared: every key that the rows hold is found, and shown if its noisy count
# is large. A query by them costs a delta, which the ledger adds up beside the rest.
#[unknown.found]
#columns = ["FILL IN: one column or more, of text, whole numbers, booleans or dates"]
"""
# How keys of each type are written.
_WRITTEN: Final[Mapping[type[Key], str]] = {
    str: "text in quotes",
    int: "whole numbers",
    bool: "true, false",
    date: "dates such as 2024-02-29",
}
_MOST_NAMED: Final = 20
_SHARE: Final = (
    'mu = "FILL IN: what it may spend, such as 0.5; or write epsilon, or rho, in place of mu"'
)


def template(schema: Schema, *, path: str, ledger: str, title: str) -> str:
    """Return a spec to be filled in, with comments that say how.

    As it is it is refused, with a sentence for each place. Columns of a CSV file are not named:
    without a header its first line would be a record.

    Args:
        schema: of the table, such as `table.view.schema`.
        path: of the data, relative to the spec.
        ledger: its path, relative to the spec.
        title: of the page.
    """
    data = f"title = {_quoted(title)}\n\n[data]\npath = {_quoted(path)}\n"
    budget = (
        "# The ledger adds up all that is ever spent on these data.\n[budget]\n"
        f"ledger = {_quoted(ledger)}\n"
        'mu = "FILL IN: all that it may ever spend, such as 1; or epsilon, and delta, in place"\n'
        '#delta_for_groups = "FILL IN: what groups that nobody declared may spend, such as 1e-6"\n'
    )
    parts = [_HEAD + data, *_of_columns(schema), _JOIN, _UNKNOWN, _DERIVE, budget, *_of_queries()]
    return "\n".join(parts)


def _of_columns(schema: Schema) -> Iterator[str]:
    named = [column.name for column in schema.columns if column.kind.identity is not None]
    fitting = f": {', '.join(named[:_MOST_NAMED])}" if schema.told and named else ""
    yield _UNIT.format(fitting=_quoted(fitting)[1:-1])
    bounds = "# Public bounds of the columns that are added up, averaged or the like.\n"
    keys = (
        "# Groups, by every value that is to have one; several columns make combinations. Of\n"
        '# numbers and dates bins, too, as in x = { edges = [0, 15, 60], outside = "clip" }.\n'
    )
    if not schema.told:
        many = f"# The {len(schema.columns)} columns are named by the first line of the file; it is"
        told = f"{many} not repeated here,\n# for without a header it would be a record.\n"
        yield told + bounds + _BOUNDS.format(name="NAME", comment="  # in place of NAME a column")
        yield keys + _KEYS.format(name="NAME", comment="  # in place of NAME a column", kinds="")
        return
    for column in schema.columns:
        if column.kind.number is not None:
            yield bounds + _BOUNDS.format(
                name=_key(column.name), comment=f"  # {column.kind.label}"
            )
            bounds = ""
    for column in schema.columns:
        if column.kind.keys:
            kinds = f", {' or '.join(_WRITTEN[kind] for kind in column.kind.keys)}"
            comment = f"  # {column.kind.label}"
            yield keys + _KEYS.format(name=_key(column.name), comment=comment, kinds=kinds)
            keys = ""


def _of_queries() -> Iterator[str]:
    head = "# What is asked. Each query has an id of its own in the ledger.\n"
    for name, query in QUERIES.items():
        lines = list(_query(name, query))
        # A count needs nothing else, and one query must stand.
        mark = "" if name == "count" else "#"
        said = (query.__doc__ or "").partition("\n")[0]
        yield f"{head}# {said}\n" + "".join(f"{mark}{line}\n" for line in lines)
        head = ""


def _query(name: str, query: type[Query]) -> Iterator[str]:
    yield from ("[[query]]", f"entry = {_quoted(name)}", f"statistic = {_quoted(name)}")
    yield from query.example.splitlines()
    yield _SHARE
    # A crosstab has it among its own.
    if "\nby = " not in f"\n{query.example}":
        yield '#by = "FILL IN: the NAME of [keys.NAME], or of [unknown.NAME] with a delta"'


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
