"""The composition of laws on one grid, tilted, on the window of losses that a question needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._law import LatticeLaw
from neyman.numerics._primitives import exp, expm1, log, log1p
from neyman.numerics._spectrum import convolved, spectrum

__all__ = ["Powers", "Tilt", "Window", "log_total", "lowered", "window"]

Powers = Sequence[tuple[LatticeLaw, int]]
# Where the sum of a block of decaying terms starts anew, as an exponent.
_BLOCK = 300.0
_TINY, _LEAST = 1e-300, 5e-324
# A lower bound that stands for the logarithm of 0.
_NOTHING = Interval.exactly(-690.0)
# The most that a tilt changes from one grid point to the next, in logarithms.
_STEEPEST = 100.0


@final
@dataclass(frozen=True, slots=True)
class Tilt:
    """How a composition is transformed.

    Attributes:
        tau: exponent of the tilt for one loss, positive.
        left: an exponent below tau, that bounds what lies below `low`.
        right: an exponent above tau, that bounds what lies above `high`.
        low: loss.
        high: loss.
    """

    tau: float
    left: float
    right: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Tilted masses of the sum of losses at consecutive grid points, and what lies beyond them.

    The mass at loss step * k is r_k exp(base - tilt * (k - first)).

    Attributes:
        step: of the grid.
        first: k of the first loss.
        tilt: for one step of the grid.
        base: logarithm.
        masses: of r.
        beyond: upper bound of the mass above the window, of finite loss.
        infinite: the mass of an infinite loss.
        lowered: by how much each loss lies below its grid point; negative if above.
    """

    step: float
    first: int
    tilt: float
    base: Interval
    masses: Interval
    beyond: float
    infinite: Interval
    lowered: Interval

    def logs(self, j: Array) -> Interval:
        """Return the logarithms of the factors that multiply r at the losses first + j."""
        return self.base - Interval.exactly(j) * self.tilt

    def scans(self, *, up: bool) -> tuple[Array, Array]:
        """Return, for each j, Σ_(k>=j) r_k e^(-tilt (k-j)), and the same of r_k (1 - e^(-h (k-j))).

        Only sums and products of non-negative numbers, so that the relative error is within
        2^-52 times the number of terms.
        """
        r = self.masses.upper + _TINY if up else self.masses.lower
        sums = _decayed(r, self.tilt)
        later = np.append(sums[1:], 0.0) * math.exp(-self.tilt) * -math.expm1(-self.step)
        return sums, _decayed(later, self.tilt + self.step)

    @property
    def scan_error(self) -> float:
        """Relative error of the scans."""
        return (self.masses.upper.size + 16) * 2.0**-51


def _decayed(terms: Array, rate: float) -> Array:
    """Return Σ_(k>=j) terms_k e^(-rate (k-j)) for each j."""
    size = terms.size
    block = size if rate * size <= _BLOCK else max(int(_BLOCK / rate), 1)
    fall = np.exp(-rate * np.arange(block))
    found, carry = np.empty(size), 0.0
    for end in range(size, 0, -block):
        start = max(end - block, 0)
        weight = fall[: end - start]
        part = np.cumsum((terms[start:end] * weight)[::-1])[::-1] / weight
        # The mass behind the block decays over the whole block.
        found[start:end] = part + carry * weight[::-1] * math.exp(-rate)
        carry = float(found[start])
    return found


def log_moment(law: LatticeLaw, tilt: float) -> Interval:
    """Return log Σ mass e^(tilt loss)."""
    kept = np.flatnonzero(law.masses)
    if not kept.size:
        return _NOTHING
    mass, losses = law.masses[kept], law.grid.losses[kept]
    exponents = np.log(mass) + tilt * losses
    top = float(np.max(exponents))
    # A logarithm, a product and a sum: no exponent is further off than those of the largest size.
    sizes = log(Interval.exactly(float(np.min(mass)))).smaller(0) - law.grid.farthest * abs(tilt)
    # The factor is rounded as a term is.
    factor = exp((sizes - sizes) * 2)
    return log(Interval.exactly(np.exp(exponents - top)).total() * factor) + top


