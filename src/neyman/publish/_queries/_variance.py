"""`statistic = "variance"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import ColumnPart, PartQuery
from neyman.tables import Variance

__all__ = ["VarianceOf", "VariancePart"]


class VariancePart(ColumnPart):
    """What a variance is of."""

    sentence: ClassVar[str] = "a variance needs a column, and nothing else of the kind"
    of: ClassVar = Variance

    statistic: Literal["variance"]


@final
class VarianceOf(VariancePart, PartQuery):
    """The variance, standard deviation and mean of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
