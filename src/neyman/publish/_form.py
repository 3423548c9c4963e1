"""Row expressions, as a spec writes them: lists, an operation first."""

from decimal import Decimal
from typing import Annotated, Any, cast

from pydantic import AfterValidator, WithJsonSchema

from neyman.tables import Expression, read_expression

__all__ = ["Form", "expression_of"]


def expression_of(form: list[Any]) -> Expression:
    """Return the expression.

    Raises:
        InvalidParameter: if it is none.
    """
    return read_expression(_doubles(form))


def _doubles(form: object) -> object:
    """Take decimals for the doubles that they are nearest to, as all row values are."""
    if isinstance(form, list):
        return [_doubles(part) for part in cast("list[object]", form)]
    return float(form) if isinstance(form, Decimal) else form


def _checked(form: list[Any]) -> list[Any]:
    expression_of(form)
    return form


Form = Annotated[
    list[Any],
    AfterValidator(_checked),
    WithJsonSchema({"type": "array", "items": {}, "minItems": 1}),
]
