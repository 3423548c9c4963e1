"""The spec: the table, the statistics to release, and the budget."""

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
from neyman.publish._presentation import Language, Presentation, several_numbers
from neyman.publish._queries import AnyQuery, Query
from neyman.publish._queries._query import SuppressionOf
from neyman.publish._section import Delta, Form, Positive, Section

__all__ = ["Budget", "PageOf", "Spec"]


class Budget(Section):
    """The ledger and its total budget."""

    ledger: str
    """The ledger's file, relative to the spec; or the URL of a PostgreSQL server."""
    mu: Positive | None = None
    """The total budget, in Gaussian differential privacy."""
    epsilon: Positive | None = None
    """The total budget, instead of mu; with delta or alone."""
    delta: Delta | None = None
    """With epsilon. Without delta, epsilon is pure, for Laplace noise and the like."""
    delta_aside: Delta | None = None
    """Delta for tails and undeclared groups: beside mu; or a part of delta, by default a tenth."""

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
        """Return the total budget."""
        made = cap_of(
            mu=self.mu,
            epsilon=self.epsilon,
            delta=self.delta,
            delta_aside=self.delta_aside,
        )
        # The validator guarantees one of mu and epsilon.
        return cast("TradeOff", made)


class PageOf(Section):
    """The presentation of the page. It changes no question, so it can change at any time."""

    subtitle: str | None = None
    """The subtitle."""
    notes: list[str] = Field(default=[])
    """Sentences at the top of the page."""
    contact: str | None = None
    """Whom to ask about the page."""
    data_date: str | date | None = None
    """The date of the data, as a date or in words."""
    language: Language = "en"
    """The language of the page."""
    suppress: SuppressionOf | None = None
    """The rule that suppresses rows of all answers, unless a query has its own."""


class Spec(Section):
    """A spec: what to release. `[keys.NAME]` declares groups, a list of values for each column."""

    title: str = "Private statistics"
    """The title of the page."""
    page: PageOf = PageOf()
    """The presentation of the page."""
    data: Data
    """The files of the table."""
    unit: UnitOf
    """The privacy unit."""
    join: dict[str, JoinOf] = Field(default={})
    """[join.NAME]: private tables that name the same entity, joined in order."""
    join_public: dict[str, PublicJoinOf] = Field(default={})
    """[join_public.NAME]: public tables with one row for each key, joined after private ones."""
    derive: dict[str, Form] = Field(default={})
    """[derive]: computed columns, such as stay = "discharged - admitted"."""
    columns: dict[str, Column] = Field(default={})
    """[columns.NAME]: the public bounds and the labels of a column."""
    keys: dict[str, dict[str, Domain]] = Field(default={})
    """[keys.NAME]: declared groups: a list of values, or bins, for each column; or
    { values = [...], missing = "name", other = "name" }, with groups for all other rows."""
    unknown: dict[str, UnknownOf] = Field(default={})
    """[unknown.NAME]: undeclared groups, to be found in the data."""
    budget: Budget
    """The ledger and its total budget."""
    query: Annotated[list[AnyQuery], Field(min_length=1)]
    """[[query]]: the statistics and functions to release."""

    @property
    def presentation(self) -> Presentation:
        """The presentation of the answers."""
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
            # `read_spec` lists them one by one.
            raise ValueError("\n".join(found))
        return self

    def _mistakes(self) -> Iterator[str]:
        """Yield every contradiction in the spec."""
        yield from self._entries()
        for name in self.unknown:
            if name in self.keys:
                shown = printable(name)
                yield (
                    f"[unknown.{shown}] and [keys.{shown}] have the same name; rename one of them"
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
                    f"query {query.entry!r} limits rows of an entity, but with rows = true each "
                    "row is a unit; delete the limits"
                )
            for column, instead in query.bounds.items():
                # Only the table shows whether a computed column is boolean, which needs no bounds.
                if column not in bounded and column not in self.derive:
                    yield self.no_bounds(query, column, instead)

    def no_bounds(self, query: Query, column: str, instead: str) -> str:
        """Return a message that a query needs bounds of a column, with what to write."""
        bounded = [name for name, column in self.columns.items() if column.grid is not None]
        near = get_close_matches(column, bounded, n=1)
        meant = f"{near[0]!r}, or " if near and column not in self.derive else ""
        return (
            f"query {query.entry!r} needs bounds of {column!r}; write {meant}"
            f"[columns.{printable(column)}] with lower, upper and grid{instead}"
        )

    def _joins(self) -> Iterator[str]:
        """Yield public joins that name an unknown private join."""
        for name, join in self.join_public.items():
            if join.before is not None and join.before not in self.join:
                known = printable(", ".join(self.join)) or "none"
                yield (
                    f"join_public.{printable(name)}.before must be the NAME of a [join.NAME]; got "
                    f"{join.before!r}. Write one of {known}, or leave it out"
                )

    def _groups(self, query: Query) -> Iterator[str]:
        """Yield mistakes in the groups of a query, and in its delta."""
        by, where = query.by, f"query {query.entry!r}"
        if by is not None and by not in self.keys and by not in self.unknown:
            known = printable(", ".join([*self.keys, *self.unknown])) or "none"
            name = printable(by)
            yield (
                f"{where}: by must name groups of the spec, which are {known}; got {by!r}; write "
                f"[keys.{name}] with a list of values for each column, or [unknown.{name}] with "
                "columns"
            )
        if by not in self.unknown:
            if query.delta is not None:
                yield (
                    f"{where}: delta is for undeclared groups, and this query has none; delete "
                    "it, or write by, the name of an [unknown.NAME]"
                )
        elif query.delta is None:
            yield (
                f"{where}: undeclared groups need delta, the probability that a group with a "
                "single unit appears; write delta, such as 1e-8, a part of delta_aside in [budget]"
            )
        elif self.budget.delta_aside is None and self.budget.delta is None:
            yield (
                f"{where}: undeclared groups need delta_aside, and [budget] has none; write "
                "delta_aside, such as 1e-6, in [budget]"
            )

    def _one_number(self, query: Query) -> Iterator[str]:
        """Yield labels for one number in a query with several."""
        key = query.display.of_one_number
        if key is not None and query.statistic_name in ("several", "linear_regression"):
            yield f"query {query.entry!r}: {several_numbers(key, query.entry)}"

    def _entries(self) -> Iterator[str]:
        entries = Counter(query.entry for query in self.query)
        alone = {query.entry for query in self.query if query.batch is None}
        for query in self.query:
            if entries[query.entry] > 1:
                yield f"entry {query.entry!r} is used twice; give each query its own id"
            if query.batch in alone:
                yield (
                    f"batch {query.batch!r} of query {query.entry!r} is the entry of another "
                    "query; give the batch an id of its own"
                )
