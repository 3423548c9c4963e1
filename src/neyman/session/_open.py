"""Opens a session."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger import Ledger, Store
from neyman.numerics import Real
from neyman.session._declared import Ranges, bounds_of, cap_given, complete_of, unit_of
from neyman.session._session import Session
from neyman.tables import ForeignKey, Table, Unit, open_table

__all__ = ["open"]


@plain_calls
def open(  # noqa: A001
    source: object,
    *,
    unit: str | Unit | ForeignKey | None = None,
    max_rows: int | None = None,
    max_rows_per: Mapping[str | tuple[str, ...], int] = MappingProxyType({}),
    bounds: Ranges = MappingProxyType({}),
    complete: Sequence[str] = (),
    name: str | None = None,
    budget: TradeOff | None = None,
    mu: Real | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    ledger: str | PathLike[str] | Store | None = None,
    delta_aside: Real | None = None,
    memory_limit: str | None = None,
    temporary_directory: str | Path | None = None,
) -> Session:
    """Open a table, with its privacy unit and the ledger that pays for releases; no row is read.

    Args:
        source: as for `open_table`: the path of a .parquet or .csv file, a list, pattern or folder
            of them, a data frame, or a table of a database.
        unit: the privacy unit: the column that names it, `Rows()` if each row is a unit, or a
            `Unit` with its limits.
        max_rows: with a column as unit: the most rows of one unit that count in an answer.
        max_rows_per: with a column as unit: limits for groupings, as for `Entity`.
        bounds: the range of each column that is added up: (lower, upper), (lower, upper, grid) or
            `Bounds`. Without a grid, the grid is 1 in a column of whole numbers, and otherwise the
            largest of 1, 2 or 5 times a power of ten with at least 1,000 steps in the range.
        complete: columns that have a value in every row. The count beside their mean is then the
            count of all rows. Privacy does not depend on it: if it is wrong, a page combines
            counts of different rows.
        name: the name of the data in the ledger; needed for data in memory or in Spark.
        budget: the total budget of the ledger, such as `gdp(1)`; or one of
        mu: the budget in Gaussian differential privacy;
        epsilon: the budget in pure differential privacy, or with delta;
        delta: with epsilon;
        rho: the budget in zero-concentrated differential privacy, which is spent as
            mu = sqrt(2 rho).
        ledger: the path of the ledger's file, which is created if it does not exist; or a
            PostgreSQL URL. A ledger that exists needs no budget.
        delta_aside: the part of delta that is set aside for tails of releases and for undeclared
            groups, as for `Ledger.open`.
        memory_limit: as for `open_table`.
        temporary_directory: as for `open_table`.

    Raises:
        InvalidParameter: if the unit or the budget is missing or unusable, or there is a budget
            but no ledger.
        InvalidTable, UnknownColumn, MissingExtra: as `open_table`.
        LedgerMismatch: if the ledger was created with another budget or unit.
        LedgerUnavailable, LedgerCorrupt: if it cannot be used.
    """
    protected = unit_of(unit, max_rows, max_rows_per)
    cap = cap_given(budget, mu, epsilon, delta, rho, delta_aside)
    if cap is not None and ledger is None:
        raise InvalidParameter(
            "a budget must have a ledger, a file that outlives this process; got none. Write "
            'ledger="my.ledger" beside the budget'
        )
    table = open_table(
        source,
        unit=protected,
        name=name,
        memory_limit=memory_limit,
        temporary_directory=temporary_directory,
    )
    table = table.with_bounds(bounds_of(bounds, table))
    known = complete_of(complete, table)
    return Session(table, _ledger(ledger, cap, table, delta_aside), complete=known)


def _ledger(
    place: str | PathLike[str] | Store | None,
    cap: TradeOff | None,
    table: Table,
    delta_aside: Real | None,
) -> Ledger | None:
    if place is None:
        return None
    if cap is not None:
        return Ledger.open(
            place,
            cap=cap,
            unit=table.protects,
            neighbors="add_remove",
            delta_aside=delta_aside,
        )
    ledger = Ledger.existing(place)
    ledger.require_relation(table.protects, "add_remove")
    return ledger
