"""`statistic = "quantiles"`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, final

from pydantic import Field

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._quantiles import quantiles
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._section import Probability
from neyman.tables import Table

__all__ = ["QuantilesOf"]


@final
class QuantilesOf(Query):
    """Quantiles of a column, as many as wanted for the price of one."""

    sentence: ClassVar[str] = (
        "quantiles need a column and a list of probabilities, such as [0.25, 0.5, 0.75]"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column with bounds"
probabilities = [0.25, 0.5, 0.75]
"""

    statistic: Literal["quantiles"]
    column: str
    """Whose values; told apart by the grid of [columns]."""
    probabilities: Annotated[list[Probability], Field(min_length=1)]
    """The share of rows at or below each quantile, from 0 to 1: 0.5 for the median."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return quantiles(table, self.column, self.probabilities, by=declared(by, self.statistic))
