"""A privacy unit that another table names."""

from dataclasses import dataclass, field
from typing import final

from neyman.calls import plain_calls_of
from neyman.errors import InvalidTable
from neyman.tables._on import On, pairs_of

__all__ = ["ForeignKey"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False, eq=False)
class ForeignKey:
    """A unit through another table: the owner of the row that a row points to.

    A row that points to rows of two owners counts once for each. A row that points to none belongs
    to nobody. Neighbouring databases differ in one owner: the rows that name it, and all rows of
    other tables that lead to no other owner (docs/theory/contributions.md).

    Attributes:
        on: pairs of a column of the table and the column of the other table that it points to.
        to: the other table, as `open_table` takes it.
        owner: the other table's column that names the unit, or its own `ForeignKey`.
        name: the name of the other table, if it is data in memory or in Spark.
    """

    on: tuple[tuple[str, str], ...]
    to: object = field(repr=False)
    owner: "str | ForeignKey"
    name: str | None

    def __init__(
        self, on: On, to: object, *, owner: "str | ForeignKey", name: str | None = None
    ) -> None:
        """Take a column that both tables have, several, or a mapping of names here to names there.

        Raises:
            InvalidTable: if `on` does not name columns, or `owner` is not a column or a key.
        """
        if not isinstance(owner, str | ForeignKey):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTable(
                f"owner={owner!r} names no unit; write the column of the other table that does, or "
                "ForeignKey(...) where it points on"
            )
        object.__setattr__(self, "on", pairs_of(on))
        object.__setattr__(self, "to", to)
        object.__setattr__(self, "owner", owner)
        object.__setattr__(self, "name", name)

    @property
    def column(self) -> str:
        """The column that names the unit, at the end of the chain."""
        return self.owner if isinstance(self.owner, str) else self.owner.column

    def describe(self) -> dict[str, object]:
        """Return the public record for JSON."""
        owner = self.owner if isinstance(self.owner, str) else self.owner.describe()
        return {"on": [list(pair) for pair in self.on], "owner": owner}
