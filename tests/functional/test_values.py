"""Questions about values at public points: exact integers, true sensitivities, true noise."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import (
    Box,
    Circle,
    Hinge,
    Huber,
    Interval,
    Logistic,
    Matern,
    SquaredExponential,
    curve_mean,
    density_at,
    function,
    kernel_machine,
    machine_norm,
)
from neyman.functional._gaussian_processes._curve_mean import shortened
from neyman.functional._gaussian_processes._kernels import COVARIANCE_ERROR
from neyman.functional._gaussian_processes._machine import Machine
from neyman.functional._gaussian_processes._values import LEAST_NUGGET, Whitening
from neyman.testing import SeededBits

SIDE = Interval(-2, 2, outside="clip")
POINTS = np.linspace(-2.5, 2.5, 40)
WORDS = {"unit": "one row", "name": "x"}


def density(values, points=POINTS, **declared):
    given = {"domain": SIDE, "bandwidth": 0.4, "neighbors": "add_remove"} | WORDS | declared
    return density_at(np.asarray(values, float), points, **given)


def read(aggregate, noisy=None):
    noise = ny.Gaussian(scale=100)
    exact = aggregate.compute() if noisy is None else noisy
    return aggregate.reading.columns(exact, noise, 0.95)


def size(aggregate):
    return math.sqrt(aggregate.sensitivity.l2_squared)


# --- whitening


def test_the_constants_of_the_proof_hold():
    m, t, u = 2048, float(LEAST_NUGGET), 2.0**-53
    assert 1.01 * (m + 2) * u * m * (1 + t) + m * COVARIANCE_ERROR <= t / 2


@pytest.mark.shows("e2.5")
@pytest.mark.parametrize("kernel", [SquaredExponential(0.5), Matern(2.5, 0.5)], ids=repr)
def test_the_error_of_whitening_is_below_its_bound(kernel):
    """Against the same solve in longdouble."""
    points = np.linspace(0, 3, 120)
    whitening = Whitening.of(kernel, points)
    values = kernel.covariance(points, [0.2, 1.1, 2.9]) @ [1.0, -2.0, 0.5]
    found = whitening.whiten(values[:, None])[:, 0]
    factor, rest = whitening.factor.astype(np.longdouble), values.astype(np.longdouble)
    truth = np.zeros(120, np.longdouble)
    for i in range(120):
        truth[i] = (rest[i] - factor[i, :i] @ truth[:i]) / factor[i, i]
    off = float(np.linalg.norm(found - truth))
    assert 0 < off <= whitening.error(3.5, 0.0)
    assert whitening.error(3.5, COVARIANCE_ERROR) < 1e-4


@pytest.mark.shows("S2.11")
def test_whitened_lengths_stay_below_the_norm_of_the_function():
    kernel = SquaredExponential(0.5)
    rng = np.random.default_rng(1)
    for m in (5, 50, 500):
        whitening = Whitening.of(kernel, rng.uniform(0, 3, (m, 2)))
        centres, weights = rng.uniform(0, 3, (8, 2)), rng.normal(size=8)
        norm = math.sqrt(weights @ kernel.covariance(centres, centres) @ weights)
        values = kernel.covariance(whitening.points, centres) @ weights
        length = np.linalg.norm(whitening.whiten(values[:, None]))
        assert length <= norm * (1 + 1e-9)
    assert length > 0.98 * norm


# --- densities


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("dimension", [1, 2])
def test_the_values_are_those_of_the_density(neighbors, dimension):
    rng = np.random.default_rng(2)
    values = np.clip(rng.normal(0, 0.7, (500, dimension)), -2, 2)
    points = rng.uniform(-2, 2, (30, dimension))
    asked = density(
        values,
        points,
        domain=SIDE if dimension == 1 else Box(SIDE, SIDE),
        bandwidth=0.5,
        neighbors=neighbors,
    )
    found = np.array(read(asked)["value"]) / (500 if neighbors == "add_remove" else 1)
    squares = ((points[:, None] - values) ** 2).sum(axis=2)
    truth = np.exp(-squares / 2 / 0.25).mean(axis=1) / (2 * np.pi * 0.25) ** (dimension / 2)
    np.testing.assert_allclose(found, truth, atol=2e-3 * truth.max())


@pytest.mark.shows("S2.10")
def test_no_record_moves_the_integers_farther_than_declared():
    """All 161 nodes, and all pairs of them."""
    nodes = np.linspace(-2, 2, 161)
    add, replace = density([], neighbors="add_remove"), density([0.0], neighbors="replace_one")
    columns = np.array([density([x]).compute() for x in nodes])
    lengths = (columns**2).sum(axis=1)
    assert lengths.max() == add.sensitivity.l2_squared
    apart = ((columns[:, None] - columns) ** 2).sum(axis=2).max()
    assert apart <= replace.sensitivity.l2_squared <= apart * (1 + 1e-4)
    assert np.abs(columns).max() <= add.sensitivity.largest
    # The whole function costs K_h(0), which is 2^23 lattice units.
    assert 2**23 * (1 - 1e-3) < size(add) < 2**23 * (1 + 1e-5)


@pytest.mark.parametrize("kernel", [None, SquaredExponential(0.5), Matern(1.5, 0.5)], ids=repr)
def test_pairs_of_records_of_any_kernel_stay_within_the_bound(kernel):
    points = np.linspace(-2, 2, 30)
    declared = {"bandwidth": 0.4, "kernel": kernel}
    asked = density([0.0], points, neighbors="replace_one", **declared)
    columns = np.array([density([x], points, **declared).compute() for x in (-2, -1.3, 0, 0.4, 2)])
    apart = ((columns[:, None] - columns) ** 2).sum(axis=2).max()
    assert 0.45 * asked.sensitivity.l2_squared < apart <= asked.sensitivity.l2_squared


def test_pairs_of_records_in_the_plane_stay_within_the_bound():
    """A box so small that its diameter counts."""
    small = Box(*[Interval(0, 0.5, outside="clip")] * 2)
    points = np.stack(np.meshgrid(*[np.linspace(-1, 1.5, 9)] * 2), axis=-1).reshape(-1, 2)
    declared = {"domain": small, "bandwidth": 0.5}
    corners = [density([c], points, **declared).compute() for c in ([0, 0], [0.5, 0.5], [0, 0.5])]
    asked = density([[0.0, 0.0]], points, neighbors="replace_one", **declared)
    longest = max((c**2).sum() for c in corners)
    apart = ((corners[0] - corners[1]) ** 2).sum()
    assert longest < apart <= asked.sensitivity.l2_squared
    # sup ||K_x - K_y||^2 = 2 (1 - exp(-R^2 / (2 h^2))) with R = h sqrt(2).
    assert 0.97 * 2 * (1 - math.exp(-1)) * 2**46 < apart
    assert asked.sensitivity.l2_squared < 2 * (1 - math.exp(-1)) * 2**46 * (1 + 1e-4)


def test_sums_are_exact_and_records_add_up():
    rng = np.random.default_rng(4)
    values = rng.uniform(-3, 3, 5000)
    whole = density(values).compute()
    parts = sum(density(part).compute() for part in np.split(values, 5))
    assert (whole == parts).all()
    columns = sum(density([x]).compute() for x in values[:60])
    assert (density(values[:60]).compute() == columns).all()


def test_values_at_no_place_count_for_nothing_and_raise_nothing():
    drop = Interval(-2, 2, outside="drop")
    assert (density([math.nan, math.inf, -9], domain=drop).compute() == 0).all()
    assert (density([math.nan]).compute() == 0).all()
    assert (density([math.inf, -9]).compute() == density([2, -2]).compute()).all()
    wild = [[math.nan, 0], [0, 1e308], [0.5, 0.5]]
    points = [[0.0, 0.0], [1.0, 1.0]]
    found = density(wild, points, domain=Box(drop, drop)).compute()
    assert (found == density([[0.5, 0.5]], points, domain=Box(drop, drop)).compute()).all()


@pytest.mark.shows("S2.10")
def test_noise_has_the_kernels_covariance():
    """20,000 releases: each covariance is known to sd 1.5/141 at most; 7 sd are passed by chance
    with probability 1e-11 each, of 36."""
    points = np.linspace(-1, 1, 8)
    asked = density([0.0], points)
    noise = ny.Gaussian.calibrate(asked.sensitivity, mu=1)
    noisy = noise.add_noise(np.zeros((20_000, 8), np.int64), SeededBits(5))
    factor = asked.reading.factor * asked.reading.step
    found = np.cov((noisy @ factor.T).T)
    truth = SquaredExponential(0.4).covariance(points, points) / (2 * np.pi * 0.16)
    assert np.abs(found - truth).max() < 7 * truth.max() * 1.5 / math.sqrt(20_000)
    stddev = np.array(asked.reading.columns(noisy[0], noise, 0.95)["stddev"])
    np.testing.assert_allclose(stddev, 1 / math.sqrt(2 * np.pi) / 0.4, rtol=1e-5)


def test_a_rougher_kernel_costs_a_little_and_a_smoother_one_is_refused():
    best = density([0.0])
    rough = density([0.0], kernel=Matern(2.5, 0.4 * 1.14))
    # Lattice units to a value: the noise at a point for the same mu, relative to the best.
    cost = size(rough) * rough.reading.step / (size(best) * best.reading.step)
    assert 1.0 < cost < 1.0135
    with pytest.raises(InvalidParameter, match="hides nothing"):
        density([0.0], kernel=SquaredExponential(0.6))


def test_density_through_the_door(tmp_path):
    pytest.importorskip("flint")
    ledger = ny.Ledger.open(
        tmp_path / "l.sqlite", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )
    values = np.random.default_rng(6).normal(size=200)
    asked = density(values)
    noise = ny.Gaussian.calibrate(asked.sensitivity, mu=0.5)
    found = ny.release(asked, noise, ledger, entry="a")
    assert set(found.columns) >= {"x1", "value", "stddev", "coefficient"}
    assert ny.release(density(values), noise, ledger, entry="a").columns == found.columns


# --- machines


def machine(x, y, points, **declared):
    given = {
        "loss": Logistic(),
        "regularization": 4,
        "kernel": SquaredExponential(0.8),
    } | WORDS
    return kernel_machine(np.asarray(x), np.asarray(y), points, **(given | declared))


LOSSES = [Logistic(), Hinge(0.5), Huber(0.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_neighbour_moves_a_machine_farther_than_declared(loss):
    """Brute force over random and over hostile neighbours."""
    rng = np.random.default_rng(7)
    points = np.linspace(-2, 2, 25)
    largest = 0.0
    for n, r in itertools.product((1, 2, 12), (0.5, 4)):
        for _ in range(6):
            x, y = rng.uniform(-2, 2, n), rng.choice([-1.0, 1.0], n)
            other_x, other_y = x.copy(), y.copy()
            other_x[0], other_y[0] = rng.choice([x[0], rng.uniform(-2, 2), np.nan]), -3 * y[0]
            one = machine(x, y, points, loss=loss, regularization=r)
            two = machine(other_x, other_y, points, loss=loss, regularization=r)
            moved = np.linalg.norm((one.compute() - two.compute()).astype(float))
            assert moved <= size(one)
            largest = max(largest, moved / size(one))
    assert largest > 0.3


@pytest.mark.shows("S2.12")
@pytest.mark.parametrize(
    ("loss", "regularization", "size_of_y"), [(Hinge(0.05), 3, 1), (Huber(0.01), 0.1, 1000)]
)
def test_the_sensitivity_of_a_machine_is_attained(loss, regularization, size_of_y):
    """A record far from the margin, its answer turned."""
    points, x = np.linspace(-2, 2, 41), [0.0, 0.5, -1.0]
    declared = {"loss": loss, "regularization": regularization}
    one = machine(x, [size_of_y, size_of_y, -size_of_y], points, **declared)
    two = machine(x, [-size_of_y, size_of_y, -size_of_y], points, **declared)
    moved = np.linalg.norm((one.compute() - two.compute()).astype(float))
    assert 0.99 * size(one) < moved <= size(one)


def fitted(loss, x, y, penalty):
    """Return the coefficients that minimise (1/n) sum l + lambda ||f||^2, by plain descent."""
    gram, a, n = SquaredExponential(0.8).covariance(x, x), np.zeros(len(x)), len(x)
    step = 1 / (float(loss.curvature) + 2 * penalty)
    for _ in range(2000):
        a -= step * (loss.slope(y, gram @ a) / n + 2 * penalty * a)
    return a


@pytest.mark.shows("S2.12")
@pytest.mark.parametrize(
    ("loss", "least"), [(Logistic(), 0.3), (Hinge(0.05), 0.6), (Huber(0.01), 0.6)], ids=repr
)
def test_neighbours_of_the_minimiser_of_a_mean_are_as_far_as_the_penalty_says(loss, least):
    """Hall, Rinaldo and Wasserman's lambda: at most L / (lambda n) in the norm of the kernel."""
    rng, penalty, largest = np.random.default_rng(10), 0.2, 0.0
    bound = machine_norm(loss, penalty=0.2, records=3, neighbors="replace_one")
    for _ in range(8):
        x, y = rng.uniform(-2, 2, 3), rng.choice([-1.0, 1.0], 3)
        size = 1000 if isinstance(loss, Huber) else 1
        other_x, other_y = x.copy(), size * y
        other_x[0], other_y[0] = rng.choice([x[0], 2.0]), -size * y[0]
        one, two = fitted(loss, x, size * y, penalty), fitted(loss, other_x, other_y, penalty)
        places, moves = np.append(x, other_x), np.append(one, -two)
        square = moves @ SquaredExponential(0.8).covariance(places, places) @ moves
        largest = max(largest, math.sqrt(square) / float(bound))
    # So a bound half as large, that of r = 4 lambda n, would be passed.
    assert least < largest <= 1 + 1e-9


