"""Removing a unit never moves the integers by more than the sensitivity, and can move them so."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.sensitivity import Sensitivity
from neyman.tables import Bins, Bounds, Entity, Keys, Rows, open_table
from neyman.tables._limits import Limits

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
some = st.one_of(st.none(), st.integers(1, 3))
units = st.one_of(
    st.builds(Entity, st.just("u"), st.integers(1, 5), st.integers(1, 3)),
    st.builds(Entity, st.just("u"), some, some, st.integers(1, 7)),
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


def moved(before, after) -> tuple[int, int]:
    change = (before - after).tolist()
    return sum(map(abs, change)), sum(part**2 for part in change)


@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@settings(max_examples=40, deadline=None)
@given(table=rows, unit=units, keyed=st.booleans())
def test_removing_an_entity(fill, statistic, table, unit, keyed):
    by = KEYS if keyed else None
    aggregate = ask(fill, table, unit, statistic, by)
    whole = aggregate.compute()
    for gone in {row[0] for row in table}:
        left = [row for row in table if row[0] != gone]
        rest = ask(fill, left, unit, statistic, by).compute()
        l1, l2_squared = moved(whole, rest)
        assert l1 <= aggregate.sensitivity.l1
        assert l2_squared <= aggregate.sensitivity.l2_squared


@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@settings(max_examples=20, deadline=None)
@given(table=rows.filter(bool), keyed=st.booleans())
def test_removing_a_row(fill, statistic, table, keyed):
    by = KEYS if keyed else None
    aggregate = ask(fill, table, Rows(), statistic, by)
    rest = ask(fill, table[1:], Rows(), statistic, by).compute()
    l1, l2_squared = moved(aggregate.compute(), rest)
    assert l1 <= aggregate.sensitivity.l1
    assert l2_squared <= aggregate.sensitivity.l2_squared


WORST = [
    (Entity("u", max_rows=6), [5, 5, 5]),
    (Entity("u", max_rows=3), [5, 5, 5]),
    (Entity("u", max_rows=18), [5, 5, 5]),
    (Entity("u", max_rows=4), [9, 0, 0]),
    (Entity("u", max_rows=1), [5, 5, 5]),
    (Entity("u", max_groups=2, max_rows=7), [9, 0, 0]),
    (Entity("u", None, 3, 5), [3, 2, 0]),
    (Entity("u", 3, 2, 5), [2, 2, 1]),
    (Rows(), [1, 0, 0]),
]


@pytest.mark.parametrize("statistic", ["count", "sum", "mean"])
@pytest.mark.parametrize(("unit", "rows"), WORST, ids=str)
@pytest.mark.parametrize("keyed", [True, False])
def test_a_worst_case_attains_both_norms(fill, statistic, unit, rows, keyed):
    table = [("u", g, 9.0) for g, n in zip("abc", rows, strict=True) for _ in range(n)]
    by = KEYS if keyed else None
    aggregate = ask(fill, table, unit, statistic, by)
    full = aggregate.compute()
    empty = ask(fill, [], unit, statistic, by).compute()
    assert moved(full, empty) == (aggregate.sensitivity.l1, aggregate.sensitivity.l2_squared)
    assert np.max(np.abs(full - empty)) == aggregate.sensitivity.largest


@pytest.mark.parametrize(
    ("unit", "groups"),
    [(Entity("u", max_rows=6), 2), (Entity("u", max_rows=2), 2), (Entity("u", None, 2, 9), 3)],
)
def test_a_worst_case_attains_the_number_of_groups(fill, unit, groups):
    """One that keeps a group less than it is charged for fails here."""
    table = [("u", g, 9.0) for g in "abc" for _ in range(5)]
    # Which two rows are kept hangs on the salt, and that on the bounds.
    bounds = [Bounds(-1, top, grid=1) for top in range(2, 12)]
    kept = [np.count_nonzero(ask(fill, table, unit, "sum", KEYS, b).compute()) for b in bounds]
    assert max(kept) == groups


@given(groups=st.integers(1, 4), rows=st.integers(1, 4), total=st.integers(1, 16))
def test_squares_are_the_greatest_there_are(groups, rows, total):
    limits = Limits.of(groups=groups, rows=rows, total=total, among=None)
    fills = [fill for fill in product(range(rows + 1), repeat=groups) if sum(fill) <= total]
    one = Sensitivity(neighbors="add_remove", l2_squared=Fraction(1))
    squares = one.of_many(limits.rows, limits.groups, limits.total).l2_squared
    assert squares == max(sum(n * n for n in fill) for fill in fills)
    assert limits.total == max(map(sum, fills))
    assert limits.rows == max(map(max, fills))
    assert limits.groups == max(sum(n > 0 for n in fill) for fill in fills)


def test_two_bounds_of_rows_are_tighter_than_one(fill):
    keys = Keys({"g": [str(i) for i in range(10)]})

    def squared(**limits):
        return ask(fill, [], Entity("u", **limits), "count", keys).sensitivity.l2_squared

    assert squared(max_rows=50) == 2500
    assert squared(max_rows=200) == 4000
    assert squared(max_groups=10, max_rows_per_group=20, max_rows=50) == 900
    assert squared(max_rows_per_group=20, max_rows=50) == 900


@pytest.mark.parametrize("by", [None, KEYS, Keys({"x": Bins([-9, 0, 9], outside="drop")})])
def test_a_unit_is_in_no_more_groups_than_there_are(fill, by):
    """The law, and the integers: those of a unit whose limit is the number of groups."""
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
    for statistic in ("count", "sum", "mean"):
        fitting, wide = (
            ask(fill, table, Entity("u", groups, 60), statistic, by) for groups in (there, 10**6)
        )
        assert wide.sensitivity == fitting.sensitivity
        assert wide.query != fitting.query
        assert wide.compute().tolist() == fitting.compute().tolist()
    # A narrower limit is still paid for, and cuts.
    if there > 1:
        narrow, whole = (
            ask(fill, table, Entity("u", groups, 60), "count", by) for groups in (there - 1, there)
        )
        assert narrow.sensitivity.l1 < whole.sensitivity.l1
        assert narrow.compute().sum() < whole.compute().sum()


@given(table=rows, groups=st.integers(1, 5), keyed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_distinct_units(fill, table, groups, keyed):
    by = KEYS if keyed else None
    opened = open_table(
        fill("sensitivity", COLUMNS, table), unit=Entity("u", groups, 7), name="sensitivity"
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
    assert rows_.count_units(by).query == rows_.count(by).query


def test_formulas(fill):
    unit = Entity("u", max_rows=35)
    bounds = Bounds(-60, 180, grid=1)
    found = {s: ask(fill, [], unit, s, KEYS, bounds).sensitivity for s in ("count", "sum", "mean")}
    # Of five groups that a unit may be in there are three.
    g, r, w, a = len(KEYS), 7, 180, 120
    expected = {
        "count": (g * r, g * r**2, g, r),
        "sum": (g * r * w, g * (r * w) ** 2, g, r * w),
        "mean": (g * r * (a + a), g * r**2 * (a**2 + a**2), 2 * g, r * a),
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
