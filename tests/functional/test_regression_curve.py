"""Curves read from a released regression: what they show, their noise, their bands."""

import json
import math

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Circle, Density, Interval, RegressionCurve
from neyman.testing import SeededBits

RELATIONS = ["add_remove", "replace_one"]
DECLARED = {
    "domain": Interval(0, 1, outside="clip"),
    "bandwidth": 0.03,
    "response": Interval(-1, 1, outside="clip"),
    "neighbors": "add_remove",
    "unit": "one row",
    "name": "doses",
}
READINGS = [
    lambda curve: curve.gaussian_process(),
    lambda curve: curve.nadaraya_watson(0.05),
    lambda curve: curve.ridge(0.2, 1),
]
NAMES = ["gaussian_process", "nadaraya_watson", "ridge"]
AT = np.linspace(0, 1, 101)


class Answer:
    """What `function` needs of a release."""

    def __init__(self, aggregate, noisy, noise):
        self.query = aggregate.query
        self.columns = aggregate.reading.columns(noisy, noise, 0.95)


def curves_of(x, y, *, mu, seeds, **changed):
    """Release one question once for each seed of the bits; mu=None adds as good as no noise."""
    question = functional.regression(x, y, **(DECLARED | changed))
    noise = (
        ny.Gaussian(scale=1) if mu is None else ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    )
    exact = question.compute()
    for seed in seeds:
        noisy = noise.add_noise(exact, SeededBits(seed))
        yield functional.function(Answer(question, noisy, noise), RegressionCurve)


def curve_of(x, y, *, mu, seed=1, **changed):
    """Release a question once."""
    (curve,) = curves_of(x, y, mu=mu, seeds=[seed], **changed)
    return curve


def sine(x):
    return 0.7 * np.sin(2 * np.pi * np.asarray(x))


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, sine(x) + 0.3 * rng.standard_normal(n)


@pytest.fixture(scope="module")
def doses():
    return drawn(3000)


def rmse(found, truth):
    return float(np.sqrt(np.mean((found - truth) ** 2)))


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_without_noise_nadaraya_watson_is_its_definition(doses, neighbors):
    x, y = doses[0], np.clip(doses[1], -1, 1)
    fit = curve_of(x, y, mu=None, neighbors=neighbors).nadaraya_watson(0.05)
    # Away from the ends, where tails are folded back.
    at = np.linspace(0.26, 0.74, 25)
    weights = np.exp(-0.5 * ((at[:, None] - x) / 0.05) ** 2)
    np.testing.assert_allclose(fit(at), weights @ y / weights.sum(axis=1), atol=2e-3)


def test_without_noise_ridge_is_its_definition(doses):
    x, y = doses[0][:800], np.clip(doses[1][:800], -1, 1)
    fit = curve_of(x, y, mu=None, bandwidth=0.01).ridge(0.2, 5)
    gram = np.exp(-0.5 * ((x[:, None] - x) / 0.2) ** 2)
    weights = np.linalg.solve(gram + 5 * np.eye(x.size), y)
    known = np.exp(-0.5 * ((AT[:, None] - x) / 0.2) ** 2) @ weights
    np.testing.assert_allclose(fit(AT), known, atol=5e-3)
    # The broken twin: another regularization is another curve.
    other = curve_of(x, y, mu=None, bandwidth=0.01).ridge(0.2, 50)
    assert np.max(np.abs(other(AT) - known)) > 0.02


@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_known_curve_is_found(doses, reading, neighbors):
    """Within six deviations of noise everywhere, with 0.1 for drawing and for the bias."""
    fit = reading(curve_of(*doses, mu=1, neighbors=neighbors))
    away = np.abs(fit(AT) - sine(AT))
    # A window at an end is one-sided: the mean in it leans inwards by its width times the slope.
    lean = 0.05 * 0.7 * 2 * np.pi * ((AT < 0.1) | (AT > 0.9))
    assert (away <= 6 * fit.noise_sd(AT) + 0.1 + lean).all()
    assert rmse(fit(AT), sine(AT)) < 0.09
    # The broken twin: without the curve's shape it is far off.
    assert rmse(0 * AT, sine(AT)) > 0.4


def test_the_automatic_reading_is_nearly_as_good_as_the_best_of_all_others():
    """Over 8 samples; the others are tuned on the true curve."""
    found, tuned = [], []
    for seed in range(8):
        curve = curve_of(*drawn(1000, seed), mu=0.5, seed=seed)
        found.append(rmse(curve(AT), sine(AT)))
        tuned.append(
            [
                rmse(curve.ridge(h, r)(AT), sine(AT))
                for h in (0.1, 0.2, 0.3, 0.4)
                for r in (0.1, 0.3, 1, 3, 10)
            ]
        )
    assert np.mean(found) < 1.15 * np.mean(tuned, axis=0).min()
    assert np.mean(found) < 0.06


