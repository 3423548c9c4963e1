"""`statistic = "variance"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Statistic, Table, Variance

__all__ = ["VarianceOf", "VariancePart"]


class VariancePart(Part):
    """What a variance is of."""

    sentence: ClassVar[str] = "a variance needs a column, and nothing else of the kind"

    statistic: Literal["variance"]
    column: str
    """Whose values vary."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def made(self, table: Table) -> Statistic:
        """Return it."""
        return Variance(table.measured(self.column))


@final
class VarianceOf(VariancePart, PartQuery):
    """The variance, standard deviation and mean of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
