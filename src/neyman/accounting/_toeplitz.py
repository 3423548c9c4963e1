"""Strategies that treat all steps alike: each step has the same coefficients."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.accounting._correlated_noise import CorrelatedNoise, Row, counted
from neyman.accounting._participation import Participation, shifted, toeplitz
from neyman.accounting._series import error_of
from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["BufferedStrategy", "ToeplitzStrategy", "banded_strategy", "square_root_strategy"]

_MOST_STEPS, _MOST_BUFFERS = 2**20, 32


@dataclass(frozen=True, slots=True, eq=False)
class _Shifts(CorrelatedNoise):
    """C_(t,s) = c_(t-s), lower triangular."""

    @property
    @abstractmethod
    def coefficients(self) -> Array:
        """c_0, c_1, ..., one for each step; none is below the exact value."""

    @property
    @override
    def bands(self) -> int:
        return int(np.max(np.flatnonzero(self.coefficients))) + 1

    @property
    def matrix(self) -> Array:
        """C as a matrix, steps x steps."""
        return toeplitz(self.coefficients)

    @override
    def sensitivity_squared(self, participation: Participation) -> Fraction:
        found = participation.largest_of_shifts(self.coefficients)
        return Fraction(found) * (1 + Fraction(2 * self.steps + 8, 2**52))

    @override
    def column_sum(self, pattern: range) -> Array:
        return shifted(self.coefficients, pattern)

    @override
    def error(self) -> tuple[float, float]:
        return error_of(self.coefficients)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ToeplitzStrategy(_Shifts):
    """C_(t,s) = c_(t-s): exactly the doubles in `coefficients`.

    Args:
        coefficients: c_0 > 0, then non-negative ones, one for each step.

    Raises:
        InvalidParameter: if they are not like this, or if a non-zero one is outside [2^-100,
            2^100].

    >>> from neyman.accounting import MinimumSeparation
    >>> twice = MinimumSeparation(separation=2, times=2)
    >>> float(ToeplitzStrategy([1, 0.5, 0, 0]).sensitivity_squared(twice)) < 2.5001
    True
    """

    _coefficients: Array

    def __init__(self, coefficients: Sequence[float] | Array) -> None:
        """Take a read-only copy, and refuse coefficients that are not a strategy."""
        first: Array = np.array(coefficients, dtype=np.float64)
        if first.ndim != 1 or not 1 <= first.size <= _MOST_STEPS:
            raise InvalidParameter(
                f"coefficients must be 1 to {_MOST_STEPS} numbers; got shape {first.shape}"
            )
        inside = (first == 0) | ((first >= 2.0**-100) & (first <= 2.0**100))
        if not first[0] > 0 or not np.all(inside):
            raise InvalidParameter(
                "the first coefficient must be positive and none negative, in [2^-100, 2^100] "
                "where they are not 0; scale them"
            )
        first.flags.writeable = False
        object.__setattr__(self, "_coefficients", first)

    @property
    @override
    def steps(self) -> int:
        return self._coefficients.size

    @property
    @override
    def coefficients(self) -> Array:
        return self._coefficients

    @override
    def correlated(self, noise: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of C^-1 Z; keeps one row fewer than there are bands."""
        first = self._coefficients[: self.bands].tolist()
        past: list[Row] = []
        for fresh in counted(noise, self.steps):
            row = fresh
            for weight, earlier in zip(first[1:], past, strict=False):
                row = row - earlier * weight
            row = row * (1 / first[0])
            past = [row, *past][: len(first) - 1]
            yield row


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BufferedStrategy(_Shifts):
    """c_0 = 1, c_k = sum over i of weight_i decay_i^(k-1): a buffered linear Toeplitz matrix.

    Its noise needs one buffer with the shape of a gradient for each weight, for any number of
    steps.

    Attributes:
        length: steps.
        weights: non-negative, with a sum of at most 1, so that coefficients decrease.
        decays: as many as weights, in [0, 1).

    Guarantee: weights and decays are exactly the doubles; the coefficients are rounded up.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: McMahan, Xu and Zhang (2024), "A hassle-free algorithm for strong differential privacy
        in federated learning systems"; Dvijotham, McMahan, Pillutla, Steinke and Thakurta (2024).

    >>> BufferedStrategy(length=4, weights=(0.5,), decays=(0.75,)).coefficients.round(6).tolist()
    [1.0, 0.5, 0.375, 0.28125]
    """

    length: int
    weights: tuple[float, ...]
    decays: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse parameters whose coefficients do not decrease."""
        whole("length", self.length, 1, _MOST_STEPS)
        weights, decays = tuple(map(float, self.weights)), tuple(map(float, self.decays))
        if not 1 <= len(weights) == len(decays) <= _MOST_BUFFERS:
            raise InvalidParameter(
                f"there must be as many weights as decays, 1 to {_MOST_BUFFERS}; got "
                f"{len(weights)} and {len(decays)}"
            )
        falls = all(w >= 0 for w in weights) and sum(map(Fraction, weights)) <= 1
        if not falls or not all(0 <= decay < 1 for decay in decays):
            raise InvalidParameter(
                "weights must be at least 0 with a sum of at most 1, and decays in [0, 1): the "
                "sensitivity of several participations is known for coefficients that fall"
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "decays", decays)

    @property
    @override
    def steps(self) -> int:
        return self.length

    @property
    @override
    def coefficients(self) -> Array:
        found = np.ones(self.length)
        powers = np.tile(np.asarray(self.decays), (max(self.length - 1, 1), 1))
        powers[0] = self.weights
        # Sums and products of k + buffers positive terms err, relatively, by (k + buffers) 2^-53.
        terms = np.cumprod(powers, axis=0).sum(axis=1)[: self.length - 1]
        count = np.arange(self.length - 1) + len(self.weights) + 4
        found[1:] = terms * (1 + count * 2.0**-52) + 2.0**-900
        return np.minimum.accumulate(found)

    @override
    def correlated(self, noise: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of C^-1 Z; keeps one buffer for each weight."""
        buffers: list[Row] = []
        for fresh in counted(noise, self.length):
            row = fresh
            for weight, buffer in zip(self.weights, buffers, strict=False):
                row = row - buffer * weight
            pairs = zip(self.decays, buffers, strict=False)
            buffers = [buffer * decay + row for decay, buffer in pairs] or [row] * len(self.decays)
            yield row


