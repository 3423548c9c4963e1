"""A guarantee as a target of calibration: decided by its shape, proved on both sides."""

import math

import numpy as np
import pytest

from neyman.accounting import EpsilonDelta, TprAtFpr, calibrate, dp_sgd
from neyman.accounting._targets import Room, Target
from neyman.curves import (
    TradeOff,
    approx_dp,
    approx_dp_points,
    cdp,
    gdp,
    identity,
    laplace,
    poisson,
    pure_dp,
    rdp,
    tcdp,
    zcdp,
)
from neyman.errors import InvalidParameter


def gaussian(sigma):
    return gdp(1 / sigma)


def training(sigma):
    return dp_sgd(noise_multiplier=sigma, sampling_probability=0.01, steps=1000)


def narrow(found, truth, *, most=1e-9):
    """The bracket is narrow, and its value the truth."""
    assert found.lower <= found.value <= found.upper
    assert found.upper - found.lower <= most * found.value
    assert found.value == pytest.approx(truth, rel=2 * most)
    return found


def test_epsilon_and_delta_as_a_guarantee_are_one_point_of_the_profile():
    # dp_accounting 0.6.0 (PLD) finds 2.39138 for this run, Opacus 1.6.0 (PRV) 2.40234.
    def make(sigma):
        return dp_sgd(noise_multiplier=sigma, sampling_probability=0.012, steps=9000)

    found = narrow(calibrate(make, approx_dp(2, 1e-5)), 2.39132, most=1e-5)
    assert found.value < 2.39138
    asked = calibrate(make, EpsilonDelta(2, 1e-5))
    assert (found.value, found.evaluations) == (asked.value, asked.evaluations)
    assert found.curve.implies(approx_dp(2, 1e-5))
    assert make(found.lower).delta(2, bracket=True).lower > 1e-5


def test_one_point_is_asked_in_both_directions():
    # Whoever has the second direction of this family loses more at epsilon = 1.
    def lopsided(sigma):
        once = poisson(gdp(1 / sigma), 0.5)
        return TradeOff(once.add, once.add)

    found = narrow(calibrate(lopsided, approx_dp(1, 1e-3)), 0.9, most=1)
    curve = lopsided(found.value)
    assert max(curve.delta(1), curve.swap().delta(1)) <= 1e-3
    worse = lopsided(found.lower)
    lower = (f.delta(1, bracket=True).lower for f in (worse, worse.swap()))
    assert max(lower) > 1e-3 > worse.delta(1)


@pytest.mark.parametrize(
    ("target", "truth"),
    [
        # Sampling changes neither mu nor rho: mu^2 = 1000 / sigma^2 = 2 rho.
        (gdp(0.5), math.sqrt(1000) / 0.5),
        (zcdp(0.1), math.sqrt(1000 / 0.2)),
    ],
    ids=str,
)
def test_what_sampling_does_not_help_is_found_at_once_and_on_both_sides(target, truth):
    found = narrow(calibrate(training, target), truth)
    assert found.evaluations <= 10
    assert found.value >= truth * (1 - 1e-15)
    assert found.lower < truth


def moments(sigma, order, q=0.01, steps=1000):
    """Mironov, Talwar and Zhang (2019): the divergence of whole order, a sum of positive terms."""
    terms = (
        math.comb(order, k) * (1 - q) ** (order - k) * q**k * math.exp(k * (k - 1) / 2 / sigma**2)
        for k in range(order + 1)
    )
    return steps * math.log(math.fsum(terms)) / (order - 1)


def test_renyi_divergences_are_read_at_the_orders_of_the_target():
    found = calibrate(training, rdp([(8, 0.5), (2, 0.4)]))
    assert found.upper - found.lower <= 1e-9 * found.value
    assert moments(found.value, 8) <= 0.5 * (1 + 1e-9)
    assert moments(found.value * (1 - 1e-8), 8) > 0.5
    assert found.curve.implies(rdp([(8, 0.5)]))


@pytest.mark.parametrize("target", [cdp(0.1, math.sqrt(0.2)), zcdp(0.1), tcdp(0.1, 8)], ids=str)
def test_a_gaussian_in_the_class_of_a_statement(target):
    found = narrow(calibrate(gaussian, target), math.sqrt(5), most=1e-6)
    assert found.curve.implies(target)


def test_the_largest_loss_decides_a_pure_target():
    found = narrow(calibrate(lambda scale: laplace(1 / scale), pure_dp(0.5)), 2)
    assert found.curve.implies(pure_dp(0.5 * (1 + 1e-12)))


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (training, pure_dp(1)),
        (training, laplace(1)),
        (gaussian, identity()),
        (training, EpsilonDelta(1, 0)),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_loss_without_a_bound_is_the_reason_that_is_said(make, target):
    with pytest.raises(InvalidParameter, match=r"no parameter meets .* is infinite at every"):
        calibrate(make, target)


