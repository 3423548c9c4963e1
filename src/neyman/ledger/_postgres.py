"""A ledger in a PostgreSQL database, for many machines.

Each call uses one transaction and one connection, ended and closed before it returns. Writers
exclude each other by an advisory lock that belongs to the transaction and ends with it.
"""

import hashlib
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar, final

from neyman.errors import (
    InvalidParameter,
    LedgerCorrupt,
    LedgerUnavailable,
    MissingExtra,
    NeymanError,
)
from neyman.ledger._forks import kept_from_children, one_a_thread
from neyman.ledger._postgres_tables import PostgresTables
from neyman.ledger._postgres_url import address
from neyman.ledger._schema import SAME_TABLES, VERSION
from neyman.ledger._store import Store, Tables
from neyman.overriding import override

__all__ = ["PostgresStore", "explained", "out_of_reach"]

# Lock timeout, deadlock, serialisation.
_HELD: Final = ("55P03", "40")
_READ_ONLY: Final = ("25006",)
_FORBIDDEN: Final = ("42501",)
# Damage, a missing or different object, a refused row (also by a trigger), a value of another type.
_CORRUPT: Final = ("XX", "42", "23", "P0001", "22")


def out_of_reach(url: str, consequence: str) -> LedgerUnavailable:
    """Return the error for a server that cannot be reached or refuses this user."""
    return LedgerUnavailable(
        f"the server of the ledger {url!r} cannot be reached, or does not let this user in. "
        f"{consequence} Check that it runs, and host, port, database, user and password; `psql` "
        "with the same URL says more (its words are withheld here)"
    )


def explained(url: str, code: str | None, consequence: str) -> NeymanError:
    """Return the error for an SQLSTATE code; None means that the connection was lost."""
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


T = TypeVar("T")

_PATIENCE_S: Final = 30.0

# Defaults, which the URL can override; a server that is silent for a minute counts as gone.
_ACCESS: Final = {
    "application_name": "neyman ledger",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}

# Set for this transaction alone, so that a connection pool may be used. The server notices a client
# that vanished, and frees its locks.
_SETTINGS: Final = (
    "SET LOCAL statement_timeout = 0",
    # A process that is stopped in the middle of a call does not block the others for good.
    "SET LOCAL idle_in_transaction_session_timeout = '5min'",
    # A policy that would hide rows is an error.
    "SET LOCAL row_security = off",
    # Deferred constraints would act after the last check of what was written.
    "SET CONSTRAINTS ALL IMMEDIATE",
    # It changes the text of the catalog's definitions.
    "SET LOCAL quote_all_identifiers = off",
    "SET LOCAL tcp_keepalives_idle = 30",
    "SET LOCAL tcp_keepalives_interval = 10",
    "SET LOCAL tcp_keepalives_count = 3",
    # A commit is durable when it returns, whatever the default here; a stricter setting is kept.
    "SELECT set_config('synchronous_commit', 'on', true) "
    "WHERE current_setting('synchronous_commit') <> 'remote_apply'",
)
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_TURN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
_UNKNOWN: Final = (
    "The connection was lost at the last step, so it may have been written after all; asking again "
    "writes nothing twice."
)


