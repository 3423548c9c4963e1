"""What the doctor finds: each fault in a real training, beside the same one in health."""

import copy
import os
import socket

import pytest
import torch
from opacus.data_loader import DPDataLoader
from opacus.schedulers import ExponentialGradClip, ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import distributed, multiprocessing, nn
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    Subset,
    WeightedRandomSampler,
)

import opacus
from neyman.accounting import dp_sgd
from neyman.curves import gdp, group
from neyman.errors import InvalidParameter
from neyman.opacus import PrivacyEngine, attach, doctor

DELTA = 1e-5


def found(run, **how):
    return [finding.name for finding in doctor(*run.parts, **how)]


def only(run, name, **how):
    """Return the one finding, after a look at its words."""
    (finding,) = doctor(*run.parts, **how)
    assert finding.name == name
    assert all(text.endswith(".") for text in (finding.seen, finding.holds, finding.write))
    return finding


def test_arguments_in_another_order_are_refused(make):
    run = make()
    with pytest.raises(InvalidParameter, match=r"DPDataLoader\. Write doctor\(engine, loader"):
        doctor(run.engine, run.optimizer, run.loader, run.model)
    with pytest.raises(InvalidParameter, match="engine must be a PrivacyEngine"):
        doctor(None, run.loader, run.optimizer)
    with pytest.raises(InvalidParameter, match=r"attach\(optimizer, loader, model\)"):
        attach(run.loader, run.optimizer)


@pytest.mark.shows("doctor")
def test_shuffled_batches_have_no_amplification(make):
    run = make(poisson_sampling=False)
    finding = only(run, "shuffled_batches", delta=DELTA, epochs=3)
    assert finding.curve == gdp(1) ** 3
    assert "8.38542" in finding.holds
    # Opacus says so of a training that it accounts for as if it were sampled.
    run.train(3)
    assert run.engine.get_epsilon(DELTA) < 2.7 < finding.curve.epsilon(DELTA)
    assert found(make(), delta=DELTA, epochs=3) == []


def test_batches_in_order_have_no_amplification(make):
    only(make(poisson_sampling=False, shuffle=False), "fixed_batches")
    assert found(make(shuffle=False)) == []


@pytest.mark.parametrize("replacement", [True, False])
def test_samplers_that_nothing_is_known_of(make, digits, replacement):
    sampler = (
        RandomSampler(digits, replacement=True)
        if replacement
        else WeightedRandomSampler(torch.rand(len(digits)), num_samples=len(digits))
    )
    own = DataLoader(digits, batch_size=60, sampler=sampler)
    finding = only(make(loader=own, poisson_sampling=False), "unknown_sampler")
    assert finding.curve is None
    assert found(make(loader=own)) == []


def test_a_weighted_sampler_is_replaced(make, digits):
    own = DataLoader(
        digits, batch_size=64, sampler=WeightedRandomSampler(torch.rand(len(digits)), 128)
    )
    run = make(loader=own)
    assert run.loader.sample_rate == 0.5
    finding = only(run, "replaced_sampler", given=run.given)
    assert "0.5" in finding.seen
    assert "WeightedRandomSampler" in finding.seen
    assert found(make(), given=make().given) == []


def test_drop_last_is_ignored(make):
    run = make(batch_size=64)
    dropped = DataLoader(run.given.dataset, batch_size=64, drop_last=True)
    run = make(loader=dropped)
    finding = only(run, "ignored_drop_last", given=run.given)
    assert finding.curve == dp_sgd(1.0, 1 / 23, 23)
    whole = make(loader=DataLoader(run.given.dataset, batch_size=60, drop_last=True))
    assert found(whole, given=whole.given) == []


def test_the_rate_is_that_of_the_batches_and_not_of_the_batch(make):
    run = make(batch_size=64)
    finding = only(run, "asked_rate", given=run.given)
    assert finding.curve == dp_sgd(1.0, 1 / 24, 24)
    run = make(batch_size=1000)
    assert "750 records a step" in only(run, "asked_rate", given=run.given).seen
    run = make(batch_size=75)
    assert found(run, given=run.given) == []
    # A loader that states its rate is one that was asked for.
    rate = make(loader=DPDataLoader(run.given.dataset, sample_rate=0.04))
    assert found(rate, given=rate.given) == []


def test_another_loader_is_not_what_is_accounted_for(make):
    run, larger = make(), make(batch_size=300)
    run.loader = larger.loader
    finding = only(run, "accounted_rate", epochs=2)
    assert finding.curve == dp_sgd(1.0, 0.2, 10)
    assert found(larger, epochs=2) == []
    # At a smaller rate than is accounted for, the number holds.
    larger.loader = make().loader
    assert found(larger) == []


