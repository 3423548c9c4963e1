"""Bounds, units and keys refuse what they cannot mean."""

import math
import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import Bounds, Entity, Keys, Rows


def test_bounds_are_exact_decimals():
    bounds = Bounds(-0.3, Decimal("0.7"), grid=0.1)
    assert (bounds.lower, bounds.upper, bounds.grid) == (
        Fraction(-3, 10), Fraction(7, 10), Fraction(1, 10))  # fmt: skip
    assert bounds.steps == (-3, 7)
    assert bounds == Bounds(Fraction(-3, 10), 0.7, 0.1)
    assert hash(bounds) == hash(Bounds(-0.3, 0.7, 0.1))


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ((0, math.inf, 1), "must be finite; got"),
        ((math.nan, 1, 1), "must be finite; got"),
        ((0, "1", 1), "must be an int, a float, a Fraction or a Decimal; got"),
        ((0, True, 1), "must be an int, a float, a Fraction or a Decimal; got"),
        ((1, 1, 1), "not below"),
        ((2, 1, 1), "not below"),
        ((0, 1, 0), "grid must be in"),
        ((0, 1, -1), "grid must be in"),
        ((0, 1e-301, 1e-301), "grid must be in"),
        ((0, 10, 3), "write upper=9 or upper=12"),
        ((-0.25, 1, 0.1), r"write lower=-0.3 or lower=-0.2"),
        ((0, 2**50 + 1, 1), "write a coarser grid"),
        ((-(2**60), 1, 1), "write a coarser grid"),
    ],
)
def test_refused_bounds(numbers, says):
    with pytest.raises((InvalidTable, InvalidParameter), match=says):
        Bounds(*numbers)


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, "1", 2**41])
def test_refused_entities(bad):
    said = re.escape(f"must be an integer in [1, 2^40]; got {bad!r}. Write how many rows one who")
    with pytest.raises(InvalidParameter, match=f"^max_rows {said}"):
        Entity("who", max_rows=bad)
    with pytest.raises(InvalidParameter, match=rf"^max_rows_per\['year'\] {said}"):
        Entity("who", max_rows=5, max_rows_per={"year": bad})
    with pytest.raises(InvalidParameter, match=f"^max_rows_per_group {said}"):
        Entity("who", max_rows=5).bounded(max_rows_per_group=bad)


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: Entity("who"), "one who may fill any number of rows without a limit"),
        (lambda: Entity("who", max_rows=None), 'write Entity("who", max_rows=...)'),
        (lambda: Entity("who", 5, {"year": 1, ("year",): 2}), "each grouping once; got ('year',)"),
        (lambda: Entity("who", 5, {("a", "b"): 1, ("b", "a"): 1}), "got ('b', 'a') again"),
        (lambda: Entity("who", 5, {(): 1}), "must have a column, or a tuple of columns"),
        (lambda: Entity("who", 5, {("year", 2): 1}), 'write it such as max_rows_per={"year": 1,'),
        (lambda: Entity("who", 5, {7: 1}), "got 7"),
        (lambda: Entity("who", 5, 1), "must name the grouping of each limit; got 1"),
        (lambda: Entity("who", 5, max_row=1), "Entity takes a column, max_rows= and max_rows_per="),
    ],
)
def test_limits_that_say_nothing_are_refused(declare, says):
    with pytest.raises(InvalidParameter, match=f"(?i){re.escape(says)}"):
        declare()


@pytest.mark.parametrize(
    "written",
    [
        {"max_groups": 5, "max_rows_per_group": 1},
        {"max_groups": 5},
        {"max_rows": 5, "max_rows_per_group": 1},
    ],
)
def test_limits_of_groups_without_a_grouping_are_refused_with_the_reason(written):
    with pytest.raises(InvalidParameter) as refused:
        Entity("patient", **written)
    said = str(refused.value)
    assert "are limits about one grouping, and a question with another grouping, or none," in said
    assert "would count only a part of the rows of one patient" in said
    assert "Write max_rows, the most rows of one patient in all, and max_rows_per" in said
    assert 'Entity("patient", max_rows=5, max_rows_per={"year": 1})' in said


def test_a_row_has_no_other_limits():
    with pytest.raises(InvalidTable, match=r"unit=Entity\(column, max_rows=...\)"):
        Rows().bounded(2, 3)
    for unit in (Rows().once(), Rows().without(), Rows().without(["x"])):
        assert unit == Rows()


def test_limits_that_are_not_named_stay():
    known = Entity("who", max_rows=9, max_rows_per={"year": 1})
    assert known.bounded() == known
    assert known.bounded(max_rows=7) == Entity("who", max_rows=7, max_rows_per={"year": 1})
    own = known.bounded(max_rows_per_group=2)
    assert (own.max_rows, own.max_rows_per_group) == (9, 2)
    assert own.bounded(max_rows=4).max_rows_per_group == 2
    assert own.max_rows_per == known.max_rows_per
    # `bounded` puts its number in the place of the one before.
    assert own.bounded(max_rows_per_group=3) == known.bounded(max_rows_per_group=3)


