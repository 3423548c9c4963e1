"""One-way views of a sum of losses, by the contour."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.curves._algebra._factors import Factors
from neyman.curves._pair import Tails, middles
from neyman.curves._solvers._view import left_of_zero
from neyman.numerics import (
    DELTA,
    P_ABOVE,
    Q_ABOVE,
    Array,
    Contour,
    ContourTails,
    Functional,
    Interval,
    LossLaw,
    LossSum,
    complement,
    exp_outward,
)

__all__ = ["BestTest", "ContourProfile", "contour_profile", "loss_law"]

# A bracket of larger relative width is worth another contour.
_LOOSE = 1e-7
# The end of the range of a sum exceeds the largest loss by at most this, relatively.
_TOP = 2.0**-46
# A threshold that any exponent multiplies without an overflow.
_FARTHEST = 1e100


class BestTest(NamedTuple):
    """Brackets of the threshold t with P(L > t) = alpha, of Q(L <= t) and of Q(L > t)."""

    threshold: Interval
    beta: Interval
    tpr: Interval


@final
@dataclass(frozen=True, slots=True)
class ContourProfile:
    """delta, epsilon, beta and power of the pair whose loss has this law.

    Only the right side of each law is inverted, so that every number is a sum of positive ones:
    what lies on the left of a threshold is on the right of its negative for the reversed loss.
    """

    law: LossSum

    @property
    def method(self) -> str:
        """The contour."""
        return "contour"

    def log_delta_bracket(self, epsilon: Array, enough: Array | None = None) -> Interval:
        """Bracket log delta; left of 0 by that of the reversed loss at -epsilon.

        Args:
            epsilon: any.
            enough: right of 0 there is no lower bound where delta is proved to be at most e to
                this.
        """
        lower, upper = np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
        right, left = (epsilon >= 0) & np.isfinite(epsilon), (epsilon < 0) & np.isfinite(epsilon)
        if np.any(right):
            most = None if enough is None else enough[right]
            here = self._tail(self.law, DELTA, epsilon[right], most)
            lower[right], upper[right] = here.lower, here.upper
        if np.any(left):
            back = self._tail(self.law.reversed(), DELTA, -epsilon[left])
            there = left_of_zero(Interval.exactly(epsilon[left]), back)
            lower[left], upper[left] = there.lower, there.upper
        upper = np.where(np.isposinf(epsilon), -np.inf, np.minimum(upper, 0.0))
        lower = np.where(np.isneginf(epsilon), 0.0, np.minimum(lower, upper))
        return Interval(lower, upper)

    def delta_bracket(self, epsilon: Array) -> Interval:
        """Exponential of the above."""
        return exp_outward(self.log_delta_bracket(epsilon))

    def epsilon_bracket(self, delta: Array) -> Interval:
        """Bracket the smallest epsilon >= 0 with delta(epsilon) <= delta."""
        flat = np.ravel(delta)
        lower, upper = np.zeros(flat.shape), np.zeros(flat.shape)
        # Nothing lies beyond the largest loss, and something just below it.
        most = max(self.law.range[1], 0.0)
        lower[flat == 0], upper[flat == 0] = most * (1 - _TOP), most
        inner = (flat > 0) & (flat < 1)
        if np.any(inner):
            found = ContourTails(self.law, DELTA).threshold(np.log(flat[inner]))
            upper[inner] = np.minimum(np.maximum(found.upper, 0.0), most)
            lower[inner] = np.maximum(found.lower, 0.0)
        return Interval(lower.reshape(delta.shape), upper.reshape(delta.shape))

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        """Return the middles of the brackets of all four tails."""
        back = self.law.reversed()
        return middles(
            (
                self._tail(self.law, P_ABOVE, t),
                self._tail(back, Q_ABOVE, -t),
                self._tail(self.law, Q_ABOVE, t),
                self._tail(back, P_ABOVE, -t),
            )
        )

    def p_above_bracket(self, t: Array) -> Interval:
        """P(L > t)."""
        return exp_outward(self._tail(self.law, P_ABOVE, t))

    def beta_bracket(self, alpha: Array) -> Interval:
        """Q(L <= t) where P(L > t) = alpha."""
        return self._within(alpha, 1.0, lambda test: test.beta)

    def tpr_bracket(self, alpha: Array) -> Interval:
        """Q(L > t) at the same threshold."""
        return self._within(alpha, 0.0, lambda test: test.tpr)

    @staticmethod
    def _ends(alpha: Array, at_zero: float) -> Array:
        return np.where(alpha <= 0, at_zero, 1 - at_zero)

    def _within(
        self, alpha: Array, at_zero: float, side: Callable[[BestTest], Interval]
    ) -> Interval:
        flat = np.ravel(alpha)
        lower = self._ends(flat, at_zero)
        upper, inner = lower.copy(), (flat > 0) & (flat < 1)
        if np.any(inner):
            found = side(self.best_test(flat[inner]))
            lower[inner], upper[inner] = found.lower, found.upper
        return Interval(lower.reshape(alpha.shape), upper.reshape(alpha.shape))

    def best_test(self, alpha: Array) -> BestTest:
        """Return the tests of sizes in (0, 1), one dimension.

        The line that gives t for P(L > t) gives the errors under Q as well: right of 1 the power,
        left of it the type II error.
        """
        t = Interval(np.full(alpha.shape, -np.inf), np.full(alpha.shape, np.inf))
        beta = Interval(np.zeros(alpha.shape), 1 - alpha)
        tpr = Interval(alpha.copy(), np.ones(alpha.shape))
        right = np.flatnonzero(alpha <= 0.5)
        if right.size:
            for group, line, found in ContourTails(self.law, P_ABOVE).thresholds(
                np.log(alpha[right])
            ):
                at = right[group]
                _put(t, at, found)
                if line.c > 1:
                    caught = _decreasing(line.tail(Q_ABOVE), found)
                    caught = self._finer(caught, ContourTails(self.law, Q_ABOVE), found)
                    _put(tpr, at, caught)
                    _put(beta, at, (1 - caught).clip(0.0, 1.0))
                else:
                    back = Interval(-found.upper, -found.lower)
                    missed = _decreasing(line.reversed().tail(P_ABOVE), back)
                    missed = self._finer(missed, ContourTails(self.law.reversed(), P_ABOVE), back)
                    _put(beta, at, missed)
                    _put(tpr, at, (1 - missed).clip(0.0, 1.0))
        left = np.flatnonzero(alpha > 0.5)
        if left.size:
            rest = complement(alpha[left])
            tails = ContourTails(self.law.reversed(), Q_ABOVE)
            blur = np.log(rest.upper) - np.log(np.maximum(rest.lower, 1e-300))
            for group, line, found in tails.thresholds(np.log(1 - alpha[left]), blur):
                at = left[group]
                _put(t, at, Interval(-found.upper, -found.lower))
                missed = _decreasing(line.tail(P_ABOVE), found)
                _put(beta, at, missed)
                _put(tpr, at, (1 - missed).clip(0.0, 1.0))
        return BestTest(t, beta, tpr)

    @staticmethod
    def _finer(found: Interval, tails: ContourTails, t: Interval) -> Interval:
        """Use a contour of its own where the shared one, near a pole, gives a loose bracket."""
        loose = (found.lower < found.upper * (1 - _LOOSE)) & np.isfinite(t.lower + t.upper)
        if not np.any(loose):
            return found
        low, high = tails.log_tail(t.upper[loose]).lower, tails.log_tail(t.lower[loose]).upper
        own = exp_outward(Interval(low, np.minimum(high, 0.0)))
        lower, upper = np.array(found.lower), np.array(found.upper)
        lower[loose] = np.maximum(lower[loose], own.lower)
        upper[loose] = np.minimum(upper[loose], own.upper)
        return Interval(lower, upper)

    @staticmethod
    def _tail(
        law: LossSum, functional: Functional, t: Array, enough: Array | None = None
    ) -> Interval:
        """Tails at any t, infinite ones included."""
        lower, upper = np.full(t.shape, -np.inf), np.zeros(t.shape)
        finite = np.isfinite(t)
        if np.any(finite):
            most = None if enough is None else enough[finite]
            near = np.clip(t[finite], -_FARTHEST, _FARTHEST)
            found = ContourTails(law, functional).log_tail(near, most)
            lower[finite] = np.where(t[finite] > near, -np.inf, found.lower)
            upper[finite] = np.where(t[finite] < near, 0.0, found.upper)
        upper = np.where(np.isposinf(t), -np.inf, upper)
        lower = np.where(np.isneginf(t), 0.0, lower)
        return Interval(lower, upper)


def _put(into: Interval, at: npt.NDArray[np.intp], found: Interval) -> None:
    into.lower[at], into.upper[at] = found.lower, found.upper


def _decreasing(contour: Contour, t: Interval) -> Interval:
    """Bracket a tail at a threshold that is bracketed itself."""
    finite = Interval(*(np.where(np.isfinite(side), side, 0.0) for side in t))
    low = contour.log_bracket(finite.upper).lower
    high = contour.log_bracket(finite.lower).upper
    bounds = exp_outward(Interval(np.minimum(low, 0.0), np.minimum(high, 0.0)))
    return Interval(
        np.where(np.isfinite(t.upper), bounds.lower, 0.0),
        np.where(np.isfinite(t.lower), bounds.upper, 1.0),
    )


def loss_law(parts: Factors) -> LossSum | None:
    """Return the law of the sum of the losses, where the contour can read that of each."""
    terms: list[tuple[LossLaw, float, bool]] = []
    for pair, n in parts:
        law = pair.loss_law()
        if law is None:
            return None
        terms.extend(law.times(n).terms)
    return LossSum(tuple(terms))


def contour_profile(parts: Factors) -> ContourProfile | None:
    """Return the views by the contour."""
    law = loss_law(parts)
    return None if law is None else ContourProfile(law)
