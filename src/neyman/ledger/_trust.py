"""Checks of a ledger's tables before they are read, and of the rows written to them.

In a database, a user may attach a trigger to a table without owning it, and a trigger can rewrite
the cost of an entry when it is inserted. So nothing is read from altered tables and nothing is left
in them, and every written row is read back before the transaction ends.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from neyman.arguments import brief
from neyman.errors import LedgerCorrupt
from neyman.ledger._chain import COLUMNS
from neyman.ledger._store import Table, Tables

__all__ = ["require_as_made", "require_kept", "trusted"]

T = TypeVar("T")

_KEYS: Final[dict[Table, str]] = {"meta": "id", "events": "seq"}
_COST: Final = COLUMNS.index("cost")


def trusted(work: Callable[[Tables], T], consequence: str) -> Callable[[Tables], T]:
    """Return the work of one transaction, with checks before and after it.

    Args:
        work: the work.
        consequence: what a refusal means for the caller; ends with a full stop.
    """

    def checked(tables: Tables) -> T:
        if tables.made:
            require_as_made(tables, consequence)
        result = work(tables)
        require_kept(tables, consequence)
        return result

    return checked


def require_as_made(tables: Tables, consequence: str) -> None:
    """Refuse altered tables, and added objects that may change or hide rows.

    Raises:
        LedgerCorrupt: if there is a difference; the message names the first.
    """
    found = [brief(finding) for finding in tables.altered()]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise LedgerCorrupt(
            f"the ledger's tables are not as they were made: {found[0]}{more}. {consequence} Have "
            "their owner take away what was added and put back what is missing, or restore the "
            "ledger from a backup; `neyman ledger check` lists all of it"
        )


def require_kept(tables: Tables, consequence: str) -> None:
    """Refuse to end a transaction unless exactly its rows were stored, unchanged.

    Raises:
        LedgerCorrupt: if a row differs. The message does not quote it, because answers are not
            public yet.
    """
    if not tables.written:
        return
    for table, key in _KEYS.items():
        meant = [row for name, row in tables.written if name == table]
        if meant:
            query = f"SELECT * FROM {table} WHERE {key} >= ? ORDER BY {key}"
            found = list(tables.select(query, meant[0][0]))
            if _typed(found) != _typed(meant):
                raise LedgerCorrupt(
                    f"{_difference(table, meant, found)}: something rewrites what is written to "
                    f"the ledger. All of it was taken back. {consequence} Have the owner of the "
                    "tables take it away; `neyman ledger check` lists what lies there"
                )
    # Anything added to the tables since the first check is now visible.
    require_as_made(tables, consequence)


def _typed(rows: list[tuple[object, ...]]) -> list[list[tuple[type, object]]]:
    # Python treats 1 and 1.0 as equal.
    return [[(type(cell), cell) for cell in row] for row in rows]


def _difference(
    table: Table, meant: list[tuple[object, ...]], found: list[tuple[object, ...]]
) -> str:
    if len(found) != len(meant):
        return f"the ledger's table {table!r} must have {len(meant)} new rows; it has {len(found)}"
    pairs = zip(meant, found, strict=True)
    one, other = next(pair for pair in pairs if _typed([pair[0]]) != _typed([pair[1]]))
    if table == "events" and one[_COST] != other[_COST]:
        return (
            f"row {one[0]} was written with cost {brief(str(one[_COST]))}, and now has cost "
            f"{brief(str(other[_COST]))}"
        )
    return f"row {one[0]} of the ledger's table {table!r} is not as it was written"
