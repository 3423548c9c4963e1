"""The samplers, norms and generators of an Opacus training."""

# Opacus has no stubs, and torch's are partial.
# Only private fields of its optimizer say where in a batch it stands.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportPrivateUsage=false

import hashlib
from collections.abc import Iterator
from hashlib import pbkdf2_hmac
from typing import Any, Final, NamedTuple

import torch
from opacus.optimizers import DPOptimizer, DPPerLayerOptimizer
from opacus.utils.batch_memory_manager import BatchSplittingSampler
from opacus.utils.uniform_sampler import (
    DistributedUniformWithReplacementSampler,
    UniformWithReplacementSampler,
)
from torch import distributed, nn
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler

__all__ = [
    "ROUNDED",
    "LeftOver",
    "Norms",
    "batch_sampler",
    "equal_ranks",
    "fingerprint",
    "is_poisson",
    "kept_digests",
    "layers_with_statistics",
    "left_over",
    "name_of",
    "noise_generator",
    "norms",
    "order_of",
    "sampler_generator",
    "steps_of",
    "world",
]

# Of single precision, in which Opacus takes the norm of a list.
ROUNDED: Final = 1e-6
_ROUNDS: Final = 50_000

_POISSON = (UniformWithReplacementSampler, DistributedUniformWithReplacementSampler)
_ORDERS = {SequentialSampler: "fixed", RandomSampler: "shuffled"}


def batch_sampler(loader: Any) -> Any:
    """Return the sampler of batches, below the splitting of a batch memory manager."""
    found = loader.batch_sampler
    return found.sampler if isinstance(found, BatchSplittingSampler) else found


def steps_of(loader: Any) -> int:
    """Return the number of logical batches in one pass."""
    found = batch_sampler(loader)
    return len(loader) if found is None else len(found)


def is_poisson(loader: Any) -> bool:
    """Return whether each record enters each batch independently."""
    return isinstance(batch_sampler(loader), _POISSON)


def order_of(loader: Any) -> str | None:
    """Return "fixed" or "shuffled" for passes over the data; None for another sampler."""
    found = batch_sampler(loader)
    if found is None or type(found) is not BatchSampler:
        return None
    sampler: Any = found.sampler
    several = getattr(sampler, "replacement", False) or len(sampler) > len(loader.dataset)
    return None if several else _ORDERS.get(type(sampler))


def name_of(loader: Any) -> str:
    """Return the name of the sampler's class."""
    found = batch_sampler(loader)
    own = found.sampler if type(found) is BatchSampler else found or loader
    return type(own).__name__


class Norms(NamedTuple):
    """The clipping norm of a record's gradient, what clips it, and the norm of the noise."""

    clipped: float
    noised: float
    where: str


def norms(optimizer: DPOptimizer, model: Any = None) -> Norms:
    """Return the norms of an optimizer; for ghost clipping they are those of `model`."""
    noised = float(optimizer.max_grad_norm)
    if isinstance(optimizer, DPPerLayerOptimizer):
        squares = sum(float(one) ** 2 for one in optimizer.max_grad_norms)
        return Norms(squares**0.5, noised, "Clipping per layer")
    inside = getattr(model, "max_grad_norm", None)
    if inside is not None:
        return Norms(float(inside), noised, "Ghost clipping")
    return Norms(noised, noised, "The optimizer")


class LeftOver(NamedTuple):
    """Batches that wait for the next step, and whether signals are ahead of their batches."""

    batches: int
    ahead: bool


def left_over(optimizer: DPOptimizer) -> LeftOver | None:
    """Return the rest of a logical batch; None between two logical batches."""
    waiting: list[bool] = list(optimizer._step_skip_queue)  # noqa: SLF001
    summed = bool(optimizer._is_last_step_skipped)  # noqa: SLF001
    if not waiting and not summed:
        return None
    return LeftOver(summed + (1 + sum(waiting) if waiting else 0), bool(waiting))


def layers_with_statistics(model: nn.Module) -> Iterator[str]:
    """Yield the names of layers that use or keep statistics of the batch."""
    for name, layer in model.named_modules():
        normalises = isinstance(layer, nn.modules.batchnorm._NormBase)  # noqa: SLF001
        alone = isinstance(layer, nn.modules.instancenorm._InstanceNorm)  # noqa: SLF001
        if normalises and layer.training and (layer.track_running_stats or not alone):
            yield f"{name} ({type(layer).__name__})"


def noise_generator(optimizer: DPOptimizer) -> torch.Generator:
    """Return the generator of the noise."""
    place = optimizer.params[0].device
    if optimizer.generator is None and place.type == "cuda":
        return torch.cuda.default_generators[place.index or 0]
    return optimizer.generator or torch.default_generator


def sampler_generator(loader: Any) -> torch.Generator:
    """Return the generator of the batches."""
    return getattr(batch_sampler(loader), "generator", None) or torch.default_generator


def fingerprint(generator: torch.Generator) -> str:
    """Return a digest of a generator's state, for comparison only; do not store it."""
    return hashlib.sha256(_state(generator)).hexdigest()


def kept_digests(generator: torch.Generator) -> tuple[str, str]:
    """Return digests of a generator's seed and state that can be stored in a file.

    torch's own seeds have 53 bits, so the digest is slow on purpose.
    """
    parts = (str(generator.initial_seed()).encode(), _state(generator))
    first, second = (pbkdf2_hmac("sha256", part, b"neyman.opacus", _ROUNDS).hex() for part in parts)
    return first, second


def _state(generator: torch.Generator) -> bytes:
    return generator.get_state().numpy().tobytes()


def world() -> tuple[int, int]:
    """Return this process's rank and the number of processes of the training."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def equal_ranks(own: str) -> tuple[int, ...]:
    """Return ranks with equal fingerprints, preferably this rank's; () for a single process.

    Every rank must call it.
    """
    _, processes = world()
    if processes == 1:
        return ()
    found: list[Any] = [None] * processes
    distributed.all_gather_object(found, own)
    for one in dict.fromkeys([own, *found]):
        same = tuple(rank for rank, other in enumerate(found) if other == one)
        if len(same) > 1:
            return same
    return ()
