"""The page of mechanisms: none is missing, what it names is there, and tests hold each."""

import inspect
import re

from neyman import mechanisms

PAGE = "mechanisms.md"
CALLS = ("curve", "sampler", "calibration")
TESTS = ("curve", "draws", "twin")


def test_no_public_mechanism_is_missing(tables):
    public = {
        name
        for name in mechanisms.__all__
        if inspect.isclass(getattr(mechanisms, name))
        and not inspect.isabstract(getattr(mechanisms, name))
        and hasattr(getattr(mechanisms, name), "tradeoff")
    }
    listed = [row["mechanism"] for row in tables.rows(PAGE, "mechanism")]
    assert len(set(listed)) == len(listed)
    assert set(listed) - {"Gaussian of any covariance"} == public


def test_each_has_a_curve_a_sampler_and_a_calibration(tables):
    for row in tables.rows(PAGE, "mechanism"):
        for head in CALLS:
            assert tables.missing_calls(row[head]) == [], row["mechanism"]


def test_each_has_tests_of_its_curve_its_draws_and_a_twin_and_no_other_has(tables, shown):
    listed = [row["mechanism"] for row in tables.rows(PAGE, "mechanism")]
    expected = {f"{what} of {name}" for what in TESTS for name in listed}
    assert {row for row in shown if " of " in row} == expected


def test_each_has_a_section_with_an_example(tables):
    text = tables.text(PAGE)
    for row in tables.rows(PAGE, "mechanism"):
        section = re.search(rf"^## {row['mechanism']}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        assert section is not None, row["mechanism"]
        assert ">>> " in section.group(1), row["mechanism"]
