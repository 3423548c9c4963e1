"""A first, coarse release, and the domain that it gives to the second."""

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Circle, Cumulative, DensityFunction, Interval

WIDE = Interval(-1000, 1000, outside="drop")


@pytest.fixture
def coarse(released):
    """Return what 5 % of a budget of mu = 1 shows."""

    def release(values, domain=WIDE, mu=0.05**0.5, seed=1):
        declared = {"domain": domain, "bandwidth": domain.length / 1000, "target": Cumulative()}
        return DensityFunction(released(values, mu=mu, seed=seed, **declared))

    return release


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_holds_nearly_all_values_and_is_no_longer_than_it_must_be(coarse, seed):
    """The quantiles of 0.12, widened, reach 2.6 deviations; the least bandwidth is 2."""
    values = np.random.default_rng(seed).normal(300, 1, 1_000)
    found = coarse(values, seed=seed).focused()
    inside = (values >= float(found.lower)) & (values <= float(found.upper))
    assert inside.mean() > 0.98
    assert found.length < 30
    assert found.outside == "drop"


def test_it_never_leaves_the_domain(coarse):
    found = coarse(np.random.default_rng(0).uniform(-5, 5, 5_000), Interval(-5, 5, outside="clip"))
    assert found.focused() == Interval(-5, 5, outside="clip")


def test_where_the_noise_hides_the_mass_it_is_all_of_the_domain(coarse):
    found = coarse(np.random.default_rng(0).normal(300, 1, 300), mu=0.02)
    assert found.focused() == WIDE


def test_a_circle_has_no_outer_quantiles(released):
    found = DensityFunction(released([1.0] * 100, domain=Circle(24), bandwidth=1, mu=1.0))
    with pytest.raises(InvalidParameter, match="second release yourself"):
        found.focused()
