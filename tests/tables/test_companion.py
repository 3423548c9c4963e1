"""The four integers beside a question, against a slow rule in plain Python, and of neighbours."""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from random import Random

import pytest

from neyman import publish
from neyman.functional import Circle, Interval
from neyman.tables import (
    Bins,
    Bounds,
    Count,
    Entity,
    Keys,
    Mean,
    Rows,
    UnknownKeys,
    col,
    open_table,
)

PARTS = 1024
BOUNDS = Bounds(-1, 2, grid=0.5)
COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE", "y DOUBLE")
JOINED = ("u VARCHAR", "z DOUBLE")
GROUPS = {"none": None, "declared": Keys({"g": ["a", "b", "-"]}), "unknown": UnknownKeys("g")}


def panel(draw, height=None):
    """Rows of few units, some of which have many."""
    units = [("v", 3), ("w", 1), ("long", 12), ("q", 4), (None, 2)]
    names = [name for name, weight in units for _ in range(weight)]
    values = [None, math.nan, -9.0, -1.0, 0.3, 2.0, 2.5, 9.0, math.inf]
    return [
        (
            draw.choice(names),
            draw.choice(["a", "a", "a", "b", "-", "other", None]),
            draw.choice(values),
            draw.choice([0.0, 1.0, None, 5.0]),
        )
        for _ in range(draw.choice([1, 5, 40]) if height is None else height)
    ]


def unit_of(draw):
    claims = draw.choice([{}, {"g": 1}, {"g": 2}, {"x": 1}, {"g": 3, ("g", "x"): 1}])
    return Entity("u", max_rows=draw.choice([1, 2, 3, 5, 9]), max_rows_per=claims)


def opened(fill, rows, unit):
    source = fill("companion", COLUMNS, rows)
    return open_table(source, unit=unit, bounds=dict.fromkeys("xy", BOUNDS), name="t")


def known(value):
    return value is not None and not math.isnan(value)


def outside(value, low=-1, high=2):
    return known(value) and not low <= value <= high


def limits(unit, by, *, per_unit=False, claims=True):
    """Return m and r."""
    most = unit.max_rows
    columns = set() if by is None else {"g"}
    told = [n for names, n in unit.max_rows_per if claims and set(names) <= columns]
    each = 1 if per_unit else min([*told, most])
    among = {"none": 1, "declared": 3, "unknown": math.inf}[named(by)]
    return min(most, among * each), each


def named(by):
    return next(name for name, groups in GROUPS.items() if groups == by)


def group_of(row, by):
    """Return where a row counts, a tuple; None where it does not."""
    match named(by):
        case "none":
            return ()
        case "declared":
            return (row[1],) if row[1] in ("a", "b", "-") else None
        case _:
            return None if row[1] is None else (row[1],)


def four(counted, m, r, *, per_unit=False, total=None):
    """Return the four integers of (unit, group, moved, value) of all rows that count."""
    of_units = defaultdict(lambda: defaultdict(list))
    for unit, group, moved, value in counted:
        of_units[unit][group].append((moved, value))
    row = [0, 0, 0, 0]
    for groups in of_units.values():
        sizes = [len(rows) for rows in groups.values()]
        t = len(sizes) if per_unit else sum(sizes)
        k = min(m, len(sizes) if per_unit else sum(min(n, r) for n in sizes))
        b = (t - k) * PARTS // t
        x = 0
        for rows in groups.values():
            if total is not None and not total[0] <= sum(value for _, value in rows) <= total[1]:
                x += len(rows)
            else:
                x += sum(moved for moved, _ in rows)
        whole = k == t
        row[0] += PARTS * whole
        row[1] += 0 if whole else PARTS - b
        row[2] += b
        row[3] += x * PARTS // sum(sizes)
    return row


def own(aggregate):
    if aggregate.unknown is None:
        return aggregate.compute().tolist()
    return as_groups(aggregate.unknown.find())


def as_groups(found):
    return dict(zip(found.keys, found.integers.tolist(), strict=True))


def agrees(aggregate, expected):
    found, integers = aggregate.companion.compute()
    assert integers.tolist() == expected
    assert (found.tolist() if aggregate.unknown is None else as_groups(found)) == own(aggregate)


