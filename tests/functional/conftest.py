"""Kernel estimates without a ledger, with noise that repeats."""

import math

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.functional import Box, Density, Interval
from neyman.testing import SeededBits


class Answer:
    """What `functional.function` needs of a release."""

    def __init__(self, aggregate, noisy, noise):
        self.query = aggregate.query
        self.columns = aggregate.reading.columns(noisy, noise, 0.95)


@pytest.fixture
def released():
    """Release as the door does, with seeded bits; mu=None adds as good as no noise."""

    asked = {}

    def release(values, *, seed=1, mu=1.0, **declared):
        declared = {
            "domain": Interval(-5, 5, outside="clip"),
            "bandwidth": 0.25,
            "neighbors": "add_remove",
            "unit": "one row",
            "name": "x",
            "target": Density(),
        } | declared
        key = (id(values), repr(declared))
        if key not in asked:
            aggregate = functional.density(np.asarray(values, float), **declared)
            # The values stay alive, so that their id stays theirs.
            asked[key] = aggregate, aggregate.compute(), values
        aggregate, sums, _ = asked[key]
        noise = ny.Gaussian(scale=1) if mu is None else noise_of(aggregate, mu)
        noisy = noise.add_noise(sums, SeededBits(seed))
        return functional.function(Answer(aggregate, noisy, noise), functional.ReleasedFunction)

    def noise_of(aggregate, mu):
        return ny.Gaussian.calibrate(aggregate.sensitivity, mu=mu)

    return release


@pytest.fixture
def normal_values():
    return np.random.default_rng(7).normal(0, 1, 20_000)


@pytest.fixture
def normal_density():
    return lambda x, sd=1.0: np.exp(-0.5 * (x / sd) ** 2) / (sd * math.sqrt(2 * math.pi))


@pytest.fixture
def released_field():
    """Release a field as the door does, with seeded bits; mu=None adds as good as no noise."""

    asked = {}

    def release(values, *, seed=1, mu=1.0, **declared):
        side = Interval(0, 10, outside="clip")
        declared = {
            "domain": Box(side, side),
            "bandwidth": (0.8, 1.0),
            "neighbors": "add_remove",
            "unit": "one row",
            "name": "x",
        } | declared
        key = (id(values), repr(declared))
        if key not in asked:
            aggregate = functional.density(np.asarray(values, float), **declared)
            asked[key] = aggregate, aggregate.compute(), values
        aggregate, sums, _ = asked[key]
        noise = ny.Gaussian(scale=1)
        if mu is not None:
            noise = ny.Gaussian.calibrate(aggregate.sensitivity, mu=mu)
        noisy = noise.add_noise(sums, SeededBits(seed))
        return functional.function(Answer(aggregate, noisy, noise), functional.ReleasedField)

    return release
