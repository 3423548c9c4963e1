"""The interface of a mechanism: public noise on exact integers, with its trade-off function."""

import math
from abc import ABC, abstractmethod
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource
from neyman.mechanisms._law import NoiseLaw, require_flint
from neyman.mechanisms._radius import squares_radius
from neyman.mechanisms._ratio import box_interval
from neyman.numerics import Real, exact
from neyman.sensitivity import Sensitivity

__all__ = ["Mechanism", "check_confidence", "check_scale"]

_SMALLEST: Final = Fraction(1, 8)
_LARGEST: Final = Fraction(2**40)
_SIX_DIGITS: Final = Context(prec=6)


class Mechanism(ABC):
    """Adds independent noise K to every integer; K is an integer, symmetric and drawn exactly.

    K is the integer nearest to a continuous X, or has a law on the integers. In the first case v +
    round(X) = round(v + X) for an integer v. So the release is post-processing of the continuous
    mechanism, and exactly as private as its formula. A mechanism knows the scale of its noise, in
    lattice units, and never a target epsilon.

    A new mechanism defines its law and the properties that follow from it. This class draws the
    noise.

    Source: Mironov, *On significance of the least significant bits for differential privacy*, CCS
        2012 (why floats leak); Dong, Roth and Su, *Gaussian differential privacy*, JRSS-B 2022,
        Proposition 4 (post-processing).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def law(self) -> NoiseLaw:
        """The law of |K|, in lattice units."""

    @property
    def selects(self) -> bool:
        """Whether it publishes only some groups, as an answer for unknown groups requires."""
        return False

    def shown(self, counts: IntArray) -> IntArray:
        """Return the indices of the groups to publish: here all of them.

        Args:
            counts: the noisy counts of the groups, shape (groups,).
        """
        return np.arange(counts.size)

    @abstractmethod
    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return the exact trade-off function of one release of a vector.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if the norm that this noise needs is not bounded.
        """

    @final
    def tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return the trade-off function of one release; exact if groups are declared.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if the norm that this noise needs is not bounded, if the groups are
                not declared and the noise has no threshold, or if they are declared and it has one.
        """
        if sensitivity.new_groups is not None and not self.selects:
            raise SensitivityMismatch(
                "undeclared groups need a threshold in addition to the noise: a group in the "
                "answer reveals that someone is in it. Write Thresholded.calibrate("
                "sensitivity, noise=..., delta=...), or declare the groups: by=Keys({...})"
            )
        if sensitivity.new_groups is None and self.selects:
            raise SensitivityMismatch(
                "declared groups need no threshold: all of them are shown, and they cost no delta. "
                "Write the noise alone"
            )
        return self.noise_tradeoff(sensitivity)

    def beside(
        self,
        sensitivity: Sensitivity,  # noqa: ARG002
        other: Sensitivity,  # noqa: ARG002
        share: Fraction,  # noqa: ARG002
    ) -> "tuple[Mechanism, Mechanism] | None":
        """Return noises for two questions that together cost what this noise costs for the first.

        Args:
            sensitivity: of the first question, for which this noise was calibrated.
            other: of the second question.
            share: in (0, 1), the share of the budget for the second question: of mu^2, rho or
                epsilon.

        Returns:
            The noise for the first question, wider than this one, and that for the second; None if
                this noise cannot be divided.
        """
        return None

    @property
    @abstractmethod
    def stddev(self) -> float:
        """Standard deviation of K, rounding included, in lattice units; relative error 1e-12."""

    @property
    def normal(self) -> bool:
        """Whether K is a rounded Gaussian, so that sums of it are normal up to rounding."""
        return False

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Return every s/n that the noisy pair does not reject, as one interval.

            {rho : |numerator - rho denominator| <= H(rho)}

        By default these are the ratios in the box where each of the two integers has confidence 1 -
        (1 - confidence)/2; a law may have a smaller set.

        Args:
            numerator: s plus noise, in lattice units.
            denominator: n plus noise, in the same units.
            confidence: in (0, 1), the probability that the interval contains s/n.

        Returns:
            The two ends; both infinite if the denominator is not significantly positive.

        Error: rounded outwards, so the coverage is never below `confidence`.
        Source: Fieller, *Some problems in interval estimation*, JRSS-B 1954.
        """
        check_confidence(confidence)
        each = math.nextafter(1 - (1 - confidence) / 2, 1)
        return box_interval(numerator, denominator, self.half_width(each))

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """Return an R with P(|P (K_1, ..., K_size)| <= R) >= confidence.

        P is any orthogonal projection of this rank that is fixed before the noise is drawn, and |.|
        is the Euclidean norm. So all linear forms of the noise in a known subspace of `rank`
        dimensions are bounded at once, each by R times the norm of its coefficients. By default R
        bounds the norm of all `size` numbers; a law may have a smaller one.

        Args:
            rank: of the projection, from 1 to `size`.
            size: how many independent K.
            confidence: in (0, 1).

        Error: never too small; for general laws about 2 % too large.
        Source: Scheffé, *A method for judging all contrasts in the analysis of variance*,
            Biometrika 1953.
        """
        check_confidence(confidence)
        _check_rank(rank, size)
        return squares_radius(self.half_width, size, confidence)

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record for JSON: the name of the law and its exact parameter."""

    @final
    def half_width(self, confidence: float) -> int:
        """Return the smallest integer h with P(|K| <= h) >= confidence.

        Args:
            confidence: in (0, 1).

        Error: never too small; one too large if float64 cannot decide.
        """
        check_confidence(confidence)
        return self.law.half_width(confidence)

    @final
    def require_sampler(self) -> None:
        """Refuse if noise cannot be drawn here; call this before anything is charged.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the operating system's random bits are visibly not random.
        """
        require_flint()
        OPERATING_SYSTEM.require_fair()

    @final
    def add_noise(self, values: IntArray, source: BitSource = OPERATING_SYSTEM) -> IntArray:
        """Return `values` plus independent exactly rounded noise.

        Args:
            values: int64, any shape, in lattice units. You guarantee |values| <= 2^62, so that no
                sum overflows. It is not checked here, because private data would then decide
                whether an error is raised.
            source: of fair bits.

        Returns:
            int64 of the same shape.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the bits are visibly not random.
            InvalidParameter: if `values` is not an int64 array.

        Guarantee: for inputs within `sensitivity` of each other the outputs satisfy
            `tradeoff(sensitivity)` exactly, if the bits are fair. A rounded law also needs a
            float64 inverse whose error is below the band of `_rounded`. That error is measured
            against ball arithmetic (at 10^6 points, with a margin of 8), not proved; a tabled law
            does not need it. Time is outside the guarantee. Blocks of a fixed size are drawn, but
            one draw in 2^10 (a tail) takes another word, and a rare one (about 2^-44 scale of them)
            is decided in ball arithmetic. So the time depends a little on the noise. Do not let
            readers of the release time it precisely.
        """
        require_flint()
        if values.dtype != np.int64:
            raise InvalidParameter(
                f"values must be int64 on a public integer grid; got {values.dtype}. "
                "The last bits of floats reveal what the noise was added to"
            )
        return values + self.law.draw(values.size, source).reshape(values.shape)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence outside (0, 1)."""
    if not 0 < confidence < 1:
        raise InvalidParameter(
            f"confidence={confidence!r} is not a probability; "
            "write a number strictly between 0 and 1, such as 0.95"
        )


