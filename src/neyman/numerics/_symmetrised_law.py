"""The loss of a sampled Gaussian pair, made symmetric step by step: sampling without replacement.

Where the loss L(x) = log(1 - q + q e^(μx)), x = z - μ/2 > 0, of the sampled pair is positive it is
kept; its mirror image, e^L times as likely, takes the place of what is negative; the rest of the
mass is an atom at 0. So

    e^K(s) = 1 - ∫_0^∞ φ(x + μ/2) (e^(sL) - 1) (e^((1-s)L) - 1) dx.

Gauss's rule on panels, with the error bounded on ellipses around them (Trefethen, "Approximation
theory and approximation practice", theorem 19.3).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.numerics._special import log_ndtr
from neyman.numerics._weighted import WeightedLosses

__all__ = ["SymmetrisedGaussianLaw"]

_ORDER = 20
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_ELLIPSES = np.asarray([1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0])
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2
_QUADRATURE, _WINDOW, _MOST_PANELS = 2.0**-54, 48.0, 2**10
# Phases of more than so many radians a panel are not followed, where only a bound is needed.
_PACE = 16.0


@final
@dataclass(frozen=True, slots=True)
class SymmetrisedGaussianLaw(LossLaw):
    """See the module; 0 < q < 1."""

    mu: float
    q: float

    @property
    def strip(self) -> tuple[float, float]:
        """Everywhere."""
        return -math.inf, math.inf

    @property
    def range(self) -> tuple[float, float]:
        """Everything."""
        return -math.inf, math.inf

    def loss(self, x: Array) -> Array:
        """Return L(x), x >= 0."""
        w = self.mu * x
        near = np.log1p(self.q * np.expm1(np.minimum(w, 30.0)))
        far = w + math.log(self.q) + np.log1p((1 - self.q) / self.q * np.exp(-np.maximum(w, 30.0)))
        return np.where(w > 30, far, near)

    def log_density(self, x: Array) -> Array:
        """Return log φ(x + μ/2)."""
        z = x + self.mu / 2
        return -z * z / 2 - _LOG_SQRT_2PI

    def prepared(self, span: Span) -> "SymmetrisedNodes":
        """Panels narrow enough for the height."""
        width = min(0.5, 0.5 / self.mu)
        while True:
            nodes = self._on(width, span)
            ends = np.asarray([span.low, span.high])
            with np.errstate(over="ignore"):
                enough = _QUADRATURE * np.exp(nodes.panels.plain(ends)).sum(axis=1)
                wrong = np.exp(nodes.panels.error(ends, span.height)).sum(axis=1)
            if np.all(wrong <= enough) or nodes.panels.left.size > _MOST_PANELS:
                return nodes
            width *= 0.7

    def _on(self, width: float, span: Span) -> "SymmetrisedNodes":
        grown = max(span.high, 1 - span.low, 1.0)
        far = grown * self.mu + self.mu + 14.0
        panels = Panels(self, np.arange(0.0, far, width), width)
        sizes = panels.plain(np.asarray([span.low, span.high]))
        kept = (sizes > sizes.max(axis=1, keepdims=True) - _WINDOW).any(axis=0)
        # The bulk of the mass is kept too: the bounds on the decay need it.
        kept |= panels.left < 9.0
        count = int(np.flatnonzero(kept)[-1]) + 1
        inner = panels.left[:count, None] + width / 2 * (1 + _NODES)
        x = inner.ravel()
        log_weight = self.log_density(x) + np.tile(np.log(_WEIGHTS * width / 2), count)
        loss = self.loss(x)
        points = WeightedLosses.of(
            np.concatenate([log_weight, log_weight + loss]),
            np.concatenate([np.expm1(loss), np.expm1(-loss)]),
            np.concatenate([loss, -loss]),
        )
        return SymmetrisedNodes(self, points, panels, x, log_weight, count, span.height)

    def sketched(self, span: Span) -> LossNodes:
        """The widest panels."""
        return self._on(min(0.5, 0.5 / self.mu), span)


@final
@dataclass(frozen=True, slots=True)
class Panels:
    """Intervals [left, left + width], with bounds of what is summed over |s (s - 1)|."""

    law: SymmetrisedGaussianLaw
    left: Array
    width: float

    def plain(self, c: Array) -> Array:
        """Bound the log of the integral over each panel, rows for c.

        |(e^(sL) - 1) (e^((1-s)L) - 1)| <= |s (s - 1)| L² e^(max(c, 1 - c, 1) L).
        """
        loss = self.law.loss(self.left + self.width)
        log = self.law.log_density(self.left) + 2 * np.log(loss) + math.log(self.width)
        return log + _growth(c)[:, None] * loss

    def error(self, c: Array, height: float) -> Array:
        """Bound the log of the error of Gauss's rule on each panel, rows for c."""
        ellipse = self._ellipse(_growth(c), height, double=True)
        # Nothing is more wrong than both values together.
        return np.minimum(ellipse, self.plain(c) + math.log(2))

    def masses(self, c: float, height: Array) -> Array:
        """Bound the log of the error for e^(sL) itself, at heights one for each panel."""
        return self._ellipse(np.asarray([max(c, 1 - c, 0.0)]), height, double=False)[0]

    def _ellipse(self, growth: Array, height: Array | float, *, double: bool) -> Array:
        law, half = self.law, self.width / 2
        minor = half * (_ELLIPSES - 1 / _ELLIPSES) / 2
        allowed = law.mu * minor < 1.2
        reach = half * (_ELLIPSES + 1 / _ELLIPSES) / 2
        best = np.full((growth.size, self.left.size), np.inf)
        for rho, y, r in zip(
            _ELLIPSES[allowed].tolist(), minor[allowed], reach[allowed], strict=True
        ):
            centre = self.left + half
            right, leftmost = centre + r, centre - r
            turn = law.mu * y
            most = law.q * np.exp(np.minimum(law.mu * right, 600.0))
            angle = np.arctan2(most * math.sin(turn), 1 - law.q + most * math.cos(turn))
            above = law.loss(np.maximum(right, 0.0))
            least = 1 - law.q + law.q * np.exp(np.minimum(law.mu * leftmost, 0.0)) * math.cos(turn)
            size = np.hypot(np.maximum(above, -np.log(least)), angle)
            z = np.maximum(leftmost + law.mu / 2, 0.0)
            log = -z * z / 2 - _LOG_SQRT_2PI + y * y / 2 + height * angle
            log = log + (2 * np.log(size) if double else 0.0) + math.log(half * 64 / 15)
            log = log - 2 * (_ORDER - 1) * math.log(rho) - math.log1p(-(rho**-2))
            best = np.minimum(best, log + growth[:, None] * above)
        return best


