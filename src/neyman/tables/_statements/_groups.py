"""The group of a row: its place in each grouping column, and among the chosen combinations."""

import math
from collections.abc import Sequence

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._listed import places_of
from neyman.tables._sql import Tree
from neyman.tables._view import View

__all__ = ["grouped", "numbered", "values_of"]

_V, _J = "v", "j"


def grouped(keys: Keys | None, view: View) -> tuple[exp.Select, Tree]:
    """Return the rows of a view joined with its keys, and the index of a row's group.

    Raises:
        UnknownColumn: if a grouping column is not in the view.
        InvalidTable: if its keys are of another type.
    """
    query = view.rows()
    if keys is None:
        return query, sql.integer(0)
    query, values = values_of(keys, view)
    return numbered(keys, view, query, values)


def values_of(keys: Keys, view: View) -> tuple[exp.Select, list[Tree]]:
    """Return the rows of a view, and the values that determine a row's group, one per column.

    Rows with equal values are in the same group, or in none.

    Raises:
        UnknownColumn: if a grouping column is not in the view.
        InvalidTable: if its keys are of another type.
    """
    query = view.rows()
    values: list[Tree] = []
    for i, (name, domain) in enumerate(zip(keys.columns, keys.domains, strict=True)):
        query, value = domain.told(query, view.schema[name], _alias(i))
        values.append(value)
    return query, values


def numbered(
    keys: Keys, view: View, query: exp.Select, values: Sequence[Tree]
) -> tuple[exp.Select, Tree]:
    """Return a query without rows in no group, and the index of the group.

    Args:
        keys: the groups.
        view: the view of the values.
        query: a query over rows, or over counts of rows with equal values.
        values: the values that determine the group, one per column.
    """
    terms: list[Tree] = []
    parts = zip(keys.columns, keys.domains, values, strict=True)
    for i, (name, domain, value) in enumerate(parts):
        stride = math.prod(map(len, keys.domains[i + 1 :]))
        query, place = domain.placed(query, value, view.schema[name], _alias(i))
        terms.append(place * sql.integer(stride))
    code = terms[0]
    for term in terms[1:]:
        code = code + term
    if keys.chosen is None:
        return query, code
    chosen = places_of([str(code) for code in keys.chosen], _bigint)
    alias = "neyman_chosen"
    query = query.join(chosen.subquery(sql.identifier(alias)), on=code.eq(sql.column(_V, alias)))
    return query, sql.column(_J, alias)


def _alias(place: int) -> str:
    return f"neyman_k{place}"


def _bigint(value: Tree) -> Tree:
    return sql.cast(value, "BIGINT")
