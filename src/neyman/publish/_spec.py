"""The spec: which statistics of which table are released, and for what."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Self, cast

from pydantic import Field, model_validator

from neyman.accounting import cap_of
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, InvalidTable
from neyman.printable import printable
from neyman.publish._data import Column, Data, JoinOf, PublicJoinOf, UnitOf
from neyman.publish._groups import Domain, UnknownOf
from neyman.publish._presentation import SEVERAL, Language, Presentation
from neyman.publish._queries import AnyQuery, Query
from neyman.publish._queries._query import SuppressionOf
from neyman.publish._section import Delta, Form, Positive, Section

__all__ = ["Budget", "PageOf", "Spec"]


class Budget(Section):
    """The ledger and its cap."""

    ledger: str
    """The ledger's file, relative to the spec; or the URL of a PostgreSQL server."""
    mu: Positive | None = None
    """All that it may ever spend, in Gaussian differential privacy."""
    epsilon: Positive | None = None
    """All that it may ever spend, in place of mu; with delta or alone."""
    delta: Delta | None = None
    """With epsilon; without it, epsilon is pure and only Laplace noise and the like is charged."""
    delta_aside: Delta | None = None
    """For tails and unknown groups: beside mu; or a part of delta, a tenth if it is left out."""

    @model_validator(mode="after")
    def _one_cap(self) -> Self:
        if (self.mu is None) == (self.epsilon is None):
            raise ValueError("the cap is mu, epsilon, or epsilon and delta; give one of the three")
        if self.mu is not None and self.delta is not None:
            raise ValueError("delta goes with epsilon; delete it, or write epsilon in place of mu")
        return self

    @model_validator(mode="after")
    def _part_of_delta(self) -> Self:
        apart, whole = self.delta_aside, self.delta
        if apart is not None and self.epsilon is not None and (whole is None or apart > whole):
            raise ValueError(
                "delta_aside is a part of the delta that goes with epsilon; write delta, at "
                "least as large: an equal one leaves epsilon to spend, for Laplace noise, a larger "
                "one mu^2, for Gaussian noise"
            )
        return self

    def build(self) -> TradeOff:
        """Return the cap, the most that the ledger spends."""
        made = cap_of(
            mu=self.mu,
            epsilon=self.epsilon,
            delta=self.delta,
            delta_aside=self.delta_aside,
        )
        # One of mu and epsilon is there.
        return cast("TradeOff", made)


class PageOf(Section):
    """What is said of the whole page. No question has a part in it: it can change at any time."""

    subtitle: str | None = None
    """Below the title."""
    notes: list[str] = Field(default=[])
    """Sentences above all answers."""
    contact: str | None = None
    """Who answers questions."""
    data_date: str | date | None = None
    """The day that the data are of, as a date or in words."""
    language: Language = "en"
    """Of the page."""
    suppress: SuppressionOf | None = None
    """What is left out of every answer whose query says nothing else."""