def _growth(c: Array) -> Array:
    return np.maximum(np.maximum(c, 1 - c), 1.0)


@final
@dataclass(frozen=True, slots=True)
class SymmetrisedNodes(LossNodes):
    """The nodes on the first `count` panels, and the panels that bound the errors."""

    law: SymmetrisedGaussianLaw
    points: WeightedLosses
    panels: Panels
    x: Array
    log_weight: Array
    count: int
    height: float

    def _wrong(self, c: Array) -> Array:
        """Bound the error of e^K over |s (s - 1)|, but for what the sums round."""
        quadrature = self.panels.error(c, self.height)
        plain = self.panels.plain(c)
        quadrature[:, self.count :] = plain[:, self.count :]
        # What lies beyond the last panel falls faster than e^(-10 x).
        with np.errstate(over="ignore"):
            total = np.exp(quadrature).sum(axis=1) + np.exp(plain[:, -1])
        loss, z = self.points.loss[: self.x.size], self.x + self.law.mu / 2
        growth = _growth(c)[:, None]
        share = 16 + 2 * z * z + 4 * self.law.mu * self.x * (1 + growth)
        log = self.log_weight + 2 * np.log(loss) + growth * loss
        with np.errstate(over="ignore"):
            return total + ULP * (np.exp(log) * share).sum(axis=1)

    def real(self, c: Array) -> RealCumulant:
        """By the points."""
        return self.points.real(c, np.abs(c * (c - 1)) * self._wrong(c))

    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        """By the points."""
        s = c + 1j * u
        return self.points.line(c, u, np.abs(s * (s - 1)) * float(self._wrong(np.asarray([c]))[0]))

    def at(self, s: ComplexArray) -> ComplexArray:
        """By the points."""
        return self.points.at(s)

    # -- decay --------------------------------------------------------------------------------

    def _tilted(self, c: float) -> tuple[float, Array, Array]:
        """Return the shares of the atom, of the points at L and of those at -L, of e^K(c)."""
        loss = self.points.loss[: self.x.size]
        atom = (1 - self.law.q) * float(
            -np.expm1(math.log(2) + log_ndtr(np.asarray(-self.law.mu / 2)))
        )
        up, down = np.exp(self.log_weight + c * loss), np.exp(self.log_weight + (1 - c) * loss)
        total = atom + float(up.sum() + down.sum())
        return atom / total, up / total, down / total

    def decay(self, c: float, u: Array, count: float) -> Array:
        """On a grid: the modulus and, between, half the grid times the standard deviation.

        |d/dv (φ(v) e^(-imv))| <= E|L - m|. Beyond the grid the atom and V/v. Panels on which the
        phase turns too fast count with all their mass.
        """
        atom, up, down = self._tilted(c)
        loss = self.points.loss[: self.x.size]
        mean = float((up - down) @ loss)
        deviation = math.sqrt(float((up + down) @ (loss) ** 2) - mean * mean) * (1 + 1e-6)
        variation = self._variation(c, up[0] / math.exp(float(self.log_weight[0] + c * loss[0])))
        # Nearer, so many copies have not decayed yet.
        start = max(float(np.min(u)), 3 / (deviation * math.sqrt(count)))
        grid = _grid(start, max(4 * variation / (1 - atom), 2 * start), deviation)
        height = np.minimum(self._modulus(c, grid, atom, up, down), atom + variation / grid)
        height = np.minimum(height, 1.0)
        cells = (height[:-1] + height[1:]) / 2 + deviation * np.diff(grid) / 2
        last = min(atom + variation / grid[-1], 1.0)
        worst = np.maximum.accumulate(np.append(np.minimum(cells, 1.0), last)[::-1])[::-1]
        place = np.searchsorted(grid, u, side="right") - 1
        found = np.where(place < 0, 1.0, worst[np.maximum(place, 0)])
        found = np.where(u >= grid[-1], atom + variation / u, found)
        return np.log(np.minimum(found * (1 + 1e-12), 1.0))

    def decay_integral(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        """Infinite: the atom does not decay."""
        return np.full(u.shape, math.inf)

    def _modulus(self, c: float, v: Array, atom: float, up: Array, down: Array) -> Array:
        """Bound |e^(K(c + iv) - K(c))| at v."""
        loss = self.points.loss[: self.x.size]
        left = self.panels.left[: self.count]
        turn = self.law.loss(left + self.panels.width) - self.law.loss(left)
        followed = _PACE / turn
        mass = (up + down).reshape(self.count, _ORDER).sum(axis=1)
        scale = float(np.max(self.log_weight + c * loss)) - math.log(float(np.max(up)))
        heights = np.concatenate([followed, np.zeros(self.panels.left.size - self.count)])
        error = 2 * np.exp(self.panels.masses(c, heights)[: self.count] - scale)
        error = np.minimum(error, 2 * mass)
        # L is convex: what is followed is the first panels.
        seen: npt.NDArray[np.bool_] = v[:, None] <= followed
        weights = np.repeat(seen, _ORDER, axis=1)
        phase = np.outer(v, loss)
        cosine = (np.cos(phase) * weights) @ (up + down)
        sine = (np.sin(phase) * weights) @ (up - down)
        lost = np.where(seen, 0.0, mass).sum(axis=1) + float(error.sum())
        return np.hypot(atom + cosine, sine) + lost + 1e-12

    def _variation(self, c: float, scale: float) -> float:
        """Return V with |density part at c + iv| <= V/v: the ends and variations of densities."""
        law, left, width = self.law, self.panels.left, self.panels.width
        right = left + width
        share = law.q * np.exp(np.minimum(law.mu * left, 600.0))
        slope = law.mu * share / (1 - law.q + share)
        total = 0.0
        for lift in (c, 1 - c):
            loss = law.loss(right if lift > 0 else left)
            rate = right + law.mu / 2 + (abs(lift) + 1) * law.mu
            total += (
                float(np.sum(np.exp(law.log_density(left) + lift * loss) / slope * rate)) * width
            )
            total += math.exp(float(law.log_density(np.zeros(1))[0])) / (law.q * law.mu)
        return total * scale * (1 + 1e-6)


def _grid(start: float, stop: float, deviation: float) -> Array:
    """Return points from `start` on, next to each other where |φ| is near 1 - v²/2."""
    points = [start]
    while points[-1] < stop and len(points) < 4000:
        v = points[-1]
        points.append(v + min(0.1 * v * v * deviation, 0.4 / deviation))
    return np.asarray(points)
