"""The private Kaplan-Meier curve."""

import itertools
import json

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional._lifetimes._survival import survival
from neyman.testing import SeededBits

DECLARED = {
    "horizon": 10,
    "bandwidth": 0.1,
    "neighbors": "add_remove",
    "unit": "one patient",
    "name": "trial",
}
RELATIONS = ["add_remove", "replace_one"]


class Answer:
    """What `function` needs of a release."""

    def __init__(self, aggregate, noisy, noise):
        self.query = aggregate.query
        self.columns = aggregate.reading.columns(noisy, noise, 0.95)


def ask(times, observed, **changed):
    return survival(times, observed, **(DECLARED | changed))


def curve_of(times, observed, *, mu, seed=1, **changed):
    """Release as the door does, with seeded bits; mu=None adds as good as no noise."""
    question = ask(times, observed, **changed)
    noise = (
        ny.Gaussian(scale=1) if mu is None else ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    )
    noisy = noise.add_noise(question.compute(), SeededBits(seed))
    return functional.function(Answer(question, noisy, noise))


def kaplan_meier(times, observed, at):
    """Return the product limit from its definition."""
    found = []
    for t in at:
        value = 1.0
        for u in np.unique(times[observed & (times <= t)]):
            value *= 1 - np.sum(times[observed] == u) / np.sum(times >= u)
        found.append(value)
    return np.array(found)


@pytest.fixture(scope="module")
def trial():
    """Draw exponential lives, some of them cut short."""
    rng = np.random.default_rng(3)
    lives, follow_up = rng.exponential(6, 1500), rng.uniform(2, 14, 1500)
    return np.minimum(lives, follow_up), lives <= follow_up


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_without_noise_it_is_the_product_limit(trial, neighbors):
    curve = curve_of(*trial, mu=None, neighbors=neighbors)
    at = np.linspace(0, 9.5, 40)
    # Blurred by a hundredth of the horizon; S falls by a sixth in a unit of time.
    np.testing.assert_allclose(curve(at), kaplan_meier(*trial, at), atol=0.012)
    assert curve.until > 9.9
    risk = [np.sum(trial[0] >= t) for t in at[4:]]
    np.testing.assert_allclose(curve.at_risk(at[4:]), risk, atol=12)


def test_censoring_is_not_death(trial):
    """The broken twin: a product limit that takes every time for an event is far off."""
    times, _ = trial
    curve = curve_of(times, np.ones(times.size, bool), mu=None)
    at = np.linspace(0, 9, 40)
    assert np.max(np.abs(curve(at) - kaplan_meier(*trial, at))) > 0.1


def test_times_beyond_the_horizon_are_censored_there(trial):
    times, observed = trial
    whole = ask(times, observed, horizon=3).compute()
    cut = ask(np.minimum(times, 3), observed & (times <= 3), horizon=3).compute()
    assert (whole == cut).all()


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_neighbour_moves_the_integers_further_than_stated(neighbors):
    """Every pair of records on a few times, at both ends and within, of both kinds."""
    places = [0.0, 0.01, 0.3, 4.9, 5.0, 9.99, 10.0, np.nan]
    records = [*itertools.product(places, [True, False])]
    question = ask(np.array([1.0]), np.array([True]), neighbors=neighbors)
    sums = [ask(np.array([t]), np.array([e]), neighbors=neighbors).compute() for t, e in records]
    if neighbors == "add_remove":
        moves = sums
    else:
        moves = [a - b for a, b in itertools.combinations(sums, 2)]
    squares = [sum(int(x) ** 2 for x in move) for move in moves]
    assert max(squares) <= question.sensitivity.l2_squared <= max(squares) * 1.0001
    assert max(int(np.max(np.abs(move))) for move in moves) <= question.sensitivity.largest


def test_no_value_raises_an_error_and_order_does_not_matter(trial):
    times, observed = trial
    for bad in (np.nan, np.inf, -np.inf, 1e308, -3.0):
        question = ask(np.array([bad, 1.0]), np.array([np.nan, 1.0]))
        assert question.compute().shape == (question.size,)
    back = ask(times[::-1], observed[::-1].astype(int)).compute()
    assert (back == ask(times, observed).compute()).all()
    nothing = ask(np.array([np.nan]), np.array([True])).compute()
    assert not nothing.any()


def test_the_curve_is_a_survival_curve_whatever_the_noise(trial):
    for seed in range(20):
        curve = curve_of(*trial, mu=0.1, seed=seed)
        values = curve(np.linspace(0, curve.until, 500))
        assert values[0] == 1
        assert (np.diff(values) <= 0).all()
        assert values[-1] >= 0
        assert 0 < curve.until <= 10


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_noise_of_the_number_at_risk_is_as_stated(trial, neighbors):
    """Over 100 releases; a chi-square of 100 is above 180 with probability 2e-6."""
    at = np.array([2.0, 5.0, 8.0])
    found = np.array(
        [curve_of(*trial, mu=0.5, seed=k, neighbors=neighbors).at_risk(at) for k in range(100)]
    )
    stated = curve_of(*trial, mu=0.5, neighbors=neighbors).at_risk_sd(at)
    # Made monotone the noise is no larger, and with many events not much smaller.
    ratio = np.var(found, axis=0) / stated**2
    assert (ratio < 1.8).all()
    assert (ratio > 0.3).all()


def test_it_ends_where_few_are_left(trial):
    times, observed = trial
    curve = curve_of(np.minimum(times, 5), observed, mu=1)
    assert 4.5 < curve.until < 5.5
    with pytest.raises(InvalidParameter, match="too few are at risk"):
        curve(9.0)
    with pytest.raises(InvalidParameter, match="at the very start"):
        _ = curve_of(np.array([1.0, 2.0]), np.array([True, False]), mu=0.01).until


