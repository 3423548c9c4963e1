"""Batches of a fixed size, drawn anew at each step."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.accounting import without_replacement
from neyman.arguments import whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff, gdp
from neyman.errors import RelationMismatch
from neyman.overriding import override
from neyman.sensitivity import Neighbors
from neyman.training._sampler import IndexArray, Sampler

__all__ = ["FixedBatches"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBatches(Sampler):
    """Batches of a fixed size: each step is a new uniform choice of records.

        without_replacement(gdp(2 / noise_multiplier), records=records, batch=batch) ** steps

    For the batches of a shuffled pass, write `ShuffledBatches`.

    Attributes:
        batch_size: number of records in a step.
        records: the number of records; public, and every place has a record.
        steps: number of steps of the training.
        seed: 32 secret bytes.

    Guarantee: a bound (`answer.of` is "class"), for one record replaced.
    Error: none; the choice is exactly uniform.
    Source: `neyman.accounting.without_replacement`.

    >>> sampler = FixedBatches(records=60_000, batch_size=240, steps=1000)
    >>> curve = sampler.guarantee(noise_multiplier=1, neighbors="replace_one")
    >>> f"{curve.epsilon(1e-5):.4f}", sampler.batch(0).shape
    ('7.2384', (240,))
    """

    batch_size: int

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if the batch size is out of range.
        """
        Sampler.__post_init__(self)
        size = whole("batch_size", self.batch_size, 1, self.records)
        object.__setattr__(self, "batch_size", size)

    @override
    def batch(self, step: int) -> IndexArray:
        return self.stream(self.step(step)).subset(self.records, self.batch_size)

    @property
    @override
    def normalizer(self) -> float:
        return float(self.batch_size)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        if neighbors != "replace_one":
            raise RelationMismatch(
                "batches of a fixed size must be of a public number of records, and their proof is "
                'of one record replaced; got neighbors="add_remove". Write '
                'neighbors="replace_one", or sample by PoissonBatches or TruncatedPoissonBatches'
            )
        step = without_replacement(gdp(2 / noise), records=self.records, batch=self.batch_size)
        return step.curve**steps
