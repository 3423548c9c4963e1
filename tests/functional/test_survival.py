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


def curves_of(times, observed, *, mu, seeds, **changed):
    """Release one question once for each seed of the bits; mu=None adds as good as no noise."""
    question = ask(times, observed, **changed)
    noise = (
        ny.Gaussian(scale=1) if mu is None else ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    )
    exact = question.compute()
    for seed in seeds:
        noisy = noise.add_noise(exact, SeededBits(seed))
        yield functional.function(Answer(question, noisy, noise))


def curve_of(times, observed, *, mu, seed=1, **changed):
    """Release a question once."""
    (curve,) = curves_of(times, observed, mu=mu, seeds=[seed], **changed)
    return curve


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
    for curve in curves_of(*trial, mu=0.1, seeds=range(20)):
        values = curve(np.linspace(0, curve.until, 500))
        assert values[0] == 1
        assert (np.diff(values) <= 0).all()
        assert values[-1] >= 0
        assert 0 < curve.until <= 10


@pytest.mark.parametrize(
    "neighbors", ["add_remove", pytest.param("replace_one", marks=pytest.mark.soak)]
)
def test_the_noise_of_the_number_at_risk_is_as_stated(trial, neighbors):
    """Over 100 releases; a chi-square of 100 is above 180 with probability 2e-6."""
    at = np.array([2.0, 5.0, 8.0])
    curves = curves_of(*trial, mu=0.5, seeds=range(100), neighbors=neighbors)
    found = np.array([curve.at_risk(at) for curve in curves])
    stated = curve_of(*trial, mu=0.5, neighbors=neighbors).at_risk_sd(at)
    # Made monotone the noise is no larger, and with many events not much smaller.
    ratio = np.var(found, axis=0) / stated**2
    assert (ratio < 1.8).all()
    assert (ratio > 0.3).all()


def test_it_ends_where_few_are_left(trial):
    times, observed = trial
    curve = curve_of(np.minimum(times, 5), observed, mu=1)
    assert 4.5 < curve.until < 5.5
    with pytest.raises(InvalidParameter, match="hides how many are at risk"):
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
        truth = np.exp(-at / 6) if kind == "total" else kaplan_meier(*data, at)
        band = curve_of(*data, mu=0.5, seed=seed).band(0.95, kind, generator=rng, repetitions=100)
        low, high = (np.interp(at, band.x, side) for side in (band.lower, band.upper))
        covered += bool(((low <= truth) & (truth <= high)).all())
    assert covered >= 82


@pytest.mark.soak
@pytest.mark.parametrize("mu", [0.25, 1])
def test_noise_bands_cover(mu):
    """Of 100 trials bands of 95 % for the noise hold Kaplan and Meier's curve in 82 or more."""
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lives, follow_up = rng.exponential(6, 800), rng.uniform(2, 14, 800)
        data = np.minimum(lives, follow_up), lives <= follow_up
        band = curve_of(*data, mu=mu, seed=seed).band(0.95, "noise", generator=rng, repetitions=200)
        exact = kaplan_meier(*data, band.x[::6])
        covered += bool(((band.lower[::6] <= exact) & (exact <= band.upper[::6])).all())
    assert covered >= 82


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
    with pytest.raises(InvalidParameter, match="takes a release of"):
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


# -- the tail, and what noise is smoothed by ---------------------------------------------------


def study(seed, number=700):
    """Draw lives whose hazards rise and fall, followed up for up to ten years: few stay."""
    rng = np.random.default_rng(seed)
    lives = 8 * rng.weibull(1.3, number) * np.exp(0.5 * rng.normal(size=number))
    follow_up = rng.uniform(0.4, 10.6, number)
    return np.minimum(lives, follow_up), lives <= follow_up


