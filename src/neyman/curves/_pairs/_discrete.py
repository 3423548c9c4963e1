"""Pairs of discrete laws: discrete Gaussian, discrete Laplace, and any finite table."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._formulas import Summaries
from neyman.curves._pair import Pair
from neyman.curves._pairs._lattice_pair import LatticePair
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Atoms,
    ComplexArray,
    Interval,
    ordinary,
    standing,
    text,
)
from neyman.numerics._atomic._atomic_sums import atom_cumulant
from neyman.numerics._distributions._theta import log_theta_ratio, theta_error
from neyman.numerics._primitives import log, log1p
from neyman.overriding import override

__all__ = [
    "DiscreteGaussianPair",
    "DiscreteLaplacePair",
    "DiscretePair",
]

# Less than any double, in logarithms.
_FAR = 770.0
_MOST_ATOMS = 2**17
# The rounding of a shift.
_FLAT = 2.0**-52


@final
@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(LatticePair):
    """P[k] proportional to exp(-k^2 / (2 sigma^2)) on the integers, Q shifted by the sensitivity.

    K(s) = s (s - 1) Delta^2 / (2 sigma^2) + log theta(s Delta) - log theta(0),
    theta(z) = sum over k of exp(-(k - z)^2 / (2 sigma^2)). Not 1/sigma-GDP: the smallest mu at
    sensitivity 1 is 2 Phi^-1((1 + P[0]) / 2), about (1 + 1/(24 sigma^2)) / sigma.

    Source: Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy".
    """

    sigma_squared: Fraction
    sensitivity: int

    kind: ClassVar[str] = "discrete_gaussian"
    mirrored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what a table cannot hold."""
        _check_sensitivity(self.sensitivity)
        if not Fraction(1, 10**4) <= self.sigma_squared <= 10**6:
            raise InvalidParameter(
                f"sigma^2={text(self.sigma_squared)} is outside [1e-4, 1e6]; from sigma = 1000 on "
                "the discrete Gaussian is a Gaussian to eight digits: write a finer or coarser grid"
            )
        if self.sensitivity**2 > 700 * self.sigma_squared:
            raise InvalidParameter(
                f"sensitivity={self.sensitivity} is more than 26 sigma, which protects nobody; "
                "write more noise"
            )

    def __str__(self) -> str:
        square = self.sigma_squared
        root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        sigma = text(root) if root**2 == square else f"sqrt({text(square)})"
        return f"discrete_gaussian(sigma={sigma}, sensitivity={self.sensitivity})"

    @override
    def atoms(self) -> Atoms:
        square = float(self.sigma_squared)
        reach = math.ceil(math.sqrt(2 * square * _FAR)) + 1
        k = np.arange(-reach, reach + self.sensitivity + 1, dtype=np.int64)
        shape = -(k.astype(np.float64) ** 2) / (2 * square)
        other = -((k - self.sensitivity).astype(np.float64) ** 2) / (2 * square)
        # A sum of masses of one sign; what is left out is beyond the doubles.
        log_total = math.log(float(np.sum(np.exp(shape))))
        unit = self.sensitivity / self.sigma_squared
        return Atoms(
            -unit * self.sensitivity / 2,
            unit,
            k,
            shape - log_total,
            other - log_total,
            log_lost_p=-_FAR + 8,
            log_lost_q=-_FAR + 8,
        )

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        square = float(self.sigma_squared)
        if square < _WIDE:
            return atom_cumulant(self.atoms(), s)
        quadratic = s * (s - 1) * (self.sensitivity**2 / (2 * square))
        return quadratic + log_theta_ratio(s * self.sensitivity, square)

    @override
    def summaries(self) -> Summaries:
        return LatticePair.summaries(self)._replace(
            renyi=self._renyi,
            zcdp=lambda: standing(Fraction(self.sensitivity**2) / (2 * self.sigma_squared)),
        )

    def _renyi(self, order: Array) -> Interval:
        near = Interval.decimal(order)
        down, up = (self._renyi_at(np.asarray(x)) for x in (near.lower, near.upper))
        return Interval(down.lower, up.upper)

    def _renyi_at(self, order: Array) -> Interval:
        square = float(self.sigma_squared)
        finite = np.where(np.isfinite(order), order, 2.0)
        line = Interval.exactly(finite) * (Fraction(self.sensitivity**2) / (2 * self.sigma_squared))
        c = np.where(finite == 1, 1.0, finite - 1)
        # theta has period 1: at order 1 + c it is read at c.
        theta = log_theta_ratio((c * self.sensitivity).astype(np.complex128), square).real
        # It is flat at 0, its logarithm at least -(c Delta)^2 / (2 sigma^2).
        taken = np.where(finite == 1, 0.0, theta / c)
        relative, absolute = theta_error(square)
        # c Delta is rounded, and theta so flat that the line holds a tenth of that.
        found = line + Interval.within(taken, relative, absolute / np.abs(c) + line.upper * _FLAT)
        return Interval.where(np.isposinf(order), Interval.exactly(np.inf), found.larger(0))


