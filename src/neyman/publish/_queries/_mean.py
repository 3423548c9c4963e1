"""`statistic = "mean"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Mean, Statistic, Table

__all__ = ["MeanOf", "MeanPart"]


class MeanPart(Part):
    """What a mean is of."""

    sentence: ClassVar[str] = "a mean needs a column, and nothing else of the kind"

    statistic: Literal["mean"]
    column: str
    """Whose values are averaged."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def made(self, table: Table) -> Statistic:
        """Return it."""
        return Mean(table.measured(self.column))


@final
class MeanOf(MeanPart, PartQuery):
    """The mean of a column, with the count that it rests on."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
