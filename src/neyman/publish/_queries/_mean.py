"""`statistic = "mean"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["MeanOf"]


@final
class MeanOf(Query):
    """The mean of a column, with the count that it rests on."""

    sentence: ClassVar[str] = "a mean needs a column, and nothing else of the kind"
    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'

    statistic: Literal["mean"]
    column: str
    """Whose values are averaged."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Average."""
        return table.mean(self.column, by)
