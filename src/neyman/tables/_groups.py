"""Which group a row is in: joins with the declared keys, which are one literal a column."""

import math

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._keys import Keys, key_text
from neyman.tables._kind import Cast
from neyman.tables._sql import Tree
from neyman.tables._view import View

__all__ = ["grouped"]

# Places in front of the text; there are at most 10^6 keys, from 0.
_DIGITS = 6
_E, _V, _J = "e", "v", "j"


def grouped(keys: Keys | None, view: View) -> tuple[exp.Select, Tree]:
    """Return the rows of a view joined with its keys, and the index of a row's group.

    Raises:
        UnknownColumn: if a grouping column is not in the view.
        InvalidTable: if its keys are of another type.
    """
    query = view.rows()
    if keys is None:
        return query, sql.integer(0)
    terms: list[Tree] = []
    for i, (name, domain) in enumerate(zip(keys.columns, keys.domains, strict=True)):
        value, parse = view.schema[name].compared(domain)
        stride = math.prod(map(len, keys.domains[i + 1 :]))
        alias = f"neyman_k{i}"
        places = _places([key_text(key) for key in domain], parse)
        query = query.join(
            places.subquery(sql.identifier(alias)), on=value.eq(sql.column(_V, alias))
        )
        terms.append(sql.column(_J, alias) * sql.integer(stride))
    code = terms[0]
    for term in terms[1:]:
        code = code + term
    if keys.chosen is None:
        return query, code
    chosen = _places([str(code) for code in keys.chosen], _bigint)
    alias = "neyman_chosen"
    query = query.join(chosen.subquery(sql.identifier(alias)), on=code.eq(sql.column(_V, alias)))
    return query, sql.column(_J, alias)


def _bigint(value: Tree) -> Tree:
    return sql.cast(value, "BIGINT")


def _places(texts: list[str], parse: Cast) -> exp.Select:
    """Return a table of each text, parsed, with its place in the list."""
    parts = sql.split([f"{i:0{_DIGITS}d}{text}" for i, text in enumerate(texts)])
    listed = exp.select(sql.named(parts, _E)).subquery(sql.identifier("neyman_list"))
    part = sql.column(_E)
    place = exp.Substring(this=part, start=sql.integer(1), length=sql.integer(_DIGITS))
    text = exp.Substring(this=part, start=sql.integer(_DIGITS + 1))
    return exp.select(sql.named(_bigint(place), _J), sql.named(parse(text), _V)).from_(listed)
