"""`statistic = "several"`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self, TypeAlias, final

from pydantic import Field, model_validator

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._queries._correlation import CorrelationPart
from neyman.publish._queries._count import CountPart
from neyman.publish._queries._covariance import CovariancePart
from neyman.publish._queries._mean import MeanPart
from neyman.publish._queries._query import Groups, Query
from neyman.publish._queries._sum import SumPart
from neyman.publish._queries._variance import VariancePart
from neyman.publish._section import Count
from neyman.tables import Table

__all__ = ["SeveralOf"]

_Parts: TypeAlias = CountPart | SumPart | MeanPart | VariancePart | CovariancePart | CorrelationPart
_AnyPart = Annotated[_Parts, Field(discriminator="statistic")]


@final
class SeveralOf(Query):
    """Several statistics of the same groups, in one statement and one release."""

    sentence: ClassVar[str] = (
        'several statistics need parts, a list such as [{ statistic = "count" }, '
        '{ statistic = "mean", column = "x" }]'
    )
    example: ClassVar[str] = """\
parts = [{ statistic = "count" }, { statistic = "mean", column = "FILL IN: a column with bounds" }]
"""

    statistic: Literal["several"]
    parts: Annotated[list[_AnyPart], Field(min_length=1)]
    """The statistics: count, sum, mean, variance, covariance, correlation, with their keys."""
    shares: list[Count] | None = None
    """Of each in the squared sensitivity, whole numbers; equal by default."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return {column: instead for part in self.parts for column, instead in part.bounds.items()}

    @model_validator(mode="after")
    def _one_for_each(self) -> Self:
        if self.shares is not None and len(self.shares) != len(self.parts):
            raise ValueError(
                f"shares holds {len(self.shares)} for {len(self.parts)} parts; give one for each, "
                "or none for equal shares"
            )
        return self

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        parts = [part.made(table) for part in self.parts]
        return table.statistics(parts, by, shares=self.shares or ())
