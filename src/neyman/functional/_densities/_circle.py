"""One circle of a release: its waves in terms of those of the domain, and the window between."""

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._domain import Side
from neyman.functional._bases._waves import Lattice, Waves, multipliers
from neyman.numerics import Array, ComplexArray

__all__ = [
    "LEAST_MULTIPLIER",
    "CircleWaves",
    "Means",
    "circles_of",
    "on_circle",
    "whole_on_circle",
    "window_of",
]

Means: TypeAlias = npt.NDArray[np.inexact[Any]]

# Kernels reach so many bandwidths, and so many more are the taper: a window that ends at once
# carries the noise of low frequencies to high ones.
_REACH, _TAPER = 5, 10
# What a multiplier below this has hidden is not divided back.
LEAST_MULTIPLIER: Final = 0.01
# Where the waves of the release end at that: the window needs some beyond those that are kept.
_LEAST_BETWEEN: Final = 0.02
# Below it, the noise of a windowed cosine is not that of its neighbours.
_PAIRED: Final = 8
# So many waves on, the transform of the window of a fine release is below 1e-4 of the first.
_FAR: Final = 512


@final
@dataclass(frozen=True, slots=True, eq=False)
class CircleWaves:
    """One axis of a release: its waves, and the ones that are kept.

    Attributes:
        side: the domain of the values on this axis.
        bandwidth: h.
        blur: lambda_0 ... lambda_J of the kernel of the release.
        hidden: the same at the waves of the domain.
        lattice: the circle and its nodes.
    """

    side: Side
    bandwidth: float
    blur: Array
    hidden: Array
    lattice: Lattice

    @property
    def nodes(self) -> int:
        """The number of nodes on the circle."""
        return self.lattice.nodes

    @property
    def window(self) -> Array:
        """W at the nodes."""
        return window_of(self.side, float(self.lattice.period), self.bandwidth, self.nodes)

    @property
    def _before(self) -> int:
        """The number of nodes below the lower end that are nearer to it than to the upper end."""
        return (self.nodes - self.lattice.steps) // 2

    @property
    def last(self) -> int:
        """The highest kept frequency."""
        least = LEAST_MULTIPLIER if self.side.closed or self.own else _LEAST_BETWEEN
        return int(np.flatnonzero(self.hidden >= least)[-1])

    @property
    def own(self) -> bool:
        """Whether the waves of the circle include the cosines of the interval."""
        return self.nodes == 2 * self.lattice.steps

    def folded(self, values: Array, noise: Array) -> tuple[Array, Array, npt.NDArray[np.int64]]:
        """Return the waves of the domain along the first axis, their noise, and their numbers.

        Args:
            values: coefficients of cosines of j = 0 ... J on the circle, then of sines.
            noise: their variances.
        """
        last, waves = self.last, self.blur.size
        if self.side.closed:
            rows = np.r_[: last + 1, waves : waves + last]
            return values[rows], noise[rows], np.r_[: last + 1, 1 : last + 1]
        rest = (1,) * (values.ndim - 1)
        scale, window = self.blur.reshape(-1, *rest), self.window
        seen = on_circle(np.concatenate([scale, scale[1:]]) * values, waves - 1, self.nodes)
        seen *= window.reshape(-1, *rest)
        kept = self.hidden[: last + 1].reshape(-1, *rest)
        found = np.fft.rfft(self._opened(seen), axis=0).real[: last + 1] / (kept * self.nodes)
        parts = scale**2 * noise[:waves]
        variances = self._carried(parts, window) if self.own else self._between(parts, window)
        return found, np.maximum(variances, 0.0) / kept**2, np.arange(last + 1)

    def _opened(self, seen: Array) -> Array:
        """Return values at the nodes of a circle of twice the length, 0 far beyond the ends."""
        if self.own:
            return seen
        steps, first = self.lattice.steps, self.nodes - self._before
        found = np.zeros((2 * steps, *seen.shape[1:]))
        found[:first], found[-self._before :] = seen[:first], seen[first:]
        return found

    def _carried(self, parts: Array, window: Array) -> Array:
        """Return the noise of W g at the waves of the domain, if they are waves of the circle."""
        blurred = np.fft.fft(window) / self.nodes
        found = _carried_noise(parts, blurred, self.last)
        k = np.arange(1, len(parts))
        for j in range(min(_PAIRED, self.last + 1)):
            paired = (blurred[j - k] * blurred[(j + k) % self.nodes]).real
            found[j] += 2 * np.tensordot(paired, parts[1:], axes=(0, 0))
        return found

    def _transformed(self, turns: Array) -> Array:
        """Return the transform of W about the middle, at frequencies in units of the circle's.

        W is a box that ends in the middle of the tapers, blurred by one arch of a cosine.
        """
        w = turns * (2 * math.pi / float(self.lattice.period))
        taper = _TAPER * self.bandwidth
        box = float(self.side.length) + 2 * _REACH * self.bandwidth + taper
        arch = np.sinc(w * taper / (2 * math.pi) - 0.5) + np.sinc(w * taper / (2 * math.pi) + 0.5)
        return (
            box
            * np.sinc(w * box / (2 * math.pi))
            * arch
            * (math.pi / 4)
            / float(self.lattice.period)
        )

    def _between(self, parts: Array, window: Array) -> Array:
        """Return the noise of W g at waves w_j of the domain that are not waves of the circle.

        The noise of g has the covariance r(t) = sum_k S_k exp(i w_k t) at a lag t, and that of W g
        at w_j the variance sum_k S_k |W(w_j - w_k)|^2 + ..., the transform of r times the sum of
        W(x) W(x + t) over x.
        """
        m, steps = self.nodes, self.lattice.steps
        line = np.roll(window, self._before)
        overlap = np.fft.irfft(np.abs(np.fft.rfft(line, 2 * m)) ** 2, 2 * m)[:m]
        terms = np.zeros(m // 2 + 1)
        terms[: parts.size] = parts
        covariance = overlap * np.fft.irfft(terms, m)
        # Both are even, and a lag of m or more is none.
        found = 2 * np.fft.rfft(covariance, 2 * steps).real[: self.last + 1] - covariance[0]
        found /= m
        k = np.arange(1, min(parts.size, _FAR), dtype=np.float64)
        for j in range(min(_PAIRED, self.last + 1)):
            own = j * m / (2 * steps)
            # The middle turns both by e^(-i w T / 2), together by e^(-i w_j T), which is 1 or -1.
            paired = (-1) ** j * self._transformed(own - k) * self._transformed(own + k)
            found[j] += 2 * float(paired @ parts[1 : k.size + 1])
        return found

    def whole(self, values: Means, noise: Array) -> tuple[Means, Array, npt.NDArray[np.int64]]:
        """Return the means of e^(-i w x) along the first axis, cut off far beyond an end."""
        last, waves = self.last, self.blur.size
        rest = (1,) * (values.ndim - 1)
        scale, cosines = self.hidden.reshape(-1, *rest), values[:waves]
        rows = np.arange(last + 1), np.arange(-last, 0)
        numbers = np.concatenate(rows)
        variances = noise[:waves].copy()
        variances[1:] += noise[waves:]
        positive, negative = cosines.astype(np.complex128), cosines[1:].astype(np.complex128)
        positive[1:] -= 1j * values[waves:]
        negative += 1j * values[waves:]
        if self.side.closed:
            found = np.concatenate([positive[: last + 1], negative[:last][::-1]])
            return found, variances[np.abs(numbers)], numbers
        terms = np.zeros((self.nodes, *values.shape[1:]), np.complex128)
        terms[:waves] = scale * positive
        terms[-waves + 1 :] = (scale[1:] * negative)[::-1]
        window = self.window
        seen = np.fft.ifft(terms, axis=0) * window.reshape(-1, *rest)
        scale = scale[np.abs(numbers)]
        found = np.fft.fft(seen, axis=0)[numbers] / scale
        blurred = np.fft.fft(window) / self.nodes
        spread_out = _carried_noise(self.hidden.reshape(-1, *rest) ** 2 * variances, blurred, last)
        return found, np.maximum(spread_out[np.abs(numbers)], 0.0) / scale**2, numbers


def circles_of(waves: Waves) -> list[CircleWaves]:
    """Return the circle of each side of a release."""
    found: list[CircleWaves] = []
    for side, width, highest, lattice in zip(
        waves.sides, waves.bandwidths, waves.highest, waves.lattices, strict=True
    ):
        h, period = float(width), float(lattice.period)
        own = highest if period == side.period else 2 * highest
        blur = multipliers(period, highest, h)
        found.append(CircleWaves(side, h, blur, multipliers(side.period, own, h), lattice))
    return found


def _carried_noise(parts: Array, blurred: ComplexArray, last: int) -> Array:
    """Return sum_k S_k |W_(j - k)|^2 for j = 0 ... last: the noise at j after the window."""
    m, rest = blurred.size, (1,) * (parts.ndim - 1)
    around = np.zeros((m, *parts.shape[1:]))
    around[: len(parts)] = parts
    around[-len(parts) + 1 :] = parts[:0:-1]
    moved = np.fft.rfft(around, axis=0) * np.fft.rfft(np.abs(blurred) ** 2).reshape(-1, *rest)
    return np.fft.irfft(moved, m, axis=0)[: last + 1]


def on_circle(values: Array, sines: int, m: int) -> Array:
    """Return c_0 + 2 sum of cosines and sines at the nodes of a circle.

    Args:
        values: coefficients of the cosines of j = 0, 1, ..., and then of the sines of j = 1, 2, ...
        sines: the number of sines.
        m: the number of nodes.
    """
    first, rest = np.split(values, [len(values) - sines])
    terms = np.zeros((m // 2 + 1, *values.shape[1:]), np.complex128)
    # Waves too fast for the nodes are those of which nothing is drawn.
    first, rest = first[: len(terms)], rest[: len(terms) - 1]
    terms[: len(first)] = first
    terms[1 : len(rest) + 1] -= 1j * rest
    return m * np.fft.irfft(terms, m, axis=0)


def whole_on_circle(values: Means, m: int) -> ComplexArray:
    """Return the sum of c_j e^(i w_j x) at the nodes of a circle."""
    last = min(len(values) // 2, m // 2 - 1)
    terms = np.zeros((m, *values.shape[1:]), np.complex128)
    terms[: last + 1], terms[-last:] = values[: last + 1], values[-last:]
    return m * np.fft.ifft(terms, axis=0)


def window_of(side: Side, period: float, h: float, m: int) -> Array:
    """Return 1 on the interval and within reach of kernels of its values, falling to 0 beyond."""
    length = float(side.length)
    place = period / m * np.arange(m)
    beyond = np.where(place <= length, 0.0, np.minimum(place - length, period - place))
    taper = min(_TAPER * h, (period - length) / 2 - _REACH * h)
    if not taper > 0:
        return np.ones(m)
    share = np.clip((beyond - _REACH * h) / taper, 0.0, 1.0)
    return np.asarray((1 + np.cos(math.pi * share)) / 2)
