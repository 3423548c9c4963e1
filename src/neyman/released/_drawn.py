"""The noisy integers of an answer, with everything needed to convert them again."""

from dataclasses import dataclass, field
from typing import final

from neyman.aggregate import IntArray, Noise, SumsReading

__all__ = ["Drawn", "Source", "source_of"]


@final
class Source:
    """A token for a dataset within this process, which reveals nothing about it.

    It is equal only to itself. A copy, or one read from a file, is a token for no dataset.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type["Source"], tuple[()]]:
        return Source, ()


_SOURCES: dict[str, Source] = {}


def source_of(dataset: str) -> Source:
    """Return the token for a dataset.

    Args:
        dataset: its `Aggregate.source`, which is private and stays in this process.
    """
    return _SOURCES.setdefault(dataset, Source())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Public noisy integers, and their conversion to columns.

    Attributes:
        source: the same for answers about one dataset, in this process.
        integers: with noise, group by group.
        noise: on each.
        reading: converts them to columns.
    """

    source: Source = field(repr=False)
    integers: IntArray = field(repr=False)
    noise: Noise
    reading: SumsReading
