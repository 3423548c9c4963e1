"""Guarantees of two directions that have nothing to do with each other."""

import numpy as np
import pytest

from neyman.curves import (
    Auto,
    TradeOff,
    approx_dp,
    bounded_range,
    gdp,
    laplace,
    piecewise,
    poisson,
    pure_dp,
    staircase,
    worst,
    zcdp,
)

UNRELATED = [
    TradeOff(gdp(0.1).remove, laplace(5).remove),
    TradeOff(laplace(5).remove, gdp(0.1).remove),
    TradeOff(pure_dp(1).remove, approx_dp(0, 0.3).remove),
]


# A power is an error less than 1, so that one of the two is asked of each guarantee.
@pytest.mark.parametrize(
    ("f", "power"),
    [
        pytest.param(f, power, marks=pytest.mark.soak if place else ())
        for place, (f, power) in enumerate(zip(UNRELATED, (True, False, True), strict=True))
    ],
    ids=str,
)
def test_beside_a_statement_neither_direction_is_forgotten(f, power):
    together = f @ zcdp(0.01)
    at, alpha = np.array([-0.5, 0.0, 0.5, 1.0, 3.0]), np.array([1e-3, 0.05, 0.5])
    assert np.all(together.delta(at) >= f.delta(at, bracket=True).lower)
    if power:
        assert np.all(together.tpr(alpha) >= f.tpr(alpha, bracket=True).lower)
    else:
        assert np.all(together.beta(alpha) <= f.beta(alpha, bracket=True).upper)
    # As much as of the member that is a Gaussian, and not as much as of ten times the statement.
    member, more = f @ gdp(0.02**0.5), f @ gdp(0.2**0.5)
    assert np.all(together.delta(at) >= member.delta(at, bracket=True).lower)
    assert together.delta(0.5) <= more.delta(0.5)


def test_a_sampled_composition_seen_from_with_the_record_is_read_closely():
    f = (poisson(gdp(0.063) @ bounded_range(0.063), 0.286) ** 2).add
    lower, upper = f.log_delta(0.163, bracket=True)
    assert lower <= upper <= lower + 0.05


def test_what_is_kept_does_not_depend_on_the_question_that_came_first():
    inner = worst(laplace(0.11) ** 4 @ staircase(0.12, period=3, width=1) ** 3, laplace(0.2))
    f = inner**20 @ bounded_range(0.3)
    f.epsilon(1e-5, solver=Auto(seconds=1e-3))
    lower, upper = f.epsilon(1e-5, bracket=True)
    assert upper - lower < 1e-3 * upper


@pytest.mark.soak
def test_the_power_is_as_close_as_the_profile_it_is_read_from():
    line = piecewise([0, 0.01, 0.1, 0.5, 1], [1, 0.97, 0.85, 0.42, 0])
    f = poisson(line, 0.01) ** 1000
    # The power of the larger of the two directions, which it has alone at so small a size.
    solver = Auto(tolerance=0.005)
    lower, upper = f.tpr(1e-3, solver=solver, bracket=True)
    alone = f.remove.tpr(1e-3, bracket=True)
    assert alone.lower <= upper <= lower * 1.01
    beta = f.beta(1e-3, solver=solver, bracket=True)
    assert beta.lower <= 1 - lower
    assert 1 - upper <= beta.upper <= beta.lower + 1e-4
