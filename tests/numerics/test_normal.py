"""The stated error models hold against mpmath, with a factor of two to spare.

ULP is 2^-50. The points are random, in the units in which the formulas change their form.
"""

import mpmath as mp
import numpy as np
import pytest

from frozen import frozen
from neyman.numerics import (
    ULP,
    Interval,
    dominated,
    exp_outward,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu_near,
    normal_quantile_gap,
    normal_tail,
    outward,
)
from neyman.numerics._primitives import mills
from neyman.numerics._special import erfcx, erfinv, log_ndtr, ndtr, ndtri

DIGITS = 120


def worst_share(bracket, truths):
    """Return the largest distance of a truth from the middle, in half-widths."""
    with mp.workdps(DIGITS):
        shares = []
        for low, high, truth in zip(*map(np.ravel, bracket), truths, strict=True):
            low, high = mp.mpf(float(low)), mp.mpf(float(high))
            shares.append(abs(truth - (low + high) / 2) / ((high - low) / 2))
        return float(max(shares))


@frozen
def profile(epsilon, mu):
    """Return log delta by the definition."""
    with mp.workdps(DIGITS):
        e, m = mp.mpf(float(epsilon)), mp.mpf(float(mu))
        return mp.log(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))


def profile_points(count, seed):
    rng = np.random.default_rng(seed)
    part = count // 4
    x1 = np.concatenate(
        [
            rng.uniform(-0.5, 2, part),
            rng.uniform(2, 11.5, part),
            rng.uniform(11.5, 12.5, part),
            10 ** rng.uniform(1, 4, part),
        ]
    )
    mu = 10 ** rng.uniform(-6, 0, x1.size)
    wide = rng.random(x1.size) < 0.5
    mu[wide] = 10 ** rng.uniform(0, 1.8, wide.sum())
    left = wide & (rng.random(x1.size) < 0.3)
    x1[left] = -mu[left] / 2 * rng.random(left.sum())
    epsilon = np.maximum((x1 + mu / 2) * mu, 0.0)
    return epsilon, mu


def test_gaussian_profile_is_within_half_its_error():
    epsilon, mu = profile_points(2000, seed=1)
    bounds = gaussian_log_delta(epsilon, mu)
    # Nearer to delta = 1 the bracket is cut off at 1.
    told = bounds.upper < -1e-12
    truths = [profile(*pair) for pair in zip(epsilon[told], mu[told], strict=True)]
    assert worst_share(Interval(bounds.lower[told], bounds.upper[told]), truths) < 0.5


def test_gaussian_profile_at_negative_epsilon():
    rng = np.random.default_rng(2)
    epsilon = -(10 ** rng.uniform(-20, 1.5, 500))
    mu = 10 ** rng.uniform(-6, 1, 500)
    bounds = gaussian_log_delta(epsilon, mu)
    told = bounds.upper < -1e-12
    truths = [profile(*pair) for pair in zip(epsilon[told], mu[told], strict=True)]
    assert worst_share(Interval(bounds.lower[told], bounds.upper[told]), truths) < 0.5


@frozen
def tail(p, shift):
    """Return Phi(Phi^-1(p) + shift)."""
    with mp.workdps(DIGITS):
        z = mp.mpf(float(ndtri(np.asarray(p))))
        for _ in range(4):
            z -= mp.ncdf(z) / mp.npdf(z) * mp.log(mp.ncdf(z) / mp.mpf(float(p)))
        return mp.ncdf(z + mp.mpf(float(shift)))


@pytest.mark.shows("S1.11")
def test_normal_tail_is_within_half_its_error():
    rng = np.random.default_rng(3)
    p = np.concatenate([10 ** rng.uniform(-300, 0, 700), rng.random(300)])
    shift = 10 ** rng.uniform(-7, 1.7, p.size) * rng.choice([-1, 1], p.size)
    bounds = normal_tail(ndtri(p), shift)
    told = (bounds.lower > 1e-300) & (bounds.upper < 1)
    truths = [tail(*pair) for pair in zip(p[told], shift[told], strict=True)]
    assert worst_share(Interval(bounds.lower[told], bounds.upper[told]), truths) < 0.5


