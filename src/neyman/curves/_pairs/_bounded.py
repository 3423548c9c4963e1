"""Pairs whose loss is bounded."""

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, Tails
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, quantile_gap, raised, standing, text
from neyman.numerics._lattice_sums._source import LossSource
from neyman.numerics._primitives import expm1
from neyman.overriding import override

__all__ = ["BoundedPair", "ShiftedPair", "check_epsilon"]

# Below this range the square of mu underflows; above it e^-epsilon does, and nobody is protected.
_SMALLEST, _LARGEST = Fraction(2) ** -500, 700
_NONE, _SURE = Interval.exactly(0.0), Interval.exactly(1.0)


class BoundedPair(Pair):
    """A symmetric pair with |L| <= bound, attained; its atoms are at both ends or at none.

    A leaf gives the law of its loss, and its profile between the ends, over intervals. Arguments
    and the bound mean their decimals, so it is known on which side of an end a double lies.
    """

    __slots__ = ()

    proved: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """The largest loss."""

    @abstractmethod
    @override
    def loss_source(self) -> LossSource:
        """Return the law of the loss; an atom at the lower end comes first."""

    @abstractmethod
    def inner_delta(self, x: Interval, bound: Interval) -> Interval:
        """Return delta at x within the bound; near the bound it is much less than a tail."""

    @abstractmethod
    def inner_epsilon(self, delta: Interval, bound: Interval) -> Interval:
        """Return where `inner_delta` is delta."""

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        source, at, end = self.loss_source(), np.asarray(t, dtype=np.float64), float(self.bound)
        p, q = (mass.middle for mass in source.atoms)
        # Atoms are at the ends only.
        places, wide = np.linspace(-end, end, p.size), at[..., None]
        there = (places >= wide) if closed else (places > wide)
        parts = (there @ p, there @ q, ~there @ p, ~there @ q)
        inside = (at < end, at < end, at > -end, at > -end)
        p_above, q_above, p_below, q_below = (
            np.minimum(tail.middle * counts + part, 1.0)
            for tail, counts, part in zip(source.tails(at), inside, parts, strict=True)
        )
        with np.errstate(divide="ignore"):
            return Tails(*np.log([p_above, p_below, q_above, q_below]))

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, epsilon=self._epsilon)

    @override
    def summaries(self) -> Summaries:
        return Summaries(outer_pure=lambda: self.bound)

    def _delta(self, epsilon: Array) -> Interval:
        up, bound = standing(self.bound)[1], Interval.of(self.bound)
        x = Interval.decimal(epsilon)
        inside = self.inner_delta(x.smaller(bound).larger(-bound), bound)
        below = Interval.where(epsilon <= -up, -expm1(x.smaller(0)), inside)
        return Interval.where(epsilon >= up, _NONE, below.clip(0.0, 1.0))

    def _epsilon(self, delta: Array) -> Interval:
        """The closed form, moved up until its own delta is proved to be at most `delta`."""
        down, up = standing(self.bound)
        found = self.inner_epsilon(Interval.decimal(delta).clip(0.0, 1.0), Interval.of(self.bound))
        lower = np.where(delta == 0, down, np.clip(found.lower, 0.0, down))
        upper = np.where(delta == 0, up, np.clip(found.upper, 0.0, up))
        # From the bound on delta is 0.
        upper = raised(upper, up * 2.0**-54, lambda e: self.delta_bracket(e).upper <= delta)
        return Interval(lower, np.minimum(upper, up))


class ShiftedPair(BoundedPair):
    """A bounded pair with one positive parameter, its largest loss.

    Phi^-1(1 - alpha) - Phi^-1(f(alpha)) is largest at the fixed point of f for the leaves, so the
    Gaussian of the same advantage is the tightest. On a line between points of f at or above G_mu,
    G_mu is below the chord. Where alpha f(alpha) is constant, put alpha = e^(a+v), f = e^(a-v):
    z(x) = Phi^-1(e^x) has the derivative Phi(z)/phi(z), which increases, so that -z(a+v) - z(a-v)
    is largest at v = 0. Where the logits of 1 - alpha and 1 - f add to a constant, Phi^-1 of the
    logistic function is odd and, right of 0, concave (docs/theory/zcdp.md: v' increases).
    """

    __slots__ = ()

    @abstractmethod
    def errors(self, alpha: Interval, bound: Interval) -> tuple[Interval, Interval]:
        """Return f and 1 - f at alpha in [0, 1], each with relative accuracy."""

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return BoundedPair.summaries(self)._replace(
            mu=self._mu, outer_gaussian=lambda: Fraction(self._mu(0.0)[1]) ** 2
        )

    def _beta(self, alpha: Array) -> Interval:
        return self.errors(Interval.decimal(alpha), Interval.of(self.bound))[0].clip(0.0, 1.0)

    def _tpr(self, alpha: Array) -> Interval:
        return self.errors(Interval.decimal(alpha), Interval.of(self.bound))[1].clip(0.0, 1.0)

    def _mu(self, slack: float) -> tuple[float, float]:
        if slack > 0:
            return Curve.mu_bracket(self, slack)
        zero, source = np.zeros(()), self.loss_source()
        upper_atom = source.atoms.p.at(np.arange(1, source.atoms.p.lower.size))
        above = source.tails(zero).p_above + upper_atom.total()
        # 1 - delta(0) = Q(L <= 0) + P(L > 0), and the two are the same.
        lower, upper = quantile_gap(self.delta_bracket(zero), above * 2)
        return float(lower), float(upper)


def check_epsilon(epsilon: Fraction) -> None:
    """Refuse a bound of the loss that doubles cannot work with.

    Raises:
        InvalidParameter: if `epsilon` is outside [2^-500, 700].
    """
    if not _SMALLEST <= epsilon <= _LARGEST:
        raise InvalidParameter(
            f"epsilon={text(epsilon)} is outside [2^-500, {_LARGEST}]; write one in that range, "
            "or 0 for the identity"
        )
