"""`statistic = "count"`."""

from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Grouped
from neyman.tables import Keys, Table

__all__ = ["CountOf"]


@final
class CountOf(Grouped):
    """How many rows there are, whatever they hold."""

    sentence: ClassVar[str] = "a count takes no column, it counts rows"
    example: ClassVar[str] = ""

    statistic: Literal["count"]

    def ask(self, table: Table, by: Keys | None) -> Aggregate:
        """Count."""
        return table.count(by)
