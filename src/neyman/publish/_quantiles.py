"""Many quantiles of a column at once, by group: one release of counts up to each value."""

from collections.abc import Sequence

from neyman.aggregate import Aggregate
from neyman.arguments import check_type
from neyman.functional import quantiles_of
from neyman.numerics import Real
from neyman.tables import Bounds, Keys, Table

__all__ = ["quantiles"]


def quantiles(
    table: Table,
    column: str,
    probabilities: Sequence[Real],
    *,
    by: Keys | None = None,
    bounds: Bounds | None = None,
) -> Aggregate:
    """Ask for quantiles of a column, as many as wanted for the price of the counts that give them.

    The quantile of p is the least value x of the grid such that at least a share p of the rows is
    at most x; of p = 0 the least value, of p = 1 the largest. The rows are counted at the values
    of the grid by one SQL statement, and sums of these counts are released, of all groups at once:
    more probabilities cost nothing. Nothing is smoothed, so that a quantile of heaped values is one
    of them. For a private least and largest value ask for 0.01 and 0.99, say: single rows at the
    ends hide in the noise.

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
