"""Faults that were published, each refuted at its planned size; healthy twins pass."""

import pytest
from scipy.stats import binom

from audit.mechanisms import FAULTS
from neyman.audit import mechanism

QUICK = [name for name, fault in FAULTS.items() if not fault.slow]


def audited(run, fault, seed):
    return mechanism(run, *fault.inputs, fault.claim, draws=fault.size, seed=seed)


@pytest.mark.shows("audit")
@pytest.mark.parametrize("name", QUICK)
def test_a_fault_is_refuted_and_its_twin_is_not(name):
    """Of one seed: the power is .9 or more, the level .05; in full below."""
    fault = FAULTS[name]
    assert audited(fault.run, fault, 1).refuted
    assert not audited(fault.healthy, fault, 1).refuted


@pytest.mark.soak
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_refuted_nine_times_in_ten(name):
    """Of 20 audits; fewer than this have a chance of 1e-4 where the power is .9."""
    fault, runs = FAULTS[name], 20
    found = sum(audited(fault.run, fault, seed).refuted for seed in range(runs))
    print(f"\n{name}: {found} of {runs} at {fault.size:,} runs")
    assert found >= binom.ppf(1e-4, runs, 0.9)


@pytest.mark.soak
def test_healthy_twins_are_refuted_at_most_at_the_level():
    """Of all twins together; more have a chance of 1e-6."""
    alarms = [
        audited(fault.healthy, fault, seed).refuted
        for fault in FAULTS.values()
        for seed in range(10 if fault.slow else 40)
    ]
    print(f"\n{sum(alarms)} of {len(alarms)} healthy mechanisms refuted")
    assert sum(alarms) <= binom.isf(1e-6, len(alarms), 0.05)


def test_the_fault_of_a_float_is_said():
    fault = FAULTS["NumPy's Laplace"]
    said = str(audited(fault.run, fault, 2))
    assert "the exponent of the lowest bit of the output is" in said
