"""What stops a step while a training runs, and what does not."""

import json

import pytest
import torch
from opacus.data_loader import DPDataLoader
from opacus.schedulers import ExponentialGradClip, ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.utils.data import DataLoader

import opacus
from neyman import training
from neyman.accounting import dp_sgd
from neyman.curves import compose
from neyman.errors import BudgetExceeded, InvalidParameter, InvalidTraining
from neyman.opacus import attach, from_opacus


def watched(run, **how):
    return attach(run.optimizer, run.loader, run.model, **how)


def weights(run):
    return torch.cat([p.detach().flatten().clone() for p in run.optimizer.params])


@pytest.mark.parametrize(
    ("how", "physical"),
    [
        ({}, None),
        ({}, 16),
        ({"batch_size": 2}, None),
        ({"batch_size": 500}, 100),
        ({"clipping": "per_layer", "clip": [1.0] * 4}, None),
        ({"grad_sample_mode": "ghost"}, None),
        ({"grad_sample_mode": "ghost"}, 16),
        ({"grad_sample_mode": "functorch"}, 16),
    ],
)
def test_a_training_in_health_goes_on(make, how, physical):
    run = make(**how)
    watch = watched(run)
    # Beyond an epoch: of 25 batches, or of 3 in some 18 parts.
    run.train(2, physical=physical, stop=50)
    assert watch.steps > 5
    assert from_opacus(run.optimizer) == from_opacus(run.engine)
    assert watch.history == run.engine.accountant.history


def test_workers_that_draw_ahead_are_no_fault(make, digits):
    run = make(loader=DataLoader(digits, batch_size=300, num_workers=1))
    watch = watched(run)
    run.train()
    run.train(physical=100)
    assert watch.steps == 10


def test_a_loop_that_ends_between_two_steps_is_no_fault(make):
    run = make()
    watch = watched(run)
    for _ in range(2):
        run.train(stop=3)
    assert watch.steps == 6


def test_a_loop_that_is_left_in_a_logical_batch_stops_the_next(make):
    run = make()
    watch = watched(run)
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=16, optimizer=run.optimizer
    ) as loader:
        for i, (x, y) in enumerate(loader):
            run.batch(x, y)
            if i == 1:
                break
    before, history = weights(run), list(run.engine.accountant.history)
    with pytest.raises(InvalidTraining, match="left_batch"):
        run.train(physical=16)
    assert torch.equal(weights(run), before)
    assert run.engine.accountant.history == history == watch.history


def test_without_a_watch_the_same_loop_adds_up_two_batches(make):
    # So many examples enter one accounted step, each with the clipping norm.
    run, seen = make(clip=1e-6), []
    clip = run.optimizer.clip_and_accumulate

    def counted():
        seen.append(len(run.optimizer.grad_samples[0]))
        clip()

    run.optimizer.clip_and_accumulate = counted
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=16, optimizer=run.optimizer
    ) as loader:
        for x, y in loader:
            run.batch(x, y)
            break
    first, steps = sum(seen), len(run.engine.accountant)
    assert steps == 0
    drawn = []
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=16, optimizer=run.optimizer
    ) as loader:
        for x, y in loader:
            drawn.append(len(x))
            run.batch(x, y)
            if len(run.engine.accountant) == 1:
                break
    assert sum(seen) == first + sum(drawn) > sum(drawn)


def test_workers_whose_signals_are_left_behind_stop_the_next_loop(make, digits):
    run = make(loader=DataLoader(digits, batch_size=60, num_workers=1))
    watched(run)
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=1000, optimizer=run.optimizer
    ) as loader:
        for x, y in loader:
            run.batch(x, y)
            break
    with pytest.raises(InvalidTraining, match="left_batch"):
        run.train(physical=1000)


