"""`statistic = "regression"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self, final

from pydantic import model_validator

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._domain_of import DomainOf
from neyman.publish._functions import bounded_domain, regression
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._section import Count, Positive
from neyman.tables import Table

__all__ = ["RegressionOf"]


@final
class RegressionOf(Query):
    """The mean of a column at every value of another, a whole curve."""

    sentence: ClassVar[str] = (
        "a regression needs the columns x and y, and takes domain, and bandwidth or records"
    )
    example: ClassVar[str] = """\
x = "FILL IN: the column that the curve is over"
y = "FILL IN: the column of responses, with bounds"
domain = { lower = "FILL IN: its lower end", upper = "FILL IN: its upper end", outside = "drop" }
records = "FILL IN: about how many rows there are, known in public"
"""

    statistic: Literal["regression"]
    x: str
    """The column that the curve is over."""
    y: str
    """The column of responses; its bounds are those in [columns]."""
    domain: DomainOf | None = None
    """Where x lies; by default within its bounds in [columns]."""
    bandwidth: Positive | None = None
    """The least that shall be read, in the units of x."""
    records: Count | None = None
    """In place of bandwidth: about how many rows there are, known in public."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return ({self.x: ", or domain in the query"} if self.domain is None else {}) | {self.y: ""}

    @model_validator(mode="after")
    def _one_bandwidth(self) -> Self:
        if (self.bandwidth is None) == (self.records is None):
            raise ValueError(
                "a regression needs bandwidth, or records, a public guess of how many there are, "
                "from which a small one follows; give one of the two"
            )
        return self

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        side = bounded_domain(table, self.x) if self.domain is None else self.domain.side
        return regression(
            table,
            x=self.x,
            y=self.y,
            domain=side,
            bandwidth=self.bandwidth,
            records=self.records,
            by=declared(by, self.statistic),
        )
