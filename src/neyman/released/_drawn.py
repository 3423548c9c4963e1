"""What an answer is read from: its noisy integers, with all that it takes to read them again."""

from dataclasses import dataclass, field
from typing import final

from neyman.aggregate import IntArray, Noise, SumsReading

__all__ = ["Drawn"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Noisy integers, public, and how they are read.

    Attributes:
        source: equal for answers about the same dataset, as this process knows it.
        integers: with noise, group by group.
        noise: on each.
        reading: makes columns of them.
        complete: columns that somebody declared to have a value in every row.
    """

    source: int = field(repr=False)
    integers: IntArray = field(repr=False)
    noise: Noise
    reading: SumsReading
    complete: frozenset[str] = frozenset()
