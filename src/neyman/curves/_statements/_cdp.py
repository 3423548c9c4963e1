"""Concentrated differential privacy: a mean and a subgaussian parameter of the loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._formulas import Summaries
from neyman.curves._pair import Pair
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
from neyman.curves._statements._zcdp import ZcdpPair
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    ceil_float,
    exact,
    floor_float,
    square_roots,
    standing,
    text,
)
from neyman.overriding import override

__all__ = ["CdpPair", "subgaussian_of"]

# From next to 1 up to orders at which only the slope matters.
_ORDERS = np.append(1.0, 1 + np.logspace(-6, 18, 97))


@final
@dataclass(frozen=True, slots=True)
class CdpPair(RealLinePair):
    """(mu, tau)-CDP by its bounds of Rényi divergences: D_a <= mu + (a - 1) tau^2 / 2, a >= 1.

    In both directions. At x = -1 the definition says mean <= tau^2 / 2, so a larger mu is none.
    These bounds leave out that the loss is subgaussian below its mean too, which does not survive
    post-processing. The bounds do, and they add.

    Source: Dwork and Rothblum (2016), definitions 2.2 and 2.5; Bun and Steinke (2016), lemma 4.2.
    """

    mean: Fraction
    tau_squared: Fraction

    kind: ClassVar[str] = "cdp"
    keys: ClassVar[Mapping[str, str]] = {"mean": "mu"}

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        within_reach(self.mean, "mu", most=MOST_LOSS)
        within_reach(self.tau_squared, "tau^2", most=2 * MOST_LOSS)
        if 2 * self.mean > self.tau_squared:
            raise InvalidParameter(
                f"mu={text(self.mean)} is more than tau^2/2={text(self.tau_squared / 2)}, which "
                "(mu, tau)-CDP implies; write cdp(mu, tau)"
            )

    def __str__(self) -> str:
        down, up = square_roots(self.tau_squared)
        tau = text(exact(up, "tau")) if down == up else f"sqrt({text(self.tau_squared)})"
        return f"cdp(mu={text(self.mean)}, tau={tau})"

    @property
    def _slope(self) -> Fraction:
        return self.tau_squared / 2

    @property
    @override
    def orders(self) -> Orders:
        return Line(ceil_float(self.mean), ceil_float(self._slope))

    @property
    @override
    def fixed(self) -> FixedPoint:
        return fixed_points(
            np.zeros(1), np.asarray([ceil_float(self.mean)]), np.asarray([floor_float(self.mean)])
        )

    @property
    @override
    def gaussian_square(self) -> Fraction:
        return 2 * self.mean

    @property
    @override
    def line(self) -> tuple[Fraction, Fraction]:
        return self.mean, self._slope

    @override
    def bound(self, order: Fraction) -> Fraction:
        return self.mean + max(order - 1, Fraction(0)) * self._slope

    @override
    def joined(self, other: Pair, times: int) -> "CdpPair | None":
        found = subgaussian_of(other)
        if found is None:
            return None
        mean, square = found
        return CdpPair(self.mean + times * mean, self.tau_squared + times * square)

    @override
    def repeated(self, times: int) -> "CdpPair":
        return CdpPair(self.mean * times, self.tau_squared * times)

    @override
    def summaries(self) -> Summaries:
        return RealLinePair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=self._zcdp,
            tcdp=self._tcdp,
            subgaussian=lambda: (
                (0.0, standing(self.mean)[1]),
                (0.0, standing(self.tau_squared)[1]),
            ),
            mu=self._mu,
        )

    def _renyi(self, order: Array) -> Interval:
        return line_renyi(order, self.mean, self._slope)

    def _zcdp(self) -> tuple[float, float]:
        return 0.0, standing(self._slope)[1]

    def _tcdp(self, omega: float) -> tuple[float, float]:
        up = self.zcdp_bracket()[1]
        if np.isinf(omega):
            return 0.0, up
        at = self.renyi_bracket(np.asarray(omega)) / Interval.decimal(omega)
        return 0.0, min(float(at.upper), up)

    def _subgaussian(self) -> Subgaussianity:
        return (0.0, standing(self.mean)[1]), (0.0, standing(self.tau_squared)[1])

    def _mu(self, slack: float) -> tuple[float, float]:
        if slack > 0:
            return self.mu_with_slack(slack)
        return 0.0, ZcdpPair(self._slope).mu_bracket(0.0)[1]

    @override
    def share(self, curve: Curve) -> Interval:
        """At orders between 1 and infinity from below; from above by `admits`."""
        line = self.renyi_bracket(_ORDERS).upper
        least = part_of(curve.renyi_bracket(_ORDERS).lower, np.inf, line).lower
        return Interval(least, np.maximum(1.0 if self.admits(curve) else np.inf, least))

    @override
    def admits(self, curve: Curve) -> bool:
        square = curve.outer_gaussian()
        if square is not None and square <= self.gaussian_square:
            return True
        rho = curve.zcdp_bracket()[1]
        if np.isfinite(rho) and rounded_up(rho) <= self.mean:
            return True
        (_, mean), (_, most) = curve.subgaussian_bracket()
        if not np.isfinite(mean + most):
            return False
        return rounded_up(mean) <= self.mean and rounded_up(most) <= self.tau_squared


def subgaussian_of(pair: Pair) -> tuple[Fraction, Fraction] | None:
    """Return a mean and a tau^2 that a pair has in both directions, None if none is proved."""
    if isinstance(pair, RealLinePair):
        return None if pair.line is None else (pair.line[0], 2 * pair.line[1])
    square = pair.outer_gaussian()
    if pair.kind == "gaussian" and square is not None:
        return square / 2, square
    sides = (pair,) if pair.symmetric else (pair, pair.swap())
    found = [side.subgaussian_bracket() for side in sides if side.certified]
    if len(found) < len(sides) or not all(np.isfinite(f[0][1] + f[1][1]) for f in found):
        return None
    mean, most = (max(rounded_up(f[which][1]) for f in found) for which in (0, 1))
    return min(mean, most / 2), most
