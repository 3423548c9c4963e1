"""Every mechanism meets every kind of target: (epsilon, delta), mu, and another curve."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import (
    EpsilonDelta,
    MuSlack,
    calibrate,
    integer_map,
    mahalanobis_squared,
    mapped_sensitivity,
)
from neyman.curves import approx_dp, gdp, pure_dp
from neyman.errors import InvalidParameter
from neyman.mechanisms import (
    AboveThreshold,
    Canonical,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    ProposeTestRelease,
    RandomizedResponse,
    ReportNoisyMax,
    Staircase,
)
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits

ONE = Sensitivity(
    neighbors="add_remove", l1=Fraction(3), l2_squared=Fraction(9), coordinates=1, largest=3
)
EXTREME = [
    (lambda: Gaussian.calibrate(ONE, mu=1e-300), "from mu=1e-300", "3e+300", "coarser"),
    (lambda: Gaussian.calibrate(ONE, 10**300), "from mu=1e+300", "3e-300", "finer"),
    (lambda: Gaussian.calibrate(ONE, epsilon=1e-90, delta=1e-99), "delta=1e-99", "e+", "coar"),
    (lambda: Laplace.calibrate(ONE, epsilon=1e-300), "from epsilon=1e-300", "3e+300", "coarser"),
    (lambda: DiscreteLaplace.calibrate(ONE, 1e-300), "from epsilon=1e-300", "3e+300", "coarser"),
    (lambda: DiscreteGaussian.calibrate(ONE, 1e-300), "from rho=1e-300", "2.12132e+150", "coarser"),
    (lambda: Gaussian(scale=1e300), "from scale=1e+300", "1e+300", "coarser"),
    (lambda: Gaussian(variance=Fraction(1, 3**900)), "from variance=", "e-", "finer"),
    (lambda: Laplace(scale=1e-9), "from scale=1e-9", "1e-9", "finer"),
    (lambda: DiscreteGaussian(variance=2**900), "from variance=8.4527", "2.90735e+135", "coarser"),
]
MOVES = [[1, 0], [1, 1]]


def correlated(scale):
    """Return the guarantee of noise of covariance scale^2 [[2, 1], [1, 2]]."""
    covariance = [[2, 1], [1, 2]]
    return gdp(squared=mahalanobis_squared(covariance, MOVES) / Fraction(repr(scale)) ** 2)


def selected(kind):
    return lambda epsilon: kind(epsilon=epsilon, sensitivity=2).tradeoff


def watched(epsilon):
    return AboveThreshold(epsilon=epsilon, sensitivity=1, hits=2, source=SeededBits(1)).tradeoff


def proposed(mu):
    return ProposeTestRelease.calibrate(ONE, mu, test_share=0.4, failure=1e-9).tradeoff


# From a parameter to a guarantee, and where to look for it.
FAMILIES = {
    "Gaussian": (lambda s: Gaussian(scale=s).tradeoff(ONE), (0.5, 1000)),
    "Gaussian of a covariance": (correlated, (0.1, 1000)),
    "Laplace": (lambda s: Laplace(scale=s).tradeoff(ONE), (0.5, 1000)),
    "DiscreteGaussian": (lambda s: DiscreteGaussian(scale=s).tradeoff(ONE), (0.5, 900)),
    "DiscreteLaplace": (lambda s: DiscreteLaplace(scale=s).tradeoff(ONE), (0.5, 1000)),
    "Staircase": (
        lambda e: Staircase(epsilon=e, period=3, width=2).tradeoff(ONE),
        (0.001, 20),
    ),
    "Canonical": (lambda m: Canonical(curve=gdp(m), period=3).tradeoff(ONE), (0.01, 4)),
    "RandomizedResponse": (
        lambda t: RandomizedResponse(categories=5, truth=t).tradeoff(),
        (0.2001, 0.999),
    ),
    "ExponentialMechanism": (selected(ExponentialMechanism), (0.001, 30)),
    "PermuteAndFlip": (selected(PermuteAndFlip), (0.001, 30)),
    "ReportNoisyMax": (selected(ReportNoisyMax), (0.001, 30)),
    "AboveThreshold": (watched, (0.001, 30)),
    "ProposeTestRelease": (proposed, (0.01, 4)),
}
TARGETS = {
    "epsilon and delta": EpsilonDelta(1, 1e-5),
    "mu": MuSlack(0.8, slack=1e-6),
    "a curve": pure_dp(0.8),
}
# Noise without a largest loss is below no pure curve.
UNBOUNDED = ("Gaussian", "Gaussian of a covariance", "DiscreteGaussian", "Canonical")
UNBOUNDED += ("ProposeTestRelease",)


def meets(curve, name):
    if name == "mu":
        return curve.mu(slack=1e-6) <= 0.8 * (1 + 1e-6)
    return curve.delta(1) <= 1e-5 if name == "epsilon and delta" else curve.delta(0.8) == 0


def missed(family, name):
    """Calibrate, and return whether a parameter beyond the found one misses the target."""
    make, within = FAMILIES[family]
    target = TARGETS[name]
    if name == "a curve" and family in UNBOUNDED:
        name, target = "epsilon and delta", approx_dp(1, 1e-5)
    found = calibrate(make, target, within=within)
    assert meets(found.curve, name)
    assert make(found.value) == found.curve
    beyond = found.lower if found.value == found.upper else found.upper
    outward = beyond + (beyond - found.value) + 1e-4 * (1 if beyond > found.value else -1) * beyond
    return not meets(make(outward), name)


# The search knows neither which family it is of nor which target: each family with a target, each
# target with at least four families; the soak has all of them.
TURNS = list(zip(FAMILIES, itertools.cycle(TARGETS), strict=False))


@pytest.mark.parametrize(("family", "name"), TURNS)
def test_a_target_is_met_and_not_by_much(family, name):
    assert missed(family, name)


@pytest.mark.soak
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_target_is_met_by_every_family_and_not_by_much(family, name):
    assert missed(family, name)


NOISES = [
    (Gaussian.calibrate, "mu", gdp(0.5)),
    (Laplace.calibrate, "epsilon", pure_dp(0.5)),
    (DiscreteLaplace.calibrate, "epsilon", pure_dp(0.5)),
    (lambda s, x: Staircase.calibrate(s, x, power=1), "epsilon", pure_dp(0.5)),
    (lambda s, x: Canonical.calibrate(s, gdp(x)), "mu", gdp(0.5)),
    (lambda s, x: Canonical.calibrate(s, approx_dp(x, 0.01)), "both", approx_dp(0.5, 0.01)),
]


@pytest.mark.parametrize(("calibrated", "key", "target"), NOISES)
def test_the_closed_calibrations_reach_their_own_parameter(calibrated, key, target):
    curve = calibrated(ONE, 0.5).tradeoff(ONE)
    assert curve.implies(target)
    grid = np.array([0.0, 0.2, 0.4])
    if key != "epsilon":
        assert curve.delta(grid) == pytest.approx(target.delta(grid), rel=1e-9)
    else:
        assert curve.outer_pure() == Fraction(1, 2)


@pytest.mark.shows("draws of Gaussian of any covariance")
def test_correlated_noise_is_drawn_and_calibrated_by_its_integer_map():
    integers = integer_map([[2, 1], [1, 2]], resolution=1000)
    moved = mapped_sensitivity(integers, MOVES, "add_remove")
    noise = Gaussian.calibrate(moved, mu=0.5)
    assert noise.tradeoff(moved) == gdp(0.5)
    draws = noise.add_noise(np.zeros((20_000, 2), dtype=np.int64), SeededBits(4))
    covariance = np.cov(np.linalg.solve(integers.astype(float), draws.T))
    ratio = covariance / covariance[0, 1]
    assert ratio == pytest.approx(np.array([[2, 1], [1, 2]]), rel=0.05)


def test_what_pure_noise_cannot_reach_is_refused():
    with pytest.raises(InvalidParameter, match="target"):
        calibrate(
            lambda t: RandomizedResponse(categories=5, truth=t).tradeoff(),
            EpsilonDelta(1e-6, 1e-12),
            within=(0.9, 0.99),
        )


@pytest.mark.parametrize(("ask", "asked", "scale", "grid"), EXTREME)
def test_noise_that_cannot_be_drawn_is_told_by_what_was_given_and_in_short(ask, asked, scale, grid):
    with pytest.raises(InvalidParameter) as refused:
        ask()
    said = str(refused.value)
    assert f"{asked}" in said
    assert f"{scale}" in said.partition("got about ")[2]
    assert f"Declare a {grid}" in said
    assert len(said) < 250
