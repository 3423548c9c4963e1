"""The loss of a mixture whose component is observed: e^K = Σ w_i e^(K_i).

Each computed value carries its own error: docs/theory/contour.md, section 6, "Observed mixtures".
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray, complex_expm1, complex_log1p
from neyman.numerics._disc import Disc
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, LossSum, RealCumulant, Span
from neyman.numerics._laws._weighted import logged
from neyman.overriding import override

__all__ = ["MixedLaw"]

# From this K on, e^K is summed relative to the largest part.
_LARGE = 300.0
# The relative error of a weight, which is a rounded quotient.
_WEIGHT = 2.0**-53


@final
@dataclass(frozen=True, slots=True)
class MixedLaw(LossLaw):
    """Laws with their weights: the doubles nearest to numbers that sum to 1."""

    weights: tuple[float, ...]
    laws: tuple[LossSum, ...]

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
@dataclass(frozen=True, slots=True, eq=False)
class MixedNodes(LossNodes):
    """Each law prepared."""

    weights: tuple[float, ...]
    nodes: tuple[LossNodes, ...]

    @property
    def _known(self) -> Disc:
        """The weights."""
        return Disc.within(np.asarray(self.weights), _WEIGHT)

    def _of(self, parts: list[RealCumulant]) -> RealCumulant:
        """Return K of the mixture from K of its parts."""
        value, error, slopes, bends = (np.asarray([p[i] for p in parts]) for i in range(4))
        part = Disc.of(value.T, error.T)
        if np.all(np.abs(value) < 1):
            whole = part.expm1().dot(self._known).log1p()
        else:
            top = value.max(axis=0)
            whole = (part - top[..., None]).exp().dot(self._known).log() + top
        with np.errstate(invalid="ignore"):
            # Beyond the doubles the shares are nan.
            logs = value - whole.value.real + np.log(np.asarray(self.weights))[:, None]
        return RealCumulant(whole.value.real, whole.error, *_derivatives(logs, slopes, bends))

    @override
    def real(self, c: Array) -> RealCumulant:
        return self._of([nodes.real(c) for nodes in self.nodes])

    @override
    def sketch(self, c: Array) -> RealCumulant:
        parts = [nodes.sketch(c) for nodes in self.nodes]
        value, _, slopes, bends = (np.asarray([p[i] for p in parts]) for i in range(4))
        logs = value + np.log(np.asarray(self.weights))[:, None]
        whole: Array = np.logaddexp.reduce(logs, axis=0)
        return RealCumulant(whole, np.zeros(c.shape), *_derivatives(logs - whole, slopes, bends))

    @override
    def line(self, c: float, u: Array) -> Disc:
        found = [nodes.line(c, u) for nodes in self.nodes]
        most = max(float(part.value[0].real) for part in found)
        if not most < _LARGE:
            return self._summed([(part - most).exp() for part in found]).log() + most
        return logged(self._summed([part.expm1() for part in found]))

    def _summed(self, parts: list[Disc]) -> Disc:
        """Return the sum of the parts by their weights."""
        weights = self._known
        total = parts[0] * weights.at(0)
        for i, part in enumerate(parts[1:], 1):
            total = total + part * weights.at(i)
        return total

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        total = np.zeros(s.shape, dtype=np.complex128)
        for weight, nodes in zip(self.weights, self.nodes, strict=True):
            total += weight * complex_expm1(nodes.at(s))
        return complex_log1p(total)

    def log_shares(self, c: float) -> Disc:
        """Return the logs of the parts' shares of e^K(c)."""
        parts = [nodes.real(np.asarray([c])) for nodes in self.nodes]
        value, error = (np.concatenate([p[i] for p in parts]) for i in range(2))
        whole = self._of(parts)
        return Disc.of(value, error) + self._known.log() - Disc.of(whole.value, whole.error)

    def _weighed(self, c: float, bounds: list[Array]) -> Array:
        """Bound log Σ share_i e^bound_i from above."""
        # Bounds far below are raised into the range of the doubles.
        raised = np.maximum(np.asarray(bounds).T, -_LARGE)
        found = (_log_shares(self, c) + raised).exp().sum().log().upper
        return np.where(np.isnan(found), np.inf, found)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:
        found = [np.minimum(nodes.decay(c, u, count), 0.0) for nodes in self.nodes]
        return np.minimum(self._weighed(c, found), 0.0)

    @override
    def decay_integral(self, c: float, u: Array, count: float) -> Array:
        return self._weighed(c, [nodes.decay_integral(c, u, count) for nodes in self.nodes])


def _derivatives(log_share: Array, slopes: Array, bends: Array) -> tuple[Array, Array]:
    """Estimate the derivatives of the mixture's K from those of the parts."""
    share = np.exp(log_share)
    slope = (share * slopes).sum(axis=0)
    return slope, (share * (slopes**2 + bends)).sum(axis=0) - slope**2


@lru_cache(maxsize=16)
def _log_shares(nodes: MixedNodes, c: float) -> Disc:
    """Return the shares. The decay needs them at several heights, so that they are kept."""
    return nodes.log_shares(c)