def binned(times, observed, *, bins, mu, generator, at):
    """Return the life table of noisy counts in bins: events, censored, and those beyond."""
    ends, inside = np.linspace(0, 10, bins + 1), times <= 10
    events, censored = (
        np.maximum(np.histogram(times[which], ends)[0] + generator.normal(size=bins) / mu, 0)
        for which in (observed & inside, ~observed & inside)
    )
    beyond = max(np.sum(times > 10) + generator.normal() / mu, 0)
    at_risk = np.cumsum(np.append(events + censored, beyond)[::-1])[::-1][:-1]
    hazard = np.clip(events / np.maximum(at_risk - censored / 2, 1e-9), 0, 1)
    return np.interp(at, ends, np.append(1, np.cumprod(1 - hazard)))


@pytest.mark.soak
def test_up_to_its_end_it_errs_less_than_the_best_bins():
    """Means of 16 releases, root mean square and greatest error; the twin has 40 bins."""
    at, numbers = np.linspace(0, 10, 161), (6, 8, 12, 16, 24, 40)
    ours, bins = [], {number: [] for number in numbers}
    for seed in range(16):
        data = study(seed)
        exact, rng = kaplan_meier(*data, at), np.random.default_rng(seed)
        curve = curve_of(*data, mu=1, seed=seed, bandwidth=0.2)
        shown = at <= curve.until

        def errors(found, exact=exact, shown=shown):
            apart = np.abs(found - exact[shown])
            return np.sqrt(np.mean(apart**2)), apart.max()

        ours.append(errors(curve(at[shown])))
        for number in numbers:
            found = binned(*data, bins=number, mu=1, generator=rng, at=at[shown])
            bins[number].append(errors(found))
    means = np.array([np.mean(found, axis=0) for found in bins.values()])
    assert (np.mean(ours, axis=0) < means.min(axis=0)).all()
    assert (np.mean(ours, axis=0) < 0.75 * means[-1]).all()


def test_it_is_read_once(trial, monkeypatch):
    from neyman.functional._lifetimes import _survival_curve

    made, read = [], _survival_curve.life_table
    monkeypatch.setattr(_survival_curve, "life_table", lambda *a: made.append(a) or read(*a))
    curve = curve_of(*trial, mu=1, seed=77)
    for t in (1.0, 2.0, curve.until):
        assert curve(t) <= 1
        assert curve.at_risk(t) > 0
        _ = curve.interval(t, 0.9, "total")
    assert len(made) == 1


# -- hazards, quantiles, means, and how far they may be off ------------------------------------


def test_the_cumulative_hazard_is_that_of_the_curve(trial):
    curve, t = curve_of(*trial, mu=1), np.linspace(0, 9, 19)
    np.testing.assert_allclose(np.exp(-curve.cumulative_hazard(t)), curve(t), rtol=1e-12)
    low, high = curve.interval(t, 0.9, "total", of="cumulative_hazard")
    below, above = curve.interval(t, 0.9, "total")
    np.testing.assert_allclose([np.exp(-high), np.exp(-low)], [below, above], atol=2e-4)
    band = curve.band(0.9, "noise", generator=np.random.default_rng(1), of="cumulative_hazard")
    assert (band.lower >= 0).all()
    assert (band.lower <= band.estimate).all()
    assert (band.estimate <= band.upper).all()
    # All hazards are 1/6 in truth.
    assert float(curve.cumulative_hazard(6.0)) == pytest.approx(1, abs=0.15)


def test_intervals_widen_with_the_level_and_with_sampling(trial):
    curve = curve_of(*trial, mu=1)
    t = np.linspace(1, 8, 8)
    widths = [
        np.subtract(*reversed(curve.interval(t, level, kind)))
        for level, kind in ((0.5, "noise"), (0.95, "noise"), (0.95, "total"))
    ]
    assert (np.diff(widths, axis=0) > 0).all()
    low, high = curve.restricted_mean_interval(8, 0.95, "total")
    assert low < curve.restricted_mean(8) < high
    assert 0.1 < high - low < 1
    with pytest.raises(InvalidParameter, match="of must name"):
        curve.interval(1.0, 0.9, "noise", of="median")
    with pytest.raises(InvalidParameter, match="hides how many are at risk"):
        curve_of(np.minimum(trial[0], 5), trial[1], mu=1).interval(9.0, 0.9, "noise")


