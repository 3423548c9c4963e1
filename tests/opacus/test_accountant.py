"""The accountant that Opacus calls, and the histories that it left."""

import math
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from opacus.accountants import create_accountant
from opacus.accountants.utils import get_noise_multiplier

import opacus
from neyman.accounting import dp_sgd
from neyman.curves import compose, gdp, identity
from neyman.errors import InvalidCall, InvalidParameter
from neyman.opacus import Accountant, PrivacyEngine, from_opacus, noise_multiplier

DELTA = 1e-5


def stepped(accountant, phases):
    for noise, rate, steps in phases:
        for _ in range(steps):
            accountant.step(noise_multiplier=noise, sample_rate=rate)
    return accountant


PHASES = [(1.0, 1 / 24, 40), (0.8, 1 / 24, 20), (1.0, 1 / 20, 3)]


def test_it_is_registered_by_the_import():
    assert type(create_accountant("neyman")) is Accountant
    assert Accountant.mechanism() == "neyman"
    assert type(opacus.PrivacyEngine(accountant="neyman").accountant) is Accountant


def test_nothing_spends_nothing():
    accountant = Accountant()
    assert accountant.get_epsilon(DELTA) == 0
    assert len(accountant) == 0


@pytest.mark.shows("opacus")
def test_epsilon_is_that_of_the_curve():
    accountant = stepped(Accountant(), PHASES)
    curve = compose(*(dp_sgd(*phase) for phase in PHASES))
    assert accountant.get_epsilon(DELTA) == pytest.approx(curve.epsilon(DELTA), rel=1e-9)
    assert accountant.get_epsilon(delta=DELTA, eps_error=0.01, poisson=True) == pytest.approx(
        curve.epsilon(DELTA), rel=1e-9
    )
    assert len(accountant) == 63
    assert accountant.history == PHASES


def test_phases_that_come_back_are_one_power():
    twice = stepped(Accountant(), [(1.0, 0.1, 2), (2.0, 0.1, 1), (1.0, 0.1, 3)])
    assert len(twice.history) == 3
    assert from_opacus(twice) == compose(dp_sgd(1.0, 0.1, 5), dp_sgd(2.0, 0.1, 1))


def test_it_recomputes_from_a_history_that_is_assigned():
    accountant = Accountant()
    accountant.history = [(1.0, 1 / 24, 72)]
    assert accountant.get_epsilon(DELTA) == pytest.approx(2.571752837448558, rel=1e-9)
    accountant.history = [(2.0, 1 / 24, 72)]
    assert accountant.get_epsilon(DELTA) < 1


def test_no_noise_has_no_epsilon_and_no_rate_costs_nothing():
    assert stepped(Accountant(), [(0.0, 0.1, 1)]).get_epsilon(DELTA) == np.inf
    assert stepped(Accountant(), [(1.0, 0.0, 5)]).get_epsilon(DELTA) == 0


def test_rates_of_a_rounded_product_are_one_and_larger_ones_are_refused():
    rate = np.nextafter(1, 2)
    assert from_opacus(stepped(Accountant(), [(1.0, rate, 4)])) == gdp(2)
    with pytest.raises(InvalidParameter, match="rate of at most 1"):
        Accountant().step(noise_multiplier=1.0, sample_rate=1.5)
    with pytest.raises(InvalidParameter, match="rate of at most 1"):
        Accountant().step(noise_multiplier=1.0, sample_rate=float("nan"))


@pytest.mark.filterwarnings("ignore:GDP accounting is experimental:UserWarning")
@pytest.mark.parametrize("mechanism", ["rdp", "prv", "gdp", "neyman"])
def test_runs_of_every_accountant_are_read_and_resumed(mechanism):
    phases = PHASES[:1]
    old = stepped(create_accountant(mechanism), phases)
    curve = dp_sgd(*phases[0])
    assert from_opacus(old) == from_opacus(old.state_dict()) == curve
    resumed = Accountant()
    resumed.load_state_dict(old.state_dict())
    stepped(resumed, phases)
    assert from_opacus(resumed) == dp_sgd(1.0, 1 / 24, 80)
    assert old.history == phases


