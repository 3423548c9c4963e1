"""Both directions by one grid of nodes: the larger delta, and where it takes a value."""

import numpy as np
import pytest

from neyman.numerics import (
    DELTA,
    BothWays,
    ContourTails,
    GaussianMixtureLaw,
    LossSum,
    NormalLaw,
    Shifts,
    Span,
)


def sampled(sigma, q):
    return GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, 1 / sigma), (1 - q, q)))


def replaced(sigma, q):
    side = (1 - q, q)
    return GaussianMixtureLaw(Shifts((0.0, -1 / sigma), side), Shifts((0.0, 1 / sigma), side))


LAWS = [
    LossSum.of(sampled(1.0, 0.01)).times(1000),
    LossSum.of(sampled(1.0, 0.01)).times(1000).reversed(),
    # Nearly normal: the two directions are nearly alike.
    LossSum.of(sampled(20.0, 0.2)).times(100_000),
    LossSum.of(sampled(1.0, 1e-4)).times(10**7).reversed(),
    LossSum.of(sampled(0.5, 1e-4)).times(10**6),
    LossSum.of(replaced(2.0, 0.05)).times(2000),
    LossSum(((sampled(1.0, 0.02), 500.0, False), (NormalLaw(0.3), 1.0, True))),
    LossSum(tuple((sampled(0.8 + 0.1 * k, 0.02), 90.0, False) for k in range(6))),
]


def each(law, ask):
    """The larger of both directions, each by itself."""
    found = [ask(ContourTails(way, DELTA)) for way in (law, law.reversed())]
    return np.max([one.lower for one in found], axis=0), np.max(
        [one.upper for one in found], axis=0
    )


@pytest.mark.parametrize("law", LAWS)
def test_both_together_are_the_larger_of_each_by_itself(law):
    both = BothWays.of(law)
    assert both is not None
    for levels in ([-3.0], [-12.0], [-30.0], [-2.0, -7.0, -7.5, -20.0]):
        target = np.asarray(levels)
        lower, upper = each(law, lambda tails, target=target: tails.threshold(target))
        found = both.threshold(target)
        assert np.all(found.lower <= upper)
        assert np.all(lower <= found.upper)
        # No wider than by each itself, but for what rounds.
        assert np.all(found.upper - found.lower <= 3 * (upper - lower) + 1e-11)
        t = np.maximum(found.upper, 0.0)
        lower, upper = each(law, lambda tails, t=t: tails.log_tail(t))
        delta = both.log_delta(t)
        assert np.all(delta.lower <= upper)
        assert np.all(lower <= delta.upper)
        assert np.all(delta.upper - delta.lower <= 3 * (upper - lower) + 1e-11)


def test_neither_order_matters():
    for law in LAWS:
        at = np.asarray([0.4])
        one, other = BothWays.of(law).log_delta(at), BothWays.of(law.reversed()).log_delta(at)
        assert one.lower[0] <= other.upper[0]
        assert other.lower[0] <= one.upper[0]


def test_the_smaller_direction_alone_is_told_apart():
    # The larger delta is not that of the reversed loss, by far.
    law, at = LAWS[0], np.asarray([2.0])
    smaller = ContourTails(law.reversed(), DELTA).log_tail(at).upper
    assert BothWays.of(law).log_delta(at).lower[0] > smaller[0] + 1


def test_at_zero_both_are_the_total_variation():
    for law in LAWS[:4]:
        found = BothWays.of(law).log_delta(np.zeros(1))
        lower, upper = each(law, lambda tails: tails.log_tail(np.zeros(1)))
        assert found.lower[0] <= upper[0]
        assert lower[0] <= found.upper[0]


def test_few_steps_that_need_a_long_line_are_left_to_each_direction():
    at = np.asarray([0.5])
    assert BothWays.of(LossSum.of(sampled(1.0, 0.01)).times(3)).log_delta(at) is None
    assert BothWays.of(LossSum.of(sampled(1.0, 0.01)).times(100)).log_delta(at) is not None


@pytest.mark.parametrize("law", [sampled(1.0, 0.01), sampled(0.5, 1e-4), replaced(2.0, 0.3)])
@pytest.mark.parametrize("ends", [(1.1, 9.0), (-6.0, 1.5), (-3.0, 4.0)])
def test_the_quick_bound_of_the_cumulant_is_above_it_and_near(law, ends):
    span, c = Span(*ends, 3.0), np.linspace(*ends, 21)
    back = LossSum.of(law).prepared(span).reversed()
    for nodes, at in ((law.prepared(span), c), (back, 1 - c)):
        real, most = nodes.real(at), nodes.most(at)
        assert np.all(most >= real.value - real.error)
        assert np.all(most <= real.value + 1e-10)
