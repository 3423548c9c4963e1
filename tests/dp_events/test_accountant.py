"""The accountant in the hands of dp_accounting's own code."""

import subprocess
import sys

import dp_accounting
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

from neyman.accounting import EpsilonDelta, calibrate, dp_sgd
from neyman.curves import gdp, poisson_replace
from neyman.dp_accounting import NeymanAccountant
from neyman.errors import UnsupportedComposition

RELATIONS = dp_accounting.NeighboringRelation
GAUSSIAN = dp_event.GaussianDpEvent(2.0)
STEP = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0))


def test_it_says_what_the_curve_says():
    accountant = NeymanAccountant()
    assert accountant.neighboring_relation is RELATIONS.ADD_OR_REMOVE_ONE
    assert (accountant.get_epsilon(1e-5), accountant.get_delta(0.0)) == (0, 0)
    run = dp_sgd(1, 0.01, 1000) @ gdp(0.5)
    assert accountant.compose(STEP, 900).compose(GAUSSIAN).compose(STEP, 100) is accountant
    assert accountant.curve == run
    assert accountant.get_epsilon(1e-5) == run.epsilon(1e-5)
    assert accountant.get_delta(1.0) == run.delta(1.0)
    replaced = NeymanAccountant(RELATIONS.REPLACE_ONE).compose(STEP, 10)
    assert replaced.curve == poisson_replace(gdp(1), 0.01) ** 10


def test_answers_follow_what_is_composed_after_them():
    accountant = NeymanAccountant()
    answers = [accountant.compose(GAUSSIAN).get_epsilon(1e-5) for _ in range(4)]
    assert answers == [(gdp(0.5) ** n).epsilon(1e-5) for n in range(1, 5)]


class Strange(dp_event.DpEvent):
    """An event that nobody knows."""


@pytest.mark.parametrize(
    "refused",
    [
        Strange(),
        dp_event.UnsupportedDpEvent(),
        dp_event.ComposedDpEvent([GAUSSIAN, dp_event.SelfComposedDpEvent(Strange(), 3)]),
        dp_event.PoissonSampledDpEvent(0.1, dp_event.UnsupportedDpEvent()),
        dp_event.SampledWithoutReplacementDpEvent(100, 10, GAUSSIAN),
        dp_event.GaussianDpEvent(-1.0),
    ],
)
def test_what_is_refused_leaves_nothing_behind(refused):
    accountant = NeymanAccountant().compose(STEP, 100)
    before = (accountant.ledger, accountant.curve)
    assert not accountant.supports(refused)
    for event in (refused, dp_event.ComposedDpEvent([GAUSSIAN, refused])):
        with pytest.raises(dp_accounting.UnsupportedEventError, match="Unsupported event"):
            accountant.compose(event, 2)
    assert (accountant.ledger, accountant.curve) == before
    assert accountant.compose(GAUSSIAN).curve == before[1] @ gdp(0.5)


def test_what_does_not_compose_with_the_rest_is_refused_too(monkeypatch):
    """Each event alone has a curve, and the composition has none."""
    import neyman.dp_accounting._accountant as room

    def pairwise(event, *, neighbors):
        if "Gaussian" in repr(event) and "Laplace" in repr(event):
            raise UnsupportedComposition("these two do not compose")
        return original(event, neighbors=neighbors)

    original = room.from_dp_event
    monkeypatch.setattr(room, "from_dp_event", pairwise)
    accountant = NeymanAccountant().compose(GAUSSIAN)
    assert not accountant.supports(dp_event.LaplaceDpEvent(1.0))
    with pytest.raises(dp_accounting.UnsupportedEventError, match="these two do not compose"):
        accountant.compose(dp_event.LaplaceDpEvent(1.0))
    assert accountant.ledger == GAUSSIAN
    assert NeymanAccountant().supports(dp_event.LaplaceDpEvent(1.0))


def test_what_cannot_be_protected_is_supported_and_infinite():
    accountant = NeymanAccountant()
    assert accountant.supports(dp_event.NonPrivateDpEvent())
    accountant.compose(dp_event.NonPrivateDpEvent())
    assert (accountant.get_epsilon(1e-5), accountant.get_delta(3.0)) == (float("inf"), 1)


def steps(noise: float) -> dp_event.DpEvent:
    return dp_event.SelfComposedDpEvent(
        dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(noise)), 1000
    )


def test_dp_accounting_calibrates_with_it():
    """Its noise is that of our own search, at most that of PLDAccountant and within 1e-4 of it."""
    found = dp_accounting.calibrate_dp_mechanism(NeymanAccountant, steps, 1.0, 1e-5, tol=1e-9)
    ours = calibrate(lambda noise: dp_sgd(noise, 0.01, 1000), EpsilonDelta(1, 1e-5))
    assert ours.value - 1e-9 <= found <= ours.value + 3e-9
    assert NeymanAccountant().compose(steps(found)).get_epsilon(1e-5) <= 1
    peer = PLDAccountant().compose(steps(found)).get_epsilon(1e-5)
    assert peer == pytest.approx(1, abs=1e-4)


def test_dp_accounting_calibrates_whole_numbers_of_steps_with_it():
    most = dp_accounting.calibrate_dp_mechanism(
        NeymanAccountant,
        lambda count: dp_event.SelfComposedDpEvent(
            dp_event.PoissonSampledDpEvent(0.1, dp_event.GaussianDpEvent(3.0)), count
        ),
        2.0,
        1e-6,
        discrete=True,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(1, 128),
    )
    assert dp_sgd(3, 0.1, most).epsilon(1e-6) <= 2 < dp_sgd(3, 0.1, most + 1).epsilon(1e-6)


def test_without_the_package_the_extra_is_named():
    code = (
        "import sys; sys.modules['dp_accounting'] = None\n"
        "import neyman, neyman.accounting\n"
        "try:\n    import neyman.dp_accounting\n"
        "except neyman.errors.MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'neyman[dp-accounting]'" in done.stdout


def test_the_core_never_loads_the_package():
    code = (
        "import sys, neyman as ny; from neyman.accounting import from_dp_event\n"
        "ny.dp_sgd(1, 0.01, 10).epsilon(1e-5)\n"
        "print(any(name.split('.')[0] == 'dp_accounting' for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
