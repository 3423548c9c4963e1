"""The waves of a released function: their power, their noise, their multipliers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, final

from neyman.numerics import Array

__all__ = ["Smoothable", "Spectrum"]

_Bandwidth_co = TypeVar("_Bandwidth_co", covariant=True)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The waves of a released function, without the constant one; each array has one entry a wave.

    Attributes:
        count: n, the number of records, at least 2.
        power: the sum of squares of the noisy means of a wave's parts (cosines, sines, products).
        noise: the sum of the variances of their noise.
        parts: how many parts; their squares sum to 1 at every value.
        most: the factor by which all bandwidths of the release can grow.
        multipliers: of the kernel whose bandwidths are so many times those of the release.
    """

    count: float
    power: Array
    noise: Array
    parts: Array
    most: float
    multipliers: Callable[[float], Array]


class Smoothable(Protocol[_Bandwidth_co]):
    """A released function that can be read with larger bandwidths."""

    @property
    def spectrum(self) -> Spectrum:
        """The waves as released."""
        ...

    def bandwidth_at(self, factor: float) -> _Bandwidth_co:
        """Return so many times the bandwidth of the release, or the largest."""
        ...
