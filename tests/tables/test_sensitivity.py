"""Removing a unit never moves the integers by more than the sensitivity, and can move them so."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.sensitivity import Sensitivity
from neyman.tables import Bins, Bounds, Entity, Keys, Rows, open_table
from neyman.tables._limits import Limits
from random_cases import random_cases

COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE")
KEYS = Keys({"g": ["a", "b", "c"]})
rows = st.lists(
    st.tuples(
        st.sampled_from(["u", "v"]),
        st.sampled_from(["a", "b", "c", "d"]),
        st.one_of(st.none(), st.sampled_from([-9.0, -1.0, 0.0, 2.0, 9.0])),
    ),
    max_size=30,
)
units = st.one_of(
    st.builds(Entity, st.just("u"), max_rows=st.integers(1, 10)),
    st.builds(
        lambda most, known: Entity("u", max_rows=most, max_rows_per=known),
        st.integers(1, 10),
        st.dictionaries(st.sampled_from(["g", "x"]), st.integers(1, 3)),
    ),
    st.builds(
        lambda most, rows: Entity("u", max_rows=most).bounded(max_rows_per_group=rows),
        st.integers(1, 10),
        st.integers(1, 3),
    ),
)


def ask(fill, table, unit, statistic, by, bounds=Bounds(-1, 2, grid=1)):  # noqa: B008
    opened = open_table(
        fill("sensitivity", COLUMNS, table), unit=unit, bounds={"x": bounds}, name="sensitivity"
    )
    return {
        "count": lambda: opened.count(by),
        "sum": lambda: opened.sum("x", by),
        "mean": lambda: opened.mean("x", by),
    }[statistic]()


@pytest.fixture(scope="module")
def question(fill):
    """One question of whatever rows the table holds when it runs."""

    @cache
    def asked(unit, statistic, keyed):
        return ask(fill, [], unit, statistic, KEYS if keyed else None)

    return asked


def answer(fill, aggregate, table):
    fill("sensitivity", COLUMNS, table)
    return aggregate.compute()


def moved(before, after) -> tuple[int, int]:
    change = (before - after).tolist()
    return sum(map(abs, change)), sum(part**2 for part in change)


@pytest.mark.shows("unit")
@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@random_cases(10, soak=200)
@given(table=rows, unit=units, keyed=st.booleans())
def test_removing_an_entity(fill, question, statistic, table, unit, keyed):
    aggregate = question(unit, statistic, keyed)
    whole = answer(fill, aggregate, table)
    for gone in {row[0] for row in table}:
        left = [row for row in table if row[0] != gone]
        l1, l2_squared = moved(whole, answer(fill, aggregate, left))
        assert l1 <= aggregate.sensitivity.l1
        assert l2_squared <= aggregate.sensitivity.l2_squared


@pytest.mark.shows("unit")
@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@random_cases(8, soak=100)
@given(table=rows.filter(bool), keyed=st.booleans())
def test_removing_a_row(fill, question, statistic, table, keyed):
    aggregate = question(Rows(), statistic, keyed)
    whole, rest = (answer(fill, aggregate, rows) for rows in (table, table[1:]))
    l1, l2_squared = moved(whole, rest)
    assert l1 <= aggregate.sensitivity.l1
    assert l2_squared <= aggregate.sensitivity.l2_squared


WORST = [
    (Entity("u", max_rows=4), [9, 0, 0]),
    (Entity("u", max_rows=1), [5, 5, 5]),
    (Entity("u", max_rows=6, max_rows_per={"g": 3}), [3, 3, 0]),
    (Entity("u", max_rows=5, max_rows_per={"g": 3}), [3, 2, 0]),
    (Entity("u", max_rows=5, max_rows_per={"g": 2}), [2, 2, 1]),
    (Entity("u", max_rows=18, max_rows_per={"g": 2}), [5, 5, 5]),
    (Entity("u", max_rows=3, max_rows_per={"g": 1}), [5, 5, 5]),
    (Entity("u", max_rows=2, max_rows_per={"g": 1}), [5, 5, 5]),
    (Entity("u", max_rows=9, max_rows_per={"g": 9, "x": 1}), [9, 0, 0]),
    (Entity("u", max_rows=5).bounded(max_rows_per_group=3), [3, 2, 0]),
    (Rows(), [1, 0, 0]),
]


def worst_cases():
    """Each unit with and without groups, of one statistic in turn; of the others in the soak."""
    for place, ((unit, rows), keyed) in enumerate(product(WORST, (True, False))):
        for number, statistic in enumerate(("count", "sum", "mean")):
            marks = () if number == place % 3 else pytest.mark.soak
            yield pytest.param(statistic, unit, rows, keyed, marks=marks)


@pytest.mark.parametrize(("statistic", "unit", "rows", "keyed"), list(worst_cases()))
def test_a_worst_case_attains_both_norms(fill, statistic, unit, rows, keyed):
    many = 1 if unit.entity is None else unit.max_rows
    filled = rows if keyed else [many, 0, 0]
    table = [("u", g, 9.0) for g, n in zip("abc", filled, strict=True) for _ in range(n)]
    by = KEYS if keyed else None
    aggregate = ask(fill, table, unit, statistic, by)
    full = aggregate.compute()
    empty = answer(fill, aggregate, [])
    assert moved(full, empty) == (aggregate.sensitivity.l1, aggregate.sensitivity.l2_squared)
    assert np.max(np.abs(full - empty)) == aggregate.sensitivity.largest


@pytest.mark.shows("truncation")
@pytest.mark.parametrize(
    ("unit", "groups"),
    [
        (Entity("u", max_rows=2), 2),
        (Entity("u", max_rows=2, max_rows_per={"g": 1}), 2),
        (Entity("u", max_rows=9, max_rows_per={"g": 2}), 3),
    ],
)
def test_a_worst_case_attains_the_number_of_groups(fill, unit, groups):
    """One that keeps a group less than it is charged for fails here."""
    table = [("u", g, 9.0) for g in "abc" for _ in range(5)]
    # Which two rows are kept hangs on the salt, and that on the bounds.
    kept = 0
    for top in range(2, 12):
        asked = ask(fill, table, unit, "sum", KEYS, Bounds(-1, top, grid=1))
        kept = max(kept, np.count_nonzero(asked.compute()))
        if kept >= groups:
            break
    assert kept == groups


@pytest.mark.parametrize("among", [None, 1, 2, 3, 4])
def test_the_squares_are_the_greatest_of_all_ways_to_fill_the_groups(among):
    """Q, l1 and linf of every m up to 11, r up to 5 and G up to 4, by enumeration."""
    one = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1), largest=1)
    for total, rows in product(range(1, 12), range(1, 6)):
        limits = Limits.of(total, rows=rows, among=among)
        # Unknown groups are as many as there are rows; more stay empty.
        fills = [
            fill
            for fill in combinations_with_replacement(range(rows + 1), among or total)
            if sum(fill) <= total
        ]
        bound = limits.bound(one)
        assert bound.l2_squared == max(sum(n * n for n in fill) for fill in fills)
        assert bound.l1 == limits.total == max(map(sum, fills))
        assert bound.largest == limits.rows == max(map(max, fills))
        assert limits.groups >= max(sum(n > 0 for n in fill) for fill in fills)


def test_a_limit_of_groups_is_dominated_by_one_of_rows():
    """Of any unit, (m = g r, r) keeps no fewer rows than g groups of r, at the same noise."""
    for groups, rows in product(range(1, 5), range(1, 5)):
        limits = Limits.of(groups * rows, rows=rows, among=None)
        squares = limits.bound(Sensitivity(neighbors="add_remove", l2_squared=Fraction(1)))
        assert squares.l2_squared == groups * rows**2
        for filled in combinations_with_replacement(range(5), 4):
            by_group = sorted((min(n, rows) for n in filled), reverse=True)
            assert sum(by_group[:groups]) <= min(limits.total, sum(by_group))


@pytest.mark.shows("limits")
def test_two_limits_of_rows_are_tighter_than_one(fill):
    keys = Keys({"g": [str(i) for i in range(10)]})

    def squared(most, **known):
        unit = Entity("u", most, **known)
        return ask(fill, [], unit, "count", keys).sensitivity.l2_squared

    assert squared(50) == 2500
    assert squared(200, max_rows_per={"g": 20}) == 4000
    assert squared(50, max_rows_per={"g": 20}) == 900
    assert squared(50, max_rows_per={"g": 1}) == 10


@pytest.mark.parametrize("by", [None, KEYS, Keys({"x": Bins([-9, 0, 9], outside="drop")})])
def test_a_limit_that_binds_nothing_is_free(fill, by):
    """The law, and the integers: m beyond r in each of the groups that there are."""
    draw = np.random.default_rng(1)
    table = [
        (u, g, float(x))
        for u, g, x in zip(
            draw.choice(["u", "v", "w"], 60),
            draw.choice(["a", "b", "c", "d"], 60),
            draw.integers(-9, 10, 60),
            strict=True,
        )
    ]
    there = 1 if by is None else len(by)

    def asked(most, statistic="count"):
        unit = Entity("u", max_rows=most).bounded(max_rows_per_group=60)
        return ask(fill, table, unit, statistic, by)

    for statistic in ("count", "sum", "mean"):
        fitting, wide = (asked(most, statistic) for most in (60 * there, 10**6))
        assert wide.sensitivity == fitting.sensitivity
        assert wide.query != fitting.query
        assert wide.compute().tolist() == fitting.compute().tolist()
    # A narrower limit lowers the noise, and cuts.
    narrow, whole = asked(5), asked(60 * there)
    assert narrow.sensitivity.l1 < whole.sensitivity.l1
    assert narrow.compute().sum() < whole.compute().sum()


@pytest.mark.shows("counts")
@given(table=rows, groups=st.integers(1, 5), keyed=st.booleans())
@random_cases(8, soak=100)
def test_distinct_units(fill, table, groups, keyed):
    """max_rows is the most groups here, for one row counts in each."""
    by = KEYS if keyed else None
    opened = open_table(
        fill("sensitivity", COLUMNS, table), unit=Entity("u", max_rows=groups), name="sensitivity"
    )
    aggregate = opened.count_units(by)
    known = {(u, g if keyed else None) for u, g, _ in table if not keyed or (g,) in KEYS.rows()}
    touched = min(groups, 3) if keyed else 1
    assert (aggregate.sensitivity.l1, aggregate.sensitivity.l2_squared) == (touched, touched)
    found = aggregate.compute()
    if groups >= 3 or not keyed:
        places = [row[0] for row in KEYS.rows()] if keyed else [None]
        assert found.tolist() == [sum(g == place for _, g in known) for place in places]
    else:
        each = [min(groups, sum(u == who for u, _ in known)) for who in {u for u, _ in known}]
        assert found.sum() == sum(each)
    # A row that is a unit counts once, in one group, already.
    rows_ = open_table(fill("sensitivity", COLUMNS, table), unit=Rows(), name="sensitivity")
    assert rows_.count_units(by).compute().tolist() == rows_.count(by).compute().tolist()


@pytest.mark.shows("counts")
def test_formulas(fill):
    unit = Entity("u", max_rows=17, max_rows_per={"g": 7})
    bounds = Bounds(-60, 180, grid=1)
    found = {s: ask(fill, [], unit, s, KEYS, bounds).sensitivity for s in ("count", "sum", "mean")}
    g, m, r, w, a = len(KEYS), 17, 7, 180, 120
    squares = 7**2 + 7**2 + 3**2
    expected = {
        "count": (m, squares, g, r),
        "sum": (m * w, squares * w**2, g, r * w),
        "mean": (m * (a + a), squares * (a**2 + a**2), 2 * g, r * a),
    }
    for statistic, (l1, l2_squared, coordinates, largest) in expected.items():
        assert found[statistic] == Sensitivity(
            neighbors="add_remove",
            l1=Fraction(l1),
            l2_squared=Fraction(l2_squared),
            coordinates=coordinates,
            largest=largest,
        )


def test_crossing_max_table_rows_clamps_and_does_not_raise(fill):
    opened = open_table(
        fill("sensitivity", COLUMNS, [("u", "a", 2.0)] * 9 + [("u", "b", -2.0)] * 9),
        unit=Rows(),
        bounds={"x": Bounds(-1, 2, grid=1)},
        max_table_rows=4,
        name="sensitivity",
    )
    assert opened.count(KEYS).compute().tolist() == [4, 4, 0]
    assert opened.sum("x", KEYS).compute().tolist() == [8, -8, 0]
