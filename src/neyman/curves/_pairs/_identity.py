"""The pair of two equal laws."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._pair import Pair, Tails
from neyman.curves._pairs._bounded import BoundedPair
from neyman.numerics import ULP, Array, Bracket, ComplexArray, around, outward

__all__ = ["IdentityPair"]


@final
@dataclass(frozen=True, slots=True)
class IdentityPair(BoundedPair):
    """Id(alpha) = 1 - alpha: the datasets cannot be told apart; L = 0."""

    kind: ClassVar[str] = "identity"

    def parameters(self) -> dict[str, object]:
        """None."""
        return {}

    def __str__(self) -> str:
        return "identity()"

    @property
    def bound(self) -> Fraction:
        """0."""
        return Fraction(0)

    def middle_log_delta(self, x: Array, bound: float) -> Array:  # noqa: ARG002
        """Nothing lies between."""
        return np.full(np.shape(x), -np.inf)

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """All mass at 0."""
        above = (t <= 0) if closed else (t < 0)
        yes, no = np.where(above, 0.0, -np.inf), np.where(above, -np.inf, 0.0)
        return Tails(yes, no, yes, no)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """0."""
        return np.zeros_like(s)

    def gathered(self, factors: Sequence[tuple[Pair, int]]) -> Pair:  # noqa: ARG002
        """The unit of composition."""
        return self

    def beta_bracket(self, alpha: Array) -> Bracket:
        """1 - alpha."""
        near, error = around(alpha), np.where(alpha > 0, ULP * (1 - alpha), 0.0)
        lower = outward(1 - near.upper, error, 0.0, 1.0).lower
        return Bracket(lower, outward(1 - near.lower, error, 0.0, 1.0).upper)

    def tpr_bracket(self, alpha: Array) -> Bracket:
        """alpha, exactly."""
        return Bracket(alpha, alpha)

    def renyi_bracket(self, order: Array) -> Bracket:
        """0."""
        return Bracket(np.zeros(order.shape), np.zeros(order.shape))

    def zcdp_bracket(self) -> tuple[float, float]:
        """0."""
        return 0.0, 0.0

    def outer_gaussian(self) -> Fraction:
        """0."""
        return Fraction(0)

    def inner_pure(self) -> Fraction:
        """0."""
        return Fraction(0)

    def admits(self, curve: Curve) -> bool:
        """Only what cannot be told apart either."""
        return curve.outer_pure() == 0
