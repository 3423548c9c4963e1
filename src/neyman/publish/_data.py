"""The table of a spec: its files, columns, joins and privacy unit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeAlias, cast, final

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from neyman.printable import listed
from neyman.publish._section import Count, Names, Number, On, OneOrMore, Positive, Section
from neyman.tables import Bounds, Entity, ForeignKey, Rows, Table, old_limits

__all__ = ["Column", "Data", "JoinOf", "PublicJoinOf", "RowsPerOf", "ThroughOf", "UnitOf"]


class Data(Section):
    """The files of the table."""

    path: str | Annotated[list[str], Field(min_length=1)]
    """A .parquet or .csv file, a pattern such as "visits/*.parquet", a folder, or a list of them;
    relative to the spec."""
    max_table_rows: Count = 2**40
    """The most rows of one group; answers beyond it are clipped."""
    memory_limit: str | None = None
    """The memory limit, such as "2GB"; at least "500MB"."""
    temporary_directory: str | None = None
    """A folder for private rows that do not fit into memory; relative to the spec."""
    like: str | None = None
    """A public table like this one, for previews: .parquet, .csv, or the .json of a likeness."""


class Column(Section):
    """The public bounds and the grid of a column, and its labels."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependentRequired": {
                "lower": ["upper", "grid"],
                "upper": ["lower", "grid"],
                "grid": ["lower", "upper"],
                "spread": ["lower", "upper", "grid"],
            }
        }
    )

    lower: Number | None = None
    """The least value; smaller ones are moved here."""
    upper: Number | None = None
    """The greatest value; greater ones are moved here."""
    grid: Positive | None = None
    """The step that values are rounded to; it divides both bounds."""
    complete: bool = False
    """Whether every row has a value; the count beside a mean is then the count of all rows."""
    spread: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    """For previews: a public estimate of [mean, standard deviation] within the bounds."""
    label: str | None = None
    """The label of the column."""
    unit: str | None = None
    """Its unit of measure, such as "minutes"."""
    values: dict[str, str] = Field(default={})
    """The labels of its values, such as { 1 = "January", 2 = "February" }."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        ends = {"lower": self.lower, "upper": self.upper, "grid": self.grid}
        missing = [name for name, end in ends.items() if end is None]
        if missing and (len(missing) < len(ends) or self.spread is not None):
            raise ValueError(
                f"bounds are lower, upper and grid together; write {listed(missing)} also"
            )
        return self

    @property
    def bounds(self) -> Bounds | None:
        """Its bounds; None if only labels are given.

        Raises:
            InvalidParameter, InvalidTable: if they cannot be used.
        """
        if self.lower is None or self.upper is None or self.grid is None:
            return None
        return Bounds(self.lower, self.upper, grid=self.grid)


# As a spec writes them.
_LIMITS = "max_rows = 5 and max_rows_per = { year = 1 }"


class ThroughOf(Section):
    """A table that rows point to, which names their entity or points to another table."""

    sentence: ClassVar[str] = (
        "a table that rows point to needs on, the columns that must be equal, and to, its file"
    )

    on: On
    """The column that both tables have, several, or { "column here" = "column there" }."""
    to: str
    """The other table, a .parquet or .csv file; relative to the spec."""


class RowsPerOf(Section):
    """The most rows of one entity for each combination of values of several columns."""

    sentence: ClassVar[str] = (
        'a limit of a grouping needs columns, such as ["year", "ward"], and rows'
    )

    columns: Annotated[list[str], Field(min_length=1)]
    """The columns of the grouping."""
    rows: Count
    """The most rows of one entity in each of its groups."""


def _form(value: object) -> str:
    """Return whether limits are written by column or as a list of groupings."""
    return "groupings" if isinstance(value, list) else "columns"


_ByColumn: TypeAlias = Annotated[dict[str, Count], Tag("columns")]
_Listed: TypeAlias = Annotated[list[RowsPerOf], Tag("groupings")]
_RowsPer = Annotated[_ByColumn | _Listed, Discriminator(_form)]


class UnitOf(Section):
    """The privacy unit: each row, or all rows of one entity."""

    rows: Literal[True] | None = None
    """true if each row is a unit of its own."""
    entity: str | None = None
    """The column that names the entity of a row."""
    through: OneOrMore[ThroughOf] | None = None
    """[unit.through]: the table with this column, which rows point to; a list for a chain."""
    max_rows: Count | None = None
    """The most rows of one entity that count in an answer, over all groups."""
    max_rows_per: _RowsPer | None = None
    """[unit.max_rows_per]: the most in each group of a column, such as year = 1; or a list."""

    @model_validator(mode="before")
    @classmethod
    def _no_limit_without_a_grouping(cls, written: object) -> object:
        if isinstance(written, dict):
            named = cast("Mapping[str, object]", written)
            if named.keys() & {"max_groups", "max_rows_per_group"}:
                entity = named.get("entity")
                raise ValueError(old_limits(entity if isinstance(entity, str) else "unit", _LIMITS))
        return cast("object", written)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.rows is None) == (self.entity is None):
            raise ValueError("give rows = true, or entity = a column, one of the two")
        if self.entity is not None and self.max_rows is None:
            raise ValueError(
                "an entity needs max_rows, the most rows of one of them that count in an answer"
            )
        if self.rows is not None and (self.max_rows, self.max_rows_per) != (None, None):
            raise ValueError("with rows = true each row is one unit; delete the limits")
        if isinstance(self.max_rows_per, list):
            named = [frozenset(one.columns) for one in self.max_rows_per]
            if len(set(named)) < len(named):
                raise ValueError("max_rows_per has one grouping twice; write each once")
        if self.rows is not None and self.through is not None:
            raise ValueError(
                "with rows = true each row is one unit; delete [unit.through], or write entity, "
                "the column of the other table that names it"
            )
        return self

    def build(self, folder: Path) -> Rows | Entity:
        """Return the unit; paths are relative to `folder`.

        Raises:
            InvalidParameter, InvalidTable: if limits or columns cannot be used.
        """
        if self.entity is None:
            return Rows()
        named: str | ForeignKey = self.entity
        for step in reversed(self.through or []):
            named = ForeignKey(step.on, folder / step.to, owner=named)
        return Entity(named, max_rows=self.max_rows, max_rows_per=self._known)

    @property
    def _known(self) -> Mapping[str | tuple[str, ...], int]:
        match self.max_rows_per:
            case None:
                return {}
            case list():
                return {tuple(one.columns): one.rows for one in self.max_rows_per}
            case dict():
                return dict(self.max_rows_per.items())

    def files(self, folder: Path) -> tuple[Path, ...]:
        """Return the other tables' files."""
        return tuple(folder / step.to for step in self.through or ())


