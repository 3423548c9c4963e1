"""The automatic reading against the truth, for records that are anywhere: gaps, whole numbers."""

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Interval, RegressionCurve
from neyman.testing import SeededBits

UNIT = Interval(0, 1, outside="clip")
BOUNDS = Interval(-1, 1, outside="clip")
FLIGHTS = Interval(-60, 300, outside="clip")


class Answer:
    """What `function` needs of a release."""

    def __init__(self, aggregate, noisy, noise):
        self.query = aggregate.query
        self.columns = aggregate.reading.columns(noisy, noise, 0.95)


def curve_of(x, y, *, mu, domain, response, bandwidth):
    question = functional.regression(
        x,
        y,
        domain=domain,
        response=response,
        bandwidth=bandwidth,
        neighbors="add_remove",
        unit="one row",
        name="x",
    )
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    noisy = noise.add_noise(question.compute(), SeededBits(1))
    return functional.function(Answer(question, noisy, noise), RegressionCurve)


SHAPES = {
    "uniform": (lambda rng, n: rng.random(n), lambda x: 0.7 * np.sin(2 * np.pi * x)),
    "middle fifth": (lambda rng, n: 0.4 + 0.2 * rng.random(n), lambda x: np.sin(8 * x) / 2),
    "two clusters": (
        lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, 0.75) + 0.25 * rng.random(n),
        lambda x: 0.6 * np.cos(4 * x),
    ),
    "hours": (
        lambda rng, n: rng.integers(5, 24, n) / 24,
        lambda x: np.cos(2 * np.pi * x) / 2 - 0.4,
    ),
    "left": (lambda rng, n: 0.17 + 0.04 * rng.standard_normal(n), lambda x: 2 * x - 1.01),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    ("number", "mu"),
    [
        (300, 2),
        (3000, 0.5),
        *(
            pytest.param(*at, marks=pytest.mark.soak)
            for at in ((30_000, 0.1), (300_000, 0.5), (300_000, 2))
        ),
    ],
)
def test_it_is_right_within_its_noise_and_no_worse_than_the_best_window(name, number, mu):
    """Where 98 per cent of the records are; the window is tuned on the true curve."""
    drawn, truth = SHAPES[name]
    rng = np.random.default_rng(number)
    x = drawn(rng, number)
    y = truth(x) + 0.08 * rng.standard_normal(number)
    curve = curve_of(x, y, mu=mu, domain=UNIT, response=BOUNDS, bandwidth=0.02)
    fit = curve.gaussian_process()
    low, high = np.quantile(x, [0.01, 0.99])
    at = np.sort(x[(low <= x) & (x <= high)])[:: max(number // 200, 1)]
    away = np.abs(fit(at) - truth(at))
    # 0.004 for what is clipped and for smoothing, of bounds 2 apart.
    assert (away <= 5 * fit.noise_sd(at) + 0.004).all()
    windows = [
        np.sqrt(np.nanmean((curve.nadaraya_watson(h)(at) - truth(at)) ** 2))
        for h in (0.02, 0.03, 0.045, 0.07, 0.1)
    ]
    assert np.sqrt(np.mean(away**2)) <= 1.2 * min(windows) + 0.002


@pytest.mark.parametrize("bandwidth", [7, 2])
def test_records_in_a_corner_of_a_wide_domain(bandwidth):
    """Blurred counts against sharp responses gave 50 for 30 here, with a noise of 0.05."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 15, 300_000)
    y = x + rng.normal(0, 18, x.size)
    curve = curve_of(x, y, mu=0.5, domain=FLIGHTS, response=FLIGHTS, bandwidth=bandwidth)
    fit = curve.gaussian_process()
    at = np.array([-20.0, -10, 0, 10, 20, 30])
    # y is clipped at -60: by 0.02 in the mean at -20.
    assert (np.abs(fit(at) - at) <= 5 * fit.noise_sd(at) + 0.05).all()
    assert (fit.noise_sd(at) < 0.3).all()
    # Nobody is there.
    assert np.isnan(fit([180.0, 250.0])).all()
    assert fit.noise_sd(60.0) > 4 * fit.noise_sd(0.0)


def test_fewer_records_than_three_deviations_of_their_noise_are_refused():
    rng = np.random.default_rng(3)
    x, y = rng.random(300), rng.choice([-1.0, 1.0], 300)
    curve = curve_of(x, y, mu=0.05, domain=UNIT, response=BOUNDS, bandwidth=0.02)
    with pytest.raises(InvalidParameter, match="spend more"):
        curve.gaussian_process()
