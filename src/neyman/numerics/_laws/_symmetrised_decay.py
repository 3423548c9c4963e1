"""Bounds of |e^(K(c + iv) - K(c))| for all v >= u, for a symmetrised sampled Gaussian.

ψ(v) = e^(K(c + iv) - K(c)) is the transform of a law with an atom at 0, so |ψ| moves by at most
E|L - m| <= σ a unit of v: bounds on a grid bound all between, and A + V/v what lies beyond.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._disc import Disc, sum_units
from neyman.numerics._laws._symmetrised_panels import ORDER, Panels

__all__ = ["Tilted"]

# The largest phase, in radians, that is followed on a panel.
_PACE = 16.0
_MOST_POINTS = 4000
# The relative error of a product, and the error of a sine or a cosine.
_PHASE, _WAVE = 2.0**-53, 2.0**-50
# So many deviations of the sum of all copies nothing has fallen yet.
_NOT_YET = 3.0


@final
@dataclass(frozen=True, slots=True)
class Tilted:
    """The law tilted to c.

    Attributes:
        panels: all of them.
        loss: L at nodes on the first panels.
        log_weight: of the nodes under P.
        c: the tilt.
        log_atom: logarithm of the P-mass of the atom, rounded up.
        base: a lower bound of K(c).
        deviation: an upper bound of that of L.
    """

    panels: Panels
    loss: Disc
    log_weight: Disc
    c: float
    log_atom: float
    base: float
    deviation: float

    @property
    def atom(self) -> float:
        """A bound of the share of the atom."""
        return math.exp(min(self.log_atom - self.base, 0.0))

    @property
    def variation(self) -> float:
        """Return V with |density part at c + iv| <= V/v."""
        both = np.logaddexp(self.panels.variation(self.c), self.panels.variation(1 - self.c))
        return float(np.exp(min(float(both) - self.base, 700.0)))

    def decay(self, u: Array, count: float) -> Array:
        """Bound log |ψ(v)| for all v >= u at once."""
        far = np.minimum(self.atom + self.variation / u, 1.0)
        if not 0 < self.deviation < math.inf:
            return np.log(far)
        start = max(float(np.min(u)), _NOT_YET / (self.deviation * math.sqrt(count)))
        grid = _grid(start, 4 * self.variation / max(1 - self.atom, 1e-3), self.deviation)
        last = min(self.atom + self.variation / float(grid[-1]), 1.0)
        height = np.minimum(self._modulus(grid), self.atom + self.variation / grid)
        cells = (height[:-1] + height[1:]) / 2 + self.deviation * np.diff(grid) / 2
        worst = np.maximum.accumulate(np.append(np.minimum(cells, 1.0), last)[::-1])[::-1]
        place = np.searchsorted(grid, u, side="right") - 1
        found = np.where(place < 0, 1.0, worst[np.maximum(place, 0)])
        found = np.where(u >= grid[-1], np.minimum(far, last), found)
        return np.minimum(Disc.exactly(found).log().upper, 0.0)

    def _modulus(self, v: Array) -> Array:
        """Bound |ψ(v)|: panels that turn too fast count with all their mass."""
        c, base, panels = self.c, self.base, self.panels
        count = self.loss.value.size // ORDER
        left = panels.left
        turn = panels.half.loss(left + panels.width) - panels.half.loss(left)
        followed = _PACE / turn[:count]
        heights = np.concatenate([followed, np.zeros(left.size - count)])
        with np.errstate(over="ignore"):
            error = 2 * np.exp(panels.wrong_mass(c, heights)[:count] - base)
            most = np.exp(panels.log_mass(c) - base)
        log, loss = self.log_weight - base, self.loss.value.real
        up, down = (log + self.loss * c).exp(), (log + self.loss * (1 - c)).exp()
        both, apart = up + down, up - down
        sizes = both.value.real
        flat = float(both.error.sum())
        summed = sizes.reshape(count, ORDER).sum(axis=1)
        mass = np.minimum(most[:count], summed + error + flat)
        # Not to follow a panel at all is better where the error is larger.
        error = np.where(error < mass, error, mass)
        seen = (v[:, None] <= followed) & (error < mass)
        weights = np.repeat(seen, ORDER, axis=1)
        phase = np.outer(v, loss)
        cosine = (np.cos(phase) * weights) @ sizes
        sine = (np.sin(phase) * weights) @ apart.value.real
        lost = np.where(seen, error, mass).sum(axis=1) + float(most[count:].sum())
        # A phase is off by what v L is: by the loss's share, and by a product.
        steep = float(sizes @ (self.loss.error + _PHASE * loss))
        flat = 2 * flat + (2 * sum_units(loss.size) + _WAVE) * float(sizes.sum())
        return np.hypot(self.atom + cosine, sine) + lost + flat + v * steep


def _grid(start: float, stop: float, deviation: float) -> Array:
    """Return points from `start` on, next to each other where |ψ| is near 1 - v²σ²/2."""
    points = [start]
    while (points[-1] < stop or len(points) < 2) and len(points) < _MOST_POINTS:
        v = points[-1]
        points.append(v + min(0.1 * v * v * deviation, 0.4 / deviation))
    return np.asarray(points)
