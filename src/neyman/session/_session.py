"""The session: questions about a table, its privacy unit, and the ledger that pays."""

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

# The delta at which a budget is also printed as epsilon.
_DELTA: Final = 1e-6
_NO_BOUNDS: Final[Mapping[str, tuple[Real, Real]]] = MappingProxyType({})


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Session(Displayed):
    """A table with its privacy unit and the ledger that pays. `neyman.open` makes it.

    Its methods make questions. Use `table` for statistics of your own, `ledger` for what was spent.

    Attributes:
        table: the rows, with the unit and the bounds.
        ledger: the ledger that pays; None if nothing can be released.
        releases: the releases of this session, and of sessions derived from it, by id, in order.
        complete: columns that are declared to have a value in every row.
    """

    table: Table
    ledger: Ledger | None
    releases: dict[str, Release] = field(default_factory=dict[str, Release], repr=False)
    complete: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        budget = "no ledger: questions can be previewed, but not released"
        if self.ledger is not None:
            cap, rest = self.ledger.cap, self.ledger.left().cost / self.ledger.capacity
            epsilon = at_most(cap.epsilon(_DELTA), 5)
            budget = (
                f"budget: {cap}, epsilon = {epsilon} at delta = 1e-6; {at_least(100 * rest, 4)} % "
                f"left, in {self.ledger.store}"
            )
        return f"{budget}\n{self.table}"

    @property
    def columns(self) -> dict[str, str]:
        """The columns and their types; for a CSV file, the declared ones.

        The first line of a CSV file may be a record, so its names are not shown.
        """
        return {column.name: column.kind for column in self.table.described.columns}

    @property
    def paying(self) -> Ledger:
        """The ledger.

        Raises:
            InvalidParameter: if the session has none.
        """
        if self.ledger is None:
            raise InvalidParameter(
                "a release needs a ledger that pays; this session has none. Open the session with "
                "one: "
                'ny.open(..., budget=ny.gdp(1), ledger="my.ledger")'
            )
        return self.ledger

    def keep(self, name: str, release: Release) -> Release:
        """Add a release to the report, and return it."""
        self.releases[name] = release
        return release

    def count(self, by: By = None) -> Question:
        """Count rows, of each group if `by` is given.

        Args:
            by: the groups, as for all questions: `{"ward": ["north", "south"]}` declares them,
                with `Bins` instead of a list for numbers and dates; the name of a column, or
                several, finds them in the data; or `Keys` or `UnknownKeys`.
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
        """Average over units the mean of each unit's rows; no row is dropped by a limit."""
        return self._of(self.table.mean_per_unit(column, groups_of(by)))

    def sum_per_unit(self, column: str, by: By = None, *, lower: Real, upper: Real) -> Question:
        """Add up a column; the total of each unit in a group is clipped to [lower, upper]."""
        found = self.table.sum_per_unit(column, groups_of(by), lower=lower, upper=upper)
        return self._of(found)

    def variance(self, column: str, by: By = None) -> Question:
        """Estimate variance, standard deviation and mean of a column together."""
        return self._of(self.table.variance(column, groups_of(by)))

    def covariance(self, x: str, y: str, by: By = None) -> Question:
        """Estimate the covariance of two columns, over rows that have both."""
        return self._of(self.table.covariance(x, y, groups_of(by)))

    def correlation(self, x: str, y: str, by: By = None) -> Question:
        """Estimate Pearson's correlation of two columns, over rows that have both."""
        return self._of(self.table.correlation(x, y, groups_of(by)))

    def several(
        self, parts: Sequence[Statistic], by: By = None, *, shares: Sequence[int] = ()
    ) -> Question:
        """Compute several statistics in one statement and one release, as `Table.statistics`."""
        return self._of(self.table.statistics(parts, groups_of(by), shares=shares))

    def quantiles(
        self, column: str, probabilities: Sequence[Real] = (0.25, 0.5, 0.75), by: By = None
    ) -> Question:
        """Estimate up to eight quantiles of a column; the fewer, the less noise each has."""
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
        """Count the cells of a contingency table, with margins that are sums of them."""
        from neyman.publish import crosstab

        cells = declared_groups(by)
        if cells is None:
            raise InvalidParameter(
                "a crosstab must have by, the values of each column; got none. Write "
                'by={"ward": [...], "sex": [...]}'
            )
        return self._of(crosstab(self.table, cells, margins, shares=shares, whole=whole))

    def linear_regression(self, response: str, features: Sequence[str], by: By = None) -> Question:
        """Fit a column by least squares to an intercept and other columns."""
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
        """Estimate the density of a column, a whole curve; or of two or three columns, a map.

        Args:
            column: its name; two or three names for a map.
            domain: the range of the values: (lower, upper), `Interval` or `Circle`, one for each
                column; by default the bounds. Two ends for one column count values outside
                separately, and for several columns move them to the nearer end.
            bandwidth: the smallest bandwidth of interest; either this or
            records: a public estimate of the number of rows, from which the release chooses its
                bandwidth.
            target: as for `functional.density`.
            by: declared groups.
        """
        from neyman.publish import density
        from neyman.session._functions import domain_of

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
        """Estimate the survival curve: the share without an event up to each time.

        Args:
            duration: the column of times from entry to event or censoring.
            observed: the column that is true where the time ended with the event. With several
                causes: the number of the cause, from 1; 0 where the time was censored.
            horizon: the last time of interest.
            bandwidth: the smallest bandwidth of interest, in the units of the times.
            causes: the number of causes of an event.
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
        """Estimate the mean of a column at every value of another, a whole curve.

        Args:
            x: the column on the horizontal axis.
            y: the column of responses, with bounds.
            domain: the range of x; by default its bounds.
            bandwidth: the smallest bandwidth of interest, in the units of x; either this or
            records: a public estimate of the number of rows.
            by: declared groups.
        """
        from neyman.publish import regression
        from neyman.session._functions import side_of

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
        """Return a session with the rows that satisfy a condition such as `"age >= 18"`."""
        return replace(self, table=self.table.where(condition))

    def with_columns(self, **expressions: Expression | str) -> "Session":
        """Return a session with computed columns, such as `stay="discharged - admitted"`."""
        table, kept = self.table.with_columns(**expressions), self.complete - set(expressions)
        return replace(self, table=table, complete=kept)

    def with_bounds(self, bounds: Ranges, *, complete: Sequence[str] = ()) -> "Session":
        """Return a session with bounds for more columns, or with other bounds.

        Args:
            bounds: as for `neyman.open`.
            complete: as for `neyman.open`, in addition to those already declared.
        """
        table = self.table.with_bounds(bounds_of(bounds, self.table))
        return replace(self, table=table, complete=self.complete | complete_of(complete, table))

    def bounded(
        self, max_rows: int | None = None, max_rows_per_group: int | None = None
    ) -> "Session":
        """Return a session with other contribution limits, as for `Table.bounded`."""
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
        """Return a session with another private table joined, as for `Table.join`."""
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
        """Return a session with a public table joined, as for `Table.join_public`."""
        joined = self.table.join_public(table, on=on, how=how, columns=columns)
        return replace(self, table=joined).with_bounds(bounds)

    def plan(
        self,
        questions: Mapping[str, Question],
        *,
        weights: Mapping[str, Real] = MappingProxyType({}),
        share: Real = 1,
    ) -> "Planned":
        """Divide the ledger's total budget, or a share of it, among questions.

        The parts add up to the share exactly. They do not depend on what was spent before, so
        releasing the same plan again is free.

        Args:
            questions: the questions, by the ids of their releases.
            weights: the weight of each question, by id; 1 by default, which gives equal parts.
            share: the share of the total budget, in (0, 1].

        Raises:
            InvalidParameter: if a weight or the share cannot be used, or there is no ledger.
        """
        from neyman.session._plan import planned

        return planned(self, questions, weights=weights, share=share)

    def report(
        self, path: str | Path, *, title: str, presentation: "Presentation | None" = None
    ) -> Path:
        """Write a report of all releases of this session: one HTML file that needs no network.

        Args:
            path: the file to write; an existing page is replaced, any other file is not.
            title: the title of the page.
            presentation: subtitles, units, notes and the like, such as
                `ny.publish.Presentation(units={"wait": "minutes"})`. It changes no question.

        Returns:
            The path.

        Raises:
            InvalidParameter: if nothing has been released, the path cannot be written to, or the
                presentation names unknown ids or columns.
            MissingExtra: if matplotlib is not installed.
        """
        if not self.releases:
            raise InvalidParameter(
                "a report needs a release; this session has none. Release something first; answers "
                "that the ledger has are free"
            )
        # Drawing takes as long to import as everything else.
        from neyman.session._page import write_page

        return write_page(Path(path), self.publication(title, presentation))

    def publication(self, title: str, presentation: "Presentation | None" = None) -> "Publication":
        """Return all releases of this session, with the state of its ledger.

        Raises:
            InvalidParameter: as for `report`.
        """
        from neyman.publish import Presentation, Publication

        words = presentation or Presentation()
        words.check(self.releases, self.columns)
        return Publication.of(self.paying, title, self.releases, words)

    def _of(self, aggregate: Aggregate) -> Question:
        return Question(aggregate, self)