def log_total(powers: Powers, tilt: float) -> Interval:
    """Return Σ n K(tilt)."""
    return _sum([log_moment(law, tilt) * n for law, n in powers])


def lowered(powers: Powers) -> Interval:
    """Return by how much the losses of a composition lie below their grid points."""
    return Interval.of(sum((n * Fraction(law.lowered) for law, n in powers), Fraction(0)))


def _sum(terms: Sequence[Interval]) -> Interval:
    return sum(terms, Interval.exactly(0.0))


def window(powers: Powers, tilt: Tilt, least: float) -> Window:
    """Compose laws on one grid.

    Args:
        powers: the laws, all of one step, and how often each is taken.
        tilt: where the composition is wanted.
        least: the smallest loss of interest.
    """
    step = powers[0][0].step
    tau = min(tilt.tau * step, _STEEPEST)
    bottom = sum(n * law.support[0] for law, n in powers)
    top = sum(n * law.support[1] for law, n in powers)
    low = max(math.floor(tilt.low / step), bottom)
    high = min(math.ceil(tilt.high / step), top)
    first = min(max(math.floor(least / step) - 1, low), high)
    length = 1 << max(high - low + 1, 1).bit_length()
    if low <= high and top < low + length:
        # Nothing is beyond, where the window can as well end with the sum.
        high = top
    kappas = [float(log_moment(law, tau / step).middle) for law, _ in powers]
    total = sum((n * Fraction(k) for (_, n), k in zip(powers, kappas, strict=True)), Fraction(0))
    above, below = (
        _chernoff(powers, other, tau, total, cell)
        for other, cell in ((tilt.right, high + 1), (tilt.left, low - 1))
    )
    # A window that ends before the sum leaves a positive mass beyond it.
    above = 0.0 if high >= top else max(above, _LEAST)
    below = 0.0 if low <= bottom else below
    masses = Interval.exactly(np.zeros(high + 1 - first))
    if all(np.any(law.masses) for law, _ in powers):
        spectra = [
            (spectrum(law.masses, law.grid.first, tau, kappa, length), n)
            for (law, n), kappa in zip(powers, kappas, strict=True)
        ]
        masses = convolved(spectra, (first, high + 1), length, above + below)
    base = Interval.of(total - Fraction(tau) * first)
    beyond = 0.0
    if above:
        log_beyond = (base - Interval.exactly(float(high - first)) * tau).smaller(700)
        beyond = max(float((exp(log_beyond) * above).upper), _LEAST)
    return Window(step, first, tau, base, masses, beyond, _infinite(powers), lowered(powers))


def _chernoff(powers: Powers, other: float, tau: float, total: Fraction, cell: int) -> float:
    """Return a bound of the tilted mass at or beyond a cell, by another tilt.

    Args:
        powers: the laws.
        other: the tilt, for one loss.
        tau: for one step of the grid.
        total: logarithm that the tilted masses are divided by.
        cell: the first one.
    """
    if not math.isfinite(other):
        return 0.0
    turned = (Interval.exactly(tau) - Interval.exactly(powers[0][0].step) * other) * cell
    return float(exp((log_total(powers, other) - total + turned).smaller(700)).upper)


def _infinite(powers: Powers) -> Interval:
    """Return the mass of an infinite loss: all that is not finite in every part."""
    sums = [
        (Interval.exactly(law.masses).total().larger(_TINY), law.infinite, n) for law, n in powers
    ]
    finite = _sum([log(mass) * n for mass, _, n in sums])
    more = _sum([log1p(Interval.exactly(infinite) / mass) * n for mass, infinite, n in sums])
    # Two formulas, of which one does not overflow.
    if more.upper < 1:
        return exp(finite) * expm1(more)
    return (exp(finite + more) - exp(finite)).larger(0)
