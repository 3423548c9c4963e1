"""A notebook in JupyterLab, which comes without ipywidgets: the first hour of a user."""

import pytest

ROWS = """
import duckdb, pandas as pd, polars as pl, pyarrow as pa, pyarrow.csv, pyarrow.parquet
import neyman as ny
rows = pa.table({"patient": ["a", "b", "c"] * 400, "age": [20, 30, 40] * 400})
pa.parquet.write_table(rows, "visits.parquet")
pa.csv.write_csv(rows, "visits.csv")
connection = duckdb.connect()
connection.execute("CREATE TABLE visits AS FROM rows")

def opened(source):
    name = None if isinstance(source, str) else "visits"
    bounds = {"age": ny.Bounds(0, 100, grid=1)}
    return ny.open_table(source, name=name, unit=ny.Entity("patient", max_rows=5), bounds=bounds)
"""

SOURCES = {
    "Arrow": "rows",
    "pandas": "rows.to_pandas()",
    "Polars": "pl.from_arrow(rows)",
    "Parquet": "'visits.parquet'",
    "CSV": "'visits.csv'",
    "DuckDB": "(connection, 'visits')",
}


@pytest.fixture(scope="session")
def book(run_cells):
    """Everything that is looked at below, in one kernel."""
    return run_cells(
        {
            "rows": ROWS,
            **{
                kind: f"print(opened({source}).count().compute())"
                for kind, source in SOURCES.items()
            },
            "public": """
public = {"age": [20, 30], "group": ["young", "old"]}
joined = opened(rows).join_public(public, on="age", how="left")
print(joined.count(by=ny.Keys({"group": ["young", "old"]})).compute())
""",
        }
    )


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_opens_and_is_counted_in_a_notebook_without_ipywidgets(book, kind):
    assert book.printed(kind) == "[15]\n"


def test_a_public_table_is_joined_in_a_notebook_without_ipywidgets(book):
    assert book.printed("public") == "[5 5]\n"
