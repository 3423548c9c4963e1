"""f and the privacy profile are conjugate (Dong, Roth and Su, 2022, proposition 2.12)."""

import numpy as np
import pytest

ALPHA = np.unique(np.concatenate([np.linspace(0, 1, 8001), np.logspace(-12, -2, 400)]))
EPSILON = np.sinh(np.linspace(-4.4, 4.4, 4001))
SOME_ALPHA = np.array([0.0, 1e-5, 0.003, 0.05, 0.2, 0.5, 0.8, 0.97, 1.0])
SOME_EPSILON = np.array([-7.0, -1.0, -0.3, -0.01, 0.0, 0.005, 0.2, 0.9, 2.0, 6.0])
ROUNDING = 1e-12
# The maxima over the grids miss the suprema by less.
MESH = 1e-3


def lines(delta, epsilon, alpha):
    return 1 - delta[:, None] - np.exp(epsilon)[:, None] * alpha


def test_no_point_of_f_is_below_a_line_of_the_profile(pair):
    delta, beta = pair.delta_bracket(EPSILON[::9]), pair.beta_bracket(ALPHA[::7])
    assert np.all(lines(delta.upper, EPSILON[::9], ALPHA[::7]) <= beta.upper + ROUNDING)


@pytest.mark.shows("S0.8")
def test_f_is_the_supremum_of_the_lines(pair):
    delta, beta = pair.delta_bracket(EPSILON), pair.beta_bracket(SOME_ALPHA)
    best = np.max(lines(delta.lower, EPSILON, SOME_ALPHA), axis=0)
    assert np.all(np.maximum(best, 0) >= beta.lower - MESH)


def test_the_profile_is_the_supremum_over_tests(pair):
    delta, beta = pair.delta_bracket(SOME_EPSILON), pair.beta_bracket(ALPHA)
    best = np.max(lines(np.zeros_like(SOME_EPSILON), SOME_EPSILON, ALPHA) - beta.upper, axis=1)
    assert np.all(best >= delta.lower - MESH * (1 + np.exp(SOME_EPSILON)))


@pytest.mark.shows("S1.15")
def test_the_public_curve_is_the_conjugate_of_the_public_profile(curve):
    delta, beta = curve.delta_bracket(EPSILON), curve.beta_bracket(SOME_ALPHA)
    best = np.maximum(np.max(lines(delta.upper, EPSILON, SOME_ALPHA), axis=0), 0)
    assert np.all(best <= beta.upper + ROUNDING)
    assert np.all(best >= beta.lower - MESH)


def test_negative_epsilon_is_the_other_direction(pair):
    """delta(-e) = 1 - exp(-e) + exp(-e) delta_swap(e)."""
    here, there = pair.delta_bracket(-EPSILON), pair.swap().delta_bracket(EPSILON)
    odds = np.exp(-EPSILON)
    room = 1e-12 * (1 + odds)
    assert np.all(here.lower <= 1 - odds + odds * there.upper + room)
    assert np.all(here.upper >= 1 - odds + odds * there.lower - room)


def test_the_profile_falls_and_is_convex_in_the_odds(curve):
    delta = curve.delta_bracket(EPSILON)
    assert np.all(delta.lower[1:] <= delta.upper[:-1])
    x = np.exp(EPSILON)
    middle = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    chord = (1 - middle) * delta.upper[:-2] + middle * delta.upper[2:]
    assert np.all(delta.lower[1:-1] <= chord + ROUNDING)


def test_epsilon_inverts_delta(curve):
    for target in (0.5, 0.1, 1e-3, 1e-7):
        found = curve.epsilon(target)
        if np.isfinite(found):
            assert curve.delta(found) <= target
        if 0 < found < np.inf:
            assert curve.delta(found * (1 - 1e-9)) >= target * (1 - 1e-7)
        else:
            assert curve.delta(0) <= target or curve.delta(600) > target


def test_log_delta_is_the_logarithm(curve):
    delta, log = curve.delta_bracket(SOME_EPSILON), curve.log_delta_bracket(SOME_EPSILON)
    with np.errstate(divide="ignore"):
        assert np.all(log.lower <= np.log(delta.upper) + 1e-12)
        assert np.all(np.log(delta.lower) <= log.upper + 1e-12)


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.97])
def test_bayes_error_is_the_least_over_tests(curve, prior):
    alpha = ALPHA[::8]
    risks = [np.min((1 - prior) * alpha + prior * side) for side in curve.beta_bracket(alpha)]
    answer = curve.bayes_error(prior)
    assert risks[0] - MESH <= answer <= risks[1] + ROUNDING
