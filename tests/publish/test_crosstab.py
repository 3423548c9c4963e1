"""A contingency table in one release: sums hold, one unit moves it as said, a spec asks for it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import plots, publish
from neyman.cli import main
from neyman.errors import InvalidParameter, InvalidTable, SpecError
from neyman.publish._exact_answers import NOISELESS
from neyman.tables import Bins, Entity, Keys, Rows, UnknownKeys, open_table

BY = Keys({"a": ["x", "y", "z"], "b": [True, False], "c": Bins([0, 1, 2, 3, 4], outside="drop")})
MARGINS = [["a", "b"], ["c", "a"], ["b"], []]
SHARES = [4, 1, 0, 2, 1]


def rows(seed=0, n=400):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "who": draw.integers(0, n // 4, n),
            "a": draw.choice(["x", "y", "z", "other", None], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "b": draw.random(n) < 0.3,
            "c": draw.normal(2, 1.5, n),
        }
    )


def opened(unit=None, seed=0):
    return open_table(rows(seed), unit=unit or Rows(), name="t")


def asked(table, **more):
    return publish.crosstab(table, BY, MARGINS, whole=True, **more)


def released(tmp_path, question, mechanism):
    ledger = ny.Ledger.open(
        tmp_path / "l", cap=ny.gdp(9), unit=question.unit, neighbors="add_remove"
    )
    return ny.release(question, mechanism, ledger, entry="e")


def test_the_integers_are_those_of_the_margins_with_their_weights():
    table = opened()
    question = asked(table, shares=SHARES)
    parts = publish.margins(table, BY, [BY.columns, *MARGINS])
    weights = question.query["weights"]
    assert [bool(w) for w in weights] == [bool(share) for share in SHARES]
    stacked = [w * part.compute() for w, part in zip(weights, parts, strict=True) if w]
    assert question.compute().tolist() == np.concatenate(stacked).tolist()
    assert question.size == len(question.compute())
    # Each has its share of the squared sensitivity, to 7 %: weights are whole.
    squares = [w**2 * part.sensitivity.l2_squared for w, part in zip(weights, parts, strict=True)]
    assert question.sensitivity.l2_squared == sum(squares)
    shares = np.array(SHARES) / sum(SHARES)
    np.testing.assert_allclose(np.array(squares, float) / float(sum(squares)), shares, rtol=0.07)


def test_by_default_the_cells_alone_are_counted():
    table = opened(Entity("who", max_rows=6))
    question, cells = asked(table), table.count(BY)
    assert question.compute().tolist() == cells.compute().tolist()
    assert question.sensitivity == cells.sensitivity
    assert question.query["weights"] == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(1))
def test_one_unit_moves_it_no_more_than_is_said(seed):
    data = rows(seed)
    unit = Entity("who", max_rows=6)
    question = asked(open_table(data, unit=unit, name="t"), shares=SHARES)
    most = question.sensitivity
    whole, reached = question.compute(), 0.0
    for who in range(6):
        without = data.filter(pa.compute.not_equal(data["who"], who))
        moved = asked(open_table(without, unit=unit, name="t"), shares=SHARES).compute() - whole
        assert np.abs(moved).sum() <= most.l1
        assert int(moved @ moved) <= most.l2_squared
        assert np.abs(moved).max() <= most.largest
        assert np.count_nonzero(moved) <= most.coordinates
        reached = max(reached, float(moved @ moved) / float(most.l2_squared))
    assert reached > 0.05


@pytest.mark.shows("contingency")
@pytest.mark.parametrize("shares", [[], SHARES])
def test_what_is_shown_adds_up(tmp_path, shares):
    answer = released(tmp_path, asked(opened(), shares=shares), ny.Gaussian(scale=6))
    columns = answer.columns
    table = {
        key: (count, unbiased)
        for *key, count, unbiased in zip(
            columns["a"],
            columns["b"],
            columns["c"],
            columns["count"],
            columns["unbiased"],
            strict=True,
        )
        for key in [tuple(key)]
    }
    cells = {key: found for key, found in table.items() if "all" not in key}
    assert len(cells) == 24
    assert len(table) == 24 + 6 + 12 + 2 + 1
    for key, found in table.items():
        inside = [
            value
            for cell, value in cells.items()
            if all(part in (own, "all") for own, part in zip(cell, key, strict=True))
        ]
        assert found[0] == sum(count for count, _ in inside)
        assert found[1] == pytest.approx(sum(unbiased for _, unbiased in inside), abs=1e-9)
    assert min(columns["count"]) >= 0
    assert all(count == int(count) for count in columns["count"])
    for count, lower, upper in zip(
        columns["count"], columns["lower"], columns["upper"], strict=True
    ):
        assert 0 <= lower <= count <= upper
    assert answer.keys == BY.columns
    assert answer.groups[0] == "x · True · 0 to 1"
    assert answer.groups[-1] == "all · all · all"
    assert columns["margin"][0] == "by a, b and c"
    assert columns["margin"][-3:] == ["by b", "by b", "in total"]
    assert ny.Release.from_arrow(answer.to_arrow()).columns == columns


def test_negative_counts_are_moved_to_zero_and_the_total_kept():
    question = asked(opened())
    noisy = np.arange(24) - 6
    found = question.reading.columns(noisy, ny.Gaussian(scale=6), 0.95)
    assert found["unbiased"][:24] == noisy.tolist()
    assert found["count"][-1] == noisy.sum()
    assert found["count"][:7] == [0] * 7


def test_it_is_the_table_of_the_same_noisy_counts(tmp_path):
    """Of the cells alone: what `contingency` makes of a count."""
    table = opened()
    question, noise = asked(table), ny.Gaussian(scale=6)
    answer = released(tmp_path, question, noise)
    held = np.array(answer.columns["unbiased"][:24]).astype(int)
    count = table.count(BY)
    plain = ny.Release(
        **{name: getattr(answer, name) for name in answer.__slots__}
        | {"query": count.query, "columns": count.reading.columns(held, noise, 0.95)}
    )
    same = publish.contingency([plain], BY)
    shown = same.nonnegative(whole=True)
    assert answer.columns["unbiased"][:24] == same.values.ravel().tolist()
    assert answer.columns["stddev"][0] == same.stddev
    parts = shown.to_columns(), shown.margin("a", "b").to_columns()
    for name in ("count", "lower", "upper"):
        assert answer.columns[name][:30] == [*parts[0][name], *parts[1][name]]
    assert answer.columns["count"][-1] == shown.total
    assert answer.columns["stddev"][-1] == same.combination(np.ones(same.shape))[1]


@pytest.mark.parametrize("noise", [ny.Gaussian(scale=40), ny.Laplace(scale=20)])
@pytest.mark.parametrize("shares", [[], SHARES])
def test_intervals_hold(noise, shares):
    """200 draws, 45 intervals each: that 95 % of them hold fails by chance below 1e-9."""
    question = asked(opened(), shares=shares)
    exact = question.compute()
    truth = np.array(question.reading.columns(exact, NOISELESS, 0.5)["unbiased"])
    draw = np.random.default_rng(3)
    held = np.zeros(len(truth))
    for _ in range(200):
        if noise.normal:
            drawn = np.rint(draw.normal(0, 40, exact.size))
        else:
            drawn = np.rint(draw.laplace(0, 20, exact.size))
        found = question.reading.columns(exact + drawn.astype(int), noise, 0.95)
        held += (np.array(found["lower"]) <= truth) & (truth <= np.array(found["upper"]))
    assert held.min() > 170
    assert held.mean() > 188


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda t: publish.crosstab(t, BY, [["d"]], whole=True), InvalidTable,
         r"^margins must use columns of the cells; got 'd'. Write some of a, b, c$"),
        (lambda t: publish.crosstab(t, BY, [["a"], ["a"]], whole=True), InvalidTable,
         r"^the margin \['a'\] was given twice; leave it out$"),
        (lambda t: publish.crosstab(t, BY, [["c", "b", "a"]], whole=True), InvalidTable,
         r"has all columns; leave it out$"),
        (lambda t: publish.crosstab(t, BY, [["a", "a"]], whole=True), InvalidTable,
         r"^the margin \['a', 'a'\] names a column twice; write it once$"),
        (lambda t: publish.crosstab(t, BY, ["a"], whole=True), InvalidParameter,
         r"Write a list for each margin, such as \[\['a'\]\]"),
        (lambda t: publish.crosstab(t, BY, [["a"]], shares=[0, 1], whole=True), InvalidParameter,
         r"the cells and 1 margins; got \[0, 1\]\. Write at least 1 for the cells"),
        (lambda t: publish.crosstab(t, BY, [["a"]], shares=[10**400, 1], whole=True),
         InvalidParameter, r"sums of cells, and at most 1,000,000; or leave them out$"),
        (lambda t: publish.crosstab(t, BY, [["a"]], shares=[1], whole=True), InvalidParameter,
         r"the cells and 1 margins; got \[1\]\."),
        (lambda t: publish.crosstab(t, Keys.tuples(("a", "b"), [("x", True), ("y", False)]),
                                    whole=True), InvalidTable, "are chosen combinations"),
        (lambda t: publish.crosstab(t, UnknownKeys("a"), whole=True), InvalidParameter,
         r"by must be.* got a value of type UnknownKeys"),
        (lambda t: publish.crosstab(t, BY, whole=1), InvalidParameter, "whole must be .*type int"),
        (lambda t: publish.crosstab(
            t.with_columns(count=ny.col("b")), Keys({"count": [True]}), whole=True), InvalidTable,
         "the grouping column 'count' is called like a column of the answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(ask, error, said):
    with pytest.raises(error, match=said):
        ask(opened())


def test_sums_that_could_leave_the_integers_are_refused():
    table = open_table(rows(), unit=Rows(), name="t", max_table_rows=2**60)
    with pytest.raises(InvalidTable, match=r"^a margin of 24 cells with max_table_rows="):
        publish.crosstab(table, BY, [[]], shares=[1, 1], whole=True)


HEAD = """
[data]
path = "t.parquet"
[unit]
rows = true
[keys.cells]
a = ["x", "y", "z"]
b = [true, false]
[unknown.found]
columns = ["a", "b"]
[budget]
ledger = "t.ledger"
mu = 1
delta_aside = 1e-6
[[query]]
entry = "e"
statistic = "crosstab"
mu = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pq.write_table(rows(), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, query):
    (folder / "s.toml").write_text(HEAD + query, encoding="utf-8")
    return folder / "s.toml"


