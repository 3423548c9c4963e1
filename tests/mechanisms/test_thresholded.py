"""Thresholded noise: the failure is the law's, the curve holds, and twins that forget do not."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.curves import approx_dp, gdp, laplace, pure_dp
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms import (
    Canonical,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Staircase,
    Thresholded,
)
from neyman.sensitivity import NewGroups, Sensitivity
from neyman.testing import SeededBits

NOISES = [
    Gaussian(scale=3),
    Laplace(scale=2),
    DiscreteGaussian(scale=3),
    DiscreteLaplace(scale=2),
    Staircase(epsilon=1, period=2, width=1),
    Canonical(curve=gdp(1), period=2),
]
BY_NOISE = pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)


def unit(most=1, largest=1, **more) -> Sensitivity:
    """One unit with up to `largest` rows in each of up to `most` groups, and a count."""
    return Sensitivity(
        neighbors="add_remove",
        l1=Fraction(most * largest),
        l2_squared=Fraction(most * largest**2),
        coordinates=most,
        largest=largest,
        new_groups=NewGroups(most=most, largest=largest),
        **more,
    )


def reaches(noise, least):
    """Return P(K >= least), from cells of the law that are finer by far."""
    return Fraction(noise.law.boundary(least - 1, 600), 2**601)


@BY_NOISE
@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_threshold_is_the_least_and_its_failure_is_rounded_up(noise, most):
    asked = unit(most=most, largest=2)
    for delta in (0.2, 1e-3, 1e-9):
        made = Thresholded.calibrate(asked, noise=noise, delta=delta)
        exact = 1 - (1 - reaches(noise, made.threshold - 2)) ** most
        assert exact <= made.failure(asked) <= Fraction(str(delta))
        # Twelve digits, and for few failures the formula itself.
        assert made.failure(asked) <= exact * (1 + Fraction(1, 10**10)) + exact**3
        if made.threshold > 3:
            before = 1 - (1 - reaches(noise, made.threshold - 3)) ** most
            assert before > Fraction(str(delta)) * (1 - Fraction(1, 10**9))


@given(st.integers(1, 2**40), st.integers(10, 60))
def test_the_failure_of_many_groups_is_never_too_small(most, threshold):
    asked = unit(most=most)
    found = Thresholded(noise=Laplace(scale=1), threshold=threshold).failure(asked)
    p = math.exp(-(threshold - 1.5)) / 2
    assert float(found) >= -math.expm1(most * math.log1p(-p)) * (1 - 1e-9)
    assert found <= 1


def test_by_hand():
    """P(K >= x) = e^(-(x - 1/2)/b) / 2 for Laplace, e^-(a x) / (1 + e^-a) for discrete Laplace."""
    rows = unit(largest=3)
    made = Thresholded(noise=Laplace(scale=2), threshold=20)
    assert float(made.failure(rows)) == pytest.approx(math.exp(-16.5 / 2) / 2, rel=1e-11)
    assert made.failure(rows) >= Fraction(math.exp(-16.5 / 2) / 2) * (1 - Fraction(1, 2**50))
    made = Thresholded(noise=DiscreteLaplace(scale=2), threshold=20)
    assert float(made.failure(rows)) == pytest.approx(
        math.exp(-17 / 2) / (1 + math.exp(-0.5)), rel=1e-11
    )
    made = Thresholded(noise=Gaussian(scale=4), threshold=20)
    assert float(made.failure(rows)) == pytest.approx(
        math.erfc(16.5 / 4 / math.sqrt(2)) / 2, rel=1e-11
    )


def test_the_curve_is_the_noise_and_the_failure():
    rows = unit(most=2, largest=3)
    made = Thresholded.calibrate(rows, noise=Gaussian.calibrate(rows, mu=0.5), delta=1e-6)
    assert made.tradeoff(rows) == gdp(0.5) @ approx_dp(0, made.failure(rows))
    made = Thresholded.calibrate(rows, noise=Laplace.calibrate(rows, epsilon=0.5), delta=1e-6)
    assert made.tradeoff(rows) == laplace(0.5) @ approx_dp(0, made.failure(rows))
    assert float(made.tradeoff(rows).delta(0.5)) <= 1e-6


def hockey_stick(p, q, epsilon):
    """Return max over both directions of sum (q - e^epsilon p)_+."""
    e = math.exp(epsilon)
    return max(float(np.maximum(q - e * p, 0).sum()), float(np.maximum(p - e * q, 0).sum()))


def lonely(threshold, rows, scale=1.0):
    """Laws of what is seen of a unit of one old group of `rows` and one new one of `rows`.

    Discrete Laplace noise on both; outcomes: the old group's noisy count, or that it is not shown,
    times the new one's. D has neither row of the unit.
    """
    k = np.arange(-200, 201)
    law = np.exp(-np.abs(k) / scale)
    law /= law.sum()

    def seen(count):
        shown = count + k >= threshold
        cells = np.zeros(800)
        cells[(count + k)[shown] + 300] = law[shown]
        cells[0] = law[~shown].sum()
        return cells

    absent = np.zeros(800)
    absent[0] = 1
    without = np.outer(seen(threshold), absent)
    with_unit = np.outer(seen(threshold + rows), seen(rows))
    return without, with_unit


@pytest.mark.shows("curve of Thresholded", "twin of Thresholded")
@pytest.mark.parametrize("rows", [1, 3])
def test_the_curve_holds_exactly_and_twins_do_not(rows):
    """Neighbours by enumeration; a threshold one smaller, or w forgotten, breaks the claim."""
    asked = unit(most=2, largest=rows)
    noise = DiscreteLaplace(scale=1)
    made = Thresholded.calibrate(asked, noise=noise, delta=1e-3)
    claim = made.tradeoff(asked)
    for epsilon in (0.0, 0.5, 1.0, float(rows), 2.0 * rows, 2.0 * rows + 1):
        held = hockey_stick(*lonely(made.threshold, rows), epsilon)
        assert held <= float(claim.delta(epsilon)) * (1 + 1e-9) + 1e-13
    # Where the noise's own loss ends, all that is left is the failure of one new group.
    far = 2.0 * rows + 1
    lower = hockey_stick(*lonely(made.threshold - 1, rows), far)
    assert lower > float(reaches(noise, made.threshold - rows)) * 2
    forgotten = Thresholded(noise=noise, threshold=made.threshold).failure(unit(most=2))
    actual = hockey_stick(*lonely(made.threshold, rows), far)
    assert rows == 1 or actual > float(forgotten)


@pytest.mark.shows("draws of Thresholded", "unknown-groups")
@pytest.mark.parametrize("noise", NOISES[:4], ids=lambda noise: type(noise).__name__)
def test_a_lonely_unit_is_shown_as_rarely_as_claimed(noise):
    """Over 2 10^5 trials, error rate 1e-9: 6 standard deviations; the twin is 20 away and more."""
    asked, trials = unit(most=3, largest=2), 200_000
    made = Thresholded.calibrate(asked, noise=noise, delta=0.05)
    counts = np.full((trials, 3), 2, dtype=np.int64)
    noisy = made.add_noise(counts, SeededBits(7))
    shown = np.zeros(trials * 3, dtype=bool)
    shown[made.shown(noisy.reshape(-1))] = True
    seen = int(shown.reshape(trials, 3).any(axis=1).sum())
    claim = float(made.failure(asked))
    spread = 6 * math.sqrt(trials * claim * (1 - claim))
    assert abs(seen - trials * claim) < spread
    # The twins: a threshold one smaller; rows of the unit forgotten.
    lower = Thresholded(noise=noise, threshold=made.threshold - 1)
    assert int((noisy >= lower.threshold).any(axis=1).sum()) > trials * claim + spread
    assert seen > trials * float(made.failure(unit(most=3, largest=1))) + spread


def test_only_large_noisy_counts_are_shown():
    made = Thresholded(noise=Gaussian(scale=3), threshold=5)
    assert made.shown(np.array([4, 5, -9, 6, 5], dtype=np.int64)).tolist() == [1, 3, 4]
    assert made.shown(np.array([], dtype=np.int64)).size == 0
    assert made.add_noise(np.zeros((0, 2), np.int64), SeededBits(1)).shape == (0, 2)
    assert (made.stddev, made.half_width(0.9)) == (made.noise.stddev, made.noise.half_width(0.9))
    assert made.ratio_interval(40, 100, 0.9) == made.noise.ratio_interval(40, 100, 0.9)


def test_the_record_is_plain():
    made = Thresholded(noise=Laplace(scale=2), threshold=9)
    assert json.loads(json.dumps(made.describe())) == {
        "mechanism": "thresholded",
        "noise": {"mechanism": "laplace", "scale": "2"},
        "threshold": 9,
    }


@BY_NOISE
def test_noise_alone_does_not_answer_for_unknown_groups(noise):
    with pytest.raises(
        SensitivityMismatch,
        match=r"need a threshold in addition to the noise.*Thresholded\.calibrate",
    ):
        noise.tradeoff(unit(largest=2))


def test_refusals():
    declared = Sensitivity(neighbors="add_remove", l1=Fraction(1))
    noise = Laplace(scale=1)
    with pytest.raises(SensitivityMismatch, match="declared groups need no threshold"):
        Thresholded.calibrate(declared, noise=noise, delta=1e-6)
    with pytest.raises(SensitivityMismatch, match="declared groups need no threshold"):
        Thresholded(noise=noise, threshold=9).tradeoff(declared)
    with pytest.raises(SensitivityMismatch, match="passed by one unit alone"):
        Thresholded(noise=noise, threshold=3).tradeoff(unit(largest=3))
    for delta in (0, 0.5, 1, -1e-6):
        with pytest.raises(InvalidParameter, match=r"got .*Write a small one"):
            Thresholded.calibrate(unit(), noise=noise, delta=delta)
    for threshold in (1, 2.5, True, 2**62):
        with pytest.raises(InvalidParameter, match="must be an int from 2"):
            Thresholded(noise=noise, threshold=threshold)
    with pytest.raises(InvalidParameter, match="has a threshold already"):
        Thresholded(noise=Thresholded(noise=noise, threshold=9), threshold=9)
    with pytest.raises(InvalidParameter, match="whole numbers of at least 1"):
        NewGroups(most=0, largest=1)


def test_the_smallest_delta():
    made = Thresholded.calibrate(unit(), noise=Laplace(scale=1), delta=Fraction(1, 2**199))
    assert made.failure(unit()) <= Fraction(1, 2**199)
    assert made.tradeoff(unit()).implies(pure_dp(1) @ approx_dp(0, Fraction(1, 2**199)))