def test_the_normalizer_tells_the_number_of_records_where_it_is_private(make):
    finding = only(make(), "normalizer_from_data", neighbors="add_remove", epochs=3)
    assert "60 = int" in finding.seen
    assert "61" in finding.seen
    assert found(make()) == []
    assert found(make(loss_reduction="sum"), neighbors="add_remove") == []
    run = make(loader=DPDataLoader(make().given.dataset, sample_rate=0.04))
    run.optimizer.expected_batch_size = 64
    assert found(run, neighbors="add_remove", normalizer=64) == []
    assert found(run, neighbors="add_remove", normalizer=63) == ["normalizer_from_data"]


def test_the_divisor_of_neighbours_differs(make):
    data = make().given.dataset
    twice = ConcatDataset([data, data])
    one, other = (
        make(loader=DataLoader(Subset(twice, range(n)), batch_size=64)) for n in (1511, 1512)
    )
    assert (one.optimizer.expected_batch_size, other.optimizer.expected_batch_size) == (62, 63)
    assert one.loader.sample_rate == other.loader.sample_rate
    finding = only(one, "normalizer_from_data", neighbors="add_remove")
    assert "62 = int" in finding.seen
    assert "can be 63" in finding.seen


def test_a_replaced_record_costs_more(make):
    finding = only(make(), "relation", neighbors="replace_one", epochs=3)
    assert finding.curve == dp_sgd(1.0, 1 / 25, 75, neighbors="replace_one")
    with pytest.raises(InvalidParameter, match="no relation"):
        doctor(*make().parts, neighbors="user")


def test_a_memory_manager_that_is_left_early(make):
    torch.manual_seed(7)
    run = make()
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=16, optimizer=run.optimizer
    ) as loader:
        for x, y in loader:
            run.batch(x, y)
            break
    finding = only(run, "left_batch", epochs=3)
    held = group(dp_sgd(1.0, 0.04, 1), 2) @ dp_sgd(1.0, 0.04, 74)
    assert finding.curve.epsilon(DELTA) == pytest.approx(held.epsilon(DELTA), rel=1e-9)
    # Opacus keeps what is left, also through zero_grad.
    run.optimizer.zero_grad()
    assert found(run) == ["left_batch"]
    clean = make()
    clean.train(physical=16)
    assert found(clean) == []


def test_a_batch_that_was_fetched_and_not_used(make):
    run = make()
    with BatchMemoryManager(
        data_loader=run.loader, max_physical_batch_size=16, optimizer=run.optimizer
    ) as loader:
        next(iter(loader))
    assert found(run, epochs=3) == ["left_batch"]


def test_gradients_that_may_accumulate(make):
    run = make()
    run.model.allow_grad_accumulation()
    finding = only(run, "accumulated_batches")
    assert finding.curve.epsilon(DELTA) > dp_sgd(1.0, 1 / 25, 25).epsilon(DELTA)
    run.model.forbid_grad_accumulation()
    assert found(run) == []


