"""Rényi differential privacy at finitely many orders."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._formulas import Summaries
from neyman.curves._pair import Pair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._statements._real_line import (
    MOST_DIVERGENCE,
    RealLinePair,
    part_of,
    rounded_up,
    within_reach,
)
from neyman.curves._statements._real_line_bounds import FixedPoint, Orders, fixed_points
from neyman.curves._statements._real_line_orders import Points
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    ceil_float,
    floor_float,
    shortened_up,
    text,
)
from neyman.overriding import override

__all__ = ["RdpPair", "divergence_of"]


@final
@dataclass(frozen=True, slots=True)
class RdpPair(RealLinePair):
    """D_a <= R at finitely many orders a >= 1/2, at least one of them from 1 on, both directions.

    Sorted by order, with R increasing: a bound that a higher order's implies is left out.

    Source: Mironov (2017), definition 4 and proposition 1.
    """

    points: tuple[tuple[Fraction, Fraction], ...]

    kind: ClassVar[str] = "rdp"

    def __post_init__(self) -> None:
        """Refuse numbers that doubles cannot work with, and points that are not in normal form."""
        for order, divergence in self.points:
            within_reach(order, "order", Fraction(1, 2))
            within_reach(divergence, "divergence")
        if not self.points or self.points[-1][0] < 1:
            raise InvalidParameter(
                "points must have an order of at least 1, because smaller orders do not bound the "
                "privacy loss; got none. Write one, such as (2, 0.1)"
            )
        if self.points != _canonical(self.points):
            raise InvalidParameter(
                "the points of an RdpPair are not sorted or imply one another; write rdp(points)"
            )

    @staticmethod
    def of(points: Iterable[tuple[Fraction, Fraction]]) -> "RdpPair":
        """Sort the points, and leave out those that others imply."""
        return RdpPair(_canonical(points))

    def __str__(self) -> str:
        inner = ", ".join(f"({text(order)}, {text(value)})" for order, value in self.points[:3])
        more = f", ... {len(self.points)} points" if len(self.points) > 3 else ""
        return f"rdp([{inner}{more}])"

    def _doubles(self) -> tuple[Array, Array]:
        # A lower order's divergence is no larger.
        orders = np.asarray([floor_float(order) for order, _ in self.points])
        return orders - 1, np.asarray([ceil_float(value) for _, value in self.points])

    @property
    @override
    def orders(self) -> Orders:
        return Points(*self._doubles())

    @property
    @override
    def fixed(self) -> FixedPoint:
        b, divergence = self._doubles()
        return fixed_points(
            b, divergence, np.asarray([floor_float(value) for _, value in self.points])
        )

    @property
    @override
    def gaussian_square(self) -> Fraction:
        return min(2 * value / order for order, value in self.points)

    @override
    def joined(self, other: Pair, times: int) -> "RdpPair | None":
        orders = {order for order, _ in self.points} | _own_orders(other)
        added = [
            (order, mine + times * theirs)
            for order in orders
            if (mine := divergence_of(self, order)) is not None
            and (theirs := divergence_of(other, order)) is not None
        ]
        kept = _within(_canonical(added))
        return RdpPair(kept) if kept and kept[-1][0] >= 1 else None

    @override
    def repeated(self, times: int) -> "RdpPair":
        return RdpPair(_within(tuple((order, value * times) for order, value in self.points)))

    def bound(self, order: Fraction) -> Fraction | None:
        """Return the least bound of the divergence that follows, None if none does.

        Divergences grow with the order, and (a - 1) D_a is convex and 0 at a = 1.
        """
        above = [(a, value) for a, value in self.points if a >= order]
        if not above:
            return None
        (high, value) = above[0]
        below = [(a, r) for a, r in self.points if 1 < a < order]
        if not below:
            return value
        low, less = below[-1]
        chord = ((high - order) * (low - 1) * less + (order - low) * (high - 1) * value) / (
            high - low
        )
        # Rounded up, for the exact quotient grows with every composition.
        return min(value, Fraction(ceil_float(chord / (order - 1))))

    @override
    def summaries(self) -> Summaries:
        return RealLinePair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=lambda: (0.0, np.inf),
            tcdp=self._tcdp,
            subgaussian=self._subgaussian,
            mu=self.mu_with_slack,
        )

    def _renyi(self, order: Array) -> Interval:
        """From above what follows from the points.

        (1 - a) D_a(Q || P) = a D_(1-a)(P || Q) answers for orders below 1 too.
        """
        near, b, divergence = Interval.decimal(order), *self._doubles()
        upper = self._upper(near.upper - 1, b, divergence)
        below = np.where(order < 1, near.upper, 0.5)
        odds = below / (1 - Interval.exactly(below))
        turned = (odds * self._upper(-near.lower, b, divergence)).upper
        return Interval(np.zeros(order.shape), np.where(order < 1, np.fmin(upper, turned), upper))

    @staticmethod
    def _upper(at: Array, b: Array, divergence: Array) -> Array:
        """Return what follows at order 1 + `at`: D grows with the order, (a - 1) D is convex."""
        place = np.searchsorted(b, at)
        above = np.append(divergence, np.inf)[place]
        steep = b > 0
        between = (at > 0) & (place < b.size) & bool(np.any(steep))
        if not np.any(between):
            return above
        x, inner = np.append(0.0, b[steep]), Interval.exactly(np.where(between, at, 1.0))
        cumulant = x * Interval.exactly(np.append(0.0, divergence[steep]))
        last = np.clip(np.searchsorted(x, at), 1, x.size - 1)
        share = (inner - x[last - 1]) / (Interval.exactly(x[last]) - x[last - 1])
        chord = cumulant.at(last - 1) * (1 - share) + cumulant.at(last) * share
        return np.where(between, np.minimum(above, (chord / inner).upper), above)

    def _tcdp(self, omega: float) -> tuple[float, float]:
        """From above the largest ratio at the orders below omega.

        On a piece between two orders K is below its chord, and D_a / a at most the larger end's
        divergence over the smaller order.
        """
        b = self._doubles()[0]
        if b[-1] + 1 < omega:
            return 0.0, np.inf
        ends = np.append(np.append(1.0, (b + 1)[(b > 0) & (b + 1 < omega)]), omega)
        at_end = self.renyi_bracket(ends).upper
        return 0.0, float(np.max((at_end[1:] / Interval.exactly(ends[:-1])).upper))

    def _subgaussian(self) -> Subgaussianity:
        mean = self.renyi_bracket(np.ones(()))
        return (0.0, float(mean.upper)), (0.0, np.inf)

    @override
    def share(self, curve: Curve) -> Interval:
        low, high = (
            np.asarray([rounded(order) for order, _ in self.points])
            for rounded in (floor_float, ceil_float)
        )
        bounds = np.asarray([float(value) for _, value in self.points])
        return part_of(curve.renyi_bracket(low).lower, curve.renyi_bracket(high).upper, bounds)

    @override
    def admits(self, curve: Curve) -> bool:
        orders = np.asarray([ceil_float(order) for order, _ in self.points])
        bounds = curve.renyi_bracket(orders).upper
        return bool(np.all(np.isfinite(bounds))) and all(
            rounded_up(float(bound)) <= value
            for bound, (_, value) in zip(bounds, self.points, strict=True)
        )


def divergence_of(pair: Pair, order: Fraction) -> Fraction | None:
    """Return a bound of the divergence of a pair in both directions, None if none is proved."""
    if isinstance(pair, RealLinePair):
        return pair.bound(order)
    if isinstance(pair, GaussianPair):
        return shortened_up(pair.mu_squared) / 2 * order
    # Divergences grow with the order.
    at = np.asarray(ceil_float(order))
    sides = (pair,) if pair.symmetric else (pair, pair.swap())
    uppers = [float(side.renyi_bracket(at).upper) for side in sides if side.certified]
    finite = len(uppers) == len(sides) and bool(np.all(np.isfinite(uppers)))
    return max(map(rounded_up, uppers)) if finite else None


def _own_orders(pair: Pair) -> set[Fraction]:
    return {order for order, _ in pair.points} if isinstance(pair, RdpPair) else set()


def _within(
    points: tuple[tuple[Fraction, Fraction], ...],
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Drop orders whose divergence is too large to be useful, except the first."""
    return points[:1] + tuple(point for point in points[1:] if point[1] <= MOST_DIVERGENCE)


def _canonical(
    points: Iterable[tuple[Fraction, Fraction]],
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Sort, and leave out what a higher order's smaller bound implies."""
    kept: list[tuple[Fraction, Fraction]] = []
    for order, value in sorted(points, key=lambda point: (-point[0], point[1])):
        if not kept or value < kept[-1][1]:
            kept.append((order, value))
    return tuple(reversed(kept))
