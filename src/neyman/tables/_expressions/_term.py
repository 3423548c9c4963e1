"""The tree of an expression's value, with its known bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias, final

from neyman.tables import _sql as sql
from neyman.tables._sql import Tree
from neyman.tables._types import Range, Type

__all__ = ["Term", "Value", "Write"]

Value: TypeAlias = float | str | bool | date | None


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A value as a tree.

    Attributes:
        tree: its tree.
        range: bounds of a number.
        value: the value of a literal.
        raw: for a column of doubles, the tree that is NULL for NaN, without clipping; it is enough
            for comparisons with literals, and half the work.
    """

    tree: Tree
    range: Range = field(default_factory=lambda: Range.whole(0))
    value: Value = None
    raw: Tree | None = None

    def __call__(self) -> Tree:
        """Return a copy of the tree that can be a part of any tree."""
        return sql.part(self.tree)


Write: TypeAlias = Callable[[Type, Sequence[Term]], Term]
