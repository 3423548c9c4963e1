"""Short functions for the syntax trees of this package. Nothing here is text of a query."""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from sqlglot import Expr, exp

__all__ = [
    "WIDE",
    "Tree",
    "call",
    "cast",
    "clamped",
    "column",
    "count",
    "double",
    "each",
    "encoded",
    "hexadecimal",
    "identifier",
    "in_steps",
    "integer",
    "joined",
    "known",
    "md5",
    "named",
    "part",
    "relation",
    "size",
    "split",
    "text",
    "total",
    "try_cast",
    "wide",
]

Tree: TypeAlias = Expr

WIDE = "INT128"


def identifier(name: str) -> exp.Identifier:
    """Quote a name."""
    return exp.to_identifier(name, quoted=True)


def relation(*parts: str) -> exp.Table:
    """Name a table by one to three quoted parts."""
    quoted = [identifier(part) for part in reversed(parts)]
    return exp.Table(**dict(zip(("this", "db", "catalog"), quoted, strict=False)))


def column(name: str, table: str | None = None) -> exp.Column:
    """Name a column."""
    return exp.column(name, table=table, quoted=True)


def named(value: Tree, name: str) -> Tree:
    """Write value AS name."""
    return exp.alias_(value, name, quoted=True, copy=False)


def part(value: Tree) -> Tree:
    """Return a copy that can be anywhere in another tree: in brackets, unless it is a call."""
    copy = value.copy()
    # AND and OR are calls to sqlglot, as to which no engine agrees.
    called = isinstance(copy, exp.Func) and not isinstance(copy, exp.Binary)
    return copy if called or isinstance(copy, exp.Column | exp.Paren) else exp.Paren(this=copy)


def size(value: Tree) -> tuple[int, int]:
    """Return the number of nodes of a tree, and the length of its longest chain."""
    nodes, deepest, waiting = 0, 0, [(value, 1)]
    while waiting:
        node, depth = waiting.pop()
        nodes, deepest = nodes + 1, max(deepest, depth)
        waiting += [(child, depth + 1) for child in node.iter_expressions()]
    return nodes, deepest


def integer(value: int) -> Tree:
    """Write an integer."""
    return exp.convert(value)


def wide(value: int) -> Tree:
    """Write a 64-bit integer, because a product of two short ones would be short."""
    return cast(integer(value), "BIGINT")


def double(value: float) -> Tree:
    """Write a double by its text, which every engine reads correctly rounded."""
    return cast(text(repr(value)), "DOUBLE")


def text(value: str) -> Tree:
    """Write text."""
    return exp.Literal.string(value)


def call(name: str, *arguments: Tree) -> Tree:
    """Write name(argument, ...), a function of the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(value: Tree, to: str) -> Tree:
    """Write CAST(value AS to)."""
    return exp.Cast(this=value, to=_type(to).copy())


def try_cast(value: Tree, to: str) -> Tree:
    """Write TRY_CAST(value AS to): NULL if the value cannot be converted."""
    return exp.TryCast(this=value, to=_type(to).copy())


@cache
def _type(name: str) -> exp.DataType:
    """Return the type with a name, cached: sqlglot takes longer to parse than to copy."""
    return exp.DataType.build(name)


def encoded(value: Tree) -> Tree:
    """Write the value's text in bytes, which every collation compares as bytes."""
    return exp.Encode(this=cast(value, "TEXT"), charset=text("utf-8"))


def hexadecimal(value: Tree) -> Tree:
    """Write bytes in lower-case hexadecimal digits."""
    return exp.Lower(this=exp.Hex(this=value))


def joined(*parts: Tree) -> Tree:
    """Write the concatenation of the parts."""
    first, *rest = parts
    for part in rest:
        first = exp.DPipe(this=first, expression=part, safe=True)
    return first


def md5(value: Tree) -> Tree:
    """Write the value's MD5 in lower-case hexadecimal digits."""
    return exp.MD5(this=value)


def clamped(low: Tree, value: Tree, high: Tree) -> Tree:
    """Clamp a value that is not NULL; engines treat NULL differently here."""
    raised = exp.Greatest(this=value, expressions=[low], ignore_nulls=True)
    return exp.Least(this=raised, expressions=[high], ignore_nulls=True)


def known(value: Tree) -> Tree:
    """Write value IS NOT NULL."""
    return exp.Not(this=exp.Is(this=value, expression=exp.null()))


def count() -> Tree:
    """Count rows."""
    return exp.Count(this=exp.Star())


def total(value: Tree) -> Tree:
    """Sum integers in 128 bits."""
    return exp.Sum(this=cast(value, WIDE))


def split(parts: list[str]) -> Tree:
    """Write a column of texts, one row each, as one literal: a tree of one leaf for any number."""
    used = set("".join(parts))
    mark = next(chr(code) for code in range(0xE000, 0x10FFFF) if chr(code) not in used)
    return exp.Explode(this=exp.Split(this=text(mark.join(parts)), expression=text(mark)))


def each(first: Tree, last: Tree, step: Tree) -> Tree:
    """Write first, first + step, ... up to last, one row each; 64-bit integers, first <= last."""
    return exp.Explode(this=exp.GenerateSeries(start=first, end=last, step=step))


def in_steps(query: exp.Query, steps: Sequence[tuple[str, exp.Query]]) -> exp.Query:
    """Write WITH name AS (step), ... before a query.

    The first step has all rows. If it is used twice, it is read twice: keeping it would take as
    much memory as the table, and more time.
    """
    for place, (name, step) in enumerate(steps):
        kept = None if place else False
        query = query.with_(identifier(name), as_=step, materialized=kept, copy=False)
    return query