def test_a_machine_takes_the_penalty_of_the_mean():
    rng = np.random.default_rng(13)
    x, y = rng.uniform(-2, 2, 40), rng.choice([-1.0, 1.0], 40)
    given = {"loss": Hinge(0.5), "kernel": SquaredExponential(0.8)} | WORDS
    asked = kernel_machine(x, y, x[:9], penalty=0.1, **given)
    assert asked.query == kernel_machine(x, y, x[:9], regularization=8, **given).query
    assert size(asked) == size(kernel_machine(x, y, x[:9], regularization=8, **given))
    values = SquaredExponential(0.8).covariance(x[:9], x) @ fitted(Hinge(0.5), x, y, 0.1)
    assert np.abs(np.array(read(asked)["value"]) - values).max() < 2.0**-9 * 2
    with pytest.raises(InvalidParameter, match="1 to 4096"):
        kernel_machine(x[:0], y[:0], x[:9], penalty=0.1, **given)
    with pytest.raises(InvalidParameter, match="one of regularization and penalty; got both"):
        kernel_machine(x, y, x[:9], penalty=0.1, regularization=8, **given)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_machine_is_the_minimiser(loss):
    rng = np.random.default_rng(8)
    x = rng.uniform(-2, 2, (60, 2))
    y = np.sign(x[:, 0] + 0.3 * rng.normal(size=60))
    kernel = SquaredExponential(0.8)
    asked = machine(x, y, x[:20], loss=loss, regularization=1)
    gram, a = kernel.covariance(x, x), np.zeros(60)
    for _ in range(20_000):
        a -= 0.01 * (a + loss.slope(y, gram @ a))
    found = np.array(read(asked)["value"])
    fit = gram[:20] @ a
    assert np.abs(found - fit).max() < 2 * float(loss.lipschitz) * 2.0**-9
    assert np.abs(fit).max() > 0.3


