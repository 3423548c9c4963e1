"""What a claim allows, where its curve is read by support lines."""

import numpy as np
import pytest

import neyman as ny
from neyman.accounting import dp_sgd
from neyman.audit import refute
from neyman.audit._null import Null

X = np.concatenate([[0.0, 1e-9, 1e-6, 1e-3], np.linspace(0.01, 0.99, 9), [1 - 1e-4, 1.0]])
SLOW = {
    "training": dp_sgd(1.1, 0.01, 1000),
    "two-way sample": ny.poisson(ny.gdp(1), 0.1),
    "atoms": ny.poisson(ny.pure_dp(1), 0.1),
    "mixed": ny.gdp(3) @ ny.pure_dp(1),
    "failing": ny.poisson(ny.gdp(1) @ ny.approx_dp(0, 0.01), 0.5),
    "one way": (ny.laplace(1) ** 10).remove,
}


@pytest.mark.parametrize("claim", SLOW.values(), ids=SLOW)
def test_the_lines_lie_nowhere_above_the_curve_and_near_it(claim):
    null = Null(claim)
    assert null._line is not None
    low, high = null.ends(X)
    curve = claim.dominating().beta_bracket(X)
    assert (low <= curve.upper).all()
    assert (curve.lower - high).max() < 1e-5
    # A convex line, as the proof of the supremum wants it.
    x, y = null._line
    assert (np.diff(np.diff(y) / np.diff(x)) > -1e-9).all()


def test_a_twin_that_is_lifted_lies_above():
    claim = SLOW["mixed"]
    low, _ = Null(claim).ends(X)
    assert (low + 1e-4 > claim.beta_bracket(X).upper).any()


def test_quick_claims_are_read_as_they_are():
    for claim in (ny.gdp(1), ny.approx_dp(1, 1e-6), ny.laplace(1), ny.poisson(ny.gdp(1), 0.1).add):
        assert Null(claim)._line is None


def test_a_training_is_tested_with_few_readings_of_its_curve(monkeypatch):
    readings, curve = [], type(SLOW["training"])
    read = curve.delta_bracket
    monkeypatch.setattr(curve, "beta_bracket", None)
    monkeypatch.setattr(curve, "delta_bracket", lambda *args: (readings.append(1), read(*args))[1])
    draw = np.random.default_rng(0)
    inside, outside = draw.normal(1, 1, 300), draw.normal(0, 1, 300)
    assert refute(inside, outside, SLOW["training"], seed=1).refuted
    assert len(readings) <= 4