@pytest.mark.parametrize("steps", [3.5, -1, float("nan"), float("inf"), "3", None])
def test_steps_that_are_no_whole_number_are_refused_and_not_rounded_down(steps):
    with pytest.raises(InvalidParameter, match="a whole number of at least 0 steps"):
        from_opacus({"history": [(1.0, 0.1, steps)]})
    assert from_opacus({"history": [(1.0, 0.1, 3.0)]}) == dp_sgd(1.0, 0.1, 3)


def test_a_state_that_is_none_is_refused():
    accountant = Accountant()
    with pytest.raises(ValueError, match="cannot be loaded"):
        accountant.load_state_dict({})
    with pytest.raises(ValueError, match="mechanism"):
        accountant.load_state_dict({"history": [], "mechanism": "tree"})
    with pytest.raises(InvalidParameter, match="noise multiplier, sampling rate, steps"):
        accountant.load_state_dict({"history": [(1, 2)], "mechanism": "prv"})


@pytest.mark.parametrize(
    "entry",
    [(1, 0.1, -1), (1, 0.1, 2.5), (-1, 0.1, 1), (math.nan, 0.1, 1), (math.inf, 0.1, 1), (1, 2, 1)],
)
def test_a_history_that_would_cost_too_little_is_refused(entry):
    with pytest.raises(InvalidParameter, match="whole number of at least 0 steps"):
        from_opacus({"history": [(1.0, 0.1, 10), entry]})


def test_a_checkpoint_resumes_and_is_read(make, tmp_path):
    run = make(engine=opacus.PrivacyEngine(accountant="prv"))
    run.train()
    path = tmp_path / "a.pt"
    run.engine.save_checkpoint(path=path, module=run.model, optimizer=run.optimizer)
    checkpoint = torch.load(path, weights_only=False)
    curve = dp_sgd(1.0, 1 / 25, 25)
    assert from_opacus(checkpoint) == from_opacus(run.engine) == from_opacus(run.optimizer) == curve
    again = make(engine=PrivacyEngine())
    again.engine.load_checkpoint(path=path, module=again.model, optimizer=again.optimizer)
    again.train()
    assert from_opacus(again.optimizer) == dp_sgd(1.0, 1 / 25, 50)
    assert from_opacus(again.engine, neighbors="replace_one") == dp_sgd(
        1.0, 1 / 25, 50, neighbors="replace_one"
    )


def test_what_has_no_history_is_refused(make):
    with pytest.raises(InvalidParameter, match="has none"):
        from_opacus(3)
    with pytest.raises(InvalidParameter, match="neither 'history'"):
        from_opacus({"module_state_dict": {}})
    run = make()
    run.optimizer.attach_step_hook(lambda _: None)
    with pytest.raises(InvalidParameter, match="no accountant's"):
        from_opacus(run.optimizer)
    assert from_opacus(Accountant()) == identity()


TARGET = {"target_epsilon": 3, "target_delta": DELTA}


def test_the_engine_takes_less_noise_than_opacus(digits):
    # 10 epochs of 24 steps: PRV takes 1.21094, and Opacus' own bisection 1.20850 at best.
    own = PrivacyEngine()
    net = torch.nn.Linear(64, 10)
    how = {
        "module": net,
        "optimizer": torch.optim.SGD(net.parameters(), lr=0.1),
        "data_loader": torch.utils.data.DataLoader(digits, batch_size=64),
        "epochs": 10,
        "max_grad_norm": 1.0,
    }
    _, optimizer, loader = own.make_private_with_epsilon(**TARGET, **how)
    assert len(loader) == 24
    assert 1.2078 <= optimizer.noise_multiplier <= 1.2079
    assert 3 - 1e-6 <= dp_sgd(optimizer.noise_multiplier, 1 / 24, 240).epsilon(DELTA) <= 3


def test_opacus_own_bisection_meets_the_target_as_closely_as_its_tolerance():
    how = {"sample_rate": 1 / 24, "steps": 240, "accountant": "neyman", **TARGET}
    coarse, fine = get_noise_multiplier(**how), get_noise_multiplier(**how, epsilon_tolerance=1e-4)
    assert 1.2079 < coarse < 1.2086
    assert 1.207830 < fine < 1.2079


