"""Gaussian noise of any covariance: the exact mu, the least trace with its proof, integer maps."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from neyman.accounting import (
    OptimalCovariance,
    box_covariance,
    integer_map,
    mahalanobis_squared,
    mapped_sensitivity,
    optimal_covariance,
)
from neyman.accounting._covariance import _hiding, _lower
from neyman.curves import gdp
from neyman.errors import InvalidParameter
from neyman.mechanisms import Gaussian
from neyman.numerics._rational_matrix import inverse_forms, is_semidefinite
from neyman.testing import SeededBits

RNG = np.random.default_rng(3)
MOVES = [
    [[1, 0], [0, 3]],
    [[3, 1], [1, 1], [2, -2]],
    np.tril(np.ones((6, 6), dtype=int)).T,
    RNG.integers(-9, 10, (12, 4)),
    RNG.integers(-9, 10, (30, 7)),
]


def fractions(table):
    return [[Fraction(int(x)) for x in row] for row in table]


@pytest.mark.parametrize("moves", MOVES, ids=lambda m: str(np.shape(m)))
def test_the_optimum_hides_every_move_and_its_gap_is_small(moves):
    found = optimal_covariance(moves)
    assert mahalanobis_squared(found.covariance, moves) <= 1
    assert 0 < found.lower <= found.trace <= found.lower * (1 + 2e-7)
    assert found.trace == pytest.approx(np.trace(found.covariance), rel=1e-13)
    assert found.weights.sum() == pytest.approx(1)
    # Not much smaller noise would do.
    assert mahalanobis_squared(found.covariance * 0.999, moves) > 1


@pytest.mark.parametrize("moves", MOVES, ids=lambda m: str(np.shape(m)))
def test_no_other_covariance_is_below_the_lower_bound(moves):
    """Random covariances, scaled until they hide the moves, and the isotropic one."""
    found, v = optimal_covariance(moves), np.array(moves, dtype=float)
    rng = np.random.default_rng(1)
    assert found.lower <= v.shape[1] * np.max(np.sum(v**2, axis=1)) * (1 + 1e-12)
    for spread in (0.01, 0.1, 1.0) * 10:
        turn = rng.normal(0, spread, found.covariance.shape)
        step = np.eye(v.shape[1]) + (turn + turn.T) / 2
        other = step @ found.covariance @ step.T
        other *= np.max(np.einsum("ij,jk,ik->i", v, np.linalg.inv(other), v))
        assert np.trace(other) >= found.lower * (1 - 1e-12)


@pytest.mark.shows("curve of Gaussian of any covariance")
def test_known_optima():
    ends = optimal_covariance([[1, 0], [0, 3]])
    assert ends.covariance == pytest.approx(np.diag([1.0, 9.0]), abs=1e-5)
    sides = [1, 2, 5]
    corners = [
        [s * b for s, b in zip(signs, sides, strict=True)] for signs in product((1, -1), repeat=3)
    ]
    box = box_covariance(sides)
    assert np.diag(box) == pytest.approx([8, 16, 40], rel=1e-14)
    assert mahalanobis_squared(box, corners) <= 1
    found = optimal_covariance(corners)
    assert found.lower <= np.trace(box) <= found.trace * (1 + 1e-12)
    # Moves on the ellipse of A, of which A is the optimum.
    a = np.array([[2.0, 0.6], [0.6, 1.0]])
    angles = np.linspace(0, np.pi, 60, endpoint=False)
    v = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ np.linalg.cholesky(a).T
    assert optimal_covariance(v).covariance == pytest.approx(a, abs=5e-3)


@pytest.mark.shows("twin of Gaussian of any covariance")
def test_broken_twins_of_the_proof_are_refused():
    """A covariance that hides too little is grown; weights that prove little give a low bound."""
    moves = fractions(MOVES[1])
    grown = _hiding(np.eye(2) / 100, moves)
    assert mahalanobis_squared(grown, MOVES[1]) <= 1
    assert np.trace(grown) > 1
    weights = np.full(3, 1 / 3)
    too_large = np.eye(2) * 10.0
    assert _lower(weights, moves, too_large) == 0.0
    assert not is_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]])
    assert is_semidefinite([[Fraction(0), Fraction(0)], [Fraction(0), Fraction(1)]])
    assert inverse_forms([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]], moves) is None
    assert inverse_forms([[Fraction(1), Fraction(2)], [Fraction(3), Fraction(9)]], moves) is None


@pytest.mark.shows("S1.13", "S2.5", "e1.8", "e2.3", "e3.3", "curve of Gaussian of any covariance")
def test_mahalanobis_is_exact():
    assert mahalanobis_squared([[2, 1], [1, 2]], [[1, 0], [1, 1]]) == Fraction(2, 3)
    assert mahalanobis_squared([[0.1]], [[1]]) == 10
    assert gdp(squared=mahalanobis_squared([[4, 0], [0, 1]], [[2, 1]])).mu() == pytest.approx(
        2**0.5
    )
    v = RNG.integers(-5, 6, (6, 3))
    m = np.array([[5, 1, 0], [1, 4, 2], [0, 2, 6]])
    plain = np.max(np.einsum("ij,jk,ik->i", v, np.linalg.inv(m), v))
    assert float(mahalanobis_squared(m, v)) == pytest.approx(plain, rel=1e-13)


@pytest.mark.parametrize(
    ("covariance", "moves"),
    [
        ([[1, 2], [2, 1]], [[1, 0]]),
        ([[1, 0], [1, 1]], [[1, 0]]),
        ([[1, 0]], [[1, 0]]),
        ([[1]], [[1, 0]]),
        ([[1]], []),
        ([[0]], [[1]]),
        ([[1, 0], [0, 1]], [[1, 0], [1]]),
    ],
)
def test_what_is_no_covariance_is_refused(covariance, moves):
    with pytest.raises(InvalidParameter):
        mahalanobis_squared(covariance, moves)


def test_moves_that_do_not_span_are_refused():
    with pytest.raises(InvalidParameter, match="span"):
        optimal_covariance([[1, 1], [2, 2]])
    with pytest.raises(InvalidParameter, match="positive"):
        box_covariance([1, 0])


@pytest.mark.shows("S2.5", "draws of Gaussian of any covariance")
def test_correlated_noise_by_an_integer_map_has_its_covariance_and_its_exact_curve():
    """Release A v with independent noise, read A^-1: 10^5 draws, seeded."""
    moves = [[3, 1], [1, 1], [2, -2]]
    best = optimal_covariance(moves)
    a = integer_map(best.covariance, 1000)
    sensitivity = mapped_sensitivity(a, moves, "add_remove")
    assert sensitivity.l2_squared == max(int(x) for x in np.sum((np.array(moves) @ a.T) ** 2, 1))
    noise = Gaussian.calibrate(sensitivity, mu=1)
    assert noise.tradeoff(sensitivity) == gdp(1)
    assert float(noise.variance) == pytest.approx(1000**2, rel=5e-3)
    drawn = noise.add_noise(np.zeros((100_000, 2), dtype=np.int64), SeededBits(8))
    read = np.linalg.solve(a, drawn.T).T
    assert np.cov(read.T) == pytest.approx(best.covariance, abs=0.03 * best.trace)
    with pytest.raises(InvalidParameter, match="singular"):
        integer_map(best.covariance, 0)


def test_the_result_is_a_value():
    assert isinstance(optimal_covariance([[1]]), OptimalCovariance)