@final
@dataclass(frozen=True, slots=True)
class PostgresStore(Store):
    """One schema of a PostgreSQL database.

    Attributes:
        url: without the password.
        schema: "neyman_" and the ledger's name.
    """

    url: str
    schema: str
    _access: Mapping[str, str] = field(repr=False, compare=False)

    @classmethod
    def at(cls, url: str) -> "PostgresStore":
        """Return the store of a URL.

        Raises:
            InvalidParameter: if it is not a valid URL.
        """
        found = address(url)
        return cls(found.text, f"neyman_{found.ledger}", found.access)

    def __str__(self) -> str:
        return self.url

    @property
    @override
    def name(self) -> str:
        return self.url

    @property
    @override
    def files(self) -> frozenset[Path]:
        return frozenset()

    @override
    def settled(self) -> "PostgresStore":
        psycopg, known = _client(), False
        with suppress(psycopg.Error):
            psycopg.conninfo.make_conninfo(**self._access)
            known = True
        if not known:
            raise InvalidParameter(
                f"the URL of {self.url!r} says something after '?' that the client of PostgreSQL "
                "does not know; write parameters of libpq there, and ledger=NAME"
            )
        return self

    @override
    def exists(self) -> bool:
        return self._transact(_READ, lambda tables: bool(tables.found()), "Nothing was changed.")

    @override
    def read(self, work: Callable[[Tables], T], *, consequence: str) -> T:
        def reading(tables: PostgresTables) -> T:
            self._require_ledger(tables)
            return work(tables)

        return self._transact(_READ, reading, consequence)

    @override
    def write(self, work: Callable[[Tables], T], *, consequence: str, create: bool = False) -> T:
        def writing(tables: PostgresTables) -> T:
            # Later reads see the writes of all earlier holders of the lock.
            tables.connection.execute(_lock(self.schema))
            self._require_durable(tables)
            if not create or tables.found():
                self._require_ledger(tables)
            else:
                self._require_schema(tables)
            return work(tables)

        return self._transact(_WRITE, writing, consequence)

    @contextmanager
    @override
    def turn(self, entry: str) -> Generator[None]:
        psycopg, consequence, failure = _client(), "Nothing was charged.", None
        with one_a_thread(entry), self._connected(consequence) as connection:
            try:
                self._begin(connection, _TURN)
                self._require_ledger(PostgresTables(connection, self.schema))
                connection.execute("SET LOCAL lock_timeout = 0")
                connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                connection.execute(_lock(self.schema, entry))
            except psycopg.Error as error:
                failure = explained(self.url, error.sqlstate, consequence)
            if failure is not None:
                raise failure
            yield

    def _transact(self, begin: str, work: Callable[[PostgresTables], T], consequence: str) -> T:
        psycopg = _client()
        with self._connected(consequence) as connection:
            try:
                self._begin(connection, begin)
                result = work(PostgresTables(connection, self.schema))
                if begin == _WRITE:
                    consequence = _UNKNOWN
                connection.execute("COMMIT")
            except psycopg.Error as error:
                failure = explained(self.url, error.sqlstate, consequence)
            else:
                return result
        # Outside the handler, so that the server's error is not attached.
        raise failure

    def _connected(self, consequence: str) -> AbstractContextManager[Any]:
        return kept_from_children(
            lambda: self._open(consequence),
            lambda connection: connection.fileno(),
            lambda connection: connection.close(),
        )

    def _open(self, consequence: str) -> Any:
        psycopg = _client()
        access = {**_ACCESS, **self._access, "client_encoding": "UTF8"}
        with suppress(psycopg.Error, OSError, ValueError):
            where = psycopg.conninfo.make_conninfo(**access)
            return psycopg.connect(where, autocommit=True, prepare_threshold=None)
        raise out_of_reach(self.url, consequence)

    def _begin(self, connection: Any, begin: str) -> None:
        connection.execute(
            "; ".join(
                (
                    begin,
                    *_SETTINGS,
                    f"SET LOCAL search_path = {self.schema}, pg_temp",
                    f"SET LOCAL lock_timeout = {round(1000 * _PATIENCE_S)}",
                )
            )
        )

    def _require_schema(self, tables: PostgresTables) -> None:
        ((there,),) = tables.select("SELECT to_regnamespace(?) IS NOT NULL", self.schema)
        if not there:
            tables.connection.execute(f"CREATE SCHEMA {self.schema}")
        # If a schema is closed to the user, tables would be temporary.
        ((found,),) = tables.select("SELECT current_schema()")
        if found != self.schema:
            raise LedgerUnavailable(
                f"the schema {self.schema!r} of {self.url!r} is closed to this user. Nothing was "
                "made. Ask its owner for USAGE and CREATE on it, or write ?ledger=NAME with "
                "another name for the ledger"
            )

    def _require_ledger(self, tables: PostgresTables) -> None:
        if not tables.found():
            raise LedgerUnavailable(
                f"there is no ledger at {self.url!r}, or its schema {self.schema!r} is closed to "
                "this user; write the URL of one, or make one with Ledger.open"
            )
        if not tables.made:
            return
        version = tables.version()
        if version is None:
            raise LedgerCorrupt(
                f"the schema {self.schema!r} holds a table 'meta' that is no ledger's; write "
                "?ledger=NAME with another name for the ledger"
            )
        if not SAME_TABLES <= int(version) <= VERSION:
            raise LedgerUnavailable(
                f"the ledger {self.url!r} has format {version}, and this release reads formats "
                f"{SAME_TABLES} to {VERSION}; use the release of neyman that goes with it"
            )

    def _require_durable(self, tables: PostgresTables) -> None:
        ((fsync, commit, encoding, role, zeroed),) = tables.select(
            "SELECT current_setting('fsync'), current_setting('synchronous_commit'), "
            "current_setting('server_encoding'), current_setting('session_replication_role'), "
            "current_setting('zero_damaged_pages')"
        )
        if fsync != "on" or commit not in {"on", "remote_apply"}:
            raise LedgerUnavailable(
                f"the server of {self.url!r} runs with fsync={fsync}, synchronous_commit={commit}: "
                "after a power cut it may have lost what it said to have written. Nothing was "
                "written. Turn both on, or write the URL of a server that has them on"
            )
        if role != "origin" or zeroed != "off":
            raise LedgerUnavailable(
                f"this session at {self.url!r} runs with session_replication_role={role}, "
                f"zero_damaged_pages={zeroed}: triggers that keep the ledger append-only would "
                "sleep, or damaged rows vanish. Nothing was written. Write "
                "session_replication_role=origin and zero_damaged_pages=off for this role, "
                "database and server"
            )
        if encoding != "UTF8":
            raise LedgerUnavailable(
                f"the database of {self.url!r} is in {encoding}, which cannot write every id; "
                "write the URL of a database in UTF8"
            )


def _client() -> Any:
    """Return the client library.

    Raises:
        MissingExtra: if it is not installed.
    """
    if find_spec("psycopg") is None:
        raise MissingExtra(
            "a ledger on PostgreSQL needs the package psycopg, which is not installed; "
            "write pip install 'neyman[postgres]'"
        )
    return import_module("psycopg")


def _lock(*names: str) -> str:
    """Return the statement that waits for the lock of these names."""
    digest = hashlib.sha256("\0".join(("neyman.ledger", *names)).encode()).digest()
    return f"SELECT pg_advisory_xact_lock({int.from_bytes(digest[:8], 'big', signed=True)})"
