"""`statistic = "sum"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import ColumnPart, PartQuery
from neyman.tables import Sum

__all__ = ["SumOf", "SumPart"]


class SumPart(ColumnPart):
    """What a sum is of."""

    sentence: ClassVar[str] = "a sum needs a column, and nothing else of the kind"
    of: ClassVar = Sum

    statistic: Literal["sum"]


@final
class SumOf(SumPart, PartQuery):
    """The sum of a column."""

    example: ClassVar[str] = 'column = "FILL IN: a column with bounds"'
