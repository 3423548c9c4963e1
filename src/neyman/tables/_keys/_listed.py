"""The keys of one column, listed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import cast, final

from sqlglot import exp

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._key import Key, key_of, key_text
from neyman.tables._keys._domain import Domain
from neyman.tables._keys._values import MISSING, Values
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
    """Distinct keys of one type; a row is at the place of its key.

    Attributes:
        keys: one or more keys; None for rows without a value.
        kind: their type; True and 1 are equal in Python, but different keys.
        missing: the name of the group of rows without a value.
        other: the name of the group of all other values, which is the last one; None for no such
            group.
    """

    keys: tuple[Key | None, ...] = field(repr=False)
    kind: str  # pyright: ignore[reportIncompatibleMethodOverride]
    missing: str = MISSING
    other: str | None = None

    @classmethod
    def of(
        cls, column: str, values: object, other: str | None = None
    ) -> tuple["Listed", list[int]]:
        """Return the distinct keys in the order of their first appearance, and each one's place.

        Args:
            column: the column of the keys.
            values: a list of keys, or `Values`.
            other: the name of the group of all other values, unless `Values` has it.

        Raises:
            InvalidTable: if they are not a list, empty, not keys, or of several types.
        """
        given: object = values
        missing = MISSING
        if isinstance(values, Values):
            # A group that is named is there.
            more = () if values.missing is None or None in values.keys else (None,)
            given, other = (*values.keys, *more), values.other or other
            missing = values.missing or MISSING
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            what = "the text " if isinstance(given, str | bytes) else ""
            raise InvalidTable(
                f"the keys of column {column!r} are {what}{given!r}, not a list; write [{given!r}]"
            )
        keys = [
            None if value is None else key_of(value, column)
            for value in cast("Iterable[object]", given)
        ]
        kinds = sorted({type(key).__name__ for key in keys if key is not None})
        if not kinds:
            raise InvalidTable(
                f"column {column!r} must have at least one key"
                + (" beside None" if keys else "")
                + "; got none"
            )
        if len(kinds) > 1:
            raise InvalidTable(
                f"the keys of column {column!r} mix {' and '.join(kinds)}; write one type a column"
            )
        place: dict[Key | None, int] = {}
        found = [place.setdefault(key, len(place)) for key in keys]
        domain = cls(tuple(place), kinds[0], missing, other)
        domain.refuse_names_of_keys(column)
        return domain, found

    def refuse_names_of_keys(self, column: str) -> None:
        """Refuse names of groups that are also a key or another group.

        Raises:
            InvalidTable: with the first of them.
        """
        seen: set[str] = set()
        for called in self.texts():
            if called in seen:
                raise InvalidTable(
                    f"two groups of column {column!r} are called {called!r}; write "
                    'neyman.tables.Values(keys, missing="not recorded", other="all others"), with '
                    "names that no key has"
                )
            seen.add(called)

    def __len__(self) -> int:
        return len(self.keys) + (self.other is not None)

    @property
    @override
    def by_value(self) -> bool:
        return self.other is None and None not in self.keys

    @property
    @override
    def cells(self) -> tuple[object, ...]:
        return self.keys if self.other is None else (*self.keys, self.other)

    @override
    def texts(self) -> list[str]:
        found = [self.missing if key is None else key_text(key) for key in self.keys]
        return found if self.other is None else [*found, self.other]

    @override
    def names(self, column: str) -> tuple[str, ...]:
        return (column,)

    @override
    def columns(self, column: str, places: IntArray) -> Columns:
        shown: list[object] = [
            key.isoformat() if isinstance(key, date) else key for key in self.keys
        ]
        if not self.by_value:
            shown = list(self.texts())
        return {column: [shown[i] for i in places.tolist()]}  # pyright: ignore[reportReturnType]

    @override
    def describe(self) -> dict[str, object]:
        told: dict[str, str] = {"missing": self.missing} if None in self.keys else {}
        told |= {} if self.other is None else {"other": self.other}
        return {"rest": told} if told else {}

    @override
    def only(self, places: IntArray) -> "Listed":
        if self.other is not None:
            return self
        at: list[int] = places.tolist()
        return Listed(tuple(self.keys[i] for i in at), self.kind, self.missing)

    def joined(self, other: Domain, column: str) -> "Listed":
        """Return these keys, then the other's that are not among them.

        Raises:
            InvalidTable: if one has a group of all others, and the other does not have the same
                groups.
        """
        if not isinstance(other, Listed) or (self.other, other.other) != (None, None):
            if self == other:
                return self
            raise InvalidTable(
                f"column {column!r} has a group of all other values, which are others where the "
                "keys are others; write the same keys in both"
            )
        named = [one.missing for one in (self, other) if None in one.keys]
        if len(set(named)) > 1:
            raise InvalidTable(
                f"the group of rows without a value must have one name; column {column!r} calls it "
                f"{named[0]!r} and {named[1]!r}. Write the same missing= in both"
            )
        keys = tuple(dict.fromkeys((*self.keys, *other.keys)))
        found = Listed(keys, self.kind, named[0] if named else self.missing)
        found.refuse_names_of_keys(column)
        return found

    @override
    def find(self, cell: object, column: str) -> int:
        if cell is None and None in self.keys:
            return self.keys.index(None)
        if isinstance(cell, str) and cell in self.describe().get("rest", {}).values():  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
            return self.texts().index(cell)
        key = key_of(cell, column)
        if type(key).__name__ == self.kind and key in self.keys:
            return self.keys.index(key)
        known = self.texts() if not self.by_value else list(map(repr, self.keys))
        shown = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        raise InvalidTable(f"{cell!r} is not among the keys of column {column!r}: {shown}")

    @override
    def told(self, query: exp.Select, column: Column, alias: str) -> tuple[exp.Select, Tree]:
        if self.by_value:
            return query, column.compared(self._given)[0]
        return self._among_others(query, column, alias)

    @override
    def placed(
        self, query: exp.Select, value: Tree, column: Column, alias: str
    ) -> tuple[exp.Select, Tree]:
        if not self.by_value:
            return query, value
        _, parse = column.compared(self._given)
        return self._looked_up(query, value, parse, alias)

    @property
    def _given(self) -> list[Key]:
        return [key for key in self.keys if key is not None]

    def _looked_up(
        self, query: exp.Select, value: Tree, parse: Cast, alias: str
    ) -> tuple[exp.Select, Tree]:
        """Find the place of a value; NULL for other values if there are groups of other rows."""
        texts = [None if key is None else key_text(key) for key in self.keys]
        listed = places_of(texts, parse).subquery(sql.identifier(alias))
        how = None if self.by_value else "left"
        query = query.join(listed, on=value.eq(sql.column(_V, alias)), join_type=how)
        return query, sql.column(_J, alias)

    def _among_others(
        self, query: exp.Select, column: Column, alias: str
    ) -> tuple[exp.Select, Tree]:
        """Find the place of a row, also without a value or with one that is not a key."""
        found: Tree = sql.cast(exp.null(), "BIGINT")
        if self._given:
            value, parse = column.compared(self._given)
            query, found = self._looked_up(query, value, parse, alias)
        place = found
        if self.other is not None:
            place = exp.Coalesce(this=place, expressions=[sql.integer(len(self.keys))])
        if None in self.keys:
            at = sql.integer(self.keys.index(None))
            place = exp.Case(ifs=[exp.If(this=column.absent(), true=at)], default=place)
        elif self.other is not None:
            query = query.where(exp.Not(this=column.absent()))
        if self.other is None:
            query = query.where(exp.or_(column.absent(), sql.known(found.copy())))
        return query, place


def places_of(texts: Sequence[str | None], parse: Cast) -> exp.Select:
    """Return a table of each text, parsed, as `v`, with its place in the list, `j`.

    Args:
        texts: at most 10^6 texts; None has no place.
        parse: the map from a text to its value.
    """
    numbered = [f"{i:0{_DIGITS}d}{text}" for i, text in enumerate(texts) if text is not None]
    parts = sql.split(numbered)
    listed = exp.select(sql.named(parts, _E)).subquery(sql.identifier("neyman_list"))
    part = sql.column(_E)
    place = exp.Substring(this=part, start=sql.integer(1), length=sql.integer(_DIGITS))
    text = exp.Substring(this=part, start=sql.integer(_DIGITS + 1))
    number = sql.cast(place, "BIGINT")
    return exp.select(sql.named(number, _J), sql.named(parse(text), _V)).from_(listed)
