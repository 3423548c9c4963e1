"""Samplers of whole passes: each record is in one step of each epoch."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np

from neyman.accounting import random_allocation, shuffled_attack, shuffled_passes
from neyman.arguments import whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, dominated_by, gdp
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors
from neyman.training._sampler import IndexArray, Sampler

__all__ = ["BallsInBins", "ShuffledBatches"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BallsInBins(Sampler):
    """Random allocation: in each epoch, each record is in one step, drawn independently.

        random_allocation(noise_multiplier=noise_multiplier, steps=steps / epochs, epochs=epochs)

    Each record is seen once an epoch, as in a shuffled pass; batches differ in size.

    Attributes:
        epochs: number of epochs; each has its own draw.
        records: the public number of places for records.
        steps: number of steps of the training, a multiple of `epochs`.
        seed: 32 secret bytes.

    Guarantee: for one record added or removed; exact after whole epochs. An incomplete epoch counts
        as a whole one, which is a bound.
    Error: none; each choice is exactly uniform.
    Source: `neyman.accounting.random_allocation`.

    >>> sampler = BallsInBins(records=60_000, steps=250, epochs=1)
    >>> f"{sampler.guarantee(noise_multiplier=1).epsilon(1e-5):.3f}"
    '0.332'
    >>> sum(batch.size for batch in sampler)
    60000
    """

    epochs: int

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the steps are not a multiple of the epochs.
        """
        Sampler.__post_init__(self)
        object.__setattr__(self, "epochs", whole("epochs", self.epochs, 1, self.steps))
        if self.steps % self.epochs:
            raise InvalidParameter(
                f"steps must be a multiple of epochs={self.epochs}; got {self.steps}. Write all "
                f"steps of the training, such as {self.steps // self.epochs * self.epochs}"
            )

    @override
    def batch(self, step: int) -> IndexArray:
        epoch, bin_ = divmod(self.step(step), self.steps // self.epochs)
        order, ends = _allocated(self, epoch)
        return order[ends[bin_] : ends[bin_ + 1]]

    @property
    @override
    def normalizer(self) -> float:
        return float(Fraction(self.records * self.epochs, self.steps))

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        if neighbors != "add_remove":
            raise RelationMismatch(
                "balls in bins are proved for one record added or removed; "
                f'got neighbors={neighbors!r}. Write neighbors="add_remove", or '
                f"gdp({text(2 / noise)}) ** {self.epochs}, which holds without any amplification"
            )
        bins = self.steps // self.epochs
        whole_epochs, rest = divmod(steps, bins)
        curve = random_allocation(noise_multiplier=noise, steps=bins)
        passed = curve**whole_epochs
        return passed @ dominated_by(curve) if rest else passed


@lru_cache(maxsize=4)
def _allocated(sampler: BallsInBins, epoch: int) -> tuple[IndexArray, IndexArray]:
    """Return the records of an epoch by bin, in increasing order, and the start of each bin."""
    bins = sampler.steps // sampler.epochs
    chosen = sampler.stream(epoch).below(bins, sampler.records)
    order = np.argsort(chosen, kind="stable")
    return _frozen(order), np.searchsorted(chosen[order], np.arange(bins + 1))


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledBatches(Sampler):
    """Shuffled passes, as in most loaders: each epoch is a random order, cut into batches.

        gdp(1 / noise_multiplier) ** epochs,    gdp(2 / noise_multiplier) ** epochs  (replace_one)

    No amplification is proved for them. Do not quote the epsilon of a Poisson sample of the same
    size: it is smaller, and `lower_bound` shows by how much.

    Attributes:
        batch_size: number of records in a step; the last step of an epoch may have fewer.
        epochs: number of passes over the records.
        records: the public number of places for records.
        steps: number of steps of the training: ceil(records / batch_size) epochs.
        seed: 32 secret bytes. The guarantee does not depend on it.

    Guarantee: a bound, under either relation, because each epoch has each record once. It is the
        bound of a class (`answer.of` is "class"); the other end is `lower_bound`.
    Error: none; all orders have the same probability.
    Source: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang (2024), "How private are DP-SGD
        implementations?", for the lower bound.

    >>> sampler = ShuffledBatches(records=60_000, batch_size=240, epochs=1)
    >>> sampler.steps
    250
    >>> f"{sampler.guarantee(noise_multiplier=0.5).epsilon(1e-5):.4f}"
    '9.9973'
    >>> f"{sampler.lower_bound(noise_multiplier=0.5).epsilon(1e-5):.4f}"
    '9.9959'
    """

    steps: int = field(init=False)
    batch_size: int
    epochs: int

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the batch size or the epochs are out of range.
        """
        records = whole("records", self.records, 1, 2**32)
        size = whole("batch_size", self.batch_size, 1, records)
        epochs = whole("epochs", self.epochs, 1, 2**20)
        object.__setattr__(self, "batch_size", size)
        object.__setattr__(self, "epochs", epochs)
        object.__setattr__(self, "steps", -(-records // size) * epochs)
        Sampler.__post_init__(self)

    @override
    def batch(self, step: int) -> IndexArray:
        epoch, place = divmod(self.step(step), self.steps // self.epochs)
        start = place * self.batch_size
        return np.sort(_shuffled(self, epoch)[start : start + self.batch_size])

    @property
    @override
    def normalizer(self) -> float:
        return float(self.batch_size)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        bins = self.steps // self.epochs
        whole_epochs, rest = divmod(steps, bins)
        passed = shuffled_passes(noise_multiplier=noise, steps=bins, neighbors=neighbors)
        moved = 2 if neighbors == "replace_one" else 1
        partly = dominated_by(gdp(moved / noise))
        return passed**whole_epochs @ partly if rest else passed**whole_epochs

    def lower_bound(
        self,
        *,
        noise_multiplier: Real,
        neighbors: Neighbors = "add_remove",
    ) -> TradeOff:
        """Return the curve of a known attack on some data: a lower bound, not a guarantee.

        Args:
            noise_multiplier: as in `guarantee`.
            neighbors: "add_remove" or "replace_one".

        Raises:
            InvalidParameter: if a number is out of range.
        """
        bins = self.steps // self.epochs
        one = shuffled_attack(noise_multiplier=noise_multiplier, steps=bins, neighbors=neighbors)
        return one**self.epochs


@lru_cache(maxsize=4)
def _shuffled(sampler: ShuffledBatches, epoch: int) -> IndexArray:
    return _frozen(sampler.stream(epoch).permutation(sampler.records))


def _frozen(order: IndexArray) -> IndexArray:
    """Return the array read-only, because the next step uses it again."""
    order.flags.writeable = False
    return order
