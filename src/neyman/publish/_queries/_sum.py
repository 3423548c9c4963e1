"""`statistic = "sum"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Statistic, Sum, Table

__all__ = ["SumOf", "SumPart"]


class SumPart(Part):
    """What a sum is of."""

    sentence: ClassVar[str] = "a sum needs a column, and nothing else of the kind"

    statistic: Literal["sum"]
    column: str
    """Whose values are added up."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """The column's."""
        return {self.column: ""}

    def made(self, table: Table) -> Statistic:
        """Return it."""
        return Sum(table.measured(self.column))


@final
class SumOf(SumPart, PartQuery):
    """The sum of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
