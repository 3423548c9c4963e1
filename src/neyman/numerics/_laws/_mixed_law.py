"""The loss of a mixture whose component is observed: e^K = Σ w_i e^(K_i).

What is computed carries its own error: docs/theory/contour.md, section 6, "Observed mixtures".
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

# From there on e^K is summed beside the largest.
_LARGE = 300.0
# What a weight, a quotient that was rounded, is off by.
_WEIGHT = 2.0**-53


@final
@dataclass(frozen=True, slots=True)
class MixedLaw(LossLaw):
    """Laws with their weights: the doubles nearest to numbers that sum to 1."""

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
        """Return K of what is known of the parts."""
        value, error, slopes, bends = (np.asarray([p[i] for p in parts]).T for i in range(4))
        part, top = Disc.of(value, error), value.max(axis=-1)
        with np.errstate(invalid="ignore"):
            # Beyond what doubles hold there are no shares, and no answer.
            if np.all(np.abs(value) < 1):
                whole = part.expm1().dot(self._known).log1p()
            else:
                whole = (part - top[..., None]).exp().dot(self._known).log() + top
            share = np.asarray(self.weights) * np.exp(value - whole.value.real[..., None])
            slope = (share * slopes).sum(axis=-1)
            square = (share * (slopes**2 + bends)).sum(axis=-1)
        return RealCumulant(whole.value.real, whole.error, slope, square - slope**2)

    @override
    def real(self, c: Array) -> RealCumulant:
        return self._of([nodes.real(c) for nodes in self.nodes])

    @override
    def sketch(self, c: Array) -> RealCumulant:
        return self._of([nodes.sketch(c) for nodes in self.nodes])

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
        """Return the logs of what the parts have of e^K(c)."""
        parts = [nodes.real(np.asarray([c])) for nodes in self.nodes]
        value, error = (np.concatenate([p[i] for p in parts]) for i in range(2))
        whole = self._of(parts)
        return Disc.of(value, error) + self._known.log() - Disc.of(whole.value, whole.error)

    def _weighed(self, c: float, bounds: list[Array]) -> Array:
        """Bound log Σ share_i e^bound_i from above."""
        # What is far below is raised to where the doubles hold it.
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


@lru_cache(maxsize=16)
def _log_shares(nodes: MixedNodes, c: float) -> Disc:
    """Remember them; the decay asks for them at several heights."""
    return nodes.log_shares(c)
