"""The best test of one record of a field, run on releases: its errors are those of G_mu.

With n = 20,000 draws of each side an error rate is known to sd 0.0036; six and a half of them are
passed by chance with probability 1e-10. The broken twin must be caught.
"""

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.functional import Box, Circle, Interval
from neyman.functional._bases._waves import spread
from neyman.testing import SeededBits

DRAWS = 20_000
MU = 1.5
PLANE = Box(Circle(24), Interval(0, 10, outside="clip"))
SPACE = Box(Circle(24), Circle(7), Circle(1))


def asked(values, box, neighbors):
    h = [float(side.length) * (0.24 if side.closed else 0.1) for side in box.sides]
    return functional.density(
        values, domain=box, bandwidth=h, neighbors=neighbors, unit="one row", name="x"
    )


def errors(neighbors, box, broken=1.0):
    """Return alpha and beta of the likelihood ratio test, and how near the worst record is."""
    lengths = np.array([float(side.length) for side in box.sides])
    values = np.random.default_rng(0).uniform(0, 1, (30, len(lengths))) * lengths
    values[0] = 0
    moved = values.copy()
    moved[0] = [float(side.length) / (2 if side.closed else 1) for side in box.sides]
    other = np.vstack([values, lengths / 3]) if neighbors == "add_remove" else moved
    one, two = (asked(v, box, neighbors) for v in (values, other))
    exact = ny.Gaussian.calibrate(one.sensitivity, MU)
    noise = ny.Gaussian(variance=exact.variance * broken)
    sums = one.compute(), two.compute()
    difference = (sums[1] - sums[0]).astype(float)
    length = np.linalg.norm(difference)
    sides = []
    for seed, integers in enumerate(sums):
        score = np.zeros(DRAWS)
        for first in range(0, DRAWS, 500):
            noisy = noise.add_noise(np.tile(integers, (500, 1)), SeededBits(seed * 1000 + first))
            score[first : first + 500] = (noisy - sums[0]) @ (difference / length)
        sides.append(score / exact.stddev)
    thresholds = np.array([0.0, 0.5, 1.0, 1.5])
    alpha = (sides[0][:, None] > thresholds).mean(axis=0)
    beta = (sides[1][:, None] <= thresholds).mean(axis=0)
    return alpha, beta, length / float(one.sensitivity.l2_squared) ** 0.5


def below(alpha, beta):
    """Return how many sd's the test does better than G_mu allows."""
    return ((ny.gdp(MU).beta(alpha) - beta) / (2 * 0.0036)).max()


CASES = [("add_remove", PLANE), ("replace_one", PLANE), ("add_remove", SPACE)]


@pytest.mark.parametrize(("neighbors", "box"), CASES, ids=["a record", "a move", "in space"])
def test_no_record_is_found_more_easily_than_mu_allows(neighbors, box):
    alpha, beta, moved = errors(neighbors, box)
    assert below(alpha, beta) < 6.5
    assert moved > 0.9
    assert below(alpha, beta) > -20


def test_noise_that_is_a_tenth_too_small_is_caught():
    alpha, beta, _ = errors(*CASES[0], broken=0.9**2)
    assert below(alpha, beta) > 6.5


def test_nothing_is_seen_beside_the_span_of_the_waves(released_field):
    """Where a field has no waves it has no noise: and nothing of any record either."""
    declared = {"domain": Box(Circle(10), Circle(10)), "bandwidth": (1.5, 1)}
    values = np.random.default_rng(1).uniform(0, 10, (400, 2))
    other = np.vstack([values, [[2.0, 3.0]]])
    one, two, quiet = (
        released_field(v, seed=s, mu=m, **declared)
        for v, s, m in ((values, 1, 1.0), (other, 2, 1.0), (other, 3, None))
    )
    x = np.random.default_rng(2).uniform(0, 10, (one.basis.size + 300, 2))
    waves = one.basis.size
    readings = np.stack([f(x) * f.count for f in (one, two, quiet)])
    # All functions of the span at these points, and what is orthogonal to it.
    tables = one.tables(list(x.T))
    span = np.einsum("ap,bp->pab", *tables).reshape(len(x), -1)
    span = span[:, spread(one.basis.kept).ravel()]
    assert span.shape[1] == waves
    beside = np.linalg.qr(span, mode="complete")[0][:, waves:]
    assert beside.shape[1] == 300
    assert np.abs(readings @ beside).max() < 1e-9 * np.abs(readings).max()
    # The broken twin: exact values and noise of its own waves can be told apart by projecting.
    jitter = readings[2] + 1e-3 * np.random.default_rng(5).normal(size=len(x))
    assert np.abs(jitter @ beside).max() > 1e-9 * np.abs(readings).max()


def test_the_same_release_says_the_same_and_another_does_not(released_field):
    values = np.random.default_rng(1).uniform(0, 10, (400, 2))
    x = np.random.default_rng(2).uniform(0, 10, (50, 2))
    f, again = released_field(values), released_field(values, seed=2)
    assert (f(x) == f(x)).all()
    assert (f(x) != again(x)).all()
