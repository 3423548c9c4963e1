"""Views take numbers and arrays of every shape, at every end of the doubles, without a warning."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import (
    Answer,
    TradeOff,
    approx_dp,
    bounded_range,
    gdp,
    identity,
    laplace,
    pure_dp,
)
from neyman.errors import InvalidParameter

TINY = 5e-324
BELOW_ONE = 1 - 2.0**-53
EPSILONS = [0.0, math.inf, -math.inf, 1e308, -1e308, TINY, -TINY, 700.0, -700.0, 1e-300, 1e200]
LEVELS = [0.0, 1.0, 0.5, TINY, 1e-310, BELOW_ONE]
ORDERS = [TINY, 1e-300, 0.5, BELOW_ONE, 1.0, 1 + 2.0**-52, 2.0, 1e300, 1e308, math.inf]
PRIORS = [TINY, 1e-310, 1e-10, 0.5, BELOW_ONE]
VIEWS = {
    "delta": EPSILONS,
    "log_delta": EPSILONS,
    "epsilon": LEVELS,
    "beta": LEVELS,
    "tpr": LEVELS,
    "renyi": ORDERS,
    "bayes_error": PRIORS,
}
EXOTIC = [
    identity(),
    gdp(1),
    gdp(1e-7),
    gdp(60),
    gdp(1e-150),
    gdp(1e150),
    pure_dp(1e-12),
    pure_dp(700),
    pure_dp(1e-150),
    laplace(1e-12),
    laplace(700),
    laplace(1e-150),
    bounded_range(1e-12),
    bounded_range(700),
    bounded_range(1e-150),
    approx_dp(0, 1),
    approx_dp(1, 1),
    approx_dp(700, 1e-300),
    approx_dp(0, 1e-300) ** 3,
    approx_dp(0, 1) ** 5,
    approx_dp(0, 0.5) ** 10**9,
    gdp(1) @ approx_dp(0, 1),
    laplace(3) @ approx_dp(0, BELOW_ONE),
    TradeOff(gdp(1).remove, laplace(1).remove),
]


@pytest.mark.parametrize("curve", EXOTIC, ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_ends_of_the_doubles(curve, view):
    ask, grid = getattr(curve, view), VIEWS[view]
    together = ask(grid, bracket=True)
    assert not np.any(np.isnan([*together]))
    assert np.all(together.lower <= together.upper)
    for i, x in enumerate(grid):
        alone = ask(x, bracket=True)
        assert type(alone) is Answer
        assert [type(side) for side in alone] == [float, float]
        # Vectorised library functions differ from scalar ones by a step or two.
        assert np.allclose([*alone], [side[i] for side in together], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("curve", [gdp(1), approx_dp(1, 0.1), laplace(2)], ids=str)
def test_shapes_are_kept(curve, view):
    ask, x = getattr(curve, view), 0.25
    assert type(ask(x)) is type(ask(np.float64(x))) is type(ask(np.array(x))) is float
    assert ask([]).shape == (0,)
    assert ask(np.zeros((0, 3))).shape == (0, 3)
    assert ask([x]).shape == (1,)
    assert ask([[x, 0.5], [0.5, x]]).shape == (2, 2)
    assert ask(np.full((2, 3), x))[1, 2] == pytest.approx(ask(x), rel=1e-14)
    assert ask([Fraction(1, 4), Decimal("0.25")]).tolist() == ask([x, x]).tolist()
    assert ask(np.float32(x)) == ask(x)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "value",
    [math.nan, [0.1, math.nan], "0.5", ["0.5"], b"1", True, [True], None, 1j, [1, [2]], ...],
    ids=repr,
)
def test_what_is_no_number_is_refused(view, value):
    with pytest.raises(InvalidParameter, match="write"):
        getattr(gdp(1), view)(value)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda f: f.beta(-0.1), "alpha=-0.1 leaves \\[0, 1\\]"),
        (lambda f: f.beta([0.5, 1.1]), "alpha"),
        (lambda f: f.tpr(2), "fpr=2 leaves"),
        (lambda f: f.epsilon(1.1), "delta=1.1 leaves"),
        (lambda f: f.epsilon(-1e-9), "delta"),
        (lambda f: f.renyi(-1), "order=-1 is negative; write"),
        (lambda f: f.renyi([1, -1]), "is negative"),
        (lambda f: f.mu(slack=1), "slack=1 sets everything aside; write"),
        (lambda f: f.mu(slack=-0.1), "slack"),
        (lambda f: f.mu(slack=[0.1, 0.2]), "write one number"),
        (lambda f: f.bayes_error(0), "prior=0 leaves nothing to guess; write"),
        (lambda f: f.bayes_error(1.5), "prior"),
        (lambda f: f.posterior(1, fpr=0.1), "prior"),
        (lambda f: f.posterior(0.5, fpr=0), "fpr=0 accuses nobody wrongly, .*; write"),
    ],
)
def test_what_is_out_of_range_is_refused(ask, words):
    with pytest.raises(InvalidParameter, match=words):
        ask(gdp(1))


@pytest.mark.parametrize("curve", EXOTIC, ids=str)
def test_summaries_answer_everywhere(curve):
    for bounds in (curve.mu(bracket=True), curve.zcdp(bracket=True)):
        assert 0 <= bounds.lower <= bounds.upper
    assert curve.outer_gaussian() is None or curve.outer_gaussian() >= curve.inner_gaussian() >= 0
    assert curve.outer_pure() is None or curve.outer_pure() >= curve.inner_pure() >= 0
    assert curve.advantage() == curve.delta(0)


def test_a_profile_that_underflows_is_not_nothing():
    """An upper bound of 0 would be a false promise, and epsilon(0) of a Gaussian finite."""
    assert gdp(1).delta(700) > 0
    assert gdp(1).delta(1e300) > 0
    assert gdp(1).delta(math.inf) == 0
    assert gdp(1).epsilon(0) == math.inf
    assert gdp(1).log_delta(1e3) == pytest.approx(-499514.8594518, abs=1e-6)
    assert gdp(38).beta(0.3) > 0
    assert gdp(45).beta(0.3, bracket=True).upper > 0


def test_total_loss():
    f = approx_dp(0, 1)
    assert (f.delta(5), f.beta(0), f.tpr(0), f.epsilon(0.999), f.epsilon(1)) == (
        1,
        0,
        1,
        math.inf,
        0,
    )
    assert (f.mu(), f.mu(slack=0.9), f.zcdp(), f.renyi(0.5)) == (math.inf,) * 4


def test_attacks():
    f = gdp(1)
    # The best guess at even odds errs half of what its advantage leaves.
    assert f.bayes_error(0.5) == pytest.approx((1 - f.advantage()) / 2, rel=1e-14)
    grid = np.concatenate([np.logspace(-12, 0, 100_001), [0.0]])
    for prior in (0.01, 0.3, 0.9):
        least = np.min((1 - prior) * grid + prior * f.beta(grid))
        lower, upper = f.bayes_error(prior, bracket=True)
        assert lower <= least <= upper + 1e-8
    for prior, fpr in ((0.01, 0.001), (0.5, 0.05), (0.9, 0.5)):
        right = prior * f.tpr(fpr)
        assert f.posterior(prior, fpr=fpr) == pytest.approx(right / (right + (1 - prior) * fpr))
    assert f.posterior([[0.1], [0.2]], fpr=[0.01, 0.1, 1.0]).shape == (2, 3)
    assert f.posterior(1e-300, fpr=1e-300) == pytest.approx(1e-300 * f.tpr(1e-300) / 1e-300)


def test_useless_data_teach_nothing():
    f = identity()
    assert f.posterior(0.3, fpr=0.01) == pytest.approx(0.3, rel=1e-14)
    assert f.bayes_error([0.3, 0.7]) == pytest.approx([0.3, 0.3], rel=1e-14)


def test_mass_at_infinity():
    f = gdp(1) @ approx_dp(0, 1e-6)
    assert f.mu() == f.zcdp() == f.renyi(1) == f.renyi(2) == math.inf
    assert f.mu(slack=1e-6) == 1
    assert f.mu(slack=1e-7) == math.inf
    assert f.mu(slack=2e-6) < 1
    assert f.renyi(0.5) == pytest.approx(gdp(1).renyi(0.5) + 2e-6, rel=1e-6)
    assert f.epsilon(1e-6) == math.inf
    assert math.isfinite(f.epsilon(1.001e-6))
