"""Linear regression of a table's column on others."""

from collections.abc import Sequence

from neyman.aggregate import Aggregate
from neyman.arguments import check_list, check_type
from neyman.tables import Keys, LinearRegression, Table, UnknownKeys

__all__ = ["linear_regression"]


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
