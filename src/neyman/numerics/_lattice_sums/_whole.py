"""The law of a sum over all its losses, from above and from below: a loss to go on with."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import AtomSource, ChordSource, Masses
from neyman.numerics._lattice_sums._window import Powers, Window
from neyman.numerics._primitives import exp, log

__all__ = ["WholeLaw", "part_of", "whole_law"]

# The most that a mass in P counts, and what is added to masses that doubles cannot hold.
_MOST, _TINY = 1e300, 1e-300


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
    lowered: Interval

    @property
    def losses(self) -> Interval:
        """The losses."""
        k = np.arange(self.first, self.first + self.masses.size, dtype=np.float64)
        return Interval.exactly(k) * self.step - self.lowered

    @property
    def p(self) -> Interval:
        """Masses under P, as far as doubles go."""
        return (exp(-self.losses) * self.masses).smaller(_MOST)


def whole_law(powers: Powers, found: Window, *, up: bool) -> WholeLaw:
    """Return the law of a composition whose window covers all losses that matter.

    From above what lies below the window is raised to its first loss, what lies beyond is infinite;
    from below both are left out.
    """
    masses = exp(found.logs(np.arange(found.masses.upper.size, dtype=np.float64))) * found.masses
    lowest = float(found.infinite.lower)
    if not up:
        return WholeLaw(found.step, found.first, masses.lower, lowest, found.lowered)
    total = Interval.exactly(0.0)
    for law, n in powers:
        total = total + log(Interval.exactly(law.masses).total() + law.infinite) * n
    missing = (exp(total) - masses.total() - lowest).larger(0).upper
    upper = (masses + _TINY).upper
    upper[0] = (Interval.exactly(upper[0]) + missing).upper
    infinite = (found.infinite + found.beyond).upper
    return WholeLaw(found.step, found.first, upper, float(infinite), found.lowered)


def part_of(lower: WholeLaw, upper: WholeLaw, times: int) -> Part:
    """Return a sum as a loss that can be sampled, and summed again.

    The upper law keeps its mass in P or less: the missing mass has a loss of -inf, and the sum of
    both is at least 1. The lower law's mass in P may exceed 1: its lowest losses are left out until
    it does not.
    """
    p, q = upper.p, Interval.exactly(upper.masses)
    missing = (1 - Interval.exactly(p.lower).total()).larger(0)
    above = AtomSource(
        Masses(p, q),
        (upper.infinite, upper.infinite),
        (float(missing.lower), float(missing.upper)),
    )
    return Part(above, _capped(lower), times)


def _capped(law: WholeLaw) -> ChordSource:
    losses = law.losses.middle
    p = np.where(law.masses > 0, law.p.upper, 0.0)
    # From the largest loss down, until the mass in P is 1.
    kept = Interval.exactly(p[::-1]).running().upper[::-1] <= 1
    kept &= law.masses > 0
    missing = float((1 - Interval.exactly(p[kept]).total()).larger(0).lower)
    return ChordSource(losses[kept], p[kept], law.masses[kept], law.infinite, (missing, missing))
