"""Curves written outside of the package, as docs/contributing/curve.md says."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves import Leaf, LossTails, TradeOff
from neyman.numerics import Interval, asinh, atan, exp, expm1


@final
@dataclass(frozen=True, slots=True)
class Gumbel(Leaf):
    """f(alpha) = (1 - alpha)^k, k = e^shift: the loss has no lower end."""

    shift: Fraction

    kind: ClassVar[str] = "tests.gumbel"

    @property
    def reach(self):
        return -math.inf, float(Interval.of(self.shift).upper)

    def tails(self, t):
        shift = Interval.of(self.shift)
        log_u = ((Interval.exactly(t) - shift) / expm1(shift)).smaller(0.0)
        log_q = exp(shift) * log_u
        return LossTails(-expm1(log_u), -expm1(log_q), exp(log_u), exp(log_q))


@final
@dataclass(frozen=True, slots=True)
class Cauchy(Leaf):
    """Noise with a heavy tail, shifted by d: the loss is bounded by 2 asinh(d/2)."""

    shift: Fraction

    kind: ClassVar[str] = "tests.cauchy"
    mirrored: ClassVar[bool] = True

    @property
    def reach(self):
        most = float((2 * asinh(Interval.of(self.shift) / 2)).upper)
        return -most, most

    def tails(self, t):
        p, q = self.right(np.abs(t))
        right = t >= 0
        return LossTails(
            Interval.where(right, p, 1 - q),
            Interval.where(right, q, 1 - p),
            Interval.where(right, 1 - p, q),
            Interval.where(right, 1 - q, p),
        )

    def right(self, t):
        """Return both tails above t >= 0: angles between the roots of a quadratic."""
        d, odds = Interval.of(self.shift), expm1(Interval.exactly(np.minimum(t, self.reach[1])))
        gap = 2 * ((1 + odds) * d.squared() - odds.squared()).larger(0.0).sqrt()
        half = 2 * atan(1.0)

        def probability(run):
            acute, blunt = atan(gap / run.larger(5e-324)), half - atan(run / gap.larger(5e-324))
            return Interval.where(run.lower > 0, acute, blunt) / (2 * half)

        inside = Interval.exactly((t < self.reach[1]) * 1.0)
        return (
            probability(2 * odds + (1 + odds) * d.squared()) * inside,
            probability(2 * odds - d.squared()) * inside,
        )


def gumbel(shift):
    """Return the guarantee of both directions."""
    leaf = Gumbel(Fraction(shift))
    return TradeOff(leaf, leaf.swap())


def cauchy(shift):
    """Return the guarantee, which is symmetric."""
    leaf = Cauchy(Fraction(shift))
    return TradeOff(leaf, leaf)
