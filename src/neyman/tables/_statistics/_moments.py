"""Sums of products of centred columns, balanced and with joint noise, for moments.

With u = (x - middle)/half the range, in [-1, 1], a row adds one integer for each of

    1,  u_i,  u_i^2 - 1/2,  u_i u_j

in units that give all of them the same limit N, so that each has the same share of the noise.
Products of more than 2^20 grid steps are rounded to the unit, row by row, with the same result on
every engine.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from sqlglot import exp

from neyman.aggregate import Term as Known
from neyman.errors import InvalidTable
from neyman.overriding import override
from neyman.tables._sql import Tree, integer, wide
from neyman.tables._statistics._statistic import Component, Measured, Statistic

__all__ = ["Axis", "Layout", "OfMoments", "Term"]

# Which columns are multiplied: (), (i,) or (i, j) with i <= j.
Term: TypeAlias = tuple[int, ...]

# Half a range of so many steps: a product of two stays within 62 bits.
_WIDEST: Final = 2**30
# The largest integer that a row adds: sums of 2^40 rows have two bits to spare.
_LIMIT: Final = 2**20
# Finer than balance needs, so that weights are whole numbers close to what they should be.
_FINER: Final = 8
_SMALLEST: Final = Fraction(1, 10**70)
_LARGEST: Final = Fraction(10**70)


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """A column in steps from the middle of its bounds, d = round((k - low) / 2^shift) - centre.

    The shift is 0 unless there are more than 2^31 steps.
    """

    column: Measured

    @property
    def shift(self) -> int:
        """The number of low bits of the grid that are rounded away."""
        low, high = self.column.bounds.steps
        return max(0, (high - low).bit_length() - _WIDEST.bit_length())

    @property
    def centre(self) -> int:
        """The middle, in steps of 2^shift above the lower bound."""
        return self._highest // 2

    @property
    def reach(self) -> int:
        """a, the largest |d|."""
        return self._highest - self.centre

    @property
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest d."""
        return -self.centre, self.reach

    @property
    def half_range(self) -> Fraction:
        """The distance of u = 1 from the middle, in the column's units."""
        return self.reach * self._step

    @property
    def middle(self) -> Fraction:
        """The value at u = 0, in the column's units."""
        return self.column.bounds.lower + self.centre * self._step

    def steps(self, k: Tree) -> Tree:
        """Write d for the grid integer k."""
        above = k - integer(self.column.bounds.steps[0])
        return _halved(above, self.shift) - integer(self.centre)

    @property
    def _highest(self) -> int:
        low, high = self.column.bounds.steps
        return _rounded(high - low, self.shift)

    @property
    def _step(self) -> Fraction:
        return self.column.bounds.grid * 2**self.shift


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """The summed products, and the units of their integers.

    Attributes:
        axes: the columns.
        terms: the products; the first is empty, which counts rows.
    """

    axes: tuple[Axis, ...]
    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        """Check that products of the bounds are in range for doubles.

        Raises:
            InvalidTable: with the column, if they are not.
        """
        for axis in self.axes:
            if not _SMALLEST <= axis.half_range <= _LARGEST:
                raise InvalidTable(
                    f"products of column {axis.column.column!r} with bounds "
                    f"{axis.column.bounds!r} leave double precision; write bounds that are "
                    "1e-70 to 1e70 apart, in other units of the column"
                )

    @property
    def components(self) -> tuple[Component, ...]:
        """The contributions of a row, one integer for each term, all with about the same limit."""
        parts = [self._part(term) for term in self.terms]
        return tuple(
            part.weighed(weight) for part, weight in zip(parts, self._weights(), strict=True)
        )

    def units(self, weight: int) -> list[list[float]]:
        """Return the square matrix from the integers to normalised moments.

        Row m gives the sum over rows of the product of the u of term m.

        Args:
            weight: the factor of the integers.
        """
        weights = self._weights()
        matrix = [[0.0] * len(self.terms) for _ in self.terms]
        for m, (term, each) in enumerate(zip(self.terms, weights, strict=True)):
            size = 1
            for i in term:
                size *= self.axes[i].reach
            part = self._part(term)
            step = Fraction(2**part.shift, size)
            matrix[m][0] += float(step * part.offset / (weight * weights[0]))
            matrix[m][m] += float(step / (weight * each))
        return matrix

    def known_terms(self, weight: int) -> tuple[Known | None, ...]:
        """Return the meaning of each integer that has rows or the total of a single column.

        Args:
            weight: as for `units`.
        """
        rows, *rest = self._weights()
        found: list[Known | None] = [Known(weight * rows), *[None] * len(rest)]
        if len(self.axes) == 1 and not self.axes[0].shift and not self._part((0,)).shift:
            found[1] = Known(0, weight * rest[0])
        return tuple(found)

    def _weights(self) -> list[int]:
        """Return whole numbers that bring every part to about the same limit."""
        limits = [self._part(term).limit for term in self.terms]
        most = max(limits)
        common = most * max(1, min(_FINER, _LIMIT // most))
        return [(2 * common + limit) // (2 * limit) for limit in limits]

    def _part(self, term: Term) -> "_Part":
        if not term:
            return _Part(lambda _: integer(1), 1, 1)
        first = self.axes[term[0]]
        if len(term) == 1:
            i, (low, high) = term[0], first.ends
            return _Part(lambda k: first.steps(k[i]), low, high).rounded()
        i, j = term
        other = self.axes[j]
        if i == j:
            # d^2 in [0, a^2], half of which is taken off.
            square = _Part(lambda k: first.steps(k[i]) * first.steps(k[i]), 0, first.reach**2)
            return square.rounded().centred()
        reach = first.reach * other.reach
        product = _Part(lambda k: first.steps(k[i]) * other.steps(k[j]), -reach, reach)
        return product.rounded()


@final
@dataclass(frozen=True, slots=True)
class _Part:
    """An integer of a row in [low, high]: round(product / 2^shift) - offset."""

    value: Callable[[Sequence[Tree]], Tree]
    low: int
    high: int
    shift: int = 0
    offset: int = 0

    @property
    def limit(self) -> int:
        """Largest magnitude."""
        return max(abs(self.low), abs(self.high))

    def rounded(self) -> "_Part":
        """Return it in units of 2^shift, at most 2^20 of them; it is not negative."""
        shift = max(0, (self.limit - 1).bit_length() - _LIMIT.bit_length() + 1)
        if not shift:
            return self
        base, value = -(self.low >> shift), self.value
        lifted = base << shift

        def short(k: Sequence[Tree]) -> Tree:
            return _halved(value(k) + integer(lifted), shift) - integer(base)

        low, high = (_rounded(end + lifted, shift) - base for end in (self.low, self.high))
        return _Part(short, low, high, shift)

    def centred(self) -> "_Part":
        """Return it minus half of its range."""
        offset, value = (self.low + self.high) // 2, self.value
        return _Part(
            lambda k: value(k) - integer(offset),
            self.low - offset,
            self.high - offset,
            self.shift,
            offset,
        )

    def weighed(self, weight: int) -> Component:
        """Return the component that is `weight` times as large."""
        value, low, high = self.value, weight * self.low, weight * self.high
        if weight == 1:
            return Component(value, low, high)
        return Component(lambda k: value(k) * wide(weight), low, high)


def _halved(value: Tree, shift: int) -> Tree:
    """Write round(value / 2^shift) for a non-negative value; halves are rounded up."""
    if not shift:
        return exp.Paren(this=value)
    raised = exp.Paren(this=value + integer(2 ** (shift - 1)))
    return exp.Paren(this=exp.BitwiseRightShift(this=raised, expression=integer(shift)))


def _rounded(value: int, shift: int) -> int:
    return (value + (2**shift >> 1)) >> shift


class OfMoments(Statistic):
    """A statistic from sums of products of its columns."""

    __slots__ = ()

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The layout of the sums of products."""

    @property
    @final
    @override
    def components(self) -> tuple[Component, ...]:
        return self.layout.components
