"""Rows that noise alone could have made: one rule, in text, JSON and page."""

import json
import math

import pyarrow as pa
import pytest

import neyman as ny
from neyman.released import RecordedQuestion, Release, Side
from neyman.tables import Count, Mean


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Counts and means of a large group, and of one that is not there."""
    rows = pa.table({"g": ["a"] * 2000, "x": [float(i % 50) for i in range(2000)]})
    bounds = {"x": ny.Bounds(0, 50, grid=1)}
    table = ny.open_table(rows, unit=ny.Rows(), bounds=bounds, name="t")
    place = tmp_path_factory.mktemp("ledger") / "l"
    ledger = ny.Ledger.open(place, cap=ny.gdp(10), unit="one row", neighbors="add_remove")
    keys = ny.Keys({"g": ["a", "nobody"]})
    question = table.statistics([Count(), Mean(table.measured("x"))], keys)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.3)
    return ny.release(question, noise, ledger, entry="a")


def noise_alone(record, columns):
    return Side(RecordedQuestion.of(record), "", columns, {}).noise_alone


def mean(low, value, high):
    columns = {"mean": [value], "lower": [low], "upper": [high], "count": [9.0]}
    return noise_alone({"statistic": "mean", "bounds": ["-60", "240"]}, columns)


def test_a_mean_is_told_where_its_interval_is_at_most_half_of_the_bounds():
    assert mean(-60.0, math.nan, 240.0) == [True]
    assert mean(-60.0, 85.7, 234.0) == [True]
    assert mean(-math.inf, 3.0, 7.0) == [True]
    assert mean(0.0, 75.0, 150.0) == [False]


@pytest.mark.parametrize(("low", "high", "few"), [(-3, 7, True), (0, 9, True), (1, 9, False)])
def test_a_count_is_told_where_its_interval_does_not_hold_0(low, high, few):
    columns = {"count": [2], "lower": [low], "upper": [high]}
    assert noise_alone({"statistic": "count"}, columns) == [few]


def test_other_statistics_have_the_range_that_their_bounds_allow():
    wide = {"lower": [-0.9], "upper": [0.9]}
    assert noise_alone({"statistic": "correlation"}, {"correlation": [0.0]} | wide) == [True]
    bounds = {"bounds": ["0", "4"], "other": {"bounds": ["0", "4"]}}
    variance = {"variance": [1.0], "lower": [0.5], "upper": [1.5]}
    assert noise_alone({"statistic": "variance"} | bounds, variance) == [False]
    covariance = {"covariance": [1.0], "lower": [-4.0], "upper": [1.0]}
    assert noise_alone({"statistic": "covariance"} | bounds, covariance) == [True]
    endless = {"estimate": [1.0], "lower": [-math.inf], "upper": [math.inf]}
    assert noise_alone({"statistic": "linear_regression"}, endless) == [True]


def test_an_absent_group_is_marked_and_its_mean_is_words(release):
    assert release.too_few == {"count": [False, True], "mean_x": [False, True]}
    text = str(release)
    assert "too few rows to tell" in text
    assert "noise alone could have made this number" in text
    count, means = text.split("mean_x")
    assert count.splitlines()[3].endswith("*")
    assert means.splitlines()[3].split() == ["nobody", "too", "few", "rows", "to", "tell"]


def test_json_has_null_and_the_flag_and_gives_all_numbers_back(release):
    record = json.loads(json.dumps(release.to_json()))
    assert record["columns"]["mean_x"][1] is None
    assert record["columns"]["mean_x_lower"][1] is None
    assert record["columns"]["mean_x"][0] == release.columns["mean_x"][0]
    assert record["columns"]["count"] == release.columns["count"]
    assert record["too_few"] == release.too_few
    assert Release.from_json(record) == release
    again = Release.from_arrow(release.to_arrow())
    assert again == release


@pytest.mark.parametrize(
    "noisy", [{"mean_x": {"9": 1}}, {"mean_x": {"1": "x"}}, {"none": {"0": 1}}]
)
def test_numbers_of_no_row_are_malformed(release, noisy):
    with pytest.raises(ValueError, match="must be a release of version 1"):
        Release.from_json(release.to_json() | {"noisy": noisy})
