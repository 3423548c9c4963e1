"""Who is protected, as a spec writes it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeAlias, cast

from pydantic import Discriminator, Field, Tag, model_validator

from neyman.publish._section import Count, On, OneOrMore, Section
from neyman.tables import Entity, ForeignKey, Rows, old_limits

__all__ = ["RowsPerOf", "ThroughOf", "UnitOf"]

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

    def unit(self, folder: Path) -> Rows | Entity:
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
