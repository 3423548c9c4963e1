"""A table, whom it protects, and the ledger that pays for what is released of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, final

from neyman.aggregate import Aggregate
from neyman.calls import plain_calls_of
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.ledger import Ledger
from neyman.numerics import Real, at_least, at_most
from neyman.released import Release
from neyman.session._declared import (
    By,
    Ranges,
    bounds_of,
    complete_of,
    declared_groups,
    groups_of,
)
from neyman.session._question import Question
from neyman.tables import Expression, How, On, Statistic, Table, Taken

if TYPE_CHECKING:
    from neyman.functional import Domain, Side, Target
    from neyman.publish import Presentation, Publication
    from neyman.session._plan import Planned

__all__ = ["Session"]

# At which a budget is told in epsilon, beside its own words.
_DELTA: Final = 1e-6
_NO_BOUNDS: Final[Mapping[str, tuple[Real, Real]]] = MappingProxyType({})


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Session(Displayed):
    """A table, whom it protects, and the ledger that pays: everything is asked here.

    Made by `neyman.open`. What it is made of stays public: `table` takes statistics of your own,
    `ledger` tells what was spent.

    Attributes:
        table: the rows, with the unit and bounds.
        ledger: that pays; None where nothing can be released.
        releases: what this session released, by id, in order; also what a session made of it did.
        complete: columns that somebody declared to have a value in every row.
    """

    table: Table
    ledger: Ledger | None
    releases: dict[str, Release] = field(default_factory=dict[str, Release], repr=False)
    complete: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        paid = "no ledger: questions can be previewed, and not released"
        if self.ledger is not None:
            cap, rest = self.ledger.cap, self.ledger.left().cost / self.ledger.capacity
            epsilon = at_most(cap.epsilon(_DELTA), 5)
            paid = (
                f"budget: {cap}, epsilon = {epsilon} at delta = 1e-6; {at_least(100 * rest, 4)} % "
                f"left, in {self.ledger.store}"
            )
        return f"{paid}\n{self.table}"

    @property
    def columns(self) -> dict[str, str]:
        """The columns and their types; of a CSV file those that were declared.

        The first line of such a file may be a record.
        """
        return {column.name: column.kind for column in self.table.described.columns}

    @property
    def paying(self) -> Ledger:
        """The ledger.

        Raises:
            InvalidParameter: if there is none.
        """
        if self.ledger is None:
            raise InvalidParameter(
                "a release needs a ledger that pays; this session has none. Open it with both: "
                'ny.open(..., budget=ny.gdp(1), ledger="my.ledger")'
            )
        return self.ledger

    def keep(self, name: str, release: Release) -> Release:
        """Remember a release for the report, and return it."""
        self.releases[name] = release
        return release

    def count(self, by: By = None) -> Question:
        """Count rows, of each group if `by` is given.

        Args:
            by: of all questions: `{"ward": ["north", "south"]}` for declared groups, with `Bins`
                in a list's place for numbers and dates; a column's name alone, or several, for
                groups that nobody declared; `Keys` or `UnknownKeys`.
        """
        return self._of(self.table.count(groups_of(by)))

    def count_units(self, by: By = None) -> Question:
        """Count distinct units, of each group if `by` is given."""
        return self._of(self.table.count_units(groups_of(by)))

    def sum(self, column: str, by: By = None) -> Question:
        """Add up a column within its bounds; NULL and NaN add nothing."""
        return self._of(self.table.sum(column, groups_of(by)))

    def mean(self, column: str, by: By = None) -> Question:
        """Average a column within its bounds."""
        return self._of(self.table.mean(column, groups_of(by)))

    def mean_per_unit(self, column: str, by: By = None) -> Question:
        """Average a column over units, of each the mean of all its rows: no row is cut."""
        return self._of(self.table.mean_per_unit(column, groups_of(by)))

    def sum_per_unit(self, column: str, by: By = None, *, lower: Real, upper: Real) -> Question:
        """Add up a column, the total of each unit in a group moved to [lower, upper]."""
        found = self.table.sum_per_unit(column, groups_of(by), lower=lower, upper=upper)
        return self._of(found)

    def variance(self, column: str, by: By = None) -> Question:
        """Ask for variance, standard deviation and mean of a column, jointly."""
        return self._of(self.table.variance(column, groups_of(by)))

    def covariance(self, x: str, y: str, by: By = None) -> Question:
        """Ask for the covariance of two columns, where both are known."""
        return self._of(self.table.covariance(x, y, groups_of(by)))

    def correlation(self, x: str, y: str, by: By = None) -> Question:
        """Ask for Pearson's correlation of two columns, where both are known."""
        return self._of(self.table.correlation(x, y, groups_of(by)))

    def several(
        self, parts: Sequence[Statistic], by: By = None, *, shares: Sequence[int] = ()
    ) -> Question:
        """Ask for several statistics in one statement and one release, as `Table.statistics`."""
        return self._of(self.table.statistics(parts, groups_of(by), shares=shares))

    def quantiles(
        self, column: str, probabilities: Sequence[Real] = (0.25, 0.5, 0.75), by: By = None
    ) -> Question:
        """Ask for quantiles of a column; of up to eight, the fewer the less noise each has."""
        from neyman.publish import quantiles

        return self._of(quantiles(self.table, column, probabilities, by=declared_groups(by)))

    def crosstab(
        self,
        by: By,
        margins: Sequence[Sequence[str]] = (),
        *,
        shares: Sequence[int] = (),
        whole: bool = True,
    ) -> Question:
        """Ask for a contingency table: counts of cells, and margins that are sums of them."""
        from neyman.publish import crosstab

        cells = declared_groups(by)
        if cells is None:
            raise InvalidParameter(
                "a crosstab needs by, the values of each column; got none. Write "
                'by={"ward": [...], "sex": [...]}'
            )
        return self._of(crosstab(self.table, cells, margins, shares=shares, whole=whole))

    def linear_regression(self, response: str, features: Sequence[str], by: By = None) -> Question:
        """Ask for the least squares of a column on an intercept and other columns."""
        from neyman.publish import linear_regression

        return self._of(linear_regression(self.table, response, features, groups_of(by)))

    def density(
        self,
        column: str | Sequence[str],
        *,
        domain: "Domain | Sequence[object] | None" = None,
        bandwidth: Real | Sequence[Real] | None = None,
        records: int | None = None,
        target: "Target | None" = None,
        by: By = None,
    ) -> Question:
        """Ask for the density of a column, a whole curve; of two or three columns, a map.

        Args:
            column: its name; two or three for a map.
            domain: where values lie: (lower, upper), whose ends values outside are moved to,
                `Interval` or `Circle`, one for each column; by default within the bounds.
            bandwidth: the least that shall be read; either this or
            records: about how many rows there are, a public guess, from which the release then
                chooses its bandwidth.
            target: as for `functional.density`.
            by: declared groups.
        """
        from neyman.publish import density
        from neyman.session._domains import domain_of

        found = density(
            self.table,
            column,
            domain=domain_of(domain),
            bandwidth=bandwidth,
            records=records,
            target=target,
            by=declared_groups(by),
        )
        return self._of(found)

    def survival(
        self,
        duration: str,
        observed: str,
        *,
        horizon: Real,
        bandwidth: Real,
        causes: int = 1,
        by: By = None,
    ) -> Question:
        """Ask for the survival curve: how many have had no event after each time.

        Args:
            duration: the column of times from entry to event or censoring.
            observed: the column that says whether the time ended with the event; of several causes
                0, or the number of the cause from 1 on.
            horizon: the last time of interest.
            bandwidth: the least that shall be read, in the units of the times.
            causes: how many causes an event can have.
            by: declared groups.
        """
        from neyman.publish import survival

        found = survival(
            self.table,
            duration=duration,
            observed=observed,
            horizon=horizon,
            bandwidth=bandwidth,
            causes=causes,
            by=declared_groups(by),
        )
        return self._of(found)

    def regression(
        self,
        x: str,
        y: str,
        *,
        domain: "Side | Sequence[object] | None" = None,
        bandwidth: Real | None = None,
        records: int | None = None,
        by: By = None,
    ) -> Question:
        """Ask for the mean of a column at every value of another, a whole curve.

        Args:
            x: the column that the curve is over.
            y: the column of responses, with bounds.
            domain: where x lies; by default within its bounds.
            bandwidth: the least that shall be read, in the units of x; either this or
            records: about how many rows there are, a public guess.
            by: declared groups.
        """
        from neyman.publish import regression
        from neyman.session._domains import side_of

        found = regression(
            self.table,
            x=x,
            y=y,
            domain=side_of(domain),
            bandwidth=bandwidth,
            records=records,
            by=declared_groups(by),
        )
        return self._of(found)

    def where(self, condition: Expression | str) -> "Session":
        """Return a session about the rows for which a condition is true: `"age >= 18"`."""
        return replace(self, table=self.table.where(condition))

    def with_columns(self, **expressions: Expression | str) -> "Session":
        """Return a session with columns made of others: `stay="discharged - admitted"`."""
        table, kept = self.table.with_columns(**expressions), self.complete - set(expressions)
        return replace(self, table=table, complete=kept)

    def with_bounds(self, bounds: Ranges, *, complete: Sequence[str] = ()) -> "Session":
        """Return a session with bounds of more columns, or with other ones.

        Args:
            bounds: as for `neyman.open`.
            complete: as for `neyman.open`; beside those that are declared already.
        """
        table = self.table.with_bounds(bounds_of(bounds, self.table))
        return replace(self, table=table, complete=self.complete | complete_of(complete, table))

    def bounded(
        self, max_rows: int | None = None, max_rows_per_group: int | None = None
    ) -> "Session":
        """Return a session with other contribution limits, as `Table.bounded`."""
        return replace(self, table=self.table.bounded(max_rows, max_rows_per_group))

    def join(
        self,
        source: object,
        *,
        on: On,
        how: How,
        columns: Taken = None,
        bounds: Ranges = _NO_BOUNDS,
        name: str | None = None,
    ) -> "Session":
        """Return a session with the rows of another private table joined, as `Table.join`."""
        table = self.table.join(source, on=on, how=how, columns=columns, name=name)
        return replace(self, table=table).with_bounds(bounds)

    def join_public(
        self,
        table: object,
        *,
        on: On,
        how: How,
        columns: Taken = None,
        bounds: Ranges = _NO_BOUNDS,
    ) -> "Session":
        """Return a session with a public table joined, as `Table.join_public`."""
        joined = self.table.join_public(table, on=on, how=how, columns=columns)
        return replace(self, table=joined).with_bounds(bounds)

    def plan(
        self,
        questions: Mapping[str, Question],
        *,
        weights: Mapping[str, Real] = MappingProxyType({}),
        share: Real = 1,
    ) -> "Planned":
        """Divide the ledger's whole budget, or a share of it, over questions.

        The parts add up to the share exactly. They do not depend on what was spent before, so that
        the same plan asked again is free.

        Args:
            questions: by the ids of their releases.
            weights: of each, by id; 1 where none is given, so equal parts by default.
            share: of the whole budget, in (0, 1].

        Raises:
            InvalidParameter: if a weight or the share is unusable, or there is no ledger.
        """
        from neyman.session._plan import planned

        return planned(self, questions, weights=weights, share=share)

    def report(
        self, path: str | Path, *, title: str, presentation: "Presentation | None" = None
    ) -> Path:
        """Write the page of all that this session released, one HTML file that needs no network.

        Args:
            path: where; a page that lies there is replaced, any other file is not.
            title: of the page.
            presentation: all else that is said of it and of its answers, such as
                `ny.publish.Presentation(units={"wait": "minutes"})`. No question has a part in it.

        Returns:
            The path.

        Raises:
            InvalidParameter: if nothing was released yet, the path cannot be written to, or the
                presentation is of ids or columns that are not there.
            MissingExtra: if matplotlib is not installed.
        """
        if not self.releases:
            raise InvalidParameter(
                "a report shows what this session released; nothing was yet. Release something "
                "first; what the ledger holds already is free"
            )
        # Drawing takes as long to load as all the rest.
        from neyman.session._page import write_page

        return write_page(Path(path), self.publication(title, presentation))

    def publication(self, title: str, presentation: "Presentation | None" = None) -> "Publication":
        """Return all that this session released, and the state of its ledger.

        Raises:
            InvalidParameter: as `report`.
        """
        from neyman.publish import Presentation, Publication

        shown = presentation or Presentation()
        shown.check(self.releases, self.columns)
        return Publication.of(self.paying, title, self.releases, shown)

    def _of(self, aggregate: Aggregate) -> Question:
        return Question(aggregate, self)