@pytest.mark.parametrize(
    ("function", "truth", "low", "high"),
    [
        (ndtr, mp.ncdf, -5.0, 8.0),
        (erfcx, lambda x: mp.erfc(x) * mp.exp(x * x), -0.35, 60.0),
        (erfinv, mp.erfinv, 1e-8, 0.5),
        (
            lambda x: erfinv(10.0**x),
            lambda x: mp.erfinv(mp.mpf(float(10.0 ** float(x)))),
            -300,
            0.3,
        ),
        (mills.function, lambda x: mp.ncdf(-x) / mp.npdf(x), -0.5, 60.0),
        (log_ndtr, lambda x: mp.log(mp.ncdf(x)), -1000.0, -1.0),
        (np.exp, mp.exp, -700.0, 700.0),
        (np.expm1, mp.expm1, -40.0, 40.0),
        (np.log, mp.log, 1e-300, 2.0),
        (np.log1p, mp.log1p, -0.5, 10.0),
        (np.sinh, mp.sinh, 1e-3, 300.0),
        (np.tanh, mp.tanh, 1e-9, 20.0),
    ],
)
def test_library_functions_are_within_the_model(function, truth, low, high):
    """The worst, of 7/8 of the model, is Mills' ratio.

    ndtr loses x^2 times more in the tail, which `normal_tail` allows for.
    """
    points = np.random.default_rng(4).uniform(low, high if high > low else 0.0, 400)
    if function is ndtr:
        points = points[points > -1]
    with mp.workdps(60):
        errors = [
            abs(mp.mpf(float(y)) / truth(mp.mpf(float(x))) - 1)
            for x, y in zip(points, function(points), strict=True)
        ]
    assert float(max(errors)) < ULP


def test_ndtri_is_within_half_the_model():
    rng = np.random.default_rng(5)
    p = np.concatenate([10 ** rng.uniform(-307, 0, 300), rng.random(300)])
    with mp.workdps(60):
        errors = []
        for q, z in zip(p, ndtri(p), strict=True):
            x = mp.mpf(float(z))
            off = mp.ncdf(x) / mp.npdf(x) * mp.log(mp.ncdf(x) / mp.mpf(float(q)))
            errors.append(float(abs(off) / (1 + abs(x))))
    assert max(errors) < ULP / 2


def test_quantile_gap():
    rng = np.random.default_rng(6)
    with mp.workdps(60):
        for advantage in np.concatenate([10 ** rng.uniform(-300, 0, 50), rng.random(50)]):
            a = mp.mpf(float(advantage))
            mu = normal_quantile_gap(float(advantage), float(1 - a))
            if advantage >= 0.5:
                a = 1 - mp.mpf(float(1 - a))
            x = mp.mpf(mu) / 2
            error = (2 * mp.ncdf(x) - 1 - a) / (2 * mp.npdf(x)) if mu > 1e-6 else None
            error = mp.mpf(mu) / (a * mp.sqrt(2 * mp.pi)) - 1 if error is None else error / x
            assert abs(error) < 16 * ULP / 2


@pytest.mark.shows("S0.9")
def test_tails_live_to_the_end_of_the_doubles():
    """SciPy's ndtr is 0 below 1e-308, which is no upper bound of 1e-311."""
    lower, upper = normal_tail(np.array([-37.7, -38.4, -50.0]), 0.0)
    with mp.workdps(30):
        for x, low, high in zip((-37.7, -38.4, -50), lower, upper, strict=True):
            assert mp.mpf(float(low)) <= mp.ncdf(x) <= mp.mpf(float(high))
    assert np.all(upper > 0)


def test_exp_outward_holds_subnormal_numbers():
    logs = -np.linspace(708, 746, 200)
    lower, upper = exp_outward(Interval(logs, logs))
    with mp.workdps(30):
        for log, low, high in zip(logs, lower, upper, strict=True):
            assert mp.mpf(float(low)) <= mp.exp(mp.mpf(float(log))) <= mp.mpf(float(high))


def test_exp_outward_of_nothing_is_zero_and_of_certainty_at_most_one():
    lower, upper = exp_outward(Interval(np.array([-np.inf, 0.0]), np.array([-np.inf, 0.0])))
    assert upper[0] == lower[0] == 0
    assert lower[1] < 1 == upper[1]


