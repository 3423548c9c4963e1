"""One sampled step against its closed forms, in 60 digits; and that the two ways are inverses."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from neyman.curves import bounded_range, gdp, laplace, poisson, pure_dp

DIGITS = 60
GRID = [
    (Fraction(1), Fraction(1, 100)),
    (Fraction(5), Fraction(1, 3)),
    (Fraction(1, 20), Fraction(19, 20)),
    (Fraction(2), Fraction(1, 10**6)),
]
TINY = np.array([1e-300, 1e-30, 1e-12, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.9999, 1 - 1e-9, 1 - 1e-13])


def number(x):
    """The decimal that a double prints as."""
    return mp.mpf(repr(float(x)))


def tail(x):
    """Phi(-x), relatively accurate far out."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def quantile(p):
    """x with Phi(-x) = p."""
    if p == mp.mpf(1) / 2:
        return mp.mpf(0)
    if p > mp.mpf(1) / 2:
        return -quantile(1 - p)
    start = mp.sqrt(-2 * mp.log(p))
    start -= (mp.log(mp.log(1 / p) * 4 * mp.pi) / (2 * start)) if p < 0.1 else start / 3
    return mp.findroot(lambda x: mp.log(tail(x)) - mp.log(p), start)


def held(bracket, truths, width=None):
    """Every truth lies inside, and the bracket is narrow (relatively)."""
    for low, high, truth in zip(bracket.lower, bracket.upper, truths, strict=True):
        low, high = mp.mpf(float(low)), mp.mpf(float(high))
        assert low <= truth <= high, (low, mp.nstr(truth, 20), high)
        if width is not None:
            assert high - low <= width * abs(truth) + mp.mpf("1e-306")


def delta_of(mu, q, epsilon):
    """delta from without the unit, by the place z where 1 - q + q e^(mu z - mu²/2) = e^epsilon."""
    inner = 1 + (mp.exp(epsilon) - 1) / q
    if inner <= 0:
        return 1 - mp.exp(epsilon)
    z = (mp.log(inner) + mu * mu / 2) / mu
    return (1 - q) * tail(z) + q * tail(z - mu) - mp.exp(epsilon) * tail(z)


def delta_back(mu, q, epsilon):
    """delta from with the unit: the loss is -log(1 - q + q e^(mu z - mu²/2)), z under Q."""
    inner = 1 + (mp.exp(-epsilon) - 1) / q
    if inner <= 0:
        return mp.mpf(0)
    z = (mp.log(inner) + mu * mu / 2) / mu
    q_below = (1 - q) * tail(-z) + q * tail(mu - z)
    return tail(-z) - mp.exp(epsilon) * q_below


def points(q):
    """Epsilons near both edges of the loss, around 0 and far out."""
    edge = float(mp.log1p(-mp.mpf(q.numerator) / q.denominator))
    gaps = np.array([1e-12, 1e-8, 1e-4, 0.1, 0.9])
    near = edge * np.concatenate([1 - gaps, 1 + gaps])
    return np.concatenate([near, -near, [0.0, 0.05, 1.0, 3.0]])


@pytest.mark.shows("e1.14", "e3.5")
@pytest.mark.parametrize(("mu", "q"), GRID)
def test_delta_both_ways(mu, q):
    with mp.workdps(DIGITS):
        m, p = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(q.numerator) / q.denominator
        pair, epsilon = poisson(gdp(mu), q).remove, points(q)
        held(pair.delta_bracket(epsilon), [delta_of(m, p, number(e)) for e in epsilon])
        back = [delta_back(m, p, number(e)) for e in epsilon]
        held(pair.swap().delta_bracket(epsilon), back)
        # Where the loss ends nothing is left.
        edge = -float(mp.log1p(-p))
        assert pair.swap().delta_bracket(np.array([edge * 1.01])).upper[0] == 0
        assert pair.swap().delta_bracket(np.array([edge * 0.9])).upper[0] > 0


@pytest.mark.parametrize(("mu", "q"), GRID)
def test_log_delta_is_relatively_accurate(mu, q):
    with mp.workdps(DIGITS):
        m, p = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(q.numerator) / q.denominator
        pair, epsilon = poisson(gdp(mu), q).remove, np.array([0.01, 0.5, 2.0, 8.0])
        truths = [mp.log(delta_of(m, p, number(e))) for e in epsilon]
        held(pair.log_delta_bracket(epsilon), truths, width=1e-11)


