"""Sums on several bases together: their columns, and the function of them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, Self, TypeVar, cast, final, runtime_checkable

from neyman.aggregate import Columns, IntArray, Noise
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Noisy, Released
from neyman.functional._bases._abstract_basis import AbstractBasis, CoefficientReading
from neyman.overriding import override

__all__ = ["ChannelReading", "Channels", "ReleasedChannels"]


@runtime_checkable
class Channels(Protocol):
    """The channels of a release: several bases and their order."""

    @property
    def counted(self) -> bool:
        """Whether the number of records is private and released."""
        ...

    @property
    def size(self) -> int:
        """The number of released integers of all channels."""
        ...

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        ...


_Channels = TypeVar("_Channels", bound=Channels)


@dataclass(frozen=True, slots=True)
class ReleasedChannels(Function, Generic[_Channels]):
    """A function of several noisy sums. Everything in it is post-processing of the integers.

    Attributes:
        channels: the bases of the integers.
        integers: the released integers, in the order of the channels.
        stddev: standard deviation of the noise on each integer.
        records: n if it is public, else None.
        unit_records: r, the most records of one unit.
    """

    version: ClassVar[int]

    channels: _Channels
    integers: tuple[int, ...] = field(repr=False)
    stddev: float
    records: int | None
    unit_records: int

    @classmethod
    @abstractmethod
    def channels_of(cls, record: Mapping[str, object]) -> _Channels:
        """Return the channels that `record` wrote."""

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        record = cast("Mapping[str, object]", release.query["channels"])
        return cls(cls.channels_of(record), *Noisy.of_release(release))

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        channels = cast("Mapping[str, object]", record["channels"])
        return cls(cls.channels_of(channels), *Noisy.of_record(record))

    def __post_init__(self) -> None:
        """Check that the fields fit together.

        Raises:
            InvalidParameter: if the integers are not those of the channels.
        """
        instead = "functional.function(release), which makes it"
        check_type("channels", self.channels, Channels, instead)
        check_type("integers", self.integers, tuple, instead)
        check_type("stddev", self.stddev, float, instead)
        _ = whole("unit_records", self.unit_records, 1, 2**62)
        size = self.channels.size
        noisy = Noisy(self.integers, self.stddev, self.records, self.unit_records)
        if not noisy.fits(size, counted=self.channels.counted):
            raise InvalidParameter(
                f"{len(self.integers)} integers with records={self.records} are no release of "
                f"these channels, which have {size}"
            )

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": self.version,
            "kind": self.kind,
            "channels": self.channels.record(),
            **Noisy(self.integers, self.stddev, self.records, self.unit_records).record(),
        }


@final
@dataclass(frozen=True, slots=True)
class ChannelReading:
    """The columns of a release of channels: channel, frequency, part and noisy integer.

    Attributes:
        channels: the name and the basis of each, in the order of the integers.
    """

    channels: tuple[tuple[str, AbstractBasis], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return "channel", *CoefficientReading(self.channels[0][1]).names

    @property
    def rows(self) -> int:
        """The number of rows of a group: one for each integer."""
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
