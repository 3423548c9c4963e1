"""What an answer is read from: its noisy integers, with all that it takes to read them again."""

from dataclasses import dataclass, field
from typing import final

from neyman.aggregate import IntArray, Noise, SumsReading

__all__ = ["Drawn", "Source", "source_of"]


@final
class Source:
    """Stands for a dataset within this process, and tells nothing of it.

    One is equal to itself alone. Written to a file or copied it becomes another, of nothing.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type["Source"], tuple[()]]:
        return Source, ()


_SOURCES: dict[str, Source] = {}


def source_of(dataset: str) -> Source:
    """Return what stands for a dataset.

    Args:
        dataset: its `Aggregate.source`, which is private and stays in this process.
    """
    return _SOURCES.setdefault(dataset, Source())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Noisy integers, public, and how they are read.

    Attributes:
        source: the same for answers about one dataset, in this process.
        integers: with noise, group by group.
        noise: on each.
        reading: makes columns of them.
    """

    source: Source = field(repr=False)
    integers: IntArray = field(repr=False)
    noise: Noise
    reading: SumsReading
