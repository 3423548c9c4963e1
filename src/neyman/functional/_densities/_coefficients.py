"""What a released density says of the waves of its domain.

A release is made on circles twice as long as its intervals, so that kernels near one end do not
reach the other. There an end at which the density is not 0 is a jump, and jumps have no smooth
reading. The cosines of pi j x / T on [0, T] have no jump at an end. They are among the waves of the
circle, so that the real part of the transform tells them; but the empty half of the circle holds
noise only, and half of the noise goes when that stretch is set to 0 first:

    g      the kernel estimate at the bandwidth h of the release, on the circle
    W      1 on the domain and 5 h beyond, where kernels of values reach; then a Hann taper
    c_j    Re(transform of W g at j) / lambda_j,    kept where lambda_j >= 0.01

Of fine bandwidths the circle of the release is shorter. The cosines of the domain are not among its
waves, but W g is 0 where the rest of a circle of twice the length would be, and is transformed
there.

Kernels that lie askew to the axes of a plane do not commute with a reflection at an end: for them
the whole transform of W g is kept, and what is read beyond an end is folded back afterwards.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.functional._bases._domain import Side
from neyman.functional._bases._waves import Lattice, Waves, even_nodes, multipliers, spread
from neyman.functional._densities._released import ReleasedDensity
from neyman.numerics import Array, ComplexArray

__all__ = ["Coefficients", "on_circle"]

Means: TypeAlias = npt.NDArray[np.inexact[Any]]

# Kernels reach so many bandwidths, and so many more are the taper: a window that ends at once
# carries the noise of low frequencies to high ones.
_REACH, _TAPER = 5, 10
# What a multiplier below this has hidden is not divided back.
_LEAST_MULTIPLIER: Final = 0.01
# Where the waves of the release end at that: the window needs some beyond those that are kept.
_LEAST_BETWEEN: Final = 0.02
# Below it, the noise of a windowed cosine is not that of its neighbours.
_PAIRED: Final = 8
# So many waves on, the transform of the window of a fine release is below 1e-4 of the first.
_FAR: Final = 512
# Of the sampling variance of a wave, so that evidence stays finite.
_LEAST_SAMPLING: Final = 0.05
# Places for each wave of the highest frequency that is read, by dimension, and the fewest; a share
# of a wave below this is not drawn.
_PLACES: Final = {1: (16, 512), 2: (8, 128), 3: (6, 48)}
_UNSEEN: Final = 1e-4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Noisy means over the records of the waves of the domain, with what is known of their errors.

    Along an interval the waves are cos(pi j x / T), j = 0, 1, ...; around a circle the cosines of
    2 pi j x / T and then the sines; not folded, on each side e^(-i w x) for j = 0, 1, ..., -1, of
    the circle. All arrays have one axis a side, but for `frequencies`.

    Attributes:
        sides: where values lie.
        bandwidths: of the release.
        folded: whether the waves are those of the domain, not those of its circles.
        frequencies: w of each axis, in one over the bandwidth of the release.
        values: c, the means; 1 for the constant wave.
        noise: v, the variance of their noise.
        weight: m, how often a wave counts in the integral of a square; 0 for the constant wave, and
            for waves that the release hides.
        count: n, the number of records, at least 2.
    """

    sides: tuple[Side, ...]
    bandwidths: tuple[float, ...]
    folded: bool
    frequencies: tuple[Array, ...]
    values: Means = field(repr=False)
    noise: Array = field(repr=False)
    weight: Array = field(repr=False)
    count: float

    @classmethod
    def of(cls, released: ReleasedDensity[Any], *, folded: bool) -> Self:
        """Read them off a release, whatever bandwidth it is read with.

        Raises:
            InvalidParameter: if the released count is not positive.
        """
        waves = released.waves
        amplitudes = spread(waves.amplitudes)
        known = amplitudes > 0
        noise = np.zeros(amplitudes.shape)
        noise[known] = (released.stddev / (released.positive_count * amplitudes[known])) ** 2
        noise.flat[0] = 0.0
        values: Means = released.transform
        weight, kept = np.ones(()), np.ones(())
        frequencies: list[Array] = []
        for axis, circle in enumerate(_circles(waves)):
            first = np.moveaxis(values, axis, 0), np.moveaxis(noise, axis, 0)
            if folded:
                means, errors, numbers = circle.folded(
                    np.asarray(np.real(first[0]), np.float64), first[1]
                )
            else:
                means, errors, numbers = circle.whole(*first)
            values, noise = np.moveaxis(means, 0, axis), np.moveaxis(errors, 0, axis)
            turn = 2 * math.pi * circle.bandwidth / circle.side.period
            frequencies.append(turn * numbers.astype(np.float64))
            times = np.where(numbers > 0, 2.0, 1.0) if folded else np.ones(numbers.size)
            weight = np.multiply.outer(weight, times)
            kept = np.multiply.outer(kept, circle.hidden[np.abs(numbers)])
        values = values.copy()
        values.flat[0] = 1.0
        weight = np.where(kept >= _LEAST_MULTIPLIER, weight, 0.0)
        weight.flat[0] = 0.0
        return cls(
            waves.sides,
            tuple(float(h) for h in waves.bandwidths),
            folded,
            tuple(frequencies),
            values,
            np.ascontiguousarray(noise),
            weight,
            max(released.count, 2.0),
        )

    @property
    def volume(self) -> float:
        """The length, area or volume over which the waves are orthogonal."""
        return math.prod(float(side.length) if self.folded else side.period for side in self.sides)

    def lengths(self, shape: Array) -> Array:
        """Return sqrt(w' S w) for each wave: its frequency as a kernel of covariance S sees it.

        Args:
            shape: S, in the bandwidths of the release; diagonal of waves that are folded.
        """
        total = np.zeros(self.values.shape)
        for i, j in np.argwhere(np.triu(shape) != 0).tolist():
            first, second = (
                np.reshape(
                    self.frequencies[k], [-1 if axis == k else 1 for axis in range(total.ndim)]
                )
                for k in (i, j)
            )
            total += (1 + (i != j)) * float(shape[i, j]) * (first * second)
        return np.sqrt(np.maximum(total, 0.0))

    def sampling(self, told: Array) -> Array:
        """Return E|wave|^2 / n, which is the sampling variance of c but for |mean|^2 / n.

        By cos^2 = (1 + cos of twice) / 2, and sin^2 = (1 - cos of twice) / 2, along each axis.

        Args:
            told: how surely each mean is more than noise; 1 for the constant wave.
        """
        if not self.folded:
            return np.full(self.values.shape, 1 / self.count)
        found = told * np.real(self.values)
        for axis, (side, frequencies) in enumerate(zip(self.sides, self.frequencies, strict=True)):
            found = np.moveaxis(found, axis, 0)
            cosines = (frequencies.size + 1) // 2 if side.closed else frequencies.size
            twice = 2 * np.arange(cosines)
            some = twice < cosines
            double = np.zeros((cosines, *found.shape[1:]))
            double[some] = found[twice[some]]
            halves = [(found[0] + double) / 2, (found[0] - double[1:]) / 2]
            halves[0][0] = found[0]
            found = np.concatenate(halves[: 1 + side.closed])
            found = np.moveaxis(found, 0, axis)
        return np.clip(found, 0.0, 1.0) / self.count

    def told(self, sampling: Array, shape: Array) -> Array:
        """Return u, how surely there is more than noise at a wave's frequency or at a higher one.

        The sum of the Akaike weights of the models in which no wave of lower frequency is without
        signal; weight_k is proportional to exp(sum over i <= k of (|c_i|^2 / (b_i + v_i) - 2) / 2).

        Args:
            sampling: b, as `sampling` returns it.
            shape: of the kernels that order the frequencies, as for `lengths`.
        """
        used = self.weight > 0
        order = np.argsort(self.lengths(shape)[used], kind="stable")
        alone = np.maximum(sampling[used], _LEAST_SAMPLING / self.count) + self.noise[used]
        gains = ((np.abs(self.values[used]) ** 2 / alone - 2) / 2)[order]
        evidence = np.cumsum([0.0, *gains])
        weights = np.exp(evidence - evidence.max())
        shares = np.empty(gains.size)
        shares[order] = np.cumsum(weights[:0:-1])[::-1] / weights.sum()
        found = np.zeros(self.values.shape)
        found[used] = shares
        return found

    def drawn(self, shares: Array) -> Array:
        """Return the shares of the waves that can be seen: 1 of the constant one, else 0."""
        found = np.where((self.weight > 0) & (shares > _UNSEEN), shares, 0.0)
        found.flat[0] = 1.0
        return found

    def nodes(self, drawn: Array) -> tuple[int, ...]:
        """Return how many nodes the circle of each side needs for waves with these shares."""
        found: list[int] = []
        each, fewest = _PLACES[len(self.sides)]
        for axis, (side, h, frequencies) in enumerate(
            zip(self.sides, self.bandwidths, self.frequencies, strict=True)
        ):
            rows = np.moveaxis(drawn, axis, 0).reshape(len(frequencies), -1)
            highest = float(np.abs(frequencies[rows.any(axis=1)]).max())
            found.append(even_nodes(max(fewest, each * highest * side.period / (2 * math.pi * h))))
        return tuple(found)

    def on_places(self, shares: Array) -> Array:
        """Return the sum of these shares of the waves, at places of each side from end to end."""
        values: Means = self._around(shares)
        for axis, side in enumerate(self.sides):
            found = np.moveaxis(values, axis, 0)
            last = len(found) // 2
            if side.closed:
                found = np.concatenate([found, found[:1]])
            elif self.folded:
                found = found[: last + 1]
            else:
                found = (found + np.roll(found[::-1], 1, axis=0))[: last + 1]
            values = np.moveaxis(found, 0, axis)
        return np.ascontiguousarray(np.real(values), np.float64)

    def beyond(self, shares: Array) -> float:
        """Return the integral of the square of what waves that are not folded have beyond an end.

        `on_places` folds it back, where it is as much of an error as what is missing inside.
        """
        values = np.real(self._around(shares)) ** 2
        cells = [side.period / m for side, m in zip(self.sides, values.shape, strict=True)]
        inside = values
        for axis, side in enumerate(self.sides):
            last = len(np.moveaxis(inside, axis, 0)) // (1 if side.closed else 2)
            inside = np.moveaxis(np.moveaxis(inside, axis, 0)[: last + 1], 0, axis)
        return float(values.sum() - inside.sum()) * math.prod(cells)

    def _around(self, shares: Array) -> Means:
        """Return the sum of shares of the waves on the circles; not folded, cut off far away."""
        drawn = self.drawn(shares)
        values: Means = drawn * self.values / self.volume
        for axis, (side, h, m) in enumerate(
            zip(self.sides, self.bandwidths, self.nodes(drawn), strict=True)
        ):
            first = np.moveaxis(values, axis, 0)
            if self.folded:
                sines = len(first) // 2 if side.closed else 0
                found: Means = on_circle(np.asarray(np.real(first), np.float64), sines, m)
            else:
                found = _whole_on_circle(first, m)
                window = _window(side, side.period, h, m)
                found = found * window.reshape(-1, *(1,) * (found.ndim - 1))
            values = np.moveaxis(found, 0, axis)
        return values


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Circle:
    """One axis of a release: its waves, and which of them are kept.

    Attributes:
        side: where values lie.
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
        """On the circle."""
        return self.lattice.nodes

    @property
    def window(self) -> Array:
        """W at its nodes."""
        return _window(self.side, float(self.lattice.period), self.bandwidth, self.nodes)

    @property
    def _before(self) -> int:
        """How many of its nodes are nearer to the lower end than to the upper, and below it."""
        return (self.nodes - self.lattice.steps) // 2

    @property
    def last(self) -> int:
        """The highest frequency that is kept."""
        least = _LEAST_MULTIPLIER if self.side.closed or self.own else _LEAST_BETWEEN
        return int(np.flatnonzero(self.hidden >= least)[-1])

    @property
    def own(self) -> bool:
        """Whether the cosines of an interval are among the waves of its circle."""
        return self.nodes == 2 * self.lattice.steps

    def folded(self, values: Array, noise: Array) -> tuple[Array, Array, npt.NDArray[np.int64]]:
        """Return the waves of the domain along the first axis, their noise, and their numbers.

        Args:
            values: cosines of j = 0 ... J on the circle, then sines.
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
        """Return what is 0 far beyond the ends at the nodes of a circle of twice the length."""
        if self.own:
            return seen
        steps, first = self.lattice.steps, self.nodes - self._before
        found = np.zeros((2 * steps, *seen.shape[1:]))
        found[:first], found[-self._before :] = seen[:first], seen[first:]
        return found

    def _carried(self, parts: Array, window: Array) -> Array:
        """Return the noise of W g at the waves of the domain, which are waves of the circle."""
        blurred = np.fft.fft(window) / self.nodes
        found = _blurred(parts, blurred, self.last)
        k = np.arange(1, len(parts))
        for j in range(min(_PAIRED, self.last + 1)):
            paired = (blurred[j - k] * blurred[(j + k) % self.nodes]).real
            found[j] += 2 * np.tensordot(paired, parts[1:], axes=(0, 0))
        return found

    def _transformed(self, turns: Array) -> Array:
        """Return the transform of W around the middle, at frequencies in those of the circle.

        W is a box with ends in the middle of the tapers, blurred by an arch of a cosine.
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
        """Return the noise of W g at waves w_j of the domain that are none of the circle's.

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
        """Return the means of e^(-i w x) along the first axis, what lies far beyond an end cut."""
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
        spread_out = _blurred(self.hidden.reshape(-1, *rest) ** 2 * variances, blurred, last)
        return found, np.maximum(spread_out[np.abs(numbers)], 0.0) / scale**2, numbers


