"""What a code of the server's means for a ledger; its own words are withheld, they can quote rows.

The codes are PostgreSQL's SQLSTATEs, the first two characters of which are the class.
"""

from typing import Final

from neyman.errors import LedgerCorrupt, LedgerUnavailable, NeymanError

__all__ = ["explained", "out_of_reach"]

# Lock timeout, deadlock, serialisation.
_HELD: Final = ("55P03", "40")
_READ_ONLY: Final = ("25006",)
_FORBIDDEN: Final = ("42501",)
# Damage, an object missing or other, a row refused, by a trigger too, a value of another kind.
_CORRUPT: Final = ("XX", "42", "23", "P0001", "22")


def out_of_reach(url: str, consequence: str) -> LedgerUnavailable:
    """Return the error for a server that lets nobody in."""
    return LedgerUnavailable(
        f"the server of the ledger {url!r} cannot be reached, or does not let this user in. "
        f"{consequence} Check that it runs, and host, port, database, user and password; `psql` "
        "with the same URL says more (its words are withheld here)"
    )


def explained(url: str, code: str | None, consequence: str) -> NeymanError:
    """Return the error for a code; None means that the connection was lost."""
    known = code or ""
    if known.startswith(_HELD):
        return LedgerUnavailable(
            f"the ledger {url!r} was locked by others for too long (SQLSTATE {code}). "
            f"{consequence} Try again"
        )
    if known.startswith(_READ_ONLY):
        return LedgerUnavailable(
            f"the server of the ledger {url!r} is read-only: a standby, or set so. {consequence} "
            "Write the URL of the primary server; here a ledger may be looked at"
        )
    if known.startswith(_FORBIDDEN):
        return LedgerUnavailable(
            f"this user may not do that in the ledger {url!r}. {consequence} To look, a user needs "
            "USAGE on its schema and SELECT on its tables, to charge INSERT too, and to make one "
            "CREATE on the database"
        )
    if known.startswith(_CORRUPT):
        return LedgerCorrupt(
            f"{url!r} is not, or no longer, what a ledger wrote (SQLSTATE {code}). {consequence} "
            "Write another ?ledger=NAME, or restore it from a backup; `neyman ledger check` lists "
            "what is wrong"
        )
    lost = "the connection was lost" if code is None else f"SQLSTATE {code}"
    return LedgerUnavailable(
        f"the ledger {url!r} could not be read or written ({lost}). {consequence} Check that the "
        "server runs and has room, and try again"
    )
