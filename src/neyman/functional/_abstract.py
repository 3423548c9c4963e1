"""The base of all released functions: noisy integers and a noisy number of records."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, Final, NamedTuple, Protocol, Self, cast, final, runtime_checkable

import numpy.typing as npt

from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["FORMAT", "Function", "Noisy", "NoisyCount", "Released", "is_significant"]

FORMAT = "neyman.function"
# A number of records is more than its noise from so many standard deviations on.
_DEVIATIONS: Final = 3.0


@runtime_checkable
class Released(Protocol):
    """The part of a `Release` that functions need: the question and the columns of its answer."""

    @property
    def query(self) -> Mapping[str, object]: ...
    @property
    def columns(self) -> Mapping[str, Sequence[object]]: ...


def is_significant(count: float, half_width: float) -> bool:
    """Return whether a number of records is more than noise: its noise interval is above 0.

    All functions use this rule.

    Args:
        count: the released number of records.
        half_width: half the length of its noise interval, at the confidence of the release.
    """
    return count > half_width


@final
@dataclass(frozen=True, slots=True)
class NoisyCount:
    """A released number of records.

    Attributes:
        count: the number of records.
        stddev: standard deviation of its noise; 0 if the number is public.
    """

    count: float
    stddev: float

    @property
    def exceeds_noise(self) -> bool:
        """Whether the number is more than three standard deviations of its noise."""
        return self.count > _DEVIATIONS * self.stddev

    def half_width(self, confidence: float) -> float:
        """Return half the length of its noise interval, in records, for Gaussian noise."""
        return NormalDist().inv_cdf((1 + confidence) / 2) * self.stddev

    def is_significant(self, confidence: float) -> bool:
        """Return whether the number is more than noise.

        Error: if there are no records, the answer is True with probability (1 - confidence) / 2.
        """
        return is_significant(self.count, self.half_width(confidence))


class Function(Displayed, ABC):
    """A released private function; evaluate, store and share it as often as you like.

    Everything that it does is post-processing of public integers, so it costs no budget.

    Attributes:
        kind: its name in records.
        statistics: the questions whose releases give such a function.
    """

    __slots__ = ()

    kind: ClassVar[str]
    statistics: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def of_release(cls, release: Released) -> Self:
        """Return the function of a release of one of its statistics.

        Raises:
            InvalidParameter, KeyError, TypeError, ValueError, IndexError: if the release is of
            another
                kind.
        """

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Return the function that `to_json` wrote.

        Raises:
            InvalidParameter, KeyError, TypeError, ValueError: if the record is of another kind.
        """

    @abstractmethod
    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the value at each x. Equal points give equal bits."""

    @property
    def noisy_count(self) -> NoisyCount | None:
        """The released number of records; None if the release has no such number."""
        return None

    def require_records(self, confidence: float) -> None:
        """Refuse a function that may be noise alone, because it looks like any other.

        Args:
            confidence: confidence of the noise interval of the number of records, that of the
                release.

        Raises:
            InvalidParameter: if the released number of records may be noise alone.
        """
        number = self.noisy_count
        if number is None or number.is_significant(confidence):
            return
        called = self.kind.replace("_", " ")
        raise InvalidParameter(
            f"the released number of records is {number.count:.6g} ± "
            f"{number.half_width(confidence):.4g} of noise ({100 * confidence:g} %), too small "
            f"beside its noise to be a {called}; spend more, or ask for larger groups"
        )

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """Return the whole function for JSON, with FORMAT, a version and the kind."""


class Noisy(NamedTuple):
    """The part of a release that functions made of coefficients keep.

    Attributes:
        integers: the released integers.
        stddev: standard deviation of the noise on each integer.
        records: n if it is public, else None.
        unit_records: r, the most records of one unit.
    """

    integers: tuple[int, ...]
    stddev: float
    records: int | None
    unit_records: int

    @classmethod
    def of_release(cls, release: Released) -> Self:
        """Return the columns of a release."""
        columns = release.columns
        return cls(
            tuple(cast("Sequence[int]", columns["coefficient"])),
            cast("float", columns["stddev"][0]),
            cast("int | None", release.query["records"]),
            _positive(release.query["unit_records"]),
        )

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Return what `record` wrote, bit for bit."""
        return cls(
            tuple(cast("list[int]", record["integers"])),
            float.fromhex(str(record["stddev"])),
            cast("int | None", record["records"]),
            _positive(record["unit_records"]),
        )

    def record(self) -> dict[str, object]:
        """Return this part of a function's record, for JSON."""
        return {
            "records": self.records,
            "unit_records": self.unit_records,
            "stddev": self.stddev.hex(),
            "integers": list(self.integers),
        }

    def fits(self, size: int, *, counted: bool) -> bool:
        """Return whether these can be the integers of a density with this many coefficients."""
        number = 1 if self.records is None else self.records
        whole = (*self.integers, number)
        # By functions of the interpreter: there can be a million integers.
        return (
            len(self.integers) == size
            and (self.records is None) == counted
            and set(map(type, whole)) == {int}
            and min(whole) > -(2**63)
            and max(whole) < 2**63
            and number > 0
            and 0 < self.stddev < 2.0**62
            and type(self.unit_records) is int
            and self.unit_records > 0
        )


def _positive(written: object) -> int:
    if type(written) is not int or written < 1:
        raise InvalidParameter(
            "unit_records of a function must be a whole number of at least 1, the most records of "
            "one unit; write what to_json() of a released function gives"
        )
    return written