class Spec(Section):
    """What to release. Keys are named in `[keys.NAME]`, a list of values for each column."""

    title: str = "Private statistics"
    """Of the page."""
    page: PageOf = PageOf()
    """What else is said of the page."""
    data: Data
    """Where the table lies."""
    unit: UnitOf
    """Who is protected."""
    join: dict[str, JoinOf] = Field(default={})
    """[join.NAME]: private tables that name the same entity, joined in order."""
    join_public: dict[str, PublicJoinOf] = Field(default={})
    """[join_public.NAME]: public tables with one row a key, joined in order after the private."""
    derive: dict[str, Form] = Field(default={})
    """[derive]: columns made of others, such as stay = "discharged - admitted"."""
    columns: dict[str, Column] = Field(default={})
    """[columns.NAME]: public bounds of a column, and the words it is shown with."""
    keys: dict[str, dict[str, Domain]] = Field(default={})
    """[keys.NAME]: groups, declared by a list of values, or by bins, for each column; or by
    { values = [...], missing = "name", other = "name" }, with groups for all other rows."""
    unknown: dict[str, UnknownOf] = Field(default={})
    """[unknown.NAME]: groups that nobody declared."""
    budget: Budget
    """The ledger and its cap."""
    query: Annotated[list[AnyQuery], Field(min_length=1)]
    """[[query]]: what is asked, one statistic or function each."""

    @property
    def presentation(self) -> Presentation:
        """How the answers are presented."""
        page, columns = self.page, self.columns.items()
        return Presentation(
            subtitle=page.subtitle,
            notes=page.notes,
            contact=page.contact,
            data_date=page.data_date,
            language=page.language,
            suppress=None if page.suppress is None else page.suppress.build(),
            labels={name: column.label for name, column in columns if column.label is not None},
            values={name: column.values for name, column in columns if column.values},
            units={name: column.unit for name, column in columns if column.unit is not None},
            answers={query.entry: query.display for query in self.query},
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = list(dict.fromkeys(self._mistakes()))
        if found:
            # Told one by one where the spec is read.
            raise ValueError("\n".join(found))
        return self

    def _mistakes(self) -> Iterator[str]:
        """Tell all that does not go together."""
        yield from self._entries()
        for name in self.unknown:
            if name in self.keys:
                shown = printable(name)
                yield (
                    f"[unknown.{shown}] and [keys.{shown}] have one name; give one of them another"
                )
        yield from self._joins()
        for name, column in self.columns.items():
            try:
                _ = column.bounds
            except (InvalidParameter, InvalidTable) as error:
                yield f"columns.{printable(name)}: {error}"
        bounded = [name for name, column in self.columns.items() if column.grid is not None]
        for query in self.query:
            yield from self._groups(query)
            yield from self._one_number(query)
            if self.unit.rows and query.limited:
                yield (
                    f"query {query.entry!r} limits rows of an entity, and with rows = true each "
                    "row is one unit; delete the limits"
                )
            for column, instead in query.bounds.items():
                # Of a column that is made the table tells whether it is one of true and false.
                if column not in bounded and column not in self.derive:
                    yield self.no_bounds(query, column, instead)

    def no_bounds(self, query: Query, column: str, instead: str) -> str:
        """Say that a query needs bounds of a column, and what may be written in their place."""
        bounded = [name for name, column in self.columns.items() if column.grid is not None]
        near = get_close_matches(column, bounded, n=1)
        meant = f"{near[0]!r}, or " if near and column not in self.derive else ""
        return (
            f"query {query.entry!r} needs bounds of {column!r}; write {meant}"
            f"[columns.{printable(column)}] with lower, upper and grid{instead}"
        )

    def _joins(self) -> Iterator[str]:
        """Find the private joins that public ones come before."""
        for name, join in self.join_public.items():
            if join.before is not None and join.before not in self.join:
                known = printable(", ".join(self.join)) or "none"
                yield (
                    f"join_public.{printable(name)} has before = {join.before!r}, and the private "
                    f"joins are {known}; write the NAME of one [join.NAME], or leave it out"
                )

    def _groups(self, query: Query) -> Iterator[str]:
        """Find the groups of a query, and a delta where nobody declared them."""
        by, asked = query.by, f"query {query.entry!r}"
        if by is not None and by not in self.keys and by not in self.unknown:
            known = printable(", ".join([*self.keys, *self.unknown])) or "none"
            name = printable(by)
            yield (
                f"{asked} has by = {by!r}, and the key sets are {known}; write [keys.{name}] with "
                f"a list of values for each column, or [unknown.{name}] with columns"
            )
        if by not in self.unknown:
            if query.delta is not None:
                yield (
                    f"{asked} has a delta, which only groups that nobody declared cost; delete it, "
                    "or write by, the name of an [unknown.NAME]"
                )
        elif query.delta is None:
            yield (
                f"{asked} finds its groups, and somebody's own may be shown with probability delta "
                "at most; write delta, such as 1e-8, a part of delta_aside in [budget]"
            )
        elif self.budget.delta_aside is None and self.budget.delta is None:
            yield (
                f"{asked} finds its groups, and the ledger sets no delta aside for that; write "
                "delta_aside, such as 1e-6, in [budget]"
            )

    def _one_number(self, query: Query) -> Iterator[str]:
        """Find words for one number where there are several."""
        key = query.display.of_one_number
        if key is not None and query.statistic_name in ("several", "linear_regression"):
            yield f"query {query.entry!r} has {key}{SEVERAL}"

    def _entries(self) -> Iterator[str]:
        entries = Counter(query.entry for query in self.query)
        alone = {query.entry for query in self.query if query.batch is None}
        for query in self.query:
            if entries[query.entry] > 1:
                yield f"entry {query.entry!r} stands twice; give each query its own id"
            if query.batch in alone:
                yield (
                    f"batch {query.batch!r} of query {query.entry!r} is the entry of another "
                    "query; give the batch an id of its own"
                )
