"""Several noisy integers of a few numbers: the best unbiased estimates, and their noise.

Of one group let n be the number of rows, and T_v the centred total of each column v. A noisy
integer is y = h (n, T_1, ...) + noise, with noise that is independent of all other, of mean 0 and
of a known variance. Least squares weighted by the inverse variances is then, of all unbiased linear
estimates, the one of least variance (Gauss and Markov), and its covariance is known.

Intervals. An estimate is wrong by X + R: R is what noise is rounded by, and |R| is at most half the
sum of the sizes of the weights. Of X the standard deviation s is known, and |X| > t s has at most
the chance p

* of Gaussian noise: as of a normal number;
* of Laplace noise among it: t = L / sqrt(2 (1 - (1 + L) p)), L = log(1/p). X has a log-concave
  law, as have sums of such, and so has |X| a log-concave tail S: S(u) >= p^(u/t) below t, and the
  variance is the integral of 2 u S(u);
* of any other: t = 2 / (3 sqrt(p)) for p <= 1/3, for X is unimodal and symmetric (Gauss).

The last two are conservative: 2.37 and 2.98 at 95 %, in place of 1.96.

Source: Gauss (1823), *Theoria combinationis observationum*, sections 9 and 10.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.numerics import ndtri

__all__ = ["Combination", "CombinedNoise", "Known", "combined", "multiple"]

Floats = npt.NDArray[np.float64]

_LOG_CONCAVE: Final = ("gaussian", "laplace")
_UP: Final = 1 + 1e-9
_TURNS: Final = 80
_SPARE: Final = 1e-6


@final
@dataclass(frozen=True, slots=True)
class Known:
    """A noisy number.

    Attributes:
        of: what n, T_1, ... are multiplied by in it.
        variance: of its noise.
        rounded: the most that rounding moves it.
        law: what the noise is called in the ledger.
    """

    of: tuple[float, ...]
    variance: float
    rounded: float
    law: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """The best estimates of n, T_1, ... from noisy numbers.

    Attributes:
        weights: of each number in each estimate.
        covariance: of the estimates.
        rounded: the most that rounding moves each number.
        laws: of the noise.
    """

    weights: Floats
    covariance: Floats
    rounded: Floats
    laws: frozenset[str]

    def of(self, numbers: Sequence[float]) -> Floats:
        """Return the estimates."""
        return self.weights @ np.asarray(numbers, np.float64)

    def variances(self, forms: Floats) -> Floats:
        """Return the variance of each form in n, T_1, ..., a row each."""
        return np.einsum("ij,jk,ik->i", forms, self.covariance, forms)

    def noise(self, forms: Floats, step: float, off: Floats) -> "CombinedNoise":
        """Return the noise on forms in the estimates, where they were moved to other numbers.

        Args:
            forms: one or two, a row each.
            step: the first form, moved, is a whole multiple of this.
            off: the forms of the estimates, less those of what they were moved to.
        """
        covariance = forms @ self.covariance @ forms.T
        slack = np.abs(forms @ self.weights) @ self.rounded
        return CombinedNoise(covariance, slack, off, step, self.laws)


def combined(known: Sequence[Known]) -> Combination:
    """Return the best estimates; every number must be known from something."""
    forms = np.array([one.of for one in known])
    deviations = np.sqrt([one.variance for one in known])
    scaled = forms / deviations[:, None]
    sizes = np.linalg.norm(scaled, axis=0)
    inverse = np.asarray(np.linalg.pinv(scaled / sizes), np.float64) / sizes[:, None]
    return Combination(
        weights=inverse / deviations,
        covariance=inverse @ inverse.T,
        rounded=np.array([one.rounded for one in known]),
        laws=frozenset(one.law for one in known),
    )


def multiple(laws: frozenset[str], confidence: float) -> float:
    """Return how many standard deviations hold an estimate with a confidence, in (0, 1)."""
    p = 1 - confidence
    if laws <= {"gaussian"}:
        return float(ndtri(np.array(1 - p / 2))) * _UP
    gauss = 2 / (3 * math.sqrt(p)) if p <= 1 / 3 else math.sqrt(3) * confidence
    if laws <= set(_LOG_CONCAVE):
        size = -math.log(p)
        # 1 - (1 + L) e^-L, whose first terms are those of its series where L is small.
        part = size**2 / 2 * (1 - 2 * size / 3) if size < 1e-4 else 1 - (1 + size) * p
        return min(gauss, size / math.sqrt(2 * part)) * _UP
    return gauss * _UP


@final
@dataclass(frozen=True, slots=True, eq=False)
class CombinedNoise:
    """The noise on one or two integers that were combined from others.

    Attributes:
        covariance: of them.
        slack: how far rounding moves each, at most.
        off: the estimates, less the integers that are shown.
        step: of which the first integer is a multiple.
        laws: of the noise.
    """

    covariance: Floats
    slack: Floats
    off: Floats
    step: float
    laws: frozenset[str]

    @property
    def stddev(self) -> float:
        """Of the first integer."""
        return math.sqrt(float(self.covariance[0, 0]))

    @property
    def normal(self) -> bool:
        """Whether all noise is Gaussian."""
        return self.laws <= {"gaussian"}

    def half_width(self, confidence: float) -> int:
        """Return the half-width around the first integer: the true one is a multiple of a step."""
        width = multiple(self.laws, confidence) * self.stddev + float(self.slack[0])
        steps = math.floor((width + abs(float(self.off[0]))) / self.step + _SPARE)
        return round(self.step * steps)

    def ends(self, shown: int, confidence: float) -> tuple[int, int]:
        """Return the interval of the first integer, stretched to hold the one that is shown."""
        width = multiple(self.laws, confidence) * self.stddev + float(self.slack[0])
        middle, step = shown + float(self.off[0]), self.step
        low, high = (
            round(step * math.ceil((middle - width) / step - _SPARE)),
            round(step * math.floor((middle + width) / step + _SPARE)),
        )
        return min(low, shown), max(high, shown)

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Return every ratio r of which the estimates s, n do not reject that s = r n (Fieller).

        |s - r n| <= t sqrt(var(s - r n)) + slack_s + |r| slack_n
        """
        top, bottom = numerator + float(self.off[1]), denominator + float(self.off[0])
        times, (lower, upper) = multiple(self.laws, confidence), self.slack[:2]
        (nn, ns), (_, ss) = self.covariance[:2, :2]
        if bottom <= times * math.sqrt(nn) + lower:
            return -math.inf, math.inf

        def accepts(ratio: float) -> bool:
            variance = max(ss - 2 * ratio * ns + ratio**2 * nn, 0.0)
            reach = times * math.sqrt(variance) + upper + abs(ratio) * lower
            return abs(top - ratio * bottom) <= reach

        middle = top / bottom
        return tuple(_end(accepts, middle, side) for side in (-1, 1))  # pyright: ignore[reportReturnType]

    def radius(self, rank: int, size: int, confidence: float) -> float:  # noqa: ARG002
        """Return infinity: nothing is said of all integers together."""
        return math.inf


def _end(accepts: Callable[[float], bool], middle: float, side: int) -> float:
    """Return where a ratio is rejected first, going from the middle to one side, rounded outwards.

    The ratios that are not rejected are an interval around the middle.
    """
    inside, outside = 0.0, max(abs(middle), 2.0**-20)
    while accepts(middle + side * outside):
        inside, outside = outside, 2 * outside
    for _ in range(_TURNS):
        half = (inside + outside) / 2
        if half in (inside, outside):
            break
        inside, outside = (half, outside) if accepts(middle + side * half) else (inside, half)
    return middle + side * outside
