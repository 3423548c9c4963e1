"""A view: an engine's table, or the rows that expressions and joins make of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from sqlglot import exp

from neyman.tables._expressions._expression import Expression
from neyman.tables._expressions._made import given_expression, made_column, made_condition
from neyman.tables._expressions._read import VERSION
from neyman.tables._schema import SOURCE, Schema
from neyman.tables._sql import Tree

__all__ = ["Joined", "View"]


@final
@dataclass(frozen=True, slots=True)
class Joined:
    """A table that is joined to the rows.

    Attributes:
        relation: its relation, with the alias of its columns.
        on: the join condition.
        left: whether a row without a match stays, with NULL in the new columns.
        names: the column that names the unit, for each private table in it; None for a table whose
            rows point to another.
    """

    relation: Tree
    on: Tree
    left: bool
    names: tuple[str | None, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class View:
    """Columns and rows, without the engine that reads them.

    Attributes:
        schema: the columns, of the table or made.
        relation: the FROM clause.
        conditions: a row counts if all of them are true.
        made: the public record of the steps from the engine's table.
        joins: the joins in order; they precede the conditions.
    """

    schema: Schema
    relation: Tree
    conditions: tuple[Tree, ...] = ()
    made: tuple[Mapping[str, object], ...] = ()
    joins: tuple[Joined, ...] = ()

    def rows(self) -> exp.Select:
        """Return a query of the rows that count, without selected columns."""
        source = exp.alias_(self.relation, SOURCE, quoted=True, table=True)
        query = exp.Select().from_(source)
        for joined in self.joins:
            side = "left" if joined.left else "inner"
            query = query.join(joined.relation.copy(), on=joined.on.copy(), join_type=side)
        return query.where(*self.conditions)

    def where(self, condition: Expression | str) -> "View":
        """Return the rows for which a condition is true.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if it is not a condition, or a type does not fit.
        """
        condition = given_expression(condition, "a condition")
        tree = made_condition(condition, self.schema)
        step = {"step": "where", "condition": condition.form(), "version": VERSION}
        return replace(self, conditions=(*self.conditions, tree), made=(*self.made, step))

    def with_columns(self, expressions: Mapping[str, Expression | str]) -> "View":
        """Return the rows with new columns, which replace those of the same name.

        All are made of the old columns.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a name or a type does not fit.
        """
        schema, forms = self.schema, dict[str, object]()
        columns = {column.name: column for column in schema.columns}
        for name, given in expressions.items():
            expression = given_expression(given, f"column {name!r}")
            columns[name] = made_column(name, expression, schema)
            forms[name] = expression.form()
        step = {"step": "with_columns", "columns": forms, "version": VERSION}
        made = Schema(tuple(columns.values()), schema.told)
        return replace(self, schema=made, made=(*self.made, step))

    def describe(self) -> dict[str, object]:
        """Return the public record for JSON; empty for the engine's table itself."""
        return {"made": [dict(step) for step in self.made]} if self.made else {}
