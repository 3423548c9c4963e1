"""Mixtures of normals: closed tails, groups of records, and one record replaced."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom, norm

from neyman.curves import TradeOff, dominated_by, gdp, laplace, poisson, pure_dp
from neyman.curves._algebra._group import gaussian_mixture, group, poisson_replace
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._gaussian_mixture import gaussian_mixture_pair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._contour import ContourProfile
from neyman.errors import InvalidParameter, RelationMismatch

NONE, ONE = Fraction(0), Fraction(1)
Q = Fraction(1, 100)
NOISE = {"noise_multiplier": 2}
PAIRS = {
    "sampled": (Fraction(1), [(NONE, ONE)], [(NONE, 1 - Q), (ONE, Q)]),
    "replace": (Fraction(2), [(NONE, 1 - Q), (-ONE, Q)], [(NONE, 1 - Q), (ONE, Q)]),
    "lopsided": (
        Fraction(1, 2),
        [(-2 * ONE, Fraction(1, 3)), (NONE, Fraction(2, 3))],
        [(NONE, Fraction(1, 7)), (ONE, Fraction(6, 7))],
    ),
    "apart": (
        Fraction(4),
        [(-3 * ONE, Fraction(1, 2)), (-ONE, Fraction(1, 2))],
        [(ONE, Fraction(1, 2)), (5 * ONE, Fraction(1, 2))],
    ),
    "tiny": (Fraction(10**12), [(NONE, ONE)], [(NONE, 1 - Q), (ONE, Q)]),
}


def pair_of(name):
    variance, p, q = PAIRS[name]
    return gaussian_mixture_pair(variance, p, q, None)


def truth(name, epsilon):
    """Return delta with 60 digits, from the crossing of the densities."""
    with mpmath.workdps(60):
        variance, p, q = PAIRS[name]
        sigma = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        sides = [
            [
                (
                    mpmath.mpf(m.numerator) / m.denominator / sigma,
                    mpmath.mpf(w.numerator) / w.denominator,
                )
                for m, w in side
            ]
            for side in (p, q)
        ]
        e = mpmath.mpf(epsilon)

        def loss(z):
            a, b = (sum(w * mpmath.exp(m * z - m * m / 2) for m, w in side) for side in sides)
            return mpmath.log(b / a) - e

        low, high = mpmath.mpf(-1), mpmath.mpf(1)
        while loss(low) > 0:
            low *= 2
        while loss(high) < 0:
            high *= 2
        for _ in range(220):
            z = (low + high) / 2
            low, high = (low, z) if loss(z) > 0 else (z, high)
        a, b = (sum(w * mpmath.ncdf(m - z) for m, w in side) for side in sides)
        return b - mpmath.exp(e) * a


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        *((name, e) for name in ("replace", "lopsided", "apart") for e in (-2, 0, 1, 3)),
        *(("sampled", e) for e in ("0", "0.125", "2", "6")),
        *(("tiny", e) for e in ("0", "1e-9", "1e-8", "1e-7")),
    ],
)
def test_delta_against_sixty_digits(name, epsilon):
    pair, true = pair_of(name), truth(name, epsilon)
    found = pair.log_delta_bracket(np.asarray([float(epsilon)]))
    log = float(mpmath.log(true))
    # The truth is rounded to a double here.
    slack = 1e-15 * (1 + abs(log))
    assert found.lower[0] - slack <= log <= found.upper[0] + slack
    assert found.upper[0] - found.lower[0] <= 1e-12 * (1 + abs(log))


@pytest.mark.parametrize("name", PAIRS)
def test_the_swap_is_the_mirror_image_and_an_involution(name):
    pair = pair_of(name)
    assert pair.swap().swap() == pair
    x = np.array([-1.0, -1e-6, 0.0, 0.3])
    mirrored = -np.expm1(x) + np.exp(x) * pair.swap().delta_bracket(-x).upper
    np.testing.assert_allclose(pair.delta_bracket(x).upper, mirrored, rtol=1e-11, atol=1e-14)


def test_it_is_the_sampled_gaussian():
    pair, other = pair_of("sampled"), poisson(gdp(1), Q).remove
    for mine, its in ((pair, other), (pair.swap(), other.swap())):
        x = np.array([-0.009, 0.0, 1e-9, 0.1, 1.0])
        a, b = mine.log_delta_bracket(x), its.log_delta_bracket(x)
        assert np.all(np.maximum(a.lower, b.lower) <= np.minimum(a.upper, b.upper) + 1e-300)
        alpha = np.array([0, 1e-300, 1e-12, 1e-3, 0.3, 0.7, 1 - 1e-9, 1])
        for view in ("beta_bracket", "tpr_bracket"):
            a, b = getattr(mine, view)(alpha), getattr(its, view)(alpha)
            assert np.all(np.maximum(a.lower, b.lower) <= np.minimum(a.upper, b.upper))
            assert np.all(a.upper - a.lower <= 1e-13)


def test_above_the_largest_loss_nothing_is_left():
    back = pair_of("sampled").swap()
    most = -np.log(0.99)
    found = back.delta_bracket(np.array([most * 1.001, 5.0]))
    assert np.all(found.upper == 0)
    assert back.delta_bracket(np.array([most * 0.9])).lower[0] > 0
    assert float(back.epsilon_bracket(np.zeros(())).upper) == pytest.approx(most, rel=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_epsilon_inverts_from_the_safe_side(name):
    pair = pair_of(name)
    delta = np.array([1e-30, 1e-12, 1e-9])
    found = pair.epsilon_bracket(delta)
    assert np.all(pair.delta_bracket(found.upper).lower <= delta * (1 + 1e-9))
    assert np.all(pair.delta_bracket(found.lower * (1 - 1e-9)).upper >= delta * (1 - 1e-9))


def test_beta_and_delta_are_conjugate():
    pair = pair_of("lopsided")
    x = np.linspace(-6, 6, 4001)
    for alpha in (0.01, 0.2, 0.7):
        lines = 1 - pair.delta_bracket(x).upper - np.exp(x) * alpha
        found = pair.beta_bracket(np.asarray([alpha]))
        assert found.lower[0] == pytest.approx(np.max(lines), abs=1e-5)
        assert np.max(lines) <= found.upper[0]


def test_the_law_is_that_of_the_closed_tails():
    pair = pair_of("lopsided")
    orders = np.array([0.5, 2.0, 3.0])
    z = np.linspace(-25, 25, 200_001)
    v, p, q = PAIRS["lopsided"]
    a, b = (
        sum(float(w) * np.exp(-((z - float(m / 1) / float(v) ** 0.5) ** 2) / 2) for m, w in side)
        / np.sqrt(2 * np.pi)
        for side in (p, q)
    )
    step = z[1] - z[0]
    for order in orders:
        value = np.log(np.sum(a ** (1 - order) * b**order) * step) / (order - 1)
        found = pair.renyi_bracket(np.asarray([order]))
        assert found.lower[0] - 1e-9 <= value <= found.upper[0] + 1e-9


def test_one_normal_form():
    p, q = [(Fraction(3), ONE)], [(Fraction(3), 1 - Q), (Fraction(5), Q)]
    shifted = gaussian_mixture_pair(Fraction(4), p, q, None)
    assert shifted == pair_of("sampled")
    assert gaussian_mixture_pair(
        Fraction(4), [(NONE, ONE)], [(Fraction(2), ONE)], None
    ) == GaussianPair(ONE)
    assert gaussian_mixture_pair(Fraction(4), [(ONE, ONE)], [(ONE, ONE)], None) == IdentityPair()
    assert pair_of("replace").symmetric
    assert not pair_of("sampled").symmetric


def test_what_is_no_mixture_is_refused():
    with pytest.raises(InvalidParameter, match="sum to"):
        gaussian_mixture_pair(ONE, [(NONE, Fraction(1, 2))], [(ONE, ONE)], None)
    with pytest.raises(InvalidParameter, match="above Q's"):
        gaussian_mixture_pair(ONE, [(Fraction(2), ONE)], [(ONE, ONE)], None)
    with pytest.raises(InvalidParameter, match="below 0"):
        gaussian_mixture_pair(
            ONE, [(NONE, ONE)], [(ONE, Fraction(3, 2)), (Fraction(2), Fraction(-1, 2))], None
        )
    with pytest.raises(InvalidParameter, match="different means"):
        gaussian_mixture_pair(
            ONE, [(NONE, ONE)], [(Fraction(j), Fraction(1, 300)) for j in range(300)], None
        )


@pytest.mark.parametrize("weights", [[1 / 3] * 3, [0.1] * 3 + [0.7 + 1e-13], [0.25, 0.75 - 4e-13]])
def test_weights_written_as_floats_are_rounded_towards_more_loss(weights: list[float]) -> None:
    """No weights of sum 1 between them and those rounded to a sum of 1 lose more."""
    found = gaussian_mixture(dict(enumerate(weights)), noise_multiplier=2)
    whole = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
    scaled = gaussian_mixture(dict(enumerate(whole)), noise_multiplier=2)
    epsilons = np.linspace(0.0, 4.0, 9)
    assert np.all(found.delta(epsilons) >= scaled.delta(epsilons) * (1 - 1e-13))
    assert np.all(found.delta(epsilons) <= scaled.delta(epsilons) + 1e-12)


def test_what_is_missing_of_the_weights_goes_to_the_largest_change() -> None:
    missing = Fraction(1, 10**13)
    found = gaussian_mixture({0: Fraction(9, 10), 1: Fraction(1, 10) - missing, 2: 0}, **NOISE)
    assert found == gaussian_mixture({0: 0.9, 1: Fraction(1, 10) - missing, 2: missing}, **NOISE)
    too_much = gaussian_mixture({0: Fraction(9, 10) + missing, 1: Fraction(1, 10)}, **NOISE)
    assert too_much == gaussian_mixture({0: 0.9, 1: 0.1}, **NOISE)
    for weights in ({0: 0.9, 1: 0.1 + 2e-12}, {0: 0.9, 1: 0.09}, {0: -0.5, 1: 1.5}, {}, {-1: 1}):
        with pytest.raises(InvalidParameter, match="with the sum 1"):
            gaussian_mixture(weights, **NOISE)


@pytest.mark.parametrize(
    ("size", "q", "noise", "epsilon"),
    [
        (300, 0.01, 5.0, 0.5),
        (300, 0.5, 40.0, 3.0),
        pytest.param(1500, 0.002, 10.0, 0.25, marks=pytest.mark.soak),
        (300, 1e-4, 2.0, 1.0),
    ],
)
def test_a_group_of_hundreds_is_the_sum_over_its_records(
    size: int, q: float, noise: float, epsilon: float
) -> None:
    """Against all components, summed; masses below 1e-25 that were moved show nowhere."""
    j = np.arange(size + 1)
    log = binom.logpmf(j, size, q)
    place = brentq(
        lambda z: logsumexp(log + (2 * z * j - j**2) / (2 * noise**2)) - epsilon, -1, 9e9
    )
    truth = np.exp(logsumexp(log + norm.logsf((place - j) / noise)))
    truth -= math.exp(epsilon) * norm.sf(place / noise)
    lower, upper = group(poisson(gdp(1 / noise), q), size).remove.delta(epsilon, bracket=True)
    assert lower == pytest.approx(truth, rel=1e-9)
    assert upper == pytest.approx(truth, rel=1e-9)


def test_computed_weights_of_hundreds_of_changes() -> None:
    """scipy's binomial masses, of which some are beyond the doubles."""
    changes = dict(enumerate(binom.pmf(np.arange(301), 300, 0.01)))
    found = gaussian_mixture(changes, noise_multiplier=20) ** 100
    exactly = group(poisson(gdp(0.05), 0.01), 300) ** 100
    assert found.epsilon(1e-6) == pytest.approx(exactly.epsilon(1e-6), rel=1e-4)


