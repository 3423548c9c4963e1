"""Checks of arguments, with errors that say what to write."""

from collections.abc import Mapping
from typing import Final, cast

from neyman.errors import InvalidTable
from neyman.tables._bounds import Bounds
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._unit import Unit

__all__ = [
    "no_such_question",
    "refuse_no_bounds",
    "refuse_no_keys",
    "refuse_no_unit",
    "refuse_unknown_keys",
]

# What `publish` asks of a table, and data frames call their own.
_PUBLISHED: Final = (
    "crosstab",
    "density",
    "linear_regression",
    "margins",
    "quantiles",
    "regression",
    "survival",
)
_FRAME: Final = ("group_by", "groupby")


def no_such_question(name: str) -> AttributeError:
    """Return the error for a question that another object has, or none."""
    said = f"'Table' object has no attribute {name!r}"
    if name in _PUBLISHED:
        said += f"; write neyman.publish.{name}(table, ...)"
    elif name in _FRAME:
        said += "; write the groups in the question: table.count(by=Keys({...}))"
    return AttributeError(said)


def refuse_no_keys(by: object) -> None:
    """Refuse groups that are not `Keys` or `UnknownKeys`."""
    if by is not None and not isinstance(by, Keys | UnknownKeys):
        raise InvalidTable(
            f"by must be Keys or UnknownKeys; got a {type(by).__name__}. Write "
            'by=Keys({"ward": ["north", "south"]}), with your column and its public keys, or '
            'by=UnknownKeys("ward"), for those whose noisy count is large'
        )


def refuse_unknown_keys(by: object) -> None:
    """Refuse undeclared groups, for answers with a number for each group."""
    if isinstance(by, UnknownKeys):
        columns = ", ".join(f'"{name}": [...]' for name in by.columns)
        raise InvalidTable(
            f"this question needs declared groups; got by={by!r}. Count by them first, and write "
            f"by=Keys({{{columns}}}) with the groups in the answer"
        )


def refuse_no_unit(unit: object) -> None:
    """Refuse an object that is not a `Unit`."""
    if not isinstance(unit, Unit):
        column = unit if isinstance(unit, str) else "column"
        raise InvalidTable(
            f"unit must be a privacy unit; got {_named(unit)}. Write "
            f'unit=Entity("{column}", max_rows=...), or unit=Rows()'
        )


def refuse_no_bounds(bounds: object) -> None:
    """Refuse bounds that do not map columns to `Bounds`."""
    if not isinstance(bounds, Mapping):
        raise InvalidTable(
            f"bounds must map columns to Bounds; got a {type(bounds).__name__}. "
            'Write bounds={"column": Bounds(lower, upper, grid=...)}'
        )
    for column, given in cast("Mapping[object, object]", bounds).items():
        if not isinstance(given, Bounds):
            raise InvalidTable(
                f"the bounds of column {column!r} must be Bounds; got a {type(given).__name__}. "
                f"Write {_meant(given)}"
            )


def _named(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"


def _meant(given: object) -> str:
    match given:
        case (int() | float() as lower, int() | float() as upper):
            return f"Bounds({lower}, {upper}, grid=...)"
        case _:
            return "Bounds(lower, upper, grid=...)"
