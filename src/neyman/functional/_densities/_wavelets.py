"""Wavelets: the part of a curve that is kept at some places and not at others.

The share of a wave is the same everywhere. But a narrow peak needs high frequencies, and a wide one
beside it is better without them. So the filters p of a wavelet, with sum of |p|^2 = 1, cut the
waves into octaves. Of each octave, d is kept at places where it is more than chance:

    d(x)   the sum of p_j c_j e^(i w_j x),     V(x) = v + ((k^2 * f)(x) - (k * f)(x)^2) / n
    kept   h(d) = d (1 - (r V / d^2)^4)   where d^2 > r V, else 0
    r      2 + 2 log(J) + 4 log(1 + v / s)

k is the wavelet, f the density by shares alone, J the number of wavelets of its length, v the
variance of the noise, s the sampling variance of a uniform density. The last term is for octaves of
noise, whose power can be thousands of times that of any signal: the larger the noise, the less of
it is kept by chance. The kept part goes through conjugate filters and is summed, which gives the
mean of the wavelet estimates over all origins of the lattice. Below the octaves the shares stay.

The error of the sum g is estimated without bias if sampling is Gaussian; up to a constant,

    R(g) = integral of g^2 - 2 sum over octaves of the integral of (h(d) d - V h'(d))

by Stein's identity E[e h(d)] = V E[h'(d)], where e is the error of d.
"""

import math
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._waves import even_nodes
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._nearest import Table
from neyman.numerics import Array, ComplexArray

__all__ = ["SYM6", "kept_wavelets"]

# Daubechies' least asymmetric filter of 12 taps, six vanishing moments (Daubechies 1992).
SYM6: Final = (
    0.015404109327027373,
    0.0034907120842174702,
    -0.11799011114819057,
    -0.048311742585633,
    0.4910559419267466,
    0.787641141030194,
    0.3379294217276218,
    -0.07263752278646252,
    -0.021060292512300564,
    0.04472490177066578,
    0.0017677118642428036,
    -0.007800708325034148,
)
# Octaves of fewer wavelets are left to the shares. A wavelet has hardly any of the waves beyond so
# many times its own frequency.
_FEWEST, _BEYOND = 2, 6
# Of the threshold; and how nearly what is above it is kept whole.
_MARGIN, _LOUD, _POWER = 2.0, 4.0, 4
# Nodes for each wave of the highest frequency: d^2 and k^2 have waves up to twice that.
_NODES: Final = 4
# Waves from some frequency on with less energy, in records, are left out.
_LEAST_ENERGY: Final = 0.01


