"""A mixture of shifted unit normals against the standard one, on a grid and beside it."""

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray

__all__ = ["Rows", "Shifts"]


@final
@dataclass(frozen=True, slots=True)
class Shifts:
    """Means t_j, all on one side of 0, and weights w_j: f(z) = Σ w_j e^(t_j z - t_j²/2)."""

    means: tuple[float, ...]
    weights: tuple[float, ...]
    far: float = field(init=False, repr=False, compare=False)  # the largest |t_j|

    def __post_init__(self) -> None:
        """It is asked for at every step."""
        object.__setattr__(self, "far", max(map(abs, self.means)))

    @property
    def spread(self) -> float:
        """The largest distance between two means."""
        return max(self.means) - min(self.means)

    def slope_at(self, x: float) -> float:
        """Return the derivative of log f at one place, however far."""
        if self.far == 0:
            return 0.0
        means = np.asarray(self.means)
        log = means * x - means * means / 2 + np.log(np.asarray(self.weights))
        share = np.exp(log - log.max())
        return float(means @ share / share.sum())

    @property
    def log_unmoved(self) -> float:
        """The log of the weight at mean 0."""
        unmoved = math.fsum(w for t, w in zip(self.means, self.weights, strict=True) if t == 0)
        return math.log(unmoved) if unmoved > 0 else -math.inf

    @property
    def moved(self) -> float:
        """The weight of the means that are not 0."""
        return math.fsum(w for t, w in zip(self.means, self.weights, strict=True) if t != 0)

    def on(self, x: Array) -> "Rows":
        """Return the terms on a grid."""
        means, weights = np.asarray(self.means)[:, None], np.asarray(self.weights)
        if self.means == (0.0,) and self.weights == (1.0,):
            # The standard normal itself.
            ones, zeros = np.ones(x.shape), np.zeros(x.shape)
            return Rows(means, weights, x, ones[None], zeros[None], ones, zeros)
        log = means * x - means * means / 2
        with np.errstate(over="ignore", under="ignore"):
            grown, less_one = np.exp(log), np.expm1(log)
        return Rows(means, weights, x, grown, less_one, weights @ grown, weights @ less_one)


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """e^(t_j x - t_j²/2) and the same less 1, a row for each mean; cells are [x_k, x_(k+1)]."""

    means: Array
    weights: Array
    x: Array
    grown: Array
    less_one: Array
    value: Array  # f(x)
    excess: Array  # f(x) - 1

    def part(self, part: slice) -> "Rows":
        """Return the terms on some of the nodes."""
        rows = (self.grown[:, part], self.less_one[:, part], self.value[part], self.excess[part])
        return Rows(self.means, self.weights, self.x[part], *rows)

    def lifted(self, d: float) -> ComplexArray:
        """f(x + id) - 1."""
        turn = 1j * np.sin(self.means * d) - 2 * np.sin(self.means * d / 2) ** 2
        return np.asarray(self.weights @ (self.less_one + self.grown * turn), np.complex128)

    def lifted_value(self, d: float) -> ComplexArray:
        """f(x + id), relatively accurate where it is small."""
        return np.asarray(self.weights @ (self.grown * np.exp(1j * self.means * d)), np.complex128)

    def _chords(self, d: float) -> Array:
        return self.weights * 2 * np.abs(np.sin(self.means[:, 0] * d / 2))

    def size(self, d: float) -> Array:
        """Return the sum of the moduli of what f(x + id) - 1 is summed from."""
        return self.weights @ np.abs(self.less_one) + self._chords(d) @ self.grown

    def bound(self, depth: float) -> Array:
        """Bound |f(x + id) - 1| over cells by the sum of the moduli, d <= depth."""
        size = np.abs(self.less_one)
        flat = self.weights @ np.maximum(size[:, :-1], size[:, 1:])
        return flat + self._chords(depth) @ np.maximum(self.grown[:, :-1], self.grown[:, 1:])

    def least(self, depth: float) -> Array:
        """Bound |f(x + id)| from below for d <= depth up to a quarter turn.

        By Re f(x + i depth), or f(x) times the cosine of half the angle between the terms.
        """
        real = (self.weights * np.cos(self.means[:, 0] * depth)) @ self.grown
        return np.maximum(real, np.cos(np.ptp(self.means) * depth / 2) * self.value)

    def rounding(self) -> Array:
        """Bound the error of f - 1 that comes from t z - t²/2, in ULP."""
        size = np.abs(self.means) * (np.abs(self.x) + np.abs(self.means)) * self.grown
        return self.weights @ size

    def shares(self) -> Array:
        """Return the posterior weights of the means, a row for each."""
        share = self.grown * self.weights[:, None]
        return share / share.sum(axis=0)

    def angles(self, d: float) -> Array:
        """Return what bounds |arg f| on cells, moved up by at most d.

        Arg f grows along x: from 0 where the means are positive, and towards it where negative.
        """
        ends = slice(1, None) if self.means.max() > 0 else slice(None, -1)
        share, angle = self.grown[:, ends] * self.weights[:, None], self.means * d
        return np.arctan2((share * np.sin(angle)).sum(axis=0), (share * np.cos(angle)).sum(axis=0))

    def turned(self, d: Array) -> tuple[Array, Array]:
        """Return log |f(x + id)/f(x)| and arg f(x + id), a row for each d."""
        if not np.any(self.means):
            still = np.zeros((d.size, self.x.size))
            return still, still
        share, angle = self.shares(), d[:, None] * self.means[:, 0]
        real = -2 * (np.sin(angle / 2) ** 2 @ share)
        imag = np.sin(angle) @ share
        return np.log1p(real * (2 + real) + imag * imag) / 2, np.arctan2(imag, 1 + real)
