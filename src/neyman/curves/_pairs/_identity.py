"""The pair of two equal laws."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._formulas import Summaries, Views
from neyman.curves._pairs._bounded import BoundedPair
from neyman.numerics import Array, ComplexArray, Interval
from neyman.numerics._lattice_sums._source import AtomSource, Masses
from neyman.overriding import override

__all__ = ["IdentityPair"]


@final
@dataclass(frozen=True, slots=True)
class IdentityPair(BoundedPair):
    """Id(alpha) = 1 - alpha: no test distinguishes the datasets; L = 0."""

    kind: ClassVar[str] = "identity"

    def __str__(self) -> str:
        return "identity()"

    @property
    @override
    def bound(self) -> Fraction:
        return Fraction(0)

    @override
    def loss_source(self) -> AtomSource:
        whole = Interval.exactly(np.ones(1))
        return AtomSource(Masses(whole, whole))

    @override
    def inner_delta(self, x: Interval, bound: Interval) -> Interval:  # noqa: ARG002
        return bound

    @override
    def inner_epsilon(self, delta: Interval, bound: Interval) -> Interval:  # noqa: ARG002
        return bound

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return np.zeros_like(s)

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return BoundedPair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=lambda: (0.0, 0.0),
            outer_gaussian=lambda: Fraction(0),
        )

    def _beta(self, alpha: Array) -> Interval:
        return (1 - Interval.decimal(alpha)).clip(0.0, 1.0)

    def _tpr(self, alpha: Array) -> Interval:
        return Interval(alpha, alpha)

    def _renyi(self, order: Array) -> Interval:
        return Interval.exactly(np.zeros(order.shape))
