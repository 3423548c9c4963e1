"""The band is proved and holds; the estimates are called estimates and cannot be charged."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import MIRONOV, filter_for, rdp_epsilon
from neyman.accounting._central_limit import central_limit, central_limit_band
from neyman.accounting._edgeworth import edgeworth, loss_cumulants
from neyman.accounting._estimate import Estimate
from neyman.accounting._functionals import _ANY, _by_profile, functionals
from neyman.accounting._training import dp_sgd
from neyman.curves import (
    Pair,
    TradeOff,
    approx_dp,
    best,
    bounded_range,
    chain,
    discrete,
    discrete_laplace,
    gdp,
    identity,
    laplace,
    poisson,
    pure_dp,
    subsample,
    symmetric_hull,
    worst,
)
from neyman.curves._statements._real_line_constructors import zcdp
from neyman.errors import InvalidParameter, NotCertified, UnsupportedComposition
from neyman.numerics import Interval

TABLE = [
    (gdp(1), (0.5, 1.25, None, 1.59576912160573)),
    (laplace(0.5), (0.106530659712633, 0.217346701436833, 0.106619801263956, 0.105024628296521)),
    (laplace(1), (0.367879441171442, 0.792723352971346, 0.766173460520154, 0.699347654385469)),
    (laplace(2), (1.13533528323661, 2.9173177341071, 5.53809618203247, 3.60012346719042)),
    (pure_dp(0.7), (0.7 * math.tanh(0.35), 0.49, 0.343, None)),
]


@pytest.mark.shows("S1.22")
@pytest.mark.parametrize(("curve", "expected"), TABLE, ids=str)
def test_functionals(curve, expected):
    found = functionals(curve.remove)
    assert found.certified
    values = (found.kl, found.kappa2, found.kappa3, found.kappa3_bar)
    for answer, reference in zip(values, expected, strict=True):
        if reference is not None:
            assert answer.value == pytest.approx(reference, rel=1e-13)
            assert answer.lower * (1 - 1e-14) <= reference <= answer.upper * (1 + 1e-14)
    spread = found.kappa2.value - found.kl.value**2
    assert found.variance.value == pytest.approx(spread, rel=1e-12)


NAMES = ("kl", "kappa2", "kappa3", "kappa3_bar", "variance")


@pytest.mark.shows("S1.22")
@pytest.mark.parametrize(
    "curve", [gdp(1e-6), gdp(0.3), gdp(5), gdp(30), laplace(0.01), laplace(9), pure_dp(3)], ids=str
)
def test_the_profile_gives_the_closed_forms(curve):
    closed, found = functionals(curve.remove), _by_profile(curve.remove, _ANY, _ANY)
    assert found.certified
    for name in NAMES:
        known, answer = getattr(closed, name), getattr(found, name)
        assert answer.lower <= known.upper
        assert known.lower <= answer.upper
        assert answer.upper - answer.lower <= 3e-4 * answer.upper


@pytest.mark.shows("S1.22")
def test_a_broken_twin_leaves_the_bracket():
    """The brackets tell a Gaussian from one that is a thousandth off."""
    found = _by_profile(gdp(0.3).remove, _ANY, _ANY)
    other = functionals(gdp(0.3003).remove)
    for name in NAMES:
        assert getattr(found, name).upper < getattr(other, name).lower


def moments_of_table(p, q):
    """Return the moments of the loss of two discrete laws, by their sums."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    loss = np.log(q[p > 0] / p[p > 0])
    p = p[p > 0]
    kl = -np.sum(p * loss)
    power = [np.sum(p * np.abs(loss) ** k) for k in (2, 3)]
    return kl, *power, np.sum(p * np.abs(loss + kl) ** 3), power[0] - kl**2


