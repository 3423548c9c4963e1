"""Matrix mechanisms: sensitivities against brute force, errors against their definition."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from neyman.accounting import (
    FixedEpochs,
    MinimumSeparation,
    Once,
    Strategy,
    banded_strategy,
    square_root_strategy,
    tree_strategy,
)
from neyman.curves import gdp
from neyman.errors import InvalidParameter

STEPS = 10
MATRICES = {
    "identity": Strategy(np.eye(STEPS)),
    "prefix": Strategy(np.tril(np.ones((STEPS, STEPS)))),
    "square root": square_root_strategy(STEPS),
    "banded": banded_strategy(STEPS, 3),
    "tree": tree_strategy(STEPS),
    "random": Strategy(np.tril(np.random.default_rng(3).random((STEPS, STEPS)))),
    "random bands": Strategy(
        np.tril(np.triu(np.random.default_rng(4).random((STEPS, STEPS)), -1)) + np.eye(STEPS)
    ),
}
ALL = pytest.mark.parametrize("strategy", MATRICES.values(), ids=MATRICES)


def brute(matrix, patterns):
    """Return the largest squared norm in exact arithmetic."""
    exact = [[Fraction(float(x)) for x in row] for row in matrix]
    return max(sum(sum(row[i] for i in p) ** 2 for row in exact) for p in patterns)


def separated(separation, times):
    return [
        p
        for k in range(1, times + 1)
        for p in combinations(range(STEPS), k)
        if all(b - a >= separation for a, b in pairwise(p))
    ]


def held(found, truth):
    assert truth <= found <= truth * (1 + Fraction(1, 10**12))


@ALL
def test_single_participation(strategy):
    held(strategy.sensitivity_squared(Once()), brute(strategy.matrix, [(i,) for i in range(STEPS)]))


@ALL
@pytest.mark.parametrize("period", [1, 3, 4, 10, 12])
def test_fixed_epochs(strategy, period):
    patterns = [tuple(range(p, STEPS, period)) for p in range(min(period, STEPS))]
    held(strategy.sensitivity_squared(FixedEpochs(period)), brute(strategy.matrix, patterns))


@ALL
@pytest.mark.parametrize(("separation", "times"), [(1, 2), (2, 3), (3, 4), (4, 2), (11, 2)])
def test_minimum_separation(strategy, separation, times):
    pattern = MinimumSeparation(separation=separation, times=times)
    held(
        strategy.sensitivity_squared(pattern),
        brute(strategy.matrix, separated(separation, times)),
    )


@ALL
def test_contributions_of_any_direction_move_it_no_further(strategy):
    """What the bound is for: random unit vectors at every step of every pattern."""
    rng = np.random.default_rng(8)
    bound = float(strategy.sensitivity_squared(MinimumSeparation(separation=2, times=3)))
    for pattern in separated(2, 3):
        u = rng.normal(size=(len(pattern), 4))
        u /= np.linalg.norm(u, axis=1)[:, None]
        assert np.sum((strategy.matrix[:, pattern] @ u) ** 2) <= bound * (1 + 1e-12)


@ALL
def test_the_error_is_the_decoders(strategy):
    worst, average = strategy.error()
    prefix = np.tril(np.ones((STEPS, STEPS)))
    decoder = prefix @ np.linalg.pinv(strategy.matrix)
    norms = np.sum(decoder**2, axis=1)
    assert worst == pytest.approx(np.sqrt(norms.max()), rel=1e-9)
    assert average == pytest.approx(np.sqrt(norms.mean()), rel=1e-9)


def test_the_known_mechanisms():
    assert MATRICES["identity"].error() == pytest.approx((np.sqrt(10), np.sqrt(5.5)))
    assert MATRICES["prefix"].error() == pytest.approx((1, 1))
    root = square_root_strategy(64)
    assert np.allclose(root.matrix @ root.matrix, np.tril(np.ones((64, 64))))
    c = root.matrix[:, 0]
    assert root.error()[0] == pytest.approx(np.sqrt(c @ c))
    # Twice the squared sensitivity of the tree counts the levels.
    assert float(tree_strategy(16).sensitivity_squared(Once())) == pytest.approx(5)
    assert tree_strategy(5).matrix.shape == (5 + 2 + 1, 5)

    def cost(strategy):
        return strategy.error()[0] ** 2 * float(strategy.sensitivity_squared(Once()))

    assert cost(root) < cost(tree_strategy(64)) < cost(Strategy(np.eye(64)))


def test_the_curve():
    f = MATRICES["identity"].tradeoff(noise_multiplier=2, participation=Once())
    assert f.mu() == pytest.approx(0.5)
    assert gdp(0.5).mu() <= f.mu()
    twice = MATRICES["identity"].tradeoff(noise_multiplier=2, participation=FixedEpochs(5))
    assert twice.mu() == pytest.approx(np.sqrt(2) / 2)


def test_too_many_patterns_are_refused():
    rng = np.random.default_rng(1)
    strategy = Strategy(np.tril(rng.random((60, 60))))
    with pytest.raises(InvalidParameter, match="no closed form"):
        strategy.sensitivity_squared(MinimumSeparation(separation=2, times=10))
    assert square_root_strategy(60).sensitivity_squared(MinimumSeparation(separation=2, times=10))


def test_refusals():
    for wrong in (
        np.zeros((2, 2)),
        -np.eye(2),
        np.array([[np.inf]]),
        np.ones(3),
        np.eye(2) * 2.0**200,
    ):
        with pytest.raises(InvalidParameter):
            Strategy(wrong)
    for make in (lambda: FixedEpochs(0), lambda: MinimumSeparation(separation=1, times=0)):
        with pytest.raises(InvalidParameter):
            make()
    for make in (lambda: square_root_strategy(0), lambda: banded_strategy(4, 5)):
        with pytest.raises(InvalidParameter):
            make()
    with pytest.raises(InvalidParameter, match="adds no noise"):
        MATRICES["banded"].tradeoff(noise_multiplier=0, participation=Once())
    with pytest.raises(InvalidParameter, match="cannot be read off"):
        Strategy(np.ones((1, 3))).error()
    matrix = np.eye(3)
    strategy = Strategy(matrix)
    matrix[0, 0] = 5
    assert strategy.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        strategy.matrix[0, 0] = 2
