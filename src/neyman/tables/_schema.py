"""The schema, the public part of a table: names and types of its columns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import final

from sqlglot import exp

from neyman.errors import InvalidTable, UnknownColumn
from neyman.tables import _sql as sql
from neyman.tables._instant import date_of
from neyman.tables._key import Key, key_text
from neyman.tables._kind import INTEGER, Cast, Kind
from neyman.tables._sql import Tree

__all__ = ["SOURCE", "Column", "Schema", "called", "refuse_alike"]

SOURCE = "neyman_source"


def called(place: int) -> str:
    """Return the name of the first table in a statement, or of a joined one by its place."""
    return f"{SOURCE}_{place}" if place else SOURCE


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A column: its names for the user and for the engine, and its kind.

    Attributes:
        name: the user's name.
        inside: the engine's name.
        kind: its kind, which says how it can be used.
        made: its value if it is made of other columns; None for a column of the engine.
    """

    name: str
    inside: str
    kind: Kind
    made: Tree | None = None

    def number(self) -> Tree:
        """Return the value as a double.

        Raises:
            InvalidTable: if the column does not have numbers.
        """
        self.refuse_coded()
        if self.kind.number is None:
            raise InvalidTable(
                f"column {self.name!r} is of type {self.kind.label} and cannot be added up, nor "
                "cut at numbers; write a column of integers, decimals, floats or booleans"
            )
        return self.kind.number(self.value())

    def whole(self) -> Tree | None:
        """Return the value as an integer of at most 64 bits, if the engine has it as one."""
        return self.value() if self.kind is INTEGER and self.made is None else None

    def day(self) -> Tree:
        """Return the value as a date, or the date of a timestamp.

        Raises:
            InvalidTable: if the column does not have dates.
        """
        self.refuse_coded()
        if self.kind.instant is not None:
            return date_of(self.instant())
        if self.kind.key is None or date not in self.kind.keys:
            raise InvalidTable(
                f"column {self.name!r} is of type {self.kind.label} and cannot be cut at dates; "
                "write a column of dates or timestamps, or edges that are numbers"
            )
        return self.kind.key(self.value())

    def instant(self) -> Tree:
        """Return a timestamp as an integer; NULL outside the years 1 to 9999.

        Raises:
            InvalidTable: if the column does not have timestamps.
        """
        self.refuse_coded()
        if self.kind.instant is None:
            raise InvalidTable(
                f"column {self.name!r} is of type {self.kind.label} and holds no timestamps; "
                "write a column that does"
            )
        return self.kind.instant(self.value())

    def identity(self) -> Tree:
        """Return the bytes that identify units.

        Raises:
            InvalidTable: if it does not name units in the same way on every engine; timestamps do
                not.
        """
        if self.kind.unnamed:
            raise InvalidTable(f"column {self.name!r} {self.kind.unnamed}")
        if self.kind.identity is None:
            raise InvalidTable(
                f"column {self.name!r} is of type {self.kind.label} and cannot name a unit; "
                "write a column of text, whole numbers, booleans or dates"
            )
        return self.kind.identity(self.value())

    def matched(self, other: "Column") -> tuple[Tree, Tree]:
        """Return both values for comparison with each other; NULL equals nothing.

        64-bit integers are compared as integers, text by its bytes, and text of a CSV file, also
        with an integer, by its canonical text (`plain_text`). Values that match name the same unit.

        Raises:
            InvalidTable: if values of the two never match, or do not match in the same way on every
                engine.
        """
        ours, theirs = self.kind, other.kind
        if set(ours.keys).isdisjoint(theirs.keys):
            raise InvalidTable(
                f"column {self.name!r} is of type {ours.label} and column {other.name!r} of type "
                f"{theirs.label}, which do not match; join by columns of text, whole numbers, "
                "booleans or dates, both of one type"
            )
        same = ours.key if ours.key is theirs.key else None
        mine, its = (same, same) if same is not None else (ours.identity, theirs.identity)
        if mine is None or its is None:
            raise InvalidTable(f"columns {self.name!r} and {other.name!r} cannot be compared")
        return mine(self.value()), its(other.value())

    def compared(self, keys: Sequence[Key]) -> tuple[Tree, Cast]:
        """Return the value for comparison with keys, and the map from a key's text to it.

        Raises:
            InvalidTable: if such keys never equal the column's values.
        """
        kind, given = self.kind, type(keys[0])
        if kind.key is None or kind.parse is None or given not in kind.keys:
            fitting = " or ".join(known.__name__ for known in kind.keys)
            raise InvalidTable(
                f"column {self.name!r} is of type {kind.label}, its keys are {given.__name__}; "
                + (f"write {fitting} keys{kind.spelled}" if fitting else self._instead_of_groups())
            )
        if not kind.absent.isdisjoint(keys):
            raise InvalidTable(
                f"an empty field of column {self.name!r} is NULL, and '' was among its keys; write "
                "None for the rows without a value, or leave it out"
            )
        self._refuse_one_value(keys)
        return kind.key(self.value()), kind.parse

    def _refuse_one_value(self, keys: Sequence[Key]) -> None:
        """Refuse two keys with one value, because a row would be in both groups."""
        canonical = self.kind.canonical
        if canonical is None:
            return
        seen: dict[str, Key] = {}
        for key in dict.fromkeys(keys):
            other = seen.setdefault(canonical(key_text(key)), key)
            if other != key:
                raise InvalidTable(
                    f"the keys {other!r} and {key!r} of column {self.name!r} are one value in the "
                    "text of a CSV file, as 1 and 1.0 are; write one of them"
                )

    def absent(self) -> Tree:
        """Return whether a row has no value."""
        return exp.Is(this=exp.Paren(this=self.kind.present(self.value())), expression=exp.null())

    def grouped(self) -> tuple[Tree, Callable[[str], str | int | bool]]:
        """Return the bytes that identify groups, and the map from their text to a key.

        Raises:
            InvalidTable: if the values cannot be keys, such as timestamps.
        """
        self.refuse_coded()
        if self.kind.group is None:
            raise InvalidTable(
                f"column {self.name!r} is of type {self.kind.label} and has no groups of its own; "
                + (
                    self._instead_of_groups()
                    if self.kind.instant is not None
                    else "write a column of text, whole numbers, booleans or dates"
                )
            )
        return self.kind.group(self.value()), self.kind.group_key

    def _instead_of_groups(self) -> str:
        if self.kind.instant is None:
            return "group by another column"
        return (
            f"make a column by .year(), .date() or .truncate('month') of col({self.name!r}) and "
            "group by that, or write Bins of dates"
        )

    def refuse_coded(self) -> None:
        """Refuse a column that names the unit in another table; it is for declared keys only.

        Raises:
            InvalidTable: if it is such a column.
        """
        if self.kind.coded:
            raise InvalidTable(
                f"column {self.name!r} names the unit in another table, and can be compared with "
                f"declared keys only; write by=Keys({{{self.name!r}: [...]}}), or a column of this "
                "table"
            )

    def value(self) -> Tree:
        """Return the value of the engine, or the value made of other columns."""
        return sql.column(self.inside, SOURCE) if self.made is None else self.made.copy()


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """All columns, with names that differ by more than case.

    Attributes:
        columns: the columns in order.
        told: whether errors may list other names than those of the question. For a CSV file they
            may not, because without a header its first line is a record.
    """

    columns: tuple[Column, ...]
    told: bool = True

    def __post_init__(self) -> None:
        """Refuse names that engines do not distinguish."""
        refuse_alike((column.name for column in self.columns), told=self.told)

    @property
    def names(self) -> list[str]:
        """Names in their order."""
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        """Return the column.

        Raises:
            UnknownColumn: with close matches.
        """
        for column in self.columns:
            if column.name == name:
                return column
        if not self.told:
            raise UnknownColumn(
                f"the table has no column {name!r}. Its {len(self.columns)} columns are named by "
                "the first line of the CSV file, which is not repeated here: without a header it "
                "would be a record. Write the names there, and ask for one of them"
            )
        folded = {known.casefold(): known for known in self.names}
        close = [folded[match] for match in get_close_matches(str(name).casefold(), folded)]
        known = close or self.names[:20]
        raise UnknownColumn(
            f"the table has no column {name!r}; "
            f"{'close to it are' if close else 'its columns are'} {', '.join(map(repr, known))}"
        )


def refuse_alike(names: Iterable[str], *, told: bool = True) -> None:
    """Refuse names that differ at most by case.

    Args:
        names: the names of columns.
        told: whether the error may repeat them.

    Raises:
        InvalidTable: with the first two.
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.get(name.casefold())
        if other is not None:
            if not told:
                raise InvalidTable(
                    "the names of two columns in the first line of the CSV file differ at most by "
                    "case, and engines mix them up; if the file has no header, write one above its "
                    "records, else rename one of the two"
                )
            raise InvalidTable(
                f"the columns {other!r} and {name!r} differ at most by case, and engines mix them "
                "up; rename one of them"
            )
        seen[name.casefold()] = name
