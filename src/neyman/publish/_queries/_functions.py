"""The functions of a spec: densities, survival and regression curves, quantiles."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self, final

from pydantic import Field, model_validator

from neyman.aggregate import Aggregate
from neyman.functional import Box, Domain
from neyman.functional._bases._domain import Outside
from neyman.overriding import override
from neyman.publish._groups import DomainOf
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._questions import bounded_domain, density, quantiles, regression, survival
from neyman.publish._section import Count, OneOrMore, Positive, Probability
from neyman.tables import Table

__all__ = ["DensityOf", "QuantilesOf", "RegressionOf", "SurvivalOf"]


@final
class DensityOf(Query):
    """The density of a column, a whole curve; of two or three columns, a map."""

    sentence: ClassVar[str] = (
        "a density needs a column, or a list of two or three, and takes domain, "
        "and bandwidth or records"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column"
domain = { lower = "FILL IN: its lower end", upper = "FILL IN: its upper end", outside = "count" }
records = "FILL IN: a public estimate of the number of rows"
"""

    statistic: Literal["density"]
    column: OneOrMore[str]
    """The column; two or three columns for a map."""
    domain: OneOrMore[DomainOf] | None = None
    """The range of the values, one for each column; by default the bounds in [columns]."""
    bandwidth: OneOrMore[Positive] | None = None
    """The smallest bandwidth of interest, in the units of the column; one for each column."""
    records: Count | None = None
    """Instead of bandwidth: a public estimate of the number of rows, to choose a bandwidth by."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.column if self.domain is None else (), ", or domain in the query")

    @model_validator(mode="after")
    def _one_for_each(self) -> Self:
        if (self.bandwidth is None) == (self.records is None):
            raise ValueError(
                "a density needs records, a public guess of how many there are, and then chooses "
                "its bandwidth; or bandwidth, the least that shall be read; give one of the two"
            )
        for name, given in (("domain", self.domain), ("bandwidth", self.bandwidth)):
            if given is not None and len(given) != len(self.column):
                raise ValueError(
                    f"{name} holds {len(given)} for {len(self.column)} columns; give one for each"
                )
        return self

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        line = len(self.column) == 1
        return density(
            table,
            self.column[0] if line else self.column,
            domain=self._domain(table),
            bandwidth=self.bandwidth[0] if line and self.bandwidth else self.bandwidth,
            records=self.records,
            by=declared(by, self.statistic),
        )

    def _domain(self, table: Table) -> Domain:
        if self.domain is None:
            # Of one column values outside are counted apart; in a box there is no such count.
            outside: Outside = "count" if len(self.column) == 1 else "clip"
            sides = [bounded_domain(table, column, outside=outside) for column in self.column]
        else:
            sides = [declared.build() for declared in self.domain]
        return sides[0] if len(sides) == 1 else Box(*sides)


@final
class SurvivalOf(Query):
    """The survival curve: the share of rows without an event up to each time."""

    sentence: ClassVar[str] = (
        "survival needs the columns duration and observed, a horizon and a bandwidth"
    )
    example: ClassVar[str] = """\
duration = "FILL IN: a column of times"
observed = "FILL IN: the column that is true where the time ended with the event"
horizon = "FILL IN: the last time of interest"
bandwidth = "FILL IN: the smallest bandwidth of interest, in the units of the times"
"""

    statistic: Literal["survival"]
    duration: str
    """The column of times from entry to event or censoring."""
    observed: str
    """The column that is true, or at least 1/2, where the time ended with the event."""
    horizon: Positive
    """The last time of interest."""
    bandwidth: Positive
    """The smallest bandwidth of interest, in the units of the times."""
    causes: Count = 1
    """The number of causes of an event: observed is then 0, or the number of the cause."""

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return survival(
            table,
            duration=self.duration,
            observed=self.observed,
            horizon=self.horizon,
            bandwidth=self.bandwidth,
            causes=self.causes,
            by=declared(by, self.statistic),
        )


@final
class RegressionOf(Query):
    """The mean of a column at every value of another, a whole curve."""

    sentence: ClassVar[str] = (
        "a regression needs the columns x and y, and takes domain, and bandwidth or records"
    )
    example: ClassVar[str] = """\
x = "FILL IN: the column on the horizontal axis"
y = "FILL IN: the column of responses, with bounds"
domain = { lower = "FILL IN: its lower end", upper = "FILL IN: its upper end", outside = "drop" }
records = "FILL IN: a public estimate of the number of rows"
"""

    statistic: Literal["regression"]
    x: str
    """The column on the horizontal axis."""
    y: str
    """The column of responses; its bounds are those in [columns]."""
    domain: DomainOf | None = None
    """The range of x; by default its bounds in [columns]."""
    bandwidth: Positive | None = None
    """The smallest bandwidth of interest, in the units of x."""
    records: Count | None = None
    """Instead of bandwidth: a public estimate of the number of rows."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return ({self.x: ", or domain in the query"} if self.domain is None else {}) | {self.y: ""}

    @model_validator(mode="after")
    def _one_bandwidth(self) -> Self:
        if (self.bandwidth is None) == (self.records is None):
            raise ValueError(
                "a regression needs records, a public guess of how many there are; or bandwidth, "
                "the least that shall be read; give one of the two"
            )
        return self

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        side = bounded_domain(table, self.x) if self.domain is None else self.domain.build()
        return regression(
            table,
            x=self.x,
            y=self.y,
            domain=side,
            bandwidth=self.bandwidth,
            records=self.records,
            by=declared(by, self.statistic),
        )


@final
class QuantilesOf(Query):
    """Quantiles of a column: up to eight by a search, more by releasing all counts."""

    sentence: ClassVar[str] = (
        "quantiles need a column and a list of probabilities, such as [0.25, 0.5, 0.75]"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column with bounds"
probabilities = [0.25, 0.5, 0.75]
"""

    statistic: Literal["quantiles"]
    column: str
    """The column; its values are rounded to the grid in [columns]."""
    probabilities: Annotated[list[Probability], Field(min_length=1)]
    """The share of rows at or below each quantile, from 0 to 1: 0.5 for the median."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return {self.column: ""}

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return quantiles(table, self.column, self.probabilities, by=declared(by, self.statistic))
