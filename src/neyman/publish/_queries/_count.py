"""`statistic = "count"`."""

from typing import ClassVar, Literal, final

from neyman.overriding import override
from neyman.publish._queries._part import Part, PartQuery
from neyman.tables import Count, Statistic, Table

__all__ = ["CountOf", "CountPart"]


class CountPart(Part):
    """What a count is of."""

    sentence: ClassVar[str] = "a count takes no column, it counts rows"

    statistic: Literal["count"]

    @override
    def made(self, table: Table) -> Statistic:  # noqa: ARG002
        return Count()


@final
class CountOf(CountPart, PartQuery):
    """How many rows there are, whatever they hold."""

    example: ClassVar[str] = ""
