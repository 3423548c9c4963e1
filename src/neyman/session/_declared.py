"""Short forms that users may write for units, budgets, groups and bounds."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor, log10
from typing import Final, TypeAlias, cast

from neyman.accounting import cap_of
from neyman.arguments import check_list
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact
from neyman.tables import Bins, Bounds, Entity, ForeignKey, Keys, Rows, Table, Unit, UnknownKeys

__all__ = [
    "By",
    "Ends",
    "Ranges",
    "bounds_of",
    "cap_given",
    "complete_of",
    "declared_groups",
    "groups_of",
    "unit_of",
]

# The least number of steps of a grid in the range of a column.
_STEPS: Final = 1000

Ends: TypeAlias = tuple[Real, Real] | tuple[Real, Real, Real]
Ranges: TypeAlias = Mapping[str, Bounds | Ends]
By: TypeAlias = (
    Keys | UnknownKeys | Mapping[str, Sequence[object] | Bins] | str | Sequence[str] | None
)


def complete_of(columns: Sequence[str], table: Table) -> frozenset[str]:
    """Return the columns that are declared to have a value in every row.

    Raises:
        InvalidParameter: if they are not a list.
        UnknownColumn: if the table does not have one.
    """
    check_list("complete", columns, 'a list of columns, such as complete=["minutes"]')
    for column in columns:
        _ = table.view.schema[column]
    return frozenset(columns)


def unit_of(
    unit: object, max_rows: int | None, max_rows_per: Mapping[str | tuple[str, ...], int]
) -> Unit:
    """Return the privacy unit.

    Raises:
        InvalidParameter: if there is none, or limits are given for a unit that has its own.
    """
    if unit is None:
        raise InvalidParameter(
            'unit must be the privacy unit; got none. Write unit="patient", max_rows=5 to '
            "protect all rows of one patient, or unit=ny.Rows() if each row is a person of its own"
        )
    if isinstance(unit, str | ForeignKey):
        return Entity(unit, max_rows, max_rows_per)
    if isinstance(unit, Unit):
        if max_rows is None and not max_rows_per:
            return unit
        if isinstance(unit, Rows):
            raise InvalidParameter(
                f"max_rows needs a column as unit; got max_rows={max_rows} with unit=Rows(), where "
                'each row is a unit. Leave max_rows out, or write unit="column"'
            )
        raise InvalidParameter(
            f"limits must be given once; got max_rows={max_rows} beside {unit!r}. Write "
            'unit="column", max_rows=...'
        )
    raise InvalidParameter(
        f"unit must be a column's name, Rows() or Entity(...); got a {type(unit).__name__}. Write "
        'such as unit="patient", max_rows=5'
    )


def cap_given(
    budget: TradeOff | None,
    mu: Real | None,
    epsilon: Real | None,
    delta: Real | None,
    rho: Real | None,
    delta_aside: Real | None,
) -> TradeOff | None:
    """Return the budget, however it is given; None if none is.

    Raises:
        InvalidParameter: if several are given, or delta without epsilon.
    """
    given = {"budget": budget, "mu": mu, "epsilon": epsilon, "rho": rho}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise InvalidParameter(
            f"the budget must be given once; got {' and '.join(names)}. Write one of "
            "budget=ny.gdp(1), mu=1, epsilon=3 with delta=1e-6, or rho=0.5"
        )
    if delta is not None and epsilon is None:
        raise InvalidParameter(
            "delta needs epsilon; got delta alone. Write for example epsilon=3, delta=1e-6"
        )
    if budget is not None and not isinstance(budget, TradeOff):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"budget must be a guarantee; got a {type(budget).__name__}. Write budget=ny.gdp(1), "
            "or mu=1, or epsilon=3, delta=1e-6"
        )
    if budget is not None:
        return budget
    return cap_of(mu=mu, epsilon=epsilon, delta=delta, rho=rho, delta_aside=delta_aside)


def groups_of(by: By) -> Keys | UnknownKeys | None:
    """Return groups: a mapping declares them, and column names alone leave them to be found.

    Raises:
        InvalidParameter, InvalidTable: if they are anything else.
    """
    match by:
        case None | Keys() | UnknownKeys():
            return by
        case str():
            return UnknownKeys(by)
        case Mapping():
            return Keys(cast("Mapping[str, list[str]]", by))
        case Sequence() if by:
            return UnknownKeys(*by)
        case _:
            raise InvalidParameter(
                f"by must be groups or column names; got {type(by).__name__}. Write the groups of "
                'each column, by={"ward": ["north", "south"]}, or its name alone, by="ward", to '
                "find the groups"
            )


def declared_groups(by: By) -> Keys | None:
    """Return declared groups, for questions that take no others.

    Raises:
        InvalidParameter: if the groups are not declared.
    """
    groups = groups_of(by)
    if isinstance(groups, UnknownKeys):
        raise InvalidParameter(
            f"by must declare the groups of this question; got by={by!r}. Write them all, "
            'by={"ward": ["north", "south"]}; a count can find them first'
        )
    return groups


def bounds_of(ranges: Ranges, table: Table) -> dict[str, Bounds]:
    """Return the bounds of columns.

    Without a grid, the grid is 1 in a column of whole numbers, and otherwise the largest of 1, 2 or
    5 times a power of ten with at least 1,000 steps in the range.

    Args:
        ranges: `Bounds`, (lower, upper) or (lower, upper, grid), by column.
        table: the table that has the columns.

    Raises:
        InvalidParameter: if they are anything else.
    """
    return {name: _bounds(name, given, table) for name, given in ranges.items()}


def _bounds(name: str, given: object, table: Table) -> Bounds:
    if isinstance(given, Bounds):
        return given
    found = isinstance(given, tuple | list)
    ends = tuple(cast("Sequence[Real]", given)) if found else ()
    match ends:
        case (lower, upper):
            (whole,) = table.countable(name).whole
            first, last = exact(lower, "lower"), exact(upper, "upper")
            return Bounds(lower, upper, grid=_grid(name, first, last, whole=whole))
        case (lower, upper, grid):
            return Bounds(lower, upper, grid=grid)
        case _:
            raise InvalidParameter(
                f"bounds of {name!r} must be two ends; got {type(given).__name__}. Write "
                f'bounds={{"{name}": (lower, upper)}}, or Bounds(lower, upper, grid=...)'
            )


def _grid(name: str, lower: Fraction, upper: Fraction, *, whole: bool) -> Fraction:
    """Return a grid that divides both ends.

    Raises:
        InvalidParameter: if no 1, 2 or 5 times a power of ten does.
    """
    if whole and lower.denominator == upper.denominator == 1:
        return Fraction(1)
    most = abs(upper - lower) / _STEPS
    power = floor(log10(most)) if most else 0
    steps = (digit * Fraction(10) ** k for k in range(power, power - 9, -1) for digit in (5, 2, 1))
    for step in steps:
        if step <= most and (lower / step).denominator == (upper / step).denominator == 1:
            return step
    raise InvalidParameter(
        f"a grid must divide both bounds of {name!r}; no round number does. Write "
        f'bounds={{"{name}": (lower, upper, grid)}} with a grid of your own'
    )
