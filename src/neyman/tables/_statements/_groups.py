"""Which group a row is in: its place in each grouping column, and among the chosen ones."""

import math

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._listed import places_of
from neyman.tables._sql import Tree
from neyman.tables._view import View

__all__ = ["grouped"]

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
    terms: list[Tree] = []
    for i, (name, domain) in enumerate(zip(keys.columns, keys.domains, strict=True)):
        stride = math.prod(map(len, keys.domains[i + 1 :]))
        query, place = domain.located(query, view.schema[name], f"neyman_k{i}")
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


def _bigint(value: Tree) -> Tree:
    return sql.cast(value, "BIGINT")
