"""The loss of a sampled Gaussian pair, made symmetric step by step: sampling without replacement.

Where the loss L(x) = log(1 - q + q e^(μx)), x = z - μ/2 > 0, of the sampled pair is positive, it is
kept. Its mirror image, e^L times as likely, replaces the negative losses. The rest of the mass is
an atom at 0. So

    e^K(s) = 1 - ∫_0^∞ φ(x + μ/2) (e^(sL) - 1) (e^((1-s)L) - 1) dx.

Gauss's rule on panels, with the error bounded on ellipses around them (Trefethen, "Approximation
theory and approximation practice", theorem 19.3). Proofs: docs/theory/without_replacement.md.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.numerics._laws._symmetrised_decay import Tilted
from neyman.numerics._laws._symmetrised_panels import Half, Panels, growth_of
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.numerics._primitives import log, log1mexp, log_phi
from neyman.overriding import override

__all__ = ["SymmetrisedGaussianLaw"]

# The relative error of r of a point, and the error of the exponent of a mirrored one.
_GIVEN = 2.0**-47
_QUADRATURE, _WINDOW, _MOST_PANELS = 2.0**-54, 48.0, 2**10
# Panels that are laid at most: each takes about a kilobyte.
_LONGEST = 2**14
# Steps of second differences of e^K, over 1 + μ.
_DIFFERENCES = np.asarray([0.001, 0.01, 0.1, 0.5])


@final
@dataclass(frozen=True, slots=True)
class SymmetrisedGaussianLaw(LossLaw):
    """See the module; 0 < q < 1."""

    mu: float
    q: float

    @property
    def half(self) -> Half:
        """Its positive losses."""
        return Half(self.mu, self.q)

    @property
    @override
    def range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @override
    def prepared(self, span: Span) -> "SymmetrisedNodes":
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
        # Orders that need more panels have a large error: the rest of the integral.
        far = min((grown + 2) * self.mu + 14.0, _LONGEST * width)
        panels = Panels(self.half, np.arange(0.0, far, width), width)
        sizes = panels.plain(np.asarray([span.low, span.high]))
        kept = (sizes > sizes.max(axis=1, keepdims=True) - _WINDOW).any(axis=0)
        # The bulk of the mass is kept too: the bounds on the decay need it.
        kept |= panels.left < 9.0
        count = int(np.flatnonzero(kept)[-1]) + 1
        x, known_weight = panels.nodes(count)
        known_loss = self.half.known_loss(x)
        log_weight, loss = known_weight.value.real, known_loss.value.real
        with np.errstate(over="ignore", invalid="ignore"):
            points = WeightedLosses.of(
                np.concatenate([log_weight, log_weight + loss]),
                np.concatenate([np.expm1(loss), np.expm1(-loss)]),
                np.concatenate([loss, -loss]),
            )
        return SymmetrisedNodes(self, points, panels, known_weight, known_loss, count, span.height)

    @override
    def sketched(self, span: Span) -> LossNodes:
        return self._on(min(0.5, 0.5 / self.mu), span)


@final
@dataclass(frozen=True, slots=True)
class SymmetrisedNodes(LossNodes):
    """The nodes on the first `count` panels, and the panels that bound the errors."""

    law: SymmetrisedGaussianLaw
    points: WeightedLosses
    panels: Panels
    log_weight: Disc
    loss: Disc  # L at the nodes
    count: int
    height: float

    def _wrong(self, c: Array, height: float, size: tuple[Array, Array]) -> Array:
        """Bound the error of e^K up to a height, but for what the sums round.

        Args:
            c: real parts.
            height: of the imaginary ones.
            size: |s (s - 1)| and |s| (1 + |s|), c's shape or, for one c, any.
        """
        quadrature = self.panels.error(c, height)
        quadrature[:, self.count :] = self.panels.plain(c)[:, self.count :]
        growth, loss, off = growth_of(c), self.loss.value.real, self.loss.error
        log = self.log_weight.value.real + 2 * np.log(loss) + growth[:, None] * loss
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.exp(quadrature).sum(axis=1) + self.panels.beyond(c)
            mass = np.exp(log)
            # L^2 e^(growth L) moves by (2/L + growth) times what L does.
            share = (self.log_weight + self.loss).error + 2 * off / loss + 2 * _GIVEN
            total = total + mass @ share
            total = total + growth * (mass @ off)
            return size[0] * total + size[1] * (_GIVEN * mass.sum(axis=1))

    @override
    def real(self, c: Array) -> RealCumulant:
        size = np.abs(c * (c - 1)), np.abs(c) * (1 + np.abs(c))
        return self.points.real(c, self._wrong(c, 0.0, size))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        return self.points.sketch(c)

    @override
    def line(self, c: float, u: Array) -> Disc:
        s = c + 1j * u
        size = np.abs(s * (s - 1)), np.abs(s) * (1 + np.abs(s))
        return self.points.line(c, u, self._wrong(np.asarray([c]), self.height, size))

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.points.at(s)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        middle = self.real(np.asarray([c]))
        base = float(Disc.of(middle.value, middle.error).lower[0])
        if not math.isfinite(base):
            return np.zeros(u.shape)
        mu, q = Interval.decimal(self.law.mu), Interval.decimal(self.law.q)
        # 2 Φ(-μ/2) of the mass has a loss that is not 0 ...
        log_atom = log1mexp(log(Interval.of(2)) + log_phi(-mu / 2)) + log(1 - q)
        tilted = Tilted(
            self.panels,
            self.loss,
            self.log_weight,
            c,
            float(log_atom.upper),
            base,
            self._deviation(c, middle),
        )
        return tilted.decay(u, count)

    def _deviation(self, c: float, middle: RealCumulant) -> float:
        """Bound that of the tilted loss: E (L - m)² <= (E e^(h(L-m)) + E e^(-h(L-m)) - 2)/h²."""
        h = _DIFFERENCES / (1 + self.law.mu)
        mean = float(middle.slope[0])
        sides = self.real(np.concatenate([c + h, c - h]))
        gain = Disc.of(sides.value, sides.error) - Disc.of(middle.value, middle.error)
        gain = (gain - Disc.exactly(mean) * np.concatenate([h, -h])).expm1()
        square = (gain.at(slice(h.size)) + gain.at(slice(h.size, None))).upper
        square = (Disc.exactly(np.maximum(square, 0.0)) / (h * h)).upper
        return math.nextafter(math.sqrt(float(np.fmin.reduce(square))), math.inf)