def step(value):
    return math.floor(min(max(value, -1), 2) / 0.5 + 0.5)


def every(_):
    return True


def nothing(_):
    return False


def x_of(row):
    return outside(row[2])


QUESTIONS = {
    "count": (lambda t, by: t.count(by), every, nothing),
    "mean": (lambda t, by: t.mean("x", by), lambda row: known(row[2]), x_of),
    "variance": (lambda t, by: t.variance("x", by), lambda row: known(row[2]), x_of),
    "covariance": (
        lambda t, by: t.covariance("x", "y", by),
        lambda row: known(row[2]) and known(row[3]),
        lambda row: outside(row[2]) or outside(row[3]),
    ),
    "together": (
        lambda t, by: t.statistics([Count(), Mean(t.measured("x")), Mean(t.measured("y"))], by),
        every,
        lambda row: outside(row[2]) or outside(row[3]),
    ),
    "count_units": (lambda t, by: t.count_units(by), every, nothing),
    "mean_per_unit": (lambda t, by: t.mean_per_unit("x", by), lambda row: known(row[2]), x_of),
    "sum_per_unit": (
        lambda t, by: t.sum_per_unit("x", by, lower=-0.5, upper=3),
        lambda row: known(row[2]),
        x_of,
    ),
}


def expected_of(name, rows, unit, by, *, claims=True):
    _, counts, moves = QUESTIONS[name]
    counted = [
        (row[0], group_of(row, by), bool(moves(row)), step(row[2]) if known(row[2]) else 0)
        for row in rows
        if row[0] is not None and group_of(row, by) is not None and counts(row)
    ]
    per_unit = name in ("count_units", "mean_per_unit", "sum_per_unit")
    m, r = limits(unit, by, per_unit=per_unit, claims=claims)
    total = (-1, 6) if name == "sum_per_unit" else None
    return four(counted, m, r, per_unit=per_unit, total=total)


def has_groups(by, name):
    """Whether groups that nobody declared can be asked for: something must count their rows."""
    return by != GROUPS["unknown"] or name not in ("sum_per_unit",)


@pytest.mark.shows("companion")
@pytest.mark.parametrize("by", GROUPS.values(), ids=list(GROUPS))
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_four_integers_are_those_of_the_rule(fill, name, by):
    follows_the_rule(fill, Random(f"{name} {by}"), name, by)


@pytest.mark.soak
@pytest.mark.parametrize("by", GROUPS.values(), ids=list(GROUPS))
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_four_integers_of_many_tables(fill, name, by):
    draw = Random(f"{name} {by}")
    for _ in range(20):
        follows_the_rule(fill, draw, name, by)


def follows_the_rule(fill, draw, name, by):
    rows, unit = panel(draw), unit_of(draw)
    if has_groups(by, name):
        asked = QUESTIONS[name][0](opened(fill, rows, unit), by)
        agrees(asked, expected_of(name, rows, unit, by))


@pytest.mark.parametrize("name", ["count", "mean", "sum_per_unit"])
def test_rows_that_a_filter_drops_are_not_there(fill, name):
    draw = Random(name)
    for by in (None, GROUPS["declared"]):
        rows, unit = panel(draw), unit_of(draw)
        table = opened(fill, rows, unit).where(col("y") > 0)
        left = [row for row in rows if row[3] is not None and row[3] > 0]
        agrees(QUESTIONS[name][0](table, by), expected_of(name, left, unit, by))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_joined_rows_are_counted_and_claims_are_dropped(fill, how):
    draw = Random(how)
    for name, by in (("count", GROUPS["declared"]), ("mean", None), ("count", GROUPS["unknown"])):
        rows, unit = panel(draw), unit_of(draw)
        other = [("v", 1.0), ("v", 2.0), ("long", 1.0), (None, 1.0), ("long", 3.0)]
        source = fill("joined", JOINED, other)
        table = opened(fill, rows, unit).join(source, on="u", how=how, name="p")
        per = Counter(unit for unit, _ in other if unit is not None)
        left = [row for row in rows for _ in range(per[row[0]] or (how == "left"))]
        agrees(QUESTIONS[name][0](table, by), expected_of(name, left, unit, by, claims=False))


