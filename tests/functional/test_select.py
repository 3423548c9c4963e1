"""The bandwidth that is chosen from the release is nearly as good as the best one."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from neyman import Gaussian
from neyman.functional import (
    Circle,
    DensityFunction,
    Interval,
    ReleasedFunction,
    density,
    function,
    pilot_bandwidth,
    select_bandwidth,
)


@pytest.mark.shows("S2.15")
@pytest.mark.parametrize(("count", "mu"), [(1000, 0.25), (1000, 1.0), (20_000, 0.5)])
def test_it_costs_little_against_the_best(released, normal_values, normal_density, count, mu):
    domain = Interval(-4, 4, outside="clip")
    pilot = pilot_bandwidth(domain, count)
    x = np.linspace(-4, 4, 401)
    truth = normal_density(x)
    lost, best = [], []
    for seed in range(20):
        values = normal_values[seed * 500 :][:count]
        f = released(values, seed=seed, mu=mu, bandwidth=pilot, domain=domain)
        low, high = f.bandwidths
        candidates = np.minimum(low * 2 ** np.arange(0, math.log2(high / low), 0.25), high)
        best.append([((f.smooth(h)(x) - truth) ** 2).mean() for h in candidates])
        chosen = select_bandwidth(f)
        lost.append(((f.smooth(chosen)(x) - truth) ** 2).mean())
    assert np.mean(lost) < 1.6 * np.mean(best, axis=0).min()
    assert np.mean(lost) < np.mean(best, axis=0)[0] / 1.5


def test_a_release_by_records_costs_less_than_one_at_the_pilot(normal_values, normal_density):
    """Seeded noise of the release's own variance; read as the report and the command read it."""
    domain, count, mu = Interval(-4, 4, outside="clip"), 1000, 0.25
    x = np.linspace(-4, 4, 401)
    lost = []
    for given in ({"records": count}, {"bandwidth": pilot_bandwidth(domain, count)}):
        errors = []
        for seed in range(20):
            random = np.random.default_rng(seed)
            question = density(
                normal_values[seed * 500 :][:count],
                domain=domain,
                neighbors="add_remove",
                unit="one row",
                name="x",
                **given,
            )
            noise = Gaussian.calibrate(question.sensitivity, mu=mu)
            noisy = question.compute() + np.rint(random.normal(0, noise.stddev, question.size))
            columns = question.reading.columns(noisy.astype(np.int64), noise, 0.95)
            f = function(Answer(question.query, columns), ReleasedFunction)
            read = DensityFunction(f)
            errors.append(((read(x) - normal_density(x)) ** 2).mean())
        lost.append(np.mean(errors))
    assert lost[0] < 0.95 * lost[1]


class Answer(NamedTuple):
    query: Mapping[str, object]
    columns: Mapping[str, Sequence[object]]


def test_it_finds_fine_structure_and_does_without_where_there_is_none(released):
    random = np.random.default_rng(4)
    spiky = np.repeat(np.arange(1, 24, 2.0), 2000) + random.normal(0, 0.15, 24_000)
    flat = random.uniform(0, 24, 24_000)
    chosen = [
        select_bandwidth(released(values, domain=Circle(24), bandwidth=0.1))
        for values in (spiky, flat)
    ]
    assert chosen[0] < 0.15
    assert chosen[1] > 1


@pytest.mark.shows("S2.15", "e2.7")
def test_it_is_a_function_of_the_release_alone_and_more_noise_smooths_more(released, normal_values):
    f = released(normal_values[:1000], bandwidth=0.05)
    assert select_bandwidth(f) == select_bandwidth(f.smooth(0.5))
    noisy = released(normal_values[:1000], bandwidth=0.05, mu=0.1)
    assert f.bandwidths[0] < select_bandwidth(f) < select_bandwidth(noisy) <= f.bandwidths[1]
