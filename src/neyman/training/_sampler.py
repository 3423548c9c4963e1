"""What every sampler of batches offers: the batches, and the only way to their guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from neyman.curves import TradeOff
from neyman.numerics import Real
from neyman.sensitivity import Neighbors

__all__ = ["IndexArray", "Sampler"]

IndexArray = NDArray[np.int64]


class Sampler(ABC):
    """Which records enter each step of a training.

    A sampler draws the batches and states what they guarantee, so that a training cannot be
    accounted for as something that it did not do.
    """

    __slots__ = ()

    records: int
    steps: int

    @abstractmethod
    def batch(self, step: int) -> IndexArray:
        """Return the records of a step, by index from 0, in increasing order.

        The same step gives the same batch again, so that a training can be resumed at any step.
        """

    @property
    @abstractmethod
    def normalizer(self) -> float:
        """The public number that a summed gradient is divided by; no function of the data."""

    @abstractmethod
    def guarantee(self, *, noise_multiplier: Real, neighbors: Neighbors = "add_remove") -> TradeOff:
        """Return the guarantee of all steps with Gaussian noise on clipped, summed gradients.

        Raises:
            RelationMismatch: if nothing is proved for this relation.
        """

    @abstractmethod
    def described(self) -> Mapping[str, object]:
        """Return the public description of the sampler, for JSON; without its seed."""

    def __iter__(self) -> Iterator[IndexArray]:
        """Yield the batches, step by step."""
        return map(self.batch, range(self.steps))

    def __len__(self) -> int:
        """Return how many steps there are."""
        return self.steps
