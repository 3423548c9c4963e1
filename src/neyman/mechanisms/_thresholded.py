"""Undeclared groups: noise on every count; only groups with large noisy counts are published."""

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
    """Noise on the integers of every group; groups with large noisy counts are published.

        published iff count + K >= threshold

    The noisy count is both released and used to select: it is charged once. Let f be the curve of
    the noise on groups that both tables have, w the most that one unit alone puts into a group, and
    m the most groups that contain only this unit. Then the guarantee is

        f ⊗ f_{0,delta},   delta = 1 - (1 - P(K >= threshold - w))^m,   rounded up

    Guarantee: an upper bound, proved in docs/theory/unknown_groups.md. It is not attained, because
        a unit that fills new groups moves fewer old ones.
    Source: Korolova, Kenthapadi, Mishra and Ntoulas, *Releasing search queries and clicks
        privately*, WWW 2009; Wilson et al., *Differentially private SQL with bounded user
        contribution*, PoPETs 2020 (the threshold); Dong, Roth and Su, JRSS-B 2022 (the product).

    Attributes:
        noise: on every integer.
        threshold: the least noisy count that is published, in lattice units; for a mean, whose
            count is weighted, in units of the weighted count.

    >>> from neyman.mechanisms import Laplace
    >>> rows = Sensitivity(neighbors="add_remove", l1=Fraction(1),
    ...     new_groups=NewGroups(most=1, largest=1))
    >>> noise = Thresholded.calibrate(rows, noise=Laplace(scale=1), delta=1e-6)
    >>> noise
    Thresholded(noise=Laplace(scale=Fraction(1, 1)), threshold=15)
    >>> print(noise.tradeoff(rows))
    laplace(epsilon=1) @ approx_dp(epsilon=0, delta=6.85479543193e-07)
    """

    noise: Mechanism
    threshold: int

    def __init__(self, *, noise: Mechanism, threshold: int) -> None:
        """Create the mechanism from the noise and the threshold.

        Args:
            noise: on every integer.
            threshold: the least noisy count that is published, from 2 to 2^61.

        Raises:
            InvalidParameter: if the noise already has a threshold, or the threshold is not an int
                in [2, 2^61].
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
        """Return the least threshold whose failure probability is at most `delta`.

        A failure publishes a group that contains only one unit.

        Args:
            sensitivity: of the question, or the question itself, with undeclared groups.
            noise: on every integer, calibrated to the same sensitivity.
            delta: the largest delta of f_{0,delta}, in [2^-200, 1/2).

        Raises:
            SensitivityMismatch: if the groups are declared.
            InvalidParameter: if delta is out of range, or the noise is too wide for it.
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
        """Return the delta of the formula above.

        Args:
            sensitivity: of the integers before noise, with undeclared groups.

        Raises:
            SensitivityMismatch: if the groups are declared, or one unit reaches the threshold
                without noise.
            MissingExtra: if python-flint is not installed.

        Error: rounded up to 12 digits.
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
        # Never below the given threshold.
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
    """Return m p - C(m,2) p^2 + C(m,3) p^3 or m p, both of which are at least 1 - (1 - p)^m.

    Source: Bonferroni's inequalities.
    """
    p, m = noise.law.upper_tail(threshold - new.largest), new.most
    pairs = Fraction(m * (m - 1), 2) * p**2
    closer = m * p - pairs + pairs * (m - 2) * p / 3
    upper = min(m * p, closer, Fraction(1))
    return max(Fraction(at_most(upper, _DIGITS)), _LEAST)
