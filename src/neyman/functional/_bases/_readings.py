"""Noisy coefficients as they are: of one sum of waves, or of several, one below the other."""

from dataclasses import dataclass
from typing import final

from neyman.aggregate import Columns, IntArray, Noise
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._basis import Basis

__all__ = ["ChannelReading", "CoefficientReading"]


@final
@dataclass(frozen=True, slots=True)
class CoefficientReading:
    """The noisy integers as they are, each by what it is a coefficient of, group by group."""

    basis: AbstractBasis

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return *self.basis.label_names, "coefficient", "stddev", "lower", "upper"

    @property
    def rows(self) -> int:
        """One for each integer of a group."""
        return self.basis.size

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        groups = len(noisy) // self.rows
        labels = {name: label * groups for name, label in self.basis.labels().items()}
        # Integers of at most 2^62 and noise: far from the end of 64 bits.
        return labels | {
            "coefficient": noisy.tolist(),
            "stddev": [noise.stddev] * len(noisy),
            "lower": (noisy - width).tolist(),
            "upper": (noisy + width).tolist(),
        }


@final
@dataclass(frozen=True, slots=True)
class ChannelReading:
    """The noisy integers as they are, each by its channel, frequency and part, group by group.

    Attributes:
        channels: name and basis of each, in the order of the integers.
    """

    channels: tuple[tuple[str, Basis], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return "channel", *CoefficientReading(self.channels[0][1]).names

    @property
    def rows(self) -> int:
        """One for each integer of a group."""
        return sum(basis.size for _, basis in self.channels)

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns of all channels."""
        joined: dict[str, list[object]] = {"channel": []}
        first = 0
        for name, basis in self.channels * (len(noisy) // self.rows):
            last = first + basis.size
            part = CoefficientReading(basis).columns(noisy[first:last], noise, confidence)
            joined["channel"] += [name] * basis.size
            for column, values in part.items():
                joined.setdefault(column, []).extend(values)
            first = last
        return joined  # pyright: ignore[reportReturnType]
