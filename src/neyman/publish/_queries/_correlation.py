"""`statistic = "correlation"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Correlation, Statistic, Table

__all__ = ["CorrelationOf", "CorrelationPart"]


class CorrelationPart(Part):
    """What a correlation is of."""

    sentence: ClassVar[str] = "a correlation needs two columns with bounds, x and y"

    statistic: Literal["correlation"]
    x: str
    """One column."""
    y: str
    """The other."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """Those of both."""
        return {self.x: "", self.y: ""}

    def made(self, table: Table) -> Statistic:
        """Return it."""
        return Correlation(table.measured(self.x), table.measured(self.y))


@final
class CorrelationOf(CorrelationPart, PartQuery):
    """The correlation of two columns, where both are known."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""
