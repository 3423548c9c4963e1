"""`statistic = "survival"`."""

from typing import ClassVar, Literal, final

from neyman.aggregate import Aggregate
from neyman.overriding import override
from neyman.publish._functions import survival
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._section import Positive
from neyman.tables import Table

__all__ = ["SurvivalOf"]


@final
class SurvivalOf(Query):
    """The survival curve: how many have had no event after each time."""

    sentence: ClassVar[str] = (
        "survival needs the columns duration and observed, a horizon and a bandwidth"
    )
    example: ClassVar[str] = """\
duration = "FILL IN: a column of times"
observed = "FILL IN: the column that says whether the time ended with the event"
horizon = "FILL IN: the last time of interest"
bandwidth = "FILL IN: the least that shall be read, in the units of the times"
"""

    statistic: Literal["survival"]
    duration: str
    """The column of times from entry to event or censoring."""
    observed: str
    """The column that says whether the time ended with the event: true, or at least 1/2."""
    horizon: Positive
    """The last time of interest."""
    bandwidth: Positive
    """The least that shall be read, in the units of the times."""

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        return survival(
            table,
            duration=self.duration,
            observed=self.observed,
            horizon=self.horizon,
            bandwidth=self.bandwidth,
            by=declared(by, self.statistic),
        )
