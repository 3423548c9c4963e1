"""Who is protected, as a spec writes it."""

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from neyman.publish._section import Count, On, OneOrMore, Section
from neyman.tables import Entity, ForeignKey, Rows

__all__ = ["ThroughOf", "UnitOf"]


class ThroughOf(Section):
    """Another table that rows point to, and that names who they are of, or points on."""

    sentence: ClassVar[str] = (
        "a table that rows point to needs on, the columns that must be equal, and to, its file"
    )

    on: On
    """The column that both have, several, or { "column here" = "column there" }."""
    to: str
    """The other table, a .parquet or .csv file; relative to the spec."""


class UnitOf(Section):
    """Who is protected: each row, or all rows of one entity."""

    rows: Literal[True] | None = None
    """true, if each row is one who is protected."""
    entity: str | None = None
    """The column that names who a row is of."""
    through: OneOrMore[ThroughOf] | None = None
    """[unit.through]: the table that has this column and that rows point to; a list for a chain."""
    max_groups: Count | None = None
    """The most groups that one entity counts in."""
    max_rows_per_group: Count | None = None
    """The most rows of one entity that count in each group."""
    max_rows: Count | None = None
    """The most rows of one entity that count in all groups together, beside the two or alone."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        limits = (self.max_groups, self.max_rows_per_group)
        bounded = None not in limits or self.max_rows is not None
        if (self.rows is None) == (self.entity is None):
            raise ValueError("give rows = true, or entity = a column, one of the two")
        if self.entity is not None and not bounded:
            raise ValueError("an entity needs max_groups and max_rows_per_group, or max_rows")
        if self.rows is not None and (*limits, self.max_rows) != (None, None, None):
            raise ValueError("with rows = true each row is one unit; delete the limits")
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
        return Entity(
            named,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            max_rows=self.max_rows,
        )

    def files(self, folder: Path) -> tuple[Path, ...]:
        """Return the other tables' files."""
        return tuple(folder / step.to for step in self.through or ())