DOMAINS = {
    "clip": (Interval(-1, 2, outside="clip"), True, every),
    "drop": (Interval(-1, 2, outside="drop"), False, lambda v: -1 <= v <= 2),
    "circle": (Circle(3), False, lambda v: abs(v) < math.inf),
}


@pytest.mark.parametrize("grouped", ["none", "declared"])
@pytest.mark.parametrize("kind", DOMAINS)
def test_the_four_integers_of_a_density_are_those_of_the_rule(fill, kind, grouped):
    by, (domain, moves, inside) = GROUPS[grouped], DOMAINS[kind]
    draw = Random(f"{kind} {grouped}")
    for _ in range(2):
        rows, unit = panel(draw), unit_of(draw)
        table = opened(fill, rows, unit)
        asked = publish.density(table, "x", domain=domain, bandwidth=0.1, by=by)
        counted = [
            (row[0], group_of(row, by), moves and outside(row[2]), 0)
            for row in rows
            if row[0] is not None and group_of(row, by) is not None
            if known(row[2]) and inside(row[2])
        ]
        agrees(asked, four(counted, *limits(unit, by)))
        assert asked.companion.record["bounds"] is moves


def test_the_four_integers_of_quantiles_are_those_of_the_rule(fill):
    draw = Random("quantiles")
    for by in (None, GROUPS["declared"]):
        rows, unit = panel(draw), unit_of(draw)
        asked = publish.quantiles(opened(fill, rows, unit), "x", [0.25, 0.5], by=by, bounds=BOUNDS)
        agrees(asked, expected_of("mean", rows, unit, by))


def test_a_crosstab_has_the_companion_of_its_cells(fill):
    draw = Random("crosstab")
    by = Keys({"g": ["a", "b"], "y": Bins([0, 1, 6], outside="drop")})
    rows, unit = panel(draw, 40), Entity("u", max_rows=3)
    table = opened(fill, rows, unit)
    asked, cells = publish.crosstab(table, by, [["g"], ["y"]], whole=True), table.count(by)
    agrees(asked, cells.companion.compute()[1].tolist())
    counted = [
        (u, (g, y >= 1), False, 0)
        for u, g, _, y in rows
        if u is not None and g in ("a", "b") and y is not None
    ]
    agrees(asked, four(counted, 3, 3))


SMALL = {
    "empty": [],
    "nobody's": [(None, "a", 9.0, 1.0)] * 3,
    "of no group": [("v", None, math.nan, None)],
    "no value": [("v", "other", None, 1.0)],
}


@pytest.mark.parametrize("by", GROUPS.values(), ids=list(GROUPS))
@pytest.mark.parametrize("empty", SMALL)
def test_a_table_without_rows_that_count_gives_whole_numbers(fill, empty, by):
    """Each statistic with each grouping and with each table; two of them with both at once."""
    place = list(SMALL).index(empty) + list(GROUPS.values()).index(by)
    names = ("count", "mean", "count_units", "mean_per_unit")
    rows, unit = SMALL[empty], Entity("u", max_rows=2, max_rows_per={"g": 1})
    table = opened(fill, rows, unit)
    for name in (names[place % 4], names[(place + 2) % 4]):
        agrees(QUESTIONS[name][0](table, by), expected_of(name, rows, unit, by))


@pytest.mark.parametrize("by", [None, GROUPS["declared"]], ids=["none", "declared"])
def test_a_density_of_no_rows_moves_none(fill, by):
    table = opened(fill, SMALL["of no group"], Entity("u", max_rows=2, max_rows_per={"g": 1}))
    asked = publish.density(table, "x", domain=Interval(0, 1, outside="clip"), bandwidth=0.1, by=by)
    _, integers = asked.companion.compute()
    assert integers.tolist() == [0, 0, 0, 0]


def moved_by(fill, name, by, unit, rows, gone):
    asked = QUESTIONS[name][0](opened(fill, rows, unit), by).companion
    _, before = asked.compute()
    fill("companion", COLUMNS, [row for row in rows if row[0] != gone])
    _, after = asked.compute()
    return (before - after).tolist()


