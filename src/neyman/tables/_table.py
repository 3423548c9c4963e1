"""A table with its unit and bounds, and the questions about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, final

from neyman.aggregate import Aggregate, Countable
from neyman.arguments import check_list
from neyman.displayed import Displayed
from neyman.errors import InvalidTable
from neyman.numerics import Real
from neyman.tables._asked import Groups, asked
from neyman.tables._bounds import Bounds
from neyman.tables._countable import TableRecords
from neyman.tables._described import Described
from neyman.tables._engines._engine import Engine
from neyman.tables._expressions._expression import Expression
from neyman.tables._joins._private_join import joined
from neyman.tables._joins._public_join import looked_up
from neyman.tables._keys._keys import Keys
from neyman.tables._kind import BOOLEAN
from neyman.tables._mistakes import (
    no_such_question,
    refuse_no_bounds,
    refuse_no_keys,
    refuse_unknown_keys,
)
from neyman.tables._on import How, On, Taken
from neyman.tables._statistics._per_unit import CountUnits, MeanPerUnit, SumPerUnit
from neyman.tables._statistics._spread import Correlation, Covariance, Variance
from neyman.tables._statistics._statistic import Measured, Statistic, check_statistic
from neyman.tables._statistics._statistics import Count, Mean, Sum
from neyman.tables._statistics._together import Together
from neyman.tables._unit import Unit
from neyman.tables._view import View

__all__ = ["Table"]


@final
@dataclass(frozen=True, slots=True)
class Table(Displayed):
    """Rows in an engine, with the privacy unit and public bounds; `open_table` makes it.

    Every question is checked against the schema at once, and runs after the ledger is charged
    (`neyman.aggregate.Aggregate`). The sensitivities below use m, the most rows of one unit in an
    answer; r, the most in one group; G, the number of groups; m <= G r; and

        Q = floor(m / r) r^2 + (m mod r)^2

    Attributes:
        engine: the engine that reads the rows.
        view: the columns and rows of questions.
        unit: the privacy unit.
        bounds: the bounds of the columns that can be summed.
        max_table_rows: number of rows of one group above which an answer is clamped; a limit of the
            machine's integers, not of the data.
    """

    engine: Engine = field(repr=False)
    view: View = field(repr=False)
    unit: Unit
    bounds: Mapping[str, Bounds]
    max_table_rows: int

    def __repr__(self) -> str:
        return str(self.described)

    # Not seen by type checkers, which would take every name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say where a question is that a table itself does not take."""
            raise no_such_question(name)

    @property
    def described(self) -> Described:
        """Columns, types, unit and bounds, for people."""
        return Described.of(self.view, self.unit, self.bounds)

    @property
    def protects(self) -> str:
        """The privacy unit in words: the `unit` for opening a ledger."""
        return self.unit.label

    def count(self, by: Groups = None) -> Aggregate:
        """Ask for the number of rows, of each group if `by` is given.

        l1 = m,  l2^2 = Q
        """
        return self.aggregate(Count(), by)

    def count_units(self, by: Groups = None) -> Aggregate:
        """Ask for the number of distinct units, of each group if `by` is given.

        l1 = l2^2 = min(m, G)
        """
        return self.aggregate(CountUnits(), by)

    def sum(self, column: str, by: Groups = None) -> Aggregate:
        """Ask for the sum of a column; NULL and NaN add nothing.

        l1 = m w,  l2^2 = Q w^2,  w = max |bound| in grid steps
        """
        return self.aggregate(Sum(self.measured(column)), by)

    def mean(self, column: str, by: Groups = None) -> Aggregate:
        """Ask for the mean of a column: its centred sum and its own count, jointly.

        l1 = 2 m a,  l2^2 = 2 Q a^2,  a = half the range, in grid steps

        Its total interval assumes the largest spread within the bounds, so it is wide for values
        that are close to each other. `variance` also has a mean, with a narrower interval.
        """
        return self.aggregate(Mean(self.measured(column)), by)

    def mean_per_unit(self, column: str, by: Groups = None) -> Aggregate:
        """Ask for the mean over units of the mean of each unit's rows; no row is cut.

        l1 = 2 a min(m, G),  l2^2 = 2 a^2 min(m, G),  a = half the range, in grid steps
        """
        return self.aggregate(MeanPerUnit(self.measured(column)), by)

    def sum_per_unit(
        self, column: str, by: Groups = None, *, lower: Real, upper: Real
    ) -> Aggregate:
        """Ask for the sum of a column, with each unit's total in a group clamped to [lower, upper].

        l1 = w min(m, G),  l2^2 = w^2 min(m, G),  w = max(|lower|, |upper|) in grid steps
        """
        measured = self.measured(column)
        total = Bounds(lower, upper, measured.bounds.grid)
        return self.aggregate(SumPerUnit(measured, total), by)

    def variance(self, column: str, by: Groups = None) -> Aggregate:
        """Ask for variance, standard deviation and mean of a column, jointly.

        l1 = 3 m N,  l2^2 = 3 Q N^2,  N = 4 a^2 up to the rounding of weights, a half the
        range in grid steps
        """
        return self.aggregate(Variance(self.measured(column)), by)

    def covariance(self, column: str, other: str, by: Groups = None) -> Aggregate:
        """Ask for the covariance of two columns, for rows with both values.

        l1 = 4 m N,  l2^2 = 4 Q N^2,  N = 8 a b, a and b half the ranges in grid steps
        """
        return self.aggregate(Covariance(self.measured(column), self.measured(other)), by)

    def correlation(self, column: str, other: str, by: Groups = None) -> Aggregate:
        """Ask for Pearson's correlation of two columns, for rows with both values.

        l1 = 6 m N,  l2^2 = 6 Q N^2,  N = 8 max(a b, a^2/2, b^2/2)
        """
        return self.aggregate(Correlation(self.measured(column), self.measured(other)), by)

    def statistics(
        self,
        parts: Sequence[Statistic],
        by: Groups = None,
        *,
        shares: Sequence[int] = (),
    ) -> Aggregate:
        """Ask for several statistics in one statement and one release (`Together`).

        Args:
            parts: the statistics, such as `Count()`, `Mean(table.measured("delay"))`.
            by: the groups; None for one group of all rows.
            shares: the share of each in the squared sensitivity; equal by default.
        """
        check_list("parts", parts, "a list of statistics, such as [Count()]")
        check_list("shares", shares, "a list of whole numbers, such as (2, 1)")
        return self.aggregate(Together(tuple(parts), tuple(shares)), by)

    def measured(self, column: str) -> Measured:
        """Return a column with its declared bounds; a boolean has the bounds 0 and 1.

        Raises:
            UnknownColumn: if the table has no such column.
            InvalidTable: if it does not have numbers or bounds.
        """
        self.view.schema[column].number()
        bounds = self.bounds.get(column)
        if bounds is None and self.view.schema[column].kind is BOOLEAN:
            # Its mean is a proportion.
            return Measured(column, Bounds(0, 1, grid=1))
        if bounds is None:
            raise InvalidTable(
                f"column {column!r} has no bounds; write "
                f"bounds={{{column!r}: Bounds(lower, upper, grid)}} where the table is opened, or "
                "table.with_bounds(...) for a column that was made"
            )
        return Measured(column, bounds)

    def countable(self, *columns: str, by: Keys | None = None) -> Countable:
        """Return the rows as a `Countable`, for functions such as densities.

        Args:
            columns: the columns whose numbers give a row's place; they need no bounds, because
                nodes have their own.
            by: the groups; None for one group of all rows.

        Raises:
            UnknownColumn: if the table has no such column.
            InvalidTable: if a column does not have numbers, or the groups are not declared.
        """
        for column in columns:
            self.view.schema[column].number()
        refuse_no_keys(by)
        refuse_unknown_keys(by)
        return TableRecords(self.engine, self.view, self.unit, columns, self.max_table_rows, by)

    def where(self, condition: Expression | str) -> "Table":
        """Return the table of the rows for which a condition is true; NULL is not true.

        Bounds and limits apply to the remaining rows.

        Args:
            condition: text such as "delay > 15", or an expression such as `col("delay") > 15`.

        Raises:
            UnknownColumn: if the table does not have a column.
            InvalidTable, InvalidParameter: if it is not a condition, or a type does not fit.

        Guarantee: the condition depends on one row only, so the rows of one unit in the new table
            are some of its rows in the old one: neighbours stay neighbours.
        """
        return replace(self, view=self.view.where(condition))

    def with_columns(self, **expressions: Expression | str) -> "Table":
        """Return the table with columns made of its own, new ones or replacements.

        All are made of the old columns. They have no bounds until `with_bounds` declares them.

        Args:
            **expressions: an expression for each new column: text such as "left - came", or
                `col("left") - col("came")`.

        Raises:
            UnknownColumn: if the table does not have a column.
            InvalidTable: if a name or a type does not fit, or the column names the unit.
            InvalidParameter: if a text is not an expression.

        Guarantee: each row is mapped separately and keeps its unit: neighbours stay neighbours.
        """
        if self.unit.entity in expressions:
            raise InvalidTable(
                f"column {self.unit.entity!r} names the unit and cannot be made anew: whose a row "
                "is says the table alone; write another name for the new column"
            )
        bounds = {name: held for name, held in self.bounds.items() if name not in expressions}
        view = self.view.with_columns(expressions)
        unit = self.unit.without(expressions)
        return replace(self, view=view, unit=unit, bounds=MappingProxyType(bounds))

    def with_bounds(self, bounds: Mapping[str, Bounds]) -> "Table":
        """Return the same table with more bounds, or with other ones.

        Raises:
            UnknownColumn: if the table does not have a column.
            InvalidTable: if a column does not have numbers.
        """
        refuse_no_bounds(bounds)
        table = replace(self, bounds=MappingProxyType({**self.bounds, **bounds}))
        for column in bounds:
            table.measured(column)
        return table

    def join(
        self,
        source: object,
        *,
        on: On,
        how: How,
        columns: Taken = None,
        bounds: Mapping[str, Bounds] = MappingProxyType({}),
        name: str | None = None,
    ) -> "Table":
        """Return the table joined with the rows of another private table that name the same unit.

        The contribution limits count joined rows: a unit with 3 rows here and 4 of the same key
        there has 12. `max_rows_per` is for the rows of this table only, so it is dropped. A NULL
        key matches nothing.

        Args:
            source: the other table, as for `open_table`, for the same engine.
            on: the columns that must be equal, with that of the unit: a name that both tables have,
                several, or a mapping of names here to names there.
            how: "inner" drops rows without a match, "left" keeps them with NULL.
            columns: columns of the other table: names, or a mapping of names there to names here;
                by default all that are not in `on`.
            bounds: the bounds of joined columns that are summed; they have no others.
            name: the name of the other table, if it is data in memory or in Spark.

        Raises:
            InvalidTable: if each row is a unit, the join is not on the unit's column, the tables
                cannot be read together, columns do not match, or two columns have the same name.
            UnknownColumn: if a table does not have a column.

        Guarantee: neighbours differ in the rows of one unit in both tables; the joined rows of all
            other units are the same (docs/theory/contributions.md).
        """
        engine, view, new = joined(
            self.engine, self.view, self.unit, source, on=on, columns=columns, how=how, name=name
        )
        unit = self.unit.without()
        return _declared(replace(self, engine=engine, view=view, unit=unit), bounds, new)

    def join_public(
        self,
        table: object,
        *,
        on: On,
        how: How,
        columns: Taken = None,
        bounds: Mapping[str, Bounds] = MappingProxyType({}),
    ) -> "Table":
        """Return the table joined with the row of a public table that has a row's key.

        The public table is read once, now. It becomes part of the statement, and its digest part of
        the record of every question.

        Args:
            table: a mapping of columns to lists, the path of a .parquet or .csv file, a data frame
                of pyarrow, pandas or Polars, or (connection, "table") of DuckDB; one row per key,
                at most 10^6.
            on: as for `join`; it need not include the unit.
            how: as for `join`.
            columns: as for `join`.
            bounds: as for `join`.

        Raises:
            InvalidTable: if two public rows have one key, columns do not match, or two columns have
                the same name.
            UnknownColumn: if a table does not have a column.

        Guarantee: a row has at most one match, which depends on that row only.
        """
        view, new = looked_up(self.view, table, on=on, columns=columns, how=how)
        return _declared(replace(self, view=view), bounds, new)

    def bounded(
        self,
        max_rows: int | None = None,
        max_rows_per_group: int | None = None,
    ) -> "Table":
        """Return the same table with other contribution limits for its questions.

        Limits that you leave out stay.

        Args:
            max_rows: the most rows of one unit in an answer.
            max_rows_per_group: the most rows of one unit in each group, for any groups of the
                question: `table.bounded(max_rows_per_group=1).count(by)`.

        Raises:
            InvalidTable: if each row is a unit.
        """
        unit = self.unit.bounded(max_rows, max_rows_per_group)
        return replace(self, unit=unit)

    def aggregate(self, statistic: Statistic, by: Groups = None) -> Aggregate:
        """Ask for a statistic, of each group if `by` is given.

        Args:
            statistic: the statistic.
            by: the groups, declared or unknown; None for one group of all rows.

        Returns:
            The question with its exact sensitivity, not yet run. It gives one int64 for each
            component and group, group by group.

        Raises:
            UnknownColumn: if the table does not have a column.
            InvalidTable: if a column's type does not fit its use, or the sums could exceed 62 bits.
            EngineFailure: if the table is a file that has changed since it was opened.

        Guarantee: adding or removing one unit moves the integers by at most the sensitivity, in
            each norm, for any rows.
        Error: if a unit exceeds its contribution limits, only a pseudo-random part of its rows
            counts, so the answer is biased towards smaller units.
        """
        check_statistic("statistic", statistic)
        return asked(
            self.engine, self.view, self.unit, self.max_table_rows, statistic=statistic, by=by
        )


def _declared(table: Table, bounds: Mapping[str, Bounds], new: Sequence[str]) -> Table:
    """Return the table with bounds of columns that a join adds."""
    refuse_no_bounds(bounds)
    for column in bounds:
        if column not in new:
            raise InvalidTable(
                f"bounds must be of the joined columns, {', '.join(map(repr, new))}; got {column!r}"
            )
    return table.with_bounds(bounds)
