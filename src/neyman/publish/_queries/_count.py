"""`statistic = "count"`."""

from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["CountOf"]


@final
class CountOf(Query):
    """How many rows there are, whatever they hold."""

    sentence: ClassVar[str] = "a count takes no column, it counts rows"
    example: ClassVar[str] = ""

    statistic: Literal["count"]

    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Count."""
        return table.count(by)