@pytest.mark.parametrize("reading", READINGS[1:], ids=NAMES[1:])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_noise_is_as_stated(doses, reading, neighbors):
    """Over 100 releases; a chi-square of 100 is outside [45, 180] with probability 1e-6."""
    at = np.array([0.0, 0.1, 0.25, 0.5])
    curves = curves_of(*doses, mu=1, seeds=range(100), neighbors=neighbors, bandwidth=0.05)
    found = np.array([reading(curve)(at) for curve in curves])
    stated = reading(curve_of(*doses, mu=1, neighbors=neighbors, bandwidth=0.05)).noise_sd(at)
    ratio = np.var(found, axis=0) / stated**2
    assert (ratio < 1.8).all()
    assert (ratio > 0.45).all()


def test_the_same_point_gives_the_same_bits(doses):
    curve = curve_of(*doses, mu=1)
    for reading in READINGS:
        fit = reading(curve)
        whole = fit(AT)
        assert all(float(fit(x)) == value for x, value in zip(AT, whole, strict=True))
        assert np.array_equal(fit(AT[::-1]), whole[::-1])
        assert np.array_equal(reading(curve)(AT), whole)
        x, values = fit.grid(101)
        assert np.array_equal(fit(x), values)
        assert fit(AT.reshape(1, -1)).shape == (1, 101)
    assert np.array_equal(curve(AT), curve.gaussian_process()(AT))


def test_nothing_is_shown_where_nobody_is():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(0, 0.3, 2000), rng.uniform(0.7, 1, 2000)])
    curve = curve_of(x, sine(x), mu=1)
    for fit in (curve.nadaraya_watson(0.03), curve.ridge(0.1, 1), curve.gaussian_process()):
        assert math.isnan(float(fit(0.5)))
        assert math.isnan(float(fit.noise_sd(0.5)))
        (low, left), (right, high) = fit.stretches
        assert (low, high) == (0, 1)
        assert 0.2 < left < 0.5 < right < 0.8
        assert not np.isnan(fit([0.1, left, right, 0.9])).any()
    band = curve.nadaraya_watson(0.03).band(0.9, "total", generator=rng, repetitions=20)
    assert (np.isnan(band.lower) == np.isnan(band.estimate)).all()


def test_a_count_that_is_noise_alone_is_refused():
    """Of 20 releases of one record 18 or more: fewer by chance with probability 3e-4."""
    refused = 0
    for seed in range(20):
        curve = curve_of(np.array([0.5]), np.array([0.1]), mu=0.1, seed=seed)
        try:
            curve.gaussian_process()
        except InvalidParameter as error:
            assert "spend more" in str(error)  # noqa: PT017
            refused += 1
    assert refused >= 18


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.full(5000, 0.5), np.full(5000, 1.0)),
        (np.linspace(0, 1, 5000), np.full(5000, 5.0)),
        (np.linspace(0, 1, 5000), np.where(np.arange(5000) % 2, 1e308, -np.inf)),
        (np.array([0.5]), np.array([0.2])),
    ],
    ids=["one place", "at the bound", "huge", "one record"],
)
def test_strange_records_give_curves_within_the_bounds(x, y):
    curve = curve_of(x, y, mu=None if x.size == 1 else 1)
    for reading in READINGS:
        fit = reading(curve)
        known = fit.values[fit.known]
        assert known.size
        assert ((known >= -1) & (known <= 1)).all()
        assert (fit.noise_sd(AT)[~np.isnan(fit(AT))] >= 0).all()


def test_clipped_responses_bend_the_curve(doses):
    """What `response` must not do, and how the middle stays."""
    narrow = curve_of(*doses, mu=None, response=Interval(-0.2, 0.2, outside="clip"))
    assert np.nanmax(np.abs(narrow(AT))) <= 0.2
    dropped = curve_of(*doses, mu=None, response=Interval(-0.2, 0.2, outside="drop"))
    assert dropped.density.count < 0.5 * narrow.density.count


def test_units_of_the_response_and_of_place_do_not_matter(doses):
    plain = curve_of(*doses, mu=1)
    other = curve_of(
        100 + 8 * doses[0],
        50 + 20 * doses[1],
        mu=1,
        domain=Interval(100, 108, outside="clip"),
        bandwidth=0.24,
        response=Interval(30, 70, outside="clip"),
    )
    np.testing.assert_allclose(other(100 + 8 * AT), 50 + 20 * plain(AT), atol=0.05)
    sd = plain.gaussian_process().noise_sd(AT)
    np.testing.assert_allclose(other.gaussian_process().noise_sd(100 + 8 * AT), 20 * sd, rtol=0.02)


