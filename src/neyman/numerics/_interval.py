"""Interval arithmetic over arrays: a formula that is written once is certified.

An `Interval` holds a lower and an upper end for each number of an array, and every operation rounds
them outwards: the basic operations by half a unit in the last place, which is what IEEE 754 grants,
and library functions by the error that neyman.numerics._primitives states for each. The model, and
what it was measured against: docs/theory/rounding.md.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import ClassVar, Self, TypeAlias, TypeGuard, final

import numpy as np
import numpy.typing as npt

from neyman.errors import EmptyIntersection
from neyman.numerics._exact import ceil_float, floor_float

__all__ = ["Array", "Interval", "Operand", "interval", "quiet"]

Array: TypeAlias = npt.NDArray[np.float64]

# Zero-dimensional arrays: an operation of NumPy on them takes half the time of one on floats.
# Between half a unit in the last place and one and a half: x -+ _STEP |x| is then the next double,
# or, next to a power of two, the one after.
_STEP = np.asarray(0.75 * 2.0**-52)
_TINY, _MOST = np.asarray(5e-324), np.asarray(np.finfo(np.float64).max)
_LEAST, _ZERO = np.asarray(-_MOST), np.asarray(0.0)
_NOTHING, _ALL = np.asarray(-np.inf), np.asarray(np.inf)
_WHOLE = np.asarray(2.0**53)

# For what works on intervals: an end may overflow or be 0/0 on the way to a sound answer.
quiet = np.errstate(all="ignore")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Lower and upper bounds of one number, or of each number of an array.

    Arithmetic takes other intervals, fractions, and doubles, which are exact: a literal must be a
    double, such as 2 or 0.5; 0.1 is not exact. Convert a user's number with `decimal`, and an exact
    parameter with `of`. A comparison is true where it is proved.

    Unpacks as the pair of its ends.

    >>> lower, upper = Interval.of(Fraction(1, 3)) * 3
    >>> bool(lower < 1 < upper)
    True

    Attributes:
        lower: at most the number.
        upper: at least the number.

    Error: each operation ends at the next double, outwards, or at the one after.
    """

    lower: Array
    upper: Array

    # NumPy hands `array + interval` over to the interval.
    __array_ufunc__: ClassVar[None] = None

    # -- what numbers enter ---------------------------------------------------------------------

    @classmethod
    def exactly(cls, value: Array | float) -> Self:
        """Return doubles, taken as exact."""
        point = np.asarray(value, dtype=np.float64)
        return cls(point, point)

    @classmethod
    @quiet
    def decimal(cls, value: Array | float) -> Self:
        """Return what holds the decimals that doubles print as: the doubles beside each.

        A whole number prints as itself, and infinity is what it is.
        """
        point = np.asarray(value, dtype=np.float64)
        size = np.minimum(np.abs(point), _MOST)
        written = (point != np.rint(point)) | (size >= _WHOLE)
        step = (size * _STEP + _TINY) * written
        return cls(point - step, point + step)

    @classmethod
    def of(cls, value: Fraction | int) -> Self:
        """Return the doubles next to an exact number; twice the same where one is equal."""
        exact = Fraction(value)
        return cls(np.asarray(floor_float(exact)), np.asarray(ceil_float(exact)))

    @classmethod
    @quiet
    def within(cls, value: Array, relative: Array | float, absolute: Array | float = 0.0) -> Self:
        """Return values that are off by at most `relative` |value| + `absolute`.

        For a value whose error somebody proved; the error need not count this rounding.
        """
        error = (np.minimum(np.abs(value), _MOST) * relative + absolute) * (1 + 2.0**-50)
        return cls(_down(value - error), _up(value + error))

    @classmethod
    def where(cls, condition: npt.NDArray[np.bool_], first: Self, second: Self) -> Self:
        """Return the first interval where a condition holds for sure, else the second."""
        return cls(
            np.where(condition, first.lower, second.lower),
            np.where(condition, first.upper, second.upper),
        )

    # -- what they are --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Array]:
        """Give the lower end, then the upper."""
        return iter((self.lower, self.upper))

    def at(self, places: npt.NDArray[np.bool_] | npt.NDArray[np.int64] | slice) -> Self:
        """Return the intervals at some places of the array."""
        return type(self)(self.lower[places], self.upper[places])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of numbers."""
        return np.broadcast_shapes(np.shape(self.lower), np.shape(self.upper))

    @property
    def middle(self) -> Array:
        """An estimate: half-way between the ends."""
        return self.lower / 2 + self.upper / 2

    def holds(self, value: Array | float) -> npt.NDArray[np.bool_]:
        """Whether a double is between the ends."""
        return (self.lower <= value) & (value <= self.upper)

    def __lt__(self, other: "Operand") -> npt.NDArray[np.bool_]:
        return self.upper < interval(other).lower

    def __le__(self, other: "Operand") -> npt.NDArray[np.bool_]:
        return self.upper <= interval(other).lower

    def __gt__(self, other: "Operand") -> npt.NDArray[np.bool_]:
        return self.lower > interval(other).upper

    def __ge__(self, other: "Operand") -> npt.NDArray[np.bool_]:
        return self.lower >= interval(other).upper

    # -- sets -----------------------------------------------------------------------------------

    def meet(self, other: Self) -> Self:
        """Return what both say.

        Raises:
            EmptyIntersection: if somewhere they exclude each other, so that one of them is wrong.
        """
        lower, upper = np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper)
        apart = lower > upper
        if np.any(apart):
            raise EmptyIntersection(
                "two proved bounds of one number must have a number in common; found "
                f"{_first(self, apart)} and {_first(other, apart)}. One of them is a mistake of "
                "neyman: report it, with the call"
            )
        return type(self)(lower, upper)

    def hull(self, other: Self) -> Self:
        """Return what holds both, where it is not known which of them applies."""
        return type(self)(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def clip(self, floor: float, ceiling: float) -> Self:
        """Return the ends moved into a range that is known to hold the number."""
        return type(self)(np.clip(self.lower, floor, ceiling), np.clip(self.upper, floor, ceiling))

    def smaller(self, other: "Operand") -> Self:
        """Return the smaller of two numbers."""
        lower, upper = interval(other)
        return type(self)(np.minimum(self.lower, lower), np.minimum(self.upper, upper))

    def larger(self, other: "Operand") -> Self:
        """Return the larger of two numbers."""
        lower, upper = interval(other)
        return type(self)(np.maximum(self.lower, lower), np.maximum(self.upper, upper))

    def choose(self, edge: "Operand", below: Self, above: Self) -> Self:
        """Return `above` where this is at least `edge` for sure, `below` where it is at most it.

        Where neither is sure, it is not known which applies: the hull.
        """
        rest = self.where(self <= edge, below, below.hull(above))
        return self.where(self >= edge, above, rest)

    def decimals(self) -> "Interval":
        """Return what holds the decimals that the ends print as, of a bracket that a view gave."""
        return Interval(Interval.decimal(self.lower).lower, Interval.decimal(self.upper).upper)

    # -- arithmetic -----------------------------------------------------------------------------

    def __neg__(self) -> Self:
        return type(self)(-self.upper, -self.lower)

    @quiet
    def __add__(self, other: "Operand") -> Self:
        lower, upper = interval(other)
        return type(self)(_down(self.lower + lower), _up(self.upper + upper))

    @quiet
    def __sub__(self, other: "Operand") -> Self:
        lower, upper = interval(other)
        return type(self)(_down(self.lower - upper), _up(self.upper - lower))

    @quiet
    def __rsub__(self, other: "Operand") -> Self:
        lower, upper = interval(other)
        return type(self)(_down(lower - self.upper), _up(upper - self.lower))

    @quiet
    def __mul__(self, other: "Operand") -> Self:
        if _is_double(other):
            return self._scaled(float(other))
        lower, upper = interval(other)
        if not (_no_sign(self.lower) and _no_sign(lower)):
            return self._product(lower, upper)
        # What is 0 stays so; fmax: 0 times infinity.
        low, high = np.fmax(self.lower * lower, _ZERO), np.fmax(self.upper * upper, _ZERO)
        tiny = np.minimum(np.minimum(self.upper, upper), _TINY)
        return type(self)(np.maximum(_down(low) - _TINY, _ZERO), _up(high) + tiny)

    @quiet
    def __truediv__(self, other: "Operand") -> Self:
        if _is_double(other) and abs(math.frexp(other)[0]) == 0.5:
            return self._scaled(1 / float(other))
        lower, upper = interval(other)
        if _no_sign(lower) and _no_sign(self.lower):
            low = np.fmax(self.lower / upper, _ZERO)
            high = np.where(lower > 0, self.upper / lower, _ALL)
            tiny = np.minimum(self.upper, _TINY)
            return type(self)(np.maximum(_down(low) - _TINY, _ZERO), _up(high) + tiny)
        ends = [a / b for a in _ends(self.lower, self.upper) for b in _ends(lower, upper)]
        apart = (lower > 0) | (upper < 0)
        return type(self)(
            np.where(apart, _down(_least(ends)) - _TINY, _NOTHING),
            np.where(apart, _up(_greatest(ends)) + _TINY, _ALL),
        )

    def __rtruediv__(self, other: "Operand") -> Self:
        return type(self)(*interval(other)) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def _scaled(self, by: float) -> Self:
        first, second = (self.lower, self.upper) if by >= 0 else (self.upper, self.lower)
        low = first * by
        high = low if first is second else second * by
        if by == 0:
            return type(self)(np.zeros_like(low), np.zeros_like(high))
        tiny = np.minimum(np.abs(first), _TINY)
        more = tiny if first is second else np.minimum(np.abs(second), _TINY)
        if abs(math.frexp(by)[0]) != 0.5:
            low, high = _down(low), _up(high)
        return type(self)(np.minimum(low, _MOST) - tiny, np.maximum(high, _LEAST) + more)

    def _product(self, lower: Array, upper: Array) -> Self:
        # 0 times infinity is nan: where 0 is a factor, the product is 0.
        ends = [a * b for a in _ends(self.lower, self.upper) for b in _ends(lower, upper)]
        ends = [np.where(np.isnan(end), _ZERO, end) for end in ends]
        return type(self)(_down(_least(ends)) - _TINY, _up(_greatest(ends)) + _TINY)

    @quiet
    def total(
        self, *, axis: int | None = None, starts: npt.NDArray[np.int64] | None = None
    ) -> Self:
        """Return the sum of numbers that are at least 0: of all, along an axis, or of blocks.

        NumPy adds all of them in pairs, within blocks of 128 in eight rows: a number passes through
        at most 19 + log2(size / 128) additions. Else it may add one by one.

        Args:
            axis: the axis; None for all.
            starts: the places where blocks begin, of one dimension.
        """
        low, high = self.lower, self.upper
        if starts is not None:
            depth = float(np.size(low))
            low, high = (np.add.reduceat(end, starts) for end in self)
        elif axis is None or axis == -1:
            size = np.size(low) if axis is None else self.shape[-1]
            depth = 20 + max(math.log2(size or 1) - 7, 0.0)
            low = high = np.asarray(np.sum(np.ascontiguousarray(low), axis=axis))
            if self.upper is not self.lower:
                high = np.asarray(np.sum(np.ascontiguousarray(self.upper), axis=axis))
        else:
            depth = float(np.shape(low)[axis])
            low, high = (np.asarray(np.sum(end, axis=axis)) for end in self)
        return type(self)(_down(low * (1 - depth * 2.0**-53)), _up(high * (1 + depth * 2.0**-53)))

    @quiet
    def running(self) -> Self:
        """Return the sums of the first numbers, of numbers that are at least 0.

        Each sum is the one before it and a number, rounded: it is off by at most 2^-53 times the
        sum of all sums so far, which for a growing sequence is little more than the last of them.
        """
        low, high = np.cumsum(self.lower), np.cumsum(self.upper)
        unit = 2.0**-53 * (1 + low.size * 2.0**-51)
        first, second = low - np.cumsum(low) * unit, high + np.cumsum(high) * unit
        return type(self)(np.maximum(_down(first), _ZERO), _up(second))

    def binned(self, places: npt.NDArray[np.int64], size: int) -> Self:
        """Return the sums of the numbers that stand at each of `size` places; they are at least 0.

        A number passes through as many additions as there are numbers at its place.
        """
        room = np.bincount(places, minlength=size) * 2.0**-53
        low, high = (np.bincount(places, weights=end, minlength=size) for end in self)
        return type(self)(np.maximum(_down(low * (1 - room)), _ZERO), _up(high * (1 + room)))

    def through(self, view: "Callable[[Array], Interval]", *, falling: bool) -> "Interval":
        """Return all values here of a monotone function that is known by brackets at doubles.

        Both ends are evaluated at once, because they usually lie close together.
        """
        first, second = (self.upper, self.lower) if falling else (self.lower, self.upper)
        if np.array_equal(first, second):
            found = view(first)
            return Interval(found.lower, found.upper).decimals()
        found = view(np.stack((first, second)))
        return Interval(found.lower[0], found.upper[1]).decimals()

    @quiet
    def squared(self) -> Self:
        """Return x^2, of one x: narrower than x times x where the sign of x is not known."""
        low = np.maximum(np.maximum(self.lower, -self.upper), _ZERO)
        high = np.maximum(np.abs(self.lower), np.abs(self.upper))
        tiny = np.minimum(high, _TINY)
        return type(self)(np.maximum(_down(low * low) - _TINY, _ZERO), _up(high * high) + tiny)

    @quiet
    def sqrt(self) -> Self:
        """Return the root of a number that is at least 0."""
        low, high = (np.sqrt(np.maximum(end, _ZERO)) for end in self)
        return type(self)(_down(low), _up(high))


Operand: TypeAlias = Interval | Fraction | Array | float


def interval(value: Operand) -> Interval:
    """Return an operand as an interval; a double is taken as exact."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, np.ndarray) or _is_double(value):
        return Interval.exactly(value)
    return Interval.of(value) if isinstance(value, Fraction | int) else Interval.exactly(value)


def _is_double(value: Operand) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and abs(value) <= 2**53


# Sums and roots that are subnormal are exact; products and quotients are off by a step.
# A lower end that overflows is still at most the largest double.


def _down(x: Array) -> Array:
    x = np.minimum(x, _MOST)
    return x - _STEP * np.abs(x)


def _up(x: Array) -> Array:
    x = np.maximum(x, _LEAST)
    return x + _STEP * np.abs(x)


def _no_sign(x: Array) -> bool:
    # A scalar's own `all` takes ten times as long.
    positive = x >= _ZERO
    return bool(positive.all()) if positive.ndim else bool(positive)


def _ends(lower: Array, upper: Array) -> tuple[Array, ...]:
    return (lower,) if lower is upper else (lower, upper)


def _least(ends: list[Array]) -> Array:
    return reduce(np.minimum, ends)


def _greatest(ends: list[Array]) -> Array:
    return reduce(np.maximum, ends)


def _first(found: Interval, places: npt.NDArray[np.bool_]) -> str:
    lower, upper = (np.broadcast_to(end, places.shape)[places][0] for end in found)
    return f"[{float(lower)!r}, {float(upper)!r}]"
