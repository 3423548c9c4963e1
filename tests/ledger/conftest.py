"""Ledgers in both stores and real child processes, for the tests of this room.

A test that takes `opened` runs twice: on SQLite files, and on schemas of a real PostgreSQL server.
"""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

from neyman.curves import TradeOff, gdp
from neyman.ledger import Ledger, Reservation


@dataclass(frozen=True)
class Child:
    """A forked process that reports JSON lines through a pipe."""

    pid: int
    pipe: int

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def finish(self) -> tuple[list, int]:
        """Wait for its end; return what it reported and its status, negative for a signal."""
        with os.fdopen(self.pipe, "rb") as reports:
            text = reports.read()
        _, status = os.waitpid(self.pid, 0)
        # A report is one write shorter than a pipe's buffer, so a kill cannot cut it.
        return [json.loads(line) for line in text.splitlines()], os.waitstatus_to_exitcode(status)


def spawn_child(work: Callable[[Callable[[object], None]], None]) -> Child:
    receive, send = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1

        def report(record: object) -> None:
            os.write(send, json.dumps(record).encode() + b"\n")

        try:
            os.close(receive)
            work(report)
            status = 0
        except BaseException as error:
            report(["error", repr(error)])
        finally:
            os._exit(status)
    os.close(send)
    return Child(pid, receive)


@pytest.fixture
def spawn():
    """Fork a child that runs work(report)."""
    return spawn_child


class Home(ABC):
    """Where the ledgers of a test are kept, and how to reach their rows past the library."""

    blob: ClassVar[str]

    @abstractmethod
    def place(self, path: Path) -> str | Path:
        """Return what `Ledger.open` takes; another path is another place."""

    @abstractmethod
    def ask(self, ledger: Ledger, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement as any user of the store could; return its rows."""

    @abstractmethod
    def tamper(self, ledger: Ledger, *statements: str) -> None:
        """Change rows as someone does who takes the triggers away and puts them back."""

    @abstractmethod
    def copy(self, ledger: Ledger, path: Path) -> None:
        """Copy the rows, by the store's own means."""


class Files(Home):
    blob: ClassVar[str] = "BLOB"

    def place(self, path: Path) -> str | Path:
        return path

    def ask(self, ledger: Ledger, statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(ledger.store.path, isolation_level=None)) as raw:
            return raw.execute(statement).fetchall()

    def tamper(self, ledger: Ledger, *statements: str) -> None:
        with closing(sqlite3.connect(ledger.store.path, isolation_level=None)) as raw:
            triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = triggers.fetchall()
            for name, _ in triggers:
                raw.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                raw.execute(statement)
            for _, sql in triggers:
                raw.execute(sql)

    def copy(self, ledger: Ledger, path: Path) -> None:
        shutil.copy(ledger.store.path, path)


@dataclass(frozen=True)
class Database(Home):
    server: Any
    blob: ClassVar[str] = "BYTEA"

    def place(self, path: Path) -> str | Path:
        return f"{self.server.url}?ledger=t{hashlib.sha256(str(path).encode()).hexdigest()[:30]}"

    @contextmanager
    def connected(self, schema: str) -> Iterator[Any]:
        import psycopg

        with psycopg.connect(
            self.server.address, autocommit=True, options=f"-c search_path={schema}"
        ) as raw:
            yield raw

    def ask(self, ledger: Ledger, statement: str) -> list[tuple[Any, ...]]:
        with self.connected(ledger.store.schema) as raw:
            result = raw.execute(statement)
            return result.fetchall() if result.description else []

    def tamper(self, ledger: Ledger, *statements: str) -> None:
        with self.connected(ledger.store.schema) as raw:
            for act in ("DISABLE", "ENABLE"):
                for table in ("meta", "events"):
                    raw.execute(f"ALTER TABLE IF EXISTS {table} {act} TRIGGER USER")
                for statement in statements if act == "DISABLE" else ():
                    raw.execute(statement)

    def copy(self, ledger: Ledger, path: Path) -> None:
        ledger.copy(self.place(path))


@pytest.fixture
def files() -> Home:
    return Files()


@pytest.fixture
def database(postgres_server: Any) -> Home:
    return Database(postgres_server)


@pytest.fixture(params=["files", "database"])
def home(request: pytest.FixtureRequest) -> Home:
    """Each store in turn."""
    return request.getfixturevalue(request.param)


@dataclass(frozen=True)
class Desk:
    """A ledger asked in one unit, with what does not matter to a test filled in."""

    ledger: Ledger

    def reserve(
        self,
        entry: str,
        curve: TradeOff | None = None,
        *,
        request: dict | None = None,
        source: str = "flights.parquet 1234567",
        unit: str = "plane",
        neighbors: str = "add_remove",
    ) -> Reservation:
        return self.ledger.reserve(
            entry=entry,
            request={"query": "count", "of": entry} if request is None else request,
            source=source,
            curve=gdp(0.1) if curve is None else curve,
            unit=unit,
            neighbors=neighbors,
        )

    def answer(self, entry: str, values=(1,), curve: TradeOff | None = None, **given):
        return self.ledger.commit(self.reserve(entry, curve, **given), values)

    @property
    def costs(self) -> Fraction:
        return sum((entry.cost for entry in self.ledger.entries()), Fraction(0))


@pytest.fixture
def opened(home: Home, tmp_path: Path):
    """Open the test's ledger; the same every time, unless another path is given."""

    def opener(cap: TradeOff | None = None, path: Path | None = None) -> Desk:
        return Desk(
            Ledger.open(
                home.place(path or tmp_path / "budget.ledger"),
                cap=gdp(1) if cap is None else cap,
                unit="plane",
                neighbors="add_remove",
            )
        )

    return opener