def test_on_a_circle_the_ends_meet():
    rng = np.random.default_rng(2)
    hours = rng.uniform(0, 24, 5000)
    y = np.cos(hours / 24 * 2 * np.pi) / 2 + rng.normal(0, 0.2, hours.size)
    curve = curve_of(hours, y, mu=1, domain=Circle(24), bandwidth=0.5)
    for fit in (curve.gaussian_process(), curve.nadaraya_watson(1), curve.ridge(4, 1)):
        assert float(fit(0.0)) == float(fit(24.0))
        assert abs(float(fit(23.999) - fit(0.0))) < 0.01
        assert rmse(fit(24 * AT), np.cos(2 * np.pi * AT) / 2) < 0.05
        assert fit.band(0.9, "total", generator=rng, repetitions=10).x.size == fit.values.size


def test_the_density_is_a_density(doses):
    curve = curve_of(*doses, mu=1)
    density = curve.density
    # Eight deviations of the noise of the count.
    assert abs(density.count - 3000) < 8 * density.count_sd
    assert abs(float(density.smooth(0.1)(0.5)) - 1) < 0.2
    public = curve_of(*doses, mu=1, neighbors="replace_one")
    assert public.density.count == 3000


@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
def test_a_band_holds_the_curve_and_repeats(reading, doses):
    fit = reading(curve_of(*doses, mu=0.5))
    bands = [
        fit.band(0.95, kind, generator=np.random.default_rng(1), repetitions=30)
        for kind in ("total", "total", "noise")
    ]
    for band in bands:
        assert (band.lower <= band.estimate).all()
        assert (band.estimate <= band.upper).all()
        assert ((band.lower >= -1) & (band.upper <= 1)).all()
    assert all(np.array_equal(a, b) for a, b in zip(*bands[:2], strict=True))
    assert np.mean(bands[0].upper - bands[0].lower) > np.mean(bands[2].upper - bands[2].lower)
    for wrong in ({"level": 1}, {"repetitions": 1}):
        with pytest.raises(InvalidParameter):
            fit.band(
                **({"level": 0.9, "kind": "total", "generator": np.random.default_rng(1)} | wrong)
            )


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_records_come_back_and_others_are_refused(doses, neighbors, tmp_path):
    curve = curve_of(*doses, mu=1, neighbors=neighbors, target=Density())
    record = json.loads(json.dumps(curve.to_json()))
    assert functional.read(record) == curve
    functional.save(curve, tmp_path / "curve.npz")
    assert functional.load(tmp_path / "curve.npz", RegressionCurve) == curve
    wrong = {"version": 2, "records": "many", "integers": [1], "channels": {}, "stddev": "x"}
    for name, value in wrong.items():
        with pytest.raises(InvalidParameter):
            functional.read(record | {name: value})
    channels = record["channels"]
    circle = channels | {"response": {"kind": "circle", "period": "2"}}
    with pytest.raises(InvalidParameter):
        functional.read(record | {"channels": circle})
    with pytest.raises(InvalidParameter):
        functional.read(record, functional.SurvivalCurve)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda curve: curve.nadaraya_watson(0.02), "bandwidth"),
        (lambda curve: curve.nadaraya_watson(0.2), "bandwidth"),
        (lambda curve: curve.ridge(0.01, 1), "bandwidth"),
        (lambda curve: curve.ridge(0.6, 1), "bandwidth"),
        (lambda curve: curve.ridge(0.2, 0), "regularization"),
        (lambda curve: curve.ridge(0.2, 1)(1.5), "outside"),
        (lambda curve: curve.ridge(0.2, 1)(math.nan), "NaN"),
        (lambda curve: curve.ridge(0.2, 1).grid(1), "points"),
    ],
)
def test_unusable_readings_are_refused(doses, read, words):
    with pytest.raises(InvalidParameter, match=words):
        read(curve_of(*doses, mu=1))


def test_it_goes_through_the_door(doses, tmp_path):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    question = functional.regression(*doses, **DECLARED)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    release = ny.release(question, noise, ledger, entry="curve")
    assert release.guarantee.curve == ny.gdp(0.5)
    # Ten times the error that is seen.
    assert abs(float(functional.function(release)(0.25)) - 0.7) < 0.4
    assert "coefficients; functional.function(release) reads them" in str(release)


@pytest.mark.soak
@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
def test_bands_cover(reading):
    """Of 100 releases bands of 95 % cover in 85 or more; by chance not with probability 1e-4."""
    covered = 0
    for seed in range(100):
        x, y = drawn(1000, seed)
        # Within the bounds, or clipping would bend the curve.
        y = sine(x) + (y - sine(x)) / 3
        fit = reading(curve_of(x, y, mu=1, seed=seed))
        band = fit.band(0.95, "total", generator=np.random.default_rng(seed), repetitions=100)
        truth = sine(band.x)
        told = fit.known
        covered += bool(((band.lower <= truth) & (truth <= band.upper))[told].all())
    assert covered >= 85