# -- groups ---------------------------------------------------------------------------------------


def test_ten_records_of_sampled_noise():
    found = (group(poisson(gdp(0.5), 0.01), 10) ** 1000).epsilon(1e-6, bracket=True)
    assert found.lower <= 9.370403560643742089 <= found.upper
    assert found.upper - found.lower < 1e-10


def test_the_other_direction_is_composed_apart():
    curve = group(poisson(gdp(0.5), 0.01) ** 1000, 10)
    assert curve == group(poisson(gdp(0.5), 0.01), 10) ** 1000
    lower, upper = curve.add.epsilon(1e-6, bracket=True)
    assert lower <= 8.383041887267789 + 1e-14
    assert upper >= 8.383041887267789 - 1e-14


def test_groups_in_closed_form():
    assert group(gdp(0.5), 4) == gdp(2)
    assert group(laplace(0.1), 3) == laplace(0.3)
    assert group(pure_dp(0.1), 3) == pure_dp(0.3)
    assert group(gdp(0.3) @ laplace(1), 2) == gdp(0.6) @ laplace(2)
    assert group(poisson(gdp(1), Q), 1) == poisson(gdp(1), Q)
    step = poisson(laplace(1), Fraction(1, 2))
    # Not all of a group are in whenever one is, but one is as often as it is.
    assert group(step, 2) == dominated_by(poisson(laplace(2), Fraction(3, 4)), attained=step)