def test_an_interval_of_the_median_has_ends_where_the_band_of_the_curve_crosses_it(trial):
    curve = curve_of(*trial, mu=1)
    low, high = curve.quantile_interval(0.5, 0.95, "total")
    assert low < curve.median < high
    ends = [float(side) for side in curve.interval([low, high], 0.95, "total")[0:1][0]]
    assert ends[0] == pytest.approx(0.5, abs=0.005)
    # A share that is not reached before the end has no upper end.
    low, high = curve.quantile_interval([0.3, 0.81], 0.95, "total")
    assert high[1] == np.inf
    assert (low <= high).all()


def covered(number, mu, runs, first=0):
    """Return how often total intervals hold: band, S(3), median; and those for noise alone."""
    found = np.zeros(4, int)
    for seed in range(first, first + runs):
        rng = np.random.default_rng(seed)
        lives, follow_up = rng.exponential(6, number), rng.uniform(2, 14, number)
        data = np.minimum(lives, follow_up), lives <= follow_up
        curve = curve_of(*data, mu=mu, seed=seed, bandwidth=0.2)
        band = curve.band(0.95, "total", generator=rng, repetitions=200)
        exact, median = np.exp(-band.x / 6), 6 * np.log(2)
        found[0] += bool(((band.lower <= exact) & (exact <= band.upper)).all())
        low, high = curve.interval(3.0, 0.95, "total")
        found[1] += bool(low <= np.exp(-0.5) <= high)
        low, high = curve.quantile_interval(0.5, 0.95, "total")
        found[2] += bool(low <= median <= high)
        low, high = curve.interval(3.0, 0.95, "noise")
        found[3] += bool(low <= kaplan_meier(*data, [3.0])[0] <= high)
    return found


def test_total_intervals_hold_and_those_for_noise_alone_do_not_hold_the_population():
    """Of 30 at 95 %: fewer than 24 hold with probability 1e-4. The twin holds far less often."""
    assert (covered(300, 1, 30) >= 24).all()
    held = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        lives, follow_up = rng.exponential(6, 300), rng.uniform(2, 14, 300)
        curve = curve_of(np.minimum(lives, follow_up), lives <= follow_up, mu=1, seed=seed)
        low, high = curve.interval(3.0, 0.95, "noise")
        held += bool(low <= np.exp(-0.5) <= high)
    assert held < 20


@pytest.mark.soak
@pytest.mark.parametrize(("number", "mu"), [(150, 1), (300, 0.5), (800, 0.5), (3000, 0.25)])
def test_every_interval_holds_as_often_as_it_says(number, mu):
    """Of 300 at 95 %: fewer than 270 hold with probability 1e-4; seeded."""
    assert (covered(number, mu, 300) >= 270).all()


# -- groups ------------------------------------------------------------------------------------


def groups(seed, *, number, mu, ratio=1.0, neighbors="add_remove"):
    """Release the curves of two groups that are followed up for different times."""
    rng, found = np.random.default_rng(seed), []
    for place, (mean, ends) in enumerate(((6, (2, 14)), (6 / ratio, (1, 12)))):
        lives, follow_up = rng.exponential(mean, number), rng.uniform(*ends, number)
        data = np.minimum(lives, follow_up), lives <= follow_up
        found.append(
            curve_of(*data, mu=mu, seed=2 * seed + place, bandwidth=0.2, neighbors=neighbors)
        )
    return found


