"""Linear regression of a table, from the question to the answer."""

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import publish
from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.tables import Count, LinearRegression, Mean, Variance

BOUNDS = {name: ny.Bounds(-5, 5, grid=0.01) for name in ("x", "y", "z")}


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    x, z = rng.normal(0, 1, (2, 4000))
    y = np.clip(1 + 0.5 * x - 0.25 * z + rng.normal(0, 0.5, 4000), -5, 5)
    x[:5] = np.nan
    group = rng.choice(["a", "b"], 4000)
    return ny.open_table(
        pa.table({"x": x, "y": y, "z": z, "g": group}),
        unit=ny.Rows(),
        bounds=BOUNDS,
        name="line",
    )


@pytest.fixture
def ledger(table, tmp_path):
    return ny.Ledger.open(
        tmp_path / "l", cap=ny.gdp(9), unit=table.protects, neighbors="add_remove"
    )


def released(question, ledger, entry, mu=2):
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    return ny.release(question, noise, ledger, entry=entry)


@pytest.mark.shows("regression")
def test_several_features_by_group(table, ledger):
    keys = ny.Keys({"g": ["a", "b"]})
    question = publish.linear_regression(table, "y", ["x", "z"], keys)
    assert question.sensitivity.coordinates == 10
    answer = released(question, ledger, "line")
    assert answer.columns["g"] == ["a"] * 3 + ["b"] * 3
    assert answer.columns["term"] == ["(intercept)", "x", "z"] * 2
    # Six deviations and more of noise and sampling together: 0.012 and 0.01 or so.
    assert answer.columns["estimate"] == pytest.approx([1, 0.5, -0.25] * 2, abs=0.15)
    for low, high in zip(answer.columns["lower"], answer.columns["upper"], strict=True):
        assert low < high


@pytest.mark.parametrize("which", ["coefficient", "covariance", "correlation"])
def test_an_answer_without_an_interval_for_the_population_says_why(table, ledger, which):
    question = (
        publish.linear_regression(table, "y", ["x"])
        if which == "coefficient"
        else getattr(table, which)("x", "y")
    )
    answer = released(question, ledger, "a", mu=1)
    assert not any("total" in name for name in answer.columns)
    said = " ".join(str(answer).split())
    assert f"No interval of a {which} for the population: its sampling error depends on" in said
    assert "noise and sampling" not in said


def test_a_mean_has_an_interval_for_the_population_beside_others_too(table, ledger):
    x = table.measured("x")
    alone = released(table.mean("x"), ledger, "mean", mu=1)
    beside = released(table.statistics([Count(), Mean(x)]), ledger, "both", mu=1)
    for answer, name in ((alone, ""), (beside, "mean_x_")):
        low, inner = answer.columns[f"{name}total_lower"], answer.columns[f"{name}lower"]
        assert low[0] < inner[0]
        assert "if the rows are an independent sample of it." in " ".join(str(answer).split())
    assert "No interval of a count for the population" in str(beside)


def test_a_poisson_count_reads_a_stored_count_again_for_nothing(table, ledger):
    count = released(table.count(), ledger, "count", mu=1)
    again = released(table.aggregate(Count(poisson=True)), ledger, "count", mu=1)
    assert again.replayed
    assert again.columns["count"] == count.columns["count"]
    assert again.columns["total_lower"][0] < 4000 - 30 < 4000 + 30 < again.columns["total_upper"][0]


def test_statistics_together_are_one_entry(table, ledger):
    x = table.measured("x")
    asked = table.statistics([Count(), Mean(x), Variance(x)])
    answer = released(asked, ledger, "all")
    assert answer.spending.cost == 4
    assert answer.columns["variance_x"] == pytest.approx([1.0], abs=0.1)
    assert answer.columns["count"] == pytest.approx([4000], abs=30)
    assert answer.columns["mean_x_count"] == pytest.approx([3995], abs=30)
    assert answer.query["weights"] == list(answer.query["weights"])


def test_what_is_refused(table):
    with pytest.raises(UnknownColumn, match="no column 'q'"):
        publish.linear_regression(table, "y", ["q"])
    with pytest.raises(InvalidTable, match="cannot be added up"):
        publish.linear_regression(table, "y", ["g"])
    with pytest.raises(InvalidParameter, match="without the response"):
        publish.linear_regression(table, "y", ["y"])
    renamed = ny.open_table(
        pa.table({"term": ["a"], "x": [1.0], "y": [1.0]}),
        unit=ny.Rows(),
        bounds={name: BOUNDS[name] for name in "xy"},
        name="t",
    )
    with pytest.raises(InvalidTable, match="called like a column of the answer"):
        publish.linear_regression(renamed, "y", ["x"], ny.Keys({"term": ["a"]}))
    assert LinearRegression(table.measured("y"), (table.measured("x"),)).rows == 2
