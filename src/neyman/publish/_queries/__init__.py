"""The statistics and functions that a spec can name, a class and a file each.

A new one is written as in `_query.py`, and becomes one more line of `AnyQuery`.
"""

from typing import Annotated, Final, TypeAlias, get_args

from pydantic import Field

from neyman.publish._queries._correlation import CorrelationOf
from neyman.publish._queries._count import CountOf
from neyman.publish._queries._count_units import CountUnitsOf
from neyman.publish._queries._covariance import CovarianceOf
from neyman.publish._queries._crosstab import CrosstabOf
from neyman.publish._queries._density import DensityOf
from neyman.publish._queries._linear_regression import LinearRegressionOf
from neyman.publish._queries._mean import MeanOf
from neyman.publish._queries._mean_per_unit import MeanPerUnitOf
from neyman.publish._queries._quantiles import QuantilesOf
from neyman.publish._queries._query import Query
from neyman.publish._queries._regression import RegressionOf
from neyman.publish._queries._several import SeveralOf
from neyman.publish._queries._sum import SumOf
from neyman.publish._queries._sum_per_unit import SumPerUnitOf
from neyman.publish._queries._survival import SurvivalOf
from neyman.publish._queries._variance import VarianceOf

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
