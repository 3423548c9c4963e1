"""Steps of Opacus' optimizer in which each record is a Dirac canary, in health and with faults.

A record's gradient lies along a coordinate of its own, in two layers, and is far too long: clipped,
it has the length of the clipping norm. Its signal is the part of the noisy sum along it, in units
of that norm: N(1, sigma^2) where the record takes part, and N(0, sigma^2) where it does not.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import opacus
from neyman import audit

SIGMA, CLIP, LONG = 1.0, 0.7, 1e4


class Coordinates(nn.Module):
    """Two layers, each with a coordinate for each record."""

    def __init__(self, records: int):
        super().__init__()
        self.first = nn.Linear(records, 1, bias=False)
        self.second = nn.Linear(records, 1, bias=False)

    def forward(self, x):
        return LONG * (self.first(x) + self.second(x))


@dataclass
class Step:
    """An optimizer, and the loader and the model that Opacus made with it."""

    model: Any
    optimizer: Any
    loader: Any

    def take(self, x) -> None:
        self.optimizer.zero_grad()
        self.model(x).sum().backward()
        self.optimizer.step()

    def sums(self) -> NDArray[np.float64]:
        """Return the noisy sums of both layers."""
        return np.stack([p.grad[0].double().numpy() for p in self.optimizer.params])

    def signals(self) -> NDArray[np.float64]:
        return self.sums().sum(axis=0) / np.sqrt(2) / CLIP


Spoil = Callable[[Step], None]
Signals = tuple[NDArray[np.bool_], NDArray[np.float64]]


def made(rows: torch.Tensor, spoil: Spoil | None = None, **how: Any) -> Step:
    """Make the training of these records private, in one batch, and plant a fault."""
    net = Coordinates(rows.shape[1])
    how = {"max_grad_norm": CLIP, "poisson_sampling": False, "loss_reduction": "sum", **how}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, loader = opacus.PrivacyEngine().make_private(
            module=net,
            optimizer=torch.optim.SGD(net.parameters(), lr=0.0),
            data_loader=DataLoader(TensorDataset(rows), batch_size=len(rows)),
            noise_multiplier=SIGMA,
            **how,
        )
    step = Step(model, optimizer, loader)
    if spoil is not None:
        spoil(step)
    return step


def noise(times: float) -> Spoil:
    """Return what adds less noise than is accounted for."""

    def spoil(step: Step) -> None:
        step.optimizer.noise_multiplier *= times

    return spoil


def doubled(step: Step) -> None:
    """Clip to twice the norm that the noise is for."""
    right = step.optimizer.clip_and_accumulate

    def wrong() -> None:
        step.optimizer.max_grad_norm = 2 * CLIP
        right()
        step.optimizer.max_grad_norm = CLIP

    step.optimizer.clip_and_accumulate = wrong


def each_layer(step: Step) -> None:
    """Make the noise for one layer's norm, where each of two layers is clipped to it."""
    step.optimizer.max_grad_norm = CLIP


@dataclass(frozen=True)
class Canaries:
    """Signals of canaries whose coins say in or out.

    Each coordinate has noise of its own: signals of one step are as good as independent runs.
    """

    batch: ClassVar[int] = 400
    spoil: Spoil | None = None
    how: Any = None

    def coins(self, number: int) -> NDArray[np.bool_]:
        """Throw the coins; by torch's seed, which a test sets."""
        seed = bytes(torch.randint(256, (32,)).tolist())
        return audit.canaries(number, seed=seed).included

    def once(self) -> Signals:
        """Return the coins and the signals of one set-up."""
        coins = self.coins(self.batch)
        step = made(torch.eye(self.batch)[coins], self.spoil, **(self.how or {}))
        for (x,) in step.loader:
            step.take(x)
        return coins, step.signals()

    def scores(self, runs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return so many scores with the record, and as many without."""
        inside, outside = np.zeros(0), np.zeros(0)
        while min(inside.size, outside.size) < runs:
            coins, found = self.once()
            inside, outside = np.append(inside, found[coins]), np.append(outside, found[~coins])
        return inside[:runs], outside[:runs]


@dataclass(frozen=True)
class LeftEarly(Canaries):
    """A loop over a memory manager that is left after half a batch, and begun again."""

    leaves: bool = True

    def once(self) -> Signals:
        half = self.batch // 2
        coins = self.coins(half)
        # The second half takes no part, so that the first one is a physical batch of its own.
        rows = torch.eye(self.batch) * torch.tensor([*coins, *[False] * half])[:, None]
        step = made(rows)
        for stop in (1, 2) if self.leaves else (2,):
            with BatchMemoryManager(
                data_loader=step.loader, max_physical_batch_size=half, optimizer=step.optimizer
            ) as loader:
                for taken, (x,) in enumerate(loader):
                    if taken == stop:
                        break
                    step.take(x)
                    if taken + 1 == stop:
                        break
        return coins, step.signals()[:half]


@dataclass(frozen=True)
class TwoSteps(Canaries):
    """A step with the canaries and one without; what tells them is the difference.

    Where the second has noise of its own, the first alone is as good: sigma grows by sqrt(2).
    """

    reseeded: bool = True

    def once(self) -> Signals:
        coins = self.coins(self.batch)
        generator = torch.Generator().manual_seed(int(torch.randint(2**60, ())))
        state = generator.get_state()
        step = made(torch.eye(self.batch)[coins], noise_generator=generator)
        found = []
        for x in (torch.eye(self.batch)[coins], torch.zeros(1, self.batch)):
            step.take(x)
            found.append(step.signals())
            if self.reseeded:
                generator.set_state(state)
        return coins, found[0] - found[1]


def numbers(*, inside: bool, guarded: bool) -> float:
    """Return a score of a step with a record whose gradient is no number: inf for such a sum."""
    rows = torch.eye(3)
    rows[0] *= torch.nan if inside else 0.0
    step = made(rows)
    step.take(torch.nan_to_num(rows, nan=0.0) if guarded else rows)
    found = step.signals()[0]
    return np.inf if np.isnan(found) else float(found)


def changed(*, inside: bool, skips: bool) -> float:
    """Return whether a step changed anything, where one place is filled or empty, at rate 1/2."""
    step = made(torch.eye(1))
    sampled = torch.eye(1)[: int(inside and bool(torch.rand(()) < 0.5))]
    if skips and len(sampled) == 0:
        return 0.0
    step.take(sampled)
    return float(np.any(step.signals() != 0))


COORDINATES = 8000


def spread(divisor: float) -> float:
    """Return minus the root mean square of a step's noise that is divided by this number."""
    step = made(torch.zeros(1, COORDINATES), loss_reduction="mean")
    step.optimizer.expected_batch_size = divisor
    step.take(torch.zeros(1, COORDINATES))
    return -float(np.sqrt(np.mean(step.sums() ** 2)))
