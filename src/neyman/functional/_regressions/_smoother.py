"""The basis of regression fits: two noisy sums of waves, and their values at nodes."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._waves import multipliers
from neyman.functional._densities._nearest import nearest_masses
from neyman.functional._regressions._pairs import COUNTED, PairChannels
from neyman.numerics import Array, ComplexArray

__all__ = ["Smoother", "Sums", "Table", "deblurred", "deviation_of"]

_NODES_A_WAVE: Final = 8
# Kernels reach so many bandwidths beyond the ends; what lies there is folded back.
_REACH: Final = 5.0
_SIGNIFICANT: Final = 4.0
_FEATURE: Final = 2.0**24
_MOST_STEPS: Final = 400
_OFTEN: Final = 10


class Sums(NamedTuple):
    """Noisy sums over records of exp(-i w_j x), j = 0 ... J, and of m exp(-i w_j x).

    m is a response in units of half the distance of its bounds, from their middle.
    """

    counts: ComplexArray
    responses: ComplexArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Public nodes of the tables of curves, and the maps from sums of waves to values there.

    Attributes:
        channels: the channels of the release.
        deviations: standard deviation of the noise of the two sums; that of the real and the
            imaginary part of term j is this over r_j.
        unit_records: most records of one unit.
        period, closed, places, weights, frequencies, shares, step, size: L; whether the domain is a
        circle; the nodes, as distances from the lower end; the share of a cell of each node; w_j;
        r_j; the distance between nodes; the number of nodes on the whole circle.
    """

    channels: PairChannels
    deviations: tuple[float, float]
    unit_records: int
    period: float
    closed: bool
    step: float
    size: int
    places: Array = field(repr=False)
    weights: Array = field(repr=False)
    frequencies: Array = field(repr=False)
    shares: Array = field(repr=False)

    @classmethod
    def of(cls, channels: PairChannels, stddev: float, unit_records: int) -> Self:
        """Return the nodes for a release with noise of this standard deviation."""
        basis = channels.responses
        period, closed = basis.period, basis.domain.closed
        size = 1 << math.ceil(math.log2(_NODES_A_WAVE * basis.highest))
        number = size if closed else size // 2 + 1
        step = period / size
        weights = np.ones(number)
        if not closed:
            weights[[0, -1]] = 0.5
        first = stddev / _FEATURE
        return cls(
            channels,
            (first, first * COUNTED / channels.steps),
            unit_records,
            period,
            closed,
            step,
            size,
            step * np.arange(number, dtype=np.float64),
            weights,
            2 * math.pi / period * np.arange(basis.highest + 1, dtype=np.float64),
            basis.amplitudes / _FEATURE,
        )

    def sums(self, integers: npt.NDArray[np.float64], records: int | None) -> Sums:
        """Return the sums with these released integers."""
        first, second = np.split(integers, [self.channels.counts.size])
        counts = self.channels.counts.transform(first)
        if records is not None:
            counts[0] = records
        responses = self.channels.responses.transform(second)
        return Sums(counts, responses * (COUNTED / self.channels.steps))

    @property
    def polynomials(self) -> Array:
        """Legendre's polynomials of degree 1, 2, 3 at the nodes, (3, nodes); on a circle none."""
        if self.closed:
            return np.empty((0, self.places.size))
        u = self.places * (4 / self.period) - 1
        return np.array([u, (3 * u**2 - 1) / 2, (5 * u**3 - 3 * u) / 2])

    def values(self, sums: ComplexArray, bandwidth: float) -> Array:
        """Return the sum of kernels at the nodes, with the tails beyond both ends folded back."""
        return self._folded(self._circle(sums, bandwidth), bandwidth)

    def masses(self, counts: ComplexArray, bandwidth: float) -> Array:
        """Return records at each node: the nearest non-negative ones, of the released number."""
        h = bandwidth
        circle, inside = self._circle(counts, h), self._inside(h)
        found = np.zeros(self.size)
        total = max(float(counts[0].real), 1.0)
        found[inside] = nearest_masses(circle[inside] * self.step, total)
        return self._folded(found, h) * self.weights

    def waves_of(self, masses: Array) -> ComplexArray:
        """Return the sums over nodes of masses exp(-i w_j x), j = 0 ... J."""
        return np.fft.rfft(masses, self.size)[: self.frequencies.size]

    def sd(self, rows: Array) -> Array:
        """Return standard deviations of linear combinations of sums, for noise of deviation 1."""
        j = self.frequencies.size - 1
        shares = np.concatenate([self.shares, self.shares[1:]])
        return np.asarray(np.sqrt(np.sum((rows[:, : 2 * j + 1] / shares) ** 2, axis=1)))

    def rows(self, bandwidth: float) -> Array:
        """Return the matrix from real and negative imaginary parts of sums to `values`.

        The shape is (nodes, 2 J + 1): j = 0 ... J, then 1 ... J.
        """
        angles = np.multiply.outer(self.places, self.frequencies)
        scale = 2 * self._kernel(bandwidth) / self.period
        scale[0] /= 2
        folded = np.zeros(self.places.size)
        if not self.closed:
            reach = _REACH * bandwidth
            folded[(self.places <= reach) | (self.places >= self.period / 2 - reach)] = 1.0
        even = np.cos(angles) * scale * (1 + folded)[:, None]
        odd = np.sin(angles[:, 1:]) * scale[1:] * (1 - folded)[:, None]
        return np.concatenate([even, odd], axis=1)

    def has_records(self, sums: Sums, bandwidth: float) -> npt.NDArray[np.bool_]:
        """Return where the density in a window of this bandwidth is four deviations above 0."""
        noise = self.deviations[0] * self.sd(self.rows(bandwidth))
        return self.values(sums.counts, bandwidth) >= _SIGNIFICANT * noise

    def parts(self, sums: ComplexArray) -> Array:
        """Return real parts and negative imaginary parts, shape (2 J + 1,)."""
        return np.concatenate([sums.real, -sums.imag[1:]])

    def _kernel(self, bandwidth: float) -> Array:
        return multipliers(self.period, self.frequencies.size - 1, bandwidth)

    def _circle(self, sums: ComplexArray, bandwidth: float) -> Array:
        terms = np.zeros(self.size // 2 + 1, np.complex128)
        terms[: sums.size] = sums * self._kernel(bandwidth)
        return np.fft.irfft(terms, self.size) * (self.size / self.period)

    def _inside(self, bandwidth: float) -> npt.NDArray[np.bool_]:
        """Return whether kernels of records reach each node of the circle."""
        if self.closed:
            return np.ones(self.size, np.bool_)
        beyond = self.step * np.arange(self.size) - self.period / 2
        reach = _REACH * bandwidth
        return (beyond <= reach) | (beyond >= self.period / 2 - reach)

    def _folded(self, circle: Array, bandwidth: float) -> Array:
        if self.closed:
            return circle
        kept = np.where(self._inside(bandwidth), circle, 0.0)
        return (kept + np.roll(kept[::-1], 1))[: self.places.size]


class Smoother(ABC):
    """A method to fit a curve to sums of waves; in units of half the distance of the bounds."""

    __slots__ = ()

    @property
    @abstractmethod
    def window(self) -> float:
        """The bandwidth of the window that must have records."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The choices of the method, for the title of a picture."""

    def known(self, table: Table, sums: Sums) -> npt.NDArray[np.bool_]:
        """Return where the number of records in the window is more than noise."""
        pilot = float(table.channels.bandwidth)
        most = float(table.channels.domain.largest_bandwidth)
        return table.has_records(sums, min(max(self.window, pilot), most))

    @abstractmethod
    def values(self, table: Table, sums: Sums) -> Array:
        """Return the curve at the nodes."""

    @abstractmethod
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        """Return the curve at the nodes, and its standard deviation there."""


def deviation_of(table: Table, values: Array, spread: Array) -> Array:
    """Return the standard deviation of a curve that has `spread` for noise 1 of the responses.

        spread(x) sqrt(s_2^2 + m(x)^2 s_1^2)

    s_1 and s_2 are the standard deviations of the noise of counts and responses.
    """
    first, second = table.deviations
    return spread * np.sqrt(second**2 + (values * first) ** 2)


def deblurred(table: Table, counts: ComplexArray) -> Array:
    """Return non-negative records at each node whose sums fit the given sums within the noise.

        chi^2 = sum_j r_j^2 |sum_g n_g exp(-i w_j x_g) - c_j|^2 / s^2 <= 2 J + 1

    It starts from the masses of a density that is blurred as much as its noise requires, and takes
    projected gradient steps with momentum until the bound holds. So it does not sharpen features
    that may be noise. Responses are not blurred: with many records and a wide domain, their
    quotient by blurred masses would be wrong by far more than the noise.

    Error: an estimate; it stops after 400 steps, even if the sums do not fit.
    Source: Beck and Teboulle, *A fast iterative shrinkage-thresholding algorithm*, SIAM Journal on
        Imaging Sciences 2009; Morozov (1966) for where to stop.
    """
    found = table.masses(counts, _least_risk(table, counts))
    precision = (table.shares / table.deviations[0]) ** 2
    if not table.channels.counted:
        # The public number of records has no noise: as exact as the best told of the others.
        precision[0] = precision[1]
    # Roots, for low waves to leave time to high ones.
    weights = np.sqrt(precision / precision.max())
    rate = 1.0 / table.size
    total = float(found.sum())
    ahead, momentum = found, 1.0
    for step in range(_MOST_STEPS):
        missing = table.waves_of(ahead) - counts
        if step % _OFTEN == 0:
            rest = table.waves_of(found) - counts
            if float(precision @ np.abs(rest) ** 2) <= 2 * counts.size - 1:
                break
        padded = np.zeros(table.size // 2 + 1, np.complex128)
        padded[: counts.size] = weights * missing
        slope = np.fft.irfft(padded, table.size)[: found.size] * table.size
        new = nearest_masses(ahead - rate * slope, total)
        after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / after * (new - found)
        found, momentum = new, after
    return found


def _least_risk(table: Table, counts: ComplexArray) -> float:
    """Return the bandwidth of least estimated error of the sums, with equal weight of all waves.

        R(h) = sum_j (l_j^2 - 2 l_j) t_j + l_j^2 v_j,   t_j = u_j (c_j^2 - v_j),
        u_j = sum_{k >= j} exp(g_k) / sum_k exp(g_k),   g_k = sum_{i <= k} (c_i^2 / v_i - 2) / 2

    For an interval, c_j are the real parts: the cosines of the interval, for which an end is not a
    jump. For a circle, they are both parts. v_j is the variance of their noise, and u_j the
    probability of signal at the frequency of j or above.

    Source: as for `functional.select_bandwidth`.
    """
    parts = 2 if table.closed else 1
    power = np.abs(counts[1:]) ** 2 if table.closed else counts[1:].real ** 2
    noise = parts * (table.deviations[0] / table.shares[1:]) ** 2
    evidence = np.cumsum(np.concatenate([[0.0], parts * (power / noise - 2) / 2]))
    chances = np.exp(evidence - evidence.max())
    sure = np.cumsum(chances[:0:-1])[::-1] / chances.sum()
    signal = sure * (power - noise)
    least = float(table.channels.bandwidth)
    doublings = math.log2(float(table.channels.domain.largest_bandwidth) / least)
    tried = least * 2 ** (np.arange(math.floor(4 * doublings) + 1) / 4)
    kept = np.exp(-0.5 * np.multiply.outer(tried, table.frequencies[1:]) ** 2)
    return float(tried[np.argmin((kept**2 - 2 * kept) @ signal + kept**2 @ noise)])
