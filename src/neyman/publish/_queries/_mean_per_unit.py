"""`statistic = "mean_per_unit"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import ColumnPart, PartQuery
from neyman.tables import MeanPerUnit

__all__ = ["MeanPerUnitOf"]


@final
class MeanPerUnitOf(ColumnPart, PartQuery):
    """The mean over entities of the mean of each one's rows: no row is cut."""

    sentence: ClassVar[str] = "a mean per unit needs a column, and nothing else of the kind"
    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
    of: ClassVar = MeanPerUnit

    statistic: Literal["mean_per_unit"]