@pytest.mark.parametrize("target", [gdp(0.5), zcdp(0.5)], ids=str)
def test_a_loss_that_sampling_does_not_change_is_the_reason_that_is_said(target):
    def make(q):
        return dp_sgd(noise_multiplier=1, sampling_probability=q, steps=1000)

    with pytest.raises(InvalidParameter, match=r"no parameter meets .* same at every parameter"):
        calibrate(make, target, within=(0, 1))


def test_points_of_a_profile_ask_the_most_of_them():
    points = [(1, 1e-3), (2, 1e-5), (4, 1e-9)]
    found = calibrate(training, approx_dp_points(points))
    noises = [calibrate(training, EpsilonDelta(e, d)).value for e, d in points]
    narrow(found, max(noises))


@pytest.mark.parametrize("make", [gaussian, training], ids=["gaussian", "training"])
def test_a_corner_of_a_profile_decides(make):
    found = calibrate(make, laplace(1) @ approx_dp(0, 1e-5))
    narrow(found, calibrate(make, EpsilonDelta(1, 1e-5)).value)


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (gaussian, gdp(0.5) @ laplace(0.2) @ approx_dp(0, 1e-6)),
        (lambda mu: poisson(gdp(mu), 0.1) ** 20, gdp(0.5) @ laplace(0.2) @ approx_dp(0, 1e-6)),
    ],
    ids=["gaussian", "sampled"],
)
def test_a_whole_profile_is_proved_to_lie_below_and_missed_beside(make, target):
    found = calibrate(make, target)
    assert found.upper - found.lower <= 1e-6 * found.value
    missed = found.lower if found.value == found.upper else found.upper
    at = np.concatenate([np.linspace(0, 3, 400), np.geomspace(3, 40, 100)])
    goal = target.log_delta(at, bracket=True)
    assert np.all(found.curve.log_delta(at, bracket=True).lower <= goal.upper)
    # A little beyond what is missed, so that a grid sees it.
    worse = missed + (missed - found.value) * 1e5
    assert np.any(make(worse).log_delta(at, bracket=True).lower > goal.upper)


@pytest.mark.soak
def test_two_profiles_without_an_end_are_compared_where_an_end_is_written():
    with pytest.raises(
        InvalidParameter, match=r"positive delta at every epsilon.* approx_dp\(0, 1e-12\)"
    ):
        calibrate(training, training(2.5))

    def longer(sigma):
        return dp_sgd(noise_multiplier=sigma, sampling_probability=0.01, steps=2000)

    target = training(2) @ approx_dp(0, 1e-12)
    found = narrow(calibrate(longer, target), 2.7474865505)
    at = np.linspace(0, 0.7, 50)
    assert np.all(found.curve.delta(at, bracket=True).lower <= target.delta(at))
    worse = longer(found.lower * (1 - 1e-9)).delta(0, bracket=True)
    assert worse.lower > target.delta(0)


def test_a_bound_beside_something_else_is_no_target():
    with pytest.raises(InvalidParameter, match="Write the bound alone"):
        calibrate(gaussian, laplace(1) @ training(1) @ zcdp(0.1))


def test_a_side_that_powers_of_two_step_over_is_found():
    class KnownTo(Target):
        """mu <= goal, of which nothing is known from mu = 6 on."""

        __slots__ = ("goal",)

        def __init__(self, goal):
            self.goal = goal

        def room(self, curve):
            left = math.log(self.goal / curve.mu())
            return (
                Room(-math.inf, math.inf, -math.inf) if curve.mu() > 6 else Room(left, left, left)
            )

    # 1/4 meets it, and of 1/16 nothing is known.
    narrow(calibrate(gaussian, KnownTo(5.5)), 1 / 5.5)
    narrow(calibrate(gaussian, KnownTo(5.5), within=(1e-3, 1)), 1 / 5.5)


@pytest.mark.soak
def test_the_power_of_a_test_next_to_that_of_no_noise():
    # riskcal 1.5.1's own case.
    found = calibrate(
        lambda s: dp_sgd(noise_multiplier=s, sampling_probability=0.01, steps=100),
        TprAtFpr(0.67, 0.1),
    )
    assert found.upper - found.lower <= 1e-8 * found.value
    assert found.curve.tpr(0.1) <= 0.67
    worse = dp_sgd(noise_multiplier=found.lower, sampling_probability=0.01, steps=100)
    assert worse.tpr(0.1, bracket=True).lower > 0.67
