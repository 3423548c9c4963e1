"""Ledgers and real child processes for the tests of this room."""

import json
import os
import signal
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from neyman.ledger import Ledger, Reservation
from neyman.tradeoff import TradeOff, gdp


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


@pytest.fixture
def tamper():
    """Change rows as someone does who takes the triggers away and puts them back."""

    def change(ledger: Ledger, *statements: str) -> None:
        with closing(sqlite3.connect(ledger.store.path, isolation_level=None)) as raw:
            triggers = raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = triggers.fetchall()
            for name, _ in triggers:
                raw.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                raw.execute(statement)
            for _, sql in triggers:
                raw.execute(sql)

    return change


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
def opened(tmp_path: Path):
    """Open the test's ledger; the same file every time."""

    def opener(cap: TradeOff | None = None, path: Path | None = None) -> Desk:
        return Desk(
            Ledger.open(
                path or tmp_path / "budget.ledger",
                cap=gdp(1) if cap is None else cap,
                unit="plane",
                neighbors="add_remove",
            )
        )

    return opener
