"""The pair of a mechanism on a sample of fixed size, for one record replaced."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._divergences._law_renyi import renyi_by_law
from neyman.curves._divergences._outer_renyi import outer_renyi, outer_rho
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import largest_ratio
from neyman.curves._pair import Pair, Tails
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._sampled import SampledPair
from neyman.curves._solvers._sources import SymmetrisedSource
from neyman.curves._solvers._view import left_of_zero
from neyman.errors import UnsupportedComposition
from neyman.numerics import (
    Array,
    Interval,
    LossSum,
    text,
)
from neyman.numerics._laws._symmetrised_law import SymmetrisedGaussianLaw
from neyman.numerics._primitives import expm1, log1p
from neyman.overriding import override

__all__ = ["SymmetrisedPair"]

# Below this rate, losses where e^(μx) overflows have a poor relative accuracy.
_LEAST = Fraction(1, 10**100)
# The largest order times mu for which a divergence is summed over the law.
_HIGHEST = 500.0
_NONE = Interval.exactly(0.0)


@final
@dataclass(frozen=True, slots=True)
class SymmetrisedPair(Pair):
    """C_p(f) = min(f_p, f_p^-1)**, f_p = p f + (1 - p) Id, for a symmetric f.

    With x* = (1 - delta_f(0))/2 the fixed point of f it is f_p up to x*, then a line of slope -1,
    then f_p^-1;  delta(epsilon) = delta_p(epsilon) for epsilon >= 0, and it is symmetric. The law
    of its loss: docs/theory/without_replacement.md.

    Source: Dong, Roth and Su (2022), theorem 4.2.
    """

    base: Pair
    probability: Fraction

    kind: ClassVar[str] = "symmetrised"
    keys: ClassVar[Mapping[str, str]] = {"probability": "sampling_probability"}
    proved: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True
    relation = "replace_one"

    def __post_init__(self) -> None:
        """Refuse a base that is not its own inverse."""
        SampledPair(self.base, self.probability)
        if not self.base.symmetric:
            raise UnsupportedComposition(
                f"{self.base} is not its own inverse, and sampling without replacement is known "
                "here for curves that are; write a symmetric guarantee for one record replaced"
            )

    def __str__(self) -> str:
        share = text(self.probability)
        return f"without_replacement({self.base}, sampling_probability={share})"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        log = self._sampled.log_singular[0]
        return log, log

    @property
    def _sampled(self) -> SampledPair:
        return SampledPair(self.base, self.probability)

    @override
    def loss_source(self) -> SymmetrisedSource | None:
        source = self.base.loss_source()
        if source is None or source.atoms.p.upper.size or max(self.log_singular) > -np.inf:
            return None
        return SymmetrisedSource(source, self.probability)

    @override
    def loss_law(self) -> LossSum | None:
        square = self.base.outer_gaussian() if self.base.kind == GaussianPair.kind else None
        if square is None or self.probability < _LEAST:
            return None
        return LossSum.of(SymmetrisedGaussianLaw(float(square) ** 0.5, float(self.probability)))

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        t = np.asarray(t, dtype=np.float64)
        above = (t > 0) if closed else (t >= 0)
        with np.errstate(all="ignore"):
            right = self._sampled.log_tails(np.where(above, t, 1.0), closed=closed)
            left = self._sampled.log_tails(np.where(above, 1.0, -t), closed=not closed)
            p_high, q_high = right.p_above, right.q_above
            # P(L <= t) = Q(L >= -t) on the mirrored side.
            p_low, q_low = left.q_above, left.p_above
            return Tails(
                np.where(above, p_high, _rest(p_low)),
                np.where(above, _rest(p_high), p_low),
                np.where(above, q_high, _rest(q_low)),
                np.where(above, _rest(q_high), q_low),
            )

    @override
    def views(self) -> Views:
        return Views(log_delta=self._log_delta, beta=self._beta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=self._zcdp,
            outer_gaussian=self.base.outer_gaussian,
            tight_gaussian=self.base.tight_gaussian,
            outer_pure=self._outer_pure,
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        right = self._sampled.log_delta_bracket(np.abs(epsilon))
        left = left_of_zero(Interval.decimal(np.minimum(epsilon, 0.0)), right)
        return Interval.where(np.isneginf(epsilon), _NONE, Interval.where(epsilon < 0, left, right))

    def _beta(self, alpha: Array) -> Interval:
        first, last = self._sampled.beta_bracket(alpha), self._sampled.swap().beta_bracket(alpha)
        advantage = self.delta_bracket(np.zeros(()))
        near = Interval.decimal(alpha)
        line = (1 - advantage.decimals() - near).larger(0)
        left, right = self._ends()
        lower = np.where(near.upper <= left.lower, np.maximum(first.lower, line.lower), line.lower)
        lower = np.where(near.lower >= right.upper, np.maximum(last.lower, line.lower), lower)
        upper = np.minimum(first.upper, last.upper)
        between = (near.lower >= left.upper) & (near.upper <= right.lower)
        upper = np.where(between, np.minimum(upper, line.upper), upper)
        return Interval(np.minimum(lower, upper), upper)

    def _ends(self) -> tuple[Interval, Interval]:
        """Bracket x* and f_p(x*), the ends of the line."""
        base, both = (x.delta_bracket(np.zeros(())).decimals() for x in (self.base, self))
        left = (1 - base) / 2
        return left, 1 - both - left

    def _tpr(self, alpha: Array) -> Interval:
        beta, own = self.beta_bracket(alpha), self._sampled.tpr_bracket(alpha)
        sure = Interval.decimal(alpha) <= self._ends()[0]
        return Interval.where(sure, own, (1 - beta.decimals()).clip(0.0, 1.0))

    def _renyi(self, order: Array) -> Interval:
        # One direction loses no more, and without sampling no less is lost.
        sides = (self._sampled, self._sampled.swap())
        lower = np.max([side.renyi_bracket(order).lower for side in sides], axis=0)
        upper = np.minimum(self.base.renyi_bracket(order).upper, outer_renyi(self, order))
        law, square = self.loss_law(), self.base.outer_gaussian()
        if law is not None and square is not None:
            near = order * float(square) ** 0.5 <= _HIGHEST
            found = renyi_by_law(law, np.where(near, order, 0.5), self.log_singular[0])
            lower = np.where(near, np.maximum(lower, found.lower), lower)
            upper = np.where(near, np.minimum(upper, found.upper), upper)
        return Interval(np.minimum(lower, upper), upper)

    def _zcdp(self) -> tuple[float, float]:
        upper = min(self.base.zcdp_bracket()[1], outer_rho(self))
        orders = 1 + np.asarray([1e-3, 1.0, 8.0, 1e3, 1e12])
        lower = largest_ratio(self, orders)
        return min(lower, upper), upper

    def _outer_pure(self) -> Fraction | None:
        most = self.base.outer_pure()
        if most is None:
            return None
        share = Interval.of(self.probability)
        return Fraction(float(log1p(share * expm1(Interval.of(most))).upper))


def _rest(log: Array) -> Array:
    return np.log(-np.expm1(np.minimum(log, 0.0)))
