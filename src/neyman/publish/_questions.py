"""Questions of a table: functions, quantiles, and linear regression."""

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
    """Ask for the kernel density of a column of a table; `functional.density` is of an array.

    The rows are counted at public nodes by one SQL statement, out of core, and the integer
    coefficients are made of the counts: those of the array with the same values. Of an `Entity`
    at most max_rows count, m, chosen by salted hash: l2 is at most m times that of one row.

    Args:
        table: from `open_table`.
        column: its name; one name for each side of a domain of several.
        domain: where values lie; by default between the bounds that the table declares for the
            column, what is outside moved to the nearer end.
        bandwidth: as for `functional.density`; either this or `records`.
        records: in place of a bandwidth: about how many rows count, a public guess; the release
            is made so fine that it can choose its bandwidth, as in `functional.density`.
        target: as for `functional.density`.
        by: declared groups, each with a function of its own; noise grows with the rows of one
            unit that count, and not with the number of groups.
        neighbors: "add_remove", the relation of all questions of a table.

    Returns:
        The question, for `release`; `functional.function` makes a function of its release, and
        `functional.functions` one for each group.

    Raises:
        UnknownColumn: if the table lacks a column.
        InvalidTable: if one holds no numbers, or no bounds are declared where no domain is given.
        InvalidParameter: if another declaration is unusable, or bandwidth and records are both
            given or neither is.
        EngineFailure: if the table is a file that has changed since it was opened.

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
    """Ask for the survival curve of a table's rows; `functional.survival` is of arrays.

    Args:
        table: from `open_table`.
        duration: the column of times from entry to event or censoring.
        observed: the column that says whether the time ended with the event: true, or a number of
            at least 1/2, where it did; of several causes 0, or the number of the cause from 1 on.
            A row where either is NULL or NaN counts for nothing.
        horizon: as for `functional.survival`.
        bandwidth: as for `functional.survival`.
        causes: as for `functional.survival`.
        by: declared groups, each with a function of its own; noise grows with the rows of one
            unit that count, and not with the number of groups.
        neighbors: "add_remove", the relation of all questions of a table.

    Returns:
        The question, for `release`; `functional.function` makes a curve of its release, and
        `functional.functions` one for each group.

    Raises:
        UnknownColumn: if the table lacks a column.
        InvalidTable: if one holds no numbers.
        InvalidParameter: if another declaration is unusable.
        EngineFailure: if the table is a file that has changed since it was opened.

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
    """Ask for the mean of a column at every value of another; `functional.regression` is of arrays.

    Args:
        table: from `open_table`.
        x: the column that the curve is over.
        y: the column of responses. A row where either is NULL or NaN counts for nothing.
        domain: where x lies; by default between the bounds that the table declares for it.
        bandwidth: as for `functional.regression`; either this or `records`.
        records: in place of a bandwidth: about how many rows count, a public guess, as for
            `functional.regression`.
        response: the bounds of y; by default those that the table declares for it.
        target: as for `functional.regression`.
        by: declared groups, each with a function of its own; noise grows with the rows of one
            unit that count, and not with the number of groups.
        neighbors: "add_remove", the relation of all questions of a table.

    Returns:
        The question, for `release`; `functional.function` makes a curve of its release, and
        `functional.functions` one for each group.

    Raises:
        UnknownColumn: if the table lacks a column.
        InvalidTable: if one holds no numbers, or no bounds are declared where none are given.
        InvalidParameter: if another declaration is unusable, or bandwidth and records are both
            given or neither is.
        EngineFailure: if the table is a file that has changed since it was opened.

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
    """Return where the bounds that a table declares for a column say that values lie.

    Raises:
        InvalidParameter: if there is not one column.
        InvalidTable: if none are declared.
    """
    if len(columns) != 1:
        raise InvalidParameter(
            f"{len(columns)} columns were given without a domain; write domain= with a side for "
            "each of them"
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
            'neighbors="replace_one" was asked of a table, whose number of rows is private; write '
            '"add_remove", or leave it out'
        )


def quantiles(
    table: Table,
    column: str,
    probabilities: Sequence[Real],
    *,
    by: Keys | None = None,
    bounds: Bounds | None = None,
) -> Aggregate:
    """Ask for quantiles of a column, in one release for all groups.

    The quantile of p is the least value x of the grid such that at least a share p of the rows is
    at most x; of p = 0 the least value, of p = 1 the largest. The rows are counted at the values
    of the grid by one SQL statement. Up to eight quantiles are searched for: counts up to a few
    values are released, round after round, and the answers decide where the next round asks. The
    fewer there are, the less noise each has. For more of them, or on at most 65 values, sums of all
    counts are released, and further probabilities cost nothing. Nothing is smoothed, so that a
    quantile of heaped values is one of them. For a private least and largest value ask for 0.01 and
    0.99, say: single rows at the ends hide in the noise.

    Args:
        table: from `open_table`.
        column: its name. NULL and NaN count for nothing.
        probabilities: p, each in [0, 1].
        by: declared groups.
        bounds: in place of those that the table declares for the column; values beyond them count
            at the nearer bound. A coarser grid is quicker, and no less private. A grid of more than
            8,192 steps is made coarser by a public rule: the least multiple of it that divides the
            range into at most 8,192 steps, or else 8,192 equal parts. Preview and release say so.

    Returns:
        The question, for `release`, whose columns are for each group and p the `quantile`; its
        noise interval `lower`, `upper`, for the quantile of the rows; `total_lower`, `total_upper`,
        for that of the population, if the units are drawn independently; and the noisy `count` of
        rows. Where that is not told from 0 the quantile is NaN, and the intervals are the bounds.

    Raises:
        UnknownColumn: if the table lacks a column.
        InvalidTable: if it holds no numbers, or no bounds are declared where none are given.
        InvalidParameter: if another declaration is unusable.
        EngineFailure: if the table is a file that has changed since it was opened.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v. Each noise
        interval alone holds with at least the confidence asked for, for any data (exact for
        Gaussian noise, up to rounding); total intervals are estimates.
    Error: the noise of a count up to a value, less p times that of all, has a standard deviation of
        about 2.3 / mu rows on 250 values, 2.8 / mu on 1,000, 3.2 / mu on 4,000.
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
    """Ask for the least squares of a column on an intercept and other columns, in each group.

    The answer has a row for each coefficient: term, estimate, stddev (of the noise, to first
    order), lower and upper (noise, of all coefficients of a group at once) and count. There is no
    interval for a population, because its sampling error depends on products of four columns, which
    are not released. `regression` is the curve of one feature, without a line.

    Args:
        table: from `open_table`, with bounds of every column.
        response: the column y.
        features: the columns x; 1 to 32. A row where one of all columns is NULL or NaN adds
            nothing.
        by: the groups; None for one of all rows.

    Returns:
        The question, for `release`.

    Raises:
        UnknownColumn: if the table lacks a column.
        InvalidTable: if one holds no numbers, or no bounds are declared.
        InvalidParameter: if a column stands twice, or there is no feature.
        EngineFailure: if the table is a file that has changed since it was opened.

    Guarantee: with d = (p + 2)(p + 3)/2 integers for p features, each within N, l1 = d m N and
        l2^2 = d Q N^2 with m and Q of `Table`, up to the rounding of weights.
    """
    check_type("table", table, Table, "a table, from open_table(...)")
    one = repr([features]) if isinstance(features, str) else '["dep_delay"]'
    check_list("features", features, f"a list of columns, such as {one}")
    columns = tuple(table.measured(feature) for feature in features)
    return table.aggregate(LinearRegression(table.measured(response), columns), by)
