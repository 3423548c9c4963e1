"""The staircase pair: noise on the integers whose probability falls by e^-epsilon at each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._formulas import Summaries
from neyman.curves._pairs._bounded import check_epsilon
from neyman.curves._pairs._lattice_pair import LatticePair
from neyman.errors import InvalidParameter
from neyman.numerics import Atoms, Interval, text
from neyman.numerics._primitives import exp, expm1
from neyman.overriding import override

__all__ = ["StaircasePair"]

_LARGEST = 2**40


@final
@dataclass(frozen=True, slots=True)
class StaircasePair(LatticePair):
    """P[k] = a e^(-epsilon n(k)), Q shifted by the sensitivity d <= period.

    n(k) counts the steps up to |k|, at width, width + period, width + 2 period, ... Two of them are
    never within d, so that the loss is -epsilon, 0 or epsilon. With b = e^-epsilon

        a  = (1 - b) / (2 width - 1 + b (2 (period - width) + 1)),
        TV = P(-d/2 < K <= d/2),
        P(L = epsilon) = TV / (e^epsilon - 1),   P(L = -epsilon) = TV / (1 - e^-epsilon),

    which is Id with probability P(L = 0) and else f_{epsilon,0}. TV grows with d.

    Source: Geng and Viswanath (2016), "The optimal noise-adding mechanism in differential privacy".
    """

    epsilon0: Fraction
    period: int
    width: int
    sensitivity: int

    kind: ClassVar[str] = "staircase"
    keys: ClassVar[Mapping[str, str]] = {"epsilon0": "epsilon"}
    mirrored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse fields that are not a staircase."""
        check_epsilon(self.epsilon0)
        whole = all(type(x) is int for x in (self.period, self.width, self.sensitivity))
        if not whole or not (
            1 <= self.width <= self.period <= _LARGEST and 1 <= self.sensitivity <= self.period
        ):
            raise InvalidParameter(
                "a staircase must have ints with 1 <= width <= period <= 2^40 and 1 <= sensitivity "
                f"<= period; got period={self.period!r}, width={self.width!r} and "
                f"sensitivity={self.sensitivity!r}. Write such ints"
            )

    def __str__(self) -> str:
        return (
            f"staircase(epsilon={text(self.epsilon0)}, period={self.period}, width={self.width}, "
            f"sensitivity={self.sensitivity})"
        )

    def atoms(self) -> Atoms:
        """Two or three, each a sum of terms of one sign."""
        bound, (still, moved) = Interval.of(self.epsilon0), self._masses()
        low = moved / -expm1(-bound)
        masses = [low, still, low * exp(-bound)]
        there = np.flatnonzero([float(mass.upper) > 0 for mass in masses])
        lower, upper = (np.asarray(ends)[there] for ends in zip(*masses, strict=True))
        log_p = np.log((lower + upper) / 2)
        wide = (upper - lower) / lower
        return Atoms(-self.epsilon0, self.epsilon0, there, log_p, log_p[::-1], np.max(wide))

    def _masses(self) -> tuple[Interval, Interval]:
        """Return P(L = 0) and TV.

        L(k) = -L(d - k), so that P(L = 0) is twice that of k > d/2, and that of d/2. There n(k) =
        n(|k - d|) for k >= d where k is width or more and at least d into its step, or below width;
        for k < d where both are below width or neither is.
        """
        d, r, whole = self.sensitivity, self.width, self.period
        bound = Interval.of(self.epsilon0)
        b, rest = exp(-bound), -expm1(-bound)
        # In units of a.
        top = max(r - d, 0) + max(min(d, r) - 1 - d // 2, 0)
        below = max(d - r - max(r - 1, d // 2), 0)
        still = (b * below + b / rest * (whole - d) + top) * 2
        if d % 2 == 0:
            still = still + (1 if d // 2 < r else b)
        high = 1 + min(d // 2, r - 1) + min((d - 1) // 2, r - 1)
        a = rest / (b * (2 * (whole - r) + 1) + (2 * r - 1))
        return a * still, a * (b * (d - high) + high)

    @override
    def summaries(self) -> Summaries:
        return LatticePair.summaries(self)._replace(outer_pure=lambda: self.epsilon0)
