"""Zero-concentrated differential privacy."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import tau_squared_of_rho
from neyman.curves._formulas import Summaries
from neyman.curves._pair import Pair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._statements._real_line import (
    MOST_LOSS,
    RealLinePair,
    line_renyi,
    part_of,
    rounded_up,
    within_reach,
)
from neyman.curves._statements._real_line_bounds import FixedPoint, Orders, fixed_points
from neyman.curves._statements._real_line_orders import Line
from neyman.numerics import (
    Array,
    Interval,
    ceil_float,
    floor_float,
    normal_quantile_gap,
    shortened_up,
    standing,
    text,
)
from neyman.numerics._distributions._two_point_mu import gaussian_of_rho
from neyman.overriding import override

__all__ = ["ZcdpPair", "rho_of"]


@final
@dataclass(frozen=True, slots=True)
class ZcdpPair(RealLinePair):
    """rho-zCDP: D_a <= rho a for all a > 1, in both directions.

    Composed with a curve of finite rho', the sum of both: an upper bound.

    Source: Bun and Steinke (2016), definition 1.1 and lemma 1.7.
    """

    rho: Fraction

    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        within_reach(self.rho, "rho", most=MOST_LOSS)

    def __str__(self) -> str:
        return f"zcdp(rho={text(self.rho)})"

    @property
    @override
    def orders(self) -> Orders:
        return Line(ceil_float(self.rho), ceil_float(self.rho))

    @property
    @override
    def fixed(self) -> FixedPoint:
        return fixed_points(
            np.zeros(1),
            np.asarray([ceil_float(self.rho)]),
            np.asarray([floor_float(self.rho)]),
        )

    @property
    @override
    def gaussian_square(self) -> Fraction:
        return 2 * self.rho

    @property
    @override
    def line(self) -> tuple[Fraction, Fraction]:
        return self.rho, self.rho

    @override
    def bound(self, order: Fraction) -> Fraction:
        return self.rho * max(order, Fraction(1))

    @override
    def joined(self, other: Pair, times: int) -> "ZcdpPair | None":
        if isinstance(other, RealLinePair) and not isinstance(other, ZcdpPair):
            # The other statement absorbs this one.
            return None
        rho = rho_of(other)
        return None if rho is None else ZcdpPair(self.rho + times * rho)

    @override
    def repeated(self, times: int) -> "ZcdpPair":
        return ZcdpPair(self.rho * times)

    @override
    def summaries(self) -> Summaries:
        return RealLinePair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=self._zcdp,
            tcdp=self._tcdp,
            subgaussian=lambda: (self._zcdp(), (0.0, tau_squared_of_rho(ceil_float(self.rho)))),
            mu=self._mu,
            outer_gaussian=self._outer_gaussian,
        )

    def _renyi(self, order: Array) -> Interval:
        return line_renyi(order, self.rho, self.rho)

    def _tcdp(self, omega: float) -> tuple[float, float]:  # noqa: ARG002
        return self._zcdp()

    def _zcdp(self) -> tuple[float, float]:
        return 0.0, standing(self.rho)[1]

    def _mu(self, slack: float) -> tuple[float, float]:
        """The Gaussian of the same advantage d, d log((1 + d)/(1 - d)) = rho.

        The fixed point of f decides: of each rho it is proved, on the whole line, that mu raised by
        2^-42, relatively, is enough (docs/theory/zcdp.md).
        """
        if slack > 0:
            return 0.0, min(self.mu_with_slack(slack)[1], self.mu_bracket(0.0)[1])
        x = self.fixed.loss.upper[0]
        gap = normal_quantile_gap(
            float(np.tanh(x / 2)), float(2 / (1 + np.exp(np.minimum(x, 705.0))))
        )
        return 0.0, gaussian_of_rho(gap, ceil_float(self.rho))

    def _outer_gaussian(self) -> Fraction | None:
        mu = self.mu_bracket(0.0)[1]
        return Fraction(mu) ** 2 if math.isfinite(mu) else None

    @override
    def share(self, curve: Curve) -> Interval:
        return part_of(*curve.zcdp_bracket(), float(self.rho))

    @override
    def admits(self, curve: Curve) -> bool:
        square, rho = curve.outer_gaussian(), curve.zcdp_bracket()[1]
        if square is not None and square <= 2 * self.rho:
            return True
        return math.isfinite(rho) and rounded_up(rho) <= self.rho


def rho_of(pair: Pair) -> Fraction | None:
    """Return a rho that a pair obeys in both directions, None if none is proved."""
    if isinstance(pair, GaussianPair):
        return shortened_up(pair.mu_squared) / 2
    if isinstance(pair, ZcdpPair):
        return pair.rho
    sides = (pair,) if pair.symmetric else (pair, pair.swap())
    uppers = [side.zcdp_bracket()[1] for side in sides if side.certified]
    finite = len(uppers) == len(sides) and bool(np.all(np.isfinite(uppers)))
    return max(map(rounded_up, uppers)) if finite else None
