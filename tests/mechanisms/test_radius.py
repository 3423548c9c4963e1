"""The norm of noise on many integers: never beyond the radius more often than said."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import gdp
from neyman.errors import InvalidParameter
from neyman.mechanisms import Canonical, DiscreteLaplace, Gaussian, Laplace
from neyman.mechanisms._mechanism import Mechanism
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits

ONE = Sensitivity(
    neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1), coordinates=1, largest=1
)
NOISES = [
    Gaussian(scale=0.4),
    Gaussian(scale=200),
    Laplace(scale=0.3),
    Laplace(scale=200),
    DiscreteLaplace(scale=3),
    Canonical.calibrate(ONE, gdp(0.5)),
]
DRAWS = 100_000


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("rank", "size"), [(1, 1), (1, 4), (3, 4), (6, 6)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_projection_is_within_the_radius(noise, rank, size, confidence):
    """Misses are binomial at most: six deviations, error rate 1e-9 were the bits not seeded."""
    drawn = noise.add_noise(np.zeros(DRAWS * size, np.int64), SeededBits(7)).reshape(-1, size)
    basis, _ = np.linalg.qr(np.random.default_rng(rank).normal(size=(size, rank)))
    norms = np.linalg.norm(drawn @ basis, axis=1)
    radius = noise.radius(rank, size, confidence)
    chance = 1 - confidence
    allowed = DRAWS * chance + 6 * math.sqrt(DRAWS * chance * confidence)
    assert np.sum(norms > radius * (1 + 1e-12)) <= allowed
    if rank == size > 1 and noise.stddev > 100 and confidence < 0.99:
        # And 4 % less would not do.
        assert np.sum(norms > 0.96 * radius) > allowed


def test_the_gaussian_needs_the_rank_alone():
    """Quantiles of the chi law: 1.960, 2.448 and 2.795 times sigma."""
    noise = Gaussian(scale=10**6)
    for rank, chi in ((1, 1.959964), (2, 2.447747), (3, 2.795483)):
        assert noise.radius(rank, 10, 0.95) == pytest.approx(1e6 * chi, rel=1e-5)
    assert Mechanism.radius(noise, 3, 3, 0.95) == pytest.approx(1e6 * 2.795483, rel=0.02)
    assert Mechanism.radius(noise, 3, 3, 0.95) >= noise.radius(3, 3, 0.95)


def test_what_is_known_of_no_noise_is_infinite():
    assert Laplace(scale=3).radius(4, 4, 1 - 1e-13) == math.inf
    assert Gaussian(scale=3).radius(4, 4, 1 - 1e-13) < math.inf


@pytest.mark.parametrize(("rank", "size"), [(0, 3), (4, 3)])
def test_a_rank_that_is_none_is_refused(rank, size):
    with pytest.raises(InvalidParameter, match="the rank of a projection must be"):
        Laplace(scale=3).radius(rank, size, 0.95)
