"""What all released functions have in common: they are public, and they are written and read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy.typing as npt

from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional._told import NoisyCount
from neyman.numerics import Array

__all__ = ["FORMAT", "Function", "Released"]

FORMAT = "neyman.function"


@runtime_checkable
class Released(Protocol):
    """What is needed of a `Release`: the question and the columns of its answer."""

    @property
    def query(self) -> Mapping[str, object]: ...
    @property
    def columns(self) -> Mapping[str, Sequence[object]]: ...


class Function(Displayed, ABC):
    """A private function, released: evaluated, stored and passed on as often as one likes.

    Everything that it does is post-processing of public integers, and free.

    Attributes:
        kind: what it is, in its record.
        statistics: the questions whose releases it is made of.
    """

    __slots__ = ()

    kind: ClassVar[str]
    statistics: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def of_release(cls, release: Released) -> Self:
        """Make it of a release of one of its statistics.

        Raises:
            InvalidParameter, KeyError, TypeError, ValueError, IndexError: if it is none.
        """

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Rebuild it from what `to_json` returned.

        Raises:
            InvalidParameter, KeyError, TypeError, ValueError: if it is no such record.
        """

    @abstractmethod
    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return its value at each x. The same point gives the same bits."""

    @property
    def noisy_count(self) -> NoisyCount | None:
        """The released number of its records; None of what is made of no such number."""
        return None

    def require_records(self, confidence: float) -> None:
        """Refuse a function of noise alone, which would read like any other.

        Args:
            confidence: of the noise interval of the number of records, that of the release.

        Raises:
            InvalidParameter: if the released number of records is not told from 0.
        """
        number = self.noisy_count
        if number is None or number.told(confidence):
            return
        raise InvalidParameter(
            f"the released number of records is {number.count:.6g} ± "
            f"{number.half_width(confidence):.4g} of noise ({100 * confidence:g} %), too small "
            f"beside its noise to be a {self.kind}; spend more, or ask for larger groups"
        )

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """Return everything, JSON-able: FORMAT, a version and the kind among it."""