def test_the_log_rank_test_is_that_of_mantel_without_noise():
    curves = groups(3, number=400, mu=None, ratio=1.4)
    rng = np.random.default_rng(3)
    data = []
    for mean, ends in ((6, (2, 14)), (6 / 1.4, (1, 12))):
        lives, follow_up = rng.exponential(mean, 400), rng.uniform(*ends, 400)
        data.append((np.minimum(lives, follow_up), lives <= follow_up))
    excess = variance = 0.0
    for t in np.sort(np.concatenate([times[seen & (times < 9.9)] for times, seen in data])):
        first, second = (np.sum(times >= t) for times, _ in data)
        share = first / (first + second)
        excess += (t in data[0][0]) - share
        variance += share * (1 - share)
    found = functional.logrank(*curves)
    assert found.statistic == pytest.approx(excess**2 / variance, rel=0.1)
    assert found.excess[0] == pytest.approx(excess, abs=1.5)
    assert sum(found.excess) == pytest.approx(0, abs=1e-6)
    assert found.degrees == 1
    assert "2 groups" in found.of


@pytest.mark.parametrize(
    "neighbors", ["add_remove", pytest.param("replace_one", marks=pytest.mark.soak)]
)
def test_groups_of_equal_hazards_are_told_apart_as_seldom_as_it_says(neighbors):
    """Of 60 pairs at 5 %, more than 10 are rejected with probability 1e-4.

    Their mean is above 1.75, that of a chi-squared law being 1, as seldom. The broken twin, whose
    variance lacks the noise, has a mean that is far above.
    """
    tests = [
        functional.logrank(*groups(seed, number=200, mu=0.1, neighbors=neighbors))
        for seed in range(60)
    ]
    assert sum(test.pvalue < 0.05 for test in tests) <= 10
    assert np.mean([test.statistic for test in tests]) < 1.75
    # About 130 events of each group: the variance without noise is a quarter of all.
    assert np.mean([test.excess[0] ** 2 / 65 for test in tests]) > 2


def test_groups_of_other_hazards_are_told_apart():
    """One has twice the hazard of the other; 300 each at mu = 1 leave hardly a doubt."""
    rejected = [functional.logrank(*groups(s, number=300, mu=1, ratio=2)).pvalue for s in range(5)]
    assert max(rejected) < 0.01


@pytest.mark.soak
@pytest.mark.parametrize(("number", "mu"), [(75, 0.5), (150, 0.25), (700, 1), (1500, 0.25)])
def test_the_size_of_the_log_rank_test(number, mu):
    """Of 600 pairs at 5 %, more than 52 are rejected with probability 1e-4."""
    found = [functional.logrank(*groups(s, number=number, mu=mu)).pvalue for s in range(600)]
    assert 12 <= sum(p < 0.05 for p in found) <= 52


def test_a_third_group_is_one_more_degree_and_curves_that_cannot_be_compared_are_refused(trial):
    first, second = groups(1, number=400, mu=1)
    third = curve_of(*trial, mu=1, bandwidth=0.2)
    assert functional.logrank(first, second, third).degrees == 2
    for other in (first, curve_of(*trial, mu=1, horizon=9)):
        with pytest.raises(InvalidParameter, match="disjoint people"):
            functional.logrank(first, other)


# -- several causes ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def causes():
    """Draw lives that end by one of two causes, of hazards 1/8 and 1/16, some of them cut short."""
    rng = np.random.default_rng(5)
    lives = np.array([rng.exponential(8, 1500), rng.exponential(16, 1500)])
    follow_up = rng.uniform(2, 14, 1500)
    cause = np.where(lives.min(axis=0) <= follow_up, 1 + lives.argmin(axis=0), 0)
    return np.minimum(lives.min(axis=0), follow_up), cause


def aalen_johansen(times, cause, which, at):
    """Return the cumulative incidence from its definition."""
    found = []
    for t in at:
        left, total = 1.0, 0.0
        for u in np.unique(times[(cause > 0) & (times <= t)]):
            here, risk = times == u, np.sum(times >= u)
            total += left * np.sum(here & (cause == which)) / risk
            left *= 1 - np.sum(here & (cause > 0)) / risk
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize(
    "neighbors", ["add_remove", pytest.param("replace_one", marks=pytest.mark.soak)]
)
def test_without_noise_incidences_are_those_of_aalen_and_johansen(causes, neighbors):
    curve = curve_of(*causes, mu=None, causes=2, neighbors=neighbors)
    at = np.linspace(0, 9.5, 30)
    for which in (1, 2):
        exact = aalen_johansen(*causes, which, at)
        np.testing.assert_allclose(curve.cumulative_incidence(at, which), exact, atol=0.005)
    # The broken twin takes the other cause for a censoring.
    times, cause = causes
    alone = curve_of(times, cause == 1, mu=None, neighbors=neighbors)
    assert np.max(1 - alone(at) - aalen_johansen(*causes, 1, at)) > 0.08