def test_the_order_that_groupings_are_written_in_means_nothing():
    one = Entity("who", 9, {"year": 1, ("ward", "sex"): 2})
    other = Entity("who", max_rows=9, max_rows_per={("sex", "ward"): 2, ("year",): 1})
    assert one == other
    assert hash(one) == hash(other)
    assert one.describe(["year", "sex", "ward"]) == other.describe(["ward", "year", "sex"])
    assert repr(one) == "Entity('who', max_rows=9, max_rows_per={('sex', 'ward'): 2, 'year': 1})"
    assert set(one.grouped) == {"year", "sex", "ward"}


def test_units_in_words():
    assert Rows().label == "one row"
    assert Entity("tailnum", max_rows=240).label == "all rows of one tailnum"


def test_products_and_tuples():
    keys = Keys({"g": ["b", "a"], "m": [2, 1, 3]})
    assert keys.rows() == [("b", 2), ("b", 1), ("b", 3), ("a", 2), ("a", 1), ("a", 3)]
    chosen = Keys.tuples(("g", "m"), [("a", 3), ("b", 2), ("a", 1)])
    assert chosen.rows() == [("a", 3), ("b", 2), ("a", 1)]
    assert chosen.to_columns() == {"g": ["a", "b", "a"], "m": [3, 2, 1]}
    day = Keys({"d": [date(2020, 2, 29)]})
    assert day.to_columns() == {"d": ["2020-02-29"]}
    assert Keys({"m": np.array([1, 2])}) == Keys({"m": [1, 2]})
    assert Keys({"m": (i for i in (1, 2))}) == Keys({"m": [1, 2]})


@pytest.mark.parametrize(
    ("domains", "says"),
    [
        ({}, "keys without a column"),
        ({"g": []}, "must have at least one key; got none"),
        ({"g": ["a", "a"]}, "'a' appears twice"),
        ({"g": [None]}, "must have at least one key beside None"),
        ({"g": ["a", 1]}, "mix int and str"),
        ({"g": [True, 1]}, "mix bool and int"),
        ({"g": [1.5]}, "write whole numbers such as 1, or cut the column into Bins"),
        ({"g": [["a"]]}, "write text, integers, booleans or dates"),
        ({"g": [datetime(2020, 1, 1)]}, "write a date"),
        ({"g": [2**63]}, "64 bits"),
        ({"g": ["\0"]}, "without NUL"),
        ({"g": ["\ud800"]}, "half surrogates"),
        ({"g": "AA"}, r"write \['AA'\]"),
        ({1: ["a"]}, "no column name"),
        (["a"], r"write Keys\({\"ward\":"),
        ("a", r"write Keys\({\"ward\":"),
        ({"g": 5}, r"write \[5\]"),
        ({"g": range(1001), "m": range(1000)}, "got 1001000"),
        ({c: range(2) for c in "abcdefghijklmnopqrstu"}, "got 2097152"),
    ],
)
def test_refused_keys(domains, says):
    with pytest.raises(InvalidTable, match=says):
        Keys(domains)


@pytest.mark.parametrize(
    ("columns", "rows", "says"),
    [
        ((), [], "keys without a column"),
        ("g", [("a",)], "the columns are the text 'g'"),
        (("g",), ["AA"], "'AA' is no tuple of keys"),
        (("g",), [1], "1 is no tuple of keys"),
        (("g",), [], "must have at least one key"),
        (("g", "g"), [("a", "b")], "'g' appears twice"),
        (("g", "m"), [("a",)], "has 1 parts for 2 columns"),
        (("g", "m"), [("a", 1), ("b", 1), ("a", 1)], "appears twice"),
        (("g", "m"), [("a", []), ("a", [])], "no key of column 'm'"),
        (tuple("abcd"), [(i, i, i, i) for i in range(2**16)], "2^62 combinations"),
    ],
)
def test_refused_tuples(columns, rows, says):
    with pytest.raises(InvalidTable, match=says.replace("^", r"\^")):
        Keys.tuples(columns, rows)


def test_many_keys_are_described_by_their_digest():
    few, many = Keys({"m": range(1000)}), Keys({"m": range(1001)})
    assert len(few.describe()["values"]) == 1000
    assert many.describe()["count"] == 1001
    assert many.describe() != Keys({"m": range(1, 1002)}).describe()
    assert "values" not in many.describe()
    # The same text of another type is another question.
    assert Keys({"m": [1]}).describe() != Keys({"m": ["1"]}).describe()
