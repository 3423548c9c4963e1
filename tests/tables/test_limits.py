"""A limit of one grouping acts in questions by that grouping, and nowhere else."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.errors import InvalidTable, UnknownColumn
from neyman.tables import Bins, Bounds, Entity, ForeignKey, Keys, Rows, UnknownKeys, col, open_table
from random_cases import random_cases

YEARS, SEXES = [2001, 2002, 2003, 2004, 2005], ["f", "m"]
# 60 patients with one row a year, at most 5: the claim is true.
PANEL = [(f"p{i}", year, SEXES[i % 2], float(i % 7)) for i in range(60) for year in YEARS[: i % 6]]
NAMES = ("who", "year", "sex", "x")
BY_YEAR, BY_SEX = Keys({"year": YEARS}), Keys({"sex": SEXES})
BOTH = Keys({"year": YEARS, "sex": SEXES})
BINS = Keys({"year": Bins([2001, 2003, 2006], outside="drop")})
MIXED = Keys({"year": Bins([2001, 2003, 2006], outside="drop"), "sex": SEXES})
KNOWN = Entity("who", max_rows=5, max_rows_per={"year": 1})
PLAIN = Entity("who", max_rows=5)


def opened(unit=KNOWN, rows=PANEL):
    kinds = (pa.string(), pa.int64(), pa.string(), pa.float64())
    columns = zip(*rows, strict=True) if rows else ((),) * len(NAMES)
    made = (pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True))
    table = pa.table(dict(zip(NAMES, made, strict=True)))
    return open_table(table, unit=unit, bounds={"x": Bounds(0, 6, grid=1)}, name="panel")


def r_of(question) -> int:
    """The most rows of one unit in one group, as the sensitivity of a count says it."""
    return question.sensitivity.largest


@pytest.mark.shows("limits")
@pytest.mark.parametrize(
    ("by", "rows", "squares"),
    [
        (None, 5, 25),
        (BY_SEX, 5, 25),
        (BY_YEAR, 1, 5),
        (BOTH, 1, 5),
        (BINS, 5, 25),
        (MIXED, 5, 25),
        (Keys({"year": Bins([2001, 2006], outside="clip")}), 5, 25),
        (UnknownKeys("year"), 1, 5),
        (UnknownKeys("sex", "year"), 1, 5),
        (UnknownKeys("sex"), 5, 25),
    ],
    ids=str,
)
def test_it_acts_where_the_question_is_grouped_by_it_or_finer(by, rows, squares):
    question = opened().count(by)
    assert question.sensitivity.l1 == 5
    assert (r_of(question), question.sensitivity.l2_squared) == (rows, squares)
    acts = rows == 1
    assert ("max_rows_per" in question.query["unit"]) == acts
    # What does not act is as if it had not been written, also in the ledger.
    assert (question.query == opened(PLAIN).count(by).query) == (not acts)


def test_a_true_limit_cuts_nothing_and_one_that_is_not_named_would():
    """One row a year is no row less by sex or in all; one row in each group is."""
    true = {by: opened(rows=PANEL).count(by) for by in (None, BY_SEX, BY_YEAR, BOTH)}
    for by, question in true.items():
        assert question.compute().sum() == len(PANEL), by
    blind = opened(PLAIN).bounded(max_rows_per_group=1)
    assert blind.count(BY_YEAR).compute().sum() == len(PANEL)
    assert blind.count(BY_SEX).compute().sum() == blind.count().compute().sum() == 50


@pytest.mark.parametrize(
    ("known", "by", "rows"),
    [
        ({("year", "sex"): 2}, BOTH, 2),
        ({("sex", "year"): 2}, BOTH, 2),
        ({("year", "sex"): 2}, BY_YEAR, 5),
        ({("year", "sex"): 2}, BY_SEX, 5),
        ({("year", "sex"): 2}, MIXED, 5),
        ({("year", "sex"): 2}, None, 5),
        ({("year", "sex"): 2, "year": 3}, BOTH, 2),
        ({("year", "sex"): 2, "year": 3}, BY_YEAR, 3),
        ({"year": 3, "sex": 4}, BOTH, 3),
        ({"year": 3, "sex": 4}, MIXED, 4),
        ({"year": 9}, BY_YEAR, 5),
        ({("year", "sex"): 2}, UnknownKeys("sex", "year"), 2),
        ({("year", "sex"): 2}, UnknownKeys("year"), 5),
    ],
    ids=str,
)
def test_the_least_of_all_that_act_is_taken(known, by, rows):
    question = opened(Entity("who", 5, known)).count(by)
    q, rest = divmod(5, rows)
    assert r_of(question) == rows
    assert question.sensitivity.l2_squared == Fraction(q * rows**2 + rest**2)


def test_a_column_made_anew_is_another_column():
    """Also under the old name, and for every grouping that it is part of."""
    table = opened(Entity("who", 5, {"year": 1, ("sex", "year"): 1, "sex": 2}))
    assert r_of(table.count(BY_YEAR)) == 1
    # Years by two, and the same years written as themselves: nothing is known of either.
    for made in (col("year") // 2 * 2, col("year") + 0, col("year")):
        anew = table.with_columns(year=made)
        assert r_of(anew.count(BY_YEAR)) == 5
        assert r_of(anew.count(BOTH)) == r_of(anew.count(BY_SEX)) == 2
    assert r_of(table.with_columns(decade=col("year") // 10).count(BY_YEAR)) == 1
    assert r_of(table.where(col("x") > 2).count(BY_YEAR)) == 1


def test_coarser_years_under_the_old_name_are_within_the_sensitivity():
    """The broken twin keeps the limit: by pairs of years it would be one row in each."""
    coarse = Keys({"year": [2000, 2002, 2004]})
    table = opened().with_columns(year=col("year") // 2 * 2)
    whole = table.count(coarse)
    rest = opened(rows=[row for row in PANEL if row[0] != "p5"])
    moved = whole.compute() - rest.with_columns(year=col("year") // 2 * 2).count(coarse).compute()
    assert int((moved**2).sum()) == 1 + 4 + 4
    assert whole.sensitivity.l2_squared == 25
    assert opened().count(BY_YEAR).sensitivity.l2_squared < int((moved**2).sum())


def test_a_private_join_drops_it_and_a_public_one_does_not():
    table = opened()
    doses = pa.table({"who": [f"p{i // 3}" for i in range(180)], "dose": [1.0] * 180})
    joined = table.join(doses, on="who", how="inner", name="doses")
    assert r_of(joined.count(BY_YEAR)) == r_of(joined.count(BOTH)) == 5
    regions = {"sex": SEXES, "ward": ["north", "south"]}
    placed = table.join_public(regions, on="sex", how="left")
    assert r_of(placed.count(BY_YEAR)) == 1
    assert r_of(placed.count(Keys({"year": YEARS, "ward": ["north", "south"]}))) == 1
    assert r_of(placed.count(Keys({"ward": ["north", "south"]}))) == 5


def test_it_holds_for_a_unit_that_another_table_names():
    owners = pa.table({"who": sorted({row[0] for row in PANEL})})
    owners = owners.append_column("family", pa.array([f"f{i // 2}" for i in range(len(owners))]))
    key = ForeignKey("who", owners, owner="family", name="owners")
    table = opened(Entity(key, max_rows=8, max_rows_per={"year": 2}))
    assert r_of(table.count(BY_YEAR)) == 2
    assert r_of(table.count(BY_SEX)) == 8


def test_a_column_that_is_not_there_is_refused():
    for known in ({"jear": 1}, {("year", "jear"): 1}):
        with pytest.raises(UnknownColumn, match="'jear'"):
            opened(Entity("who", 5, known))


def test_limits_of_one_question():
    table = opened()
    assert r_of(table.bounded(max_rows=3).count()) == 3
    own = table.bounded(max_rows_per_group=2)
    assert r_of(own.count(BY_SEX)) == 2
    assert r_of(own.count(BY_YEAR)) == 1
    assert r_of(table.count(BY_SEX)) == 5
    units = table.count_units(BY_SEX)
    assert (units.sensitivity.l1, r_of(units)) == (2, 1)
    assert units.query["statistic"] == "count_units"
    with pytest.raises(InvalidTable, match="need a unit that can have several rows"):
        open_table(pa.table({"x": [1]}), unit=Rows(), name="t").bounded(max_rows=2)


def test_the_record_has_what_acts_and_can_be_written():
    unit = opened().count(BOTH).query["unit"]
    assert unit == {"entity": "who", "max_rows": 5, "max_rows_per": [[["year"], 1]]}
    assert json.loads(json.dumps(unit)) == unit
    assert opened().count_units(BY_SEX).query["unit"] == {
        "entity": "who",
        "max_rows": 5,
        "max_rows_per_group": 1,
    }


rows = st.lists(
    st.tuples(
        st.sampled_from(["u", "v"]),
        st.sampled_from(YEARS[:3]),
        st.sampled_from(SEXES),
        st.sampled_from([0.0, 3.0, 6.0]),
    ),
    max_size=25,
)
claims = st.dictionaries(
    st.sampled_from(["year", "sex", ("year", "sex")]), st.integers(1, 3), max_size=2
)


@pytest.mark.shows("limits")
@random_cases(6, soak=100)
@given(
    rows=rows,
    most=st.integers(1, 6),
    known=claims,
    by=st.sampled_from([None, BY_YEAR, BY_SEX, BOTH, BINS, MIXED]),
    own=st.one_of(st.none(), st.integers(1, 3)),
)
def test_a_wrong_limit_costs_rows_and_never_privacy(fill, rows, most, known, by, own):
    """The tables are random, so nearly every limit is wrong of them."""
    columns = ("who VARCHAR", "year BIGINT", "sex VARCHAR", "x DOUBLE")
    unit, bounds = Entity("who", most, known), {"x": Bounds(0, 6, grid=1)}
    table = open_table(fill("limits", columns, rows), unit=unit, bounds=bounds, name="limits")
    question = table.bounded(max_rows_per_group=own).sum("x", by)
    whole, allowed = question.compute(), question.sensitivity
    fill("limits", columns, [row for row in rows if row[0] != "u"])
    change = np.abs(whole - question.compute())
    assert change.sum() <= allowed.l1
    assert (change**2).sum() <= allowed.l2_squared
    assert change.max(initial=0) <= allowed.largest
    assert np.count_nonzero(change) <= allowed.coordinates


def test_a_wrong_limit_cuts_to_what_it_says():
    """Three rows a year of one patient, under one row a year: one of each year is left."""
    many = [("p", year, "f", 1.0) for year in YEARS[:2] for _ in range(3)]
    assert opened(rows=many).count(BY_YEAR).compute().tolist() == [1, 1, 0, 0, 0]
    assert opened(rows=many).count(BY_SEX).compute().tolist() == [5, 0]
    assert opened(rows=many).count().compute().tolist() == [5]
    known = Entity("who", max_rows=3, max_rows_per={"year": 2})
    found = opened(known, many).count(BY_YEAR).compute()
    assert found.sum() == 3
    assert max(found) == 2
    # One row in a group: the cut to m rows is one of groups.
    spread = [("p", year, "f", 1.0) for year in YEARS for _ in range(2)]
    few = opened(Entity("who", 3, {"year": 1}), spread).count(BY_YEAR).compute()
    assert sorted(few.tolist()) == [0, 0, 1, 1, 1]


def test_a_limit_of_a_column_that_is_made_later_says_where_to_set_it():
    unit = Entity("who", max_rows=5, max_rows_per={"year": 1})
    with pytest.raises(UnknownColumn, match=r"with_columns\(year=\.\.\.\)\.bounded\(max"):
        open_table(pa.table({"who": ["a"], "day": [1]}), unit=unit, name="t")
