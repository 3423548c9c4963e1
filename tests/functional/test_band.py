"""Bands cover everywhere at once, at least as often as they say."""

import math

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Circle, DensityFunction, Interval
from neyman.functional._densities._band import _CurveWaves
from neyman.functional._densities._sampling import Sampled, Spread, _roots, limits

CASES = {
    "interval": {"domain": Interval(-5, 5, outside="clip")},
    "circle": {"domain": Circle(10)},
    "replace_one": {"domain": Circle(10), "neighbors": "replace_one"},
}


def read(f, bandwidth=0.25):
    return DensityFunction(f).smooth(bandwidth)


def waves_of(g):
    return _CurveWaves.of(g.reading.coefficients, g.shares)


def binomial_slack(level, draws):
    """Five standard deviations: passed by chance with probability 3e-7."""
    return 5 * math.sqrt(level * (1 - level) / draws)


@pytest.mark.shows("functions")
@pytest.mark.parametrize("draws", [150, pytest.param(2000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("declared", CASES.values(), ids=CASES)
def test_noise_bands_cover_the_curve_without_noise(released, normal_values, declared, draws):
    level = 0.8
    exact = released(np.repeat(normal_values[:2000], 500), mu=None, **declared)
    values = normal_values[:2000]
    truth = read(exact).band(level, "noise").estimate
    covered = 0
    for seed in range(draws):
        band = read(released(values, seed=seed, **declared)).band(level, "noise")
        covered += bool(((band.lower <= truth) & (truth <= band.upper)).all())
    assert covered / draws >= level - binomial_slack(level, draws)
    # The bound is nearly an equality; a band of no use would cover always.
    assert covered / draws < 0.95


def test_a_narrower_band_is_caught(released, normal_values):
    values = normal_values[:2000]
    exact = released(np.repeat(values, 500), mu=None)
    truth, covered, draws = read(exact).band(0.8, "noise").estimate, 0, 150
    for seed in range(draws):
        band = read(released(values, seed=seed)).band(0.8, "noise")
        reach = (band.upper - band.estimate) / band.width * 1.2816  # pointwise, not everywhere
        covered += bool((np.abs(truth - band.estimate) <= reach).all())
    assert covered / draws < 0.8 - binomial_slack(0.8, draws)


def test_limits_are_where_the_distance_is_so_many_deviations():
    """|e - m| = u sqrt(s^2 + (r m - m^2) / n), or u s below 0; the lower limit a little lower."""
    e, u, n = np.linspace(-0.3, 3, 400), 3.1, 300.0
    noise, second = np.full(400, 0.002), np.full(400, 4.0)
    spread = Spread(e, e, e)
    plain = Sampled(spread, second, np.zeros(400), n)
    skew = plain._replace(third=np.full(400, 12.0))
    for m in (limits(e, noise, skew, u)[1], _roots(e, noise, plain, u)[0]):
        variance = noise + np.where(m > 0, (second * m - m * m) / n, 0.0)
        np.testing.assert_allclose(np.abs(e - m), u * np.sqrt(variance), rtol=1e-9, atol=1e-12)
    lower, upper = limits(e, noise, skew, u)
    assert (lower <= _roots(e, noise, plain, u)[0]).all()
    assert (lower <= e).all()
    assert (e <= upper).all()
    assert (np.diff(lower) > 0).all()


def test_few_records_do_not_make_the_upper_limit_too_low(released):
    """At most 2.5 % of bands below the truth; estimates plus so many estimated deviations fail.

    In 200 trials 16 is six standard deviations above; the generator is seeded besides.
    """
    random = np.random.default_rng(3)
    x, h, low, plain = np.linspace(-5, 5, 801), 0.1, 0, 0
    peaks = [(0.5, 0.0, 1.0), *((0.1, k / 2 - 1, 0.1) for k in range(5))]
    truth = sum(
        w * np.exp(-0.5 * (x - m) ** 2 / (s * s + h * h)) / np.sqrt(2 * np.pi * (s * s + h * h))
        for w, m, s in peaks
    )
    for seed in range(200):
        chosen = np.array(peaks)[random.choice(6, 1000, p=[0.5] + [0.1] * 5)]
        values = chosen[:, 1] + chosen[:, 2] * random.normal(size=1000)
        g = read(released(values, seed=seed, bandwidth=h), h)
        band, waves = g.band(0.95, "total"), waves_of(g)
        low += bool((truth > np.interp(x, band.x, band.upper)).any())
        noise = waves.noise(g.raw.count_variance).value
        deviations = np.sqrt(waves.sampled(g, g.count).spread.value + noise)
        plain += bool((truth > np.interp(x, band.x, band.estimate + band.width * deviations)).any())
    assert low <= 16 < plain


@pytest.mark.soak
@pytest.mark.parametrize("count", [300, 1000, 10_000])
def test_total_bands_of_level_95_cover_in_93_to_98_percent(released, count):
    """Of a density with narrow peaks, 500 samples each; seeded, so no chance is left."""
    random = np.random.default_rng(12)
    h, covered = 0.15, 0
    for seed in range(500):
        centre = np.where(random.random(count) < 0.5, -1.5, 1.5)
        f = released(centre + 0.5 * random.normal(size=count), seed=seed, bandwidth=h)
        band = read(f, h).band(0.95, "total")
        sd = math.sqrt(0.25 + h * h)
        truth = sum(
            0.5 * np.exp(-0.5 * ((band.x - m) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
            for m in (-1.5, 1.5)
        )
        covered += bool(((band.lower <= truth) & (truth <= band.upper)).all())
    assert 0.93 <= covered / 500 <= 0.98


@pytest.mark.soak
@pytest.mark.parametrize("declared", CASES.values(), ids=CASES)
def test_total_bands_cover_the_expected_curve(released, normal_density, declared):
    random = np.random.default_rng(11)
    draws, level, h = 400, 0.9, 0.25
    covered = 0
    for seed in range(draws):
        values = random.normal(0, 1, 3000) % 10 - 5 * ("domain" not in declared)
        if isinstance(declared["domain"], Interval):
            values = np.where(values > 5, values - 10, values)
        band = read(released(values, seed=seed, **declared)).band(level, "total")
        place = np.where(band.x > 5, band.x - 10, band.x)
        truth = normal_density(place, math.sqrt(1 + h * h))
        covered += bool(((band.lower <= truth) & (truth <= band.upper)).all())
    # An estimate: within five points of what it says.
    assert abs(covered / draws - level) < 0.05 + binomial_slack(level, draws)


def test_the_width_is_that_of_rices_formula(released, normal_values):
    f = released(normal_values, neighbors="replace_one", domain=Circle(10))
    g = read(f, 0.5)
    noise = waves_of(g).noise(0.0)
    value, slope = float(noise.value[3]), float(noise.slope[3])
    np.testing.assert_allclose(noise.value, value, rtol=1e-9)
    arc = 10 * math.sqrt(slope / value)
    u = g.band(0.95, "noise").width
    outside = math.erfc(u / math.sqrt(2)) + arc / math.pi * math.exp(-u * u / 2)
    assert outside == pytest.approx(0.05, rel=1e-6)
    # The noise of the release falls like exp(-(0.25 w)^2 / 2), and reading multiplies it by
    # exp(-(0.5 w)^2): frequencies have that density, but for j = 0, which has no noise.
    power = 0.5**2 - 0.25**2 / 2
    none = (2 * math.pi / 10) / math.sqrt(math.pi / power)
    assert slope / value == pytest.approx(1 / (2 * power) / (1 - none), rel=1e-4)


def test_bands_are_about_the_function_and_grow_with_the_level(released, normal_values):
    f = read(released(normal_values))
    narrow, wide, total = f.band(0.5, "noise"), f.band(0.99, "noise"), f.band(0.99, "total")
    np.testing.assert_allclose(narrow.estimate, f(narrow.x), atol=2e-3)
    assert (narrow.x[0], narrow.x[-1]) == (-5, 5)
    assert (narrow.upper - narrow.lower < wide.upper - wide.lower).all()
    inner = slice(len(wide.x) // 3, 2 * len(wide.x) // 3)
    assert (wide.upper - wide.lower < total.upper - total.lower)[inner].all()
    for level in (0, 1, -1, 2, float("nan")):
        with pytest.raises(InvalidParameter):
            f.band(level, "noise")
    with pytest.raises(InvalidParameter, match="kind must name a band"):
        f.band(0.9, "both")


def test_sampling_error_is_that_of_a_kernel_estimate(released, normal_values):
    """Var = f(x) / (2 sqrt(pi) h n), to first order, where noise is small."""
    f = read(released(normal_values, mu=None))
    band = f.band(0.9, "total")
    middle = len(band.x) // 2
    sd = (band.upper - band.estimate)[middle] / band.width
    mean = f(0.0)
    expected = math.sqrt((mean / (2 * math.sqrt(math.pi) * 0.25) - mean**2) / 20_000)
    assert sd == pytest.approx(expected, rel=0.05)


def test_sampling_error_at_an_end_is_that_of_the_kernel_and_its_mirror_image(released):
    """At an end they are one: the variance of the mean of kernels is twice that of the middle."""
    values = np.random.default_rng(2).random(20_000)
    f = released(values, domain=Interval(0, 1, outside="drop"), bandwidth=0.02, mu=None)
    g = read(f, 0.02)
    moments = waves_of(g).sampled(g, 20_000.0).spread
    middle = moments.value.size // 2
    assert moments.value[middle] == pytest.approx(
        (1 / (2 * math.sqrt(math.pi) * 0.02) - 1) / 20_000, rel=0.05
    )
    assert moments.value[0] / moments.value[middle] == pytest.approx(2, rel=0.1)
    draws = np.random.default_rng(4).random((400, 2000))
    plain = [
        np.exp(-0.5 * (sample / 0.02) ** 2).mean() * 2 / (0.02 * math.sqrt(2 * math.pi))
        for sample in draws
    ]
    # 400 variances: known to 7 %; the release has ten times as many records.
    assert moments.value[0] * 10 == pytest.approx(np.var(plain), rel=0.25)


def claw(random, n):
    peaks = np.append(0.0, np.arange(5) / 2 - 1)
    k = random.choice(6, n, p=[0.5] + [0.1] * 5)
    return random.normal(peaks[k], np.where(k == 0, 1.0, 0.1))


def bell(x, mean, sd):
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))


DRAWN = {
    "normal": (lambda r, n: r.normal(size=n), lambda x: bell(x, 0, 1), (-4, 4)),
    "exponential": (lambda r, n: r.exponential(size=n), lambda x: np.exp(-x), (0, 8)),
    "bimodal": (
        lambda r, n: r.choice([-1, 1], n) + r.normal(0, 2 / 3, n),
        lambda x: (bell(x, -1, 2 / 3) + bell(x, 1, 2 / 3)) / 2,
        (-4, 4),
    ),
    "claw": (
        claw,
        lambda x: bell(x, 0, 1) / 2 + sum(bell(x, k / 2 - 1, 0.1) for k in range(5)) / 10,
        (-4, 4),
    ),
}


def held(released, name, count, mu, runs):
    """Return the shares of bands of 0.95 that hold the density, and of the broken twin's.

    The twin is the band for what the reading is expected to be.
    """
    draw, density, ends = DRAWN[name]
    random, found = np.random.default_rng(8), np.zeros(2)
    for seed in range(runs):
        domain = Interval(*ends, outside="drop")
        f = released(
            draw(random, count),
            seed=seed,
            mu=mu,
            domain=domain,
            bandwidth=None,
            records=count,
            target=None,
        )
        for k, kind in enumerate(("density", "total")):
            band = DensityFunction(f).band(0.95, kind)
            truth = density(band.x)
            found[k] += bool(((band.lower <= truth) & (truth <= band.upper)).all())
    return found / runs


@pytest.mark.parametrize("name", ["normal", "exponential"])
def test_the_band_for_the_density_holds_it_ends_included(released, name):
    """Of 60 bands at least 51: fewer by chance with probability 3e-4 at 0.95; seeded."""
    ours, twin = held(released, name, 1_000, 1.0, 60)
    assert ours >= 51 / 60
    assert twin < ours


@pytest.mark.soak
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize(("count", "mu"), [(300, 0.5), (1_000, 1), (10_000, 1), (100_000, 1)])
def test_bands_for_densities_hold_at_least_nine_in_ten(released, name, count, mu):
    """200 bands: known to 0.02. The claw of 300 records is not to be seen: it is named."""
    ours, _ = held(released, name, count, mu, 200)
    assert ours >= (0.75 if (name, count) == ("claw", 300) else 0.88)
