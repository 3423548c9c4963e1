"""The expected error of a private density."""

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Interval, normal_risk

BOX = Interval(-5, 5, outside="clip")
DECLARED = {"bandwidth": 0.4, "records": 500, "mu": 1, "neighbors": "replace_one", "spread": 1}


def normal(x, sd):
    return np.exp(-0.5 * (x / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


@pytest.mark.shows("S2.14")
@pytest.mark.parametrize(("h", "s"), [(0.1, 1), (0.5, 1), (0.3, 0.7)])
def test_bias_and_sampling_are_integrals(h, s):
    x = np.linspace(-14, 14, 200_001)
    found = normal_risk(BOX, **(DECLARED | {"bandwidth": h, "spread": s}))
    mean = normal(x, np.hypot(h, s))
    second = normal(x, np.sqrt(h * h / 2 + s * s)) / (2 * np.sqrt(np.pi) * h)
    assert found.bias == pytest.approx(np.trapezoid((mean - normal(x, s)) ** 2, x), rel=1e-6)
    assert found.sampling == pytest.approx(np.trapezoid(second - mean**2, x) / 500, rel=1e-6)
    assert found.total == found.bias + found.sampling + found.noise


@pytest.mark.shows("S2.14", "e2.8")
def test_the_noise_is_that_of_a_release(released, normal_values):
    h, values = 0.25, normal_values[:2000]
    f = released(values, neighbors="replace_one", mu=0.5, bandwidth=h)
    variance = float(f.noise_sd(0.0)) ** 2 * 10
    found = normal_risk(BOX, **(DECLARED | {"bandwidth": h, "records": 2000, "mu": 0.5}))
    # Of a release with a public count the constant wave has none: less by 1 / (L K_h(0)).
    less = 1 - np.sqrt(2 * np.pi) * h / 20
    assert found.noise * less == pytest.approx(variance, rel=1e-3)
    once = normal_risk(BOX, **(DECLARED | {"neighbors": "add_remove"}))
    assert normal_risk(BOX, **DECLARED).noise == pytest.approx(2 * once.noise)


def test_privacy_costs_three_per_cent_of_a_thousand_normal_values():
    box = Interval(-4, 4, outside="clip")
    grid = np.linspace(0.1, 0.8, 1401)
    many = [normal_risk(box, **(DECLARED | {"bandwidth": float(h), "records": 1000})) for h in grid]
    private = min(risk.total for risk in many)
    without = min(risk.bias + risk.sampling for risk in many)
    assert 1.02 < private / without < 1.04


@pytest.mark.parametrize(
    "changed", [{"bandwidth": 0}, {"mu": -1}, {"spread": 0}, {"records": 0}, {"records": 1.5}]
)
def test_what_is_not_positive_is_refused(changed):
    with pytest.raises(InvalidParameter, match=next(iter(changed))):
        normal_risk(BOX, **(DECLARED | changed))
