"""Many quantiles from counts up to each value: exact sums, exact variances, intervals that hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from neyman import Gaussian
from neyman.errors import InvalidParameter
from neyman.functional import quantiles
from neyman.functional._quantiles._quantiles import QuantileReading
from neyman.functional._quantiles._step_basis import StepBasis, StepCounts, distinct_step
from neyman.released import RecordedQuestion, grid_notes

DECLARED = {"unit": "one row", "name": "delays"}
SHARES = tuple(Fraction(k, 20) for k in (0, 1, 2, 5, 10, 15, 18, 19, 20))


def basis_of(values):
    return StepBasis(Fraction(0), Fraction(values - 1), Fraction(1))


def matrix(basis):
    blocks = sorted(basis.blocks(), key=lambda block: block[0].start)
    return np.concatenate([features for _, features in blocks])


@pytest.mark.parametrize("values", [2, 3, 10, 241])
def test_without_noise_every_count_comes_back(values):
    basis, random = basis_of(values), np.random.default_rng(0)
    counts = random.integers(0, 1000, (3, values))
    counts[1] = 0
    counts[2, values // 2] = 10**8
    found = StepCounts.of(basis, basis.sums(counts))
    assert np.abs(found.up_to - np.cumsum(counts, axis=1)).max() < 1e-4


@pytest.mark.parametrize("values", [2, 3, 10, 241])
def test_the_variances_are_those_of_least_squares(values):
    basis = basis_of(values)
    features, sums = matrix(basis), np.tril(np.ones((values, values)))
    inverse = np.linalg.inv(features.T @ features)
    covariance = sums @ inverse @ sums.T
    found = StepCounts.of(basis, basis.sums(np.zeros((1, values), np.int64)))
    assert np.allclose(found.variance, np.diag(covariance), rtol=1e-6)
    assert np.allclose(found.shared, covariance[:, -1], rtol=1e-6)
    weights = sums - 0.3
    alone = np.sqrt(np.einsum("ij,jk,ik->i", weights, inverse, weights))
    assert np.allclose(found.length(0.3), alone, rtol=1e-6)


def test_one_record_moves_the_integers_by_what_is_stated():
    basis = basis_of(60)
    squares = (matrix(basis).astype(object) ** 2).sum(axis=0)
    assert basis.sensitivity("add_remove").l2_squared == max(squares)
    assert 2**48 < max(squares) < 2**48 * (1 + 1e-6)


def test_the_noise_is_less_than_that_of_other_releases_of_equal_privacy():
    values = 256
    sums = np.tril(np.ones((values, values))) - np.outer(
        np.arange(1, values + 1) / values, np.ones(values)
    )

    def noise(features):
        features = features / np.sqrt((features**2).sum(axis=0).max())
        inverse = np.linalg.inv(features.T @ features)
        return np.sqrt(np.einsum("ij,jk,ik->i", sums, inverse, sums).mean())

    levels = [np.repeat(np.eye(values >> k), 1 << k, axis=1) for k in range(9)]
    ours, tree = noise(matrix(basis_of(values))), noise(np.concatenate(levels))
    assert ours < 2.25 < 2.8 < tree < noise(np.eye(values))
    # No noise has less: the nuclear norm of the sums.
    least = np.linalg.svd(sums, compute_uv=False).sum() / values
    assert least < ours < 1.12 * least


def drawn(counts, mu, repetitions, shares, times=1.0):
    """Quantile columns of many releases, shape (repetitions, shares); noise times a factor."""
    basis = basis_of(counts.shape[-1])
    noise = Gaussian.calibrate(basis.sensitivity("add_remove"), mu=mu)
    random = np.random.default_rng(1)
    exact = np.broadcast_to(basis.sums(np.atleast_2d(counts)), (repetitions, basis.size))
    noisy = np.rint(exact + times * random.normal(0, noise.stddev, exact.shape)).astype(np.int64)
    columns = QuantileReading(basis, shares, 1).columns(noisy.reshape(-1), noise, 0.95)
    return {name: np.reshape(column, (repetitions, -1)) for name, column in columns.items()}


def test_the_level_of_an_interval_is_reached_where_data_are_worst():
    # Half of the rows at 20 and half at 40: the count up to the median is half of all, exactly.
    counts = np.zeros(60, np.int64)
    counts[[20, 40]] = 500
    lower = drawn(counts, 0.5, 4000, (Fraction(1, 2),))["lower"]
    assert 0.018 < (lower > 20).mean() < 0.032
    broken = drawn(counts, 0.5, 4000, (Fraction(1, 2),), times=1.25)["lower"]
    assert (broken > 20).mean() > 0.045


@pytest.mark.shows("extremes", "quantiles")
def test_intervals_of_all_quantiles_cover():
    random = np.random.default_rng(2)
    shares = np.array([float(p) for p in SHARES])
    population = np.exp(-np.arange(120) / 25)
    population /= population.sum()
    truly = np.minimum(np.searchsorted(np.cumsum(population), shares), 119)
    counts = random.multinomial(600, population, size=800)
    found = drawn(counts, 0.5, 800, SHARES)
    ranks = np.maximum(shares * 600 - 1e-9, 0.5)
    own = np.array([np.searchsorted(np.cumsum(row), ranks) for row in counts])
    assert ((found["lower"] <= own) & (own <= found["upper"])).mean(axis=0).min() > 0.95
    total = (found["total_lower"] <= truly) & (truly <= found["total_upper"])
    # Four standard deviations of 800 repetitions below the level.
    assert total[:, 1:-1].mean(axis=0).min() > 0.92
    noise_alone = (found["lower"] <= truly) & (truly <= found["upper"])
    assert noise_alone[:, 1:-1].mean(axis=0).min() < 0.9
    inside = (found["lower"] <= found["quantile"]) & (found["quantile"] <= found["upper"])
    assert inside.all()


def test_heaped_values_stay_where_they_are():
    counts = np.zeros(121, np.int64)
    counts[::15] = [50, 900, 2000, 4000, 1500, 800, 400, 200, 100]
    found = drawn(counts, 0.3, 200, SHARES[2:-2])
    ranks = [float(p) * counts.sum() for p in SHARES[2:-2]]
    assert (found["quantile"] == np.searchsorted(np.cumsum(counts), ranks)).all()


def test_nobody_is_nowhere():
    counts = np.zeros(60, np.int64)
    found = drawn(counts, 0.5, 400, SHARES)
    hidden = np.isnan(found["quantile"])
    assert hidden.all(axis=1).mean() > 0.95
    assert (found["lower"][hidden] == 0).all()
    assert (found["upper"][hidden] == 59).all()
    assert (found["total_upper"][hidden] == 59).all()


def test_arrays_are_counted_on_the_grid():
    values = np.array([np.nan, -5.0, 0.04, 0.06, 0.31, 0.29, 9.0, np.inf, -np.inf])
    query = quantiles(values, [0, 0.5, 1], lower=-0.1, upper=0.4, grid=0.1, **DECLARED)
    basis = StepBasis(Fraction(-1, 10), Fraction(4, 10), Fraction(1, 10))
    counts = np.rint(np.diff(StepCounts.of(basis, query.compute()[None]).up_to[0], prepend=0))
    assert counts.tolist() == [2, 1, 1, 0, 2, 2]
    assert basis.values.tolist() == [-0.1, 0.0, 0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("probabilities", "declared", "says"),
    [
        (0.5, {}, r"must be a list of numbers; got .*Write for example \[0.25, 0.5, 0.75\]"),
        ([], {}, "1 to 1000 distinct probabilities"),
        ([0.5, 1 / 2], {}, "1 to 1000 distinct probabilities"),
        ([50], {}, r"must be in \[0, 1\], such as 0.5"),
        ([0.5], {"grid": 0.7}, "grid must be positive and divide the distance"),
        ([0.5], {"grid": -1}, "grid must be positive and divide the distance"),
        ([0.5], {"lower": 20}, "grid must be positive and divide the distance"),
    ],
)
def test_what_cannot_be_asked_is_refused(probabilities, declared, says):
    declared = {"lower": 0, "upper": 10, "grid": 1} | declared
    with pytest.raises(InvalidParameter, match=says):
        quantiles(np.zeros(3), probabilities, **declared, **DECLARED)


@pytest.mark.parametrize(
    ("lower", "upper", "grid", "steps", "step"),
    [
        (0, 10, 1, 10, 1),
        (0, 8192, 1, 8192, 1),
        (0, 10_000, "0.01", 8000, Fraction(5, 4)),
        (-100, 100, Fraction(1, 1000), 8000, Fraction(1, 40)),
        (0, 2**40, 1, 8192, 2**27),
        # A prime number of steps has no divisor.
        (0, 1_000_003, 1, 8192, Fraction(1_000_003, 8192)),
        (0, 8209, 1, 8192, Fraction(8209, 8192)),
    ],
)
def test_a_grid_of_many_steps_is_made_coarser(lower, upper, grid, steps, step):
    first, last = Fraction(lower), Fraction(upper)
    found = distinct_step(first, last, Fraction(grid))
    assert ((last - first) / found, found) == (steps, step)


def test_what_was_asked_for_stays_in_the_record():
    declared = {"lower": 0, "upper": 10_000, "grid": 0.01}
    fine = quantiles(np.zeros(3), [0.5], **declared, **DECLARED)
    plain = quantiles(np.zeros(3), [0.5], **declared | {"grid": 1.25}, **DECLARED)
    assert fine.query["grid"] == "0.01"
    assert "grid" not in plain.query
    assert fine.query["basis"] == plain.query["basis"]
    (said,) = grid_notes(RecordedQuestion.of(fine.query))
    assert "8,000 steps of 1.25: the grid of 0.01 has more steps" in said
    assert grid_notes(RecordedQuestion.of(plain.query)) == []


def test_intervals_hold_what_coarser_steps_rounded():
    cents = np.random.default_rng(5).integers(0, 1_000_001, 5000) / 100
    shares = [k / 50 for k in range(1, 50)]
    question = quantiles(cents, shares, lower=0, upper=10_000, grid=0.01, **DECLARED)
    truth = np.quantile(cents, shares, method="inverted_cdf")

    def held(reading):
        found = reading.columns(question.compute(), Gaussian(scale=1), 0.95)
        inside = (found["lower"] <= truth) & (truth <= found["upper"])
        total = (found["total_lower"] <= truth) & (truth <= found["total_upper"])
        return inside.all() and total.all()

    assert held(question.reading)
    # A twin that takes rounded values for the values themselves.
    assert not held(replace(question.reading, coarser=False))


@pytest.mark.soak
@pytest.mark.parametrize("mu", [0.2, 1.0])
@pytest.mark.parametrize("records", [60, 500, 20_000])
def test_coverage_of_many_releases(records, mu):
    random = np.random.default_rng(records)
    shares = np.array([float(p) for p in SHARES])
    for heap in (1, 5):
        population = np.exp(-np.arange(241) / 40) * (np.arange(241) % heap == 0)
        population /= population.sum()
        truly = np.searchsorted(np.cumsum(population), shares - 1e-12)
        counts = random.multinomial(records, population, size=4000)
        found = drawn(counts, mu, 4000, SHARES)
        ranks = np.maximum(shares * records - 1e-9, 0.5)
        own = np.array([np.searchsorted(np.cumsum(row), ranks) for row in counts])
        assert ((found["lower"] <= own) & (own <= found["upper"])).mean(axis=0).min() > 0.95
        total = (found["total_lower"] <= truly) & (truly <= found["total_upper"])
        assert total[:, 1:-1].mean(axis=0).min() > 0.935
