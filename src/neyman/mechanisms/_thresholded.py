"""Groups that nobody declared: noise on every count, and only large noisy counts are shown."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.arguments import check_type
from neyman.curves import TradeOff, approx_dp
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms._law import NoiseLaw, require_flint
from neyman.mechanisms._mechanism import Mechanism
from neyman.numerics import Real, at_most, exact, text
from neyman.overriding import override
from neyman.sensitivity import Asked, NewGroups, Sensitivity, sensitivity_of

__all__ = ["Thresholded"]

_LEAST: Final = Fraction(1, 2**200)
_FARTHEST: Final = 2**61
_DIGITS: Final = 12


@final
@dataclass(frozen=True, slots=True, init=False)
class Thresholded(Mechanism):
    """Noise on the integers of every group; a group is shown iff its noisy count is large enough.

        count + K >= threshold

    The count is released and selects at once: one spend. With f the curve of the noise on groups
    that both tables have, w the most that one unit alone puts into a group, m the most groups that
    it is alone in,

        f ⊗ f_{0,delta},   delta = 1 - (1 - P(K >= threshold - w))^m,   rounded up

    Guarantee: an upper bound, proved in docs/theory/unknown_groups.md; it is not attained, for a
        unit that fills new groups moves the fewer old ones.
    Source: Korolova, Kenthapadi, Mishra and Ntoulas, *Releasing search queries and clicks
        privately*, WWW 2009; Wilson et al., *Differentially private SQL with bounded user
        contribution*, PoPETs 2020 (the threshold); Dong, Roth and Su, JRSS-B 2022 (the product).

    >>> from neyman.mechanisms import Laplace
    >>> rows = Sensitivity(neighbors="add_remove", l1=Fraction(1),
    ...     new_groups=NewGroups(most=1, largest=1))
    >>> noise = Thresholded.calibrate(rows, noise=Laplace(scale=1), delta=1e-6)
    >>> noise
    Thresholded(noise=Laplace(scale=Fraction(1, 1)), threshold=15)
    >>> print(noise.tradeoff(rows))
    laplace(epsilon=1) @ approx_dp(epsilon=0, delta=6.85479543193e-07)

    Attributes:
        noise: on every integer.
        threshold: the least noisy count that is shown, in lattice units: for a mean, whose count
            is weighted, in units of the weighted count.
    """

    noise: Mechanism
    threshold: int

    def __init__(self, *, noise: Mechanism, threshold: int) -> None:
        """Take the noise and the threshold.

        Raises:
            InvalidParameter: if the noise has a threshold already, or the threshold is no int in
                [2, 2^61].
        """
        if noise.selects:
            raise InvalidParameter(f"noise={noise} has a threshold already; write one of the two")
        if type(threshold) is not int or not 2 <= threshold <= _FARTHEST:
            raise InvalidParameter(
                f"threshold must be an int from 2 to 2^61, in lattice units; got {threshold!r}"
            )
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "threshold", threshold)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity | Asked, *, noise: Mechanism, delta: Real) -> Self:
        """Return the least threshold at which a unit's own groups are shown with at most `delta`.

        Args:
            sensitivity: or the question itself, by groups that nobody declared.
            noise: on every integer, calibrated to the same sensitivity.
            delta: the most of f_{0,delta}, in [2^-200, 1/2).

        Raises:
            SensitivityMismatch: if the groups were declared.
            InvalidParameter: if delta is outside, or the noise too wide for it.
            MissingExtra: if python-flint is not installed.
        """
        sensitivity = sensitivity_of(sensitivity)
        check_type("noise", noise, Mechanism, "noise, Gaussian.calibrate(sensitivity, mu=...)")
        new, share = _new_groups(sensitivity), exact(delta, "delta")
        if not _LEAST <= share < Fraction(1, 2):
            raise InvalidParameter(
                f"delta must be in [2^-200, 1/2); got {text(share)}. Write a small one, such as "
                "1e-6"
            )
        require_flint()
        low, high = new.largest, new.largest + 1
        while _failure(noise, high, new) > share:
            low, high = high, 2 * high
            if high > _FARTHEST:
                raise InvalidParameter(
                    f"delta={text(share)} is beyond what {noise} can tell; write a larger one"
                )
        while high - low > 1:
            middle = (low + high) // 2
            small = _failure(noise, middle, new) <= share
            low, high = (low, middle) if small else (middle, high)
        return cls(noise=noise, threshold=high)

    def failure(self, sensitivity: Sensitivity) -> Fraction:
        """Return delta of the formula above: 12 digits, rounded up.

        Raises:
            SensitivityMismatch: if the groups were declared, or one unit passes the threshold
                without any noise.
            MissingExtra: if python-flint is not installed.
        """
        new = _new_groups(sensitivity)
        if self.threshold <= new.largest:
            raise SensitivityMismatch(
                f"threshold={self.threshold} is passed by one unit alone, whose rows count up to "
                f"{new.largest} in a group; write Thresholded.calibrate(sensitivity, noise=..., "
                "delta=...)"
            )
        require_flint()
        return _failure(self.noise, self.threshold, new)

    @property
    @override
    def selects(self) -> bool:
        return True

    @override
    def shown(self, counts: IntArray) -> IntArray:
        return np.flatnonzero(counts >= self.threshold)

    @property
    @override
    def law(self) -> NoiseLaw:
        return self.noise.law

    @override
    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        failing = approx_dp(0, self.failure(sensitivity))
        return self.noise.noise_tradeoff(sensitivity) @ failing

    @override
    def beside(
        self, sensitivity: Sensitivity, other: Sensitivity, share: Fraction
    ) -> tuple[Mechanism, Mechanism] | None:
        both = self.noise.beside(sensitivity, other, share)
        if both is None:
            return None
        noise, second = both
        delta = self.failure(sensitivity)
        if delta >= Fraction(1, 2):
            return None
        least = Thresholded.calibrate(sensitivity, noise=noise, delta=delta).threshold
        # Never below what was asked for.
        return Thresholded(noise=noise, threshold=max(least, self.threshold)), second

    @property
    @override
    def stddev(self) -> float:
        return self.noise.stddev

    @override
    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        return self.noise.ratio_interval(numerator, denominator, confidence)

    @override
    def describe(self) -> dict[str, object]:
        return {
            "mechanism": "thresholded",
            "noise": self.noise.describe(),
            "threshold": self.threshold,
        }


def _new_groups(sensitivity: Sensitivity) -> NewGroups:
    if sensitivity.new_groups is None:
        raise SensitivityMismatch(
            "declared groups need no threshold: all of them are shown, and they cost no delta. "
            "Write the noise alone, or leave the groups unknown: by=UnknownKeys(...)"
        )
    return sensitivity.new_groups


def _failure(noise: Mechanism, threshold: int, new: NewGroups) -> Fraction:
    """Return m p - C(m,2) p^2 + C(m,3) p^3 or m p, which are at least 1 - (1 - p)^m.

    Source: Bonferroni's inequalities.
    """
    p, m = noise.law.upper_tail(threshold - new.largest), new.most
    pairs = Fraction(m * (m - 1), 2) * p**2
    closer = m * p - pairs + pairs * (m - 2) * p / 3
    upper = min(m * p, closer, Fraction(1))
    return max(Fraction(at_most(upper, _DIGITS)), _LEAST)