def _circles(waves: Waves) -> list[_Circle]:
    found: list[_Circle] = []
    for side, width, highest, lattice in zip(
        waves.sides, waves.bandwidths, waves.highest, waves.lattices, strict=True
    ):
        h, period = float(width), float(lattice.period)
        own = highest if period == side.period else 2 * highest
        blur = multipliers(period, highest, h)
        found.append(_Circle(side, h, blur, multipliers(side.period, own, h), lattice))
    return found


def _blurred(parts: Array, blurred: ComplexArray, last: int) -> Array:
    """Return sum_k S_k |W_(j - k)|^2 for j = 0 ... last: the noise that a window carries to j."""
    m, rest = blurred.size, (1,) * (parts.ndim - 1)
    around = np.zeros((m, *parts.shape[1:]))
    around[: len(parts)] = parts
    around[-len(parts) + 1 :] = parts[:0:-1]
    moved = np.fft.rfft(around, axis=0) * np.fft.rfft(np.abs(blurred) ** 2).reshape(-1, *rest)
    return np.fft.irfft(moved, m, axis=0)[: last + 1]


def on_circle(values: Array, sines: int, m: int) -> Array:
    """Return c_0 + 2 sum of cosines and sines at the nodes of a circle.

    Args:
        values: of the cosines of j = 0, 1, ..., and then of the sines of j = 1, 2, ...
        sines: how many of them are sines.
        m: nodes.
    """
    first, rest = np.split(values, [len(values) - sines])
    terms = np.zeros((m // 2 + 1, *values.shape[1:]), np.complex128)
    # Waves too fast for the nodes are those of which nothing is drawn.
    first, rest = first[: len(terms)], rest[: len(terms) - 1]
    terms[: len(first)] = first
    terms[1 : len(rest) + 1] -= 1j * rest
    return m * np.fft.irfft(terms, m, axis=0)


def _whole_on_circle(values: Means, m: int) -> ComplexArray:
    """Return the sum of c_j e^(i w_j x) at the nodes of a circle."""
    last = min(len(values) // 2, m // 2 - 1)
    terms = np.zeros((m, *values.shape[1:]), np.complex128)
    terms[: last + 1], terms[-last:] = values[: last + 1], values[-last:]
    return m * np.fft.ifft(terms, axis=0)


def _window(side: Side, period: float, h: float, m: int) -> Array:
    """Return 1 on the interval and where kernels of its values reach, falling to 0 beyond."""
    length = float(side.length)
    place = period / m * np.arange(m)
    beyond = np.where(place <= length, 0.0, np.minimum(place - length, period - place))
    taper = min(_TAPER * h, (period - length) / 2 - _REACH * h)
    if not taper > 0:
        return np.ones(m)
    share = np.clip((beyond - _REACH * h) / taper, 0.0, 1.0)
    return np.asarray((1 + np.cos(math.pi * share)) / 2)
