"""`statistic = "sum"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["SumOf"]


@final
class SumOf(Query):
    """The sum of a column."""

    sentence: ClassVar[str] = "a sum needs a column, and nothing else of the kind"
    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'

    statistic: Literal["sum"]
    column: str
    """Whose values are added up."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Add up."""
        return table.sum(self.column, by)
