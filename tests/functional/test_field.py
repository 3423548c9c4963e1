"""A released field: the kernel density it claims to be, the same bits for the same point."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import (
    Box,
    Circle,
    Density,
    DensityFunction,
    Interval,
    ReleasedField,
    ReleasedFunction,
)

LINE, TURN = Interval(0, 10, outside="clip"), Circle(24)
LAID = np.array([[2.0, 3.0], [2.0, 3.0], [6.5, 6.5], [5.0, 8.0]])
SPACE = {"domain": Box(LINE, TURN, LINE), "bandwidth": (1, 3, 1)}


def kernels(x, values, h):
    """Return the plain estimate at points (m, d), with images of circles left out."""
    z = (np.asarray(x)[:, None, :] - values) / np.asarray(h)
    norm = math.prod(h) * (2 * math.pi) ** (len(h) / 2)
    return np.exp(-0.5 * (z * z).sum(axis=2)).mean(axis=1) / norm


@pytest.fixture
def rows():
    return np.random.default_rng(7).normal((4, 6), (1, 1.5), (20_000, 2))


@pytest.mark.shows("S2.13")
def test_without_noise_it_is_the_kernel_density_estimate(released_field):
    f = released_field(np.repeat(LAID, 20_000, axis=0), mu=None)
    x = np.random.default_rng(0).uniform(0, 10, (300, 2))
    peak = 1 / (0.8 * 1.0 * 2 * math.pi)
    np.testing.assert_allclose(f(x), kernels(x, LAID, (0.8, 1.0)), atol=0.02 * peak)
    wide = f.smooth((1.0, 1.0))
    np.testing.assert_allclose(wide(x), kernels(x, LAID, (1.0, 1.0)), atol=0.02 * peak)
    assert math.isclose(f.count, 80_000, rel_tol=1e-4)


def test_on_nodes_it_is_that_to_five_digits(released_field):
    h, nodes = (0.8, 1.0), (20 / 256, 20 / 192)
    values = np.array([[30, 40], [80, 61], [81, 60]]) * nodes
    f = released_field(np.repeat(values, 200_000, axis=0), mu=None)
    assert f.basis.circle_nodes == (256, 192)
    x = np.random.default_rng(0).uniform(0, 10, (200, 2))
    np.testing.assert_allclose(f(x), kernels(x, values, h), atol=2e-5 * 0.2)


def test_in_space_it_is_the_kernel_density_estimate(released_field):
    values = np.array([[24, 16, 40], [48, 18, 32]]) * [10 / 48, 24 / 32, 10 / 48]
    f = released_field(np.repeat(values, 50_000, axis=0), mu=None, **SPACE)
    x = np.random.default_rng(0).uniform((0, 10, 0), (10, 15, 10), (200, 3))
    expected = kernels(x, values, (1, 3, 1))
    np.testing.assert_allclose(f(x), expected, atol=2e-5 * expected.max())
    assert f.basis.circle_nodes == (96, 32, 96)


def test_circles_close_and_lines_do_not(released_field):
    values = np.tile([[23.9, 9.9]], (50_000, 1))
    declared = {"domain": Box(TURN, LINE), "bandwidth": (2, 1)}
    f = released_field(values, mu=None, **declared)
    assert f([0.0, 9.0]) == f([24.0, 9.0]) == f([-24.0, 9.0])
    assert f([0.5, 9.9]) == pytest.approx(1 / (2 * 2 * math.pi) * math.exp(-0.045), rel=2e-2)
    assert abs(f([12.0, 0.0])) < 1e-5
    assert f.integral((0, 0), (24, 10)) == pytest.approx(0.54, abs=0.02)
    assert f.integral((12, 5), (36, 10)) == pytest.approx(f.integral((0, 5), (24, 10)), abs=1e-12)


def test_the_same_point_gives_the_same_bits_whatever_else_is_asked(released_field, rows):
    for f, lengths in (
        (released_field(rows), (10, 10)),
        (released_field(np.random.default_rng(1).uniform(0, 9, (500, 3)), **SPACE), (10, 24, 10)),
    ):
        x = np.random.default_rng(3).uniform(0, lengths, (211, len(lengths)))
        whole = f(x)
        assert (f(x[::-1])[::-1] == whole).all()
        assert (np.concatenate([f(part) for part in np.array_split(x, 13)]) == whole).all()
        assert all(float(f(point)) == value for point, value in zip(x, whole, strict=True))
        assert (f(np.asfortranarray(x)) == whole).all()
        assert (f(np.repeat(x, 2, axis=0)[::2]) == whole).all()
        assert (f(x.reshape(1, 211, -1)) == whole).all()


def test_a_grid_is_the_field_at_its_points(released_field, rows):
    f = released_field(rows)
    (a, b), values = f.grid((7, 11))
    assert values.shape == (7, 11)
    x = np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1)
    np.testing.assert_allclose(values, f(x), rtol=0, atol=1e-13)
    axes, values = released_field(np.zeros((5, 3)), **SPACE).grid(3)
    assert values.shape == (3, 3, 3)
    assert axes[1].tolist() == [0, 8, 16]


def test_integrals_are_of_the_field(released_field, rows):
    f = released_field(rows)
    (a, b), values = f.grid(401)
    cell = (a[1] - a[0]) * (b[1] - b[0])
    inside = np.ix_(a[:-1] + 0.0125 < 6, b[:-1] + 0.0125 < 7)
    means = (values[:-1, :-1] + values[1:, :-1] + values[:-1, 1:] + values[1:, 1:]) / 4
    assert f.integral((0, 0), (6, 7)) == pytest.approx(means[inside].sum() * cell, abs=1e-4)
    assert f.integral((0, 0), (5, 5)) + f.integral((5, 0), (6, 5)) == pytest.approx(
        f.integral((0, 0), (6, 5)), abs=1e-12
    )


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_marginal_is_the_curve_of_its_own_side(released_field, released, neighbors, rows):
    declared = {"target": Density(), "neighbors": neighbors}
    f = released_field(rows, mu=None, **declared)
    x = np.linspace(0, 10, 101)
    for axis, h in ((0, 0.8), (1, 1.0)):
        g = f.marginal(axis)
        assert isinstance(g, ReleasedFunction)
        alone = released(rows[:, axis], mu=None, domain=LINE, bandwidth=h, neighbors=neighbors)
        np.testing.assert_allclose(g(x), alone(x), atol=2e-3 * alone(x).max())
        assert g.count == f.count
        again = functional.read(json.loads(json.dumps(g.to_json())))
        assert again == g
        assert (again(x) == g(x)).all()


def test_the_marginal_integrates_the_field_out(released_field, rows):
    """Of a noisy field; along a circle all of it is inside."""
    f = released_field(rows, domain=Box(LINE, TURN), bandwidth=(1, 3))
    x = np.linspace(0, 10, 21)
    strips = [f.integral((a, 0), (b, 24)) for a, b in pairwise(x)]
    g = f.marginal(0)
    np.testing.assert_allclose(strips, np.diff(g.cdf(x)), atol=1e-12)
    assert g.smooth(1).noise_sd(5.0) > 0
    assert functional.select_bandwidth(g) >= 1
    with pytest.raises(InvalidParameter, match="axis"):
        f.marginal(2)


def test_two_coordinates_of_three_are_a_field(released_field):
    """The other integrated out: as many integrals, the marginals of both, the same noise."""
    values = np.random.default_rng(1).normal((4, 12, 5), (1, 3, 1), (5_000, 3))
    f = released_field(values, **SPACE)
    quiet = released_field(values, mu=None, neighbors="replace_one", **SPACE)
    for pair in ((0, 1), (0, 2), (1, 2)):
        g = f.plane(*pair)
        lower = [3.0, 9.0, 2.0]
        if pair == (0, 2):
            whole = f.integral([3.0, 0, 2.0], [6.0, 24, 7.0])
            assert g.integral((3, 2), (6, 7)) == pytest.approx(whole, abs=1e-12)
        assert g.count == f.count
        assert g.bandwidth == tuple(f.bandwidth[k] for k in pair)
        for place, axis in enumerate(pair):
            curve, same = g.marginal(place), f.marginal(axis)
            assert curve == same
            assert curve(lower[axis]) == same(lower[axis])
        again = functional.read(json.loads(json.dumps(g.to_json())))
        assert again == g
        x = np.random.default_rng(2).uniform(1, 9, (20, 2))
        assert (again(x) == g(x)).all()
        still = quiet.plane(*pair)
        h = [float(b) for b in still.bandwidth]
        x[:, [k for k in (0, 1) if pair[k] == 1]] += 6
        expected = kernels(x, values[:, pair], h)
        np.testing.assert_allclose(still(x), expected, atol=0.01 * expected.max())
        assert g.smooth(functional.select_bandwidth(g)).noise_sd([4.0, 5.0]) > 0
        record = g.to_json()
        for axes in ([1, 0], [0, 3], [0], [True, 2], "01", [0.0, 1.0]):
            with pytest.raises(InvalidParameter):
                functional.read(record | {"basis": record["basis"] | {"axes": axes}})
    for first, second in ((1, 0), (0, 3), (0, 0), (True, 2), (2, 1)):
        with pytest.raises(InvalidParameter, match=r"first|second"):
            f.plane(first, second)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_noise_is_what_it_is_said_to_be(released_field, neighbors):
    values = np.random.default_rng(1).uniform(0, 10, (3_000, 2))
    quiet = released_field(values, mu=None, neighbors=neighbors).smooth((1, 1))
    x = np.array([[1.0, 2.0], [5.0, 5.0], [9.5, 0.1]])
    readings = [
        released_field(values, seed=s, neighbors=neighbors).smooth((1, 1)) for s in range(300)
    ]
    moves = np.array([f(x) for f in readings]) - quiet(x)
    sd = readings[0].noise_sd(x)
    # The ratio is known to sd 1/sqrt(600) = 0.041; six and a half of them.
    np.testing.assert_allclose(np.sqrt((moves**2).mean(axis=0)) / sd, 1, atol=0.27)
    if neighbors == "replace_one":
        assert np.ptp(sd) == 0
    counts = np.array([f.count for f in readings])
    assert counts.std() == pytest.approx(readings[0].count_sd, rel=0.27)


def test_the_noise_of_a_field_is_that_of_one_value(released_field):
    """Under Density(): K(0) / mu counts at a point, and a twentieth more for the count."""
    values = np.full((2000, 2), 5.0)
    f = released_field(values, target=Density(), neighbors="add_remove", mu=2)
    peak = 1 / (0.8 * 1.0 * 2 * math.pi)
    own = math.sqrt(f.noise_spectrum.sum()) * f.count
    assert own == pytest.approx(1.045 * peak / 2, rel=0.01)


def test_a_field_written_and_read_is_the_same_to_the_bit(released_field, rows, tmp_path):
    for values, declared in (
        (rows, {}),
        (rows, {"domain": Box(TURN, LINE), "bandwidth": (2.5, 0.75), "neighbors": "replace_one"}),
        (np.zeros((3, 3)), SPACE),
    ):
        f = released_field(values, mu=None, **declared)
        f = f.smooth([high for _, high in f.bandwidths])
        record = json.loads(json.dumps(f.to_json()))
        functional.save(f, tmp_path / "f.npz")
        for again in (
            functional.read(record, ReleasedField),
            functional.load(tmp_path / "f.npz"),
        ):
            assert again == f
            assert hash(again) == hash(f)
            assert (again.grid(5)[1] == f.grid(5)[1]).all()


def test_malformed_records_are_refused(released_field, rows):
    record = released_field(rows).to_json()
    basis = record["basis"]
    for changed in (
        {"version": 2},
        {"integers": record["integers"][1:]},
        {"integers": [*record["integers"][:-1], 2**63]},
        {"integers": [*record["integers"][:-1], 0.5]},
        {"stddev": "nan"},
        {"stddev": (-1.0).hex()},
        {"records": 5},
        {"bandwidth": ["0.8"]},
        {"bandwidth": ["0.1", "1"]},
        {"bandwidth": ["0.8", "1.5"]},
        {"bandwidth": "0.8"},
        {"basis": basis | {"sides": basis["sides"][:1]}},
        {"basis": basis | {"sides": [*basis["sides"], {"kind": "box"}]}},
        {"basis": basis | {"bandwidth": ["0.8"]}},
        {"basis": basis | {"bandwidth": ["0.08", "0.1"]}},
        {"basis": basis | {"bandwidth": ["0", "1"]}},
        {"basis": basis | {"target": {"kind": "cumulative"}}},
        {"basis": basis | {"counted": False}},
        {"basis": {}},
        {"more": 1},
    ):
        with pytest.raises(InvalidParameter):
            functional.read(record | changed)
    margin = released_field(rows).marginal(0).to_json()
    for axis in (2, -1, 0.5, True, "0"):
        with pytest.raises(InvalidParameter):
            functional.read(margin | {"basis": margin["basis"] | {"axis": axis}})


def test_a_projected_field_is_a_density(released_field):
    values = np.random.default_rng(7).normal((1, 5), 1, (300, 2))
    for declared in ({}, {"domain": Box(LINE, Circle(10))}):
        f = released_field(values, mu=0.5, **declared)
        p = DensityFunction(f).smooth(f.bandwidth)
        assert f.grid(40)[1].min() < 0
        assert p.values.min() == 0
        weights = [np.ones(n) for n in p.values.shape]
        for w in weights:
            w[[0, -1]] = 0.5
        whole = contraction(p.values, weights) * math.prod(p.steps)
        assert whole == pytest.approx(1, abs=1e-9)
        x = np.random.default_rng(1).uniform(0, 10, (100, 2))
        assert (p(x)[::-1] == p(x[::-1])).all()
        assert float(p(x[3])) == p(x)[3]
        i, j = 7, 11
        assert p([p.axes[0][i], p.axes[1][j]]) == pytest.approx(p.values[i, j], rel=1e-12)
        middle = [p.axes[0][i] + p.steps[0] / 2, p.axes[1][j]]
        assert p(middle) == pytest.approx(p.values[i : i + 2, j].mean(), rel=1e-9)
        assert p([-1.0, 5.0]) == 0


def contraction(values, weights):
    for w in weights:
        values = w @ values
    return float(values)


def test_without_noise_the_projection_is_the_estimate_folded(released_field):
    values = np.random.default_rng(7).normal((0.5, 5), 1, (100_000, 2)).clip(0, 10)
    f = released_field(values, mu=None, bandwidth=(0.5, 0.6))
    wide = (0.8, 1)
    f, p = f.smooth(wide), DensityFunction(f).smooth(wide)
    inner = np.array([[6.0, 5.0], [5.0, 6.0], [5.5, 4.0]])
    np.testing.assert_allclose(p(inner), f(inner), atol=1e-5)
    # At the end what lies beyond it is folded back: twice the plain estimate.
    assert p([0.0, 5.0]) == pytest.approx(2 * float(f([0.0, 5.0])), rel=1e-2)


def test_samples_are_of_the_projected_density(released_field):
    values = np.random.default_rng(7).normal((1, 22), (1, 2), (50_000, 2)).clip(0, None)
    f = released_field(values, mu=None, domain=Box(LINE, TURN), bandwidth=(0.5, 1))
    p = DensityFunction(f)
    drawn = p.rvs(100_000, generator=np.random.default_rng(1))
    assert drawn.shape == (100_000, 2)
    assert p.rvs(0, generator=np.random.default_rng(1)).shape == (0, 2)
    assert drawn.min() >= 0
    assert (drawn < (10.0001, 24)).all()
    masses, *_ = np.histogram2d(*drawn.T, bins=[[0, 1, 2, 10], [0, 3, 12, 20, 24]])
    for i, (a, b) in enumerate(((0, 1), (1, 2), (2, 10))):
        for j, (c, d) in enumerate(((0, 3), (3, 12), (12, 20), (20, 24))):
            u, v = np.meshgrid(
                np.linspace(a, b, 200, endpoint=False) + (b - a) / 400,
                np.linspace(c, d, 200, endpoint=False) + (d - c) / 400,
                indexing="ij",
            )
            mass = p(np.stack([u, v], axis=-1)).mean() * (b - a) * (d - c)
            # Known to sd 0.0016; six and a half of them, and the quadrature.
            assert masses[i, j] / 100_000 == pytest.approx(mass, abs=0.011)
    once, twice = (p.rvs(5, generator=np.random.default_rng(1)) for _ in range(2))
    assert (once == twice).all()


def test_no_record_one_record_all_equal_and_no_place(released_field):
    nowhere = np.array([[np.nan, 1.0], [1.0, np.nan], [np.inf, np.nan]])
    for values in (np.zeros((0, 2)), nowhere):
        f = released_field(values, mu=None)
        assert abs(f.count) < 1e-3
    f = released_field(np.full((1, 2), 5.0), mu=None)
    assert f.count == pytest.approx(1, abs=1e-3)
    f = released_field(np.full((3, 2), 5.0), mu=None)
    peak = f([5.0, 5.0])
    assert peak == pytest.approx(1 / (0.8 * 2 * math.pi), rel=2e-2)
    outside = np.array([[-5.0, 3.0], [3.0, 1e300], [np.inf, 3.0]])
    assert released_field(outside, mu=None).count == pytest.approx(3, abs=1e-3)
    side = Interval(0, 10, outside="drop")
    f = released_field(outside, mu=None, domain=Box(side, side))
    assert abs(f.count) < 1e-3


def test_a_count_that_is_not_positive_is_no_density(released_field):
    f = released_field(np.zeros((0, 2)), mu=0.1, seed=1)
    f = f if f.count <= 0 else released_field(np.zeros((0, 2)), mu=0.1, seed=5)
    assert f.count <= 0
    with pytest.raises(InvalidParameter, match="spend more"):
        f([1.0, 1.0])


def test_points_and_bandwidths_that_do_not_fit_are_refused(released_field, rows):
    f = released_field(rows)
    assert f.bandwidths == ((0.8, 1.0), (1.0, 1.0))
    for asked, says in (
        (lambda: f([1.0, 11.0]), "must be in the domain"),
        (lambda: f([1.0, np.nan]), "x must have numbers only; got NaN"),
        (lambda: f([1.0, 2.0, 3.0]), r"must have shape \(..., 2\)"),
        (lambda: f(1.0), r"must have shape \(..., 2\)"),
        (lambda: f.smooth((0.7, 1)), "within"),
        (lambda: f.smooth((1,)), "must be 2 numbers"),
        (lambda: f.integral((0,), (1, 2)), "must be 2 numbers"),
        (lambda: f.integral((0, 0), (1, 12)), "must be in the domain"),
        (lambda: f.grid(1), "points"),
        (lambda: f.grid((5, 5, 5)), "2 numbers"),
    ):
        with pytest.raises(InvalidParameter, match=says):
            asked()


def test_values_of_another_shape_are_refused():
    declared = {
        "domain": Box(LINE, LINE),
        "bandwidth": (1, 1),
        "neighbors": "add_remove",
        "unit": "one row",
        "name": "x",
    }
    for values in (np.zeros(4), np.zeros((4, 3)), np.zeros((2, 2, 2))):
        with pytest.raises(InvalidParameter, match=r"shape \(n, 2\)"):
            functional.density(values, **declared)
    units = functional.Units(np.array([1, 2, 2]), max_values=1)
    question = functional.density(np.full((3, 2), 5.0), units=units, **declared)
    basis = functional.FieldBasis.of_record(question.query["basis"])
    assert question.compute()[0] == pytest.approx(2 * basis.amplitudes.flat[0], rel=1e-4)
    assert question.query["statistic"] == "field"


def test_the_error_is_that_of_theory(released_field):
    """The mean squared distance to the estimate without noise is sd^2 times the area."""
    values = np.random.default_rng(3).uniform(0, 10, (5_000, 2))
    quiet = released_field(values, mu=None, neighbors="replace_one")
    found = []
    for seed in range(40):
        f = released_field(values, seed=seed, neighbors="replace_one")
        found.append(((f.grid(60)[1] - quiet.grid(60)[1]) ** 2).mean())
    # About 60 independent cells each: sd of the mean 0.03.
    assert np.mean(found) == pytest.approx(float(f.noise_sd([5.0, 5.0])) ** 2, rel=0.2)
