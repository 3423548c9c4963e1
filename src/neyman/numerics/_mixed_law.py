"""The loss of a mixture whose component is observed: e^K = Σ w_i e^(K_i)."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_expm1, complex_log1p
from neyman.numerics._loss_law import LossLaw, LossNodes, LossSum, RealCumulant, Span

__all__ = ["MixedLaw"]


@final
@dataclass(frozen=True, slots=True)
class MixedLaw(LossLaw):
    """Laws with their weights, which sum to 1 within an ULP."""

    weights: tuple[float, ...]
    laws: tuple[LossSum, ...]

    @property
    def strip(self) -> tuple[float, float]:
        """Where all are finite."""
        return max(law.strip[0] for law in self.laws), min(law.strip[1] for law in self.laws)

    @property
    def range(self) -> tuple[float, float]:
        """What holds all."""
        return min(law.range[0] for law in self.laws), max(law.range[1] for law in self.laws)

    def prepared(self, span: Span) -> "MixedNodes":
        """Each for the span."""
        return MixedNodes(self.weights, tuple(law.prepared(span) for law in self.laws))

    def sketched(self, span: Span) -> "MixedNodes":
        """Each for the span."""
        return MixedNodes(self.weights, tuple(law.sketched(span) for law in self.laws))


@final
@dataclass(frozen=True, slots=True)
class MixedNodes(LossNodes):
    """Each law prepared."""

    weights: tuple[float, ...]
    nodes: tuple[LossNodes, ...]

    def _shares(self, c: Array) -> tuple[Array, list[RealCumulant], Array]:
        """Return K, the parts, and their shares of e^K."""
        parts = [nodes.real(c) for nodes in self.nodes]
        logs = np.stack([np.log(w) + p.value for w, p in zip(self.weights, parts, strict=True)])
        total = np.logaddexp.reduce(logs, axis=0)
        small = np.all([np.abs(p.value) < 1 for p in parts], axis=0)
        exact = sum(
            w * np.expm1(np.where(small, p.value, 0.0))
            for w, p in zip(self.weights, parts, strict=True)
        )
        return np.where(small, np.log1p(exact), total), parts, np.exp(logs - total)

    def real(self, c: Array) -> RealCumulant:
        """By the shares; the largest error of the parts."""
        value, parts, share = self._shares(c)
        slopes = np.stack([p.slope for p in parts])
        slope = (share * slopes).sum(axis=0)
        square = (share * (slopes**2 + np.stack([p.curvature for p in parts]))).sum(axis=0)
        error = np.max([p.error + 4 * ULP * np.abs(p.value) for p in parts], axis=0)
        return RealCumulant(value, error + 4 * ULP * np.abs(value), slope, square - slope**2)

    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        """log(1 + Σ w_i (e^(K_i) - 1)), on the main branch: powers do not care."""
        total, wrong = np.zeros(u.shape, dtype=np.complex128), np.zeros(u.shape)
        for weight, nodes in zip(self.weights, self.nodes, strict=True):
            value, error = nodes.line(c, u)
            part = weight * complex_expm1(value)
            total += part
            grown = np.abs(weight + part)
            with np.errstate(over="ignore"):
                wrong += grown * np.expm1(np.minimum(error, 700.0)) + 4 * ULP * (
                    np.abs(part) + grown * np.abs(value)
                )
        with np.errstate(divide="ignore", invalid="ignore"):
            share = wrong / np.abs(1 + total)
            error = np.where(share < 0.5, -np.log1p(-np.minimum(share, 0.5)), np.inf)
        value = complex_log1p(total)
        return value, error + ULP * np.abs(value)

    def at(self, s: ComplexArray) -> ComplexArray:
        """As above."""
        total = np.zeros(s.shape, dtype=np.complex128)
        for weight, nodes in zip(self.weights, self.nodes, strict=True):
            total += weight * complex_expm1(nodes.at(s))
        return complex_log1p(total)

    def decay(self, c: float, u: Array, count: float) -> Array:
        """The mean of the parts' own, by their shares of e^K(c)."""
        _, _, share = self._shares(np.asarray([c]))
        logs = [
            np.log(s[0]) + np.minimum(nodes.decay(c, u, count), 0.0)
            for s, nodes in zip(share, self.nodes, strict=True)
        ]
        return np.minimum(np.logaddexp.reduce(logs, axis=0) + 1e-9, 0.0)

    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        """Likewise."""
        _, _, share = self._shares(np.asarray([c]))
        logs = [
            np.log(s[0]) + nodes.decay_integral(c, u, count)
            for s, nodes in zip(share, self.nodes, strict=True)
        ]
        return np.logaddexp.reduce(logs, axis=0) + 1e-9