def test_profile_of_the_far_ends():
    epsilon = np.array([np.inf, -np.inf, 1e300, -1e308, 1e200])
    lower, upper = gaussian_log_delta(epsilon, np.asarray(1.0))
    assert lower[0] == upper[0] == -np.inf
    assert upper[1] == 0
    # What is too small for a logarithm is not nothing.
    assert np.all(np.isneginf(lower[[2, 4]]))
    assert np.all(np.isfinite(upper[[2, 4]]))


def test_outward_keeps_within_the_range_and_leaves_infinities():
    lower, upper = outward(np.array([0.0, 1.0, np.inf]), 0.5, 0.0, np.inf)
    assert lower.tolist() == [0.0, 0.5, np.inf]
    assert upper.tolist() == [0.5, 1.5, np.inf]


@pytest.mark.parametrize(("shift", "proved"), [(1e-6, True), (0.0, False), (-1e-6, False)])
def test_domination_is_proved_where_it_holds_and_never_where_it_does_not(shift, proved):
    """f(x) = (x - 3)^2 and g(x) = f(x) + shift, both convex in x = e^t."""

    def f(t):
        return (np.exp(t) - 3) ** 2

    found = dominated(f, lambda t: f(t) + shift, lambda t: -2 * (np.exp(t) - 3), 1.0)
    assert found is proved


def test_domination_sees_a_narrow_violation():
    """f exceeds g only within 1e-9 of x = sqrt 2, where g has a kink."""
    h, kink = 1e-9, 2**0.5

    def f(t):
        return np.hypot(np.exp(t) - kink, h)

    def g(t):
        return np.abs(np.exp(t) - kink) + h / 2

    assert not dominated(f, g, lambda t: -np.sign(np.exp(t) - kink), 1.0)


def test_epsilon_of_a_gaussian_holds_the_truth():
    """Both sides against 120 digits: mu from 1e-6 to 200, delta down to 1e-300."""
    rng = np.random.default_rng(7)
    with mp.workdps(120):
        for mu in [1.0, 30.0, 1e-3, *np.exp(rng.uniform(np.log(1e-6), np.log(200), 12)).tolist()]:
            deltas = np.append(10.0 ** -rng.uniform(0, 300, 5), [0.5, 0.9, 1e-5])
            found = gaussian_epsilon(deltas, (mu, mu))
            for delta, lower, upper in zip(deltas.tolist(), *found, strict=True):
                assert upper - lower <= 1e-11 * upper
                for epsilon, way in ((lower, 1), (upper, -1)):
                    x, m = mp.mpf(float(epsilon)), mp.mpf(mu)
                    truth = mp.ncdf(m / 2 - x / m) - mp.exp(x) * mp.ncdf(-m / 2 - x / m)
                    assert epsilon == 0 or way * (truth - mp.mpf(delta)) >= 0


def test_epsilon_of_a_gaussian_at_the_ends():
    found = gaussian_epsilon(np.asarray([0.0, 1.0, 0.39]), (1.0, 1.0))
    assert found.lower.tolist() == [np.inf, 0.0, 0.0]
    assert found.upper.tolist() == [np.inf, 0.0, 0.0]
    for mu in (2.0**-499, 2.0**499):
        lower, upper = gaussian_epsilon(np.asarray([1e-300, 0.3]), (mu, mu))
        assert np.all((lower >= 0) & (lower <= upper) & np.isfinite(upper))
    wide = gaussian_epsilon(np.asarray([1e-6]), (1.0, 1.01))
    assert wide.lower < gaussian_epsilon(np.asarray([1e-6]), (1.0, 1.0)).upper
    assert wide.upper > gaussian_epsilon(np.asarray([1e-6]), (1.01, 1.01)).lower


def test_mu_near_inverts_the_profile():
    mu = np.geomspace(1e-9, 10, 40)
    epsilon = np.linspace(0, 3, 40) * mu
    log = gaussian_log_delta(epsilon, mu).upper
    assert np.allclose(gaussian_mu_near(epsilon, log), mu, rtol=1e-6)
