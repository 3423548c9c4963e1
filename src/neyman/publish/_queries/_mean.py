"""`statistic = "mean"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import ColumnPart, PartQuery
from neyman.tables import Mean

__all__ = ["MeanOf", "MeanPart"]


class MeanPart(ColumnPart):
    """What a mean is of."""

    sentence: ClassVar[str] = "a mean needs a column, and nothing else of the kind"
    of: ClassVar = Mean

    statistic: Literal["mean"]


@final
class MeanOf(MeanPart, PartQuery):
    """The mean of a column, with the count that it rests on."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
