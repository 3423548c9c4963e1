"""`statistic = "density"`."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self, final

from pydantic import model_validator

from neyman.aggregate import Aggregate
from neyman.functional import Box, Domain
from neyman.overriding import override
from neyman.publish._domain_of import DomainOf
from neyman.publish._functions import bounded_domain, density
from neyman.publish._queries._query import Groups, Query, declared
from neyman.publish._section import Count, OneOrMore, Positive
from neyman.tables import Table

__all__ = ["DensityOf"]


@final
class DensityOf(Query):
    """The density of a column, a whole curve; of two or three columns, a map."""

    sentence: ClassVar[str] = (
        "a density needs a column, or a list of two or three, and takes domain, "
        "and bandwidth or records"
    )
    example: ClassVar[str] = """\
column = "FILL IN: a column"
domain = { lower = "FILL IN: its lower end", upper = "FILL IN: its upper end", outside = "clip" }
records = "FILL IN: about how many rows there are, known in public"
"""

    statistic: Literal["density"]
    column: OneOrMore[str]
    """Whose values; two or three columns for a map."""
    domain: OneOrMore[DomainOf] | None = None
    """Where they lie, one for each column; by default within the bounds in [columns]."""
    bandwidth: OneOrMore[Positive] | None = None
    """The least that shall be read, in the column's units; one for each column."""
    records: Count | None = None
    """In place of bandwidth, then chosen from the release: about how many rows, known in public."""

    @property
    @override
    def bounds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.column if self.domain is None else (), ", or domain in the query")

    @model_validator(mode="after")
    def _one_for_each(self) -> Self:
        if (self.bandwidth is None) == (self.records is None):
            raise ValueError(
                "a density needs records, a public guess of how many there are, and then chooses "
                "its bandwidth; or bandwidth, the least that shall be read; give one of the two"
            )
        for name, given in (("domain", self.domain), ("bandwidth", self.bandwidth)):
            if given is not None and len(given) != len(self.column):
                raise ValueError(
                    f"{name} holds {len(given)} for {len(self.column)} columns; give one for each"
                )
        return self

    @override
    def ask(self, table: Table, by: Groups) -> Aggregate:
        line = len(self.column) == 1
        return density(
            table,
            self.column[0] if line else self.column,
            domain=self._domain(table),
            bandwidth=self.bandwidth[0] if line and self.bandwidth else self.bandwidth,
            records=self.records,
            by=declared(by, self.statistic),
        )

    def _domain(self, table: Table) -> Domain:
        if self.domain is None:
            sides = [bounded_domain(table, column) for column in self.column]
        else:
            sides = [declared.side for declared in self.domain]
        return sides[0] if len(sides) == 1 else Box(*sides)