def kept_wavelets(
    c: Coefficients, shares: Array, variance: Array, density: Table
) -> tuple[Array, float]:
    """Return the waves of the sum of the kept wavelets, and its risk.

    Args:
        c: the coefficients of a curve.
        shares: the shares of the waves; they apply below all octaves.
        variance: the variance of each mean, of noise and sampling.
        density: the density with these shares.

    Returns:
        The means, and their R times the length, up to the same constant as for shares.

    Source: Donoho and Johnstone, *Adapting to unknown smoothness via wavelet shrinkage*, Journal of
        the American Statistical Association 1995; Coifman and Donoho, *Translation-invariant
        de-noising*, 1995; Stein, *Estimation of the mean of a multivariate normal distribution*,
        Annals of Statistics 1981.
    """
    curve = _Curve.of(c, density)
    low, octaves = _octaves(curve.phasors.size)
    power = (low**2)[curve.numbers]
    means = power * shares * np.real(c.values)
    gain = float((c.weight * power * shares * (np.real(c.values) ** 2 - variance)).sum())
    for filters, number in octaves:
        kept, more = curve.kept(filters, number)
        gain += more
        means += np.where(curve.sines, -kept.imag[curve.numbers], kept.real[curve.numbers])
    means[0] = 1.0
    energy = c.weight * means**2
    beyond = np.cumsum(np.bincount(curve.numbers, energy)[::-1])[::-1][curve.numbers]
    seen = (beyond * c.count >= _LEAST_ENERGY) | (curve.numbers == 0)
    return np.where(seen, means, 0.0), float(energy.sum()) - 2 * gain


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """The waves of a curve, with cosine and sine of a frequency combined.

    Attributes:
        density: the density with the shares.
        numbers: the number j of the frequency of each wave.
        sines: whether each wave is a sine.
        phasors: c_0, c_1, ..., the complex coefficients of e^(i w_j x).
        noise: the part of each frequency in the variance of the curve.
        even: the same for the sampling of a uniform density.
        volume: the length over which the waves are orthogonal.
        count: n, the number of records.
    """

    density: Table
    numbers: npt.NDArray[np.int64]
    sines: npt.NDArray[np.bool_]
    phasors: ComplexArray
    noise: Array
    even: Array
    volume: float
    count: float

    @classmethod
    def of(cls, c: Coefficients, density: Table) -> Self:
        """Combine the waves of each frequency."""
        closed, size = c.sides[0].closed, c.values.size
        cosines = (size + 1) // 2 if closed else size
        rows = np.arange(size)
        sines = rows >= cosines
        numbers = np.where(sines, rows - cosines + 1, rows)
        values = np.real(c.values)
        phasors = values[:cosines].astype(np.complex128)
        phasors[1:] -= 1j * values[cosines:] if closed else 0.0
        parts = c.weight**2 / (2 * c.volume**2)
        noise, even = (
            np.asarray(np.bincount(numbers, parts * each), np.float64)
            for each in (c.noise, np.full(size, 1 / (2 * c.count)))
        )
        return cls(density, numbers, sines, phasors, noise, even, c.volume, c.count)

    def kept(self, filters: ComplexArray, number: float) -> tuple[ComplexArray, float]:
        """Return the kept part of an octave as phasors, and the integral of h(d) d - V h'(d).

        Args:
            filters: p, for frequencies from 0 on.
            number: J, the number of wavelets.
        """
        found, power = np.zeros(self.phasors.size, np.complex128), np.abs(filters) ** 2
        noise, even = (float(power @ part[: power.size]) for part in (self.noise, self.even))
        rate = _MARGIN + 2 * math.log(number) + _LOUD * math.log1p(noise / even)
        nodes = even_nodes(_NODES * (filters.size - 1))
        octave = _on_nodes(filters * self.phasors[: filters.size], nodes) / self.volume
        square = octave**2
        if float(square.max()) <= rate * noise:
            return found, 0.0
        spread = noise + self._sampling(_on_nodes(filters, nodes) / self.volume)
        part = np.divide(rate * spread, square, out=np.ones(nodes), where=square > rate * spread)
        chance = part**_POWER
        kept = octave * (1 - chance)
        slope = np.where(part < 1, 1 + (2 * _POWER - 1) * chance, 0.0)
        back = np.fft.rfft(kept)[: filters.size] * (self.volume / nodes)
        found[: filters.size] = np.conj(filters) * back
        gain = float((kept * octave - spread * slope).mean())
        return found, self.volume**2 * gain

    def _sampling(self, kernel: Array) -> Array:
        """Return the variance of the mean of a kernel over the records, at its nodes.

        For an interval the nodes continue beyond its upper end with the mirror image.
        """
        (side,), nodes = self.density.sides, kernel.size
        below, cells = self.density.below, nodes if side.closed else nodes // 2
        # A node has what is nearer to it than to others, however narrow a peak may be.
        edges = np.concatenate([[0.0], (np.arange(cells) + 0.5) / cells, [1.0]])
        masses = np.diff(np.interp(edges, np.linspace(0.0, 1.0, below.size), below))
        masses[0] += masses[-1] if side.closed else masses[0]
        masses[-1] *= 2
        masses = masses[:-1] if side.closed else np.concatenate([masses, masses[-2:0:-1]]) / 2
        spectrum = np.fft.rfft(masses)
        square, mean = (
            np.fft.irfft(np.fft.rfft(weights) * spectrum, nodes) for weights in (kernel**2, kernel)
        )
        # A mirrored kernel is twice that of the line, at half of the records.
        square /= 1 if side.closed else 2
        return np.asarray(np.maximum(square - mean**2, 0.0) / self.count)


def _octaves(cosines: int) -> tuple[Array, list[tuple[ComplexArray, float]]]:
    """Return the filter below all octaves, and the filter of each octave with its wavelets."""
    taps = np.array(SYM6) / math.sqrt(2)
    pair = np.stack([taps, taps[::-1] * (-1.0) ** np.arange(taps.size)], axis=1)
    turn = np.exp(-1j * math.pi * np.arange(cosines) / max(cosines - 1, 1))
    low, number = np.ones(cosines, np.complex128), float(cosines - 1)
    found: list[tuple[ComplexArray, float]] = []
    while number > _FEWEST:
        kept = math.ceil(_BEYOND * number) + 1
        low, turn = low[:kept], turn[:kept]
        lower, higher = (np.vander(turn, taps.size, increasing=True) @ pair).T
        found.append((low * higher, number))
        low, turn, number = low * lower, turn**2, number / 2
    return np.concatenate([np.abs(low), np.zeros(cosines - low.size)]), found


def _on_nodes(terms: ComplexArray, nodes: int) -> Array:
    """Return c_0 + 2 sum of the real parts of c_j e^(i w_j x) at the nodes of the circle."""
    return nodes * np.fft.irfft(terms, nodes)
