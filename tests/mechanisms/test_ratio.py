"""Ratio intervals hold what they claim, and are infinite where nothing can be claimed."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.mechanisms import Gaussian, Laplace
from neyman.mechanisms._ratio import box_interval, fieller_interval
from neyman.testing import SeededBits

NOWHERE = (-math.inf, math.inf)
MECHANISMS = [Gaussian(scale=10), Laplace(scale=7), Gaussian(variance=Fraction(1, 3))]


def coverage(mechanism, top, bottom, confidence, trials=4000, noise=None):
    """How often the interval holds top / bottom; seeded, so this test always answers the same."""
    source = SeededBits(11)
    noisy = (noise or mechanism).add_noise(np.tile([top, bottom], (trials, 1)), source)
    held = 0
    for s, n in noisy.tolist():
        low, high = mechanism.ratio_interval(s, n, confidence)
        held += low <= top / bottom <= high
    return held / trials


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize(("top", "bottom"), [(0, 100), (-300, 60), (5000, 200), (37, 35), (1, 3)])
def test_intervals_cover(mechanism, top, bottom):
    """Four standard errors below 90 %: a fresh seed would fail one time in 30,000."""
    assert coverage(mechanism, top, bottom, 0.9) > 0.9 - 4 * math.sqrt(0.09 / 4000)


def test_gaussian_coverage_is_not_wasteful():
    """Fieller's set is exact up to rounding: at scale 10 below 93.5 % for a nominal 90 %."""
    assert coverage(Gaussian(scale=10), 5000, 200, 0.9) < 0.935


@pytest.mark.parametrize("mechanism", MECHANISMS[:2], ids=repr)
def test_broken_twin_with_noise_twice_as_wide_is_not_covered(mechanism):
    wide = {Gaussian: Gaussian(scale=20), Laplace: Laplace(scale=20)}[type(mechanism)]
    assert coverage(mechanism, 5000, 200, 0.9, noise=wide) < 0.8


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_denominator_that_is_not_positive_leaves_the_ratio_undefined(mechanism):
    for denominator in (0, -1, -1000, 1):
        assert mechanism.ratio_interval(500, denominator, 0.99) == NOWHERE


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 95, math.nan])
@pytest.mark.parametrize("mechanism", MECHANISMS[:2], ids=repr)
def test_confidence_must_be_a_probability(mechanism, confidence):
    with pytest.raises(InvalidParameter, match=r"such as 0\.95"):
        mechanism.ratio_interval(1, 100, confidence)
    with pytest.raises(InvalidParameter, match=r"such as 0\.95"):
        mechanism.half_width(confidence)


PAIRS = [(0, 50), (100, 50), (-100, 50), (7, 33), (25, 26), (10**12, 10**6), (2**62, 2**61)]
PAIRS += [(-(2**62), 40), (3, 2**62), (13, 1000), (12, 1000), (-12, 1000)]


@pytest.mark.parametrize(("s", "n"), PAIRS)
@pytest.mark.parametrize("width", [0.3, 12.5, 25.0])
def test_fieller_ends_are_outside_the_exact_set_by_little(s, n, width):
    """In exact arithmetic: at an end the pair is rejected, a little inside it is not."""

    def rejected(rho):
        excess = abs(s - rho * n) - (1 + abs(rho)) / 2
        return excess > 0 and excess**2 >= Fraction(width) ** 2 * (1 + rho**2)

    low, high = map(Fraction, fieller_interval(s, n, width))
    assert low < high
    assert rejected(low)
    assert rejected(high)
    # By 1e-6 of the interval, or by four doubles where that is less.
    little = max((high - low) / 10**6, max(-low, high) / 2**50)
    assert not rejected(min(low + little, Fraction(s, n)))
    assert not rejected(max(high - little, Fraction(s, n)))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_numpy_integers_do_not_overflow(mechanism):
    asked = mechanism.ratio_interval(10**15, 2**62, 0.95)
    assert mechanism.ratio_interval(np.int64(10**15), np.int64(2**62), 0.95) == asked


def test_fieller_set_is_undefined_exactly_where_it_is_unbounded():
    assert fieller_interval(3, 26, 25.0) != NOWHERE
    assert fieller_interval(3, 25, 25.0) == NOWHERE


@pytest.mark.parametrize(("s", "n"), PAIRS)
def test_box_ends_are_the_extreme_ratios(s, n):
    h = 12
    corners = [Fraction(s + a, n + b) for a in (-h, h) for b in (-h, h)]
    low, high = box_interval(s, n, h)
    assert low < min(corners) <= max(corners) < high
    assert low == pytest.approx(float(min(corners)), rel=1e-14, abs=1e-300)
    assert high == pytest.approx(float(max(corners)), rel=1e-14, abs=1e-300)


def test_box_is_undefined_exactly_where_it_reaches_zero():
    assert box_interval(3, 13, 12) != NOWHERE
    assert box_interval(3, 12, 12) == NOWHERE
