"""A ledger in one SQLite file.

Each call uses one transaction, which is opened, ended and closed before the call returns.
"""

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

from neyman.errors import LedgerCorrupt, LedgerUnavailable, NeymanError
from neyman.ledger._paths import real_path, require_one_name, require_present, unwritable
from neyman.ledger._sqlite_tables import SQLiteTables, recognise, update
from neyman.ledger._store import Store, Tables
from neyman.ledger._turns import turn
from neyman.overriding import override

__all__ = ["SQLiteStore"]

T = TypeVar("T")

_PATIENCE_S: Final = 30.0

# SQLite keeps its file locks in the process's memory. A child that is forked while a connection is
# open would believe that it has them. So there is one call at a time, and forks wait for its end.
_ONE_AT_A_TIME: Final = threading.Lock()
if sys.platform != "win32":
    os.register_at_fork(
        before=_ONE_AT_A_TIME.acquire,
        after_in_parent=_ONE_AT_A_TIME.release,
        after_in_child=_ONE_AT_A_TIME.release,
    )

_OUT_OF_REACH: Final = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
_HELD: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@final
@dataclass(frozen=True, slots=True)
class SQLiteStore(Store):
    """One SQLite file on a local disk. A copy that this user cannot write can be read.

    Attributes:
        path: of the file.
    """

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    @override
    def name(self) -> str:
        return self.path.name

    @property
    @override
    def files(self) -> frozenset[Path]:
        return frozenset({self.path})

    @override
    def settled(self) -> "SQLiteStore":
        return SQLiteStore(real_path(self.path))

    @override
    def exists(self) -> bool:
        # The file is empty until another process has made a ledger of it.
        return _has_content(self.path) or _has_log(self.path)

    @override
    def read(self, work: Callable[[Tables], T], *, consequence: str) -> T:
        return _transact(self.path, work, "BEGIN", consequence, create=False)

    @override
    def write(self, work: Callable[[Tables], T], *, consequence: str, create: bool = False) -> T:
        return _transact(self.path, work, "BEGIN IMMEDIATE", consequence, create=create)

    @override
    def turn(self, entry: str) -> AbstractContextManager[None]:
        require_present(self.path)
        return turn(self.path, entry)


def _transact(
    path: Path, work: Callable[[Tables], T], begin: str, consequence: str, *, create: bool
) -> T:
    failure: NeymanError | None = None
    if not create:
        require_present(path)
    require_one_name(path)
    locked = unwritable(path)
    if locked is not None and (begin != "BEGIN" or _has_log(path)):
        raise _read_only(path, locked, consequence)
    if not _ONE_AT_A_TIME.acquire(timeout=2 * _PATIENCE_S):
        raise _held(path, consequence)
    try:
        if locked is not None:
            return _look(path, work, consequence)
        return _run(path, work, begin, "rwc" if create else "rw")
    except sqlite3.Error as error:
        failure = _explained(path, getattr(error, "sqlite_errorcode", None), consequence)
    finally:
        _ONE_AT_A_TIME.release()
    # Outside the handler, so that SQLite's error is not attached.
    raise failure


def _look(path: Path, work: Callable[[Tables], T], consequence: str) -> T:
    # SQLite assumes that the file does not change, and takes no locks: check that this was so.
    before = _version(path)
    result = _run(path, work, "BEGIN", "ro&immutable=1")
    if _has_log(path) or _version(path) != before:
        raise LedgerUnavailable(
            f"the ledger {str(path)!r}, which is read-only for this user, changed while it was "
            f"read. {consequence} Look again, or at a copy that nobody writes"
        )
    return result


def _has_log(path: Path) -> bool:
    return _has_content(path.with_name(f"{path.name}-wal"))


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _version(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _run(path: Path, work: Callable[[Tables], T], begin: str, mode: str) -> T:
    with closing(
        sqlite3.connect(
            f"{path.as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE_S, isolation_level=None
        )
    ) as connection:
        # Before anything is written, so that another program's file is not changed.
        older = recognise(connection, path)
        if mode.startswith("ro"):
            return _read_only_run(connection, work, older=older)
        _prepare(connection)
        if older:
            update(connection)
        return _transaction(connection, work, begin)


def _read_only_run(
    connection: sqlite3.Connection, work: Callable[[Tables], T], *, older: bool
) -> T:
    if not older:
        return _transaction(connection, work, "BEGIN")
    # A copy in memory is updated instead; the file does not change.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        connection.backup(copy)
        update(copy)
        return _transaction(copy, work, "BEGIN")


def _transaction(connection: sqlite3.Connection, work: Callable[[Tables], T], begin: str) -> T:
    connection.execute(begin)
    try:
        result = work(SQLiteTables(connection))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _prepare(connection: sqlite3.Connection) -> None:
    # The log is folded into the file only by the last to close, alone: releases of SQLite before
    # 3.51.3 can lose pages when another connection writes meanwhile (the "WAL-reset bug").
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        # SQLite does not wait for locks in this statement.
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _HELD or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
            continue
        if mode == "wal":
            return
        raise LedgerUnavailable(
            f"the file system keeps no write-ahead log (SQLite offers {mode!r}); "
            "keep the ledger on a local disk"
        )


def _read_only(path: Path, locked: Path, consequence: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the ledger {str(path)!r} needs to write {str(locked)!r}, which is read-only for this "
        f"user. {consequence} Make the file and its directory writable; a copy may be looked at "
        "where it is read-only, if no -wal with newer entries lies beside it"
    )


def _held(path: Path, consequence: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the ledger {str(path)!r} was locked by another process for over {_PATIENCE_S:g} s. "
        f"{consequence} Try again when that process has ended"
    )


def _explained(path: Path, code: int | None, consequence: str) -> NeymanError:
    primary = None if code is None else code & 0xFF
    if primary in _HELD:
        return _held(path, consequence)
    if primary in _OUT_OF_REACH:
        return LedgerUnavailable(
            f"the ledger {str(path)!r} could not be read or written (SQLite result {code}). "
            f"{consequence} Check that the file exists, that the disk has room, and that the file "
            "and its directory are writable"
        )
    return LedgerCorrupt(
        f"{str(path)!r} is not, or no longer, a file that a ledger wrote (SQLite result {code}). "
        f"{consequence} Write another path, or restore the file and its -wal from a backup; "
        "`neyman ledger check` lists what is wrong"
    )
