"""Panels of the half-line on which the loss of a sampled Gaussian pair is positive.

L(x) = log(1 - q + q e^(μx)), x = z - μ/2 > 0, of P-density φ(x + μ/2). Every bound is of monotone
functions at the ends of panels, or of moduli on ellipses around them
(docs/theory/without_replacement.md).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._disc import Disc, decimal
from neyman.numerics._legendre import legendre

__all__ = ["NODE", "NODES", "ORDER", "WEIGHTS", "Half", "Panels", "growth_of"]

ORDER = 20
NODES, WEIGHTS = legendre(ORDER)
_ELLIPSES = np.asarray([1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0])
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2
# The same, and a node and a weight of Gauss's rule, by what they are off.
_KNOWN_LOG = Disc.within(np.asarray(_LOG_SQRT_2PI), 2.0**-50)
NODE = 2.0**-52
# μ times the smaller axis: well within a quarter turn.
_DEEPEST = 1.2
# Beyond it e^(μx) is not formed.
_HIGHEST = 600.0
# The slope, outwards, that what lies beyond the panels must fall with at least.
_STEEP = 1.0


@final
@dataclass(frozen=True, slots=True)
class Half:
    """The positive losses; 0 < q < 1."""

    mu: float
    q: float

    def loss(self, x: Array) -> Array:
        """Return L(x), x >= 0."""
        w = self.mu * x
        near = np.log1p(self.q * np.expm1(np.minimum(w, _HIGHEST)))
        return np.where(w > _HIGHEST, w + math.log(self.q), near)

    def known_loss(self, x: Disc) -> Disc:
        """Return L(x), x >= 0, and what it is off by."""
        w, q = x * decimal(self.mu), decimal(self.q)
        near = (w.expm1() * q).log1p()
        far = w.value.real > _HIGHEST
        return Disc.where(far, w + q.log(), near) if np.any(far) else near

    def known_log_density(self, x: Disc) -> Disc:
        """Return log φ(x + μ/2), and what it is off by."""
        z = x + decimal(self.mu) * 0.5
        return z * z * -0.5 - _KNOWN_LOG

    def log_density(self, x: Array) -> Array:
        """Return log φ(x + μ/2)."""
        z = x + self.mu / 2
        return -z * z / 2 - _LOG_SQRT_2PI

    def share(self, x: Array) -> Array:
        """Return L'(x)/μ, which increases."""
        grown = self.q * np.exp(np.minimum(self.mu * x, _HIGHEST))
        return grown / (1 - self.q + grown)


def growth_of(c: Array) -> Array:
    """Return max(c, 1 - c, 1)."""
    return np.maximum(np.maximum(c, 1 - c), 1.0)