@pytest.mark.parametrize(("mu", "q"), GRID)
def test_beta_and_power_from_without(mu, q):
    with mp.workdps(DIGITS):
        m, p = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(q.numerator) / q.denominator
        pair, a = poisson(gdp(mu), q).remove, [number(x) for x in TINY]
        power = [p * tail(quantile(x) - m) + (1 - p) * x for x in a]
        missed = [p * tail(m - quantile(x)) + (1 - p) * (1 - x) for x in a]
        held(pair.tpr_bracket(TINY), power, width=1e-11)
        # Near 1 the decimal and its double neighbours already differ by 1e-16 / (1 - alpha).
        held(pair.beta_bracket(TINY), missed, width=1e-2)
        held(pair.beta_bracket(TINY[:8]), missed[:8], width=1e-11)


@pytest.mark.parametrize(("mu", "q"), GRID)
def test_beta_and_power_from_with(mu, q):
    # Parametrised by the place: alpha = Q(Z <= z), the power P(Z <= z).
    with mp.workdps(DIGITS):
        m, p = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(q.numerator) / q.denominator
        back = poisson(gdp(mu), q).remove.swap()
        for z in (-20, -6, -2, -0.5, 0, 1, 3, 6):
            at = mp.mpf(z)
            alpha = (1 - p) * tail(-at) + p * tail(m - at)
            below = np.nextafter(float(alpha), 0.0)
            above = np.nextafter(float(alpha), 1.0)
            ends = np.array([below, above])
            power, missed = back.tpr_bracket(ends), back.beta_bracket(ends)
            # The true curves lie between those at the doubles around.
            assert power.lower[0] <= tail(-at) <= power.upper[1]
            assert missed.lower[1] <= tail(at) <= missed.upper[0]
            assert power.upper[1] - power.lower[0] <= 1e-10 * power.upper[1] / float(1 - p) + 1e-306


@pytest.mark.parametrize(
    "base", [gdp(1), gdp(Fraction(1, 10)), laplace(1), pure_dp(Fraction(1, 2))]
)
@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(9, 10)])
def test_the_two_ways_are_inverse_curves(base, q):
    pair = poisson(base, q).remove
    back, alpha = pair.swap(), np.linspace(0.001, 0.95, 25)
    beta = pair.beta_bracket(alpha)
    # f is its own way back: the swap's error at beta is alpha.
    assert np.all(back.beta_bracket(np.nextafter(beta.upper, 1)).lower <= alpha + 1e-12)
    assert np.all(back.beta_bracket(np.nextafter(beta.lower, 0)).upper >= alpha - 1e-12)
    again = back.beta_bracket((beta.lower + beta.upper) / 2)
    steep = 1e-13 / np.abs(np.gradient(beta.lower, alpha)).min()
    assert np.all(np.abs((again.lower + again.upper) / 2 - alpha) < 1e-10 + steep)


@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(9, 10)])
def test_the_swap_of_delta_is_its_conjugate(q):
    # delta(e) = 1 - e^e + e^e delta_swap(-e)
    pair, epsilon = poisson(gdp(1), q).remove, np.linspace(-3, 3, 25)
    here, there = pair.delta_bracket(epsilon), pair.swap().delta_bracket(-epsilon)
    flat, scale = -np.expm1(epsilon), np.exp(epsilon)
    slack = 1e-14 * (1 + scale)
    assert np.all(here.lower <= flat + scale * there.upper + slack)
    assert np.all(here.upper >= flat + scale * there.lower - slack)


def test_sampling_twice_is_sampling_once():
    once = poisson(gdp(1), Fraction(1, 10))
    assert poisson(poisson(gdp(1), Fraction(1, 2)), Fraction(1, 5)) == once
    assert once.remove.swap().swap() == once.remove


def test_a_broken_twin_is_caught():
    # Forgetting that the unsampled share of Q is P's moves delta far out of the bracket.
    with mp.workdps(DIGITS):
        m, p, e = mp.mpf(1), mp.mpf(1) / 100, mp.mpf(1) / 20
        found = poisson(gdp(1), Fraction(1, 100)).remove.delta_bracket(np.array([0.05]))
        z = (e + m * m / 2) / m
        wrong = p * (tail(z - m) - mp.exp(e) * tail(z))
        assert not found.lower[0] <= wrong <= found.upper[0]


@pytest.mark.parametrize("base", [pure_dp(1), laplace(1), bounded_range(1)], ids=str)
def test_beyond_the_largest_loss_of_one_direction_the_other_answers(base):
    """Between -log(1 - q + q/e) and -log(1 - q) the swap has nothing left, and no nan."""
    f = poisson(base, 0.1)
    for x in (0.0653, 0.07, 0.08, 0.1, 0.105):
        lower, upper = f.delta(x, bracket=True)
        inner = np.log1p((np.exp(x) - 1) / 0.1)
        assert lower <= 0.1 * base.delta(inner) * (1 + 1e-9)
        assert upper >= 0.1 * base.delta(inner) * (1 - 1e-9)
        assert upper <= lower * (1 + 1e-9)