class _Join(Section):
    """The keys of every join."""

    sentence: ClassVar[str] = (
        'a join needs path, on, the columns that must be equal, and how = "inner" or "left"'
    )

    path: str
    """The other table, a .parquet or .csv file; relative to the spec."""
    on: On
    """The column that both tables have, several, or { "column here" = "column there" }."""
    how: Literal["inner", "left"]
    """"inner" drops rows without a match; "left" keeps them, with empty joined columns."""
    columns: Names | None = None
    """The columns to join, or { "column there" = "name here" }; by default all others."""


@final
class JoinOf(_Join):
    """The rows of another private table, which name the same entity."""

    def joined(self, table: Table, folder: Path) -> Table:
        """Return the joined table; limits count joined rows.

        Raises:
            InvalidTable: if the tables do not fit each other.
        """
        return table.join(folder / self.path, on=self.on, how=self.how, columns=_list(self.columns))


@final
class PublicJoinOf(_Join):
    """A public table with one row for each key."""

    before: str | None = None
    """The NAME of a [join.NAME] that uses its columns, and comes after it."""

    def joined(self, table: Table, folder: Path) -> Table:
        """Return the joined table; the public table is read.

        Raises:
            InvalidTable: if the tables do not fit each other.
        """
        columns = _list(self.columns)
        return table.join_public(folder / self.path, on=self.on, how=self.how, columns=columns)


def _list(columns: list[str] | dict[str, str] | str | None) -> list[str] | dict[str, str] | None:
    return [columns] if isinstance(columns, str) else columns
