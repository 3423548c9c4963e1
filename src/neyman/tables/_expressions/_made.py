"""Conditions and columns made of expressions."""

from neyman.errors import InvalidTable
from neyman.tables import _kind as kind
from neyman.tables._expressions._expression import Expression
from neyman.tables._expressions._given import check_text
from neyman.tables._expressions._term import Term
from neyman.tables._expressions._text import expression_of_text
from neyman.tables._kind import Kind
from neyman.tables._schema import Column, Schema
from neyman.tables._sql import Tree
from neyman.tables._types import Type, in_words

__all__ = ["given_expression", "made_column", "made_condition"]


def given_expression(given: object, what: str) -> Expression:
    """Return an expression unchanged, or the expression of a text.

    Raises:
        InvalidTable: if it is neither.
        InvalidParameter: if the text is not an expression.
    """
    if isinstance(given, str):
        return expression_of_text(given)
    if isinstance(given, Expression):
        return given
    raise InvalidTable(
        f"{what} must be an expression, such as 'delay > 15' or neyman.col('delay') > 15; got a "
        f"{type(given).__name__}"
    )


def made_condition(condition: object, schema: Schema) -> Tree:
    """Return the tree of a condition.

    Raises:
        UnknownColumn: if there is no such column.
        InvalidTable: if it is not a condition, or a type does not fit.
    """
    expression = given_expression(condition, "a condition")
    types = expression.types(schema)
    if Type.TRUTH not in types:
        raise InvalidTable(
            f"a condition must be a comparison, such as col(...) > 0; got {expression!r}, which is "
            f"{in_words(types)}"
        )
    return expression.term(schema, Type.TRUTH)()


def made_column(name: object, given: object, schema: Schema) -> Column:
    """Return a column made of other columns.

    Raises:
        UnknownColumn: if there is no such column.
        InvalidTable: if a type does not fit.
    """
    check_text(name, "a column's name")
    expression = given_expression(given, f"column {name!r}")
    types = expression.types(schema)
    if len(types) != 1:
        raise InvalidTable(
            f"column {name!r} could be {in_words(types)}; write "
            ".as_number() or .as_text() after a column of a CSV file, and no None alone"
        )
    (type_,) = types
    term = expression.term(schema, type_)
    return Column(str(name), str(name), _kind(type_, term), term())


def _kind(type_: Type, term: Term) -> Kind:
    match type_:
        case Type.NUMBER:
            return kind.made_number(term.range)
        case Type.TEXT:
            return kind.TEXT
        case Type.TRUTH:
            return kind.BOOLEAN
        case Type.DAY:
            return kind.DATE
        case Type.TIME:
            return kind.MADE_TIMESTAMP
