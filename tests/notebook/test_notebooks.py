"""A notebook in JupyterLab, which comes without ipywidgets: the first hour of a user."""

import base64

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

# Every kind of object that a cell can end in; those that `tests/notebook/test_cells.py` looks into.
ASKED = """
from pathlib import Path
import sys
from neyman import functional, publish
table = opened(rows)
ledger = ny.Ledger.open("v.ledger", cap=ny.gdp(30), unit=table.protects, neighbors="add_remove")
question = table.count(by=ny.Keys({"patient": ["a", "b"]}))

def asked(question, entry, mu=1):
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    return ny.release(question, noise, ledger, entry=entry)

ages = functional.Interval(0, 100, outside="clip")
counts = asked(question, "counts")
# Of three patients only little noise leaves a density to draw, whatever is drawn.
density = publish.density(table.bounded(max_rows=400), "age", domain=ages, bandwidth=9)
density = asked(density, "d", mu=25)
Path("visits.toml").write_text('''
title = "Visits"
[data]
path = "visits.parquet"
[unit]
entity = "patient"
max_rows = 5
[budget]
ledger = "spec.ledger"
mu = 1
[[query]]
entry = "all-visits"
statistic = "count"
mu = 0.5
''')
plan = publish.plan(publish.read_spec(Path("visits.toml")), Path.cwd())
"""

SHOWN = {
    "table": "table",
    "question": "question",
    "preview": "publish.preview(question, ny.Gaussian.calibrate(question.sensitivity, mu=1))",
    "plan preview": "plan.preview()",
    "release": "counts",
    "release of a function": "density",
    "function": "functional.function(density)",
    "ledger": "ledger",
    "guarantee": "counts.guarantee",
    "trade-off function": "ny.gdp(1)",
}

PICTURES = {
    "of a guarantee": "tradeoff(ny.gdp(1))",
    "of two guarantees": "profile({'a': ny.gdp(1), 'b': ny.pure_dp(1)}, epsilon=2)",
    "of a privacy loss": "privacy_loss(ny.gdp(1), epsilon=1)",
    "of a release": "released(counts)",
    "of a density": "density(functional.function(density))",
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
            "asked": ASKED,
            **SHOWN,
            **{f"picture {name}": f"ny.plots.{call}" for name, call in PICTURES.items()},
            "frames": """
print(pa.table(counts).equals(counts.to_arrow(), check_metadata=True))
print(pl.DataFrame(counts).equals(counts.to_polars()))
""",
            "published": "done = publish.publish(plan)",
            "quiet": "done = publish.publish(plan, progress=lambda *_: None)",
            "publication": "done",
            "pyplot": "'matplotlib.pyplot' in sys.modules",
            "inline": "%matplotlib inline\nny.plots.tradeoff(ny.gdp(1))",
        }
    )


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_opens_and_is_counted_in_a_notebook_without_ipywidgets(book, kind):
    assert book.printed(kind) == "[15]\n"


def test_a_public_table_is_joined_in_a_notebook_without_ipywidgets(book):
    assert book.printed("public") == "[5 5]\n"


@pytest.mark.shows("notebooks")
@pytest.mark.parametrize("name", [*SHOWN, "publication"])
def test_every_object_that_a_cell_ends_in_is_shown_as_html_of_a_few_kilobytes(book, name):
    shown = book.shown(name)
    assert 100 < len(shown["text/html"].encode()) < 20_000
    assert len(shown["text/plain"]) < 3_000


@pytest.mark.shows("notebooks")
@pytest.mark.parametrize("name", [*(f"picture {name}" for name in PICTURES), "inline"])
def test_every_plot_is_an_image_without_a_word_of_magic_and_only_one_with_it(book, name):
    shown = book.shown(name)
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG")
    assert not {"text/html", "image/svg+xml"} & set(shown)


def test_pyplot_is_left_alone(book):
    assert book.shown("pyplot")["text/plain"] == "False"


def test_other_libraries_read_a_release_in_a_notebook(book):
    assert book.printed("frames") == "True\nTrue\n"


def test_progress_is_drawn_in_a_notebook_and_not_for_those_who_take_it_over(book):
    assert book.printed("published").split("\r")[-1].strip() == "[####################] done"
    assert book.printed("quiet") == ""
