"""Questions about a table: functions, quantiles and linear regression."""

from collections.abc import Sequence

from neyman.aggregate import Aggregate
from neyman.arguments import check_list, check_type
from neyman.errors import InvalidParameter, InvalidTable
from neyman.functional import (
    Domain,
    Interval,
    Side,
    Target,
    density_of,
    quantiles_of,
    regression_of,
    survival_of,
)
from neyman.functional._bases._domain import Outside
from neyman.numerics import Real
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.tables import Bounds, Keys, LinearRegression, Table, UnknownKeys

__all__ = ["bounded_domain", "density", "linear_regression", "quantiles", "regression", "survival"]


def density(
    table: Table,
    column: str | Sequence[str],
    *,
    domain: Domain | None = None,
    bandwidth: Real | Sequence[Real] | None = None,
    records: int | None = None,
    target: Target | None = None,
    by: Keys | None = None,
    neighbors: Neighbors = "add_remove",
) -> Aggregate:
    """Estimate the kernel density of a column of a table; `functional.density` takes an array.

    One SQL statement counts the rows at public nodes, out of core. The integer coefficients are
    computed from the counts, and equal those of an array with the same values. At most m = max_rows
    rows of an `Entity` count, chosen by a salted hash, so l2 is at most m times that of one row.

    Args:
        table: from `open_table`.
        column: its name; one name for each side of a domain of several.
        domain: the range of the values; by default the bounds of the column, with values outside
            moved to the nearer end.
        bandwidth: as for `functional.density`; either this or `records`.
        records: instead of a bandwidth: a public estimate of the number of rows that count. The
            release then chooses its bandwidth, as in `functional.density`.
        target: as for `functional.density`.
        by: declared groups, each with its own function. The noise depends on the rows of a unit
            that count, and not on the number of groups.
        neighbors: "add_remove", the relation of all questions about a table.

    Returns:
        The question, for `release`. `functional.function` turns its release into a function, and
        `functional.functions` into one for each group.

    Raises:
        UnknownColumn: if the table does not have a column.
        InvalidTable: if a column has no numbers, or there are neither bounds nor a domain.
        InvalidParameter: if another declaration cannot be used, or not exactly one of bandwidth and
            records is given.
        EngineFailure: if the file of the table has changed since it was opened.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    """
    _refuse_replaced(neighbors)
    columns = [column] if isinstance(column, str) else list(column)
    countable = table.countable(*columns, by=by)
    lies = bounded_domain(table, *columns, outside="count") if domain is None else domain
    return density_of(countable, domain=lies, bandwidth=bandwidth, records=records, target=target)


def survival(
    table: Table,
    *,
    duration: str,
    observed: str,
    horizon: Real,
    bandwidth: Real,
    causes: int = 1,
    by: Keys | None = None,
    neighbors: Neighbors = "add_remove",
) -> Aggregate:
    """Estimate the survival curve of the rows of a table; `functional.survival` takes arrays.

    Args:
        table: from `open_table`.
        duration: the column of times from entry to event or censoring.
        observed: the column that is true, or at least 1/2, where the time ended with the event.
            With several causes: the number of the cause, from 1; 0 where the time was censored.
            Rows in which either column is NULL or NaN do not count.
        horizon: as for `functional.survival`.
        bandwidth: as for `functional.survival`.
        causes: as for `functional.survival`.
        by: declared groups, each with its own function. The noise depends on the rows of a unit
            that count, and not on the number of groups.
        neighbors: "add_remove", the relation of all questions about a table.

    Returns:
        The question, for `release`. `functional.function` turns its release into a curve, and
        `functional.functions` into one for each group.

    Raises:
        UnknownColumn: if the table does not have a column.
        InvalidTable: if a column has no numbers.
        InvalidParameter: if another declaration cannot be used.
        EngineFailure: if the file of the table has changed since it was opened.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    """
    _refuse_replaced(neighbors)
    # The durations twice: where they are, and whether they lie beyond the horizon.
    records = table.countable(duration, duration, observed, by=by)
    return survival_of(records, horizon=horizon, bandwidth=bandwidth, causes=causes)


def regression(
    table: Table,
    *,
    x: str,
    y: str,
    domain: Side | None = None,
    bandwidth: Real | None = None,
    records: int | None = None,
    response: Interval | None = None,
    target: Target | None = None,
    by: Keys | None = None,
    neighbors: Neighbors = "add_remove",
) -> Aggregate:
    """Estimate the mean of a column at every value of another, as `functional.regression` does.

    Args:
        table: from `open_table`.
        x: the column on the horizontal axis.
        y: the column of responses. Rows in which either column is NULL or NaN do not count.
        domain: the range of x; by default its bounds.
        bandwidth: as for `functional.regression`; either this or `records`.
        records: instead of a bandwidth: a public estimate of the number of rows that count, as for
            `functional.regression`.
        response: the bounds of y; by default those of the table.
        target: as for `functional.regression`.
        by: declared groups, each with its own function. The noise depends on the rows of a unit
            that count, and not on the number of groups.
        neighbors: "add_remove", the relation of all questions about a table.

    Returns:
        The question, for `release`. `functional.function` turns its release into a curve, and
        `functional.functions` into one for each group.

    Raises:
        UnknownColumn: if the table does not have a column.
        InvalidTable: if a column has no numbers, or no bounds.
        InvalidParameter: if another declaration cannot be used, or not exactly one of bandwidth and
            records is given.
        EngineFailure: if the file of the table has changed since it was opened.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    """
    _refuse_replaced(neighbors)
    lies = bounded_domain(table, x) if domain is None else domain
    between = bounded_domain(table, y) if response is None else response
    return regression_of(
        table.countable(x, y, by=by),
        domain=lies,
        response=between,
        bandwidth=bandwidth,
        records=records,
        target=target,
    )


