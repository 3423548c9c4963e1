"""Report noisy max with Laplace noise, drawn exactly.

Of 64 bits, one is the sign and 63 are the first bits of a uniform V; the noise +-log(1/V) is added
to rate u_i. Float64 gives an interval for every noisy score. If the largest interval overlaps
others, all candidates for the largest get more bits and are compared as balls. The interval
includes the 63 bits, (m, m + 1) / 2^63, and 2^-46 (1 + rate d + z) for the rounding, sixteen times
the possible error of the logarithm and the product.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._decided import LazyUniform, ball, decided
from neyman.mechanisms._folded import FloatArray
from neyman.mechanisms._laplace_curve import LaplaceSelection
from neyman.numerics._legendre import legendre
from neyman.overriding import override

if TYPE_CHECKING:
    from flint import arb

__all__ = ["ReportNoisyMax", "noisy_argmax"]

_BAND = 2.0**-46
_NODES, _WEIGHTS = legendre(64)


@final
class ReportNoisyMax(LaplaceSelection):
    """Chooses the largest of rate u_i + Z_i, Z_i independent standard Laplace.

    The guarantee is the Laplace curve, as for every noise whose hazard rate is at most 1. With
    exponential noise this becomes `PermuteAndFlip`, with Gumbel noise `ExponentialMechanism`. Both
    choose better at the same guarantee; use this one only if you must.

    Source: Dwork and Roth (2014), "The algorithmic foundations of differential privacy", claim 3.9,
        for epsilon-DP; the curve: docs/theory/selection.md.

    >>> import numpy as np
    >>> choice = ReportNoisyMax(epsilon=1, sensitivity=1)
    >>> choice.probabilities(np.array([0, 2])).round(4).tolist()
    [0.2759, 0.7241]
    """

    __slots__ = ()

    @override
    def describe(self) -> dict[str, object]:
        return self._record("report_noisy_max_laplace")

    @override
    def probabilities(self, scores: IntArray) -> FloatArray:
        u = float(self.rate) * (scores - np.max(scores)).astype(np.float64)
        u = u[:, None]
        edges = np.unique(np.concatenate([u.ravel() + k for k in range(-40, 41)]))
        half = np.diff(edges) / 2
        x = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
        found = np.empty(u.size)
        flat, weights = x.ravel(), (half[:, None] * _WEIGHTS).ravel()
        size = np.exp(-np.abs(flat - u)) / 2
        below = np.where(flat < u, size, 1 - size)
        for i in range(u.size):
            found[i] = np.sum(weights * size[i] * np.prod(np.delete(below, i, axis=0), axis=0))
        return found

    def _choose(self, gaps: npt.NDArray[np.uint64], source: BitSource) -> int:
        return noisy_argmax(gaps, self.rate, source)


def noisy_argmax(
    gaps: npt.NDArray[np.uint64], rate: Fraction, source: BitSource, band: float = _BAND
) -> int:
    """Return the index of the largest of -rate gap + standard Laplace noise.

    Args:
        gaps: of the scores.
        rate: exact.
        source: of fair bits.
        band: relative error assumed for float64; a wider one changes only the time.
    """
    words = source.uint64(gaps.size)
    up = (words & np.uint64(1)) == 0
    leading = words >> np.uint64(1)
    shape = leading.astype(np.float64)
    with np.errstate(divide="ignore"):
        # z = -log V decreases in V.
        most, least = (-np.log((shape + step) * 2.0**-63) for step in (0.0, 1.0))
    base = -float(rate) * gaps.astype(np.float64)
    room = band * (1 - base + np.where(np.isfinite(most), most, 0.0))
    lower = base + np.where(up, least, -most) - room
    upper = base + np.where(up, most, -least) + room
    open_ = np.flatnonzero(upper >= np.max(lower)).tolist()
    if len(open_) == 1:
        return open_[0]
    uniforms = [LazyUniform(int(leading[i]), 63, source) for i in open_]
    signs = [1 if up[i] else -1 for i in open_]
    offsets = [-rate * int(gaps[i]) for i in open_]
    return open_[decided(uniforms, lambda: _exact_largest(offsets, signs, uniforms))]


def _exact_largest(
    offsets: Sequence[Fraction], signs: Sequence[int], uniforms: Sequence[LazyUniform]
) -> int | None:
    """Return the index whose lower bound is above all other upper bounds; None if undecided."""
    bounds = [_ends(o, s, u) for o, s, u in zip(offsets, signs, uniforms, strict=True)]
    for i, (low, _) in enumerate(bounds):
        if low is not None and all(
            high is not None and bool(low >= high) for j, (_, high) in enumerate(bounds) if j != i
        ):
            return i
    return None


def _ends(offset: Fraction, sign: int, uniform: LazyUniform) -> "tuple[arb | None, arb | None]":
    """Return lower and upper bound of offset + sign log(1/V); None is infinite."""
    low, high = uniform.ends()
    far = -low.log() if uniform.bits else None
    near = -high.log()
    base = ball(offset)
    if sign > 0:
        return base + near, None if far is None else base + far
    return None if far is None else base - far, base - near
