"""Several sums of waves released together, read one below the other."""

from dataclasses import dataclass
from typing import final

from neyman.aggregate import Columns, IntArray, Noise
from neyman.functional._bases._basis import Basis
from neyman.functional._query import CoefficientReading

__all__ = ["ChannelReading"]


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
