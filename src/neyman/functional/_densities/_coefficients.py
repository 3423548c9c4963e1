"""The waves of the domain of a density, estimated from a release.

A release uses circles twice as long as its intervals, so that kernels near one end do not reach the
other. On the circle, an end where the density is not 0 is a jump, and a jump has no smooth
estimate. The cosines of pi j x / T on [0, T] have no jump at an end. They are waves of the circle,
so the real part of the transform gives them. The empty half of the circle has noise only. Half of
the noise goes away if that stretch is set to 0 first:

    g      the kernel estimate at the bandwidth h of the release, on the circle
    W      1 on the domain and 5 h beyond, where kernels of values reach; then a Hann taper
    c_j    Re(transform of W g at j) / lambda_j,    kept where lambda_j >= 0.01

For small bandwidths the circle of the release is shorter. The cosines of the domain are not among
its waves. But W g is 0 on the rest of a circle of twice the length, so it is transformed there.

Kernels that are oblique to the axes of a plane do not commute with a reflection at an end. For them
the whole transform of W g is kept, and the part beyond an end is folded back afterwards.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final, Self, final

import numpy as np

from neyman.functional._bases._domain import Side
from neyman.functional._bases._waves import even_nodes, spread
from neyman.functional._densities._circle import (
    LEAST_MULTIPLIER,
    Means,
    circles_of,
    on_circle,
    whole_on_circle,
    window_of,
)
from neyman.functional._densities._released import ReleasedDensity
from neyman.numerics import Array

__all__ = ["Coefficients"]

# Of the sampling variance of a wave, so that evidence stays finite.
_LEAST_SAMPLING: Final = 0.05
# Places for each wave of the highest frequency that is read, by dimension, and the fewest; a share
# of a wave below this is not drawn.
_PLACES: Final = {1: (16, 512), 2: (8, 128), 3: (6, 48)}
_UNSEEN: Final = 1e-4


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Noisy means of the waves of the domain over the records, and their errors.

    On an interval the waves are cos(pi j x / T), j = 0, 1, .... On a circle they are the cosines of
    2 pi j x / T and then the sines. If not folded, they are e^(-i w x) of the circle on each side,
    for j = 0, 1, ..., -1. All arrays except `frequencies` have one axis for each side.

    Attributes:
        sides: the domain, one side for each coordinate.
        bandwidths: the bandwidths of the release.
        folded: whether the waves are those of the domain, and not of its circles.
        frequencies: w of each axis, in one over the bandwidth of the release.
        values: c, the means; 1 for the constant wave.
        noise: v, the variance of their noise.
        weight: m, the multiplicity of a wave in the integral of a square; 0 for the constant wave,
            and for waves that the release hides.
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
        """Return the coefficients of a release; the answer does not depend on its `bandwidth`.

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
        for axis, circle in enumerate(circles_of(waves)):
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
        weight = np.where(kept >= LEAST_MULTIPLIER, weight, 0.0)
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
        """Return sqrt(w' S w) for each wave: its frequency relative to a kernel of covariance S.

        Args:
            shape: S, in units of the release's bandwidths; diagonal for folded waves.
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

    def sampling(self, probability: Array) -> Array:
        """Return E|wave|^2 / n, which is the sampling variance of c plus |mean|^2 / n.

        It uses cos^2 x = (1 + cos 2 x) / 2 and sin^2 x = (1 - cos 2 x) / 2 along each axis.

        Args:
            probability: the probability that each mean is more than noise; 1 for the constant wave.
        """
        if not self.folded:
            return np.full(self.values.shape, 1 / self.count)
        found = probability * np.real(self.values)
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

    def signal_probability(self, sampling: Array, shape: Array) -> Array:
        """Return u, the probability of signal at a wave's frequency or at a higher one.

        It is the sum of the Akaike weights of the models in which every wave of lower frequency has
        signal. weight_k is proportional to exp(sum over i <= k of (|c_i|^2 / (b_i + v_i) - 2) / 2).

        Args:
            sampling: b, as `sampling` returns it.
            shape: the shape of the kernels that order the frequencies, as for `lengths`.
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
        """Return the shares of the visible waves: 1 for the constant one, 0 for hidden ones."""
        found = np.where((self.weight > 0) & (shares > _UNSEEN), shares, 0.0)
        found.flat[0] = 1.0
        return found

    def nodes(self, drawn: Array) -> tuple[int, ...]:
        """Return the number of nodes that the circle of each side needs for these shares."""
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
        """Return the sum of the waves with these shares, at places of each side from end to end."""
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
        """Return the integral of the squared sum of unfolded waves beyond the ends.

        `on_places` folds this part back, so it is an error like the part that is missing inside.
        """
        values = np.real(self._around(shares)) ** 2
        cells = [side.period / m for side, m in zip(self.sides, values.shape, strict=True)]
        inside = values
        for axis, side in enumerate(self.sides):
            last = len(np.moveaxis(inside, axis, 0)) // (1 if side.closed else 2)
            inside = np.moveaxis(np.moveaxis(inside, axis, 0)[: last + 1], 0, axis)
        return float(values.sum() - inside.sum()) * math.prod(cells)

    def _around(self, shares: Array) -> Means:
        """Return the sum of shares of the waves on the circles; if not folded, cut off far away."""
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
                found = whole_on_circle(first, m)
                window = window_of(side, side.period, h, m)
                found = found * window.reshape(-1, *(1,) * (found.ndim - 1))
            values = np.moveaxis(found, 0, axis)
        return values
