"""A session, opened."""

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
    """Open a table to be asked, and the ledger that pays; no row is read.

    Args:
        source: as for `open_table`: the path of a .parquet or .csv file, a list, pattern or folder
            of them, a data frame, or a table of a database.
        unit: whom to protect: the column that names the unit, `Rows()` where each row is one, or
            a `Unit` with its limits.
        max_rows: with a column: the most rows of one unit that count in an answer.
        max_rows_per: with a column: limits of groupings, as for `Entity`.
        bounds: of columns that are added up: (lower, upper), (lower, upper, grid) or `Bounds`. Two
            ends have steps of 1 in a column of whole numbers, and else the largest of 1, 2 or 5
            times a power of ten that goes 1,000 times into the range.
        complete: columns that have a value in every row, so that the count beside their mean is the
            count of all rows. No privacy rests on it: if it is wrong, counts are combined on a page
            that are not of the same rows.
        name: of data in memory or in Spark, which have none; stands for them in the ledger.
        budget: all that the ledger may ever spend, such as `gdp(1)`; or one of
        mu: the same in Gaussian differential privacy;
        epsilon: with delta, or alone for pure differential privacy;
        delta: with epsilon;
        rho: in zero-concentrated differential privacy: it is spent as mu = sqrt(2 rho).
        ledger: path of its file, which is created if it is not there; or a PostgreSQL URL. A
            ledger that exists needs no budget.
        delta_aside: how much of the delta is set aside for tails of releases, and for groups that
            nobody declared; as for `Ledger.open`.
        memory_limit: as for `open_table`.
        temporary_directory: as for `open_table`.

    Raises:
        InvalidParameter: if the unit or the budget is missing or unusable, or there is a budget
            and no ledger.
        InvalidTable, UnknownColumn, MissingExtra: as `open_table`.
        LedgerMismatch: if the ledger was created with another budget or unit.
        LedgerUnavailable, LedgerCorrupt: if it cannot be used.
    """
    protected = unit_of(unit, max_rows, max_rows_per)
    cap = cap_given(budget, mu, epsilon, delta, rho, delta_aside)
    if cap is not None and ledger is None:
        raise InvalidParameter(
            "a budget is kept in a ledger, a file that outlives this process; none was given. "
            'Write ledger="my.ledger" beside the budget'
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