class Normalised(nn.Module):
    """A network with a layer that has no parameters, which Opacus' validator does not look at."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.between, self.last = nn.Linear(64, 16), layer, nn.Linear(16, 10)

    def forward(self, x):
        return self.last(torch.relu(self.between(self.first(x))))


def test_batch_norm_without_parameters_passes_opacus(make):
    run = make(model=Normalised(nn.BatchNorm1d(16, affine=False)))
    finding = only(run, "batch_norm")
    assert "between (BatchNorm1d)" in finding.seen
    # What the finding says: the gradient of one record depends on the others.
    x, y = next(iter(run.given))

    def first(count):
        run.optimizer.zero_grad()
        nn.functional.cross_entropy(run.model(x[:count]), y[:count]).backward()
        return run.model.last.weight.grad_sample[0]

    assert not torch.allclose(first(10), first(20), rtol=0.01)
    run.model.between.eval()
    assert torch.allclose(first(10), first(20), rtol=1e-4, atol=1e-6)
    assert found(run) == []
    assert found(make(model=Normalised(nn.GroupNorm(4, 16)))) == []
    assert found(make(model=Normalised(nn.LayerNorm(16)))) == []


def test_a_scheduler_of_the_clipping_norm_with_clipping_per_layer(make):
    run = make(clipping="per_layer", clip=[0.5] * 4)
    assert found(run, epochs=4) == []
    ExponentialGradClip(run.optimizer, gamma=0.5).step()
    # Noise is for half the norm, and each layer is clipped to the whole of it.
    finding = only(run, "clipping_norm", epochs=4)
    assert finding.curve == dp_sgd(0.5, 1 / 25, 100)
    # A record whose gradients are large moves the sum by 1; the noise is for 0.5.
    said = run.model(torch.full((1, 64), 1e3))
    nn.functional.cross_entropy(said, said.argmin(dim=1)).backward()
    run.optimizer.clip_and_accumulate()
    moved = torch.cat([p.summed_grad.flatten() for p in run.optimizer.params]).norm()
    assert moved > 0.99 > 2 * 0.49 * run.optimizer.max_grad_norm
    run.optimizer.add_noise()
    noise = torch.cat([(p.grad - p.summed_grad).flatten() for p in run.optimizer.params])
    # Of 1,210 draws; six standard errors.
    assert float(noise.std()) == pytest.approx(0.5, abs=6 * 0.5 / (2 * 1210) ** 0.5)
    flat = make()
    ExponentialGradClip(flat.optimizer, gamma=0.5).step()
    assert found(flat) == []


def test_a_scheduler_of_the_clipping_norm_with_ghost_clipping(make):
    run = make(grad_sample_mode="ghost")
    run.train()
    assert found(run) == []
    ExponentialGradClip(run.optimizer, gamma=0.8).step()
    finding = only(run, "clipping_norm")
    assert finding.curve.epsilon(DELTA) == pytest.approx(
        dp_sgd(0.8, 1 / 25, 25).epsilon(DELTA), rel=1e-9
    )


def test_delta_beside_the_number_of_records(make):
    finding = only(make(), "large_delta", delta=1e-3)
    assert "1/15000" in finding.holds
    assert found(make(), delta=1e-4) == []


def test_tuning_on_the_same_data(make):
    finding = only(make(), "tuning_not_counted", tuning_runs=4, epochs=2)
    assert finding.curve == dp_sgd(1.0, 1 / 25, 250)
    assert found(make(), tuning_runs=0) == []


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:GDP accounting is experimental:UserWarning")
def test_the_central_limit_theorem_is_no_bound(make):
    run = make(engine=opacus.PrivacyEngine(accountant="gdp"))
    finding = only(run, "central_limit", epochs=20, delta=DELTA)
    run.train(20)
    assert run.engine.get_epsilon(DELTA) < 0.95 * finding.curve.epsilon(DELTA)
    for accountant in ("rdp", "prv", "neyman"):
        assert found(make(engine=opacus.PrivacyEngine(accountant=accountant))) == []


def test_steps_that_no_accountant_counts(make):
    run = make()
    run.optimizer.attach_step_hook(lambda _: None)
    only(run, "unaccounted_steps")
    run.train()
    assert len(run.engine.accountant) == 0
    run = make()
    run.engine = opacus.PrivacyEngine()
    only(run, "unaccounted_steps")


def test_no_noise(make):
    only(make(noise=0.0), "no_noise")
    assert found(make(noise=0.01)) == []


def test_noise_and_samples_from_one_stream(make, digits):
    def seeded(seed):
        return torch.Generator().manual_seed(seed)

    own = DataLoader(digits, batch_size=60, generator=seeded(5))
    only(make(loader=own, noise_generator=seeded(5)), "same_stream")
    assert found(make(loader=own, noise_generator=seeded(6))) == []


def test_floating_point_noise_is_reported_where_it_is_asked_for(make):
    finding = only(make(), "float_noise", strict=True)
    assert finding.curve == dp_sgd(1.0, 1 / 25, 25)
    secure = make()
    secure.engine.secure_mode = True
    assert found(secure, strict=True) == []


def rank(number, seed, port, queue, dataset):
    """Be a process of a distributed training, as far as its sampler."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=number, world_size=2)
    torch.manual_seed(0)
    model = opacus.distributed.DifferentiallyPrivateDistributedDataParallel(nn.Linear(64, 10))
    engine = opacus.PrivacyEngine()
    torch.manual_seed(seed)
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(dataset, batch_size=60),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    names = [one.name for one in doctor(engine, loader, optimizer, model)]
    queue.put((number, names, [batch.tolist() for batch in loader.batch_sampler]))
    distributed.destroy_process_group()


# Processes forked beside the threads of other libraries can hang: run alone.
@pytest.mark.soak
@pytest.mark.parametrize("apart", [0, 1])
def test_ranks_with_one_seed_draw_the_same_positions(digits, apart):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    few = Subset(digits, range(200))
    both = [
        context.Process(target=rank, args=(i, 3 + apart * i, port, queue, few)) for i in range(2)
    ]
    for one in both:
        one.start()
    said = sorted(queue.get(timeout=60) for _ in both)
    for one in both:
        one.join()
    sizes = [[len(batch) for batch in batches] for _, _, batches in said]
    assert (sizes[0] == sizes[1]) is (apart == 0)
    assert [names for _, names, _ in said] == [["same_seed_on_ranks"] * (apart == 0)] * 2


