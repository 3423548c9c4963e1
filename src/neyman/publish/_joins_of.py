"""Joins with other tables, as a spec writes them."""

from pathlib import Path
from typing import ClassVar, Literal, final

from neyman.publish._section import Names, On, Section
from neyman.tables import Table

__all__ = ["JoinOf", "PublicJoinOf"]


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