def test_quantiles_and_means(trial):
    curve = curve_of(*trial, mu=1)
    median = curve.quantile(0.5)
    assert abs(float(curve(median)) - 0.5) < 0.01
    assert median == pytest.approx(6 * np.log(2), abs=0.5)
    assert curve.quantile(0.99) == np.inf
    assert curve.restricted_mean(5) == pytest.approx(6 * (1 - np.exp(-5 / 6)), abs=0.1)
    with pytest.raises(InvalidParameter, match="median"):
        curve.quantile(1)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["noise", "total"])
def test_bands_cover(kind):
    """Of 100 trials 95 % bands cover at least 82: fewer by chance with probability 1e-6; seeded."""
    covered, at = 0, np.linspace(0.2, 5, 60)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lives, follow_up = rng.exponential(6, 800), rng.uniform(2, 14, 800)
        data = np.minimum(lives, follow_up), lives <= follow_up
        truth = np.exp(-at / 6) if kind == "total" else curve_of(*data, mu=None)(at)
        band = curve_of(*data, mu=0.5, seed=seed).band(0.95, kind, generator=rng, repetitions=100)
        low, high = (np.interp(at, band.x, side) for side in (band.lower, band.upper))
        covered += bool(((low <= truth) & (truth <= high)).all())
    assert covered >= 82


@pytest.mark.soak
@pytest.mark.parametrize("mu", [0.25, 1])
def test_noise_bands_cover(mu):
    """Of 300 trials bands of 95 % for the noise hold the curve without noise in 270 or more."""
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        lives, follow_up = rng.exponential(6, 800), rng.uniform(2, 14, 800)
        data = np.minimum(lives, follow_up), lives <= follow_up
        still = curve_of(*data, mu=None)
        band = curve_of(*data, mu=mu, seed=seed).band(0.95, "noise", generator=rng, repetitions=100)
        at = band.x[band.x <= still.until]
        low, high = band.lower[: at.size], band.upper[: at.size]
        covered += bool(((low <= still(at) + 1e-9) & (still(at) - 1e-9 <= high)).all())
    assert covered >= 270


def test_a_curve_on_a_grid_ends_where_it_is_known(trial):
    curve = curve_of(*trial, mu=0.5)
    times, values = curve.grid(7)
    assert (times[0], times[-1], len(times)) == (0, curve.until, 7)
    assert (values == curve(times)).all()
    with pytest.raises(InvalidParameter, match="points"):
        curve.grid(1)


def test_a_band_holds_the_curve_and_repeats(trial):
    curve = curve_of(*trial, mu=0.5)
    bands = [
        curve.band(0.95, kind, generator=np.random.default_rng(1), repetitions=30)
        for kind in ("total", "total", "noise")
    ]
    for band in bands:
        assert (band.lower <= band.estimate).all()
        assert (band.estimate <= band.upper).all()
        assert band.x[-1] == curve.until
    assert all(np.array_equal(a, b) for a, b in zip(*bands[:2], strict=True))
    middle = len(bands[0].x) // 2
    assert np.ptp([bands[0].lower[middle], bands[0].upper[middle]]) > np.ptp(
        [bands[2].lower[middle], bands[2].upper[middle]]
    )
    asked = {"level": 0.9, "kind": "noise", "generator": np.random.default_rng(1)}
    for wrong in ({"level": 1}, {"repetitions": 1}, {"kind": "both"}, {"generator": None}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            curve.band(**(asked | wrong))


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_records_come_back_and_others_are_refused(trial, neighbors):
    curve = curve_of(*trial, mu=1, neighbors=neighbors)
    record = json.loads(json.dumps(curve.to_json()))
    assert functional.read(record) == curve
    for name, value in (("version", 3), ("records", "many"), ("integers", [1]), ("channels", {})):
        with pytest.raises(InvalidParameter):
            functional.read(record | {name: value})
    density = functional.density(
        np.array([1.0]),
        domain=functional.Interval(0, 1, outside="clip"),
        bandwidth=0.1,
        neighbors=neighbors,
        unit="one row",
        name="x",
    )
    other = Answer(density, density.compute(), ny.Gaussian(scale=1))
    with pytest.raises(InvalidParameter, match="was given"):
        functional.function(other, functional.SurvivalCurve)


def test_it_goes_through_the_door(trial, tmp_path):
    ledger = ny.Ledger.open(
        tmp_path / "a", cap=ny.gdp(1), unit="one patient", neighbors="add_remove"
    )
    question = functional.survival(*trial, **DECLARED)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    release = ny.release(question, noise, ledger, entry="survival")
    assert release.guarantee.curve == ny.gdp(0.5)
    curve = functional.function(release)
    # Twenty times the standard deviation of noise and sampling.
    assert abs(float(curve(4.0)) - np.exp(-4 / 6)) < 0.3
    assert "coefficients; functional.function(release) reads them" in str(release)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"horizon": 0}, "not positive"),
        ({"horizon": -1}, "not positive"),
        ({"bandwidth": 5}, "bandwidth"),
        ({"neighbors": "some"}, "neighbouring relation"),
        ({"observed": np.array([True])}, "one of each"),
        ({"durations": np.array(["a", "b"])}, "real numbers"),
        ({"durations": [1.0, 2.0]}, "asarray"),
        (
            {"durations": np.zeros(0), "observed": np.zeros(0), "neighbors": "replace_one"},
            "replace_one",
        ),
    ],
)
def test_unusable_declarations_are_refused(changed, words):
    given = {"durations": np.array([1.0, 2.0]), "observed": np.array([True, False])}
    given |= DECLARED | changed
    with pytest.raises(InvalidParameter, match=words):
        functional.survival(**given)
