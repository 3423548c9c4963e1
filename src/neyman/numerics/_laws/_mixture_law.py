"""The loss between two mixtures of normals of one variance, shifted to opposite sides.

P has density φ(z) A(z) and Q density φ(z) B(z), with

    A = Σ p_j e^(t_j z - t_j²/2), t_j <= 0,    B = Σ q_j e^(t_j z - t_j²/2), t_j >= 0,

so that the loss l(z) = log B - log A increases. Expectations under P are trapezoidal sums over z.
Both certificates come from shifting the line of integration, z -> z + id
(docs/theory/contour.md):

    quadrature   the nodes of a line lie above the real one, where e^(iul) only shrinks, and so
                 do both paths that bound the aliases of the sum, whatever the height u;
    truncation   |e^K(c+iv)| <= e^(d²/2) E_φ[|A|^(1-c) |B|^c e^(-v (arg B - arg A))] at z + id,
                 which decreases in v: one number bounds the rest of the contour.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast, final

import numpy as np

from neyman.numerics._laws._loss_law import Copies, LossLaw, LossNodes, Span
from neyman.numerics._laws._mixture_cells import HIGHEST
from neyman.numerics._laws._mixture_nodes import MixtureNodes
from neyman.numerics._laws._shifts import Shifts, Stack
from neyman.overriding import override

__all__ = ["GaussianMixtureLaw", "Shifts"]

# Means of the tilted law, in deviations, and tilts that are still followed.
_FARTHEST, _STEEPEST = 600.0, 1e6
# A grid reaches this many deviations beyond the tilted mean.
_WITHIN = 16.0
# Fewer laws are not worth a stack; more would leave the processor's cache.
_FEWEST, _MOST_LAWS = 4, 32
# A sketch of many laws has this many strata of `far`, each with as many cells of `size`; exponents
# in a size are at most the second number.
_STRATA, _MOST = 6, 300.0
# The largest ratio of `far` on one grid; below the second number all grids are equally coarse.
_WIDER, _COARSE = 1.5, 0.6


@final
@dataclass(frozen=True, slots=True)
class GaussianMixtureLaw(LossLaw):
    """See the module; `p` has means <= 0, `q` means >= 0."""

    p: Shifts
    q: Shifts

    @property
    @override
    def usable(self) -> tuple[float, float]:
        # The doubles hold e^(tz) so far out.
        most = min(_FARTHEST, HIGHEST / max(self.p.far, self.q.far) - _WITHIN)
        high = most / self.q.far if self.q.far else math.inf
        low = 1 - most / self.p.far if self.p.far else -math.inf
        return max(low, -_STEEPEST), min(high, _STEEPEST)

    @property
    @override
    def range(self) -> tuple[float, float]:
        low = self.q.log_unmoved if self.p.far == 0 else -math.inf
        high = -self.p.log_unmoved if self.q.far == 0 else math.inf
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    @override
    def from_one_normal(self, *, reversed_: bool) -> Shifts | None:
        one, other = (self.q, self.p) if reversed_ else (self.p, self.q)
        if one.means != (0.0,):
            return None
        return Shifts(tuple(-t for t in other.means), other.weights) if reversed_ else other

    @property
    @override
    def wide(self) -> bool:
        return True

    @property
    def size(self) -> float:
        """∫ φ (B - A)² dz: about the variance of the loss, where losses are small."""
        means = np.asarray(self.q.means + self.p.means)
        weights = np.asarray([*self.q.weights, *(-w for w in self.p.weights)])
        growth = np.expm1(np.minimum(np.outer(means, means), _MOST))
        return max(float(weights @ growth @ weights), 1e-300)

    @property
    def far(self) -> float:
        """The largest angle of the density for a unit of height."""
        return self.p.far + self.q.far

    @override
    def prepared(self, span: Span) -> MixtureNodes:
        return MixtureNodes.of(_stacked(((self, 1.0),)), span)

    @override
    def sketched(self, span: Span) -> MixtureNodes:
        return MixtureNodes.sketched(_stacked(((self, 1.0),)), span)

    @override
    @classmethod
    def together(
        cls, copies: Sequence[Copies], span: Span, *, sketch: bool
    ) -> list[tuple[LossNodes, float]]:
        laws = cast("Sequence[_Copies]", copies)
        alike: dict[tuple[int, int], list[_Copies]] = defaultdict(list)
        for law, count in laws:
            alike[len(law.p.means), len(law.q.means)].append((law, count))
        found: list[tuple[LossNodes, float]] = []
        for group in alike.values():
            few = _representatives(group) if sketch else group
            for run, times in _sharing(sorted(few, key=lambda one: one[0].far)):
                stack = _stacked(tuple(run))
                nodes = MixtureNodes.sketched if sketch else MixtureNodes.of
                found.append((nodes(stack, span), times))
        return found


_Copies = tuple[GaussianMixtureLaw, float]


@lru_cache(maxsize=64)
def _stacked(laws: tuple[_Copies, ...]) -> Stack:
    """Put laws that have equally many means into one stack."""
    return Stack.of(
        [law.p for law, _ in laws], [law.q for law, _ in laws], [count for _, count in laws]
    )


def _representatives(laws: Sequence[_Copies]) -> Sequence[_Copies]:
    """Return fewer laws with about the same sum, for sketches of many laws.

    One law represents each cell of laws with similar `far` and `size`. It counts so often that the
    total size of the cell stays the same.
    """
    if len(laws) <= 2 * _STRATA**2:
        return laws
    found: list[_Copies] = []
    for stratum in _split(sorted(laws, key=lambda one: one[0].far)):
        for cell in _split(sorted(stratum, key=lambda one: one[0].size)):
            middle = cell[len(cell) // 2][0]
            total = math.fsum(law.size * count for law, count in cell)
            found.append((middle, total / middle.size))
    return found


def _split(laws: Sequence[_Copies]) -> list[Sequence[_Copies]]:
    size = -(-len(laws) // _STRATA)
    return [laws[start : start + size] for start in range(0, len(laws), size)]


def _sharing(laws: list[_Copies]) -> Iterator[tuple[list[_Copies], float]]:
    """Yield runs of laws that share a grid, and how often a run counts. `laws` ascend in `far`."""
    start = 0
    for stop in range(1, len(laws) + 1):
        widest = _WIDER * max(laws[start][0].far, _COARSE)
        wide = stop < len(laws) and laws[stop][0].far > widest
        if stop == len(laws) or wide or stop - start == _MOST_LAWS:
            run = laws[start:stop]
            if len(run) < _FEWEST:
                yield from (([(law, 1.0)], count) for law, count in run)
            else:
                yield run, 1.0
            start = stop
