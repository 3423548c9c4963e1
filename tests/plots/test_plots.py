"""Pictures: what is drawn is what was said, and the same twice."""

from dataclasses import replace

import numpy as np
import pytest

import neyman as ny
from neyman import plots
from neyman.released import Guarantee, Release, Spending


@pytest.fixture
def release():
    from fractions import Fraction

    return Release(
        entry="a",
        query={"statistic": "mean", "column": "x"},
        mechanism={},
        guarantee=Guarantee(
            curve=ny.gdp(1), neighbors="add_remove", unit="one row", assumptions=()
        ),
        spending=Spending(account="mu^2", cost=Fraction(1), remaining=Fraction(0), cap=Fraction(1)),
        confidence=0.95,
        columns={
            "ward": ["north", "south"],
            "mean": [1.5, float("nan")],
            "lower": [1.0, 0.0],
            "upper": [2.0, 9.0],
            "count": [10.0, -1.0],
        },
        replayed=False,
    )


def test_a_curve_is_drawn_with_its_bracket_and_the_diagonal():
    picture = plots.tradeoff({"one": ny.gdp(1), "two": ny.pure_dp(1)})
    (axes,) = picture.axes
    assert len(axes.collections) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["guessing", "one", "two"]
    x, y = axes.lines[1].get_data()
    np.testing.assert_array_equal(y, ny.gdp(1).beta(x))


def test_a_mean_that_is_undefined_keeps_its_interval(release):
    picture = plots.released(release)
    (axes,) = picture.axes
    assert len(axes.lines[0].get_xdata()) == 1
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["north", "south"]
    assert len(axes.collections[0].get_segments()) == 2


def test_true_values_are_drawn_only_when_handed_over_and_are_called_so(release):
    (axes,) = plots.released(release).axes
    assert axes.get_legend() is None
    assert len(axes.lines) == 1
    (axes,) = plots.released(release, truth=[1.4, 3.0]).axes
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["private, with noise interval", "true (public data)"]


def test_any_script_is_drawn_without_a_warning(release):
    wide = {**release.columns, "ward": ["内科", "외과 ☤"]}
    assert "内科" in plots.to_svg(plots.released(replace(release, columns=wide)))


def test_the_same_figure_gives_the_same_file(release):
    first, second = (plots.to_svg(plots.released(release)) for _ in range(2))
    assert first == second
    assert first.startswith("<svg")