@pytest.mark.parametrize(
    ("p", "q"),
    [([0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.3, 0.2]), ([0.2, 0.8], [0.4, 0.6])],
)
def test_discrete_laws(p, q):
    f = discrete(p, q)
    # Q's own mass is infinite for Q alone: the moments under P are finite.
    for answer, known in zip(told(functionals(f.remove)), moments_of_table(p, q), strict=True):
        assert answer.lower <= known * (1 + 1e-13)
        assert known * (1 - 1e-13) <= answer.upper
        assert answer.upper - answer.lower <= 1e-6 * known
    swapped = told(functionals(f.remove.swap()))
    assert all((answer.lower == math.inf) == (0.0 in p) for answer in swapped)


def told(found):
    return [getattr(found, name) for name in NAMES]


SAMPLE = poisson(gdp(1), 0.1)


@pytest.mark.parametrize(
    "pair",
    [
        bounded_range(1).remove,
        SAMPLE.remove,
        worst(gdp(1), pure_dp(1)).remove,
        subsample(laplace(1), 0.5).remove,
        *(
            pytest.param(pair, marks=pytest.mark.soak)
            for pair in (
                SAMPLE.add,
                symmetric_hull(SAMPLE).remove,
                best(gdp(1), pure_dp(1)).remove,
                chain(laplace(0.5), pure_dp(1)).remove,
            )
        ),
    ],
    ids=str,
)
def test_compositions_hulls_samples_and_chains(pair):
    """By the derivative of the curve, l(x) = log |f'(x)|, summed over a fine grid."""
    # Even in the odds: fine where the loss is large.
    t = np.linspace(-16, 16, 4001)
    at = np.concatenate([[0.0], 1 / (1 + np.exp(-t)), [1.0]])
    middle = pair.beta_bracket(at)
    beta = (middle.lower + middle.upper) / 2
    width = np.diff(at)
    with np.errstate(divide="ignore"):
        loss = np.log(np.maximum(-np.diff(beta) / width, 1e-300))
    keep = (width > 1e-9) & (loss > -100)
    kl = -np.sum((loss * width)[keep])
    found = functionals(pair)
    assert found.certified
    assert found.finite
    assert found.kl.value == pytest.approx(kl, rel=2e-3, abs=1e-6)
    for name, k, c in (("kappa2", 2, 0), ("kappa3", 3, 0), ("kappa3_bar", 3, kl)):
        seen = np.sum((np.abs(loss + c) ** k * width)[keep])
        assert getattr(found, name).value == pytest.approx(seen, rel=2e-3, abs=1e-7), (pair, k)


def test_a_composition_adds_its_factors():
    found, one = functionals((pure_dp(0.1) ** 30).remove), functionals(pure_dp(0.1).remove)
    assert found.kl.value == pytest.approx(30 * one.kl.value, rel=1e-12)
    assert found.variance.value == pytest.approx(30 * one.variance.value, rel=1e-12)
    k = np.arange(31)
    log = np.asarray([math.lgamma(31) - math.lgamma(j + 1) - math.lgamma(31 - j) for j in k])
    mass = np.exp(log + k * 0.1 - 30 * math.log1p(math.exp(0.1)))
    loss = 0.1 * (30 - 2 * k)
    third = np.sum(mass * np.abs(loss) ** 3)
    assert found.kappa3.lower <= third * (1 + 1e-12)
    assert third * (1 - 1e-12) <= found.kappa3.upper
    assert found.kappa3.upper - found.kappa3.lower <= 1e-6 * third


@pytest.mark.parametrize(
    "curve", [approx_dp(0, 1e-9), approx_dp(1, 0.1), gdp(1) @ approx_dp(0, 0.1)]
)
def test_what_betrays_the_dataset_has_infinite_moments(curve):
    found = functionals(curve.remove)
    assert not found.finite
    assert all(answer.lower == answer.value == math.inf for answer in told(found)[:4])


def exact_composition(epsilon, n):
    """Return the trade-off function of f_{epsilon,0}^n at its break points."""
    log = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    up = np.arange(n + 1)
    p = np.exp(log - n * np.log1p(np.exp(epsilon)) + epsilon * (n - up))
    q = p[::-1]
    return np.append(0.0, np.cumsum(p[::-1])), 1 - np.append(0.0, np.cumsum(q[::-1]))


