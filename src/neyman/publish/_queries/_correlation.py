"""`statistic = "correlation"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["CorrelationOf"]


@final
class CorrelationOf(Query):
    """The correlation of two columns, where both are known."""

    sentence: ClassVar[str] = "a correlation needs two columns with bounds, x and y"
    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""

    statistic: Literal["correlation"]
    x: str
    """One column."""
    y: str
    """The other."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """Those of both."""
        return {self.x: "", self.y: ""}

    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Ask for it."""
        return table.correlation(self.x, self.y, by)
