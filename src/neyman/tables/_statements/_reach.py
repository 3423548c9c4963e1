"""The range of an integer expression, from its tree; within it no clamp is needed."""

from collections.abc import Mapping

from sqlglot import exp

from neyman.tables._sql import Tree

__all__ = ["reach"]

# Of 64-bit integers, with room.
_MOST = 2**62


def reach(value: Tree, columns: Mapping[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Return the smallest and the largest value of an expression; None if unknown.

    It covers sums, differences and products of whole numbers and columns. No part exceeds 62 bits.

    Args:
        value: an expression of 64-bit integers; it is NULL only if a column is.
        columns: the smallest and the largest value of each column.
    """
    found: tuple[int, int] | None = None
    match value:
        case exp.Paren():
            found = reach(value.this, columns)
        case exp.Column() if not value.table:
            found = columns.get(value.name)
        case exp.Literal() if value.is_int:
            found = (int(value.this), int(value.this))
        case exp.Neg():
            part = reach(value.this, columns)
            found = None if part is None else (-part[1], -part[0])
        case exp.Add() | exp.Sub() | exp.Mul():
            found = _of_two(value, columns)
        case _:
            pass
    return found if found is not None and max(map(abs, found)) <= _MOST else None


def _of_two(
    value: exp.Add | exp.Sub | exp.Mul, columns: Mapping[str, tuple[int, int]]
) -> tuple[int, int] | None:
    left, right = reach(value.left, columns), reach(value.right, columns)
    if left is None or right is None:
        return None
    match value:
        case exp.Add():
            return left[0] + right[0], left[1] + right[1]
        case exp.Sub():
            return left[0] - right[1], left[1] - right[0]
        case _:
            ends = [x * y for x in left for y in right]
            return min(ends), max(ends)
