"""Quoted formulas hold up to a threshold and are refused beyond it."""

import mpmath as mp
import pytest

from neyman.accounting import (
    EpsilonDelta,
    calibrate,
    classic_gaussian_sigma,
    hall_gaussian_sigma,
    probabilistic_gaussian_sigma,
)
from neyman.curves import gdp
from neyman.errors import InvalidParameter

# The largest epsilon, to four places, at which the exact delta of the formula is the claim at most.
THRESHOLDS = {
    0.9: (3.7871, 6.9477),
    0.5: (4.4654, 6.3955),
    0.1: (5.7426, 7.0872),
    1e-2: (6.7718, 7.9065),
    1e-3: (7.4635, 8.5124),
    1e-5: (8.4198, 9.3913),
    1e-6: (8.7821, 9.7328),
    1e-8: (9.3743, 10.2979),
    1e-10: (9.8499, 10.7567),
    1e-12: (10.2481, 11.1437),
}


def exact_delta(epsilon, mu):
    epsilon, mu = mp.mpf(epsilon), mp.mpf(mu)
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.shows("S1.27", "S4.2", "e1.9", "e2.2", "e4.1")
@pytest.mark.parametrize("delta", THRESHOLDS)
@pytest.mark.parametrize(
    ("formula", "which", "constant"),
    [(classic_gaussian_sigma, 0, "1.25"), (hall_gaussian_sigma, 1, "2")],
)
def test_thresholds(delta, formula, which, constant):
    threshold = THRESHOLDS[delta][which]
    sigma = formula(threshold - 1e-4, delta, 1)
    with mp.workdps(40):
        shown = mp.sqrt(2 * mp.log(mp.mpf(constant) / mp.mpf(repr(delta)))) / (threshold - 1e-4)
        assert sigma == pytest.approx(float(shown), rel=1e-13)
        assert exact_delta(threshold - 1e-4, 1 / sigma) <= delta
        wrong = mp.sqrt(2 * mp.log(mp.mpf(constant) / delta)) / (threshold + 1e-4)
        assert exact_delta(threshold + 1e-4, 1 / wrong) > delta
    with pytest.raises(InvalidParameter, match="Write calibrate"):
        formula(threshold + 1e-4, delta, 1)


@pytest.mark.parametrize("formula", [classic_gaussian_sigma, hall_gaussian_sigma])
def test_the_noise_scales_with_the_sensitivity(formula):
    assert formula(1, 1e-5, 7) == pytest.approx(7 * formula(1, 1e-5, 1), rel=1e-13)
    with pytest.raises(InvalidParameter):
        formula(20, 1e-5, 7)


@pytest.mark.shows("S3.5", "e3.1")
@pytest.mark.parametrize(
    ("epsilon", "delta", "factor"),
    [(0.1, 1e-2, 2.460), (0.5, 1e-5, 1.229), (1, 1e-5, 1.174), (1, 1e-6, 1.150), (8, 1e-5, 1.053)],
)
def test_probabilistic_noise_solves_for_the_tail(epsilon, delta, factor):
    sigma = probabilistic_gaussian_sigma(epsilon, delta, 1)
    mu = 1 / mp.mpf(sigma)
    tail = mp.ncdf(mu / 2 - epsilon / mu)
    assert delta * (1 - 1e-10) <= tail <= delta
    assert gdp(1 / sigma).delta(epsilon) < delta
    exact = calibrate(lambda s: gdp(1 / s), EpsilonDelta(epsilon, delta)).value
    assert sigma / exact == pytest.approx(factor, abs=6e-4)


def test_probabilistic_noise_with_a_delta_above_one_half():
    sigma = probabilistic_gaussian_sigma(1, 0.7, 2)
    mu = 2 / mp.mpf(sigma)
    assert float(mp.ncdf(mu / 2 - 1 / mu)) == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize(
    "formula", [classic_gaussian_sigma, hall_gaussian_sigma, probabilistic_gaussian_sigma]
)
@pytest.mark.parametrize(
    "asked", [(0, 1e-5, 1), (-1, 1e-5, 1), (1, 0, 1), (1, 1, 1), (1, 1e-5, 0), (1, 2, 1)]
)
def test_parameters_are_checked(formula, asked):
    with pytest.raises(InvalidParameter, match="epsilon and sensitivity must be positive"):
        formula(*asked)
