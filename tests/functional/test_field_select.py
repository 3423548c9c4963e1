"""The bandwidth and the band of a field, from the release alone."""

import math

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import (
    Box,
    Circle,
    DensityFunction,
    Interval,
    TabulatedDensity,
    pilot_bandwidth,
    select_bandwidth,
)
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._density import basis_on
from neyman.functional._densities._reading import reading_of, round_reading_of
from neyman.functional._densities._shape import fitted_shape

LINE = Interval(0, 10, outside="clip")
WIDE = {"bandwidth": (0.3, 0.4)}


def truth(axes, sd):
    parts = [
        np.exp(-0.5 * ((x - 5) / s) ** 2) / (s * math.sqrt(2 * math.pi))
        for x, s in zip(axes, sd, strict=True)
    ]
    return np.multiply.outer(*parts)


def values(number, seed=0):
    return np.random.default_rng(seed).normal(5, (1.2, 1.0), (number, 2))


def error(f):
    axes, found = f.grid(41)
    return float(((found - truth(axes, (1.2, 1.0))) ** 2).mean())


@pytest.mark.parametrize(("neighbors", "number"), [("add_remove", 1_000), ("replace_one", 9_000)])
def test_the_chosen_bandwidth_is_nearly_the_best(released_field, neighbors, number):
    """The mean over releases of the error there, over that at the best common factor."""
    ratios = []
    for seed in range(4):
        f = released_field(values(number, seed), seed=seed, neighbors=neighbors, **WIDE)
        chosen = select_bandwidth(f)
        assert chosen[1] / chosen[0] == pytest.approx(0.4 / 0.3)
        most = min(high / low for low, high in f.bandwidths)
        factors = 2.0 ** (np.arange(0, 8) / 4)
        least = min(error(f.smooth(f.bandwidth_at(by))) for by in factors if by <= most)
        ratios.append(error(f.smooth(chosen)) / least)
    assert np.mean(ratios) < 1.6


def test_noise_counts_where_the_density_lies(released_field):
    """Where most of the box is empty, the nearest density is without its noise: smooth less."""
    errors = []
    for seed in range(3):
        data = np.random.default_rng(seed).normal(5, (0.5, 0.4), (1_000, 2))
        f = released_field(data, seed=seed, mu=0.25, bandwidth=(0.1, 0.1))
        read = [select_bandwidth(f), *((0.1 * 2 ** (k / 2),) * 2 for k in range(2, 7))]
        errors.append([lost(DensityFunction(f).smooth(h), (0.5, 0.4)) for h in read])
    chosen, *fixed = np.mean(errors, axis=0)
    assert chosen < 1.5 * min(fixed)


def lost(f, sd):
    axes, found = f.grid(81)
    return float(((found - truth(axes, sd)) ** 2).mean())


def test_more_records_are_read_with_a_smaller_bandwidth(released_field):
    few, many = (select_bandwidth(released_field(values(n), **WIDE)) for n in (200, 100_000))
    assert many[0] < 0.8 * few[0]
    f = released_field(values(200), **WIDE)
    assert select_bandwidth(f.smooth((1, 1))) == few


def askew(correlation, number, seed, lower=0.0):
    cloud = [[1, correlation], [correlation, 1]]
    return lower + 5 + np.random.default_rng(seed).multivariate_normal([0, 0], cloud, number)


@pytest.mark.soak
def test_a_cloud_that_is_narrow_across_is_read_along_it(released_field):
    """2,000 records of correlation 0.99: nearer than a plain estimate with their covariance."""
    from scipy.stats import gaussian_kde

    correlation, x = 0.99, np.linspace(2, 8, 241)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    u, v = grid[..., 0] - 5, grid[..., 1] - 5
    rest = 1 - correlation**2
    true = np.exp(-(u * u - 2 * correlation * u * v + v * v) / (2 * rest))
    true /= 2 * math.pi * math.sqrt(rest)
    lost = np.zeros(3)
    for seed in range(3):
        data = askew(correlation, 2_000, seed)
        f = released_field(data, seed=seed, bandwidth=(0.1, 0.1), neighbors="replace_one")
        plain = gaussian_kde(data.T)(grid.reshape(-1, 2).T).reshape(true.shape)
        reading = round_reading_of(f)
        round_one = TabulatedDensity(reading.proper(reading.shares))(grid)
        lost += [((g - true) ** 2).mean() for g in (DensityFunction(f)(grid), plain, round_one)]
    assert lost[0] < 1.2 * lost[1]
    # The twin, with kernels that are alike on both sides.
    assert lost[2] > 3 * lost[1]


@pytest.mark.parametrize("side", [LINE, Circle(10)], ids=["on a line", "around a circle"])
def test_the_shape_of_a_normal_cloud_is_its_covariance(released_field, side):
    correlation = 0.9
    f = released_field(askew(correlation, 5_000, 1, 2), domain=Box(side, LINE), **WIDE)
    found = fitted_shape(Coefficients.of(f, folded=False), askew=True)
    lengths = np.diag([0.3, 0.4])
    true = np.linalg.inv(lengths) @ [[1, correlation], [correlation, 1]] @ np.linalg.inv(lengths)
    np.testing.assert_allclose(found, true / math.sqrt(np.linalg.det(true)), rtol=0.15)
    along = fitted_shape(Coefficients.of(f, folded=False), askew=False)
    assert along[0, 1] == 0
    assert along[0, 0] / along[1, 1] == pytest.approx((0.4 / 0.3) ** 2, rel=0.15)


