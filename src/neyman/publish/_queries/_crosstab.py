"""`statistic = "crosstab"`."""

from typing import ClassVar, Literal, final

from pydantic import Field

from neyman.aggregate import Aggregate
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.publish._crosstab import crosstab
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._section import ShareOf
from neyman.tables import Table

__all__ = ["CrosstabOf"]


@final
class CrosstabOf(Query):
    """A contingency table: counts of cells and margins that add up, none of them negative."""

    sentence: ClassVar[str] = (
        "a crosstab needs by, the NAME of [keys.NAME], and takes margins, lists of their columns"
    )
    example: ClassVar[str] = """\
by = "FILL IN: the NAME of [keys.NAME] with two columns or more"
margins = [["FILL IN: one of its columns"], []]
"""

    statistic: Literal["crosstab"]
    margins: list[list[str]] = Field(default=[])
    """Those shown beside the cells, each a list of columns to keep; [] for the total."""
    shares: list[ShareOf] | None = None
    """Of the cells and then of each margin, for noisy counts of their own; all for the cells."""
    whole: bool = True
    """Whether the counts are whole numbers; by default they are."""

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        cells = declared(by, self.statistic)
        if cells is None:
            raise InvalidParameter(
                "a crosstab was asked without by, and its cells are groups; write by, the NAME of "
                "[keys.NAME] with a list of values for each column"
            )
        return crosstab(table, cells, self.margins, shares=self.shares or (), whole=self.whole)
