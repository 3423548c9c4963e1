"""No event on the last bits of a release tells v from v + 1 better than G_mu allows.

Naive float noise fails this: its last bits betray the value (Mironov 2012).
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr, ndtri

from neyman.curves import gdp
from neyman.mechanisms import Canonical, DiscreteLaplace, Gaussian, Laplace, Staircase

TRIALS = 10**6
# Chance that one bound of one event fails for a right sampler; below 10,000 of them are read.
ERROR_RATE = 1e-12


LOWEST = range(-70, 8)
RESIDUES = 32


def lowest_bit(released):
    """Exponent of the lowest set bit of every number, an exact dyadic rational; 100 for zero."""
    fraction, exponent = np.frexp(released.astype(np.float64))
    digits = np.ldexp(fraction, 53).astype(np.int64)
    # The lowest set bit of an integer is a power of two, whose exponent frexp reads off exactly.
    power = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(released == 0, 100, power + exponent - 53)


def hits(released):
    """Counts of events on the last bits: the lowest set bit of a number, is it 2^k, is it 2^k or
    above; residues of integers mod 2, 4, ..., 32."""
    lowest = np.clip(lowest_bit(released), LOWEST.start - 1, LOWEST.stop) - LOWEST.start + 1
    exactly = np.bincount(lowest, minlength=len(LOWEST) + 2)
    or_above = np.cumsum(exactly[::-1])[::-1]
    whole = np.floor(released)
    residue = whole[whole == released].astype(np.int64) % RESIDUES
    fine = np.bincount(residue, minlength=RESIDUES)
    folded = [fine.reshape(-1, 2**k).sum(axis=0) for k in range(1, 6)]
    return np.concatenate([exactly[1:-1], or_above[1:-1], *folded])


def bounds(hits):
    """Clopper–Pearson bounds of probabilities, each wrong with chance ERROR_RATE."""
    low = betaincinv(np.maximum(hits, 1), TRIALS - hits + 1, ERROR_RATE)
    high = betaincinv(hits + 1, np.maximum(TRIALS - hits, 1), 1 - ERROR_RATE)
    return np.where(hits > 0, low, 0.0), np.where(hits < TRIALS, high, 1.0)


def separates(here, there, power):
    """Whether some event is likelier under one than `power` of its chance under the other."""
    (low, high), (low_other, high_other) = bounds(hits(here)), bounds(hits(there))
    return bool(np.any(low > power(high_other)) or np.any(low_other > power(high)))


def gaussian_power(mu):
    return lambda alpha: ndtr(ndtri(alpha) + mu)


def pure_power(epsilon):
    return lambda alpha: np.minimum(
        np.minimum(1.0, np.exp(epsilon) * alpha), 1 - np.exp(-epsilon) * (1 - alpha)
    )


CASES = [
    (Gaussian(scale=3), gaussian_power(1 / 3)),
    (Gaussian(scale=2**20), gaussian_power(2.0**-20)),
    (Gaussian(scale=Fraction(1, 8)), gaussian_power(8)),
    (Laplace(scale=3), pure_power(1 / 3)),
    (Laplace(scale=2**20), pure_power(2.0**-20)),
    (DiscreteLaplace(scale=3), pure_power(1 / 3)),
    (Staircase(epsilon=Fraction(1, 3), period=3, width=1), pure_power(1 / 3)),
    (Canonical(curve=gdp(Fraction(1, 3)), period=1), gaussian_power(1 / 3)),
]


@pytest.mark.shows(
    "curve of DiscreteLaplace", "curve of Gaussian", "curve of Laplace", "exact-noise"
)
@pytest.mark.parametrize(("mechanism", "power"), CASES, ids=lambda case: repr(case)[:40])
@pytest.mark.parametrize("value", [0, 12345])
def test_last_bits_keep_the_guarantee(mechanism, power, value):
    here, there = (mechanism.add_noise(np.full(TRIALS, v)) for v in (value, value + 1))
    assert not separates(here, there, power)


@pytest.mark.parametrize("scale", [3.0, 8.0])
def test_broken_twin_of_float_noise_is_caught(scale):
    rng = np.random.default_rng(1)
    here, there = (v + scale * rng.standard_normal(TRIALS) for v in (0, 1))
    assert separates(here, there, gaussian_power(1 / scale))
    here, there = (v + scale * rng.laplace(size=TRIALS) for v in (0, 1))
    assert separates(here, there, pure_power(1 / scale))


def test_broken_twin_with_half_the_noise_is_caught():
    """A narrower sampler's residues tell the neighbours apart, so the integer events have power."""
    narrow = Gaussian(scale=Fraction(3, 2))
    here, there = (narrow.add_noise(np.full(TRIALS, v)) for v in (0, 1))
    assert separates(here, there, gaussian_power(1 / 3))