def test_the_band_of_pure_dp():
    band = central_limit_band([(pure_dp(0.1), 100)])
    assert band.gamma == pytest.approx(0.0476, abs=5e-5)
    # The paper's, for steps that may differ: with one other step there is no better one.
    unlike = central_limit_band([(pure_dp(0.1), 99), (laplace(0.1), 1)])
    assert unlike.gamma == pytest.approx(0.0562, abs=5e-4)
    alphas, betas = exact_composition(0.1, 100)
    inside = np.clip(alphas, 0, 1)
    lower, upper = band.beta(inside)
    assert np.all(lower <= betas + 1e-12)
    assert np.all(betas <= upper + 1e-12)
    # The band says something: it is about 2 gamma wide where f is steep.
    at = band.beta(0.3)
    assert 0.1 < at.upper - at.lower < 0.3
    grid = np.linspace(0, 1, 20_001)
    error = np.max(np.abs(np.interp(grid, inside, betas) - gdp(1).beta(grid)))
    assert error == pytest.approx(0.00125, abs=2e-5)
    assert central_limit([(pure_dp(0.1), 100)]).mu.value == pytest.approx(1.00042, abs=1e-5)


@pytest.mark.parametrize("n", [40, 400, 4000])
def test_the_band_of_gaussians_holds_the_gaussian(n):
    band = central_limit_band([(gdp(0.5), n // 2), (gdp(0.1), n // 2)])
    exact = gdp(0.5) ** (n // 2) @ gdp(0.1) ** (n // 2)
    alphas = np.linspace(0, 1, 101)
    lower, upper = band.beta(alphas)
    assert np.all(lower <= exact.beta(alphas))
    assert np.all(exact.beta_bracket(alphas).upper <= upper + 1e-15)
    assert band.mu[0] <= exact.mu() <= band.mu[1]


def test_the_band_closes():
    wide, narrow = (central_limit_band([(laplace(0.1), n)]).gamma for n in (100, 10_000))
    assert narrow == pytest.approx(wide / 10, rel=1e-9)


# Symmetric, and with mass at infinity that is no factor.
BETRAYED = discrete([0.5, 0.5, 0], [0, 0.5, 0.5])


@pytest.mark.shows("S1.23", "e1.3")
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([(BETRAYED, 100)], "a band needs a finite kappa3"),
        ([(pure_dp(2), 1)], "not below 1/2"),
        (
            [(discrete([0.5, 0.3, 0.2, 0], [0.2, 0.3, 0.3, 0.2]).remove, 90)],
            "a band needs a finite kappa3",
        ),
        ([], "nothing is composed"),
        ([(identity(), 5)], "nothing is composed"),
        ([(gdp(1), -1)], "a whole number"),
        (
            [(TradeOff(gdp(1).remove, laplace(1).remove), 100)],
            "the two directions of",
        ),
        ([(poisson(gdp(1), 0.1), 100)], "Write f.remove or f.add"),
        ([(0.5, 100)], "a guarantee or one direction of it"),
    ],
)
def test_what_the_theorem_does_not_cover_is_refused(steps, words):
    with pytest.raises(InvalidParameter, match=words):
        central_limit_band(steps)


def test_a_band_is_asked_within_its_range():
    band = central_limit_band([(pure_dp(0.1), 100)])
    with pytest.raises(InvalidParameter, match="alpha must be"):
        band.beta(1.5)
    with pytest.raises(InvalidParameter, match="alpha must be"):
        band.beta(math.nan)


# Noise multiplier, sampling probability and steps: from nearly symmetric to one large loss in 250.
TRAINED = [
    (sigma, q, steps)
    for sigma, counts in (
        ("0.5", (5000, 300, 5000)),
        ("1.1", (300, 5000, 300)),
        ("4", (60, 9, 5000)),
    )
    for q, steps in zip(("0.004", "0.1", "0.8"), counts, strict=True)
]


def sampled(sigma, q, steps):
    """Return both directions of a step, and of all of them."""
    step = poisson(gdp(1 / Fraction(sigma)), Fraction(q))
    return [(side(step), side(step**steps)) for side in (lambda f: f.remove, lambda f: f.add)]


def band_of(one, steps):
    """Return the band, or None where it would say nothing."""
    try:
        return central_limit_band([(one, steps)])
    except InvalidParameter as refused:
        if "not below 1/2" not in str(refused):
            raise
        return None


def leaves(band, alphas, exact):
    """Whether the exact curve is proved to leave the band, anywhere."""
    lower, upper = band.beta(alphas)
    return bool(np.any(exact.upper < lower) or np.any(upper < exact.lower))


@pytest.mark.shows("S1.23")
def test_the_band_of_noisy_descent_holds_each_direction_of_it():
    alphas = np.concatenate([np.geomspace(1e-9, 0.01, 12), np.linspace(0.02, 1, 25)])
    answered = 0
    for steps in TRAINED:
        for one, whole in sampled(*steps):
            band = band_of(one, steps[2])
            if band is not None:
                answered += 1
                assert not leaves(band, alphas, whole.beta_bracket(alphas)), steps
                assert band.mu[0] <= band.mu[1] <= band.mu[0] * (1 + 1e-3)
    assert answered >= 15


@pytest.mark.shows("S1.23")
def test_the_band_of_two_phases_that_can_fail_holds_each_direction():
    first, second = poisson(gdp(1), 0.01), poisson(laplace(0.3), 0.2) @ approx_dp(0, 1e-4)
    alphas = np.asarray([1e-6, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99])
    whole = first**2000 @ second**900
    bands = []
    for side in (lambda f: f.remove, lambda f: f.add):
        bands.append(central_limit_band([(side(first), 2000), (side(second), 900)]))
        assert not leaves(bands[-1], alphas, side(whole).beta_bracket(alphas))
        lost = 1 - (1 - 1e-4) ** 900
        assert bands[-1].failure == pytest.approx((lost, lost), rel=1e-9)
    # One is the inverse of the other: the two laws change places, and nothing else does.
    spread = [sum(band.ratio) / 2 for band in bands]
    assert spread[0] * spread[1] == pytest.approx(1, rel=1e-4)
    assert bands[0].mu[0] == pytest.approx(bands[1].mu[0] / spread[1], rel=1e-4)
    assert bands[0].gamma == pytest.approx(bands[1].gamma, rel=1e-4)


@pytest.mark.shows("S1.23")
@pytest.mark.parametrize("steps", [("0.5", "0.01", 3000), ("0.6", "0.05", 200)], ids=str)
def test_the_formulas_for_symmetric_steps_and_a_small_third_moment_are_seen(steps):
    """A quarter of the band still holds here, and tells the broken ones."""
    (one, whole), _ = sampled(*steps)
    band, alphas = central_limit_band([(one, steps[2])]), np.linspace(0.01, 0.99, 99)
    exact, narrow = whole.beta_bracket(alphas), replace(band, gamma=band.gamma / 4)
    assert not leaves(narrow, alphas, exact)
    limit = central_limit([(poisson(gdp(1 / Fraction(steps[0])), Fraction(steps[1])), steps[2])])
    for broken in (
        replace(narrow, mu=(limit.mu.value, limit.mu.value)),
        replace(narrow, ratio=(1.0, 1.0)),
        replace(narrow, ratio=(1 / band.ratio[1], 1 / band.ratio[0])),
        replace(band, gamma=band.gamma / 12),
    ):
        assert leaves(broken, alphas, exact)


def test_moments_under_both_laws_of_a_sampled_gaussian_are_their_integrals():
    for sigma, q, _ in TRAINED[::2]:
        x = np.linspace(-40, 44, 400_001)
        p = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        shift, rate = 1 / float(sigma), float(q)
        with np.errstate(divide="ignore"):
            loss = np.logaddexp(np.log1p(-rate), math.log(rate) + shift * x - shift**2 / 2)
        both = poisson(gdp(1 / Fraction(sigma)), Fraction(q))
        for one, mass in ((both.remove, p), (both.add, p * np.exp(loss))):
            found = functionals(one)
            mean = np.trapezoid(mass * loss, x)
            known = [abs(mean)]
            known += [np.trapezoid(mass * np.abs(loss - mean) ** k, x) for k in (2, 3)]
            answers = found.kl, found.variance, found.kappa3_bar
            for answer, truth in zip(answers, known, strict=True):
                assert answer.lower <= truth * (1 + 1e-8), (sigma, q)
                assert truth * (1 - 1e-8) <= answer.upper, (sigma, q)


def convolved(p, q, n):
    """Return f of n runs of two laws without a common symmetry, at its corners, by sums alone."""
    steps, losses, mass = np.log(q / p), np.zeros(1), np.ones(1)
    for _ in range(n):
        sums = np.round((losses[:, None] + steps).ravel(), 10)
        losses, place = np.unique(sums, return_inverse=True)
        mass = np.bincount(place, (mass[:, None] * p).ravel())
    order = np.argsort(-losses)
    alpha, power = np.cumsum(mass[order]), np.cumsum((mass * np.exp(losses))[order])
    return np.append(0.0, alpha), 1 - np.append(0.0, power)


@pytest.mark.shows("S1.23")
def test_the_band_of_few_skewed_steps_holds_and_one_of_a_third_moment_too_small_does_not():
    rng = np.random.default_rng(11)
    alphas, near, asked = np.linspace(0, 1, 401), 0.0, 0
    skewed = [[0.292, 0.6535, 0.0545], [0.0002, 0.5076, 0.4922]], 2
    drawn = [(rng.dirichlet(np.ones(3), 2), int(rng.choice([2, 3, 5, 13]))) for _ in range(25)]
    for laws, n in [skewed, *drawn]:
        # Fractions of 10^6 that sum to 1: the pair and the sums are of the same laws.
        counts = np.maximum(np.rint(np.asarray(laws) * 1e6), 1).astype(int)
        counts[:, 0] += 10**6 - counts.sum(axis=1)
        pair = discrete(*([Fraction(int(k), 10**6) for k in row] for row in counts)).remove
        band = band_of(pair, n)
        if band is None:
            continue
        asked += 1
        beta = np.interp(alphas, *convolved(*(counts / 1e6), n))
        exact = Interval(beta - 1e-8, beta + 1e-8)
        assert not leaves(band, alphas, exact), (laws, n)
        while leaves(replace(band, gamma=band.gamma * near), alphas, exact):
            near += 0.01
    assert asked >= 6
    # So a band that is a sixth as wide would be left: of this third moment by less than a sixth.
    assert 0.15 < near < 1


class Estimated(Pair):
    """A Gaussian that proves nothing."""

    __slots__ = ()
    kind = "tests.estimated"
    mirrored = True

    def parameters(self):
        return {}

    def log_tails(self, t, *, closed=False):
        return gdp(1).remove.log_tails(t, closed=closed)

    def cumulant(self, s):
        return gdp(1).remove.cumulant(s)


def test_estimated_moments_make_no_band():
    pair = Estimated()
    assert functionals(pair).kl.value == pytest.approx(0.5, rel=1e-5)
    assert functionals(pair).kl.method == "estimate"
    with pytest.raises(NotCertified, match="only estimated"):
        central_limit_band([(TradeOff(pair, pair), 100)])
    assert central_limit([(TradeOff(pair, pair), 4)]).mu.value == pytest.approx(2, rel=1e-5)


def test_a_statement_without_a_pair_has_no_moments():
    for ask in (central_limit_band, central_limit, edgeworth):
        with pytest.raises(UnsupportedComposition, match="no pair of laws"):
            ask([(zcdp(0.5), 10)])


@pytest.mark.shows("e4.2")
@pytest.mark.parametrize("curve", [gdp(0.2), laplace(1), pure_dp(0.1), pure_dp(4)], ids=str)
def test_cumulants_of_the_loss(curve):
    moments = functionals(curve.remove)
    first, second, third, _ = loss_cumulants(curve.remove, 0.0)
    assert -first == pytest.approx(moments.kl.value, rel=1e-10)
    assert second == pytest.approx(moments.variance.value, rel=1e-10)
    mirrored = loss_cumulants(curve.remove, 1.0)
    assert mirrored[0] == pytest.approx(-first, rel=1e-10)
    assert mirrored[2] == pytest.approx(-third, rel=1e-6, abs=1e-9)


def test_cumulants_of_a_coin():
    e = 0.6
    t = math.tanh(e / 2)
    s = 1 - t * t
    known = [-e * t, e**2 * s, 2 * e**3 * t * s, e**4 * s * (6 * t * t - 2)]
    assert loss_cumulants(pure_dp(e).remove, 0.0) == pytest.approx(known, rel=1e-10)


def _step(noise, probability):
    return dp_sgd(noise_multiplier=noise, sampling_probability=probability, steps=1)


@pytest.mark.shows("S1.24")
@pytest.mark.parametrize(
    ("curve", "n", "times"),
    [
        (laplace(0.5), 30, 8),
        (_step(1, 0.01), 1000, 8),
        (_step(1, 0.01), 10_000, 8),
        (_step(0.8, 0.02), 500, 5),
        (poisson(laplace(1), 0.1), 100, 4),
    ],
    ids=str,
)
def test_edgeworth_is_nearer_than_the_limit(curve, n, times):
    """Its largest error over the views is some times smaller; the composition itself is exact."""
    whole, expansion = (curve**n).remove, edgeworth([(curve, n)])
    limit = gdp(central_limit([(curve, n)]).mu.value).remove
    views = [
        (np.linspace(0, 2, 9), whole.delta, expansion.delta, limit.delta),
        (np.linspace(0.05, 0.95, 10), whole.beta, expansion.beta, limit.beta),
    ]
    for at, exact, ours, gaussian in views:
        known = exact(at)
        error = np.abs(np.array([ours(float(x)).value for x in at]) - known)
        assert times * np.max(error) < np.max(np.abs(gaussian(at) - known))


def test_edgeworth_of_a_gaussian_is_the_gaussian():
    exact = gdp(1).beta(0.2)
    assert edgeworth([(gdp(0.1), 100)]).beta(0.2).value == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("curve", [_step(1, 0.01), laplace(1e-6), laplace(8)], ids=str)
def test_the_cumulants_are_those_of_the_renyi_divergences(curve):
    """K'(1) = E_Q L = D_1, and K(a) = (a - 1) D_a."""
    first, second, third, fourth = loss_cumulants(curve.remove, 1.0)
    assert first == pytest.approx(curve.remove.renyi(1), rel=1e-6)
    h = 1e-3 / first**0.5
    series = first + second * h / 2 + third * h**2 / 6 + fourth * h**3 / 24
    assert series == pytest.approx(curve.remove.renyi(1 + h), rel=1e-6)


def test_no_radius_is_far_from_what_a_step_needs():
    """Far out a cumulant of a mixture takes a thousand times as long: it is not asked there."""
    step, asked = _step(1, 0.01).remove, []

    class Watched:
        log_singular = step.log_singular

        def cumulant(self, s):
            asked.append(float(np.max(np.abs(s))))
            return step.cumulant(s)

    assert loss_cumulants(Watched(), 1.0) == pytest.approx(loss_cumulants(step, 1.0))
    assert len(asked) < 10
    assert max(asked) < 40


def test_edgeworth_refuses_what_has_no_expansion():
    with pytest.raises(InvalidParameter, match=r"Factor f_\{0,delta\} out"):
        edgeworth([(gdp(1) @ approx_dp(0, 1e-6), 10)])
    with pytest.raises(InvalidParameter, match="nothing is composed"):
        edgeworth([])
    with pytest.raises(InvalidParameter, match="alpha must be"):
        edgeworth([(gdp(1), 1)]).beta(0.0)


def test_failures_are_factored_out_of_the_band():
    band = central_limit_band([(approx_dp(0.1, 1e-3), 100)])
    core = central_limit_band([(pure_dp(0.1), 100)])
    assert (band.mu, band.gamma) == (core.mu, core.gamma)
    lost = 1 - (1 - 1e-3) ** 100
    assert band.failure == pytest.approx((lost, lost), rel=1e-12)
    exact = approx_dp(0.1, 1e-3) ** 100
    alphas = np.linspace(0, 1, 41)
    lower, upper = band.beta(alphas)
    known = exact.beta(alphas, bracket=True)
    assert np.all(lower <= known.upper)
    assert np.all(known.lower <= upper + 1e-15)
    at = band.beta(0.3)
    assert at.lower == pytest.approx((1 - lost) * core.beta(0.3 / (1 - lost)).lower, rel=1e-9)


@pytest.mark.shows("S1.23")
def test_the_band_of_many_kinds_of_steps_holds_the_composition():
    steps = [(laplace(0.1), 200), (bounded_range(0.1), 300), (discrete_laplace(0.1), 100)]
    band = central_limit_band(steps)
    whole = laplace(0.1) ** 200 @ bounded_range(0.1) ** 300 @ discrete_laplace(0.1) ** 100
    alphas = np.asarray([0.05, 0.2, 0.5, 0.9])
    lower, upper = band.beta(alphas)
    known = whole.beta(alphas, bracket=True)
    assert np.all(lower <= known.upper)
    assert np.all(known.lower <= upper)
    taken_apart = central_limit_band([(laplace(0.1) ** 200, 1), *steps[1:]])
    assert taken_apart.gamma == pytest.approx(band.gamma, rel=1e-12)


def test_the_limit_of_approximate_steps():
    """f_{epsilon,delta}^n tends to G_mu and f_{0,1 - e^-sum delta}: near, and not a bound."""
    steps = [(approx_dp(0.1, 1e-3), 100)]
    limit = central_limit(steps)
    assert limit.failure.value == pytest.approx(1 - math.exp(-0.1), rel=1e-12)
    assert limit.mu.value == pytest.approx(1, rel=1e-3)
    exact = approx_dp(0.1, 1e-3) ** 100
    grid = np.linspace(0.01, 0.99, 99)
    off = [limit.beta(a).value - float(exact.beta(a)) for a in grid]
    assert max(np.abs(off)) < 0.003
    assert min(off) < 0 < max(off)
    assert limit.largest_kl == pytest.approx(0.1 * math.tanh(0.05), rel=1e-9)
    assert limit.kappa3 == pytest.approx(100 * 0.1**3, rel=1e-9)


def test_the_limit_is_an_estimate_that_cannot_be_charged():
    limit = central_limit([(approx_dp(0.1, 1e-3), 100)])
    assert limit.is_bound is False
    assert isinstance(limit.delta(1), Estimate)
    assert str(limit).startswith("estimate G_1.0004")
    with pytest.raises(NotCertified, match="cannot be charged"):
        filter_for(gdp(1)).cost(limit)
    with pytest.raises(TypeError):
        gdp(1) @ limit
    with pytest.raises(InvalidParameter, match="finite kappa2"):
        central_limit([(BETRAYED, 10)])


def test_the_limit_of_subsampled_gaussians():
    """C_p(G_(1/sigma))^T at p sqrt(T) = c; Dong, Roth and Su, corollary 5.4."""
    c, share = 0.5, Fraction(1, 10_000)
    step = subsample(gdp(1), share)
    seen = central_limit([(step, int((c / float(share)) ** 2))]).mu.value
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    known = math.sqrt(2) * c * math.sqrt(math.e * phi(1.5) + 3 * phi(-0.5) - 2)
    assert seen == pytest.approx(known, rel=1e-3)


# Noise multiplier, epochs; as printed: epsilon of the moments accountant, mu, epsilon of the limit.
MNIST = [
    ("1.3", 15, 1.19, 0.23, 0.83),
    ("0.7", 45, 7.10, 1.13, 5.07),
    ("0.5", 100, 32.40, 4.78, 31.12),
    *(
        pytest.param(*row, marks=pytest.mark.soak)
        for row in (
            ("1.1", 60, 3.01, 0.57, 2.32),
            ("0.6", 62, 13.27, 2.00, 9.98),
            ("0.55", 68, 18.72, 2.76, 14.98),
        )
    ),
]


@pytest.mark.shows("S1.2", "S1.24")
@pytest.mark.parametrize(("noise", "epochs", "moments", "mu", "epsilon"), MNIST)
def test_the_table_of_noisy_descent_on_mnist(noise, epochs, moments, mu, epsilon):
    """Bu, Dong, Long and Su (2020): 256 of 60,000 images a step, delta = 1e-5."""
    q, delta = Fraction(256, 60_000), 1e-5
    steps = int(epochs / q)
    step = dp_sgd(noise_multiplier=Fraction(noise), sampling_probability=q, steps=1)
    limit = central_limit([(step, steps)], by="chi_square")
    known = float(q) * math.sqrt(steps * math.expm1(float(noise) ** -2))
    assert limit.mu.value == pytest.approx(known, rel=1e-9)
    assert limit.mu.value == pytest.approx(mu, abs=0.005)
    assert limit.epsilon(delta).value == pytest.approx(epsilon, abs=0.01)
    # Theirs is of whole orders, which cost a little where the best one is small.
    found = rdp_epsilon(step**steps, delta, by=MIRONOV)
    assert found == pytest.approx(moments, abs=0.005 if moments < 32 else 0.06)
    exact = (step**steps).epsilon(delta, bracket=True)
    assert exact.upper < found
    assert exact.upper - exact.lower < 1e-3 * exact.upper
    assert (limit.epsilon(delta).value < exact.lower) == (noise != "0.5")


def test_the_limit_by_chi_square_is_refused_or_told_by_name():
    steps = [(poisson(gdp(1), 0.01), 400), (pure_dp(0.1), 10)]
    square = 400 * 1e-4 * math.expm1(1) + 10 * (2 * math.cosh(0.1) - 2)
    assert central_limit(steps, by="chi_square").mu.value == pytest.approx(math.sqrt(square))
    with pytest.raises(InvalidParameter, match="must be 'moments' or 'chi_square'"):
        central_limit(steps, by="moment")
    with pytest.raises(InvalidParameter, match=r"finite kappa2 and chi\^2"):
        central_limit([(discrete([1, 0], [Fraction(1, 2), Fraction(1, 2)]), 5)], by="chi_square")
    assert central_limit([], by="chi_square").mu.value == 0


@pytest.mark.shows("S1.24", "e1.4")
def test_an_estimate_is_no_bound_and_no_curve():
    mu = central_limit([(pure_dp(0.1), 100)]).mu
    assert isinstance(mu, Estimate)
    assert mu.is_bound is False
    assert str(mu) == "estimate 1.00042 (central limit theorem)"
    with pytest.raises(NotCertified, match="cannot be charged"):
        filter_for(gdp(1)).cost(mu)
    with pytest.raises(NotCertified):
        filter_for(mu)
    with pytest.raises(TypeError):
        gdp(1) @ mu
    with pytest.raises(InvalidParameter, match=r"must be an int, a float.*; got"):
        gdp(mu)
    with pytest.raises(TypeError):
        float(mu)