def test_steps_are_not_lost_to_rounding():
    # int(3 / (1 / 75)) is 224 in floats.
    rate = 1 / 75
    assert int(3 / rate) == 224
    asked = {"target_epsilon": 1, "target_delta": DELTA, "sample_rate": rate}
    noise = noise_multiplier(**asked, epochs=3)
    assert noise == noise_multiplier(**asked, steps=225)
    # A part of a step is a step.
    part = {**asked, "sample_rate": 0.3}
    assert noise_multiplier(**part, epochs=1) == noise_multiplier(**part, steps=4)
    assert dp_sgd(noise, rate, 225).epsilon(DELTA) <= 1
    lost = get_noise_multiplier(**asked, epochs=3, accountant="neyman", epsilon_tolerance=1e-6)
    assert dp_sgd(lost, rate, 225).epsilon(DELTA) > 1


def test_what_was_spent_counts(digits):
    engine = PrivacyEngine()
    stepped(engine.accountant, [(1.0, 1 / 24, 72)])
    net = torch.nn.Linear(64, 10)
    how = {
        "module": net,
        "data_loader": torch.utils.data.DataLoader(digits, batch_size=64),
        "optimizer": torch.optim.SGD(net.parameters(), lr=0.1),
        "epochs": 3,
        "max_grad_norm": 1.0,
    }
    _, optimizer, _ = engine.make_private_with_epsilon(**TARGET, **how)
    both = dp_sgd(1.0, 1 / 24, 72) @ dp_sgd(optimizer.noise_multiplier, 1 / 24, 72)
    assert 3 - 1e-6 <= both.epsilon(DELTA) <= 3
    stepped(engine.accountant, [(1.0, 1 / 24, 72)])
    stepped(engine.accountant, [(1.0, 1 / 24, 72)])
    with pytest.raises(InvalidParameter, match="has spent"):
        engine.make_private_with_epsilon(**TARGET, **how)
    stepped(engine.accountant, [(0.0, 1 / 24, 1)])
    with pytest.raises(InvalidParameter, match="spent, inf"):
        engine.make_private_with_epsilon(**TARGET, **how)


def test_what_the_engine_refuses():
    assert type(PrivacyEngine(accountant="neyman").accountant) is Accountant
    with pytest.raises(InvalidParameter, match="for another"):
        PrivacyEngine(accountant="prv")
    for rate in (0, 1.5, -1):
        with pytest.raises(InvalidParameter, match="sample_rate must be"):
            noise_multiplier(**TARGET, sample_rate=rate, epochs=1)


def test_the_engine_makes_no_training_whose_batches_are_not_sampled(make):
    with pytest.raises(InvalidParameter, match="poisson_sampling must be True"):
        make(engine=PrivacyEngine(), poisson_sampling=False)
    make(engine=PrivacyEngine(), poisson_sampling=True).train(stop=2)


@pytest.mark.parametrize("epochs", [0, -1, float("nan"), float("inf"), 1e20])
def test_epochs_without_steps_are_refused(epochs):
    with pytest.raises(InvalidParameter, match="epochs must be above 0"):
        noise_multiplier(**TARGET, sample_rate=0.1, epochs=epochs)
    with pytest.raises(InvalidParameter, match=r"steps must be .* got 0"):
        noise_multiplier(**TARGET, sample_rate=0.1, steps=0)


def test_epochs_or_steps():
    with pytest.raises(InvalidCall, match="either epochs or steps"):
        noise_multiplier(**TARGET, sample_rate=0.1)
    with pytest.raises(InvalidCall, match="either epochs or steps"):
        noise_multiplier(**TARGET, sample_rate=0.1, epochs=1, steps=10)


def test_hundreds_of_phases_compose():
    accountant = Accountant()
    accountant.history = [(1 + i / 1000, 1 / 24, 2) for i in range(500)]
    start = time.process_time()
    found = accountant.get_epsilon(DELTA)
    # Measured 0.25 s; a machine under load is no fault.
    assert time.process_time() - start < 3
    assert 6.32 < found < 6.33


def test_without_opacus_the_import_says_what_to_install():
    code = (
        "import sys\nsys.modules['opacus'] = None\nimport neyman.training\n"
        "assert 'torch' not in sys.modules\n"
        "try:\n    import neyman.opacus\nexcept ImportError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("MissingExtra")
    assert "neyman[opacus]" in said.stdout
