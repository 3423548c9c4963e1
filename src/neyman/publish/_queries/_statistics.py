"""The statistics of a spec."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal, Self, TypeAlias, final

from pydantic import Field, model_validator

from neyman.aggregate import Aggregate
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.publish._crosstab import crosstab
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._questions import linear_regression
from neyman.publish._section import Count, Number, Section, ShareOf
from neyman.tables import (
    Correlation,
    Covariance,
    Mean,
    MeanPerUnit,
    Measured,
    Statistic,
    Sum,
    Table,
    Variance,
)
from neyman.tables import Count as CountRows

__all__ = [
    "CorrelationOf",
    "CountOf",
    "CountUnitsOf",
    "CovarianceOf",
    "CrosstabOf",
    "LinearRegressionOf",
    "MeanOf",
    "MeanPerUnitOf",
    "SeveralOf",
    "SumOf",
    "SumPerUnitOf",
    "VarianceOf",
]


class Part(Section, ABC):
    """A statistic without its budget."""

    @abstractmethod
    def build(self, table: Table) -> Statistic:
        """Return the statistic.

        Raises:
            InvalidTable: if it does not fit the table.
        """

    @property
    def bounds(self) -> Mapping[str, str]:
        """The columns that must have bounds in [columns], and what else may be written instead."""
        return {}


class ColumnPart(Part, ABC):
    """A statistic of one column.

    Attributes:
        of: the class of the statistic.
    """

    of: ClassVar[Callable[[Measured], Statistic]]

    column: str
    """The column."""

    @property
    @final
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @final
    @override
    def build(self, table: Table) -> Statistic:
        return type(self).of(table.measured(self.column))


class PairPart(Part, ABC):
    """A statistic of two columns.

    Attributes:
        of: the class of the statistic.
    """

    of: ClassVar[Callable[[Measured, Measured], Statistic]]

    x: str
    """One column."""
    y: str
    """The other."""

    @property
    @final
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.x: "", self.y: ""}

    @final
    @override
    def build(self, table: Table) -> Statistic:
        return type(self).of(table.measured(self.x), table.measured(self.y))


class PartQuery(Query, Part, ABC):
    """A query with one such statistic."""

    @final
    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.aggregate(self.build(table), by)


class CountPart(Part):
    """A count in a list of several."""

    sentence: ClassVar[str] = "a count takes no column, it counts rows"

    statistic: Literal["count"]

    @override
    def build(self, table: Table) -> Statistic:  # noqa: ARG002
        return CountRows()


@final
class CountOf(CountPart, PartQuery):
    """The number of rows."""

    example: ClassVar[str] = ""


class SumPart(ColumnPart):
    """A sum in a list of several."""

    sentence: ClassVar[str] = "a sum needs a column, and nothing else of the kind"
    of: ClassVar = Sum

    statistic: Literal["sum"]


@final
class SumOf(SumPart, PartQuery):
    """The sum of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'


class MeanPart(ColumnPart):
    """A mean in a list of several."""

    sentence: ClassVar[str] = "a mean needs a column, and nothing else of the kind"
    of: ClassVar = Mean

    statistic: Literal["mean"]


@final
class MeanOf(MeanPart, PartQuery):
    """The mean of a column, with the count of its values."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'


class VariancePart(ColumnPart):
    """A variance in a list of several."""

    sentence: ClassVar[str] = "a variance needs a column, and nothing else of the kind"
    of: ClassVar = Variance

    statistic: Literal["variance"]


@final
class VarianceOf(VariancePart, PartQuery):
    """The variance, standard deviation and mean of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'


class CovariancePart(PairPart):
    """A covariance in a list of several."""

    sentence: ClassVar[str] = "a covariance needs two columns with bounds, x and y"
    of: ClassVar = Covariance

    statistic: Literal["covariance"]


@final
class CovarianceOf(CovariancePart, PartQuery):
    """The covariance of two columns, over rows that have both."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""


class CorrelationPart(PairPart):
    """A correlation in a list of several."""

    sentence: ClassVar[str] = "a correlation needs two columns with bounds, x and y"
    of: ClassVar = Correlation

    statistic: Literal["correlation"]


@final
class CorrelationOf(CorrelationPart, PartQuery):
    """The correlation of two columns, over rows that have both."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""


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
    """Whole numbers: the share of each in the squared sensitivity; equal by default."""

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
        parts = [part.build(table) for part in self.parts]
        return table.statistics(parts, by, shares=self.shares or ())


@final
class MeanPerUnitOf(ColumnPart, PartQuery):
    """The mean over entities of the mean of each entity's rows; no row is dropped."""

    sentence: ClassVar[str] = "a mean per unit needs a column, and nothing else of the kind"
    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
    of: ClassVar = MeanPerUnit

    statistic: Literal["mean_per_unit"]


@final
class SumPerUnitOf(Query):
    """The sum of a column, with the total of each entity clipped to bounds; no row is dropped."""

    sentence: ClassVar[str] = (
        "a sum per unit needs a column, and lower and upper, the bounds of the total of one entity"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column with bounds"
lower = "FILL IN: the least total of one entity in a group"
upper = "FILL IN: the greatest"
"""

    statistic: Literal["sum_per_unit"]
    column: str
    """The column."""
    lower: Number
    """The least total of one entity in a group; smaller ones are moved here."""
    upper: Number
    """The greatest total of one entity in a group; greater ones are moved here."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.sum_per_unit(self.column, by, lower=self.lower, upper=self.upper)


@final
class CountUnitsOf(Query):
    """The number of distinct entities."""

    sentence: ClassVar[str] = "count_units takes no column, it counts units"
    example: ClassVar[str] = ""

    statistic: Literal["count_units"]

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return table.count_units(by)


@final
class CrosstabOf(Query):
    """A contingency table: counts of cells and margins that add up and are not negative."""

    sentence: ClassVar[str] = (
        "a crosstab needs by, the NAME of [keys.NAME], and takes margins, lists of their columns"
    )
    example: ClassVar[str] = """\
by = "FILL IN: the NAME of [keys.NAME] with two columns or more"
margins = [["FILL IN: one of its columns"], []]
"""

    statistic: Literal["crosstab"]
    margins: list[list[str]] = Field(default=[])
    """The margins to show beside the cells, each a list of columns to keep; [] for the total."""
    shares: list[ShareOf] | None = None
    """The share of noisy counts of the cells, then of each margin; by default all for the cells."""
    whole: bool = True
    """Whether the counts are whole numbers; true by default."""

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        cells = declared(by, self.statistic)
        if cells is None:
            raise InvalidParameter(
                "a crosstab must have by, the groups of its cells; got none. Write by, the NAME "
                "of [keys.NAME] with a list of values for each column"
            )
        return crosstab(table, cells, self.margins, shares=self.shares or (), whole=self.whole)


@final
class LinearRegressionOf(Query):
    """The fit of a column by least squares to an intercept and other columns."""

    sentence: ClassVar[str] = (
        "a linear regression needs a response and a list of features, all of them columns with "
        "bounds"
    )
    example: ClassVar[str] = """\
response = "FILL IN: a column with bounds"
features = ["FILL IN: other columns with bounds"]
"""

    statistic: Literal["linear_regression"]
    response: str
    """The column y."""
    features: Annotated[list[str], Field(min_length=1)]
    """The columns x."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return dict.fromkeys([self.response, *self.features], "")

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return linear_regression(table, self.response, self.features, by)
