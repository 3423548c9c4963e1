"""`statistic = "correlation"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import PairPart, PartQuery
from neyman.tables import Correlation

__all__ = ["CorrelationOf", "CorrelationPart"]


class CorrelationPart(PairPart):
    """What a correlation is of."""

    sentence: ClassVar[str] = "a correlation needs two columns with bounds, x and y"
    of: ClassVar = Correlation

    statistic: Literal["correlation"]


@final
class CorrelationOf(CorrelationPart, PartQuery):
    """The correlation of two columns, where both are known."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""
