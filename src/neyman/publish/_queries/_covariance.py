"""`statistic = "covariance"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, final

from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Covariance, Statistic, Table

__all__ = ["CovarianceOf", "CovariancePart"]


class CovariancePart(Part):
    """What a covariance is of."""

    sentence: ClassVar[str] = "a covariance needs two columns with bounds, x and y"

    statistic: Literal["covariance"]
    x: str
    """One column."""
    y: str
    """The other."""

    @property
    def bounds(self) -> Mapping[str, str]:
        """Those of both."""
        return {self.x: "", self.y: ""}

    def made(self, table: Table) -> Statistic:
        """Return it."""
        return Covariance(table.measured(self.x), table.measured(self.y))


@final
class CovarianceOf(CovariancePart, PartQuery):
    """The covariance of two columns, where both are known."""

    example: ClassVar[str] = """\
x = "FILL IN: a column with bounds"
y = "FILL IN: another column with bounds"
"""
