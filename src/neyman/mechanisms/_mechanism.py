"""What a mechanism is: public noise on exact integers, with its trade-off function."""

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
    """Adds to every integer independent noise K on the integers, symmetric and drawn exactly.

    K is the integer nearest to a continuous X, or lives on the integers by itself. In the first
    case v + round(X) = round(v + X) for an integer v, so the release is post-processing of the
    continuous mechanism and exactly as private as its formula. A mechanism knows the scale of its
    noise, in lattice units, and never a target epsilon.

    A new one gives its law and what the law implies; the drawing is done here.

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
        """Whether it shows only some of the groups: what an answer of unknown groups needs."""
        return False

    def shown(self, counts: IntArray) -> IntArray:
        """Return the places of the groups that are shown, by their noisy counts: all of them."""
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
        """Return the trade-off function of one release: exact where groups are declared.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if the norm that this noise needs is not bounded, if noise without
                a threshold is to answer for groups that nobody declared, or a threshold for
                declared ones.
        """
        if sensitivity.new_groups is not None and not self.selects:
            raise SensitivityMismatch(
                "groups that nobody declared need a threshold beside the noise: a group in the "
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
        """Return noises for two questions that together cost what this one alone costs the first.

        Args:
            sensitivity: of the first question, for which this noise was made.
            other: of the second.
            share: in (0, 1), what the second one takes of the budget: of mu^2, rho or epsilon.

        Returns:
            The noise of the first, wider than this, and that of the second; None where this noise
            cannot be divided.
        """
        return None

    @property
    @abstractmethod
    def stddev(self) -> float:
        """Standard deviation of K, rounding included, in lattice units; relative error 1e-12."""

    @property
    def normal(self) -> bool:
        """Whether K is a rounded Gaussian, so that sums of it are normal but for rounding."""
        return False

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Return every s/n that the noisy pair does not reject, as one interval.

            {rho : |numerator - rho denominator| <= H(rho)}

        Unless a law knows better, the ratios of the box where each of the two integers has
        confidence 1 - (1 - confidence)/2.

        Args:
            numerator: s plus noise, in lattice units.
            denominator: n plus noise, in the same units.
            confidence: in (0, 1), that the interval holds s/n.

        Returns:
            The two ends; both infinite where the denominator is not significantly positive.

        Error: rounded outwards, so the coverage is never below `confidence`.
        Source: Fieller, *Some problems in interval estimation*, JRSS-B 1954.
        """
        check_confidence(confidence)
        each = math.nextafter(1 - (1 - confidence) / 2, 1)
        return box_interval(numerator, denominator, self.half_width(each))

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """Return an R with P(|P (K_1, ..., K_size)| <= R) >= confidence.

        P is any orthogonal projection of this rank that is fixed before the noise is drawn, and
        |.| the Euclidean norm. So all linear forms of the noise within a known subspace of `rank`
        dimensions are bounded at once, each by R times the norm of its coefficients. Unless a law
        knows better, the norm of all `size` numbers.

        Args:
            rank: of the projection, from 1 to `size`.
            size: how many independent K.
            confidence: in (0, 1).

        Error: never too small; for laws in general some 2 % too large.
        Source: Scheffé, *A method for judging all contrasts in the analysis of variance*,
            Biometrika 1953.
        """
        check_confidence(confidence)
        _check_rank(rank, size)
        return squares_radius(self.half_width, size, confidence)

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the public record, JSON-able: the name of the law and its exact parameter."""

    @final
    def half_width(self, confidence: float) -> int:
        """Return the smallest integer h with P(|K| <= h) >= confidence.

        Args:
            confidence: in (0, 1).

        Error: never too small; one too large where float64 cannot tell.
        """
        check_confidence(confidence)
        return self.law.half_width(confidence)

    @final
    def require_sampler(self) -> None:
        """Raise unless noise can be drawn here; call it before anything is charged.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the operating system's random bits are visibly none.
        """
        require_flint()
        OPERATING_SYSTEM.require_fair()

    @final
    def add_noise(self, values: IntArray, source: BitSource = OPERATING_SYSTEM) -> IntArray:
        """Return `values` plus independent exactly rounded noise.

        Args:
            values: int64, any shape, lattice units. The caller guarantees |values| <= 2^62, so
                that no sum overflows: a check here would let private data decide whether an error
                is raised.
            source: of fair bits.

        Returns:
            int64 of the same shape.

        Raises:
            MissingExtra: if python-flint is not installed.
            BrokenRandomness: if the bits are visibly none.
            InvalidParameter: if `values` is not an int64 array.

        Guarantee: for inputs within `sensitivity` of each other the outputs satisfy
            `tradeoff(sensitivity)`, exactly, if the bits are fair and, for a rounded law, the
            float64 inverse errs by less than the band of `_rounded`. That error is measured
            against ball arithmetic (at 10^6 points, with a margin of 8 to spare), not proved; a
            tabled law needs no such thing. Time is outside the guarantee:
            blocks of a fixed size are drawn, but one draw in 2^10 (a tail) takes another word and
            a rare one (about 2^-44 scale of them) is decided in ball arithmetic, so the time
            depends a little on the noise. Do not let who reads the release time it finely.
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
        asked: what it was made of, by the names of the arguments; None for those not given.
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
    """Write a positive number, or its root, to six digits; doubles do not reach all of them."""
    number = _SIX_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{(_SIX_DIGITS.sqrt(number) if root else number).normalize(_SIX_DIGITS):g}"
