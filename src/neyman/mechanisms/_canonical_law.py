# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Canonical noise rounded to the integers: by formula, or from the proved brackets of a curve."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, final

import numpy as np

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.mechanisms._canonical_steps import Steps
from neyman.mechanisms._folded import FloatArray, FoldedLaw
from neyman.mechanisms._law import ball
from neyman.mechanisms._tabled import TabledLaw
from neyman.numerics import Array, Interval
from neyman.overriding import override

__all__ = ["FoldedCanonical", "TabledCanonical", "bracketed"]

if TYPE_CHECKING:
    from flint import arb

# Above this period, in lattice units, moments are extrapolated.
_SUMMED: Final = 64
_GRID: Final = 1 << 12
_MOST: Final = 1 << 16
_CUT: Final = 2.0**-44
_FAR: Final = 1e-6


@final
@dataclass(frozen=True, slots=True)
class FoldedCanonical(FoldedLaw):
    """t_j = 2 G((j + 1/2) / period), G the upper tail of the canonical noise."""

    steps: Steps
    period: int

    @property
    @override
    def scale(self) -> float:
        return self.period / self.steps.gap

    @property
    def distance(self) -> float:
        """0, because this is the canonical noise."""
        return 0.0

    @override
    def magnitude(self, upper: FloatArray) -> FloatArray:
        n, g = self.steps.inverse(upper / 2)
        return np.maximum(n * self.steps.gap + (0.5 - g), 0.0)

    @override
    def tail(self, j: int) -> "arb":
        place = Fraction(2 * j + 1, 2 * self.period)
        n = math.floor(place + Fraction(1, 2))
        u = place - n
        g = ball(Fraction(1, 2)) - self.steps.exact_gap() * ball(u)
        return 2 * (self.steps.iterate(g, n, low=u >= 0) if n else g)

    def second_moment(self) -> float:
        """Return E K^2, a sum over the integers; a long period is extrapolated from two shorter.

        E K^2 = v period^2 + w + O(1/period^2), where v and w depend on whether the period is odd.
        """
        if self.period <= _SUMMED or self.scale <= _GRID:
            return self._summed(self.period)
        short = max(_SUMMED // 2, round(_GRID * self.steps.gap))
        short += (short - self.period) % 2
        long = 2 * short + self.period % 2
        first, second = self._summed(short), self._summed(long)
        v = (second - first) / (long**2 - short**2)
        return v * self.period**2 + (first - v * short**2)

    def _summed(self, period: int) -> float:
        """Return the sum of (2j + 1) t_j, block by block."""
        least = -(period // 2)
        i = np.arange(least, least + period, dtype=np.int64)
        g = 0.5 - self.steps.gap * ((2 * i + 1) / (2 * period))
        first = i >= 0
        total = float(np.sum((2 * i[first] + 1) * 2 * g[first]))
        n = 0
        while True:
            n += 1
            block = float(np.sum((2 * (n * period + i) + 1) * 2 * self.steps.forward(g, n)))
            total += block
            if block <= 1e-17 * total:
                return total


@final
@dataclass(frozen=True, slots=True, eq=False)
class TabledCanonical(TabledLaw):
    """A law with exactly these doubles as tails, at a known distance from the canonical one.

    Attributes:
        doubles: t_0 >= t_1 >= ... >= 0, exactly.
        distance: a bound of the total variation between K and the rounded canonical noise.
    """

    doubles: Array
    distance: float

    @override
    def tail(self, j: int) -> "arb":
        from flint import arb

        return arb(float(self.doubles[j])) if j < self.doubles.size else arb(0)

    @override
    def tails(self) -> "Iterator[arb]":
        for j in range(self.doubles.size + 1):
            yield self.tail(j)

    @override
    def approximate_tails(self) -> Array:
        return self.doubles

    def second_moment(self) -> float:
        """Return the sum of (2j + 1) t_j."""
        return float(np.sum((2 * np.arange(self.doubles.size) + 1) * self.doubles))


def bracketed(curve: TradeOff, period: int) -> TabledCanonical:
    """Return a law within a known distance of the canonical noise of a certified symmetric curve.

    G(x) = f(1 - G(x - 1)) for x above 1/2, from the brackets of f. f is flatter than -1 there, so
    errors do not grow. The tails are between the brackets, and

        TV <= sum over j of |t_j - the canonical one| + the mass beyond the table.

    Raises:
        InvalidParameter: if the table would have more than 2^16 entries, or if the brackets of f
            are so wide that the distance may be above 1e-6.
    """
    advantage = curve.delta_bracket(np.zeros(()))
    i = np.arange(-(period // 2), -(period // 2) + period, dtype=np.int64)
    u = (2 * i + 1) / (2 * period)
    ends = [0.5 - a * u for a in (float(advantage.lower), float(advantage.upper))]
    block = Interval(np.minimum(*ends) - 2.0**-52, np.maximum(*ends) + 2.0**-52)
    blocks = [Interval(block.lower[i >= 0], block.upper[i >= 0])]
    while blocks[-1].upper.size == 0 or blocks[-1].upper[-1] > _CUT:
        if sum(part.lower.size for part in blocks) + period > _MOST:
            raise InvalidParameter(
                f"the table of canonical noise must have at most {_MOST} entries; {curve} with "
                f"period={period} takes more. Write a coarser grid or a larger budget"
            )
        low, high = 1 - block.upper - 2.0**-53, 1 - block.lower + 2.0**-53
        block = Interval(
            np.maximum(curve.beta_bracket(np.minimum(high, 1.0)).lower, 0.0),
            curve.beta_bracket(np.clip(low, 0.0, 1.0)).upper,
        )
        blocks.append(block)
    lower = 2 * np.concatenate([part.lower for part in blocks])
    upper = 2 * np.concatenate([part.upper for part in blocks])
    tails = np.minimum.accumulate(np.clip((lower + upper) / 2, 0.0, 1.0))
    error = np.maximum(tails - lower, upper - tails)
    distance = float((np.sum(error) + upper[-1]) * (1 + 2.0**-30))
    if distance > _FAR:
        raise InvalidParameter(
            f"canonical noise needs tighter brackets: those of {curve} with period={period} leave "
            f"a distance of {distance:.1e}. Write a curve with tighter brackets, or a coarser grid"
        )
    return TabledCanonical(tails, distance)