@pytest.mark.parametrize(
    ("query", "margins", "more"),
    [
        ('by = "cells"', [], {}),
        ('by = "cells"\nmargins = [["a"], []]\nshares = [2, 1, 0]', [["a"], []],
         {"shares": [2, 1, 0]}),
        ('by = "cells"\nmargins = [["b"]]\nwhole = false', [["b"]], {"whole": False}),
    ],
)  # fmt: skip
def test_a_spec_asks_what_python_asks(folder, query, margins, more):
    (step,) = publish.plan(publish.read_spec(write(folder, query)), folder).steps
    by = Keys({"a": ["x", "y", "z"], "b": [True, False]})
    table = open_table(folder / "t.parquet", unit=Rows())
    same = publish.crosstab(table, by, margins, **{"whole": True, **more})
    assert step.aggregate.query == same.query
    assert step.aggregate.compute().tolist() == same.compute().tolist()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "query 'e': a crosstab must have by, the groups of its cells; got none. Write by, "
             "the NAME of [keys.NAME] with a list of values for each column"),
        ('by = "cells"\nmargins = ["a"]',
         "query 'e'.margins[0]: it should be a list; found 'a'"),
        ('by = "cells"\nmargins = [["c"]]', "query 'e': margins must use columns of the cells; "
         "got 'c'. Write some of a, b"),
        ('by = "cells"\nmargin = [["a"]]', "query 'e'.margin: no such key; write margins"),
        ('by = "cells"\nmargins = [["a"]]\nshares = [1]', "query 'e': shares must be whole "
         "numbers for the cells and 1 margins; got [1]. Write at least 1 for the cells, 0 for "
         "margins that are sums of cells, and at most 1,000,000; or leave them out"),
        ('by = "found"\ndelta = 1e-8', "query 'e': the groups of crosstab must be declared; got "
         "unknown groups. Find them by a count first, then write those that it shows in "
         "[keys.NAME]"),
    ],
)  # fmt: skip
def test_mistakes_of_a_spec_are_told(folder, query, said):
    with pytest.raises((SpecError, InvalidTable)) as caught:
        publish.plan(publish.read_spec(write(folder, query)), folder)
    assert said in str(caught.value)