def _square_root(steps: int) -> Array:
    """Return the coefficients of (1 - x)^(-1/2): c_0 = 1, c_k = c_(k-1) (2k - 1) / (2k)."""
    whole("steps", steps, 1, _MOST_STEPS)
    k = np.arange(1, steps, dtype=np.float64)
    return np.append(1.0, np.cumprod((2 * k - 1) / (2 * k)))


def square_root_strategy(steps: int) -> ToeplitzStrategy:
    """Return the square root of the prefix sums: Toeplitz, coefficients of (1 - x)^(-1/2).

    Args:
        steps: from 1 to 2^20.

    Raises:
        InvalidParameter: if `steps` is out of range.

    Source: Henzinger, Upadhyay and Upadhyay (2023), "Almost tight error bounds on differentially
        private continual counting"; Fichtenberger, Henzinger and Upadhyay (2023).

    >>> square_root_strategy(4).coefficients.tolist()
    [1.0, 0.5, 0.375, 0.3125]
    >>> worst, average = square_root_strategy(256).error()
    >>> f"{worst:.4f}"
    '1.6826'
    """
    return ToeplitzStrategy(_square_root(steps))


def banded_strategy(steps: int, bands: int) -> ToeplitzStrategy:
    """Return the square root of the prefix sums, cut off after its first bands.

    Steps that are at least `bands` apart share no measurement.

    Args:
        steps: from 1 to 2^20.
        bands: from 1 to `steps`.

    Raises:
        InvalidParameter: if a size is out of range.

    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta and Xu (2023); Kalinin and
        Lampert (2024), "Banded square root matrix factorization".

    >>> banded_strategy(4, 1).matrix.tolist() == np.eye(4).tolist()
    True
    """
    first = _square_root(steps)
    whole("bands", bands, 1, steps)
    first[bands:] = 0
    return ToeplitzStrategy(first)
