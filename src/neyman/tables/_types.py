"""The types of expressions, and the ranges of their numbers."""

from collections.abc import Container
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import frexp
from typing import ClassVar, final

from neyman.errors import InvalidTable

__all__ = ["LARGEST", "SMALLEST", "Beyond", "Range", "Type", "in_words"]

_EDGE = 200
LARGEST = 2.0**_EDGE
SMALLEST = 2.0**-_EDGE
_DIGITS = 53


@final
class Type(Enum):
    """The type of a value, in words for errors."""

    NUMBER = "a number"
    TEXT = "text"
    TRUTH = "true or false"
    DAY = "a date"
    TIME = "a timestamp"


def in_words(types: Container[Type]) -> str:
    """Return types in words, always in the same order."""
    return " or ".join(type_.value for type_ in Type if type_ in types)


@final
class Beyond(InvalidTable):
    """Numbers could overflow or underflow."""


@final
@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a double that hold for any row; they are public, because types alone give them.

    Unless x is zero,  2^low <= |x| <= 2^high,  and x is a multiple of 2^unit. If high <= 1022 and
    unit >= -1022, no operation overflows or underflows. So engines that raise errors where IEEE 754
    does not (PostgreSQL) raise none.

    Attributes:
        low: exponent of the smallest magnitude except zero.
        high: exponent of the largest magnitude.
        unit: exponent of the common unit.
    """

    low: int
    high: int
    unit: int

    _MOST: ClassVar[int] = 1022

    def __post_init__(self) -> None:
        """Refuse a range outside the doubles."""
        if self.high > self._MOST or self.unit < -self._MOST:
            raise Beyond(f"2^{self.high} and 2^{self.unit}")

    @classmethod
    def clipped(cls) -> "Range":
        """Return the range of a column of doubles after clipping: within 2^-200 and 2^200."""
        return cls(-_EDGE, _EDGE, 1 - _DIGITS - _EDGE)

    @classmethod
    def whole(cls, bits: int) -> "Range":
        """Return the range of integers up to 2^bits."""
        return cls(0, bits, 0)

    @classmethod
    def of(cls, value: float) -> "Range":
        """Return the range of one double."""
        if not value:
            return cls(0, 0, 0)
        exact = Fraction(value)
        exponent = frexp(value)[1]
        twos = exact.numerator & -exact.numerator
        unit = twos.bit_length() - 1 - (exact.denominator.bit_length() - 1)
        return cls(exponent - 1, exponent, unit)

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are integers."""
        return self.unit >= 0

    def __or__(self, other: "Range") -> "Range":
        """Return the range of both."""
        return Range(
            min(self.low, other.low), max(self.high, other.high), min(self.unit, other.unit)
        )

    def __add__(self, other: "Range") -> "Range":
        """Return the range of sums and differences; rounding keeps multiples of the unit."""
        unit = min(self.unit, other.unit)
        return Range(unit, max(self.high, other.high) + 1, unit)

    def __mul__(self, other: "Range") -> "Range":
        """Return the range of products."""
        return Range(self.low + other.low, self.high + other.high, self.unit + other.unit)

    def __truediv__(self, other: "Range") -> "Range":
        """Return the range of quotients by nonzero numbers; the last of 53 digits is the unit."""
        low = self.low - other.high
        return Range(low, self.high - other.low, low + 1 - _DIGITS)

    def floor(self) -> "Range":
        """Return the range of the floors."""
        return Range(0, max(self.high, 0), 0)
