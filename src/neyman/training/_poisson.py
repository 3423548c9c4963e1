"""Poisson samples: each record enters each step independently."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from neyman.accounting import dp_sgd, truncated_poisson, truncated_poisson_places
from neyman.arguments import whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, gdp
from neyman.overriding import override
from neyman.sensitivity import Neighbors
from neyman.training._binomial import binomial_count
from neyman.training._sampler import IndexArray, Sampler, exact_rate

__all__ = ["CyclicPoisson", "Padded", "PoissonBatches", "TruncatedPoissonBatches"]


class Padded(NamedTuple):
    """A batch of a fixed shape.

    Attributes:
        indices: indices of records, shape (most,); 0 where there is none.
        mask: whether there is a record, shape (most,). Multiply the clipped gradients by it.
    """

    indices: IndexArray
    mask: NDArray[np.bool_]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonBatches(Sampler):
    """Poisson samples: each record enters each step independently, with probability `rate`.

        dp_sgd(noise_multiplier, rate, steps)

    Batches differ in size, and some are empty. A step with an empty batch also adds its noise.

    Attributes:
        rate: sampling rate, exact, in (0, 1]; a float counts as the decimal that it prints as.
        records: the public number of places for records.
        steps: number of steps of the training.
        seed: 32 secret bytes.

    Guarantee: exact, under either relation.
    Error: a step's law is off by less than 2^-128 in total variation.
    Source: `neyman.accounting.dp_sgd`.

    >>> sampler = PoissonBatches(records=60_000, rate="1/250", steps=1000)
    >>> f"{sampler.guarantee(noise_multiplier=1).epsilon(1e-5):.4f}, {sampler.normalizer:g}"
    '0.6785, 240'
    """

    rate: Fraction

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the rate is not in (0, 1].
        """
        Sampler.__post_init__(self)
        object.__setattr__(self, "rate", exact_rate(self.rate))

    @override
    def batch(self, step: int) -> IndexArray:
        stream = self.stream(self.step(step))
        size = binomial_count(stream, self.records, self.rate)
        # Given how many there are, each choice of as many is as likely as any other.
        return stream.subset(self.records, size)

    @property
    @override
    def normalizer(self) -> float:
        return float(self.rate * self.records)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        return dp_sgd(noise, self.rate, steps, neighbors=neighbors)


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedPoissonBatches(Sampler):
    """Poisson samples of at most `most` records; a larger sample is cut to a uniform choice.

    `padded` gives all batches the same shape, which XLA needs.

    Attributes:
        rate: sampling rate before the cut; exact, in (0, 1].
        most: the largest size of a batch. Choose some standard deviations above rate * records, so
            that few records are dropped.
        records: the public number of places for records.
        steps: number of steps of the training.
        seed: 32 secret bytes.

    Guarantee: a bound (`answer.of` is "class"), exact if no batch can be too large. Under
        add_remove an empty place counts in a batch, as a filled one does.
    Error: a step's law is off by less than 2^-128 in total variation.
    Source: docs/theory/truncation.md.

    >>> sampler = TruncatedPoissonBatches(records=60_000, rate="1/250", most=320, steps=1000)
    >>> f"{sampler.guarantee(noise_multiplier=1).epsilon(1e-5):.4f}"
    '0.6785'
    >>> indices, mask = sampler.padded(0)
    >>> indices.shape, bool(mask.sum() == sampler.batch(0).size)
    ((320,), True)
    """

    rate: Fraction
    most: int

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the rate or the largest size is out of range.
        """
        Sampler.__post_init__(self)
        object.__setattr__(self, "rate", exact_rate(self.rate))
        object.__setattr__(self, "most", whole("most", self.most, 1, self.records))

    @override
    def batch(self, step: int) -> IndexArray:
        stream = self.stream(self.step(step))
        size = binomial_count(stream, self.records, self.rate)
        return stream.subset(self.records, min(size, self.most))

    def padded(self, step: int) -> Padded:
        """Return a batch in the shape (most,), with a mask.

        Raises:
            InvalidParameter: if there is no such step.
        """
        batch = self.batch(step)
        indices = np.zeros(self.most, dtype=np.int64)
        indices[: batch.size] = batch
        return Padded(indices, np.arange(self.most) < batch.size)

    @property
    @override
    def normalizer(self) -> float:
        return float(self.rate * self.records)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        f = gdp(1 / noise)
        if neighbors == "add_remove":
            places = truncated_poisson_places(
                f, sampling_probability=self.rate, most=self.most, places=self.records
            )
            return places**steps
        step = truncated_poisson(
            f,
            sampling_probability=self.rate,
            most=self.most,
            records=self.records,
            neighbors=neighbors,
            dropped="at_random",
        )
        return step**steps


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CyclicPoisson(Sampler):
    """Poisson samples of groups of records in turn: step t samples group t mod bands.

    Record i is in group i mod bands. The sampler is made for noise that is correlated over `bands`
    steps: a record's steps are so far apart that they count as independent. `guarantee` is for
    noise that is independent between steps. A record of the first group has the most steps:

        dp_sgd(noise_multiplier, rate, ceil(steps / bands))

    Attributes:
        rate: probability of a record to be in a step of its group; exact, in (0, 1].
        bands: number of groups.
        records: the public number of places for records.
        steps: number of steps of the training, over all groups.
        seed: 32 secret bytes.

    Guarantee: exact for independent noise, under either relation.
    Error: a step's law is off by less than 2^-128 in total variation.
    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta and Xu (2023), "(Amplified)
        banded matrix factorization".

    >>> sampler = CyclicPoisson(records=60_000, rate="1/25", bands=10, steps=1000)
    >>> sampler.normalizer, set((sampler.batch(13) % 10).tolist())
    (240.0, {3})
    """

    rate: Fraction
    bands: int

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the rate is out of range, or a group has no
                record.
        """
        Sampler.__post_init__(self)
        object.__setattr__(self, "rate", exact_rate(self.rate))
        object.__setattr__(self, "bands", whole("bands", self.bands, 1, self.records))

    @override
    def batch(self, step: int) -> IndexArray:
        group = self.step(step) % self.bands
        members = -(-(self.records - group) // self.bands)
        stream = self.stream(step)
        size = binomial_count(stream, members, self.rate)
        return group + self.bands * stream.subset(members, size)

    @property
    @override
    def normalizer(self) -> float:
        return float(self.rate * self.records / self.bands)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        return dp_sgd(noise, self.rate, -(-steps // self.bands), neighbors=neighbors)
