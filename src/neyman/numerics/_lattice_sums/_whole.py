"""The law of a sum over all its losses, from above and from below: a loss to go on with."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import AtomSource, ChordSource, Masses
from neyman.numerics._lattice_sums._window import Powers, Window

__all__ = ["WholeLaw", "part_of", "whole_law"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class WholeLaw:
    """Masses under Q at losses step * k - lowered, k from `first` on.

    Attributes:
        step: of the grid.
        first: k of the first loss.
        masses: all on one side of the truth's.
        infinite: mass of an infinite loss.
        lowered: by how much each loss lies below its grid point; negative if above.
    """

    step: float
    first: int
    masses: Array
    infinite: float
    lowered: float

    @property
    def losses(self) -> Array:
        """The losses."""
        k = np.arange(self.masses.size, dtype=np.float64)
        return np.asarray((self.first + k) * self.step - self.lowered, dtype=np.float64)


def whole_law(powers: Powers, found: Window, *, up: bool) -> WholeLaw:
    """Return the law of a composition whose window covers all losses that matter.

    From above what lies below the window is raised to its first loss, what lies beyond is infinite;
    from below both are left out.
    """
    k = np.arange(found.masses.upper.size, dtype=np.float64)
    error = found.base_error + 4 * ULP
    with np.errstate(over="ignore", under="ignore"):
        scale = np.exp(found.base - found.tilt * k)
    if not up:
        lower = found.masses.lower * scale * max(1 - error, 0.0)
        return WholeLaw(found.step, found.first, lower, float(found.infinite.lower), found.lowered)
    masses = found.masses.upper * scale * (1 + error) + 1e-300
    least = float(np.sum(found.masses.lower * scale)) * max(1 - error, 0.0) * (1 - 1e-12)
    total = math.fsum(n * math.log(float(np.sum(law.masses)) + law.infinite) for law, n in powers)
    total = math.exp(total) * (1 + 400 * ULP * sum(n for _, n in powers))
    infinite = float(found.infinite.upper) + found.beyond
    masses[0] += max(total - least - float(found.infinite.lower), 0.0)
    return WholeLaw(found.step, found.first, masses, infinite, found.lowered)


def part_of(lower: WholeLaw, upper: WholeLaw, times: int) -> Part:
    """Return a sum as a loss that can be sampled, and summed again.

    The upper law keeps its mass in P or less: what is missing is a loss of -inf, and the sum of
    both at least 1. The lower law's mass in P may exceed 1: its lowest losses are left out until it
    does not.
    """
    q, losses = upper.masses, upper.losses
    room = 2 * ULP * (2 + np.abs(losses))
    with np.errstate(over="ignore"):
        p = np.minimum(q * np.exp(-losses), 1e300)
    missing = max(1 - float(np.sum(p * (1 - room))) * (1 - 1e-12), 0.0)
    atoms = Masses(Bracket(p * (1 - room), p * (1 + room)), Bracket(q, q))
    above = AtomSource(
        atoms, (upper.infinite, upper.infinite), (missing * (1 - ULP), missing * (1 + ULP))
    )
    return Part(above, _capped(lower), times)


def _capped(law: WholeLaw) -> ChordSource:
    losses = law.losses
    with np.errstate(over="ignore"):
        p = law.masses * np.exp(-losses) * (1 + 2 * ULP * (2 + np.abs(losses)))
    p = np.where(law.masses > 0, np.minimum(p, 1e300), 0.0)
    # From the largest loss down, as far as a probability goes.
    kept = np.cumsum(p[::-1])[::-1] * (1 + p.size * 2.0**-52) <= 1
    kept &= law.masses > 0
    missing = max(1 - float(np.sum(p[kept])) * (1 + 1e-12), 0.0)
    return ChordSource(losses[kept], p[kept], law.masses[kept], law.infinite, (missing, missing))
