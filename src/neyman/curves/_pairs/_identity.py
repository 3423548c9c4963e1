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
from neyman.overriding import override

__all__ = ["IdentityPair"]


@final
@dataclass(frozen=True, slots=True)
class IdentityPair(BoundedPair):
    """Id(alpha) = 1 - alpha: the datasets cannot be told apart; L = 0."""

    kind: ClassVar[str] = "identity"

    @override
    def parameters(self) -> dict[str, object]:
        return {}

    def __str__(self) -> str:
        return "identity()"

    @property
    @override
    def bound(self) -> Fraction:
        return Fraction(0)

    @override
    def middle_log_delta(self, x: Array, bound: float) -> Array:  # noqa: ARG002
        return np.full(np.shape(x), -np.inf)

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        above = (t <= 0) if closed else (t < 0)
        yes, no = np.where(above, 0.0, -np.inf), np.where(above, -np.inf, 0.0)
        return Tails(yes, no, yes, no)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return np.zeros_like(s)

    @override
    def gathered(self, factors: Sequence[tuple[Pair, int]]) -> Pair:  # noqa: ARG002
        return self

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        near, error = around(alpha), np.where(alpha > 0, ULP * (1 - alpha), 0.0)
        lower = outward(1 - near.upper, error, 0.0, 1.0).lower
        return Bracket(lower, outward(1 - near.lower, error, 0.0, 1.0).upper)

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        return Bracket(alpha, alpha)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        return Bracket(np.zeros(order.shape), np.zeros(order.shape))

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        return 0.0, 0.0

    @override
    def outer_gaussian(self) -> Fraction:
        return Fraction(0)

    @override
    def inner_pure(self) -> Fraction:
        return Fraction(0)

    @override
    def admits(self, curve: Curve) -> bool:
        return curve.outer_pure() == 0
