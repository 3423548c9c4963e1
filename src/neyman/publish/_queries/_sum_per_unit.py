"""`statistic = "sum_per_unit"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._queries._query import Groups, Query
from neyman.publish._section import Number
from neyman.tables import Table

__all__ = ["SumPerUnitOf"]


@final
class SumPerUnitOf(Query):
    """The sum of a column, the total of each entity moved to bounds of its own: no row is cut."""

    sentence: ClassVar[str] = (
        "a sum per unit needs a column, and lower and upper, the bounds of the total of one entity"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column with bounds"
lower = "FILL IN: the least total of one entity in a group that counts"
upper = "FILL IN: the greatest"
"""

    statistic: Literal["sum_per_unit"]
    column: str
    """Whose values."""
    lower: Number
    """The least total of one entity in a group; a smaller one is moved here."""
    upper: Number
    """The greatest total of one entity in a group; a greater one is moved here."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.sum_per_unit(self.column, by, lower=self.lower, upper=self.upper)