def test_a_cloud_that_an_end_cuts_off_is_not_read_too_narrowly(released_field):
    """Along a line from end to end, where long kernels reach beyond: nearer than by round ones."""
    x = np.linspace(0.02, 9.98, 250)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    off = (grid[..., 1] - 1 - 0.8 * grid[..., 0]) / 0.2
    true = np.exp(-(off**2) / 2) / (0.2 * math.sqrt(2 * math.pi)) / 10
    lost = np.zeros(2)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        first = generator.uniform(0, 10, 2_000)
        data = np.column_stack([first, 1 + 0.8 * first + generator.normal(0, 0.2, 2_000)])
        f = released_field(data, seed=seed, bandwidth=(0.1, 0.1))
        one = round_reading_of(f)
        assert reading_of(f).risk <= one.risk
        readings = DensityFunction(f), TabulatedDensity(one.proper(one.shares))
        lost += [((g(grid) - true) ** 2).mean() for g in readings]
    assert lost[0] < 0.8 * lost[1]


@pytest.mark.parametrize("folded", [True, False])
def test_noise_and_signal_are_what_the_estimate_takes_them_for(released_field, folded):
    declared = {"neighbors": "replace_one", **WIDE}
    noisy = Coefficients.of(released_field(values(5_000), **declared), folded=folded)
    still = Coefficients.of(released_field(values(5_000), mu=None, **declared), folded=folded)
    used = noisy.weight > 0
    excess = np.abs(noisy.values - still.values)[used] ** 2 / noisy.noise[used]
    assert used.sum() > 500
    # Of each the mean of a square of a normal, or of two: sd below 0.05.
    assert excess.mean() == pytest.approx(1, abs=0.2)
    # Parseval: the mean square of the density is that of its waves.
    shares = np.exp(-(noisy.lengths(np.eye(2)) ** 2) / 2)
    waves = (noisy.weight * (shares * np.abs(still.values)) ** 2).sum()
    found = still.on_places(shares)
    ends = [np.where(np.isin(np.arange(n), [0, n - 1]), 0.5, 1.0) / (n - 1) for n in found.shape]
    assert 100 * (ends[0] @ found**2 @ ends[1]) == pytest.approx(
        (1 + waves) / still.volume, rel=1e-3
    )


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_band_covers_the_whole_grid_as_often_as_it_says(released_field, neighbors):
    declared = {
        "domain": Box(LINE, Circle(10)),
        "bandwidth": (1, 2),
        "neighbors": neighbors,
    }
    data = values(2_000)
    quiet = released_field(data, mu=None, **declared).grid(15)[1]
    bands = [
        released_field(data, seed=seed, **declared).band(
            0.8, generator=np.random.default_rng(seed), points=15, repetitions=99
        )
        for seed in range(150)
    ]
    covered = [((band.lower <= quiet) & (quiet <= band.upper)).all() for band in bands]
    # Known to sd 0.033; six and a half of them.
    assert np.mean(covered) == pytest.approx(0.8, abs=0.2)
    assert np.mean([band.width for band in bands]) == pytest.approx(3.02, abs=0.15)
    band = bands[0]
    np.testing.assert_allclose((band.lower + band.upper) / 2, band.estimate, atol=1e-15)
    assert [len(x) for x in band.axes] == [15, 15]


def test_a_band_needs_enough_repetitions(released_field):
    f = released_field(values(200))
    g = np.random.default_rng(0)
    for level, repetitions in ((0.95, 18), (0.5, 0), (0.9, 2.5)):
        with pytest.raises(InvalidParameter, match="repetitions"):
            f.band(level, generator=g, points=5, repetitions=repetitions)
    f.band(0.95, generator=g, points=5, repetitions=19)
    for level in (0, 1, -1, float("nan")):
        with pytest.raises(InvalidParameter, match="level"):
            f.band(level, generator=g)


def test_a_pilot_is_for_every_side():
    box = Box(LINE, Circle(24))
    assert [float(h) for h in pilot_bandwidth(box, records=1000)] == [0.0988, 0.237]
    assert [float(h) for h in pilot_bandwidth(box, records=10**6)] == [0.0781, 0.188]
    space = pilot_bandwidth(Box(LINE, LINE, LINE), records=1000)
    assert [float(h) for h in space] == [0.417] * 3
    for domain in (box, Box(LINE, LINE, LINE)):
        pilot = pilot_bandwidth(domain, records=10**7)
        basis = basis_on(domain, pilot, None, counted=True)
        assert basis.size < 400_000
    assert functional.pilot_bandwidth(LINE, records=1000) == pilot_bandwidth(LINE, 1000)