def test_the_group_of_a_mixture_is_below_the_bound_that_all_are_in():
    mine = group(poisson(gdp(0.5), Q), 4)
    bound = poisson(gdp(2), 1 - (1 - Q) ** 4)
    x = np.array([0.0, 0.1, 1.0, 3.0])
    assert np.all(mine.delta(x) <= bound.delta(x))
    assert np.all(mine.delta(x) >= poisson(gdp(0.5), Q).delta(x))


def test_groups_that_are_not_known():
    for size in (0, True, 1.5):
        with pytest.raises(InvalidParameter, match="must be an int of at least 1; got"):
            group(gdp(1), size)


# -- one record replaced --------------------------------------------------------------------------


def test_replacement_of_one_sampled_record():
    step = poisson_replace(gdp(Fraction(10, 11)), Fraction(256, 60000))
    assert step.remove.neighbors == "replace_one"
    found = (step**14040).epsilon(1e-5, bracket=True)
    assert found.lower <= 4.217485811516701846 <= found.upper
    assert found.upper - found.lower < 1e-10


def test_replacement_keeps_its_relation():
    step = poisson_replace(gdp(1), Q)
    with pytest.raises(RelationMismatch):
        step @ poisson(gdp(1), Q)
    with pytest.raises(RelationMismatch):
        poisson(step, Q)
    with pytest.raises(RelationMismatch):
        poisson_replace(step, Q)
    with pytest.raises(RelationMismatch):
        poisson_replace(laplace(1) @ step, Q)
    assert poisson_replace(gdp(1), 1) == gdp(2)
    assert poisson_replace(gdp(1), 0).delta(0) == 0


def test_a_mixture_of_changes():
    curve = gaussian_mixture({0: 1 - Q, 1: Q}, noise_multiplier=1)
    assert curve.remove == pair_of("sampled")
    with pytest.raises(InvalidParameter, match="at least 0"):
        gaussian_mixture({-1: 1}, noise_multiplier=1)
    with pytest.raises(InvalidParameter, match="no noise"):
        gaussian_mixture({1: 1}, noise_multiplier=0)


def test_both_directions_of_a_view():
    pair = pair_of("lopsided")
    curve = TradeOff(pair, pair.swap())
    assert curve.delta(0.5) == max(pair.delta(0.5), pair.swap().delta(0.5))
    assert pair.zcdp(bracket=True).lower <= pair.zcdp(bracket=True).upper
    low, high = pair.mu(bracket=True)
    assert low <= high == pytest.approx(3 * 2**0.5)
    two = ContourProfile(pair.loss_law()).delta_bracket(np.asarray([1.0]))
    one = pair.delta_bracket(np.asarray([1.0]))
    assert two.lower[0] <= one.upper[0]
    assert one.lower[0] <= two.upper[0]
