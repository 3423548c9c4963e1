"""Pairs that are slow to read, and what composes of them."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import shuffled
from neyman.curves import (
    TradeOff,
    approx_dp,
    best,
    bounded_range,
    gdp,
    laplace,
    piecewise,
    poisson,
    pure_dp,
    subsample,
    worst,
    zcdp,
)
from neyman.curves._algebra._factors import factors_of
from neyman.numerics import Span
from neyman.numerics._atomic._rounding import _end
from neyman.numerics._laws._laplace_law import LaplaceLaw

SLOW = [
    bounded_range(1, times=20) @ gdp(1),
    shuffled(2, reports=1000).curve.dominating() @ pure_dp(1),
    best(zcdp(0.1), gdp(1)) ** 2,
    poisson(best(zcdp(0.1), gdp(1)), Fraction(1, 10)) ** 2,
    # Some mass is at infinity on one side.
    piecewise([0, 0.3, 1], [0.9, 0.4, 0]) @ gdp(1),
]


@pytest.mark.parametrize("curve", SLOW, ids=str)
def test_what_is_slow_to_read_composes_all_the_same(curve):
    delta = curve.delta([0.0, 1.0], bracket=True)
    assert np.all((delta.lower <= delta.upper) & (delta.upper < 0.95))
    epsilon = curve.epsilon(1e-4, bracket=True)
    assert epsilon.lower <= epsilon.upper
    if curve.remove.of_class:
        return
    assert np.all(delta.upper - delta.lower <= 1e-3 * delta.upper)
    beta = curve.beta(0.05, bracket=True)
    assert beta.upper - beta.lower < 1e-3
    # No more is lost in the first factor alone, which has a formula.
    assert np.all(
        factors_of(curve.remove)[0][0].delta_bracket(np.array([0.0, 1.0])).lower <= delta.upper
    )


def test_a_best_within_another_pair_is_left_as_it_is():
    lone = TradeOff(gdp(1).remove, laplace(2).remove)
    curve = subsample(worst(lone, pure_dp(1)), 0.25) ** 2
    lower, upper = curve.delta(0.5, bracket=True)
    assert 0 < lower <= upper < 1


def test_what_is_to_be_written_instead():
    together = best(bounded_range(1) ** 20 @ gdp(1), zcdp(2.5) @ gdp(1))
    assert together.delta(4) <= (gdp(bounded_range(1).mu()) ** 20 @ gdp(1)).delta(4)
    report = shuffled(2, reports=1000).curve.dominating()
    assert (approx_dp(report.epsilon(1e-6), 1e-6) @ gdp(1)).delta(1) >= gdp(1).delta(1)


def test_failures_still_factor_out():
    curve = shuffled(2, reports=1000).curve.dominating()
    failed = curve @ approx_dp(0, 1e-3)
    assert failed.delta(0.4) == pytest.approx(1e-3 + 0.999 * curve.delta(0.4), rel=1e-12)


@pytest.mark.parametrize("end", [1e-9, 0.3, 1.0, 1.5, 37.0, 799.0, 5000.0])
@pytest.mark.parametrize("reach", [800.0, 10.0, 1e-3])
def test_the_end_of_a_profile(end, reach):
    found = _end(lambda x: np.where(x < end, 0.0, -np.inf), reach, -760.0)
    assert min(end, reach) <= found <= 1.07 * min(end, reach)


def test_a_phase_that_no_panels_follow_is_not_known():
    law = LaplaceLaw(20.0, 0.5)
    nodes = law.prepared(Span(1.1, 2.0, 1e5))
    assert nodes.panels == 1
    _, error = nodes.line(1.5, np.linspace(0.0, 1e5, 9))
    assert np.all(np.isinf(error[1:]))
    assert law.prepared(Span(1.1, 2.0, 30.0)).line(1.5, np.linspace(0.0, 30.0, 9))[1].max() < 1e-9
