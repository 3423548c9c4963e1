"""Targets: the weights of errors at each frequency, by the later use of the function."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast, final

import numpy as np

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import number
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = ["Cumulative", "Density", "Octaves", "Scales", "Target", "Weights", "target_of"]


class Target(ABC):
    """Public weights q_j of the errors at frequencies j = 0, 1, ... of the circle.

    The budget is divided to minimise the sum over j of (q_j error_j)^2, among all noise of the same
    privacy that is independent between frequencies. So the features of frequency j are scaled by
    r_j, with r_j^2 proportional to lambda_j q_j (Cauchy and Schwarz).
    """

    __slots__ = ()

    kind: ClassVar[str]

    @abstractmethod
    def weights(self, frequencies: Array, bandwidth: float) -> Array:
        """Return q_0, q_1, ..., positive, up to a common factor.

        Args:
            frequencies: w_j = 2 pi j / L for j = 0, 1, ...
            bandwidth: h, the bandwidth of the release.
        """

    def radial(self, scaled: Array, dimensions: int) -> Array:  # noqa: ARG002
        """Return the weights of the waves of a box, which depend on |h w| only.

        Args:
            scaled: |h w|, the root of the sum of (h_k w_k)^2 over the axes; 0 for the count.
            dimensions: d, the number of sides.

        Raises:
            InvalidParameter: if the target is for curves only.
        """
        raise InvalidParameter(
            f"a target in {dimensions} dimensions must be Density() or Scales(); got "
            f"kind {self.kind!r}"
        )

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        return {"kind": self.kind}


@final
@dataclass(frozen=True, slots=True)
class Density(Target):
    """The target of the curve itself: q_j = 1 from j = 1 on, and q_0 = 3^d.

    An error in the count n scales the curve. A relative error e adds e (1/L - f), with root mean
    square e sqrt(L R - 1) / L over the circle, where R is the integral of f^2. L R is not known.
    With q_0 = 3, the sum of both errors is within some per cent of the least for L R from 3 to 20.
    """

    kind: ClassVar[str] = "density"

    @override
    def weights(self, frequencies: Array, bandwidth: float) -> Array:
        return self.radial(frequencies * bandwidth, 1)

    @override
    def radial(self, scaled: Array, dimensions: int) -> Array:
        return np.where(scaled == 0, 3.0**dimensions, 1.0)


@final
@dataclass(frozen=True, slots=True)
class Cumulative(Target):
    """The target of integrals of the curve, such as the distribution function: q_j = sqrt(2) / w_j.

    Integration divides the term of angular frequency w_j = 2 pi j / L by w_j. The value 0 at the
    lower end adds a constant of the same size. The term j = 0 is a ramp with root mean square q_0 =
    L / sqrt(3).
    """

    kind: ClassVar[str] = "cumulative"

    @override
    def weights(
        self,
        frequencies: Array,
        bandwidth: float,  # noqa: ARG002
    ) -> Array:
        step = frequencies[1]
        ramp = 2 * np.pi / (np.sqrt(3) * step)
        return np.concatenate([[ramp], np.sqrt(2) / frequencies[1:]])


@final
@dataclass(frozen=True, slots=True)
class Scales(Target):
    """The target of the curve at 1, 2, 4 or 8 times the bandwidth of the release, together.

    The covariance of the noise is the mean of the four optimal ones. So at each of the four
    bandwidths the noise is at most twice that of a release for this bandwidth alone. Measured on an
    interval:

        bandwidth, times h           1      2      4      8      16
        noise, times the least       1.4    1.1    1.1    1.3    1.8
        the same under Density()     1      1.2    1.7    2.4    3.4

    In 2 dimensions it is 1.6, 1.25, 1.2, 1.5, 2.6 against 1, 1.5, 2.9, 5.7, 11; in 3, 1.7, 1.4,
    1.35, 1.6, 3.4 against 1, 1.9, 4.9, 13, 38.

        q_j = sum_k exp(-(w_j h)^2 (k^2 - 1) / 2) k^d,   k = 1, 2, 4, 8
    """

    kind: ClassVar[str] = "scales"

    @override
    def weights(self, frequencies: Array, bandwidth: float) -> Array:
        return self.radial(frequencies * bandwidth, 1)

    @override
    def radial(self, scaled: Array, dimensions: int) -> Array:
        return _shared(scaled, dimensions, 4)


@final
@dataclass(frozen=True, slots=True)
class Octaves(Target):
    """`Scales` with another number: the curve at 1, 2, 4, ..., 2^(number - 1) times h.

    The covariance of the noise is the mean of the optimal ones. So at each bandwidth the variance
    of the noise is at most `number` times that of a release for this bandwidth alone. Use more than
    four for curves that may be nearly straight.

    Attributes:
        number: number of bandwidths, from 1 to 12.
    """

    kind: ClassVar[str] = "octaves"

    number: int

    def __post_init__(self) -> None:
        """Check the number.

        Raises:
            InvalidParameter: if it is not a whole number from 1 to 12.
        """
        _ = whole("number", self.number, 1, 12)

    @override
    def weights(self, frequencies: Array, bandwidth: float) -> Array:
        return self.radial(frequencies * bandwidth, 1)

    @override
    def radial(self, scaled: Array, dimensions: int) -> Array:
        return _shared(scaled, dimensions, self.number)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "number": self.number}


def _shared(scaled: Array, dimensions: int, number: int) -> Array:
    """Return the weights for this number of scales, each twice the one before."""
    half = scaled**2 / 2
    with np.errstate(under="ignore"):
        each = (2**power for power in range(number))
        return np.asarray(sum(k**dimensions * np.exp(-half * (k * k - 1)) for k in each))


@final
@dataclass(frozen=True, slots=True, init=False)
class Weights(Target):
    """The target with weights q_j that you choose; only their ratios count.

    Give one number for each of the first frequencies j = 0, 1, ... The last number is also the
    weight of all higher frequencies.

    Attributes:
        first: q_0, q_1, ..., exact and positive.
    """

    kind: ClassVar[str] = "weights"

    first: tuple[Fraction, ...]

    def __init__(self, *first: Real) -> None:
        """Take at least one number.

        Raises:
            InvalidParameter: if there is no number, one is not positive, or the largest is more
                than 10^6 times the smallest.
        """
        given = tuple(exact(q, "a weight of first") for q in first)
        if not given or min(given) <= 0 or max(given) > 10**6 * min(given):
            raise InvalidParameter(
                f"weights must be positive and within a factor of 10^6; got {first}"
            )
        object.__setattr__(self, "first", given)

    @override
    def weights(
        self,
        frequencies: Array,
        bandwidth: float,  # noqa: ARG002
    ) -> Array:
        given = [float(q / self.first[-1]) for q in self.first[: len(frequencies)]]
        return np.concatenate([given, np.ones(len(frequencies) - len(given))])

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "first": [text(q) for q in self.first]}


def target_of(record: Mapping[str, object]) -> Target:
    """Return the target that `record` wrote.

    Raises:
        InvalidParameter: if its kind is unknown.
        KeyError, TypeError, ValueError: if the record is malformed.
    """
    if record["kind"] == Weights.kind:
        return Weights(*(number(q) for q in cast("list[object]", record["first"])))
    if record["kind"] == Octaves.kind:
        return Octaves(cast("int", record["number"]))
    for target in (Density(), Cumulative(), Scales()):
        if record == target.record():
            return target
    raise InvalidParameter(f"a target of kind {record['kind']!r} is unknown")
