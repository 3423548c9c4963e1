"""The public part of a table, for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

from neyman.printable import printable, shortened, width
from neyman.tables._bounds import Bounds
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Declared", "Described"]

_SHOWN: Final = 30
_LONGEST: Final = 40


@final
@dataclass(frozen=True, slots=True)
class Declared:
    """One column.

    Attributes:
        name: the user's name of the column.
        kind: its type, in words.
        note: its bounds, or that it names the unit.
    """

    name: str
    kind: str
    note: str


@final
@dataclass(frozen=True, slots=True)
class Described:
    """Columns, types, unit and bounds; independent of the rows.

    Attributes:
        unit: the privacy unit.
        many: the number of columns.
        columns: the public columns, in order.
        why: the reason why others are not public; empty if all are.
        rows: the condition for rows; empty if all rows count.
    """

    unit: Unit
    many: int
    columns: tuple[Declared, ...]
    why: str
    rows: str

    @classmethod
    def of(cls, view: View, unit: Unit, bounds: Mapping[str, Bounds]) -> "Described":
        """Return the description of a table.

        Without a header, the first line of a CSV file is a record. So for a CSV file it has only
        the columns that the user named.
        """
        schema = view.schema
        named = {unit.entity, *bounds, *(c.name for c in schema.columns if c.made is not None)}
        told = [column for column in schema.columns if schema.told or column.name in named]
        hidden = len(schema.columns) - len(told)
        why = f"{hidden:,} more, named by the first line of the CSV file, which may be a record"
        chosen = any(step["step"] == "where" for step in view.made)
        return cls(
            unit,
            len(schema.columns),
            tuple(
                Declared(column.name, column.kind.label, _note(column.name, unit, bounds))
                for column in told
            ),
            why if hidden else "",
            "those that a condition keeps" if chosen else "",
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        columns = "1 column" if self.many == 1 else f"{self.many:,} columns"
        yield f"Table of {columns}, unit={printable(repr(self.unit))}"
        if self.rows:
            yield f"  rows: {self.rows}"
        cells = [
            [shortened(part, _LONGEST) for part in (column.name, column.kind, column.note)]
            for column in self.columns[:_SHOWN]
        ]
        widths = [max((width(row[i]) for row in cells), default=0) for i in range(2)]
        for name, kind, note in cells:
            padded = (name + " " * (widths[0] - width(name)), kind.ljust(widths[1]), note)
            yield f"  {'  '.join(padded)}".rstrip()
        if len(self.columns) > _SHOWN:
            yield f"  ... {len(self.columns) - _SHOWN:,} more columns"
        if self.why:
            yield f"  ... {self.why}"


def _note(name: str, unit: Unit, bounds: Mapping[str, Bounds]) -> str:
    said = ["names the unit"] if name == unit.entity else []
    said += [repr(bounds[name])] if name in bounds else []
    return ", ".join(said)
