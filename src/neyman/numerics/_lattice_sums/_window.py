"""The composition of laws on one grid, tilted, on the window of losses that a question needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._lattice_sums._law import LatticeLaw
from neyman.numerics._spectrum import convolved, spectrum

__all__ = ["Powers", "Tilt", "Window", "log_moment", "log_total", "window"]

Powers = Sequence[tuple[LatticeLaw, int]]
# Where the sum of a block of decaying terms starts anew, as an exponent.
_BLOCK = 300.0
_TINY, _NOTHING, _LEAST = 1e-300, -690.0, 5e-324
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
        masses: bracket of r.
        beyond: upper bound of the mass above the window, of finite loss.
        infinite: bracket of the mass of an infinite loss.
        lowered: by how much each loss lies below its grid point; negative if above.
    """

    step: float
    first: int
    tilt: float
    base: float
    masses: Bracket
    beyond: float
    infinite: Bracket
    lowered: float

    @property
    def base_error(self) -> float:
        """Bound of the error of the logarithms of all masses."""
        return ULP * (4 + abs(self.base) + self.tilt * self.masses.upper.size)

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
        # What comes after the block is further from its first element than from its last.
        found[start:end] = part + carry * weight[::-1] * math.exp(-rate)
        carry = float(found[start])
    return found


def log_moment(law: LatticeLaw, tilt: Array) -> Array:
    """Return log Σ mass e^(tilt loss) for an array of exponents."""
    with np.errstate(divide="ignore"):
        log = np.log(law.masses)
    kept = np.flatnonzero(np.isfinite(log))
    if not kept.size:
        return np.full(tilt.shape, _NOTHING)
    log, losses = log[kept], law.grid.losses[kept]
    exponents = log + np.multiply.outer(tilt, losses)
    top = np.max(exponents, axis=-1)
    return top + np.log(np.sum(np.exp(exponents - top[..., None]), axis=-1))


def log_total(powers: Powers, tilt: float) -> tuple[float, float]:
    """Return Σ n K(tilt), and a bound of its error."""
    logs = [(n, float(log_moment(law, np.asarray(tilt)))) for law, n in powers]
    total = math.fsum(n * log for n, log in logs)
    error = math.fsum(
        n * ULP * (8 + abs(log) + abs(tilt) * law.grid.size)
        for (law, n), (_, log) in zip(powers, logs, strict=True)
    )
    return total, error


def window(powers: Powers, tilt: Tilt, least: float) -> Window:
    """Compose laws on one grid.

    Args:
        powers: the laws, all of one step, and how often each is taken.
        tilt: where the composition is wanted.
        least: the smallest loss that is asked for.
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
    kappas = [float(log_moment(law, np.asarray(tau / step))) for law, _ in powers]
    total = sum((n * Fraction(k) for (_, n), k in zip(powers, kappas, strict=True)), Fraction(0))
    above = _chernoff(powers, tilt.right, tau / step, float(total), high + 1, step)
    below = _chernoff(powers, tilt.left, tau / step, float(total), low - 1, step)
    # Something is beyond a window that ends before the sum, be it too little for doubles.
    above = 0.0 if high >= top else max(above, _LEAST)
    below = 0.0 if low <= bottom else below
    nothing = np.zeros(high + 1 - first)
    masses = Bracket(nothing, nothing)
    if all(np.any(law.masses) for law, _ in powers):
        spectra = [
            (spectrum(law.masses, law.grid.first, tau, kappa, length), n)
            for (law, n), kappa in zip(powers, kappas, strict=True)
        ]
        masses = convolved(spectra, (first, high + 1), length, above + below)
    base = float(total - Fraction(tau) * first)
    beyond = above * math.exp(min(base - tau * (high - first), 700.0))
    beyond = max(beyond, _LEAST) if above else 0.0
    infinite = _infinite(powers)
    lowered = math.fsum(n * law.lowered for law, n in powers) * (1 + ULP)
    return Window(step, first, tau, base, masses, beyond * (1 + 1e-12), infinite, lowered)


def _chernoff(
    powers: Powers, other: float, tau: float, total: float, cell: int, step: float
) -> float:
    """Return a bound of the tilted mass at or beyond a cell, by another tilt."""
    if not math.isfinite(other):
        return 0.0
    found, error = log_total(powers, other)
    _, mine = log_total(powers, tau)
    log = found - total - (other - tau) * cell * step
    turned = (abs(other) + abs(tau)) * abs(cell) * step
    slack = error + mine + ULP * (4 + abs(found) + abs(total) + turned)
    return math.exp(min(log + slack, 700.0))


def _infinite(powers: Powers) -> Bracket:
    """Return the mass of an infinite loss: all that is not finite in every part."""
    sums = [(n, max(float(np.sum(law.masses)), _TINY), law.infinite) for law, n in powers]
    finite = math.fsum(n * math.log(mass) for n, mass, _ in sums)
    more = math.fsum(n * math.log1p(infinite / mass) for n, mass, infinite in sums)
    # In two ways, of which one does not overflow.
    value = math.exp(finite) * math.expm1(more) if more < 1 else math.exp(finite + more)
    value = value - math.exp(finite) if more >= 1 else value
    # A sum by pairs is within some hundred roundings.
    room = (
        ULP * (8 + abs(finite) + abs(more)) * math.e + 200 * sum(n for n, _, _ in sums) * 2.0**-53
    )
    return Bracket(np.asarray(value * max(1 - room, 0.0)), np.asarray(value * (1 + room)))