@final
@dataclass(frozen=True, slots=True)
class DiscreteLaplacePair(LatticePair):
    """P[k] proportional to exp(-a |k|) on the integers, Q shifted by the sensitivity.

    The loss a (|k| - |k - Delta|) has Delta + 1 atoms, from -a Delta to a Delta.

    Source: Ghosh, Roughgarden and Sundararajan (2009), the geometric mechanism.
    """

    a: Fraction
    sensitivity: int

    kind: ClassVar[str] = "discrete_laplace"
    mirrored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what doubles cannot work with."""
        _check_sensitivity(self.sensitivity)
        if not Fraction(1, 2**500) <= self.a * self.sensitivity <= 700:
            raise InvalidParameter(
                f"epsilon * sensitivity={text(self.a * self.sensitivity)} is outside "
                "[2^-500, 700]; write a value in that range"
            )

    def __str__(self) -> str:
        return f"discrete_laplace(epsilon={text(self.a)}, sensitivity={self.sensitivity})"

    @override
    def atoms(self) -> Atoms:
        rate, top = float(self.a), self.sensitivity
        steps = np.arange(top + 1, dtype=np.int64)
        # P(X = k) = tanh(a/2) e^{-a|k|}, and P(X >= k) = e^{-a k} / (1 + e^{-a}) for k >= 1.
        log_p: Array = math.log(math.tanh(rate / 2)) - rate * steps.astype(np.float64)
        log_p[0] = -math.log1p(math.exp(-rate))
        log_p[-1] = -rate * top - math.log1p(math.exp(-rate))
        return Atoms(-self.a * top, 2 * self.a, steps, log_p, np.flip(log_p))

    @override
    def summaries(self) -> Summaries:
        return LatticePair.summaries(self)._replace(outer_pure=lambda: self.a * self.sensitivity)


@final
@dataclass(frozen=True, slots=True)
class DiscretePair(LatticePair):
    """Two laws on the same finitely many outcomes, given exactly.

    Attributes:
        p: probabilities under P, adding up to 1.
        q: probabilities under Q.
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    kind: ClassVar[str] = "discrete"

    def __post_init__(self) -> None:
        """Refuse fields that are not a pair of laws."""
        if len(self.p) != len(self.q) or not 0 < len(self.p) <= _MOST_ATOMS:
            raise InvalidParameter(
                f"p has {len(self.p)} outcomes and q has {len(self.q)}; write as many "
                f"probabilities for each, at least 1 and at most {_MOST_ATOMS}"
            )
        for name, law in (("p", self.p), ("q", self.q)):
            if min(law) < 0 or sum(law, Fraction(0)) != 1:
                raise InvalidParameter(
                    f"{name} adds up to {text(sum(law, Fraction(0)))}, its least entry is "
                    f"{text(min(law))}; write non-negative probabilities that add up to exactly 1, "
                    "as Fractions where decimals do not"
                )
        for mass in (*self.p, *self.q):
            if mass:
                ordinary(mass, "a probability")

    def __str__(self) -> str:
        return f"discrete of {len(self.p)} outcomes"

    def _ratios(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Return (q/p, p, q) of the outcomes that both laws have, equal ratios added together."""
        masses: dict[Fraction, tuple[Fraction, Fraction]] = {}
        for p, q in zip(self.p, self.q, strict=True):
            if p and q:
                old = masses.get(q / p, (Fraction(0), Fraction(0)))
                masses[q / p] = (old[0] + p, old[1] + q)
        return [(ratio, *masses[ratio]) for ratio in sorted(masses)]

    @override
    def swap(self) -> Pair:
        turned = [(1 / ratio, q, p) for ratio, p, q in reversed(self._ratios())]
        alone = self._only(self.p, self.q), self._only(self.q, self.p)
        same = turned == self._ratios() and alone[0] == alone[1]
        return self if same else DiscretePair(self.q, self.p)

    @staticmethod
    def _only(first: tuple[Fraction, ...], second: tuple[Fraction, ...]) -> Fraction:
        return sum((a for a, b in zip(first, second, strict=True) if not b), Fraction(0))

    @override
    def atoms(self) -> Atoms:
        ratios = self._ratios()
        losses = np.array([_log(ratio) for ratio, _, _ in ratios])
        top = float(np.max(np.abs(losses), initial=0.0))
        exponent = math.frexp(top)[1] - 52 if top else 0
        unit = Fraction(2) ** exponent
        steps = np.array([round(Fraction(loss) / unit) for loss in losses], dtype=np.int64)
        # Ratios that are one double apart stay different.
        steps = np.maximum.accumulate(steps - np.arange(steps.size)) + np.arange(steps.size)
        return Atoms(
            Fraction(0),
            unit,
            steps,
            np.array([_log(p) for _, p, _ in ratios]),
            np.array([_log(q) for _, _, q in ratios]),
            place_error=(steps.size + 8) * float(unit) if top else 0.0,
            log_only_q=_log(self._only(self.q, self.p)),
            log_only_p=_log(self._only(self.p, self.q)),
        )

    @override
    def summaries(self) -> Summaries:
        return LatticePair.summaries(self)._replace(outer_pure=self._outer_pure)

    def _outer_pure(self) -> Fraction | None:
        if self._only(self.p, self.q) or self._only(self.q, self.p):
            return None
        ratios = self._ratios()
        most = max(ratios[-1][0], 1 / ratios[0][0])
        if most < 2:
            return Fraction(float(log1p(Interval.of(most - 1)).upper)) if most > 1 else Fraction(0)
        # A ratio can be beyond the doubles.
        shift = most.numerator.bit_length() - most.denominator.bit_length()
        bound = log(Interval.of(most / Fraction(2) ** shift)) + log(2.0) * shift
        return Fraction(float(bound.upper))


def _log(value: Fraction) -> float:
    """Return log of a rational in [0, 2^2000]; relative error within 2^-50, next to 1 too."""
    if value == 0:
        return -math.inf
    if Fraction(1, 2) < value < 2:
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)


def _check_sensitivity(sensitivity: object) -> None:
    if type(sensitivity) is not int or not 1 <= sensitivity <= _MOST_ATOMS:
        raise InvalidParameter(
            f"sensitivity must be an int from 1 to {_MOST_ATOMS}; got {sensitivity!r}. "
            "Write for example 1"
        )


# sigma^2 from which Poisson's sum is used.
_WIDE = 0.25
