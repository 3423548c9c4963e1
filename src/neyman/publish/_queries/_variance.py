"""`statistic = "variance"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["VarianceOf"]


@final
class VarianceOf(Query):
    """The variance, standard deviation and mean of a column."""

    sentence: ClassVar[str] = "a variance needs a column, and nothing else of the kind"
    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'

    statistic: Literal["variance"]
    column: str
    """Whose values vary."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Ask for all three."""
        return table.variance(self.column, by)
