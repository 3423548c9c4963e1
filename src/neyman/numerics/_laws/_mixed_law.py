"""The loss of a mixture whose component is observed: e^K = Σ w_i e^(K_i).

What is computed carries its own error: docs/theory/contour.md, section 6, "Observed mixtures".
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_expm1, complex_log1p
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, LossSum, RealCumulant, Span
from neyman.overriding import override

__all__ = ["MixedLaw"]

# From there on e^K is summed beside the largest.
_LARGE = 300.0


@final
@dataclass(frozen=True, slots=True)
class MixedLaw(LossLaw):
    """Laws with their weights, which sum to 1 within an ULP."""

    weights: tuple[float, ...]
    laws: tuple[LossSum, ...]

    @property
    @override
    def strip(self) -> tuple[float, float]:
        return max(law.strip[0] for law in self.laws), min(law.strip[1] for law in self.laws)

    @property
    @override
    def range(self) -> tuple[float, float]:
        return min(law.range[0] for law in self.laws), max(law.range[1] for law in self.laws)

    @override
    def prepared(self, span: Span) -> "MixedNodes":
        return MixedNodes(self.weights, tuple(law.prepared(span) for law in self.laws))

    @override
    def sketched(self, span: Span) -> "MixedNodes":
        return MixedNodes(self.weights, tuple(law.sketched(span) for law in self.laws))


@final
@dataclass(frozen=True, slots=True)
class MixedNodes(LossNodes):
    """Each law prepared."""

    weights: tuple[float, ...]
    nodes: tuple[LossNodes, ...]

    def _shares(self, c: Array) -> tuple[RealCumulant, list[RealCumulant], Array]:
        """Return K with the error of its value alone, the parts, and the logs of their shares."""
        parts = [nodes.real(c) for nodes in self.nodes]
        values: Array = np.stack([p.value for p in parts])
        weights = np.asarray(self.weights)[:, None]
        logs = np.log(weights) + values
        total: Array = np.logaddexp.reduce(logs, axis=0)
        small = np.all(np.abs(values) < 1, axis=0)
        exact = np.sum(weights * np.expm1(np.where(small, values, 0.0)), axis=0)
        value = np.where(small, np.log1p(exact), total)
        # What rounding does to it, and no less than what it does to any of the logarithms.
        far, terms = np.asarray(np.abs(values).max(axis=0), np.float64), len(parts)
        lost = np.where(small, 4 * far, 4 + far - np.log(np.min(weights)))
        error = np.stack([p.error for p in parts]).max(axis=0) + ULP * (1 + terms) * lost
        with np.errstate(invalid="ignore"):
            # Beyond what doubles hold there are no shares, and no answer.
            log_share = logs - value
        share = np.exp(log_share)
        slopes = np.stack([p.slope for p in parts])
        slope = (share * slopes).sum(axis=0)
        square = (share * (slopes**2 + np.stack([p.curvature for p in parts]))).sum(axis=0)
        return RealCumulant(value, error, slope, square - slope**2), parts, log_share

    @override
    def real(self, c: Array) -> RealCumulant:
        return self._shares(c)[0]

    @override
    def line(self, c: float, u: Array) -> tuple[ComplexArray, Array]:
        found = [nodes.line(c, u) for nodes in self.nodes]
        most = max(float(value[0].real) for value, _ in found)
        if not most < _LARGE:
            return self._scaled(found, most)
        total, wrong = np.zeros(u.shape, dtype=np.complex128), np.zeros(u.shape)
        terms = 16 + len(found)
        for weight, (value, error) in zip(self.weights, found, strict=True):
            part = weight * complex_expm1(value)
            total += part
            grown = np.abs(weight + part) * (1 + ULP)
            with np.errstate(over="ignore"):
                wrong += grown * np.expm1(np.minimum(error, 700.0)) + terms * ULP * np.abs(part)
        value = complex_log1p(total)
        return value, _log_error(wrong, np.abs(1 + total)) + 4 * ULP * np.abs(value)

    def _scaled(
        self, found: list[tuple[ComplexArray, Array]], most: float
    ) -> tuple[ComplexArray, Array]:
        """Return log Σ w_i e^(K_i - M) + M and a bound of its error."""
        shape = found[0][1].shape
        total, wrong = np.zeros(shape, dtype=np.complex128), np.zeros(shape)
        for weight, (value, error) in zip(self.weights, found, strict=True):
            part = np.asarray(weight * np.exp(value - most), np.complex128)
            total += part
            with np.errstate(over="ignore", invalid="ignore"):
                lost = ULP * (4 + len(found) + np.abs(value) + abs(most))
                wrong += np.abs(part) * (np.expm1(np.minimum(error, 700.0)) + lost)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(np.log(total) + most, np.complex128)
            slack = ULP * (8 + np.abs(value) + abs(most))
        return value, _log_error(wrong, np.abs(total)) + slack

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        total = np.zeros(s.shape, dtype=np.complex128)
        for weight, nodes in zip(self.weights, self.nodes, strict=True):
            total += weight * complex_expm1(nodes.at(s))
        return complex_log1p(total)

    def _weighed(self, c: float, bounds: list[Array]) -> Array:
        """Return log Σ share_i e^bound_i, with what is not known of the shares on top.

        A share w_i e^(K_i - K) is off by at most the errors of K_i and of K.
        """
        whole, parts, log_share = self._shares(np.asarray([c]))
        logs = [float(s[0]) + bound for s, bound in zip(log_share, bounds, strict=True)]
        error = float(whole.error[0]) + max(float(p.error[0]) for p in parts)
        size = max(float(np.abs(p.value[0])) for p in parts) + abs(float(whole.value[0]))
        total = np.logaddexp.reduce(logs, axis=0)
        known = np.where(np.isfinite(total), np.abs(total), 0.0)
        rounding = 4 - math.log(min(self.weights)) + size + known
        return total + error + ULP * (1 + len(parts)) * rounding

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        found = [np.minimum(nodes.decay(c, u, count), 0.0) for nodes in self.nodes]
        return np.minimum(_known(self._weighed(c, found)), 0.0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        return _known(self._weighed(c, [nodes.decay_integral(c, u, count) for nodes in self.nodes]))


def _log_error(wrong: Array, size: Array) -> Array:
    """Bound the error of a logarithm from that of its argument; infinite where it says nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = wrong / size * (1 + ULP)
        return np.where(share < 0.5, -np.log1p(-np.minimum(share, 0.5)), np.inf) * (1 + ULP)


def _known(log: Array) -> Array:
    return np.where(np.isnan(log), np.inf, log)
