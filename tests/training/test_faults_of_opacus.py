"""Faults that batches are known to have, in Opacus' own samplers and loaders, and healthy twins.

Each is refuted as a Poisson sample by the same exact tests, at a level of 1e-6; the twins pass.
"""

import warnings

import numpy as np
import pytest

from neyman.audit import sampler
from neyman.training import PoissonBatches
from training.small_laws import seed

LEVEL = 1e-6
RECORDS, RATE, STEPS = 400, 0.1, 120

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")
pytestmark = pytest.mark.filterwarnings("ignore")


def generator(seed):
    return torch.Generator().manual_seed(seed)


def uniform(steps=STEPS, **given):
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    return UniformWithReplacementSampler(
        num_samples=RECORDS, sample_rate=RATE, steps=steps, generator=generator(5), **given
    )


def found(batches, *, records=RECORDS, rate=RATE, steps=STEPS):
    """Return what refutes a Poisson sample, by name."""
    return sampler(batches, rate, steps, records=records, level=LEVEL).reasons


def ours(**given):
    return PoissonBatches(
        **{"records": RECORDS, "rate": RATE, "steps": STEPS, "seed": seed("twin")} | given
    )


def test_samplers_that_are_poisson_pass():
    assert found([*uniform()]) == ()
    assert found([*ours()]) == ()


def ranks_of(monkeypatch, seeds):
    """Return what two ranks of Opacus' distributed sampler take together, step by step."""
    from opacus.utils.uniform_sampler import DistributedUniformWithReplacementSampler

    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: len(seeds))
    shares = []
    for rank, its_seed in enumerate(seeds):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        sampler = DistributedUniformWithReplacementSampler(
            total_size=RECORDS, sample_rate=RATE, steps=STEPS, generator=generator(its_seed)
        )
        shares.append([batch.numpy() for batch in sampler])
    return [np.concatenate(parts) for parts in zip(*shares, strict=True)]


def test_ranks_with_one_seed(monkeypatch):
    refuted = found(ranks_of(monkeypatch, [3, 3]))
    assert "two records come together" in refuted
    assert found(ranks_of(monkeypatch, [3, 4])) == ()
    # Here one seed is right: every rank has its share of one batch.
    shares = [[*ours().shard(rank, 2)] for rank in range(2)]
    assert found([np.concatenate(parts) for parts in zip(*shares, strict=True)]) == ()


def test_a_seed_that_is_set_again_on_resume():
    half = STEPS // 2
    refuted = found([*uniform(half), *uniform(half)])
    assert "steps half a run apart" in refuted
    going_on = uniform(half)
    assert found([*going_on, *going_on]) == ()
    again = ours()
    assert found([*map(again.batch, range(half)), *ours(seed=again.seed).after(half)]) == ()


def test_steps_by_a_rounded_division():
    """1/(1/93) is below 93 in doubles, and what is sampled is a step short of the epoch."""
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    short = UniformWithReplacementSampler(
        num_samples=RECORDS, sample_rate=1 / 93, generator=generator(5)
    )
    assert found([*short], rate=1 / 93, steps=93) == ("92 batches for 93 steps",)
    whole = UniformWithReplacementSampler(
        num_samples=RECORDS, sample_rate=1 / 93, generator=generator(5), steps=93
    )
    assert found([*whole], rate=1 / 93, steps=93) == ()
    assert found([*ours(rate="1/93", steps=93)], rate=1 / 93, steps=93) == ()


@pytest.mark.parametrize("shuffled", [True, False])
def test_batches_of_passes(shuffled):
    """What `poisson_sampling=False` leaves of a loader: passes, shuffled or in order."""
    data = torch.utils.data.TensorDataset(torch.arange(RECORDS))
    loader = torch.utils.data.DataLoader(data, batch_size=40, shuffle=shuffled)
    left = opacus.PrivacyEngine().make_private(
        module=(model := torch.nn.Linear(1, 1)),
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=loader,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
    )[2]
    batches = [batch.numpy() for _ in range(12) for (batch,) in left]
    assert len(batches) == STEPS
    assert "records once in an epoch" in found(batches)


def test_batches_of_a_fixed_size():
    rng = np.random.default_rng(2)
    assert "spread of batch sizes" in found(
        [rng.choice(RECORDS, 40, replace=False) for _ in range(STEPS)]
    )


def steps_with_virtual_batches(leave_after):
    """Return what entered each accounted step where a loop of virtual steps is left, or not."""
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    model = torch.nn.Linear(1, 1)
    data = torch.utils.data.TensorDataset(torch.ones(RECORDS, 1), torch.arange(RECORDS))
    torch.manual_seed(11)
    model, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=40),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    accounted, entered = [], []
    while len(accounted) < STEPS:
        with BatchMemoryManager(
            data_loader=loader, max_physical_batch_size=16, optimizer=optimizer
        ) as split:
            for physical, (values, indices) in enumerate(split, start=1):
                model(values).sum().backward()
                entered.extend(indices.tolist())
                optimizer.step()
                optimizer.zero_grad()
                if not optimizer._is_last_step_skipped:
                    accounted.append(entered)
                    entered = []
                if physical == leave_after:
                    break
    return accounted[:STEPS]


def test_a_memory_manager_that_is_left_early():
    refuted = found(steps_with_virtual_batches(leave_after=4))
    assert {"a record twice in a step", "largest and smallest batch"} & {*refuted}
    assert found(steps_with_virtual_batches(leave_after=None)) == ()


# -- loaders --------------------------------------------------------------------------------------


def collate(records):
    """Stack records; of none, an empty batch of the same shapes."""
    if not records:
        return [torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)]
    return torch.utils.data.default_collate(records)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_torch_loader_takes_the_batches(workers):
    data = torch.utils.data.TensorDataset(torch.rand(30, 3), torch.arange(30))
    sampler = PoissonBatches(records=30, rate=0.05, steps=40, seed=seed("loader"))
    loader = torch.utils.data.DataLoader(
        data, batch_sampler=sampler, collate_fn=collate, num_workers=workers
    )
    assert len(loader) == 40
    seen = [indices.tolist() for _, indices in loader]
    assert seen == [sampler.batch(t).tolist() for t in range(40)]
    assert [] in seen


def test_a_jax_loop_is_compiled_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jax = pytest.importorskip("jax")
    from neyman.training import TruncatedPoissonBatches

    traced = []

    @jax.jit
    def total(values, indices, mask):
        traced.append(indices.shape)
        return (values[indices] * mask).sum()

    values = np.arange(100.0)
    sampler = TruncatedPoissonBatches(records=100, rate=0.1, most=16, steps=50, seed=seed("jax"))
    for step in range(sampler.steps):
        found = float(total(values, *sampler.padded(step)))
        assert found == values[sampler.batch(step)].sum()
    assert traced == [(16,)]
