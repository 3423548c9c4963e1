"""Bounds of the last iterate against their closed forms, an exact quadratic, and any schedule."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize

from neyman.accounting import contraction, last_iterate, last_iterate_bounded, last_iterate_cyclic
from neyman.curves import dominated_by, gdp, identity
from neyman.errors import InvalidParameter

TWO_THIRDS = Fraction(2, 3)
# Contraction, epochs, mu and epsilon(1e-5) at L/(b sigma) = 2/3 and 40 batches.
TABLE = [
    (0.9999, 50, 0.9925, 4.3392),
    (0.9998, 50, 0.9889, 4.3208),
    (0.9999, 100, 1.2353, 5.6013),
    (0.9998, 100, 1.2175, 5.5061),
    (0.9999, 200, 1.5930, 7.5789),
    (0.9998, 200, 1.5061, 7.0859),
]


def square(f):
    return f.remove.dominating().mu_squared


def schedule_cost(c, s, used, start=0.0):
    """Return the least sum of a_k^2 over all schedules that keep z >= 0 and end at 0."""
    steps = len(used)
    powers = c ** np.arange(steps - 1, -1, -1)

    def z(a):
        out, now = [], start
        for k in range(steps):
            now = c * now + (s if used[k] else 0.0) - a[k]
            out.append(now)
        return np.array(out)

    # A feasible start: everything absorbed at once.
    first, now = np.zeros(steps), start
    for k in range(steps):
        now = c * now + (s if used[k] else 0.0)
        first[k], now = now, 0.0
    found = minimize(
        lambda a: a @ a,
        first,
        jac=lambda a: 2 * a,
        bounds=[(0, None)] * steps,
        constraints=[
            {"type": "ineq", "fun": lambda a: z(a)[:-1]},
            {"type": "eq", "fun": lambda a: float(z(a)[-1])},
        ],
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    assert powers.size == steps
    return float(found.fun)


@pytest.mark.parametrize(("c", "epochs", "mu", "epsilon"), TABLE)
def test_the_published_setting(c, epochs, mu, epsilon):
    f = last_iterate_cyclic(step_mu=TWO_THIRDS, contraction=c, batches=40, epochs=epochs)
    assert f.mu() == pytest.approx(mu, abs=5e-5)
    assert f.epsilon(1e-5) == pytest.approx(epsilon, abs=5e-5)
    assert f.implies(gdp(TWO_THIRDS) ** epochs)


@pytest.mark.parametrize("c", [0.3, 0.9, 1 - 1e-9, Fraction(1, 10**6)])
@pytest.mark.parametrize("steps", [1, 2, 7, 10**6])
def test_the_closed_form_is_rounded_up_and_tight(c, steps):
    found = square(last_iterate(step_mu=0.7, contraction=c, steps=steps))
    with mp.workdps(60):
        exact = Fraction(str(c))
        q = mp.mpf(exact.numerator) / exact.denominator
        truth = mp.mpf(49) / 100 * (1 - q**steps) / (1 + q**steps) * (1 + q) / (1 - q)
        ratio = mp.mpf(found.numerator) / found.denominator / truth
        assert 1 - mp.mpf(10) ** -40 <= ratio < 1 + mp.mpf(10) ** -13


def test_a_quadratic_attains_it():
    """x <- c x + s 1{D'} + N(0, 1): means s (1 - c^t)/(1 - c), variance (1 - c^2t)/(1 - c^2)."""
    c, s, t = 0.83, 0.4, 12
    mean, variance = s * sum(c**k for k in range(t)), sum(c ** (2 * k) for k in range(t))
    found = float(square(last_iterate(step_mu=s, contraction=c, steps=t)))
    assert found == pytest.approx(mean**2 / variance, rel=1e-12)


@pytest.mark.parametrize(("c", "steps"), [(0.6, 5), (0.95, 8), (1, 6)])
def test_no_schedule_is_better_with_the_record_in_every_step(c, steps):
    best = schedule_cost(float(c), 1.0, [True] * steps)
    found = float(square(last_iterate(step_mu=1, contraction=c, steps=steps)))
    assert found == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(("c", "batches", "epochs"), [(0.8, 3, 3), (0.97, 2, 5), (1, 4, 3)])
def test_the_cyclic_bound_covers_every_batch(c, batches, epochs):
    found = float(
        square(last_iterate_cyclic(step_mu=1, contraction=c, batches=batches, epochs=epochs))
    )
    for place in range(batches):
        used = [k % batches == place for k in range(batches * epochs)]
        assert schedule_cost(float(c), 1.0, used) <= found * (1 + 1e-6)
    # Its own schedule, for the last batch: z stays at 0 or above and costs what is claimed.
    t, a = batches * (epochs - 1), np.zeros(batches * epochs)
    weights = float(c) ** np.arange(t - 1, -1, -1)
    drift = sum(float(c) ** (batches * e - 1) for e in range(1, epochs))
    a[batches - 1 : -1] = drift * weights / (weights @ weights)
    a[-1] = 1.0
    z = 0.0
    for k in range(batches * epochs):
        z = float(c) * z + (k % batches == batches - 1) - a[k]
        assert z >= -1e-12
    assert abs(z) < 1e-12
    assert a @ a == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("c", [0.5, 0.99, 1])
def test_a_bounded_set_never_costs_more_and_does_not_grow(c):
    ask = {"step_mu": 0.1, "contraction": c}
    for steps in (1, 5, 1000, 10**9):
        free = last_iterate(**ask, steps=steps)
        held = last_iterate_bounded(**ask, steps=steps, diameter=3)
        assert held.implies(free)
    first = last_iterate_bounded(**ask, steps=10**6, diameter=3).mu()
    assert last_iterate_bounded(**ask, steps=10**9, diameter=3).mu() == pytest.approx(first)


def test_the_bounded_formula_at_a_moment():
    """Four D step_mu where D / step_mu is whole, as published; no schedule costs less."""
    found = last_iterate_bounded(step_mu=0.5, contraction=1, steps=10**4, diameter=3)
    assert float(square(found)) == pytest.approx(4 * 3 * 0.5, rel=1e-12)
    published = 3 * 0.5 * 3.2 + 0.25 * 7
    assert float(
        square(last_iterate_bounded(step_mu=0.5, contraction=1, steps=99, diameter=3.2))
    ) <= (published)
    best = min(schedule_cost(1.0, 0.5, [True] * tau, start=3.0) for tau in (4, 5, 6, 7))
    assert float(square(found)) == pytest.approx(best, rel=1e-5)


def test_ends():
    assert last_iterate(step_mu=1, contraction=0.5, steps=0) == identity()
    assert last_iterate(step_mu=1, contraction=0, steps=9) == gdp(1)
    assert last_iterate(step_mu=0.5, contraction=1, steps=16) == gdp(2)
    assert last_iterate_cyclic(step_mu=1, contraction=0.5, batches=3, epochs=0) == identity()
    assert last_iterate_cyclic(step_mu=1, contraction=0.5, batches=3, epochs=1) == gdp(1)
    assert last_iterate_cyclic(step_mu=1, contraction=1, batches=4, epochs=13) == dominated_by(
        gdp(2)
    )
    one = last_iterate_cyclic(step_mu=1, contraction=0.5, batches=1, epochs=6)
    assert one == last_iterate(step_mu=1, contraction=0.5, steps=6)
    assert contraction(step_size=0.5, strong_convexity=1, smoothness=3.5) == Fraction(3, 4)
    assert contraction(step_size=0.5, strong_convexity=0, smoothness=2) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_size": 0},
        {"strong_convexity": -1},
        {"smoothness": 0.5},
        {"step_size": 3},
    ],
)
def test_steps_that_expand_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        contraction(**{"step_size": 0.1, "strong_convexity": 1, "smoothness": 2} | wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"contraction": 1.1}, {"contraction": -0.1}, {"step_mu": 0}, {"steps": -1}, {"steps": 2.0}],
)
def test_refusals(wrong):
    with pytest.raises(InvalidParameter):
        last_iterate(**{"step_mu": 1, "contraction": 0.5, "steps": 3} | wrong)
    with pytest.raises(InvalidParameter):
        last_iterate_bounded(
            **{"step_mu": 1, "contraction": 0.5, "steps": 3, "diameter": 1} | wrong
        )
    with pytest.raises(InvalidParameter):
        last_iterate_bounded(step_mu=1, contraction=0.5, steps=3, diameter=0)
    with pytest.raises(InvalidParameter):
        last_iterate_cyclic(step_mu=1, contraction=0.5, batches=0, epochs=3)