def test_gradients_that_accumulate_stop_the_step(make):
    run = make()
    watched(run)
    run.model.allow_grad_accumulation()
    before = weights(run)

    def both():
        run.optimizer.zero_grad()
        for i, (x, y) in enumerate(run.loader):
            run.criterion(run.model(x), y).backward()
            if i % 2:
                run.optimizer.step()

    with pytest.raises(InvalidTraining, match="accumulated_batches"):
        both()
    assert torch.equal(weights(run), before)
    assert len(run.engine.accountant) == 0


def test_a_batch_that_is_left_out_stops_the_next_step(make):
    run = make(batch_size=2)
    watched(run)

    def skipping():
        for x, y in run.loader:
            if len(x):
                run.batch(x, y)

    with pytest.raises(InvalidTraining, match="several_batches"):
        skipping()


def test_a_batch_that_is_used_twice_stops_the_second_step(make):
    run = make()
    watch = watched(run)
    x, y = next(iter(run.loader))
    run.batch(x, y)
    with pytest.raises(InvalidTraining, match="no_batch"):
        run.batch(x, y)
    assert watch.steps == 1


def test_a_batch_of_another_loader_stops_the_step(make):
    run, other = make(), make()
    watched(run)
    run.loader = other.loader
    with pytest.raises(InvalidTraining, match="no_batch"):
        run.train()
    assert len(run.engine.accountant) == 0


def test_a_scheduler_of_the_clipping_norm_stops_the_step(make):
    run = make(clipping="per_layer", clip=[1.0] * 4)
    watch = watched(run)
    scheduler = ExponentialGradClip(run.optimizer, gamma=0.9)
    run.train()
    scheduler.step()
    with pytest.raises(InvalidTraining, match="clipping_norm"):
        run.train()
    assert watch.steps == 25


def test_noise_that_is_turned_off_stops_the_step(make):
    run = make()
    watched(run)
    run.train()
    run.optimizer.noise_multiplier = 0.0
    with pytest.raises(InvalidTraining, match="no_noise"):
        run.train()


def test_a_noise_scheduler_makes_phases(make):
    run = make()
    watch = watched(run)
    scheduler = ExponentialNoise(run.optimizer, gamma=0.5)
    run.train()
    scheduler.step()
    run.train()
    assert watch.history == [(1.0, 0.04, 25), (0.5, 0.04, 25)]
    assert from_opacus(run.engine) == compose(dp_sgd(1.0, 0.04, 25), dp_sgd(0.5, 0.04, 25))


@pytest.mark.parametrize(
    ("name", "how", "spoil"),
    [
        ("shuffled_batches", {"poisson_sampling": False}, lambda _: None),
        ("fixed_batches", {"poisson_sampling": False, "shuffle": False}, lambda _: None),
        ("no_noise", {"noise": 0.0}, lambda _: None),
        ("unaccounted_steps", {}, lambda run: run.optimizer.attach_step_hook(None)),
        ("left_batch", {}, lambda run: run.optimizer.signal_skip_step(True)),
    ],
)
def test_a_fault_of_the_set_up_is_refused_at_once(make, name, how, spoil):
    run = make(**how)
    spoil(run)
    with pytest.raises(InvalidTraining, match=name):
        watched(run)


def test_another_rate_is_refused_at_once(make, digits):
    run = make()
    with pytest.raises(InvalidTraining, match="accounted_rate"):
        attach(run.optimizer, DPDataLoader(digits, sample_rate=0.2), run.model)


def test_it_is_attached_once(make):
    run = make()
    watched(run)
    with pytest.raises(InvalidParameter, match="watched already"):
        watched(run)


def test_a_budget_stops_the_step_before_it_is_accounted_for(make):
    run, taken = make(), []

    def draw(noise, rate):
        if len(taken) == 10:
            raise BudgetExceeded("no more")
        taken.append((noise, rate))

    watch = watched(run, on_step=draw)
    with pytest.raises(BudgetExceeded):
        run.train()
    assert taken == [(1.0, 0.04)] * 10
    assert watch.history == run.engine.accountant.history == [(1.0, 0.04, 10)]


