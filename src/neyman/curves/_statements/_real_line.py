"""Guarantees that bound Rényi divergences at real orders: statements without a pair."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import least_mu
from neyman.curves._pair import ComplexArray, Pair, Tails
from neyman.curves._solvers._view import BETA, LOG_DELTA, TPR
from neyman.curves._statements._real_line_bounds import (
    FixedPoint,
    Orders,
    epsilon_above,
    log_delta_above,
    log_errors,
)
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import (
    Array,
    Interval,
    exact,
    exp,
    expm1,
    log,
    ordinary,
    text,
)
from neyman.overriding import override

__all__ = [
    "MOST_DIVERGENCE",
    "MOST_LOSS",
    "RealLinePair",
    "line_renyi",
    "part_of",
    "rounded_up",
    "within_reach",
]

# Outside this range the search loses its accuracy.
_LEAST, MOST_DIVERGENCE = Fraction(2) ** -100, Fraction(2) ** 20
# As for a pure epsilon, larger losses protect nobody.
MOST_LOSS = Fraction(700)


class RealLinePair(Pair):
    """The class of all mechanisms whose Rényi divergences obey some bounds, in both directions.

    The statement names no pair of laws, so there is no privacy loss, no cumulant at complex s and
    no exact composition: bounds of the divergences add first, and are converted last. The result is
    for the class: f is the infimum of the trade-off functions of its members, delta the supremum of
    their profiles. **It is only an upper bound** on the loss of any one mechanism.

    Guarantee: both ends of a bracket hold for every member: the safe one by the best over orders of
        the optimal conversion of one order, the other vacuously, for a member may lose nothing.
    Error: the search over orders and dual variables costs tightness (about 1e-6), never validity.
    Source: Zhu, Dong and Wang (2022), appendix F; Asoodeh, Liao, Calmon, Kosut and Sankar (2020).
    """

    __slots__ = ()

    proved: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True
    envelope: ClassVar[bool] = True
    slow: ClassVar[bool] = True

    @property
    @abstractmethod
    def orders(self) -> Orders:
        """The bounds, for the search."""

    @property
    @abstractmethod
    def fixed(self) -> FixedPoint:
        """Fixed points of the curves of single orders that bound f near its own."""

    @property
    @abstractmethod
    def gaussian_square(self) -> Fraction:
        """The largest mu^2 of a Gaussian in the class."""

    @property
    def line(self) -> tuple[Fraction, Fraction] | None:
        """Return (start, slope) where D_a <= start + slope (a - 1) is stated for all a >= 1."""
        return None

    @abstractmethod
    def bound(self, order: Fraction) -> Fraction | None:
        """Return a bound of the divergence of an order, None if there is none."""

    @abstractmethod
    def joined(self, other: Pair, times: int) -> "RealLinePair | None":
        """Return self ⊗ other^times by adding bounds, None where the other has none proved."""

    @abstractmethod
    def repeated(self, times: int) -> "RealLinePair":
        """Bounds are multiplied."""

    @abstractmethod
    def admits(self, curve: Curve) -> bool:
        """Whether a curve is proved to obey the bounds."""

    @abstractmethod
    def share(self, curve: Curve) -> Interval:
        """Bracket the largest part of its bounds that a curve uses; the class has at most 1."""

    def _no_pair(self, what: str) -> UnsupportedComposition:
        return UnsupportedComposition(
            f"{what} was asked of {self}, which bounds Rényi divergences at real orders and has no "
            "pair of laws; compose it with @ and **, which add the bounds, or write the mechanism "
            "itself, such as gdp(mu)"
        )

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        raise self._no_pair("the law of the privacy loss")

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:  # noqa: ARG002
        raise self._no_pair("the cumulant at complex s")

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            inner_gaussian=lambda: self.gaussian_square,
            inner_pure=lambda: min(Fraction(float(np.min(self.fixed.loss.lower))), MOST_LOSS),
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        fixed = self.fixed
        size = np.abs(Interval.decimal(epsilon).lower)
        finite = np.isfinite(size)
        with np.errstate(all="ignore"):
            found = log_delta_above(np.where(finite, size, 1.0).ravel(), self.orders, fixed)
            upper = np.where(finite, found.reshape(epsilon.shape), -np.inf)
            # delta(-e) = 1 - e^-e + e^-e delta(e), for a symmetric class.
            mirrored = log(exp(Interval.exactly(upper) - size) - expm1(-size)).upper
        upper = np.minimum(np.where(epsilon < 0, mirrored, upper), 0.0)
        return Interval(np.minimum(LOG_DELTA.vacuous(epsilon).lower, upper), upper)

    def _epsilon(self, delta: Array) -> Interval:
        inside = (delta > 0) & (delta < 1)
        least = Interval.decimal(np.where(inside, delta, 0.5)).lower
        with np.errstate(all="ignore"):
            found = epsilon_above(least.ravel(), self.orders, self.fixed).reshape(delta.shape)
        upper = np.where(inside, found, np.where(delta >= 1, 0.0, np.inf))
        return Interval(np.zeros(delta.shape), upper)

    def _log_errors(self, alpha: Array) -> tuple[Array, Array]:
        inside = (alpha > 0) & (alpha < 1)
        at = np.minimum(Interval.decimal(np.where(inside, alpha, 0.5)).upper, 1 - 2.0**-53)
        with np.errstate(all="ignore"):
            power, miss = log_errors(at.ravel(), self.orders)
        power = np.where(inside, power.reshape(alpha.shape), np.where(alpha > 0, 0.0, -np.inf))
        return power, np.where(inside, miss.reshape(alpha.shape), np.where(alpha > 0, -np.inf, 0.0))

    def _beta(self, alpha: Array) -> Interval:
        power, miss = self._log_errors(alpha)
        lower = np.maximum((-expm1(power)).lower, exp(miss).lower)
        lower = np.where(alpha == 0, 1.0, np.where(alpha == 1, 0.0, lower))
        upper = BETA.vacuous(alpha).upper
        return Interval(np.clip(lower, 0.0, upper), upper)

    def _tpr(self, alpha: Array) -> Interval:
        power, miss = self._log_errors(alpha)
        upper = np.minimum(exp(power).upper, (-expm1(miss)).upper)
        upper = np.where(alpha == 0, 0.0, np.where(alpha == 1, 1.0, upper))
        lower = TPR.vacuous(alpha).lower
        return Interval(lower, np.clip(upper, lower, 1.0))

    def mu_with_slack(self, slack: float) -> tuple[float, float]:
        """Bound mu by the profile of the class, proved; without slack nothing is known."""
        return 0.0, least_mu(_Above(self), slack)[1] if slack > 0 else math.inf


@final
@dataclass(frozen=True, slots=True)
class _Above:
    """The upper end of a class as a profile of its own, from which candidates are taken."""

    pair: RealLinePair

    @property
    def symmetric(self) -> bool:
        return True

    def swap(self) -> "_Above":
        return self

    def delta_bracket(self, epsilon: Array) -> Interval:
        upper = self.pair.delta_bracket(epsilon).upper
        return Interval(upper, upper)

    def epsilon_bracket(self, delta: Array) -> Interval:
        upper = self.pair.epsilon_bracket(delta).upper
        return Interval(upper, upper)

    def renyi_bracket(self, order: Array) -> Interval:
        return self.pair.renyi_bracket(order)


def part_of(lower: Array | float, upper: Array | float, bound: Array | float) -> Interval:
    """Return the largest ratio to a bound, a double that means its decimal, rounded outwards."""
    parts = Interval(np.asarray(lower), np.asarray(upper)) / Interval.decimal(bound)
    return Interval(*(np.asarray(np.max(end)) for end in parts))


def line_renyi(order: Array, start: Fraction, slope: Fraction) -> Interval:
    """Bracket D_order of the class of D_a <= start + slope (a - 1), a >= 1, in both directions.

    (1 - a) D_a(Q || P) = a D_(1-a)(P || Q) <= a start answers for orders below 1.
    """
    a, mean = Interval.decimal(order), Interval.of(start)
    line = mean + (a - 1).larger(0.0) * Interval.of(slope)
    early = (a / (1 - a)).smaller(1.0) * mean
    return Interval(np.zeros(order.shape), np.where(order < 1, early.upper, line.upper))


def rounded_up(value: float) -> Fraction:
    """Return a rational that is no less than a double and the decimal that it prints as."""
    return max(exact(value, "a bound"), Fraction(value))


def within_reach(
    value: Fraction, name: str, least: Fraction = _LEAST, most: Fraction = MOST_DIVERGENCE
) -> None:
    if not least <= ordinary(value, name) <= most:
        raise InvalidParameter(
            f"{name}={text(value)} is outside [{float(least):g}, {float(most):g}]; write one "
            "in that range"
        )