def test_rounding_in_the_steps_is_below_its_bound():
    """The same steps in longdouble."""
    rng = np.random.default_rng(9)
    n = 80
    x, y = rng.uniform(-2, 2, (n, 1)), rng.choice([-1.0, 1.0], n)
    kernel, points = SquaredExponential(0.8), np.linspace(-2, 2, 30)[:, None]
    machine = Machine(Huber(0.5), Fraction(1, 2), kernel, n)
    found = machine.fitted(x, y, points)
    places, long = np.vstack([x, points]).astype(np.longdouble), np.longdouble
    gram = np.exp(-((places - x.T.astype(long)) ** 2) / (2 * long(0.8) ** 2))
    step, kept, _ = machine._step
    a = np.zeros(n, long)
    for _ in range(machine.steps):
        a = long(kept) * a - long(step) * np.clip(gram[:n] @ a - y, long(-0.5), long(0.5))
    off = np.abs(found - gram[n:] @ a).max()
    assert 0 < off < machine.error + machine.value_error
    assert machine.error < 1e-5 * machine.distance


def test_hostile_records_raise_nothing():
    x = np.array([[1e308, -1e308], [np.nan, 0], [np.inf, 1], [0.1, 0.2], [5e-324, 0]])
    y = np.array([1e308, 1, 1, np.nan, -np.inf])
    for loss in LOSSES:
        asked = machine(x, y, [[0.0, 0.0], [1e308, -1e308]], loss=loss)
        assert np.abs(asked.compute()).max() <= size(asked) * 5


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"loss": Hinge(0)}, "slope of the loss must not jump"),
        ({"regularization": 1e-6}, "write a larger one"),
        ({"regularization": 1e-6}, "If it is the lambda of .* write it as penalty"),
        ({"regularization": 0}, "without bound"),
    ],
)
def test_machines_without_a_bound_are_refused(declared, words):
    with pytest.raises(InvalidParameter, match=words):
        machine(np.zeros(10), np.ones(10), [0.0], **declared)


