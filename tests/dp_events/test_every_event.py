"""Every event class of the installed dp_accounting, under each relation, beside its accountants."""

import inspect
import math

import dp_accounting
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from neyman.dp_accounting import NeymanAccountant

ADD, REPLACE, SPECIAL = dp_accounting.NeighboringRelation
DELTA = 1e-5
NOISE = dp_event.GaussianDpEvent(2.0)
# The fields of one event of each class, of later versions too.
EXAMPLES = {
    "NoOpDpEvent": (),
    "NonPrivateDpEvent": (),
    "UnsupportedDpEvent": (),
    "RandomizedResponseDpEvent": (0.4, 5),
    "EpsilonDeltaDpEvent": (0.5, 1e-6),
    "GaussianDpEvent": (2.0,),
    "LaplaceDpEvent": (3.0,),
    "DiscreteLaplaceDpEvent": (0.3, 2),
    "DiscreteGaussianDpEvent": (3.0, 2.0, 1),
    "SelfComposedDpEvent": (NOISE, 20),
    "ComposedDpEvent": ([NOISE, dp_event.LaplaceDpEvent(3.0)],),
    "PoissonSampledDpEvent": (0.01, NOISE),
    "SampledWithReplacementDpEvent": (1000, 10, NOISE),
    "SampledWithoutReplacementDpEvent": (1000, 10, NOISE),
    "SingleEpochTreeAggregationDpEvent": (2.0, [3, 8]),
    "RepeatAndSelectDpEvent": (NOISE, 10, 1.0),
    "MixtureOfGaussiansDpEvent": (8.0, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]),
    "ZCDpEvent": (0.05, 0.02),
    "ExponentialMechanismDpEvent": (0.5,),
    "PermuteAndFlipDpEvent": (0.5,),
    "TruncatedSubsampledGaussianDpEvent": (1000, 0.01, 30, 1.0),
}
INSTALLED = [
    name
    for name, kind in inspect.getmembers(dp_event, inspect.isclass)
    if issubclass(kind, dp_event.DpEvent) and kind is not dp_event.DpEvent
]
# What has no meaning under a relation, or none that is known.
REFUSED = {
    *(("UnsupportedDpEvent", relation) for relation in (ADD, REPLACE, SPECIAL)),
    ("RandomizedResponseDpEvent", ADD),
    ("SampledWithReplacementDpEvent", ADD),
    ("SampledWithoutReplacementDpEvent", ADD),
    ("MixtureOfGaussiansDpEvent", REPLACE),
}
# RdpAccountant takes one record replaced for one added (google/differential-privacy issue 378).
HALVED = {
    *("GaussianDpEvent", "LaplaceDpEvent", "DiscreteGaussianDpEvent", "SelfComposedDpEvent"),
    *("ComposedDpEvent", "SampledWithoutReplacementDpEvent", "RepeatAndSelectDpEvent"),
}


def event_of(name: str) -> dp_event.DpEvent:
    return getattr(dp_event, name)(*EXAMPLES[name])


def test_no_class_is_forgotten():
    assert set(INSTALLED) <= set(EXAMPLES)


@pytest.mark.shows("dp-events")
@pytest.mark.parametrize("relation", [ADD, REPLACE, SPECIAL])
@pytest.mark.parametrize("name", INSTALLED)
def test_it_has_a_number_or_a_reason(name, relation):
    """The number is never above what dp_accounting proves, but by a grid of orders."""
    event, accountant = event_of(name), NeymanAccountant(relation)
    assert accountant.supports(event) == ((name, relation) not in REFUSED)
    peers = [
        PLDAccountant(relation, value_discretization_interval=1e-3),
        RdpAccountant(neighboring_relation=relation),
    ]
    if (name, relation) in REFUSED:
        assert not any(peer.supports(event) for peer in peers)
        return
    found = accountant.compose(event).get_epsilon(DELTA)
    assert 0 <= found < math.inf or name == "NonPrivateDpEvent"
    for peer in peers:
        if peer.supports(event):
            published = peer.compose(event).get_epsilon(DELTA)
            if isinstance(peer, RdpAccountant) and relation is REPLACE and name in HALVED:
                assert published < found
            else:
                assert found <= published * (1 + 1e-3)


@pytest.mark.parametrize(
    ("name", "relation"), [("RandomizedResponseDpEvent", REPLACE), ("LaplaceDpEvent", ADD)]
)
def test_several_are_not_one(name, relation):
    """`PLDAccountant` counts several randomized responses once; its divergences do not."""
    event = dp_event.SelfComposedDpEvent(event_of(name), 20)
    found = NeymanAccountant(relation).compose(event).get_epsilon(DELTA)
    by_renyi = RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(DELTA)
    assert 0.9 * by_renyi < found <= by_renyi * (1 + 1e-6)
    once = NeymanAccountant(relation).compose(event_of(name)).get_epsilon(DELTA)
    assert found > 5 * once