@pytest.mark.shows("companion")
@pytest.mark.parametrize("name", ["count", "mean", "mean_per_unit", "sum_per_unit"])
def test_removing_a_unit_moves_them_by_no_more_than_is_declared(fill, name):
    draw, seen = Random(name), 0
    sensitivity = opened(fill, [], Entity("u", max_rows=1)).count().companion.sensitivity
    for by in (None, GROUPS["declared"]):
        rows, unit = panel(draw, 30), unit_of(draw)
        for gone in ("v", "long"):
            moves = moved_by(fill, name, by, unit, rows, gone)
            assert sum(map(abs, moves)) <= sensitivity.l1 == 2 * PARTS
            assert sum(move**2 for move in moves) <= sensitivity.l2_squared == 2 * PARTS**2
            assert max(map(abs, moves)) <= sensitivity.largest == PARTS
            assert sum(move != 0 for move in moves) <= sensitivity.coordinates
            seen += any(moves)
    assert seen


def test_a_unit_attains_what_is_declared(fill):
    rows = [("v", "a", 9.0, 1.0), ("w", "a", 0.0, 1.0)]
    moves = moved_by(fill, "mean", None, Entity("u", max_rows=1), rows, "v")
    assert moves == [PARTS, 0, 0, PARTS]


def test_rows_and_moved_values_are_rounded_down(fill):
    """Three rows of seven are kept, one was moved: 4/7 and 1/7 of 1024."""
    rows = [("v", "a", 9.0 if i == 0 else 0.0, 1.0) for i in range(7)]
    _, found = opened(fill, rows, Entity("u", max_rows=3)).mean("x").companion.compute()
    assert found.tolist() == [0, 1024 - 585, 585, 146]


def test_where_each_row_is_a_unit_there_is_no_companion(fill):
    table = opened(fill, panel(Random(0)), Rows())
    asked = [question(table, None) for question, *_ in QUESTIONS.values()]
    asked += [publish.density(table, "x", domain=Circle(3), bandwidth=0.1)]
    asked += [
        table.count(UnknownKeys("g")),
        publish.crosstab(table, GROUPS["declared"], whole=True),
    ]
    assert [question.companion for question in asked] == [None] * len(asked)


def test_the_text_of_a_question_is_that_of_its_own_integers(fill):
    asked = opened(fill, [], Entity("u", max_rows=2)).mean("x")
    assert "neyman_shares" not in asked.sql()
    assert asked.sql() == asked.sql()
    assert "neyman_parts" in asked.sql()


def test_the_same_rows_under_the_same_limits_have_one_name(fill):
    table = opened(fill, [], Entity("u", max_rows=2))
    by = GROUPS["declared"]

    def about(asked):
        return asked.companion.about

    assert about(table.mean("x", by)) == about(table.sum("x", by)) == about(table.variance("x", by))
    others = [
        table.mean("x", by),
        table.mean("y", by),
        table.count(by),
        table.mean_per_unit("x", by),
        table.sum_per_unit("x", by, lower=0, upper=2),
        table.where(col("y") > 0).mean("x", by),
        table.bounded(max_rows=3).mean("x", by),
        table.with_bounds({"x": Bounds(0, 1, grid=1)}).mean("x", by),
    ]
    assert len({about(asked) for asked in others}) == len(others)


def test_what_is_public_says_which_limit_cuts(fill):
    by, unit = GROUPS["declared"], Entity("u", max_rows=5, max_rows_per={"g": 2})
    table = opened(fill, [], unit)

    def record(asked):
        return {name: asked.companion.record[name] for name in ("of", "limit", "least", "bounds")}

    assert record(table.count()) == {"of": "rows", "limit": 5, "least": 5, "bounds": False}
    assert record(table.mean("x", by)) == {"of": "rows", "limit": None, "least": 2, "bounds": True}
    units = {"of": "groups", "limit": 2, "least": 2, "bounds": False}
    assert record(table.bounded(max_rows=2).count_units(by)) == units
    # Nobody is in more than the three groups that are declared.
    cuts_nothing = {"of": None, "limit": None, "least": 3, "bounds": False}
    assert record(table.count_units(by)) == cuts_nothing
    assert Fraction(table.count().companion.sensitivity.l1) == 2048