def _check_rank(rank: int, size: int) -> None:
    if not 1 <= rank <= size:
        raise InvalidParameter(
            f"the rank of a projection must be from 1 to the number of values, {size}; got {rank}"
        )


def check_scale(squared: Fraction, name: str, **asked: Real | None) -> None:
    """Refuse a noise scale outside [2^-3, 2^40] lattice units.

    Args:
        squared: square of the scale, in squared lattice units.
        name: of the mechanism, for the message.
        asked: the arguments that the scale was computed from, by name; None for those not given.

    Raises:
        InvalidParameter: if the scale is out of range.
    """
    if not _SMALLEST**2 <= squared <= _LARGEST**2:
        finer = squared < _SMALLEST**2
        given = [f"{k}={_shown(exact(v, k))}" for k, v in asked.items() if v is not None]
        raise InvalidParameter(
            f"the scale of {name} noise must be from 2^-3 to 2^40 lattice units (up to 2^28 for "
            f"full speed); got about {_shown(squared, root=True)}"
            f"{' from ' * bool(given)}{', '.join(given)}. "
            + (
                "Declare a finer grid or spend a smaller budget"
                if finer
                else "Declare a coarser grid or spend a larger budget"
            )
        )


def _shown(value: Fraction, *, root: bool = False) -> str:
    """Return a positive number, or its root, with six digits; it may be outside the doubles."""
    number = _SIX_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{(_SIX_DIGITS.sqrt(number) if root else number).normalize(_SIX_DIGITS):g}"
