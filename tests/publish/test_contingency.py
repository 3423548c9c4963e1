"""Contingency tables add up, are best linear estimates, and say how far off they are."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neyman as ny
from neyman import publish
from neyman.errors import InvalidParameter, InvalidTable
from neyman.publish._cells import Cells, least_squares, nonnegative, on_simplex
from neyman.tables import Bins, Entity, Keys, Rows, open_table

BY = Keys({"a": ["x", "y", "z"], "b": [True, False], "c": Bins([0, 1, 2, 3, 4], outside="drop")})
MARGINS = [("a", "b", "c"), ("a", "b"), ("c", "a"), ("b",), ()]


def rows(seed: int, n: int = 400) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "who": draw.integers(0, n // 4, n),
            # Some keys are not declared, and some are NULL.
            "a": draw.choice(["x", "y", "z", "other", None], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "b": draw.random(n) < 0.3,
            "c": draw.normal(2, 1.5, n),
        }
    )


def opened(seed=0, unit=None):
    return open_table(rows(seed), unit=unit or Rows(), name="t")


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A batch of margins under Gaussian noise of unlike scales, and what is true."""
    table = opened()
    ledger = ny.Ledger.open(
        tmp_path_factory.mktemp("ledger") / "l",
        cap=ny.gdp(5),
        unit=table.protects,
        neighbors="add_remove",
    )
    asked = publish.margins(table, BY, MARGINS)
    batch = [(q, ny.Gaussian(scale=s)) for q, s in zip(asked, (4, 3, 6, 5, 2), strict=True)]
    return ny.release_batch(batch, ledger, entry="all"), [q.compute() for q in asked]


def dense(shape, margins):
    """Least squares by matrices, as in a textbook."""
    cells = list(itertools.product(*map(range, shape)))
    designs, values, weights = [], [], []
    for axes, margin, variance in margins:
        ordered = sorted(axes)
        for place in itertools.product(*(range(shape[i]) for i in ordered)):
            designs.append([tuple(cell[i] for i in ordered) == place for cell in cells])
            values.append(margin[place])
            weights.append(1 / variance)
    design, weight = np.array(designs, float), np.array(weights)
    covariance = np.linalg.inv(design.T * weight @ design)
    return (covariance @ (design.T * weight) @ values).reshape(shape), covariance


SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(shape=SHAPES, data=st.data(), seed=st.integers(0, 2**32))
def test_least_squares_are_those_of_matrices(shape, data, seed):
    draw = np.random.default_rng(seed)
    sets = data.draw(st.lists(st.sets(st.integers(0, len(shape) - 1)), max_size=4))
    margins = [
        (frozenset(axes), draw.normal(0, 50, [shape[i] for i in sorted(axes)]), v)
        for axes, v in zip([set(range(len(shape))), *sets], draw.uniform(0.2, 30, 5), strict=False)
    ]
    found, precision = least_squares(shape, margins)
    expected, covariance = dense(shape, margins)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    # One variance for all cells, and never above that of any release of them.
    np.testing.assert_allclose(np.diag(covariance), np.mean(1 / precision), rtol=1e-9)
    for axes, _, variance in margins:
        index = tuple(slice(None) if i in axes else 0 for i in range(len(shape)))
        folded = math.prod(n for i, n in enumerate(shape) if i not in axes)
        assert np.mean(folded / precision[index]) <= variance * (1 + 1e-12)


@pytest.mark.shows("contingency")
def test_margins_add_up_before_noise_and_after(released):
    releases, truth = released
    shape = (3, 2, 4)
    cells = truth[0].reshape(shape)
    assert truth[1].tolist() == cells.sum(axis=2).ravel().tolist()
    assert truth[2].tolist() == cells.sum(axis=1).T.reshape(-1).tolist()
    assert truth[3].tolist() == cells.sum(axis=(0, 2)).tolist()
    assert truth[4].tolist() == [cells.sum()]
    # Those of undeclared keys count in no margin, though they would in a count by b.
    by_b = opened().count(Keys({"b": [True, False]})).compute()
    assert by_b.sum() > truth[3].sum()

    table = publish.contingency(releases, BY)
    for columns in (("a", "b"), ("c", "a"), ("b",), ("c",), ("b", "c", "a")):
        margin = table.margin(*columns)
        assert margin.keys == BY.project(*columns)
        axes = [BY.columns.index(name) for name in columns]
        rest = tuple(i for i in range(3) if i not in axes)
        summed = table.values.sum(axis=rest)
        ordered = np.transpose(summed, np.argsort(np.argsort(axes)))
        # Equal as doubles, in whatever order they are added.
        assert margin.values.tolist() == ordered.tolist()
        assert margin.values[::-1].sum() == table.values.sum() == table.total
        again = margin.margin(columns[-1])
        assert again.values.tolist() == table.margin(columns[-1]).values.tolist()
        assert again.stddev == pytest.approx(table.margin(columns[-1]).stddev, rel=1e-12)


