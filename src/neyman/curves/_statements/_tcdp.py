"""Truncated concentrated differential privacy."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._formulas import Summaries
from neyman.curves._pair import Pair
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._real_line import (
    MOST_LOSS,
    RealLinePair,
    part_of,
    rounded_up,
    within_reach,
)
from neyman.curves._statements._real_line_bounds import FixedPoint, Orders
from neyman.curves._statements._real_line_orders import Line
from neyman.curves._statements._zcdp import ZcdpPair, rho_of
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, ceil_float, floor_float, standing, text
from neyman.overriding import override

__all__ = ["TcdpPair"]


@final
@dataclass(frozen=True, slots=True)
class TcdpPair(RealLinePair):
    """(rho, omega)-tCDP: D_a <= rho a for a in (1, omega), and so up to it, in both directions.

    Source: Bun, Dwork, Rothblum and Steinke (2018), definition 1.
    """

    rho: Fraction
    omega: Fraction

    kind: ClassVar[str] = "tcdp"

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        within_reach(self.rho, "rho", most=MOST_LOSS)
        within_reach(self.omega, "omega", Fraction(1))
        if self.omega <= 1:
            raise InvalidParameter(
                f"omega={text(self.omega)} leaves no order above 1; write one above 1"
            )

    def __str__(self) -> str:
        return f"tcdp(rho={text(self.rho)}, omega={text(self.omega)})"

    @property
    @override
    def orders(self) -> Orders:
        rho = ceil_float(self.rho)
        return Line(rho, rho, floor_float(self.omega))

    @property
    @override
    def fixed(self) -> FixedPoint:
        return ZcdpPair(self.rho).fixed

    @property
    @override
    def gaussian_square(self) -> Fraction:
        return 2 * self.rho

    @override
    def bound(self, order: Fraction) -> Fraction | None:
        return self.rho * max(order, Fraction(1)) if order <= self.omega else None

    @override
    def joined(self, other: Pair, times: int) -> "TcdpPair | None":
        if isinstance(other, TcdpPair):
            return TcdpPair(self.rho + times * other.rho, min(self.omega, other.omega))
        if isinstance(other, RdpPair):
            # Its points know more than their largest ratio.
            return None
        rho = _rho_up_to(other, self.omega)
        return None if rho is None else TcdpPair(self.rho + times * rho, self.omega)

    @override
    def repeated(self, times: int) -> "TcdpPair":
        return TcdpPair(self.rho * times, self.omega)

    @override
    def summaries(self) -> Summaries:
        return RealLinePair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=lambda: (0.0, math.inf),
            tcdp=self._tcdp,
            subgaussian=lambda: ((0.0, standing(self.rho)[1]), (0.0, math.inf)),
            mu=self.mu_with_slack,
        )

    def _renyi(self, order: Array) -> Interval:
        found = ZcdpPair(self.rho).renyi_bracket(order)
        beyond = Interval.decimal(order).upper > floor_float(self.omega)
        return Interval(found.lower, np.where(beyond, np.inf, found.upper))

    def _tcdp(self, omega: float) -> tuple[float, float]:
        return 0.0, standing(self.rho)[1] if omega <= floor_float(self.omega) else math.inf

    @override
    def share(self, curve: Curve) -> Interval:
        ends = np.asarray([1.0, floor_float(self.omega)])
        lower = float(np.max(curve.renyi_bracket(ends).lower / ends))
        if lower > ceil_float(self.rho):
            # The last order settles it, long before all of them.
            return part_of(lower, np.inf, float(self.rho))
        upper = curve.tcdp_bracket(ceil_float(self.omega))[1]
        return part_of(lower, upper, float(self.rho))

    @override
    def admits(self, curve: Curve) -> bool:
        square = curve.outer_gaussian()
        if square is not None and square <= 2 * self.rho:
            return True
        rho = curve.tcdp_bracket(ceil_float(self.omega))[1]
        return math.isfinite(rho) and rounded_up(rho) <= self.rho


def _rho_up_to(pair: Pair, omega: Fraction) -> Fraction | None:
    """Return a rho that a pair obeys up to omega in both directions, None if none is proved."""
    whole = rho_of(pair)
    if whole is not None and (pair.kind == "gaussian" or isinstance(pair, ZcdpPair)):
        return whole
    sides = (pair,) if pair.symmetric else (pair, pair.swap())
    uppers = [side.tcdp_bracket(ceil_float(omega))[1] for side in sides if side.certified]
    finite = len(uppers) == len(sides) and all(map(math.isfinite, uppers))
    return max(map(rounded_up, uppers)) if finite else None
