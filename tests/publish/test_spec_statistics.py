"""Every statistic of a spec asks what the same call asks from Python; rows and columns made."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import publish
from neyman.errors import SpecError, UnknownColumn

HEAD = """
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 6
[derive]
half = "x * 0.5"
[columns.x]
lower = 0
upper = 10
grid = 1
[columns.half]
lower = 0
upper = 5
grid = 0.5
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "a"
mu = 0.1
"""
WARDS = ny.Keys({"ward": ["north", "south"]})
LINE = ny.functional.Interval(0, 10, outside="clip")
ASKED = {
    'statistic = "count_units"\nby = "wards"': lambda t: t.count_units(WARDS),
    'statistic = "variance"\ncolumn = "x"\nby = "wards"': lambda t: t.variance("x", WARDS),
    'statistic = "covariance"\nx = "x"\ny = "half"': lambda t: t.covariance("x", "half"),
    'statistic = "correlation"\nx = "x"\ny = "half"': lambda t: t.correlation("x", "half"),
    'statistic = "linear_regression"\nresponse = "half"\nfeatures = ["x"]\nby = "wards"': (
        lambda t: publish.linear_regression(t, "half", ["x"], WARDS)
    ),
    'statistic = "count"\nby = "wards"\nmax_rows = 4': (
        lambda t: t.bounded(max_rows=4).count(WARDS)
    ),
    'statistic = "count"\nby = "wards"\nmax_rows = 5\nmax_rows_per_group = 2': (
        lambda t: t.bounded(max_rows=5, max_rows_per_group=2).count(WARDS)
    ),
    'statistic = "several"\nby = "wards"\nshares = [1, 1, 3]\nparts = [{ statistic = "count" }, '
    '{ statistic = "mean", column = "x" }, { statistic = "covariance", x = "x", y = "half" }]': (
        lambda t: t.statistics(
            [
                ny.tables.Count(),
                ny.tables.Mean(t.measured("x")),
                ny.tables.Covariance(t.measured("x"), t.measured("half")),
            ],
            WARDS,
            shares=(1, 1, 3),
        )
    ),
    'statistic = "quantiles"\ncolumn = "x"\nprobabilities = [0, 0.5]\nby = "wards"': (
        lambda t: publish.quantiles(t, "x", [0, 0.5], by=WARDS)
    ),
    'statistic = "density"\ncolumn = "x"\nbandwidth = 1\nby = "wards"': (
        lambda t: publish.density(t, "x", bandwidth=1, by=WARDS)
    ),
    'statistic = "density"\ncolumn = ["x", "half"]\nbandwidth = [1, 0.5]\nby = "wards"': (
        lambda t: publish.density(
            t,
            ["x", "half"],
            domain=ny.functional.Box(LINE, ny.functional.Interval(0, 5, outside="clip")),
            bandwidth=[1, 0.5],
            by=WARDS,
        )
    ),
    'statistic = "survival"\nduration = "x"\nobserved = "ok"\nhorizon = 9\nbandwidth = 0.5\n'
    'by = "wards"': lambda t: publish.survival(
        t, duration="x", observed="ok", horizon=9, bandwidth=0.5, by=WARDS
    ),
    'statistic = "regression"\nx = "x"\ny = "half"\nbandwidth = 1\nby = "wards"': (
        lambda t: publish.regression(t, x="x", y="half", domain=LINE, bandwidth=1, by=WARDS)
    ),
    'statistic = "sum"\ncolumn = "half"\nwhere = "x > 2.5 and ok"': (
        lambda t: t.where((ny.col("x") > 2.5) & ny.col("ok")).sum("half")
    ),
}


@pytest.fixture
def ask(tmp_path):
    rows = {
        "who": [f"p{i % 30}" for i in range(90)],
        "ward": ["north", "south", "east"] * 30,
        "x": [float(i % 11) for i in range(90)],
        "ok": [i % 2 == 0 for i in range(90)],
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")

    def aggregate(query):
        (tmp_path / "s.toml").write_text(HEAD + query + "\n", encoding="utf-8")
        (step,) = publish.plan(publish.read_spec(tmp_path / "s.toml"), tmp_path).steps
        return step.aggregate

    aggregate.path = tmp_path / "t.parquet"
    return aggregate


@pytest.mark.parametrize("query", ASKED)
def test_a_spec_asks_what_python_asks(ask, query):
    table = ny.open_table(ask.path, unit=ny.Entity("who", max_rows=6))
    table = table.with_bounds({"x": ny.Bounds(0, 10, 1)})
    if "half" in query:
        table = table.with_columns(half=ny.col("x") * 0.5)
        table = table.with_bounds({"half": ny.Bounds(0, 5, 0.5)})
    found, same = ask(query), ASKED[query](table)
    assert found.query == same.query
    assert found.compute().tolist() == same.compute().tolist()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ('statistic = "count"\nwhere = "gt(1, 2)"', "query 'a'.where: 'gt' is no function"),
        ('statistic = "count"\nwhere = 3', "query 'a'.where: it should be text"),
        ('statistic = "quantiles"\ncolumn = "x"\nprobabilities = [2]', r"probabilities\[0\]: "),
        ('statistic = "covariance"\nx = "x"', "'a'.y: is missing; a covariance needs two columns"),
        ('statistic = "variance"\ncolumn = "z"', r"needs bounds of 'z'; write \[columns.z\]"),
        ('statistic = "linear_regression"\nresponse = "x"\nfeatures = []', "'a'.features: "),
        (
            'statistic = "several"\nparts = [{ statistic = "mean" }]',
            r"'a'.parts\[0\].column: is missing; a mean needs a column",
        ),
        (
            'statistic = "several"\nparts = [{ statistic = "mode", column = "x" }]',
            r"'a'.parts\[0\].statistic: no such statistic 'mode'; write one of count, sum, mean",
        ),
        (
            'statistic = "several"\nparts = [{ column = "x" }]',
            r"'a'.parts\[0\].statistic: is missing; write one of count, sum, mean, variance",
        ),
        (
            'statistic = "several"\nparts = [{ statistic = "count", mu = 1 }]',
            r"'a'.parts\[0\].mu: no such key; a count takes no column",
        ),
        (
            'statistic = "several"\nparts = [{ statistic = "sum", column = "z" }]',
            "'a' needs bounds of 'z'",
        ),
        (
            'statistic = "several"\nparts = [{ statistic = "count" }]\nshares = [1, 2]',
            "shares holds 2 for 1 parts",
        ),
        (
            'statistic = "several"\nparts = [{ statistic = "count" }, { statistic = "count" }]',
            "^query 'a': the column 'count' would stand twice",
        ),
    ],
)
def test_mistakes_are_told(ask, query, said):
    with pytest.raises(SpecError, match=said):
        ask(query)


def test_rows_by_a_column_that_is_not_there_are_refused(ask):
    with pytest.raises(UnknownColumn, match=r"^query 'a': .*'z'"):
        ask('statistic = "count"\nwhere = "z is null"')


def test_a_made_column_is_in_the_records_of_those_who_use_it_alone(ask):
    """Else one more column would make every entry in the ledger another question."""
    assert "made" not in ask('statistic = "mean"\ncolumn = "x"').query
    assert "made" not in ask('statistic = "count"\nby = "wards"').query
    for query in (
        'statistic = "mean"\ncolumn = "half"',
        'statistic = "count"\nwhere = "half > 1"',
        'statistic = "count"\nby = "halves"\n[keys.halves]\n'
        'half = { edges = [0, 2, 5], outside = "drop" }',
    ):
        assert set(ask(query).query["made"][0]["columns"]) == {"half"}


def test_a_wrong_column_of_keys_says_whose_they_are(ask):
    query = 'statistic = "count"\nby = "wrong"\n[keys.wrong]\nwart = ["north"]'
    with pytest.raises(UnknownColumn, match=r"^query 'a', by = 'wrong': .*'wart'; close .*'ward'"):
        ask(query)
