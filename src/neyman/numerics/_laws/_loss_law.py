"""The interface of laws of losses for the contour, and sums of independent losses."""

import math
import operator
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Self, TypeAlias, final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._laws._split import Split
from neyman.overriding import override

__all__ = [
    "ClosedLaw",
    "Copies",
    "LossLaw",
    "LossNodes",
    "LossSum",
    "RealCumulant",
    "Span",
    "SumNodes",
]


# Counts of copies with a larger ratio are given different shifts of a path.
_UNLIKE = 4.0


class Span(NamedTuple):
    """A part of the complex plane: real parts in [low, high], imaginary parts up to `height`."""

    low: float
    high: float
    height: float


class RealCumulant(NamedTuple):
    """K on the real line with a bound of its error, and estimates of its first derivatives."""

    value: Array
    error: Array
    slope: Array
    curvature: Array


class LossNodes(ABC):
    """A law prepared for a span: everything that does not depend on s is computed."""

    __slots__ = ()

    @property
    def copies(self) -> float:
        """The number of losses in the sum."""
        return 1.0

    @abstractmethod
    def real(self, c: Array) -> RealCumulant:
        """K at real points c of the span."""

    def most(self, c: Array) -> Array:
        """Bound K at real points c of the span closely from above."""
        real = self.real(c)
        return real.value + real.error

    def sketch(self, c: Array) -> RealCumulant:
        """Estimate K at real points c of the span."""
        return self.real(c)

    @abstractmethod
    def line(self, c: float, u: Array) -> Disc:
        """Return K(c + iu), u equally spaced from 0 to the height.

        e^K is within |e^value| (e^error - 1). `real` gives K(c) itself with a smaller error.
        """

    @abstractmethod
    def at(self, s: ComplexArray) -> ComplexArray:
        """Estimate K at any points above and below the span."""

    @abstractmethod
    def decay(self, c: float, u: Array, count: float) -> Array:
        """Bound log |e^(K(c + iv) - K(c))| for all v >= u at once; its own shape is u's.

        Args:
            c: real point of the span.
            u: positive.
            count: the number of copies, by which the shift of the path is chosen.
        """

    def decay_integral(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        """Bound log ∫ |e^(K(c + iv) - K(c))| dv/v over v >= u; infinite where none is known.

        Arguments as in `decay`.
        """
        return np.full(u.shape, math.inf)

    def parted(self, c: float, u: Array) -> tuple[Disc, Disc]:
        """Return K by `line`, and the share of the density in e^K, as opposed to the atoms."""
        return self.line(c, u), Disc(np.ones(u.shape, dtype=np.complex128), np.zeros(u.shape))

    def shares(self, c: float) -> tuple[float, float]:  # noqa: ARG002
        """Bound |e^K| of the atoms, and u times that of the rest, over e^K(c)."""
        return 0.0, np.inf

    @property
    def split(self) -> Split | None:
        """The atoms and the rest apart; None if there are no atoms, or too many."""
        return None


class LossLaw(ABC):
    """The law of a loss L under P, with Q of density e^L against it; K(s) = log E_P[e^(sL)]."""

    __slots__ = ()

    @property
    def usable(self) -> tuple[float, float]:
        """The interval of real s where K is worth computing. K is finite at every s."""
        return -math.inf, math.inf

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """An interval that holds all losses, its ends rounded outwards."""

    @abstractmethod
    def prepared(self, span: Span) -> LossNodes:
        """Return the law ready for a span inside the strip."""

    @abstractmethod
    def sketched(self, span: Span) -> LossNodes:
        """Return a cheap estimate of the same, by which lines are planned."""

    @classmethod
    def together(
        cls, copies: "Sequence[Copies]", span: Span, *, sketch: bool
    ) -> "list[tuple[LossNodes, float]]":
        """Prepare, or sketch, several laws of this class. Laws that share nodes override it.

        Returns:
            nodes, and how often each counts.
        """
        return [(law.sketched(span) if sketch else law.prepared(span), n) for law, n in copies]

    @property
    def wide(self) -> bool:
        """Whether nodes for both sides of the unit interval cost no more than for one side."""
        return False

    def from_one_normal(self, *, reversed_: bool) -> Shifts | None:  # noqa: ARG002
        """Return Q's means >= 0 and weights where P, or Q if reversed, is N(0, 1); else None."""
        return None

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Estimate K at any complex points."""
        if not s.size:
            return s
        height = float(np.max(np.abs(s.imag)))
        return self.prepared(Span(float(s.real.min()), float(s.real.max()), height)).at(s)


class ClosedLaw(LossLaw, LossNodes):
    """A law with formulas that hold for every s, so that nothing has to be prepared."""

    __slots__ = ()

    @final
    @override
    def prepared(self, span: Span) -> Self:  # noqa: ARG002
        return self

    @final
    @override
    def sketched(self, span: Span) -> Self:  # noqa: ARG002
        return self


# A law, and how many independent copies of its loss are added.
Copies: TypeAlias = tuple[LossLaw, float]


@final
@dataclass(frozen=True, slots=True)
class SumNodes(LossNodes):
    """Sum of n_i K_i(s), or of n_i K_i(1 - s) where the term is reversed."""

    terms: tuple[tuple[LossNodes, float, bool], ...]

    def reversed(self) -> "SumNodes":
        """K(1 - s)."""
        return SumNodes(tuple((nodes, count, not back) for nodes, count, back in self.terms))

    @override
    def real(self, c: Array) -> RealCumulant:
        parts = [nodes.real(1 - c if back else c) for nodes, _, back in self.terms]
        total = self._total(Disc.of(p.value, p.error) for p in parts)
        return RealCumulant(total.value.real, total.error, *self._derivatives(parts))

    @override
    def most(self, c: Array) -> Array:
        return self._total(
            Disc.exactly(nodes.most(1 - c if back else c)) for nodes, _, back in self.terms
        ).upper

    @override
    def sketch(self, c: Array) -> RealCumulant:
        parts = [nodes.sketch(1 - c if back else c) for nodes, _, back in self.terms]
        value = np.zeros(c.shape)
        for part, (_, count, _) in zip(parts, self.terms, strict=True):
            value = value + count * part.value
        return RealCumulant(value, np.zeros(c.shape), *self._derivatives(parts))

    def _derivatives(self, parts: list[RealCumulant]) -> tuple[Array, Array]:
        slope = curvature = np.zeros(parts[0].value.shape)
        for part, (_, count, reversed_) in zip(parts, self.terms, strict=True):
            slope = slope + (-count if reversed_ else count) * part.slope
            curvature = curvature + count * part.curvature
        return slope, curvature

    @override
    def line(self, c: float, u: Array) -> Disc:
        return self._total(
            nodes.line(1 - c, u).conj if back else nodes.line(c, u) for nodes, _, back in self.terms
        )

    def _total(self, parts: Iterable[Disc]) -> Disc:
        """Add the parts, each as often as it counts."""
        counted = (
            part if count == 1 else part * count
            for part, (_, count, _) in zip(parts, self.terms, strict=True)
        )
        return reduce(operator.add, counted)

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        total = np.zeros(s.shape, dtype=np.complex128)
        for nodes, count, reversed_ in self.terms:
            total += count * nodes.at(1 - s if reversed_ else s)
        return total

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        decays = self._decays(c, u, count)
        return decays[0] if len(decays) == 1 else decays.sum(axis=0)

    @property
    @override
    def copies(self) -> float:
        return sum(nodes.copies * n for nodes, n, _ in self.terms)

    def _decays(self, c: float, u: Array, count: float) -> Array:
        rows: list[Array] = []
        for nodes, n, reversed_ in self.terms:
            # u matters where all terms together have decayed; or where this one has, if alone.
            hints = [n * count, self.copies * count / nodes.copies]
            hints = hints if hints[1] > _UNLIKE * hints[0] else hints[:1]
            at = 1 - c if reversed_ else c
            found = np.zeros(u.shape)
            for hint in hints:
                found = np.minimum(found, nodes.decay(at, u, hint))
            rows.append(n * found)
        return np.stack(rows)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        decays = self._decays(c, u, count)
        total = decays.sum(axis=0)
        best = np.full(u.shape, np.inf)
        for row, (nodes, n, reversed_) in zip(decays, self.terms, strict=True):
            one = nodes.decay_integral(1 - c if reversed_ else c, u, n * count)
            best = np.minimum(best, total - row * (1 / n) + one)
        return best


@final
@dataclass(frozen=True, slots=True)
class LossSum(LossLaw):
    """Independent losses added: (law, count, whether it is reversed, L -> -L with P and Q)."""

    terms: tuple[tuple[LossLaw, float, bool], ...]

    @classmethod
    def of(cls, law: LossLaw) -> "LossSum":
        """Return the sum that is one copy of a law."""
        return cls(((law, 1.0, False),))

    @property
    @override
    def usable(self) -> tuple[float, float]:
        return _intersection([(law.usable, back) for law, _, back in self.terms])

    @property
    @override
    def range(self) -> tuple[float, float]:
        low = high = 0.0
        for law, count, reversed_ in self.terms:
            least, most = law.range
            least, most = (-most, -least) if reversed_ else (least, most)
            low = math.nextafter(low + math.nextafter(count * least, -math.inf), -math.inf)
            high = math.nextafter(high + math.nextafter(count * most, math.inf), math.inf)
        return low, high

    @property
    @override
    def wide(self) -> bool:
        return all(law.wide for law, _, _ in self.terms)

    @override
    def prepared(self, span: Span) -> SumNodes:
        return self._nodes(span, sketch=False)

    @override
    def sketched(self, span: Span) -> SumNodes:
        return self._nodes(span, sketch=True)

    def _nodes(self, span: Span, *, sketch: bool) -> SumNodes:
        alike: dict[tuple[type[LossLaw], bool], list[Copies]] = defaultdict(list)
        for law, count, back in self.terms:
            alike[type(law), back].append((law, count))
        return SumNodes(
            tuple(
                (nodes, count, back)
                for (kind, back), copies in alike.items()
                for nodes, count in kind.together(
                    copies, _reversed(span) if back else span, sketch=sketch
                )
            )
        )

    def times(self, count: int) -> "LossSum":
        """Return the sum of `count` independent copies."""
        return LossSum(tuple((law, n * count, back) for law, n, back in self.terms))

    def reversed(self) -> "LossSum":
        """P and Q exchanged."""
        return LossSum(tuple((law, count, not back) for law, count, back in self.terms))


def _reversed(span: Span) -> Span:
    return Span(1 - span.high, 1 - span.low, span.height)


def _intersection(intervals: list[tuple[tuple[float, float], bool]]) -> tuple[float, float]:
    lows = [1 - high if back else low for (low, high), back in intervals]
    highs = [1 - low if back else high for (low, high), back in intervals]
    return max(lows), min(highs)