def bounded_domain(table: Table, *columns: str, outside: Outside = "clip") -> Interval:
    """Return the interval between the bounds of a column.

    Raises:
        InvalidParameter: if there is not exactly one column.
        InvalidTable: if the column has no bounds.
    """
    if len(columns) != 1:
        raise InvalidParameter(
            f"several columns must have a domain; got {len(columns)} columns without one. Write "
            "domain= with a side for each of them"
        )
    bounds = table.bounds.get(columns[0])
    if bounds is None:
        raise InvalidTable(
            f"column {columns[0]!r} has no bounds; write "
            'domain=Interval(lower, upper, outside="clip"), chosen without looking at the data'
        )
    return Interval(bounds.lower, bounds.upper, outside=outside)


def _refuse_replaced(neighbors: Neighbors) -> None:
    if check_neighbors(neighbors) != "add_remove":
        raise InvalidParameter(
            'neighbors must be "add_remove" for a table, whose number of rows is private; got '
            '"replace_one". Write "add_remove", or leave it out'
        )


def quantiles(
    table: Table,
    column: str,
    probabilities: Sequence[Real],
    *,
    by: Keys | None = None,
    bounds: Bounds | None = None,
) -> Aggregate:
    """Estimate quantiles of a column, in one release for all groups.

    The quantile of p is the least value x of the grid such that at least a share p of the rows is
    at most x; for p = 0 it is the least value, for p = 1 the largest. One SQL statement counts the
    rows at the values of the grid.

    Up to eight quantiles are found by a search. Each round releases counts up to a few values, and
    its answers decide where the next round looks. The fewer quantiles you ask for, the less noise
    each has. For more quantiles, or for at most 65 values, sums of all counts are released, and
    further probabilities are free. Nothing is smoothed, so a quantile of heaped values is one of
    them. Instead of the least and the largest value ask for quantiles such as 0.01 and 0.99: noise
    hides single rows at the ends.

    Args:
        table: from `open_table`.
        column: its name. NULL and NaN do not count.
        probabilities: the values of p, each in [0, 1].
        by: declared groups.
        bounds: instead of the bounds of the table; values outside are moved to the nearer bound. A
            coarser grid is faster. A grid of more than 8,192 steps is made coarser by a public
            rule: to the least multiple that divides the range into at most 8,192 steps, or else to
            8,192 equal parts. Preview and release show that grid.

    Returns:
        The question, for `release`. Its columns, for each group and p, are the `quantile`; its
        noise interval `lower`, `upper`, for the quantile of the rows; `total_lower`, `total_upper`,
        for the quantile of the population, if units are drawn independently; and the noisy `count`
        of rows. If that count does not differ from 0, the quantile is NaN, and the intervals are
        the bounds.

    Raises:
        UnknownColumn: if the table does not have a column.
        InvalidTable: if the column has no numbers, or no bounds.
        InvalidParameter: if another declaration cannot be used.
        EngineFailure: if the file of the table has changed since it was opened.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v. Each noise
        interval has at least the given confidence, for any data (exactly for Gaussian noise, up to
        rounding). Total intervals are estimates.
    Error: the noise of a count up to a value, minus p times the total count, has a standard
        deviation of about 2.3 / mu rows on 250 values, 2.8 / mu on 1,000, 3.2 / mu on 4,000.
    """
    check_type("table", table, Table, "a table, from open_table(...)")
    if bounds is None:
        bounds = table.measured(column).bounds
    check_type("bounds", bounds, Bounds, "Bounds(lower, upper, grid=...)")
    records = table.countable(column, by=by)
    return quantiles_of(
        records, probabilities, lower=bounds.lower, upper=bounds.upper, grid=bounds.grid
    )


def linear_regression(
    table: Table, response: str, features: Sequence[str], by: Keys | UnknownKeys | None = None
) -> Aggregate:
    """Fit a column by least squares to an intercept and other columns, in each group.

    The answer has a row for each coefficient: term, estimate, stddev (of the noise, to first
    order), lower and upper (for the noise, for all coefficients of a group at once) and count.
    There is no interval for the population, because its sampling error depends on products of four
    columns, which are not released. `regression` estimates a curve of one feature instead.

    Args:
        table: from `open_table`, with bounds for every column.
        response: the column y.
        features: the columns x; 1 to 32. Rows in which a column is NULL or NaN do not count.
        by: the groups; None for one group of all rows.

    Returns:
        The question, for `release`.

    Raises:
        UnknownColumn: if the table does not have a column.
        InvalidTable: if a column has no numbers, or no bounds.
        InvalidParameter: if a column is named twice, or there is no feature.
        EngineFailure: if the file of the table has changed since it was opened.

    Guarantee: with d = (p + 2)(p + 3)/2 integers for p features, each within N, l1 = d m N and
        l2^2 = d Q N^2 with m and Q of `Table`, up to the rounding of weights.
    """
    check_type("table", table, Table, "a table, from open_table(...)")
    one = repr([features]) if isinstance(features, str) else '["dep_delay"]'
    check_list("features", features, f"a list of columns, such as {one}")
    columns = tuple(table.measured(feature) for feature in features)
    return table.aggregate(LinearRegression(table.measured(response), columns), by)
