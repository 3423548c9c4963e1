"""What the rooms that see data hand to the door: exact integers with a typed sensitivity."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.sensitivity import Sensitivity

__all__ = ["Aggregate", "Columns", "IntArray", "Noise", "Reading"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = dict[str, list[str] | list[int] | list[float] | list[bool]]


class Noise(Protocol):
    """What is known in public of the noise added to each integer, in lattice units."""

    @property
    def stddev(self) -> float:
        """Standard deviation of the noise on one integer."""
        ...

    def half_width(self, confidence: float) -> int:
        """Smallest integer h with P(|noise| <= h) >= confidence."""
        ...

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Every s/n that the noisy pair does not reject at this confidence, as one interval.

        s and n are the integers before noise; the ends are infinite where the noisy
        denominator does not tell n from 0.
        """
        ...


class Reading(Protocol):
    """How public noisy integers become the columns that a person reads. Post-processing."""

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return named columns of equal length: keys, values, noise intervals."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An exact integer answer that has not been computed yet, and all that is public about it.

    The integers are computed inside the door, after the charge: a query that is refused never
    touches the data, and one that has touched the data is always charged
    (docs/decisions/0001-lazy-aggregate.md).

    Attributes:
        query: public description of the question, JSON-able; part of an entry's identity.
        source: which dataset it is asked of. Hidden: a digest of private rows is not public.
        unit: who is protected, in words.
        sensitivity: of the integers to one unit.
        size: how many integers.
        reading: turns the noisy integers into columns.
        compute: runs the query; returns an int64 vector of length `size`.
    """

    query: Mapping[str, object]
    source: str = field(repr=False)
    unit: str
    sensitivity: Sensitivity
    size: int
    reading: Reading = field(repr=False)
    compute: Callable[[], IntArray] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a question that protects nobody in words.

        Raises:
            InvalidParameter: if the unit is no text, or empty.
        """
        instead = 'who is protected, in the words of the ledger, such as "one patient"'
        check_type("unit", self.unit, str, instead)
        if not self.unit:
            raise InvalidParameter(f"unit of 0 characters was given; write {instead}")
