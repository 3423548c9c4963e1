"""`statistic = "count_units"`."""

from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["CountUnitsOf"]


@final
class CountUnitsOf(Query):
    """How many distinct entities there are."""

    sentence: ClassVar[str] = "count_units takes no column, it counts those who are protected"
    example: ClassVar[str] = ""

    statistic: Literal["count_units"]

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.count_units(by)
