"""Events, the curves of them, and the events of those."""

from dataclasses import dataclass

import dp_accounting
import pytest
from dp_accounting import dp_event

from neyman.accounting import from_dp_event, truncated_poisson, without_replacement
from neyman.curves import (
    TradeOff,
    approx_dp,
    discrete,
    dominated_by,
    gdp,
    identity,
    laplace,
    poisson,
    rdp,
    worst,
)
from neyman.dp_accounting import to_dp_event
from neyman.errors import UnsupportedComposition

RELATIONS = list(dp_accounting.NeighboringRelation)
GAUSSIAN, LAPLACE = dp_event.GaussianDpEvent(2.0), dp_event.LaplaceDpEvent(3.0)
EVENTS = [
    dp_event.NoOpDpEvent(),
    dp_event.NonPrivateDpEvent(),
    GAUSSIAN,
    LAPLACE,
    dp_event.DiscreteLaplaceDpEvent(0.3, 2),
    dp_event.ZCDpEvent(0.05),
    dp_event.PoissonSampledDpEvent(0.01, GAUSSIAN),
    dp_event.SelfComposedDpEvent(LAPLACE, 7),
    dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.125, GAUSSIAN), 1000),
    dp_event.ComposedDpEvent([GAUSSIAN, dp_event.SelfComposedDpEvent(LAPLACE, 3)]),
]
# What is known for one record added or removed only.
ADDED = [
    dp_event.PoissonSampledDpEvent(0.2, LAPLACE),
    dp_event.PoissonSampledDpEvent(0.2, dp_event.ComposedDpEvent([GAUSSIAN, LAPLACE])),
    dp_event.MixtureOfGaussiansDpEvent(4.0, [0, 1, 3], [0.5, 0.25, 0.25]),
    dp_event.MixtureOfGaussiansDpEvent(4.0, [1, 2], [0.5, 0.5]),
]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("event", EVENTS)
def test_there_and_back(event, relation):
    curve = from_dp_event(event, neighbors=relation)
    back = to_dp_event(curve, neighbors=relation)
    assert isinstance(back, dp_event.DpEvent)
    assert from_dp_event(back, neighbors=relation) == curve
    if not isinstance(event, dp_event.ComposedDpEvent):
        assert back == event


@pytest.mark.parametrize("event", ADDED)
def test_there_and_back_for_one_record_added(event):
    curve = from_dp_event(event, neighbors="add_remove")
    back = to_dp_event(curve, neighbors="add_remove")
    assert from_dp_event(back, neighbors="add_remove") == curve


@pytest.mark.parametrize(
    ("curve", "view"),
    [
        (gdp(0.3), 1e-5),
        (gdp(squared=2), 1e-5),
        (laplace(0.3), 1e-5),
        (poisson(gdp(0.7), 1 / 3) ** 10, 1e-5),
    ],
)
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_what_no_decimal_stands_for_is_rounded_to_the_worse_side(curve, view, neighbors):
    if neighbors == "replace_one" and "poisson" in str(curve):
        pytest.skip("a Poisson sample of one record added")
    event = to_dp_event(curve, neighbors=neighbors)
    back = from_dp_event(event, neighbors=neighbors)
    assert curve.epsilon(view, bracket=True).lower <= back.epsilon(view)
    assert back.epsilon(view) == pytest.approx(curve.epsilon(view), rel=1e-9)


def test_the_relation_says_what_the_noise_is_measured_in():
    assert to_dp_event(gdp(1), neighbors="add_remove") == dp_event.GaussianDpEvent(1.0)
    assert to_dp_event(gdp(1), neighbors="replace_one") == dp_event.GaussianDpEvent(2.0)
    odd = from_dp_event(dp_event.DiscreteLaplaceDpEvent(0.3, 3), neighbors="add_remove")
    with pytest.raises(UnsupportedComposition):
        to_dp_event(odd, neighbors="replace_one")


@pytest.mark.parametrize(
    "curve",
    [
        discrete((0.25, 0.75), (0.5, 0.5)),
        rdp([(2, 0.1), (8, 0.9)]),
        worst(gdp(1), laplace(1)),
        dominated_by(gdp(1)),
        without_replacement(gdp(1), records=100, batch=10).curve,
        truncated_poisson(
            gdp(1),
            sampling_probability=0.1,
            most=5,
            records=40,
            neighbors="add_remove",
            dropped="at_random",
        ),
        TradeOff(gdp(1).remove, laplace(1).add),
        TradeOff(poisson(gdp(1), 0.1).remove, poisson(gdp(1), 0.1).remove),
        gdp(1) @ discrete((0.25, 0.75), (0.5, 0.5)),
    ],
)
def test_what_no_event_says_is_refused(curve):
    with pytest.raises(UnsupportedComposition, match=r"event"):
        to_dp_event(curve, neighbors="add_remove")


def test_a_bound_can_be_written_as_the_event_of_the_bound():
    event = to_dp_event(dominated_by(gdp(1)).dominating(), neighbors="add_remove")
    assert event == dp_event.GaussianDpEvent(1.0)


@dataclass(frozen=True)
class EpsilonDeltaDpEvent:
    """That of later versions."""

    epsilon: float
    delta: float


@pytest.mark.parametrize(
    "curve",
    [
        approx_dp(0.5, 1e-6),
        approx_dp(0.5, 0),
        approx_dp(0, 1e-6),
        approx_dp(0, 1e-6) ** 3,
        gdp(1) @ approx_dp(0.5, 1e-6),
        identity(),
    ],
)
def test_events_of_later_versions_are_used_where_they_are_installed(monkeypatch, curve):
    if not hasattr(dp_event, "EpsilonDeltaDpEvent"):
        if curve != identity():
            with pytest.raises(UnsupportedComposition, match="in the installed version"):
                to_dp_event(curve, neighbors="add_remove")
        monkeypatch.setattr(dp_event, "EpsilonDeltaDpEvent", EpsilonDeltaDpEvent, raising=False)
    event = to_dp_event(curve, neighbors="add_remove")
    assert from_dp_event(event, neighbors="add_remove") == curve