def test_no_count_is_less_sure_than_any_release_of_it(released):
    releases, _ = released
    table = publish.contingency(releases, BY)
    for release, columns in zip(releases, MARGINS[:-1], strict=False):
        assert table.margin(*columns).stddev < release.columns["stddev"][0]
    one, sd = table.combination(np.ones(table.shape))
    assert one == table.total
    assert sd < releases[-1].columns["stddev"][0]
    # A difference of two cells has less than twice the variance, for they share errors.
    weights = np.zeros(table.shape)
    weights[0, 0, 0], weights[2, 1, 3] = 1, -1
    difference, sd = table.combination(weights)
    assert difference == table.values[0, 0, 0] - table.values[2, 1, 3]
    cells = releases[0].columns["stddev"][0]
    assert 0 < sd < math.sqrt(2) * cells
    # Of the cells alone all is as released.
    alone = publish.contingency(releases[:1], BY)
    assert alone.cells.counts.tolist() == [
        n << alone.cells.digits for n in releases[0].columns["count"]
    ]
    assert alone.stddev == pytest.approx(cells, rel=1e-12)
    assert alone.margin("a").stddev == pytest.approx(cells * math.sqrt(8), rel=1e-12)


def test_what_is_shown(released):
    releases, _ = released
    table = publish.contingency(releases, BY)
    columns = table.margin("c", "b").to_columns()
    assert list(columns) == ["c_from", "c_to", "b", "count", "stddev", "lower", "upper"]
    cell = table.cell(a="y", b=False, c=(1, 2))
    place = BY.rows().index(("y", False, (1, 2)))
    shown = table.to_columns()
    assert cell == {name: shown[name][place] for name in ("count", "stddev", "lower", "upper")}
    proper = table.nonnegative(whole=True)
    assert proper.cell(a="y", b=False, c=(1, 2))["count"] == proper.to_columns()["count"][place]
    assert proper.to_json()["keys"] == BY.describe()
    with pytest.raises(InvalidTable, match="Write each column once"):
        table.cell(a="y")
    with pytest.raises(InvalidTable, match="'q' is not among the keys of column 'a'"):
        table.cell(a="q", b=False, c=(1, 2))
    with pytest.raises(InvalidTable, match=r"is no bin of column 'c'; .* such as \(0, 1\)"):
        table.cell(a="y", b=False, c=(0, 2))


def simulated(cells, scales, draw, by, margins):
    """The tables of many noisy batches, by the noise of the releases: rounded normal."""
    shape = cells.shape
    given = []
    for columns, scale in zip(margins, scales, strict=True):
        axes = frozenset(by.columns.index(name) for name in columns)
        rest = tuple(i for i in range(len(shape)) if i not in axes)
        exact = cells.sum(axis=rest)
        noise = np.rint(draw.normal(0, scale, exact.shape))
        given.append((axes, exact + noise, scale**2 + 1 / 12))
    return least_squares(shape, given)