def noise_covered(reading, seeds):
    """How many bands of 95 % hold what the same reading shows of the same records without noise."""
    covered = 0
    for seed in seeds:
        x, y = drawn(1000, seed)
        fit = reading(curve_of(x, y, mu=1, seed=seed))
        exact = reading(curve_of(x, y, mu=None, seed=seed))
        still = type(fit).of(fit.table, exact.sums, fit.smoother)
        band = fit.band(0.95, "noise", generator=np.random.default_rng(seed), repetitions=100)
        inside = (band.lower <= still.values) & (still.values <= band.upper)
        covered += bool(inside[fit.known & still.known].all())
    return covered


@pytest.mark.soak
def test_a_noise_band_holds_the_reading_without_noise():
    """Of 15 at least 10: fewer by chance with probability 6e-5; seeded."""
    assert noise_covered(READINGS[1], range(15)) >= 10


@pytest.mark.soak
@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
def test_noise_bands_cover(reading):
    """Of 200 releases bands of 95 % cover in 170 or more."""
    assert noise_covered(reading, range(200)) >= 170


@pytest.mark.parametrize("records", [1, 300, 1000, 10**5, 10**12])
@pytest.mark.parametrize("domain", [Interval(0, 5000, outside="drop"), Circle(0.3), Circle(256)])
def test_a_start_from_a_number_of_records_is_fine_enough_and_comes_back(records, domain):
    curve = curve_of(*drawn(10), mu=1, domain=domain, bandwidth=None, records=records)
    start, target = curve.channels.bandwidth, curve.channels.target
    least = domain.length / 256
    assert least <= start <= domain.largest_bandwidth
    assert records < 10**5 or start <= 1.01 * least
    widest = start * 2 ** (target.number - 1)
    assert 0.15 * domain.length <= widest <= 0.7 * domain.length
    assert functional.read(json.loads(json.dumps(curve.to_json()))) == curve


@pytest.mark.parametrize("given", [{"bandwidth": None}, {"records": 9}, {"bandwidth": 0}])
def test_a_bandwidth_or_a_number_of_records_is_needed_and_not_both(given):
    with pytest.raises(InvalidParameter, match=r"records|bandwidth must be"):
        curve_of(*drawn(10), mu=1, **given)


TRUTHS = {
    "line": lambda x: 0.8 * x - 0.4,
    "sine": lambda x: 0.5 * np.sin(4 * np.pi * x),
    "cosine": lambda x: 0.5 * np.cos(3 * x),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_few_records_are_shown_everywhere_and_better_than_four_noisy_bins(name):
    """300 records at mu = 0.25, 12 releases; four bins of (count, sum) share the same budget."""
    truth, at = TRUTHS[name], np.linspace(0.02, 0.98, 49)
    read, bins, held = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.beta(2, 2, 300)
        y = np.clip(truth(x) + 0.2 * rng.standard_normal(300), -1, 1)
        curve = curve_of(x, y, mu=0.25, seed=seed, bandwidth=None, records=300)
        fit = curve.gaussian_process()
        assert not np.isnan(fit(at)).any()
        read.append(np.mean((fit(at) - truth(at)) ** 2))
        held.append(np.mean(np.abs(fit(at) - truth(at)) <= 1.96 * fit.noise_sd(at)))
        cell = np.minimum((4 * x).astype(int), 3)
        counts, totals = (
            np.bincount(cell, w, minlength=4) + rng.normal(0, 2**0.5 / 0.25, 4) for w in (None, y)
        )
        means = np.clip(totals / np.maximum(counts, 1), -1, 1)
        bins.append(np.mean((np.interp(at, [0.125, 0.375, 0.625, 0.875], means) - truth(at)) ** 2))
    assert np.mean(read) < 1.3 * np.mean(bins)
    assert np.mean(held) > 0.8


def test_a_nearly_straight_curve_is_found_straight():
    """By the variance of the process about the polynomial, over 10 samples; a sine has far more."""

    def straight(truth):
        found = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            x = rng.random(2000)
            y = np.clip(truth(x) + 0.2 * rng.standard_normal(2000), -1, 1)
            process = curve_of(x, y, mu=0.5, seed=seed).gaussian_process().smoother
            each = zip(process.processes, process.chances, strict=True)
            found.append(sum(p.variance * chance for p, chance in each))
        return np.mean(found)

    assert 4 * straight(lambda x: 0.8 * x - 0.4) < straight(lambda x: 0.5 * np.sin(4 * np.pi * x))


def test_the_fit_is_made_once(doses):
    curve = curve_of(*doses, mu=1)
    assert curve.gaussian_process() is curve_of(*doses, mu=1).gaussian_process()
    assert not curve.gaussian_process().values.flags.writeable
    assert curve_of(*doses, mu=1, seed=2).gaussian_process() is not curve.gaussian_process()
