"""The privacy loss as a random variable, against closed forms and the profile."""

import math

import numpy as np
import pytest

from neyman.curves import (
    approx_dp,
    discrete,
    gdp,
    laplace,
    poisson,
    privacy_loss,
    randomized_response,
)
from neyman.errors import InvalidParameter

CURVES = [gdp(1), laplace(1), randomized_response(1), poisson(gdp(1), 0.1) ** 50]


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.shows("S3.3", "S3.4")
@pytest.mark.parametrize("mu", [0.1, 1, 3])
def test_the_gaussian_loss_is_normal(mu):
    loss = privacy_loss(gdp(mu).remove)
    for law, mean in ((loss.null, -(mu**2) / 2), (loss.alternative, mu**2 / 2)):
        assert law.cumulants() == pytest.approx([mean, mu**2, 0, 0], rel=1e-8, abs=1e-8)
        for t in (-1.0, 0.0, 2.0):
            assert law.sf(t) == pytest.approx(phi((mean - t) / mu), rel=1e-11)
            assert law.cdf(t) == pytest.approx(phi((t - mean) / mu), rel=1e-11)
        assert law.cdf(law.ppf(0.3)) == pytest.approx(0.3, rel=1e-10)


@pytest.mark.shows("S3.4")
def test_far_tails_have_logarithms():
    assert privacy_loss(gdp(1).remove).null.logsf(60.0) == pytest.approx(-1835.14685, abs=1e-4)


@pytest.mark.shows("S2.4", "e3.1")
@pytest.mark.parametrize("f", CURVES, ids=str)
def test_the_profile_is_the_difference_of_the_tails(f):
    loss = privacy_loss(f.remove)
    for t in (0.1, 0.45, 0.8):
        exact = loss.alternative.sf(t) - math.exp(t) * loss.null.sf(t)
        assert f.remove.delta(t) == pytest.approx(exact, rel=1e-7)
        assert loss.probabilistic_delta(t) >= f.remove.delta(t)


@pytest.mark.shows("S4.5")
@pytest.mark.parametrize("f", CURVES, ids=str)
def test_the_means_are_the_divergences(f):
    loss = privacy_loss(f.remove)
    assert loss.alternative.mean() == pytest.approx(f.remove.renyi(1), rel=1e-3)
    assert loss.null.mean() == pytest.approx(-f.remove.swap().renyi(1), rel=1e-3)


@pytest.mark.shows("S3.2")
def test_quantiles_of_atoms():
    loss = privacy_loss(discrete([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]).remove)
    found = loss.null.ppf([0.1, 0.5, 0.55, 0.79, 0.81])
    assert found == pytest.approx(np.log([0.4, 0.4, 1, 1, 2.5]), abs=1e-12)
    assert loss.null.cumulants(2) == pytest.approx(
        [0.5 * math.log(0.4) + 0.2 * math.log(2.5), 0.7 * math.log(2.5) ** 2 * (1 - 0.09 / 0.7)],
        rel=1e-8,
    )


@pytest.mark.shows("S3.2")
def test_mass_at_infinity():
    law = privacy_loss(approx_dp(1, 0.1).remove).alternative
    assert law.ppf(0.95) == math.inf
    assert law.sf(50.0) == pytest.approx(0.1)
    assert np.all(np.isnan(law.cumulants()))


def test_a_two_way_guarantee_has_two_losses():
    with pytest.raises(InvalidParameter, match=r"f\.remove"):
        privacy_loss(gdp(1))


@pytest.mark.parametrize("probability", [0, 1, 2, float("nan")])
def test_quantiles_outside_are_refused(probability):
    with pytest.raises(InvalidParameter, match="must be strictly between 0 and 1; got"):
        privacy_loss(gdp(1).remove).null.ppf(probability)