def test_a_user_previews_releases_and_asks_again(folder, capsys):
    spec = write(folder, 'by = "cells"\nmargins = [["a"], []]\n')
    assert main(["release", str(spec), "--preview", "--records", "1000"]) == 0
    foreseen = capsys.readouterr().out
    assert "count by a and b   any group   ± 4.46   stddev 2.02\n" in foreseen
    assert "count in total" in foreseen
    assert not (folder / "t.ledger").exists()
    assert main(["release", str(spec), "--report", "page.html"]) == 0
    first = capsys.readouterr().out
    assert "in total" in first
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "1. Count by a and b, with sums by a, in total<" in page
    assert "count by a<" in page
    assert main(["release", str(spec), "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)
    assert again["columns"]["margin"][-1] == "in total"
    assert ny.Release.from_json(again).groups[-1] == "all · all"


def test_the_picture_has_a_panel_for_each_margin_of_several_rows(tmp_path):
    answer = released(tmp_path, asked(opened()), ny.Gaussian(scale=6))
    picture = plots.released(answer)
    drawn = [axes.get_xlabel() for axes in picture.axes]
    assert drawn == ["count by a, b and c", "count by a and b", "count by c and a", "count by b"]
    labels = [label.get_text() for label in picture.axes[-1].get_yticklabels()]
    assert labels == ["all · True · all", "all · False · all"]


def test_bounds_are_tried_on_public_data():
    found = publish.bias(
        lambda t: publish.crosstab(t, BY, [["a"]], whole=True),
        opened(Entity("who", max_rows=2)),
        open_table(rows(1), unit=Rows(), name="public"),
    )
    assert sum(found.columns["count_truncation"][:24]) < 0