def test_incidences_and_survival_add_to_one_whatever_the_noise(causes):
    for mu in (0.1, 1):
        curve = curve_of(*causes, mu=mu, causes=2)
        t = np.linspace(0, curve.until, 50)
        parts = [curve.cumulative_incidence(t, cause) for cause in (1, 2)]
        np.testing.assert_allclose(curve(t) + sum(parts), 1, atol=1e-12)
        assert all((np.diff(part) >= 0).all() for part in parts)


def test_a_band_of_an_incidence_holds_it():
    """Of 25 at 95 %: fewer than 19 hold with probability 2e-4."""
    held, at = 0, np.linspace(0, 8, 30)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        lives = np.array([rng.exponential(8, 500), rng.exponential(16, 500)])
        ends = rng.uniform(2, 14, 500)
        cause = np.where(lives.min(axis=0) <= ends, 1 + lives.argmin(axis=0), 0)
        curve = curve_of(
            np.minimum(lives.min(axis=0), ends), cause, mu=1, seed=seed, causes=2, bandwidth=0.2
        )
        band = curve.band(
            0.95, "total", generator=rng, repetitions=200, of="cumulative_incidence", cause=2
        )
        exact = (1 - np.exp(-at * 3 / 16)) / 3
        low, high = (np.interp(at, band.x, side) for side in (band.lower, band.upper))
        held += bool(((low <= exact + 1e-9) & (exact <= high + 1e-9))[at <= curve.until].all())
    assert held >= 19


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_neighbour_moves_the_integers_of_three_causes_further_than_stated(neighbors):
    """Every pair of records on a few times, by each cause or none; the bound is attained."""
    places = [0.0, 0.3, 5.0, 9.99, 10.0, 11.0, -1.0, np.nan]
    records = [*itertools.product(places, [0, 1, 2, 3, 7, -1, np.nan])]

    def compute(t, e):
        return ask(np.array([t]), np.array([e]), neighbors=neighbors, causes=3)

    question = compute(1.0, 1.0)
    sums = [compute(float(t), float(e)).compute() for t, e in records]
    if neighbors == "add_remove":
        moves = sums
    else:
        moves = [a - b for a, b in itertools.combinations(sums, 2)]
    squares = [sum(int(x) ** 2 for x in move) for move in moves]
    assert max(squares) <= question.sensitivity.l2_squared <= max(squares) * 1.0001
    assert max(int(np.max(np.abs(move))) for move in moves) <= question.sensitivity.largest


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_noise_does_not_grow_with_the_number_of_causes(neighbors):
    one, many = (
        ask(np.ones(3), np.ones(3), neighbors=neighbors, causes=causes).sensitivity.l2_squared
        for causes in (1, 9)
    )
    assert 1 <= many / one <= 1.0001


def test_groups_are_compared_by_one_cause_and_records_keep_how_many_there_are(causes):
    times, cause = causes
    half = np.arange(times.size) % 2 == 0
    first, second = (curve_of(times[g], cause[g], mu=1, causes=2) for g in (half, ~half))
    assert functional.logrank(first, second, cause=2).pvalue > 1e-4
    assert functional.read(json.loads(json.dumps(first.to_json()))) == first
    for wrong in (0, 3):
        with pytest.raises(InvalidParameter, match="cause"):
            first.cumulative_incidence(1.0, wrong)
    with pytest.raises(InvalidParameter, match="causes"):
        ask(times, cause, causes=17)
