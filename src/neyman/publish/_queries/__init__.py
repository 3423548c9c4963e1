"""The statistics and functions that a spec can name, a class each.

A new one is written as in `_query.py`, and becomes one more line of `AnyQuery`.
"""

from typing import Annotated, Final, TypeAlias, get_args

from pydantic import Field

from neyman.publish._queries._functions import DensityOf, QuantilesOf, RegressionOf, SurvivalOf
from neyman.publish._queries._query import Query
from neyman.publish._queries._statistics import (
    CorrelationOf,
    CountOf,
    CountUnitsOf,
    CovarianceOf,
    CrosstabOf,
    LinearRegressionOf,
    MeanOf,
    MeanPerUnitOf,
    SeveralOf,
    SumOf,
    SumPerUnitOf,
    VarianceOf,
)

__all__ = ["QUERIES", "AnyQuery", "Query"]

_Queries: TypeAlias = (
    CountOf
    | CountUnitsOf
    | SumOf
    | MeanOf
    | MeanPerUnitOf
    | SumPerUnitOf
    | VarianceOf
    | CovarianceOf
    | CorrelationOf
    | SeveralOf
    | LinearRegressionOf
    | CrosstabOf
    | QuantilesOf
    | DensityOf
    | SurvivalOf
    | RegressionOf
)

AnyQuery = Annotated[_Queries, Field(discriminator="statistic")]

QUERIES: Final[dict[str, type[Query]]] = {
    get_args(kind.model_fields["statistic"].annotation)[0]: kind for kind in get_args(_Queries)
}
