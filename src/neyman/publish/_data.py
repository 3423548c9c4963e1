"""The table of a spec: its files, columns, joins, and who is protected."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeAlias, cast, final

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from neyman.printable import listed
from neyman.publish._section import Count, Names, Number, On, OneOrMore, Positive, Section
from neyman.tables import Bounds, Entity, ForeignKey, Rows, Table, old_limits

__all__ = ["Column", "Data", "JoinOf", "PublicJoinOf", "RowsPerOf", "ThroughOf", "UnitOf"]


class Data(Section):
    """Where the table lies."""

    path: str | Annotated[list[str], Field(min_length=1)]
    """A .parquet or .csv file, a pattern such as "visits/*.parquet", a folder, or a list of them;
    relative to the spec."""
    max_table_rows: Count = 2**40
    """Rows of one group beyond which an answer is clamped."""
    memory_limit: str | None = None
    """The most that the process holds, such as "2GB"; at least "500MB"."""
    temporary_directory: str | None = None
    """A folder, relative to the spec; private rows that memory does not hold go under it."""
    like: str | None = None
    """A public table like this one, for previews: .parquet, .csv, or the .json of a likeness."""


class Column(Section):
    """Public bounds of a column and the grid of its values; and the words it is shown with."""

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
    """The least that counts; what is below is moved here."""
    upper: Number | None = None
    """The most that counts; what is above is moved here."""
    grid: Positive | None = None
    """The step between values that are told apart; divides both bounds."""
    complete: bool = False
    """Whether every row has a value: then a count beside a mean is that of all rows of a group."""
    spread: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    """For previews: [mean, standard deviation], a public guess, of values within the bounds."""
    label: str | None = None
    """What the column is called where people read it."""
    unit: str | None = None
    """Its unit of measure, such as "minutes"."""
    values: dict[str, str] = Field(default={})
    """What its values are called, such as { 1 = "January", 2 = "February" }."""

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
        """Its bounds; None where only words are given.

        Raises:
            InvalidParameter, InvalidTable: if they are none.
        """
        if self.lower is None or self.upper is None or self.grid is None:
            return None
        return Bounds(self.lower, self.upper, grid=self.grid)


# As a spec writes them.
_LIMITS = "max_rows = 5 and max_rows_per = { year = 1 }"


class ThroughOf(Section):
    """Another table that rows point to, and that names who they are of, or points on."""

    sentence: ClassVar[str] = (
        "a table that rows point to needs on, the columns that must be equal, and to, its file"
    )

    on: On
    """The column that both have, several, or { "column here" = "column there" }."""
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
    """Tell limits by column from a list of groupings by how they are written."""
    return "groupings" if isinstance(value, list) else "columns"


_ByColumn: TypeAlias = Annotated[dict[str, Count], Tag("columns")]
_Listed: TypeAlias = Annotated[list[RowsPerOf], Tag("groupings")]
_RowsPer = Annotated[_ByColumn | _Listed, Discriminator(_form)]


class UnitOf(Section):
    """Who is protected: each row, or all rows of one entity."""

    rows: Literal[True] | None = None
    """true, if each row is one who is protected."""
    entity: str | None = None
    """The column that names who a row is of."""
    through: OneOrMore[ThroughOf] | None = None
    """[unit.through]: the table that has this column and that rows point to; a list for a chain."""
    max_rows: Count | None = None
    """The most rows of one entity that count in an answer, all groups together."""
    max_rows_per: _RowsPer | None = None
    """[unit.max_rows_per]: the most in each group by a column, such as year = 1; or a list."""

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
            InvalidParameter, InvalidTable: if limits or columns are unusable.
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
    """What every join says."""

    sentence: ClassVar[str] = (
        'a join needs path, on, the columns that must be equal, and how = "inner" or "left"'
    )

    path: str
    """The other table, a .parquet or .csv file; relative to the spec."""
    on: On
    """The column that both have, several, or { "column here" = "column there" }."""
    how: Literal["inner", "left"]
    """Rows without a match are dropped, or kept with nothing in the joined columns."""
    columns: Names | None = None
    """Those it brings, or { "column there" = "name here" }; all others by default."""


@final
class JoinOf(_Join):
    """The rows of another private table, which name the same entity."""

    def joined(self, table: Table, folder: Path) -> Table:
        """Join; limits count joined rows.

        Raises:
            InvalidTable: if the tables do not go together.
        """
        return table.join(folder / self.path, on=self.on, how=self.how, columns=_list(self.columns))


@final
class PublicJoinOf(_Join):
    """The one row of a public table that has a row's key."""

    before: str | None = None
    """The NAME of [join.NAME] that is joined on its columns, and so after it."""

    def joined(self, table: Table, folder: Path) -> Table:
        """Join; the public table is read.

        Raises:
            InvalidTable: if the tables do not go together.
        """
        columns = _list(self.columns)
        return table.join_public(folder / self.path, on=self.on, how=self.how, columns=columns)


def _list(columns: list[str] | dict[str, str] | str | None) -> list[str] | dict[str, str] | None:
    return [columns] if isinstance(columns, str) else columns