def started(make, seed):
    """Start as a script does: seed, make, attach."""
    torch.manual_seed(seed)
    return make(engine=opacus.PrivacyEngine(accountant="neyman"))


def test_a_resumed_run_that_is_seeded_again_is_refused(make):
    run = started(make, 3)
    watch = watched(run)
    run.train()
    state = json.loads(json.dumps(watch.state_dict()))
    again = started(make, 3)
    with pytest.raises(InvalidTraining, match="replayed_seed"):
        watched(again, resume=state)
    # Also where it has drawn something else before.
    torch.rand(5)
    with pytest.raises(InvalidTraining, match="replayed_seed"):
        watched(again, resume=state)


def test_a_resumed_run_that_goes_on_or_is_seeded_anew_is_not(make):
    run = started(make, 3)
    watch = watched(run)
    run.train()
    state, stream = watch.state_dict(), torch.get_rng_state()
    later = watched(started(make, 4), resume=state).state_dict()
    # A seed that was used once stays so.
    again = started(make, 3)
    with pytest.raises(InvalidTraining, match="replayed_seed"):
        watched(again, resume=later)
    goes_on = started(make, 3)
    torch.set_rng_state(stream)
    watched(goes_on, resume=state)
    goes_on.train()


def test_without_a_watch_a_run_that_is_seeded_again_repeats_its_batches_and_noise(make):
    seen = []
    for _ in range(2):
        run = started(make, 3)
        run.optimizer.noise_multiplier = 1e6
        run.train(stop=1)
        seen.append(torch.cat([p.grad.flatten() for p in run.optimizer.params]))
    assert torch.equal(*seen)


def test_a_state_that_is_none_is_refused(make):
    with pytest.raises(InvalidParameter, match="state_dict"):
        watched(make(), resume={"history": []})


def test_the_record_says_what_was_watched(make, tmp_path):
    run = make()
    watch = watched(run)
    scheduler = ExponentialNoise(run.optimizer, gamma=0.5)
    run.train()
    scheduler.step()
    run.train(stop=10)
    record = watch.record(unit="one image", records=1500)
    assert record.steps == 35
    assert record.curve == from_opacus(run.engine)
    assert training.doctor(record, delta=1e-5) == ()
    assert {str(phase.clip) for phase in record.phases} == {"1"}
    assert [phase.start for phase in record.phases] == [0, 25]
    assert all(check.passed for check in record.checks)
    assert "floating-point" in record.assumptions[0]
    assert "2^-24" in record.assumptions[1]
    record.save(tmp_path / "run.json")
    again = training.RunRecord.read(tmp_path / "run.json")
    assert again.curve == record.curve
    assert again.phases == record.phases
    # A run that goes on begins where this one stopped.
    stream, other = torch.get_rng_state(), make()
    torch.set_rng_state(stream)
    resumed = watched(other, resume=watch.state_dict())
    other.train(stop=1)
    assert resumed.record(unit="one image").phases[0].start == 35


def test_the_record_says_where_the_divisor_is_made_of_the_number_of_records(make):
    run = make()
    watch = watched(run)
    run.train(stop=1)

    def public(neighbors="add_remove"):
        said = watch.record(unit="one image", neighbors=neighbors).assumptions
        return any("number of records is public" in one for one in said)

    assert public()
    assert not public("replace_one")
    run.optimizer.expected_batch_size = 64
    assert not public()


def test_the_record_says_what_was_found(make):
    run = make()
    watch = watched(run)
    x, y = next(iter(run.loader))
    run.batch(x, y)
    with pytest.raises(InvalidTraining) as refused:
        run.batch(x, y)
    record = watch.record(unit="one image")
    assert record.steps == 1
    assert [finding.name for finding in training.doctor(record)] == ["no_batch"]
    assert str(refused.value) == str(record.findings[0])
    assert [check.name for check in record.checks if not check.passed] == ["no_batch"]
