"""Pairs whose loss is bounded."""

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from neyman.curves._pair import Pair
from neyman.errors import InvalidParameter
from neyman.numerics import (
    ULP,
    Array,
    Bracket,
    around,
    normal_quantile_gap,
    standing,
    text,
)
from neyman.overriding import override

__all__ = ["TINY", "BoundedPair", "ShiftedPair", "check_epsilon"]

# Below, the square of mu is no ordinary double; above, e^-epsilon is none, nor is anyone protected.
_SMALLEST, _LARGEST = Fraction(2) ** -500, 700
# Less than a step of any double: for results that may be subnormal.
TINY = 5e-324
# Stands for log 0, to which no error can be added.
_NO_LOG = -1e300


class BoundedPair(Pair):
    """A symmetric pair with |L| <= bound, attained.

    delta(x) is 0 from the bound on and 1 - e^x up to minus the bound; a leaf gives the rest.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """The largest loss."""

    @abstractmethod
    def middle_log_delta(self, x: Array, bound: float) -> Array:
        """Return log delta at x within the bound."""

    @property
    @override
    def certified(self) -> bool:
        return True

    @property
    @override
    def symmetric(self) -> bool:
        return True

    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        """The closed form; delta increases in the bound.

        Error: 4 ULP (1 + |log delta|) of the logarithm, and one step of epsilon and of the bound,
        which matter only where the two nearly cancel.
        """
        near = around(epsilon)
        down, up = standing(self.bound)
        lower = self._log_delta(near.upper, float(around(down).lower))
        upper = self._log_delta(near.lower, float(around(up).upper))
        lower = np.where(lower > _NO_LOG, lower - 4 * ULP * (1 - lower), -np.inf)
        upper = np.where(epsilon >= up, -np.inf, upper + 4 * ULP * (1 - upper))
        return Bracket(np.where(epsilon >= down, -np.inf, lower), np.minimum(upper, 0.0))

    def _log_delta(self, x: Array, bound: float) -> Array:
        with np.errstate(divide="ignore"):
            middle = self.middle_log_delta(np.clip(x, -bound, bound), bound)
            low = np.log(-np.expm1(np.minimum(x, 0.0)))
        return np.where(x >= bound, _NO_LOG, np.where(x <= -bound, low, middle))

    @override
    def outer_pure(self) -> Fraction:
        return self.bound

    @override
    def inner_gaussian(self) -> Fraction:
        return Fraction(0)


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
    def advantage_and_complement(self, bound: float) -> tuple[float, float]:
        """Return delta(0) and 1 - delta(0)."""

    @override
    def parameters(self) -> dict[str, object]:
        return {"epsilon": str(self.bound)}

    @override
    def mu_bracket(self, slack: float) -> tuple[float, float]:
        if slack > 0:
            return super().mu_bracket(slack)
        down, up = (
            normal_quantile_gap(*self.advantage_and_complement(b)) for b in standing(self.bound)
        )
        return down * (1 - 64 * ULP), up * (1 + 64 * ULP)

    @override
    def outer_gaussian(self) -> Fraction:
        return Fraction(self.mu_bracket(0.0)[1]) ** 2


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