# --- curves


CURVES = {"kernel": Matern(1.5, 5), "nugget": 0.01} | WORDS


def curves(rows, points=30, **declared):
    given = {"radius": 1, "neighbors": "add_remove"} | CURVES
    return curve_mean(rows, np.arange(float(points)), **(given | declared))


def test_curves_within_the_radius_have_their_mean():
    rows = np.cumsum(np.random.default_rng(10).normal(size=(200, 30)) * 0.1, axis=1)
    found = read(curves(rows, radius=1000, neighbors="replace_one"))["value"]
    np.testing.assert_allclose(found, rows.mean(axis=0), atol=1000 * 2.0**-23 * 30)


def test_each_curve_is_shortened_to_the_radius_and_keeps_its_shape():
    rows = np.cumsum(np.random.default_rng(11).normal(size=(40, 30)), axis=1)
    asked = curves(rows)
    assert size(asked) == 2**23
    assert size(curves(rows, neighbors="replace_one")) == 2**24
    covariance = Matern(1.5, 5).covariance(np.arange(30.0), np.arange(30.0)) + 0.01 * np.eye(30)
    for row in rows[:5] * 0.2:
        one = curves(row[None])
        integers = one.compute()
        assert (integers**2).sum() <= one.sensitivity.l2_squared
        value = np.array(read(one, integers)["value"])
        norm = math.sqrt(row @ np.linalg.solve(covariance, row))
        np.testing.assert_allclose(value, row / max(norm, 1), atol=2e-4)


