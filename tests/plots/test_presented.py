"""Pictures with the words, the order and the rule of a publication."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import neyman as ny
from neyman import plots
from neyman.publish import Display, Presentation, Presented, Suppression
from neyman.released import Guarantee, Release, Spending

WORDS = Presentation(
    labels={"delay": "arrival delay", "month": "Month of flight"},
    units={"delay": "minutes", "month": "2013"},
    values={"month": {1: "January", 2: "February"}},
)


def release(statistic="mean", *, keys=("month",), query=None, **columns):
    return Release(
        entry="a",
        query={"statistic": statistic, **(query or {})},
        mechanism={},
        guarantee=Guarantee(
            curve=ny.gdp(1), neighbors="add_remove", unit="one row", assumptions=()
        ),
        spending=Spending(account="mu^2", cost=Fraction(1), remaining=Fraction(0), cap=Fraction(1)),
        confidence=0.95,
        columns=columns,
        keys=keys,
        replayed=False,
    )


def delays(**more):
    columns = {
        "month": [1, 2, 3],
        "mean": [5.0, 9.0, 2.0],
        "lower": [4.0, 8.5, -9.0],
        "upper": [6.0, 9.5, 13.0],
        "count": [900.0, 800.0, 4.0],
    }
    query = {"column": "delay", "bounds": [-60, 240], "keys": {"columns": ["month"]}}
    return release(query=query, **columns | more)


def drawn(shown):
    picture = plots.released(shown)
    picture.draw_without_rendering()
    return picture.axes


def labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def dots(axes):
    (found,) = (line for line in axes.lines if line.get_label().startswith("private"))
    return found


def test_an_axis_has_the_words_and_the_unit_of_measure_and_says_how_wide_intervals_are():
    (axes,) = drawn(Presented("a", delays(), WORDS))
    assert labels(axes) == ["January", "February", "3"]
    said = axes.get_xlabel().replace("\n", " ")
    assert said == "mean of arrival delay (minutes), with 95 % noise intervals"


@pytest.mark.parametrize(
    ("order", "groups"),
    [
        ("declared", ["January", "February", "3"]),
        ("largest", ["February", "January", "3"]),
        ("smallest", ["3", "January", "February"]),
        ("alphabetical", ["3", "February", "January"]),
    ],
)
def test_groups_stand_in_the_order_that_is_asked_for(order, groups):
    words = replace(WORDS, answers={"a": Display(order=order)})
    (axes,) = drawn(Presented("a", delays(), words).ordered())
    assert labels(axes) == groups


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        (Suppression(count_below=10), "fewer than 10"),
        (Suppression(interval_wider_than=5), "too uncertain"),
        (Suppression(interval_wider_than_share=0.5), "too uncertain"),
    ],
)
def test_what_a_rule_leaves_out_is_not_drawn_and_stretches_no_axis(rule, word):
    words = replace(WORDS, suppress=rule, answers={"a": Display(order="smallest")})
    (axes,) = drawn(Presented("a", delays(lower=[4.0, 8.5, -59.0]), words).ordered())
    assert labels(axes)[-1] == "3"
    assert word in {text.get_text() for text in axes.texts}
    assert 2.0 not in dots(axes).get_xdata()
    assert axes.get_xlim()[0] > 0


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4, 3.4e8, 2e11])
@pytest.mark.parametrize("panels", [1, 3])
def test_numbers_at_an_axis_have_no_powers_of_ten_and_do_not_overlap(size, panels):
    margin = {
        "margin": ["by ward", "by ward", "by sex", "by sex", "by age", "by age"][: 2 * panels]
    }
    rows = 2 * panels
    values = np.linspace(1, 1.06, rows) * size
    columns = {
        "ward": ["a long name of a ward · female", "south"] * panels,
        **margin,
        "count": values.tolist(),
        "lower": (values * 0.99).tolist(),
        "upper": (values * 1.01).tolist(),
    }
    picture = plots.released(release("crosstab", keys=("ward",), **columns))
    picture.draw_without_rendering()
    for axes in picture.axes:
        ticks = [tick for tick in axes.get_xticklabels() if tick.get_text()]
        assert ticks
        assert not any("e" in tick.get_text() for tick in ticks)
        boxes = [tick.get_window_extent() for tick in ticks]
        for one, other in pairwise(boxes):
            assert one.x1 < other.x0
        assert not axes.xaxis.get_offset_text().get_text()


def test_no_text_is_cut_off_in_panels_with_long_names():
    long = {"ward": ["a ward with quite a long name", "another ward with a long name"]}
    numbers = {"lower": [1.0, 2.0], "upper": [2.0, 3.0]}
    parts = [
        {"statistic": "mean", "column": "delay", "bounds": [0, 9]},
        {"statistic": "sum", "column": "delay", "bounds": [0, 9]},
    ]
    columns = {}
    for name in ("mean_delay", "sum_delay"):
        columns |= {name: [1.5, 2.5]} | {f"{name}_{end}": cells for end, cells in numbers.items()}
    several = release("together", keys=("ward",), query={"parts": parts}, **long, **columns)
    words = replace(WORDS, labels={"delay": "the delay of the arrival of a flight in New York"})
    picture = plots.released(Presented("a", several, words))
    picture.draw_without_rendering()
    whole = picture.bbox
    for axes in picture.axes:
        for text in (axes.xaxis.label, *axes.get_yticklabels(), *axes.get_xticklabels()):
            box = text.get_window_extent()
            assert box.x0 >= whole.x0 - 1
            assert box.x1 <= whole.x1 + 1


def test_the_keys_of_a_long_name_can_be_told_apart():
    keys = {"ward": ["the north ward of the hospital of the university"] * 2, "sex": ["f", "m"]}
    numbers = {"count": [5, 6], "lower": [4, 5], "upper": [6, 7]}
    (axes,) = drawn(release("count", keys=("ward", "sex"), **keys, **numbers))
    first, second = labels(axes)
    assert first != second
    assert first.endswith("· f")


def test_bins_and_percents_are_drawn_as_they_are_said():
    bins = {"age_from": [0, 20, 50], "age_to": [20, 50, 90]}
    numbers = {"mean": [0.1, 0.2, 0.9], "lower": [0.08, 0.1, 0.0], "upper": [0.12, 0.3, 1.0]}
    query = {"column": "died", "bounds": [0, 1], "keys": {"columns": ["age"]}}
    shown = Presented(
        "a",
        release(keys=("age_from", "age_to"), query=query, **bins, **numbers),
        Presentation(
            units={"age": "years"},
            answers={
                "a": Display(
                    label="deaths", percent=True, suppress=Suppression(interval_wider_than=10)
                )
            },
        ),
    )
    (axes,) = drawn(shown)
    assert axes.get_xlabel().startswith("age (years)")
    assert axes.get_ylabel().startswith("deaths (%)")
    assert [bar.get_height() for bar in axes.patches] == [10.0, 0.0, 0.0]
    assert "too uncertain" in axes.texts[0].get_text()
    ordered = replace(shown, presentation=Presentation(answers={"a": Display(order="largest")}))
    (axes,) = drawn(ordered.ordered())
    assert labels(axes)[:2] == ["20 to 50", "0 to 20"]
