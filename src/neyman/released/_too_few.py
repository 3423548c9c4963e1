"""Rows of an answer that noise alone could have made. Post-processing of what is public anyway.

One rule for all faces:

* an amount (a count, a sum) is such a row where its noise interval holds 0;
* any other number where it, or an end of its noise interval, is not finite, or where the interval
  is wider than half of all the values that the bounds allow.

An amount is shown and marked. Of the rest "too few rows to tell" is said in place of the numbers.
"""

import math
from collections.abc import Mapping, Sequence
from math import nan
from typing import Final, cast

from neyman.aggregate import Columns
from neyman.numerics import rational
from neyman.released._written import record_of

__all__ = [
    "MARK",
    "MARKED",
    "TOO_FEW",
    "hidden",
    "is_amount",
    "noise_alone",
    "readable",
    "value_of",
]

TOO_FEW: Final = "too few rows to tell"
MARK: Final = "*"
MARKED: Final = "* noise alone could have made this number: its interval holds 0"

_AMOUNTS: Final = ("count", "count_units", "crosstab", "sum", "sum_per_unit")
_WIDEST: Final = 0.5
_LARGEST: Final = 10**300
# Say what a number is of, and are no numbers that noise is in.
_LABELS: Final = frozenset(("term", "probability", "margin"))


def is_amount(query: Mapping[str, object]) -> bool:
    """Return whether a statistic is an amount with noise added, and no quotient."""
    return query.get("statistic") in _AMOUNTS


def value_of(query: Mapping[str, object], columns: Mapping[str, object]) -> str | None:
    """Return the column of a statistic's own values; None of a function, which has coefficients."""
    named = (str(query.get("statistic")), "estimate", "count")
    return next((name for name in named if name in columns), None)


def noise_alone(query: Mapping[str, object], columns: Columns) -> list[bool]:
    """Return, for each row of a statistic, whether noise alone could have made it.

    Args:
        query: of the one statistic.
        columns: of it, called as if it had been asked alone.
    """
    value = value_of(query, columns)
    if value is None or "lower" not in columns or "upper" not in columns:
        return []
    ends = zip(*(_numbers(columns[name]) for name in (value, "lower", "upper")), strict=True)
    if is_amount(query):
        return [low <= 0 <= high for _, low, high in ends]
    widest = _WIDEST * _range(query)
    return [not (_finite(*row) and row[2] - row[1] <= widest) for row in ends]


def readable(
    query: Mapping[str, object], columns: Columns, keys: tuple[str, ...]
) -> dict[str, list[object]]:
    """Return the columns of a statistic as people may read them, for a table.

    In rows that noise alone could have made, `TOO_FEW` stands for a quotient and nothing beside it;
    an amount has a mark in a last column.
    """
    flags, value = noise_alone(query, columns), value_of(query, columns)
    shown: dict[str, list[object]] = {name: list[object](cells) for name, cells in columns.items()}
    if not any(flags):
        return shown
    if is_amount(query):
        shown[""] = [MARK if flag else "" for flag in flags]
        return shown
    for name, cells in shown.items():
        if name not in _LABELS and name not in keys:
            said = TOO_FEW if name == value else ""
            shown[name] = [said if flag else cell for cell, flag in zip(cells, flags, strict=True)]
    return shown


def hidden(names: Mapping[str, str], keys: tuple[str, ...]) -> list[str]:
    """Return the columns of a release whose cells are left out where noise alone is in them.

    Args:
        names: of a statistic's columns in the release, by what they are called alone.
        keys: of the release.
    """
    return [held for own, held in names.items() if own not in _LABELS and held not in keys]


def _numbers(cells: Sequence[object]) -> list[float]:
    """Return NaN for what is no number, as a record of somebody else's may hold."""
    return [float(x) if isinstance(x, int | float) and abs(x) < _LARGEST else nan for x in cells]


def _finite(*numbers: float) -> bool:
    return all(map(math.isfinite, numbers))


def _range(query: Mapping[str, object]) -> float:
    """Return how far apart two values of a statistic can be; infinite where no bounds say it."""
    x, y = _width(query), _width(record_of(query.get("other")))
    match query.get("statistic"):
        case "mean" | "mean_per_unit" | "quantile":
            return x
        case "variance":
            return x**2 / 4
        case "covariance":
            return x * y / 2
        case "correlation":
            return 2.0
        case _:
            return math.inf


def _width(query: Mapping[str, object]) -> float:
    """Return upper - lower of the bounds of a column, or of the grid of quantiles."""
    basis, listed = record_of(query.get("basis")), query.get("bounds")
    ends = cast("list[object]", listed) if isinstance(listed, list) else []
    found = [rational(end) for end in ends or (basis.get("lower"), basis.get("upper"))]
    known = [float(end) for end in found if end is not None and abs(end) < _LARGEST]
    return known[1] - known[0] if len(known) == len(found) == 2 else math.inf
