"""Mixtures of shifted unit normals against the standard one: f(z) = Σ w_j e^(t_j z - t_j²/2).

Laws that share a grid are evaluated together. Arrays then have an axis of laws, an axis of means
where the terms are kept apart, and an axis of places. A single law is a stack of one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray

__all__ = ["Mixtures", "Rows", "Shifts", "Stack"]


@final
@dataclass(frozen=True, slots=True)
class Shifts:
    """The means t_j of one mixture, all on one side of 0, and their weights w_j."""

    means: tuple[float, ...]
    weights: tuple[float, ...]
    far: float = field(init=False, repr=False, compare=False)  # the largest |t_j|

    def __post_init__(self) -> None:
        """Find the largest mean once; every step asks for it."""
        object.__setattr__(self, "far", max(map(abs, self.means)))

    @property
    def standard(self) -> bool:
        """Whether the mixture is the standard normal itself."""
        return self.means == (0.0,) and self.weights == (1.0,)

    @property
    def log_unmoved(self) -> float:
        """The log of the weight at mean 0."""
        unmoved = math.fsum(w for t, w in zip(self.means, self.weights, strict=True) if t == 0)
        return math.log(unmoved) if unmoved > 0 else -math.inf

    @property
    def moved(self) -> float:
        """The weight of the means that are not 0."""
        return math.fsum(w for t, w in zip(self.means, self.weights, strict=True) if t != 0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Mixtures:
    """Mixtures with equally many means.

    Attributes:
        means: shape (laws, means).
        weights: shape (laws, means).
        far: the largest |t_j| of each, shape (laws,).
        spread: the largest distance between two means of each.
        farthest: the largest |t_j| of all.
        standard: whether all of them are the standard normal. Then one row serves for all.
    """

    means: Array
    weights: Array
    far: Array
    spread: Array
    farthest: float
    standard: bool

    @classmethod
    def of(cls, mixtures: Sequence[Shifts]) -> "Mixtures":
        """Put mixtures into rows."""
        standard = all(one.standard for one in mixtures)
        kept = mixtures[:1] if standard else mixtures
        return cls(
            np.asarray([one.means for one in kept]),
            np.asarray([one.weights for one in kept]),
            np.asarray([one.far for one in kept]),
            np.asarray([max(one.means) - min(one.means) for one in kept]),
            max(one.far for one in kept),
            standard,
        )

    def slope_at(self, x: float) -> Array:
        """Return the derivative of log f at one place, however far; shape (laws,)."""
        if not self.farthest:
            return np.zeros(self.far.shape)
        log = self.means * x - self.means * self.means / 2 + np.log(self.weights)
        share = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray((self.means * share).sum(axis=1) / share.sum(axis=1), np.float64)

    def on(self, x: Array) -> "Rows":
        """Evaluate the terms on a grid of places."""
        if self.standard:
            ones, zeros = np.ones((1, x.size)), np.zeros((1, x.size))
            return Rows(self, x, ones[None], zeros[None], ones, zeros)
        means, weights = self.means[:, :, None], self.weights[:, None]
        log = means * x - means * means / 2
        with np.errstate(over="ignore", under="ignore"):
            grown, less_one = np.exp(log), np.expm1(log)
        value, excess = (weights @ grown)[:, 0], (weights @ less_one)[:, 0]
        return Rows(self, x, grown, less_one, value, excess)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Losses log dQ/dP that share a grid, and how many copies of each are added.

    Attributes:
        p: mixtures of P, with means <= 0.
        q: mixtures of Q, with means >= 0.
        counts: of copies, shape (laws,).
        far: the largest angle of each law for a unit of height, the sum of both largest |t_j|.
        reach: the height of a quarter turn of all angles together: the most that a line may rise.
        alone: whether the stack is one copy of one law.
    """

    p: Mixtures
    q: Mixtures
    counts: Array
    far: Array
    reach: Array
    alone: bool

    @classmethod
    def of(cls, p: Sequence[Shifts], q: Sequence[Shifts], counts: Sequence[float]) -> "Stack":
        """Stack laws with equally many means."""
        first, second = Mixtures.of(p), Mixtures.of(q)
        far = first.far + second.far
        alone = len(counts) == 1 and counts[0] == 1
        return cls(first, second, np.asarray(counts), far, math.pi / 2 / far, alone)

    @property
    def farthest(self) -> float:
        """The largest |t_j| of all."""
        return max(self.p.farthest, self.q.farthest)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The terms of mixtures on places x. Cells are [x_k, x_(k+1)].

    Attributes:
        mixtures: the means and weights.
        x: increasing, shape (places,).
        grown: e^(t_j x - t_j²/2), shape (laws, means, places).
        less_one: the same less 1.
        value: f(x), shape (laws, places).
        excess: f(x) - 1.
    """

    mixtures: Mixtures
    x: Array
    grown: Array
    less_one: Array
    value: Array
    excess: Array

    def part(self, part: slice) -> "Rows":
        """Return the terms on some of the places."""
        rows = (self.grown, self.less_one, self.value, self.excess)
        return Rows(self.mixtures, self.x[part], *(row[..., part] for row in rows))

    @property
    def _means(self) -> Array:
        return self.mixtures.means[:, :, None]

    @property
    def _weights(self) -> Array:
        return self.mixtures.weights[:, None]

    def lifted(self, d: float) -> ComplexArray:
        """Return f(x + id) - 1."""
        turn = 1j * np.sin(self._means * d) - 2 * np.sin(self._means * d / 2) ** 2
        found = self._weights @ (self.less_one + self.grown * turn)
        return np.asarray(found[:, 0], np.complex128)

    def lifted_value(self, d: float) -> ComplexArray:
        """Return f(x + id), relatively accurate where it is small."""
        found = self._weights @ (self.grown * np.exp(1j * self._means * d))
        return np.asarray(found[:, 0], np.complex128)

    def _chords(self, d: float) -> Array:
        """Return w_j |e^(i t_j d) - 1|."""
        return self._weights * 2 * np.abs(np.sin(self.mixtures.means[:, None] * d / 2))

    def size(self, d: float) -> Array:
        """Return the sum of the moduli of the terms that f(x + id) - 1 is summed from."""
        return (self._weights @ np.abs(self.less_one) + self._chords(d) @ self.grown)[:, 0]

    def bound(self, depth: float) -> Array:
        """Bound |f(x + id) - 1| from above over each cell, for |d| <= depth."""
        size, grown = np.abs(self.less_one), self.grown
        flat = self._weights @ np.maximum(size[..., :-1], size[..., 1:])
        steep = self._chords(depth) @ np.maximum(grown[..., :-1], grown[..., 1:])
        return (flat + steep)[:, 0]

    def least(self, depth: float) -> Array:
        """Bound |f(x + id)| from below, for |d| <= depth up to a quarter turn.

        By Re f(x + i depth), or by f(x) times the cosine of half the angle between the terms.
        """
        real = (self._weights * np.cos(self.mixtures.means[:, None] * depth)) @ self.grown
        half = self.mixtures.spread[:, None] * depth / 2
        return np.maximum(real[:, 0], np.cos(half) * self.value)

    def rounding(self) -> Array:
        """Bound the error of f - 1 that the rounding of t z - t²/2 makes, in units of ULP."""
        means = np.abs(self._means)
        return (self._weights @ (means * (np.abs(self.x) + means) * self.grown))[:, 0]

    def shares(self) -> Array:
        """Return the posterior weights of the means, in the shape of `grown`."""
        share = self.grown * self.mixtures.weights[:, :, None]
        return share / share.sum(axis=1, keepdims=True)

    def angles(self, d: float) -> Array:
        """Bound |arg f| over each cell, for heights up to d.

        arg f increases along x: from 0 if the means are positive, up to 0 if they are negative.
        """
        ends = slice(1, None) if self.mixtures.means.max() > 0 else slice(None, -1)
        share = self.grown[..., ends] * self.mixtures.weights[:, :, None]
        angle = self._means * d
        return np.arctan2((share * np.sin(angle)).sum(axis=1), (share * np.cos(angle)).sum(axis=1))

    def turned(self, d: Array) -> tuple[Array, Array]:
        """Return log |f(x + id)/f(x)| and arg f(x + id).

        Args:
            d: heights, shape (laws, heights) or (1, heights).

        Returns:
            both of shape (laws, heights, places).
        """
        if not self.mixtures.farthest:
            still = np.zeros((1, d.shape[1], self.x.size))
            return still, still
        share, angle = self.shares(), d[:, :, None] * self.mixtures.means[:, None]
        real = -2 * (np.sin(angle / 2) ** 2 @ share)
        imag = np.sin(angle) @ share
        return np.log1p(real * (2 + real) + imag * imag) / 2, np.arctan2(imag, 1 + real)
