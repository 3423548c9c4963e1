"""Sums of the same losses by lines that they share: the epsilon that each has by itself."""

import math

import numpy as np
import pytest
from tests.numerics.test_both_ways import replaced, sampled

from neyman.numerics import BothWays, LossSum, NormalLaw, Several
from neyman.numerics._inversion import _several
from neyman.numerics._inversion._contours import Contours

PHASES = [sampled(1.0, 0.01), sampled(1.3, 0.02), NormalLaw(0.2)]


def along(*counts):
    """One sum for each row of counts of the phases."""
    return [
        LossSum(tuple((law, float(n), False) for law, n in zip(PHASES, row, strict=True) if n))
        for row in counts
    ]


SUMS = {
    "one phase": along(*((n, 0, 0) for n in range(200, 1001, 50))),
    "three phases": along((300, 0, 0), (600, 0, 0), (600, 200, 0), (600, 400, 0), (600, 400, 1)),
    "the reversed loss is larger": [one.reversed() for one in along((400, 0, 0), (800, 0, 0))],
    "nearly normal": [LossSum.of(sampled(20.0, 0.2)).times(n) for n in (10**4, 2 * 10**4)],
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("level", [-5.0, -14.0])
def test_each_has_the_epsilon_that_it_has_by_itself(name, level):
    several = Several.of(SUMS[name], two=True)
    assert several is not None
    found = several.threshold(level)
    assert np.all(np.isfinite(found.upper))
    for i, law in enumerate(SUMS[name]):
        both = BothWays.of(law)
        assert both is not None
        alone = both.threshold(np.asarray([level]))
        assert alone is not None
        assert found.lower[i] <= alone.upper[0]
        assert alone.lower[0] <= found.upper[i]
        width = float(alone.upper[0] - alone.lower[0])
        assert found.upper[i] - found.lower[i] <= 4 * width + 1e-11


def test_one_direction_stands_for_both():
    sums = [LossSum.of(replaced(1.0, 0.02)).times(n) for n in (200, 500)]
    found = Several.of(sums, two=False).threshold(math.log(1e-5))
    both = [BothWays.of(one).threshold(np.asarray([math.log(1e-5)])) for one in sums]
    np.testing.assert_allclose(found.upper, [one.upper[0] for one in both], rtol=1e-9)


def test_the_larger_direction_is_proved_to_be_the_larger(monkeypatch):
    """Twin: where the sketch mistakes the direction, nothing is claimed of any sum."""
    several = Several.of(SUMS["one phase"], two=True)
    turned = _several.Several(several.parts, several.counts, two=True)
    between = _several._Sketch.at_tail

    def mistaken(sketch, log_tail):
        found = between(sketch, log_tail)
        # The threshold of the first direction is said to be small, its saddle is not moved.
        return found._replace(threshold=found.threshold * (0.5 if sketch is first[0] else 1.0))

    first = several._sketches(math.log(1e-5))
    monkeypatch.setattr(_several.Several, "_sketches", lambda *_: first)
    monkeypatch.setattr(_several._Sketch, "at_tail", mistaken)
    assert np.all(np.isinf(turned.threshold(math.log(1e-5)).upper))


def test_a_sum_with_few_steps_is_left_to_itself():
    sums = [LossSum.of(sampled(1.0, 0.01)).times(n) for n in (2, 400, 500)]
    found = Several.of(sums, two=True).threshold(math.log(1e-5))
    assert np.isinf(found.upper).tolist() == [True, False, False]


def test_weights_of_one_line_are_those_of_each_alone():
    law = LossSum.of(sampled(1.0, 0.01))
    u = 0.125 * np.arange(1200.0)
    nodes = law.prepared(_several._both(9.0, float(u[-1])))
    points, counts = np.asarray([1.1, 2.0, 8.0, 9.0, 10.0]), np.asarray([[300.0], [400.0]])
    both = Contours.of([nodes], counts, 8.0, u, points)
    t = np.asarray([1.0, 1.2])
    together = both.log_bracket(t, np.arange(2))
    for i in (0, 1):
        one = Contours.of([nodes], counts[i : i + 1], 8.0, u, points)
        alone = one.log_bracket(t[i : i + 1], np.zeros(1, dtype=int))
        assert together.lower[i] <= alone.upper[0]
        assert alone.lower[0] <= together.upper[i]
        assert together.upper[i] - together.lower[i] < 1e-9
