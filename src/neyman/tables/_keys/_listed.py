"""Keys of one column, written one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import cast, final

from sqlglot import exp

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._key import Key, key_of, key_text
from neyman.tables._keys._domain import Domain
from neyman.tables._kind import Cast
from neyman.tables._schema import Column
from neyman.tables._sql import Tree

__all__ = ["Listed", "places_of"]

# Places in front of the text; there are at most 10^6, from 0.
_DIGITS = 6
_E, _V, _J = "e", "v", "j"


@final
@dataclass(frozen=True, slots=True)
class Listed(Domain):
    """Distinct keys of one type: a row is at the place of the key that it has.

    Attributes:
        keys: at least one.
        kind: their type; True and 1 are equal in Python, and are not the same key.
    """

    keys: tuple[Key, ...] = field(repr=False)
    kind: str  # pyright: ignore[reportIncompatibleMethodOverride]

    @classmethod
    def of(cls, column: str, values: object) -> tuple["Listed", list[int]]:
        """Return the distinct keys in the order of their first appearance, and each one's place.

        Raises:
            InvalidTable: if they are no list, none, no keys, or of several types.
        """
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            what = "the text " if isinstance(values, str | bytes) else ""
            raise InvalidTable(
                f"the keys of column {column!r} are {what}{values!r}, not a list; "
                f"write [{values!r}]"
            )
        keys = [key_of(value, column) for value in cast("Iterable[object]", values)]
        if not keys:
            raise InvalidTable(f"column {column!r} was given no keys; write at least one")
        kinds = sorted({type(key).__name__ for key in keys})
        if len(kinds) > 1:
            raise InvalidTable(
                f"the keys of column {column!r} mix {' and '.join(kinds)}; write one type a column"
            )
        place: dict[Key, int] = {}
        found = [place.setdefault(key, len(place)) for key in keys]
        return cls(tuple(place), kinds[0]), found

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def cells(self) -> tuple[Key, ...]:
        """The keys."""
        return self.keys

    def texts(self) -> list[str]:
        """Return canonical texts."""
        return [key_text(key) for key in self.keys]

    def names(self, column: str) -> tuple[str, ...]:
        """Return the column's own name."""
        return (column,)

    def columns(self, column: str, places: IntArray) -> Columns:
        """Return the keys, dates as ISO text."""
        shown = [key.isoformat() if isinstance(key, date) else key for key in self.keys]
        return {column: [shown[i] for i in places.tolist()]}  # pyright: ignore[reportReturnType]

    def describe(self) -> dict[str, object]:
        """Return nothing more."""
        return {}

    def only(self, places: IntArray) -> "Listed":
        """Return some of the keys."""
        at: list[int] = places.tolist()
        return Listed(tuple(self.keys[i] for i in at), self.kind)

    def joined(self, other: Domain, column: str) -> "Listed":  # noqa: ARG002
        """Return these keys, then the other's that are not among them."""
        more = cast("tuple[Key, ...]", other.cells)
        return Listed(tuple(dict.fromkeys((*self.keys, *more))), self.kind)

    def find(self, cell: object, column: str) -> int:
        """Return the place of a key."""
        key = key_of(cell, column)
        if type(key).__name__ == self.kind and key in self.keys:
            return self.keys.index(key)
        shown = ", ".join(map(repr, self.keys[:5])) + (", ..." if len(self.keys) > 5 else "")
        raise InvalidTable(f"{cell!r} is not among the keys of column {column!r}: {shown}")

    def told(self, query: exp.Select, column: Column, alias: str) -> tuple[exp.Select, Tree]:  # noqa: ARG002
        """Return the value as it is compared with keys."""
        return query, column.compared(self.keys)[0]

    def placed(
        self, query: exp.Select, value: Tree, column: Column, alias: str
    ) -> tuple[exp.Select, Tree]:
        """Join a list of the keys with their places."""
        _, parse = column.compared(self.keys)
        listed = places_of(self.texts(), parse).subquery(sql.identifier(alias))
        query = query.join(listed, on=value.eq(sql.column(_V, alias)))
        return query, sql.column(_J, alias)


def places_of(texts: Sequence[str | None], parse: Cast) -> exp.Select:
    """Return a table of each text, parsed, as `v`, with its place in the list, `j`.

    Args:
        texts: at most 10^6; None has no place.
        parse: from a text to its value.
    """
    numbered = [f"{i:0{_DIGITS}d}{text}" for i, text in enumerate(texts) if text is not None]
    parts = sql.split(numbered)
    listed = exp.select(sql.named(parts, _E)).subquery(sql.identifier("neyman_list"))
    part = sql.column(_E)
    place = exp.Substring(this=part, start=sql.integer(1), length=sql.integer(_DIGITS))
    text = exp.Substring(this=part, start=sql.integer(_DIGITS + 1))
    number = sql.cast(place, "BIGINT")
    return exp.select(sql.named(number, _J), sql.named(parse(text), _V)).from_(listed)