# Twenty set-ups in health: models, optimizers, samplers, accumulation, schedulers, accountants.


def conv():
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.Flatten(),
        nn.Linear(144, 10),
    )  # fmt: skip


def frozen():
    net = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
    net[0].requires_grad_(False)
    return net


def scheduled(kind, **how):
    return lambda run: kind(run.optimizer, **how).step()


HEALTHY = {
    "as the manual has it": {},
    "linear": {"model": lambda: nn.Linear(64, 10)},
    "convolution and group norm": {"model": conv},
    "layer norm": {"model": lambda: Normalised(nn.LayerNorm(16))},
    "instance norm": {"model": lambda: Normalised(nn.Identity())},
    "dropout": {"model": lambda: Normalised(nn.Dropout(0.2))},
    "frozen layers": {"model": frozen},
    "batch norm in eval mode": {
        "model": lambda: Normalised(nn.BatchNorm1d(16, affine=False).eval())
    },
    "adam": {"optimizer": torch.optim.Adam},
    "momentum": {"optimizer": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)},
    "a batch size that divides nothing": {"batch_size": 64},
    "all records in each step": {"batch_size": 1500},
    "tiny batches": {"batch_size": 2, "stop": 30},
    "in order before it is sampled": {"shuffle": False},
    "a batch sampler": {
        "loader": lambda data: DataLoader(
            data, batch_sampler=BatchSampler(SequentialSampler(data), 50, drop_last=False)
        )
    },
    "a public rate": {"loader": lambda data: DPDataLoader(data, sample_rate=0.03)},
    "a memory manager": {"physical": 64},
    "a memory manager with large batches": {"batch_size": 500, "physical": 100},
    "clipping per layer": {"clipping": "per_layer", "clip": [1.0, 2.0, 1.0, 0.5]},
    "adaptive clipping": {
        "clipping": "adaptive",
        "target_unclipped_quantile": 0.5,
        "clipbound_learning_rate": 0.2,
        "max_clipbound": 10.0,
        "min_clipbound": 0.01,
        "unclipped_num_std": 3.0,
    },
    "ghost clipping": {"grad_sample_mode": "ghost"},
    "ghost clipping and a memory manager": {"grad_sample_mode": "ghost", "physical": 64},
    "functorch": {"grad_sample_mode": "functorch"},
    "a sum for a loss": {"loss_reduction": "sum"},
    "a noise scheduler": {"then": scheduled(ExponentialNoise, gamma=0.9)},
    "a clipping scheduler": {"then": scheduled(ExponentialGradClip, gamma=0.9)},
    "a seeded training": {"noise_generator": lambda: torch.Generator().manual_seed(1)},
    "neyman's engine": {"engine": PrivacyEngine},
    "rdp": {"engine": lambda: opacus.PrivacyEngine(accountant="rdp")},
    "little noise": {"noise": 0.3},
}
MADE = ("model", "engine", "noise_generator")


@pytest.mark.parametrize("name", HEALTHY)
def test_no_false_alarm(make, digits, name):
    how = dict(HEALTHY[name])
    then, physical, stop = how.pop("then", None), how.pop("physical", None), how.pop("stop", None)
    if "loader" in how:
        how["loader"] = how["loader"](digits)
    how |= {one: how[one]() for one in MADE if one in how}
    # An epoch has five batches, if nothing else is said.
    run = make(**{"batch_size": 300} | how)
    assert found(run, delta=DELTA, epochs=3) == []
    run.train(physical=physical, stop=stop)
    if then:
        then(run)
    # And between two epochs.
    assert found(run, delta=DELTA, epochs=3) == []


def test_a_watched_training_is_in_health(make):
    run = make()
    attach(run.optimizer, run.loader, run.model)
    run.train(physical=16)
    assert found(run, delta=DELTA, epochs=3) == []


def test_nothing_is_changed(make):
    run = make()
    state, hook = torch.get_rng_state(), run.optimizer.step_hook
    weights = copy.deepcopy(run.model.state_dict())
    doctor(*run.parts, delta=DELTA, epochs=3, given=run.given, strict=True)
    assert torch.equal(torch.get_rng_state(), state)
    assert run.optimizer.step_hook is hook
    assert all(torch.equal(weights[key], one) for key, one in run.model.state_dict().items())
    assert len(run.engine.accountant) == 0