def test_one_curve_has_no_bearing_on_the_integers_of_another():
    rng = np.random.default_rng(12)
    rows = rng.normal(size=(50, 30)) * np.exp(rng.normal(0, 40, (50, 1)))
    rows[7, 3], rows[8, 0], rows[9] = np.nan, np.inf, 0
    whole = curves(rows).compute()
    assert (whole == sum(curves(row[None]).compute() for row in rows)).all()
    whitening = Whitening.of(Matern(1.5, 5), np.arange(30.0), Fraction(1, 100))
    integers = np.rint(2.0**16 * np.tril(whitening.whiten(np.eye(30))))
    lengths = (shortened(rows, integers, 1.0) ** 2).sum(axis=1)
    assert lengths.max() <= 2**46
    assert (lengths > 2**46 * (1 - 1e-6)).sum() > 10
    assert (lengths[7:10] == 0).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: curves(np.zeros((3, 29))),
        lambda: curves(np.zeros((3, 30)), nugget=1e-6),
        lambda: curves(np.zeros((3, 30)), radius=0),
        lambda: curves(np.zeros((0, 30)), neighbors="replace_one"),
        lambda: density([], neighbors="replace_one"),
        lambda: density([0.0], np.linspace(0, 1, 3000)),
        lambda: density([0.0], bandwidth=1e-9),
        lambda: density([0.0], [[0.0, 0.0]]),
    ],
)
def test_unusable_declarations_are_refused(make):
    with pytest.raises(InvalidParameter):
        make()


