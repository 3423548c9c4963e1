"""`statistic = "covariance"`."""

from typing import ClassVar, Literal, final

from neyman.publish._queries._part import PairPart, PartQuery
from neyman.tables import Covariance

__all__ = ["CovarianceOf", "CovariancePart"]


class CovariancePart(PairPart):
    """What a covariance is of."""

    sentence: ClassVar[str] = "a covariance needs two columns with bounds, x and y"
    of: ClassVar = Covariance

    statistic: Literal["covariance"]


@final
class CovarianceOf(CovariancePart, PartQuery):
    """The covariance of two columns, where both are known."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""