def test_unbiased_and_of_the_variance_and_cover_that_are_stated(released):
    """4,000 batches: means within 5 standard errors, cover within 5 of 95 %; a twin must fail."""
    releases, truth = released
    cells = truth[0].reshape(3, 2, 4)
    margins = [("a", "b", "c"), ("a", "b"), ("a", "c"), ("b",), ()]
    draw, times = np.random.default_rng(3), 4000
    found = np.array(
        [simulated(cells, (4, 3, 6, 5, 2), draw, BY, margins)[0] for _ in range(times)]
    )
    table = publish.contingency(releases, BY)
    off = found - cells
    assert np.max(np.abs(off.mean(axis=0))) < 5 * table.stddev / math.sqrt(times)
    np.testing.assert_allclose(off.std(axis=0), table.stddev, rtol=5 / math.sqrt(2 * times))
    tolerance = 5 * math.sqrt(0.05 * 0.95 / times)
    for columns in [("a", "b", "c"), ("a", "b"), ("b",), ("c",)]:
        margin = table.margin(*columns)
        rest = tuple(i + 1 for i in range(3) if BY.columns[i] not in columns)
        held = np.abs(off.sum(axis=rest)) <= margin.half_width
        assert np.min(held.mean(axis=0)) > 0.95 - tolerance
    # The twin is a sixth too sure of itself.
    narrow = np.abs(off.sum(axis=(2, 3))) <= table.margin("a").half_width * 5 / 6
    assert np.min(narrow.mean(axis=0)) < 0.95 - tolerance


def test_other_noise_is_covered_by_chebyshev(tmp_path):
    table = opened()
    ledger = ny.Ledger.open(
        tmp_path / "l", cap=ny.pure_dp(5), unit=table.protects, neighbors="add_remove"
    )
    release = ny.release(table.count(BY), ny.Laplace(scale=2), ledger, entry="cells")
    found = publish.contingency([release], BY, confidence=0.9)
    assert found.half_width == pytest.approx(found.stddev / math.sqrt(0.1), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32), total=st.floats(0, 200), margined=st.booleans())
def test_the_nearest_table_that_is_not_negative(shape, seed, total, margined):
    draw = np.random.default_rng(seed)
    table = draw.normal(1, 5, shape)
    full = (frozenset(range(len(shape))), table, 2.0)
    more = [(frozenset([0]), table.sum(axis=tuple(range(1, len(shape)))), 1.0)] if margined else []
    fitted, precision = least_squares(shape, [full, *more])
    found = nonnegative(fitted, precision, total)
    assert np.min(found) >= 0
    assert found.sum() == pytest.approx(total, abs=1e-8)
    _, covariance = dense(shape, [full, *more])
    metric = np.linalg.inv(covariance)

    def distance(at):
        off = (at - fitted).ravel()
        return off @ metric @ off

    # No table of the same total on the way to a corner, or to one drawn, is nearer.
    best = distance(found)
    corners = [np.eye(1, found.size, i).reshape(shape) * total for i in range(found.size)]
    for other in [*corners, draw.dirichlet(np.ones(found.size)).reshape(shape) * total]:
        for step in (1e-3, 1e-1):
            assert distance(found + step * (other - found)) >= best - 1e-2 * (1 + math.sqrt(best))
    simple = on_simplex(table, total)
    assert simple.sum() == pytest.approx(total, abs=1e-8)


@pytest.mark.shows("contingency")
@pytest.mark.parametrize("whole", [True, False])
def test_without_negative_counts(released, whole):
    releases, _ = released
    table = publish.contingency(releases, BY)
    proper = table.nonnegative(whole=whole)
    assert np.min(proper.cells.counts) >= 0
    assert proper.total == (round(table.total) if whole else table.total)
    if whole:
        assert proper.values.tolist() == proper.cells.counts.reshape(proper.shape).tolist()
    for columns in (("a",), ("c", "b")):
        margin = proper.margin(*columns)
        assert margin.values.sum() == proper.total
        parts = margin.to_columns()
        assert all(
            0 <= low <= n <= high
            for low, n, high in zip(parts["lower"], parts["count"], parts["upper"], strict=True)
        )


def test_cover_is_kept_without_negative_counts():
    """400 sparse tables: an interval holds wherever the unbiased one does."""
    by = Keys({"a": range(6), "b": range(5)})
    draw = np.random.default_rng(5)
    cells = np.zeros((6, 5))
    cells[0], cells[:, 0] = 40, 7
    held, errors = [], []
    for _ in range(400):
        values, precision = simulated(cells, (5, 4, 3), draw, by, [("a", "b"), ("a",), ()])
        table = publish.ContingencyTable(Cells.of(by, values), precision, 0.95, True)
        proper = table.nonnegative(whole=False)
        parts = proper._parts()
        inside = (parts["lower"] <= cells.ravel()) & (cells.ravel() <= parts["upper"])
        unbiased = np.abs(table.values - cells).ravel() <= table.half_width
        assert np.all(inside | ~unbiased)
        held.append(inside)
        errors.append([np.mean((t.values - cells) ** 2) for t in (proper, table)])
    assert np.min(np.mean(held, axis=0)) > 0.95 - 5 * math.sqrt(0.05 * 0.95 / 400)
    nonneg, linear = np.mean(errors, axis=0)
    assert nonneg < 0.6 * linear


