"""What the definitions say, on laws small enough that every event and every test is looked at."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import (
    approx_dp,
    discrete,
    errors_of_test,
    gdp,
    identity,
    laplace,
    piecewise,
    privacy_loss,
    pure_dp,
)
from neyman.errors import InvalidParameter

ALPHA = np.linspace(0, 1, 401)
EPSILON = (-1.0, 0.0, 0.3, 1.0, 2.5)
ROUNDING = 1e-12


def drawn(rng, size):
    """Return a law on `size` outcomes, of rational masses."""
    masses = [Fraction(int(n)) for n in rng.integers(1, 30, size)]
    return [mass / sum(masses) for mass in masses]


def laws(seed, size=6):
    rng = np.random.default_rng(seed)
    return drawn(rng, size), drawn(rng, size)


SEEDS = pytest.mark.parametrize("seed", range(8))


@pytest.mark.shows("S1.1", "S2.1", "e1.6", "e3.5")
@SEEDS
def test_delta_is_that_of_the_worst_event(seed):
    """delta(e) = max over events A of Q(A) - e^epsilon P(A), both ways."""
    p, q = laws(seed)
    curve = discrete(p, q)
    events = [list(event) for event in itertools.product((0, 1), repeat=len(p))]
    chance = [errors_of_test(p, q, event) for event in events]
    for epsilon in EPSILON:
        odds = math.exp(epsilon)
        remove = max(float(1 - beta) - odds * float(alpha) for alpha, beta in chance)
        add = max(float(alpha) - odds * float(1 - beta) for alpha, beta in chance)
        assert curve.remove.delta(epsilon) == pytest.approx(remove, rel=1e-11, abs=1e-15)
        assert curve.add.delta(epsilon) == pytest.approx(add, rel=1e-11, abs=1e-15)
        assert curve.delta(epsilon) == pytest.approx(max(remove, add), rel=1e-11)


@pytest.mark.shows("S1.3", "e1.13")
@SEEDS
def test_the_advantage_is_the_total_variation_and_is_attained(seed):
    """TV is a supremum that an event attains: no test has errors with a sum below 1 - TV."""
    p, q = laws(seed)
    variation = float(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
    assert discrete(p, q).advantage() == pytest.approx(variation, rel=1e-12)
    sums = [sum(errors_of_test(p, q, list(e))) for e in itertools.product((0, 1), repeat=len(p))]
    assert min(map(float, sums)) == pytest.approx(1 - variation, rel=1e-12)


@pytest.mark.shows("S2.3", "e2.9", "e3.4", "e4.6")
@SEEDS
def test_what_is_sure_outside_an_event_of_chance_delta_is_approximate_dp(seed):
    """If q <= e^epsilon p on A and Q(A) >= 1 - delta, then delta(epsilon) <= delta; no converse."""
    p, q = laws(seed)
    curve, spare = discrete(p, q).remove, []
    loss = privacy_loss(curve)
    for epsilon in (0.05, 0.3, 0.8):
        outside = [float(b) for a, b in zip(p, q, strict=True) if b > math.exp(epsilon) * a]
        assert loss.probabilistic_delta(epsilon) == pytest.approx(sum(outside), rel=1e-11)
        assert curve.delta(epsilon) <= sum(outside) + ROUNDING
        spare.append(sum(outside) - curve.delta(epsilon))
    assert max(spare) > 0.01


def processed(law, kernel):
    return [sum(x * row[j] for x, row in zip(law, kernel, strict=True)) for j in range(3)]


@pytest.mark.shows("S0.12", "S1.14")
@SEEDS
def test_processing_only_adds_privacy(seed):
    """Every channel that does not look at the dataset; the twin that looks is found out."""
    p, q = laws(seed)
    rng = np.random.default_rng(100 + seed)
    before = discrete(p, q)
    kernel = [drawn(rng, 3) for _ in p]
    after = discrete(processed(p, kernel), processed(q, kernel))
    assert np.all(after.beta(ALPHA) >= before.beta(ALPHA) - ROUNDING)
    assert np.all(after.delta(EPSILON) <= before.delta(EPSILON) + ROUNDING)
    peeking = [[Fraction(98, 100), Fraction(1, 100), Fraction(1, 100)] for _ in p]
    twin = discrete(processed(p, [row[::-1] for row in peeking]), processed(q, peeking))
    assert np.any(twin.beta(ALPHA) < before.beta(ALPHA) - 0.1)


@pytest.mark.shows("S2.2", "e2.1")
def test_a_coarser_field_tells_less_and_the_trivial_one_nothing():
    """A guarantee is about the events that are looked at: with the trivial field all hold."""
    p, q = laws(1)
    fine = discrete(p, q)
    pairs = [[a + b for a, b in zip(law[::2], law[1::2], strict=True)] for law in (p, q)]
    coarse, trivial = discrete(*pairs), discrete([sum(p)], [sum(q)])
    assert np.all(coarse.beta(ALPHA) >= fine.beta(ALPHA) - ROUNDING)
    assert np.any(coarse.beta(ALPHA) > fine.beta(ALPHA) + 1e-3)
    assert trivial.implies(identity())


@pytest.mark.shows("S2.6", "e2.4")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (1.0, 1e-3), (2.0, 0.3)])
def test_the_power_of_any_test_under_approximate_dp(epsilon, delta):
    """At most size e^epsilon + delta, and sharper 1 - e^-epsilon (1 - delta - size)."""
    curve = approx_dp(epsilon, delta)
    power = curve.tpr(ALPHA)
    wide = ALPHA * math.exp(epsilon) + delta
    sharp = np.minimum(wide, 1 - math.exp(-epsilon) * (1 - delta - ALPHA))
    assert np.all(power <= wide * (1 + ROUNDING))
    assert power == pytest.approx(np.minimum(sharp, 1), rel=1e-12)


@pytest.mark.shows("e1.7")
def test_one_point_of_a_profile_is_no_gaussian():
    """mu-GDP is (epsilon, delta(epsilon))-DP at every epsilon; at one it is less."""
    point = approx_dp(1, gdp(1).delta(1))
    assert gdp(1).implies(point)
    assert not any(point.implies(gdp(mu)) for mu in (1, 10, 100))
    assert not any(pure_dp(1).implies(gdp(mu)) for mu in (1.0, 1.232))


@pytest.mark.shows("e0.5")
def test_curves_may_cross():
    """The order is partial: two scalars may even disagree on which is more private."""
    f, g = gdp(1), pure_dp(1.1)
    assert not f.implies(g)
    assert not g.implies(f)
    assert f.advantage() < g.advantage()
    assert f.epsilon(1e-9) > g.epsilon(1e-9)


@pytest.mark.shows("S0.6", "S1.5", "e0.3")
def test_convex_and_below_the_diagonal_is_enough():
    """Nothing more is asked: f(1) = 0 is the least of f >= 0, so that a convex f falls."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        alpha = [Fraction(k, 5) for k in range(6)]
        falls = sorted((Fraction(int(n), 200) for n in rng.integers(0, 40, 5)), reverse=True)
        beta = [sum(falls[k:], Fraction(0)) for k in range(6)]
        assert np.all(np.diff(piecewise(alpha, beta).beta(ALPHA)) <= ROUNDING)
        rising = [*beta[:3], beta[2] + Fraction(1, 100), *beta[4:]]
        with pytest.raises(InvalidParameter, match="on no trade-off function"):
            piecewise(alpha, rising)
    # Continuous at 0 as well: what is missing from 1 is a mass at infinity.
    assert piecewise([0, 1], [Fraction(1, 2), 0]).beta(0.0) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.shows("S1.26")
