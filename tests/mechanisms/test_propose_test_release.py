"""Propose, test, release: the laws of the test, the failure, and twins that keep neither."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import propose_test_release
from neyman.curves import approx_dp, discrete, dominated_by, gdp, laplace
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    ProposeTestRelease,
    Staircase,
)
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits

ONE = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1), coordinates=1)
TESTS = [
    Gaussian(scale=3),
    Laplace(scale=2),
    DiscreteGaussian(scale=3),
    DiscreteLaplace(scale=2),
    Staircase(epsilon=1, period=2, width=1),
]
VALUES = np.array([1000, -7], dtype=np.int64)


def made(test=TESTS[1], failure=Fraction(1, 100)):
    return ProposeTestRelease(test=test, answer=Gaussian(scale=1), sensitivity=ONE, failure=failure)


def exceeds(test, t):
    """Return P(K > t), from the exact cells."""
    return int(test.law.boundary(t, 300)) / 2**301


@pytest.mark.parametrize("test", TESTS, ids=repr)
@pytest.mark.parametrize("failure", [0.3, 0.01, 1e-6, 1e-30])
def test_the_threshold_is_the_least_that_fails_so_rarely(test, failure):
    t = made(test, failure).threshold
    assert exceeds(test, t) <= failure
    assert t == 0 or exceeds(test, t - 1) > failure


def test_the_threshold_of_laplace_noise_by_hand():
    """P(K > t) = e^(-(t + 1/2)/b) / 2."""
    for failure in (0.1, 1e-5, 1e-12):
        expected = math.ceil(-2 * math.log(2 * failure) - 0.5)
        assert made(Laplace(scale=2), failure).threshold == expected


@pytest.mark.shows("draws of ProposeTestRelease")
@pytest.mark.parametrize("distance", [0, 3, 8])
def test_yes_is_said_as_often_as_the_law_says(distance):
    mechanism, bits, runs = made(), SeededBits(11), 4000
    said = sum(mechanism.run(distance, VALUES, bits) is not None for _ in range(runs))
    t = mechanism.threshold
    chance = (
        exceeds(mechanism.test, t - distance)
        if t >= distance
        else 1 - exceeds(mechanism.test, distance - t - 1)
    )
    assert abs(said - runs * chance) < 5 * math.sqrt(runs * chance * (1 - chance)) + 1
    # A threshold one lower would be seen.
    twin = exceeds(mechanism.test, t - 1)
    assert distance or said < runs * twin - 2


def test_the_answer_has_the_noise_of_its_mechanism():
    mechanism, bits = made(), SeededBits(2)
    found = np.array([mechanism.run(10**6, VALUES, bits) for _ in range(4000)]) - VALUES
    assert np.std(found) == pytest.approx(Gaussian(scale=1).stddev, rel=0.05)
    assert abs(np.mean(found)) < 0.1


def laws(mechanism, move, steps):
    """Return the laws of the outcome, a no or the answer, at distances 0 and 1 and far answers."""
    yes = [exceeds(mechanism.test, mechanism.threshold - d) for d in (0, 1)]
    k = np.arange(-60, 61)
    tails = np.array([exceeds(mechanism.answer, int(j)) for j in range(130)])
    mass = lambda j: 1 - 2 * tails[0] if j == 0 else tails[abs(j) - 1] - tails[abs(j)]  # noqa: E731
    rows = []
    for chance, shift in ((yes[0], 0), (yes[steps], move)):
        answer = np.array([mass(int(j - shift)) for j in k])
        rows.append(np.append(chance * answer / answer.sum(), 1 - chance))
    return [[Fraction(float(x)) for x in row] for row in rows]


def normal(law):
    return [x / sum(law) for x in law]


@pytest.mark.shows("curve of ProposeTestRelease", "twin of ProposeTestRelease")
def test_the_curve_holds_for_both_kinds_of_neighbours():
    """Within the bound by one move; beyond it, both distances are 0 and the failure pays."""
    mechanism = made(Laplace(scale=2), Fraction(1, 1000))
    grid = np.linspace(-2, 7, 19)
    limit = mechanism.tradeoff.delta(grid)
    within, beyond = laws(mechanism, 1, 1), laws(mechanism, 40, 0)
    for p, q in (within, beyond):
        assert np.all(discrete(normal(p), normal(q)).delta(grid) <= limit * (1 + 1e-9))
    # The twin that forgets the failure is found out by what lies beyond.
    twin = mechanism.test.tradeoff(ONE) @ mechanism.answer.tradeoff(ONE)
    assert np.any(discrete(*map(normal, beyond)).delta(6.0) > twin.delta(6.0))


def test_it_is_the_analysis_of_its_name():
    mechanism = made(Laplace(scale=2), Fraction(1, 1000))
    assert mechanism.tradeoff == propose_test_release(
        laplace(0.5), gdp(1), failure=Fraction(1, 1000)
    )


def test_calibration_is_exact():
    wide = Sensitivity(neighbors="replace_one", l2_squared=Fraction(10))
    mechanism = ProposeTestRelease.calibrate(wide, 0.5, test_share=0.2, failure=1e-9)
    assert mechanism.tradeoff == dominated_by(gdp(0.5) @ approx_dp(0, 1e-9))
    assert mechanism.test == Gaussian(variance=20)
    assert mechanism.answer == Gaussian(variance=50)
    assert mechanism.describe()["failure"] == "1e-09"
    with pytest.raises(SensitivityMismatch, match="L2"):
        ProposeTestRelease.calibrate(
            Sensitivity(neighbors="add_remove", l1=Fraction(1)), 1, test_share=0.5, failure=1e-9
        )
    for mu, share in ((0, 0.5), (1, 0), (1, 1)):
        with pytest.raises(InvalidParameter, match="test_share"):
            ProposeTestRelease.calibrate(ONE, mu, test_share=share, failure=1e-9)


def read_back(record, noise):
    """Make the mechanism again, of its record and the class of its two noises."""
    bound = record["sensitivity"]
    fractions = {
        name: None if bound[name] is None else Fraction(bound[name])
        for name in ("l1", "l2_squared")
    }
    return ProposeTestRelease(
        **{
            part: noise(**{k: Fraction(v) for k, v in record[part].items() if k != "mechanism"})
            for part in ("test", "answer")
        },
        sensitivity=Sensitivity(**{**bound, **fractions}),
        failure=Fraction(record["failure"]),
    )


@pytest.mark.parametrize(
    "sensitivity",
    [
        ONE,
        Sensitivity(neighbors="replace_one", l2_squared=Fraction(10, 3)),
        Sensitivity(
            neighbors="add_remove",
            l1=Fraction(6),
            l2_squared=Fraction(12),
            coordinates=3,
            largest=2,
        ),
    ],
    ids=repr,
)
def test_the_record_is_enough_for_the_guarantee(sensitivity):
    mechanism = ProposeTestRelease.calibrate(
        sensitivity, Fraction(1, 3), test_share=0.36, failure=1e-6
    )
    record = json.loads(json.dumps(mechanism.describe()))
    again = read_back(record, Gaussian)
    assert again == mechanism
    assert again.tradeoff == mechanism.tradeoff


@pytest.mark.parametrize("failure", [0, 0.5, 1, 1e-70])
def test_failures_are_small_and_not_nothing(failure):
    with pytest.raises(InvalidParameter, match=r"failure must be in \[2\^-200, 1/2\); got"):
        made(failure=failure)


def test_private_values_raise_no_error():
    """A negative or endless distance is clamped; types are public."""
    mechanism = made()
    for distance in (-5, 10**30):
        mechanism.run(distance, VALUES, SeededBits(1))
    with pytest.raises(InvalidParameter, match="must be an int"):
        mechanism.run(1.0, VALUES)
    with pytest.raises(InvalidParameter, match="int64"):
        mechanism.run(1, np.array([1.0]))
