"""`statistic = "linear_regression"`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, final

from pydantic import Field

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._linear import linear_regression
from neyman.publish._queries._query import Groups, Query
from neyman.tables import Table

__all__ = ["LinearRegressionOf"]


@final
class LinearRegressionOf(Query):
    """The least squares of a column on an intercept and other columns."""

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