@final
@dataclass(frozen=True, slots=True)
class Panels:
    """Intervals [left, left + width] from 0 on, with bounds of the integrals over them."""

    half: Half
    left: Array
    width: float

    def nodes(self, count: int) -> tuple[Disc, Disc]:
        """Return the nodes of Gauss's rule on the first panels, and the logs of their weights."""
        half = self.width / 2
        at = (Disc.within(NODES, NODE) + 1) * half + self.left[:count, None]
        share = (Disc.within(WEIGHTS, NODE) * half).log()
        x = Disc(at.value.ravel(), at.error.ravel())
        tiled = Disc(np.tile(share.value, count), np.tile(share.error, count))
        return x, self.half.known_log_density(x) + tiled

    def plain(self, c: Array) -> Array:
        """Bound the log of the integral over each panel of K's, over |s (s - 1)|; rows for c.

        |(e^(sL) - 1) (e^((1-s)L) - 1)| <= |s (s - 1)| L² e^(max(c, 1 - c, 1) L).
        """
        loss = self.half.loss(self.left + self.width)
        log = self.half.log_density(self.left) + 2 * np.log(loss) + math.log(self.width)
        return log + growth_of(c)[:, None] * loss

    def beyond(self, c: Array) -> Array:
        """Bound the same integral right of all panels."""
        half, end = self.half, self.left[-1] + self.width
        loss = float(half.loss(end))
        fall = end + half.mu / 2 - half.mu * (growth_of(c) + 2) - 2 / end
        log = float(half.log_density(end)) + 2 * math.log(loss) + growth_of(c) * loss
        with np.errstate(over="ignore"):
            return np.where(fall > _STEEP, np.exp(log) / np.maximum(fall, _STEEP), np.inf)

    def error(self, c: Array, height: float) -> Array:
        """Bound the log of the error of Gauss's rule on each panel for K's; rows for c."""
        ellipse = self._ellipse(growth_of(c), height, double=True)
        # Nothing is more wrong than both values together.
        return np.minimum(ellipse, self.plain(c) + math.log(2))

    def wrong_mass(self, c: float, height: Array | float) -> Array:
        """Bound the log of the error for e^(sL), and for e^((1-s)L), up to a height."""
        return self._ellipse(np.asarray([max(c, 1 - c)]), height, double=False)[0]

    def log_mass(self, c: float) -> Array:
        """Bound the log of the integral of e^(cL) + e^((1-c)L) over each panel; last, of the rest.

        Both are exponentials of monotone functions.
        """
        half, right = self.half, self.left + self.width
        low, high = half.loss(self.left), half.loss(right)
        both = np.logaddexp(
            np.maximum(c * low, c * high), np.maximum((1 - c) * low, (1 - c) * high)
        )
        inner = math.log(self.width) + half.log_density(self.left) + both
        end, most = float(right[-1]), max(c, 1 - c)
        fall = end + half.mu / 2 - half.mu * most
        rest = float(half.log_density(right[-1:])[0]) + most * float(high[-1]) + math.log(2)
        return np.append(inner, rest - math.log(fall) if fall > _STEEP else np.inf)

    def variation(self, c: float) -> float:
        """Bound the log of V, |∫ φ e^(cL) e^(ivL) dx| <= V/v, by V <= 4 sup h or 2 h(0).

        h = φ e^(cL)/L' has at most two maxima, the end at 0 counted, and one if h falls throughout.
        """
        half = self.half
        parts = max(1, math.ceil(self.width * 50 * max(1.0, half.mu)))
        left = (self.left[:, None] + self.width / parts * np.arange(parts)).ravel()
        right = left + self.width / parts * (1 + 1e-12)
        low, high = half.share(left), half.share(right)
        lift = np.maximum(c * half.loss(left), c * half.loss(right))
        top = float(np.max(half.log_density(left) + lift - np.log(half.mu * low)))
        rise = max(c + 1, 0.0) * half.mu * high - (left + 1.5 * half.mu)
        if np.all(rise < 0):
            first = float(half.log_density(np.zeros(1))[0])
            return math.log(2) + first - math.log(half.mu * half.q)
        return math.log(4) + top

    def _ellipse(self, growth: Array, height: Array | float, *, double: bool) -> Array:
        half, radius = self.half, self.width / 2
        minor = radius * (_ELLIPSES - 1 / _ELLIPSES) / 2
        allowed = half.mu * minor < _DEEPEST
        reach = radius * (_ELLIPSES + 1 / _ELLIPSES) / 2
        best = np.full((growth.size, self.left.size), np.inf)
        for rho, y, r in zip(
            _ELLIPSES[allowed].tolist(),
            minor[allowed].tolist(),
            reach[allowed].tolist(),
            strict=True,
        ):
            centre = self.left + radius
            right, leftmost = centre + r, centre - r
            turn = half.mu * y
            most = half.q * np.exp(np.minimum(half.mu * right, _HIGHEST))
            part = np.arctan2(most * math.sin(turn), 1 - half.q + most * math.cos(turn))
            angle = np.maximum(part, np.where(half.mu * right > _HIGHEST, float(turn), 0.0))
            few = half.q * np.exp(np.minimum(half.mu * leftmost, 0.0)) * math.cos(turn)
            # |Re L| where it is negative, and where it is positive.
            above = np.maximum(half.loss(right), -np.log(1 - half.q + few))
            z = np.maximum(leftmost + half.mu / 2, 0.0)
            log = -z * z / 2 - _LOG_SQRT_2PI + y * y / 2 + height * angle
            log = log + (2 * np.log(np.hypot(above, angle)) if double else 0.0)
            log = log + math.log(radius * 64 / 15)
            log = log - 2 * (ORDER - 1) * math.log(rho) - math.log1p(-(rho**-2))
            best = np.minimum(best, log + growth[:, None] * above)
        return best