# --- functions through released values


class Answer:
    """What is needed of a release."""

    def __init__(self, asked):
        self.query, self.columns = asked.query, read(asked)


def test_the_function_through_released_values():
    rng = np.random.default_rng(13)
    points = np.linspace(-2, 2, 41)
    asked = density(rng.normal(0, 0.7, 500), points)
    f = function(Answer(asked))
    values = np.array(read(asked)["value"])
    np.testing.assert_allclose(f(points), values, atol=1e-4 * values.max())
    x = rng.uniform(-2, 2, 101)
    assert (f(x[::-1]) == f(x)[::-1]).all()
    assert f(float(x[5])) == f(x)[5]
    rough = curves(np.ones((4, 30)), neighbors="replace_one", radius=100)
    assert np.abs(function(Answer(rough))(np.arange(30.0)) - 1).max() < 0.1


def test_a_machines_function_between_its_points():
    rng = np.random.default_rng(14)
    x = rng.uniform(-2, 2, 200)
    y = np.where(np.sin(2 * x) > 0, 1.0, -1.0)
    grid, between = np.linspace(-2, 2, 33), np.linspace(-1.9, 1.9, 20)
    kernel = SquaredExponential(0.5)
    f = function(Answer(machine(x, y, grid, kernel=kernel)))
    exact = read(machine(x, y, between, kernel=kernel))["value"]
    np.testing.assert_allclose(f(between), exact, atol=1e-4)
    assert np.abs(f(between)).max() > 0.5


def test_a_release_of_something_else_is_refused():
    asked = density([0.0])
    other = Answer(asked)
    other.query = {"statistic": "count"}
    with pytest.raises(InvalidParameter, match="got a release of 'count'"):
        function(other)


@pytest.mark.parametrize("domain", [Circle(24), [SIDE], Box(SIDE, Circle(24))])
def test_values_at_points_lie_in_intervals(domain):
    with pytest.raises(InvalidParameter, match="an Interval for each"):
        density_at(
            np.array([23.9]),
            [0.1, 12],
            domain=domain,
            bandwidth=1,
            neighbors="add_remove",
            unit="one row",
            name="hours",
        )


@pytest.mark.parametrize("ask", ["density", "curves"])
def test_the_noise_of_the_function_between_the_points(ask):
    """The variance is that of the same linear map of the coordinates, one by one."""
    points = np.linspace(0, 3, 12)
    asked = (
        density(np.zeros(50), points)
        if ask == "density"
        else curves(np.ones((4, 12)), 12, neighbors="add_remove", radius=100)
    )
    f = function(Answer(asked))
    x = np.array([0.0, 0.13, 1.7])
    reading, sigma = asked.reading, f.stddev[0]
    moved = [
        replace(f, values=reading.step * (reading.factor @ unit))(x) for unit in np.eye(asked.size)
    ]
    factor = reading.step * np.linalg.norm(reading.factor[0])
    expected = sigma / factor * np.sqrt(np.square(moved).sum(axis=0))
    np.testing.assert_allclose(f.noise_sd(x), expected, rtol=1e-3)
    assert float(f.noise_sd(0.13)) == pytest.approx(f.noise_sd(x)[1], rel=1e-12)
    if ask == "density":
        np.testing.assert_allclose(f.noise_sd(points), f.stddev, rtol=1e-4)
    assert f.noise_sd(1e9) == 0


def test_functions_of_one_release_are_equal():
    asked = density(np.zeros(3), np.linspace(-1, 1, 5))
    f, again = function(Answer(asked)), function(Answer(asked))
    assert f == again
    assert hash(f) == hash(again)
    assert functional.read(f.to_json()) == f
    other = density(np.zeros(4), np.linspace(-1, 1, 5), neighbors="add_remove")
    assert f != function(Answer(other))
