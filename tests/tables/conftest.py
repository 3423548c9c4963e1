from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest


@pytest.fixture(scope="session")
def database():
    """One in-memory database; `fill` makes a table of it anew."""
    connection = duckdb.connect()
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def fill(database) -> Callable[[str, Sequence[str], Sequence[Sequence[object]]], tuple]:
    def filled(name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> tuple:
        database.execute(f'CREATE OR REPLACE TABLE "{name}" ({", ".join(columns)})')
        if rows:
            marks = ", ".join("?" * len(columns))
            values = ", ".join([f"({marks})"] * len(rows))
            flat = [part for row in rows for part in row]
            database.execute(f'INSERT INTO "{name}" VALUES {values}', flat)
        return database, name

    return filled


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        path = tmp_path / "table.csv"
        path.write_bytes(content)
        return path

    return write