def test_small_steps_with_small_failures_tend_to_a_gaussian_with_one_failure():
    """Sum epsilon^2 -> mu^2 and sum delta -> d give G_mu ⊗ f_{0,1-e^-d}; not before the limit."""
    limit = gdp(1) @ approx_dp(0, -math.expm1(-0.1))
    grid = np.linspace(0, 4, 9)
    gaps = []
    for n in (10, 100, 1000):
        steps = approx_dp(1 / math.sqrt(n), 0.1 / n) ** n
        gaps.append(np.max(np.abs(steps.delta(grid) - limit.delta(grid))))
    assert gaps == pytest.approx([8.2e-3, 1.09e-3, 8.3e-5], rel=0.02)


@pytest.mark.shows("e1.5")
def test_the_root_of_the_squares_is_a_limit_and_no_bound():
    """f_{0.1,0}^100 is 0.00125 away from G_1, and below it somewhere."""
    steps = pure_dp(0.1) ** 100
    grid = np.linspace(0, 1, 2001)
    difference = steps.beta(grid) - gdp(1).beta(grid)
    assert np.max(np.abs(difference)) == pytest.approx(0.00125, rel=0.01)
    assert np.min(difference) < -1e-4
    assert not steps.implies(gdp(1))


@pytest.mark.shows("e4.3", "e4.4")
def test_approximate_dp_bounds_no_moment():
    """A bound of one moment gives (epsilon, delta); that gives no moment back."""
    assert approx_dp(1, 1e-6).renyi(1.5) == math.inf
    assert approx_dp(1, 1e-6).renyi(math.inf) == math.inf
    assert laplace(1).renyi(math.inf) == pytest.approx(1, rel=1e-12)
    assert approx_dp(1, 1e-6).epsilon(1e-5) <= 1