def test_a_hundred_thousand_cells():
    shape = (40, 50, 50)
    draw = np.random.default_rng(0)
    cells = draw.poisson(0.2, shape).astype(float)
    by = Keys({"a": range(40), "b": range(50), "c": range(50)})
    values, precision = simulated(cells, (3, 3, 3), draw, by, [("a", "b", "c"), ("a",), ("b", "c")])
    table = publish.ContingencyTable(Cells.of(by, values), precision, 0.95, True)
    proper = table.nonnegative(whole=True)
    assert proper.total == max(round(table.total), 0)
    assert np.min(proper.cells.counts) >= 0
    far = np.abs(proper.margin("a").values - cells.sum(axis=(1, 2)))
    assert np.mean(far) < 2 * 3


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 11)), max_size=60),
    st.integers(1, 30),
    st.integers(1, 3),
)
@settings(max_examples=5, deadline=None)
def test_removing_a_unit_moves_margins_by_at_most_the_sensitivity(visits, total, most):
    by = Keys({"a": range(3), "b": range(4)})

    def asked(kept):
        table = pa.table(
            {
                "u": pa.array([u for u, _ in kept], pa.int64()),
                "a": pa.array([cell // 4 for _, cell in kept], pa.int64()),
                "b": pa.array([cell % 4 for _, cell in kept], pa.int64()),
            }
        )
        unit = Entity("u", max_rows=total, max_rows_per={("a", "b"): most})
        return publish.margins(
            open_table(table, unit=unit, name="t"), by, [("a", "b"), ("a",), ("b",), ()]
        )

    full = asked(visits)
    rest = asked([visit for visit in visits if visit[0] != 0])
    # What the cells differ by; margins are sums of them.
    off = (full[0].compute() - rest[0].compute()).reshape(3, 4)
    for question, rest_of in zip(full, [(), (1,), (0,), (0, 1)], strict=True):
        change, known = np.abs(off.sum(axis=rest_of)), question.sensitivity
        assert change.sum() <= known.l1
        assert (change**2).sum() <= known.l2_squared
        assert np.count_nonzero(change) <= known.coordinates
        assert change.max() <= known.largest


def test_the_sensitivity_of_margins_is_attained():
    by = Keys({"a": range(3), "b": range(4)})
    full = pa.table({"u": [1] * 24, "a": [i // 4 % 3 for i in range(24)], "b": [0, 1, 2, 3] * 6})
    table = open_table(full, unit=Entity("u", 198).bounded(max_rows_per_group=2), name="t")
    for asked, l1, l2 in zip(
        publish.margins(table, by, [("a", "b"), ("a",), ("b",), ()]),
        (24, 24, 24, 24),
        (12 * 4, 3 * 64, 4 * 36, 24**2),
        strict=True,
    ):
        known, counts = asked.sensitivity, asked.compute()
        assert (known.l1, known.l2_squared) == (Fraction(l1), Fraction(l2))
        assert (counts.sum(), (counts**2).sum()) == (l1, l2)
    # Five groups of a margin of four cells: one filled and a fourth of the next.
    (margin,) = publish.margins(table.bounded(15, 3), by, [("a",)])
    assert margin.sensitivity.l2_squared == 9 * (16 + 1)


def test_refused(released):
    releases, _ = released
    table = opened()
    for given_, by, says in [
        (releases[1:], BY, "releases must have the cells, a, b, c; none of 4 does"),
        ([], BY, "releases must have the cells"),
        ([*releases, releases[0]], BY, "releases must be different; got .* twice"),
        (
            releases,
            BY - BY.filter(lambda row: row["b"]) | BY,
            "must have every combination of keys",
        ),
        (releases, Keys({"a": ["x"]}), "releases must be counts by"),
    ]:
        with pytest.raises(InvalidTable, match=says):
            publish.contingency(given_, by)
    for confidence in (0, 1, math.nan):
        with pytest.raises(InvalidParameter, match=r"must be in \(0, 1\)"):
            publish.contingency(releases, BY, confidence=confidence)
    with pytest.raises(InvalidTable, match="no column 'q'"):
        publish.margins(table, BY, [("q",)])
    whole = publish.contingency(releases, BY)
    with pytest.raises(InvalidTable, match="without a column"):
        whole.margin()
    with pytest.raises(InvalidParameter, match=r"shape \(3, 2, 4\)"):
        whole.combination([1, 2])


def test_releases_of_other_limits_need_not_add_up(tmp_path):
    table = opened(unit=Entity("who", max_rows=4))
    ledger = ny.Ledger.open(
        tmp_path / "l", cap=ny.gdp(9), unit=table.protects, neighbors="add_remove"
    )
    cells, _ = publish.margins(table, BY, [("a", "b", "c"), ("a",)])
    (other,) = publish.margins(table.bounded(3, 2), BY, [("a",)])
    asked = [(cells, ny.Gaussian(scale=5)), (other, ny.Gaussian(scale=5))]
    releases = ny.release_batch(asked, ledger, entry="both")
    with pytest.raises(InvalidTable, match="must have the same unit and limits"):
        publish.contingency(releases, BY)


def test_whole_noise_of_any_size_is_covered():
    """20,000 batches each: cover within 5 standard errors of 90 %; without the half it is not."""
    by = Keys({"a": range(4), "b": range(3)})
    margins = [("a", "b"), ("a",), ()]
    draw, times, lost = np.random.default_rng(1), 20_000, []
    tolerance = 5 * math.sqrt(0.09 / times)
    for scales in [(0.3, 0.3, 0.3), (0.5, 2, 1), (3, 0.4, 0.4), (0.3, 3, 5), (1, 1, 1), (20, 9, 9)]:
        sets = [frozenset(by.columns.index(name) for name in names) for names in margins]
        variances = [ny.Gaussian(scale=scale).stddev ** 2 for scale in scales]
        sizes = [(4, 3), (4,), ()]
        # What each number released adds to each cell.
        adds, spread = [], []
        for i, size in enumerate(sizes):
            for place in np.ndindex(size):
                given_ = [np.zeros(s) for s in sizes]
                given_[i][place] = 1
                triples = list(zip(sets, given_, variances, strict=True))
                values, precision = least_squares((4, 3), triples)
                adds.append(values.ravel())
                spread.append(scales[i])
        noise = np.rint(draw.normal(0, 1, (times, len(spread))) * spread)
        off = (noise @ np.array(adds)).reshape(times, 4, 3)
        table = publish.ContingencyTable(Cells.of(by, np.zeros((4, 3))), precision, 0.9, True)
        for found, width in [
            (off, table.half_width),
            (off.sum(axis=2), table.margin("a").half_width),
            (off.sum(axis=1), table.margin("b").half_width),
        ]:
            held = [(np.abs(found) <= width - less + 1e-9).mean(axis=0).min() for less in (0, 0.5)]
            assert held[0] > 0.9 - tolerance
            lost.append(held[1])
    assert min(lost) < 0.9 - 4 * tolerance


@pytest.mark.parametrize("made", [lambda t: t, lambda t: t.nonnegative(whole=True)])
def test_a_table_is_printed_and_has_frames(made, tmp_path):
    from pyarrow import parquet

    by = Keys({"a": ["x", "y"]})
    counts = Cells(by, np.array([5, 7], np.int64), 0)
    table = made(publish.ContingencyTable(counts, np.full(2, 0.25), 0.9, True))
    columns = table.to_columns()
    lines = str(table).splitlines()
    assert lines[0].split() == list(columns)
    assert lines[1].split()[:2] == ["x", "5"]
    assert lines[-1].startswith("lower, upper: 90 % interval for the noise")
    table.to_parquet(tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").to_pydict() == columns
    assert table.to_pandas().to_dict("list") == columns
    assert table.to_polars().to_dict(as_series=False) == columns
    assert table.to_arrow().to_pydict() == columns
    assert table.to_json()["columns"] == columns
