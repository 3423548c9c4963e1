"""The best test of one record, run on releases: its errors are those of G_mu, and no less.

With n = 40,000 draws of each side, an error rate of 0.2 to 0.9 is known to sd 0.0025; six and a
half of them are passed by chance with probability 1e-10. The broken twins must be caught.
"""

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.functional import Circle, Cumulative, Interval
from neyman.testing import SeededBits

DRAWS = 40_000
MU = 1.0


def errors(neighbors, domain, broken=1.0, repeats=1):
    """Return alpha and beta of the likelihood ratio test at several thresholds."""
    declared = {
        "domain": domain,
        "bandwidth": float(domain.length) / 20,
        "neighbors": neighbors,
        "unit": "one row",
        "name": "x",
        "target": Cumulative(),
    }
    length = float(domain.length)
    values = np.random.default_rng(0).uniform(0, length, 30)
    moved = values.copy()
    moved[0] = (values[0] + length / 2) % length
    other = np.append(values, length / 3) if neighbors == "add_remove" else moved
    one, two = (functional.density(v, **declared) for v in (values, other))
    noise = ny.Gaussian(variance=ny.Gaussian.calibrate(one.sensitivity, MU).variance * broken)
    difference = (two.compute() - one.compute()).astype(float)
    sides = []
    for seed, question in ((1, one), (2, two)):
        score = np.zeros(DRAWS)
        for repeat in range(repeats):
            exact = np.tile(question.compute(), (DRAWS, 1))
            noisy = noise.add_noise(exact, SeededBits(10 * seed + repeat))
            score += (noisy - one.compute()) @ (difference / np.linalg.norm(difference))
        sides.append(score / (noise.stddev * repeats**0.5))
    thresholds = np.array([-0.5, 0.0, 0.5, 1.0])
    alpha = (sides[0][:, None] > thresholds).mean(axis=0)
    beta = (sides[1][:, None] <= thresholds).mean(axis=0)
    length_of_move = np.linalg.norm(difference) / float(one.sensitivity.l2_squared) ** 0.5
    return alpha, beta, length_of_move


def below(alpha, beta):
    """Return how many sd's the test does better than G_mu allows."""
    allowed = ny.gdp(MU).beta(alpha)
    return ((allowed - beta) / (2 * 0.0025)).max()


CASES = [
    ("add_remove", Circle(24)),
    ("add_remove", Interval(0, 10, outside="clip")),
    ("add_remove", Interval(0, 10, outside="count")),
    ("replace_one", Circle(24)),
]


@pytest.mark.shows("S2.8")
@pytest.mark.parametrize(("neighbors", "domain"), CASES)
def test_no_record_is_found_more_easily_than_mu_allows(neighbors, domain):
    alpha, beta, moved = errors(neighbors, domain)
    assert below(alpha, beta) < 6.5
    # The record is nearly the worst, so the test is nearly as good as any.
    assert moved > 0.9
    assert below(alpha, beta) > -20


def test_noise_that_is_too_small_is_caught():
    alpha, beta, _ = errors(*CASES[0], broken=0.7)
    assert below(alpha, beta) > 6.5


@pytest.mark.shows("S2.8")
def test_fresh_noise_at_every_call_is_caught():
    alpha, beta, _ = errors(*CASES[0], repeats=2)
    assert below(alpha, beta) > 6.5
