"""The two laws of one loss on a grid: one that gives away at least as much, one at most as much.

A loss is known here by the measure of its values under Q. Its profile
E(x) = ∫ (1 - e^(x - l))_+ dQ(l) orders the measures, and convolution keeps that order. Both laws
are second order in the step of the grid; the proofs stand in docs/theory/lattice.md.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval
from neyman.numerics._lattice_sums._source import Atoms, LossSource, Masses
from neyman.numerics._primitives import exp, expm1, log

__all__ = ["Grid", "LatticeLaw", "laws", "lower_law", "split", "upper_law"]

_Index = npt.NDArray[np.int64]
# How often the boundaries of the lower law's cells are moved, and when a cell short of its grid
# point is worth another try: the share of the cells' mean error that the floors may add.
_TRIES, _WORTH = 4, 0.2
# The lower law's losses are lowered by this share of the squared step.
_LOWERED = 1 / 128
# A cell's boundaries are moved by this multiple of what its mean lacks.
_OVERSHOT = 1.5
# A mass from which on the law is laid so that the mass is at a grid point.
_HEAVY = 0.2
# A mass beside which no other counts, and how near to a grid point a loss counts as one of it.
_NEARLY_ALL, _AT = 0.95, 1e-14


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """Losses step * k for first <= k <= last."""

    step: float
    first: int
    last: int

    @property
    def index(self) -> _Index:
        """The numbers k."""
        return np.arange(self.first, self.last + 1, dtype=np.int64)

    @property
    def losses(self) -> Array:
        """The losses."""
        return self.index.astype(np.float64) * self.step

    @property
    def farthest(self) -> Interval:
        """The largest absolute loss."""
        return Interval.exactly(float(max(abs(self.first), abs(self.last)))) * self.step

    @property
    def rounding(self) -> float:
        """A bound of the error of a double that represents a loss."""
        farthest = self.farthest
        return float(farthest.upper - farthest.lower)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticeLaw:
    """Masses under Q on a grid.

    Attributes:
        grid: the losses.
        masses: one a loss, exact doubles.
        infinite: mass of an infinite loss.
        lowered: by how much each loss lies below its grid point; negative if above.
        moved: by how much rounding, and the ends, may have raised the profile of an upper law.
    """

    grid: Grid
    masses: Array
    infinite: float
    lowered: float = 0.0
    moved: float = 0.0

    @property
    def step(self) -> float:
        """The step of the grid."""
        return self.grid.step

    @property
    def support(self) -> tuple[int, int]:
        """The first and the last k that have mass; those of the grid if none has."""
        some = np.flatnonzero(self.masses)
        if not some.size:
            return self.grid.first, self.grid.last
        return self.grid.first + int(some[0]), self.grid.first + int(some[-1])


def laws(upper: LossSource, lower: LossSource, grid: Grid) -> tuple[LatticeLaw, LatticeLaw]:
    """Return the lower and the upper law of a loss that is bounded by those of two sources."""
    cells = upper.cells(grid.losses, exact=True)
    shared = cells if upper is lower else None
    return lower_law(lower, grid, shared), upper_law(upper, grid, cells)


def upper_law(source: LossSource, grid: Grid, cells: Masses | None = None) -> LatticeLaw:
    """Return a law on the grid whose profile is at least the loss's.

    A cell's mass is split between its two ends so that both its masses are kept, which is a
    mean-preserving spread of e^-L under Q. What lies below the grid is raised to its first point,
    what lies beyond it to infinity.

    Args:
        source: the loss.
        grid: where the law is to stand.
        cells: those of the grid's losses, if they are known.
    """
    masses, infinite = np.zeros(grid.index.size), Interval.exactly(source.only_q[1])
    moved = infinite - source.only_q[0]
    if source.reach[0] < source.reach[1]:
        losses = grid.losses
        cells = source.cells(losses, exact=True) if cells is None else cells
        q, beyond = cells.q.upper, Interval.exactly(cells.q.upper[-1])
        right, more = split(Masses(*(m.at(slice(1, -1)) for m in cells)), losses[:-1], grid)
        left = (Interval.exactly(q[1:-1]) - right).upper
        masses = (Interval.exactly(np.append(q[:1], right)) + np.append(left, 0.0)).upper
        infinite, moved = infinite + beyond, moved + beyond + q[0] + more
    if source.atoms.q.upper.size:
        masses, beyond, more = _spread(source.atoms, grid, masses)
        infinite, moved = infinite + beyond, moved + more
    return LatticeLaw(grid, masses, float(infinite.upper), -grid.rounding, float(moved.upper))


def split(masses: Masses, left: Array, grid: Grid) -> tuple[Array, Interval]:
    """Return what goes to the right ends of cells, rounded up, and what rounding adds to a profile.

    What goes there keeps the mass in P: (q - e^loss p) / (1 - e^-step), loss that of the left end.

    Args:
        masses: of the cells.
        left: the cells' left ends.
        grid: of the ends.
    """
    p, q = masses
    # The ends are doubles, and so not quite a step apart.
    width = -expm1(Interval.within(np.asarray(-grid.step), 0.0, 2 * grid.rounding))
    right = ((q - p * exp(Interval.exactly(left))) / width).larger(0.0).smaller(q)
    # A mass moved by a step changes a profile by a step's share of it.
    moved = _width(right) * width + _width(q)
    return right.upper, moved


def _width(masses: Interval) -> Interval:
    return (Interval.exactly(masses.upper) - masses.lower).larger(0.0).total()


def _spread(atoms: Atoms, grid: Grid, masses: Array) -> tuple[Array, Interval, Interval]:
    """Add the atoms to the masses; also return the mass beyond the grid, and that of rounding."""
    place = (log(atoms.q) - log(atoms.p)).upper
    cell = np.floor(np.clip(place / grid.step, grid.first - 1, grid.last)).astype(np.int64)
    low, far = cell < grid.first, cell >= grid.last
    k = np.where(low, grid.first, np.minimum(cell, grid.last - 1)) - grid.first
    right, moved = split(atoms, grid.losses[k], grid)
    mass = np.where(far, 0.0, atoms.q.upper)
    right = np.where(low | far, 0.0, right)
    left = (Interval.exactly(mass) - right).upper
    both = Interval.exactly(np.append(left, right)).binned(np.append(k, k + 1), masses.size)
    lost, raised = (Interval.exactly(atoms.q.upper[x]).total() for x in (far, low))
    return (both + masses).upper, lost, moved + lost + raised


def lower_law(source: LossSource, grid: Grid, cells: Masses | None = None) -> LatticeLaw:
    """Return a law on the grid whose profile is at most the loss's.

    The mass of a cell may stand at its mean loss log q/p, by Jensen, and any loss may be lowered.
    So the cells' boundaries are moved until every mean is at its grid point, or a hair above it,
    and a cell whose mean falls short of its grid point stands at an earlier one. Atoms stand by
    themselves. What lies below the grid is left out. The whole law may lie a constant off the grid.

    Args:
        source: the loss.
        grid: where the law is to stand.
        cells: those of the grid's losses, if they are known.
    """
    step = grid.step
    cells = source.cells(grid.losses, exact=False) if cells is None else cells
    # Atoms are where they are; the means of cells are brought to their points within some room.
    square = step * step if source.reach[0] < source.reach[1] else 0.0
    room = max(_LOWERED * square, _AT * (1 + float(grid.farthest.upper)))
    origin = _origin(source.atoms, cells, grid)
    points = Interval.exactly(grid.index.astype(np.float64)) * step + origin
    q = above = np.zeros(0)
    if source.reach[0] < source.reach[1]:
        q, above = _means(source, points, step, cells, room)
    at = np.arange(1, q.size + 1)
    atoms = source.atoms
    if atoms.q.lower.size:
        mass, p = atoms.q.lower, atoms.p.upper
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.nan_to_num((np.log(mass) - np.log(p) - origin) / step, neginf=grid.first - 1)
        k = np.clip(np.rint(place), grid.first, grid.last).astype(np.int64) - grid.first
        at, q = np.append(at, k), np.append(q, mass)
        above = np.append(above, _excess(p, mass, exp(points.at(k)).upper))
    lowered = _lowering(q, above, step, room)
    masses = _placed(grid, at, q, above, lowered)
    below = (Interval.exactly(lowered) - origin).upper
    return LatticeLaw(grid, masses, source.only_q[0], float(below))


def _origin(atoms: Atoms, cells: Masses, grid: Grid) -> float:
    """Return how far above a grid point the heaviest loss lies, if there is one; else 0.

    Two cells beside each other count together where they hold nearly everything: a grid point
    between them cuts many small losses in two, whose halves have means that the whole has not.
    """
    p, q = (mass.middle[1:-1] for mass in cells)
    pairs = p[:-1] + p[1:], q[:-1] + q[1:]
    if np.max(pairs[1], initial=0.0) > _NEARLY_ALL:
        p, q = pairs
    p, q = (np.append(cell, atom.middle) for cell, atom in zip((p, q), atoms, strict=True))
    k = int(np.argmax(q))
    if not (q[k] > _HEAVY and p[k] > 0):
        return 0.0
    place = math.log(q[k]) - math.log(p[k])
    origin = place - round(place / grid.step) * grid.step
    # An offset within rounding counts as none.
    return origin if abs(origin) > _AT * (1 + float(grid.farthest.upper)) else 0.0


def _means(
    source: LossSource, points: Interval, step: float, cells: Masses, room: float
) -> tuple[Array, Array]:
    """Return masses for the points from the second on, and by how much their means exceed them.

    Args:
        source: the loss.
        points: where the masses are to stand.
        step: between two points.
        cells: about those between the points.
        room: what a mean may lack.
    """
    # About where a boundary between two points is to lie: where the mean of the cell around it
    # would come to the middle.
    middles, scale = points.lower[:-1] + step / 2, exp(points).upper[1:]
    p, q = (mass.middle[1:-1] for mass in cells)
    short = _excess(p, q, np.exp(np.minimum(middles, 700.0)))
    move = np.where(np.abs(short) < step / 2, -short, 0.0) + _noise(cells, step)
    tries = 0
    while True:
        move = np.clip(move, -0.45 * step, 0.45 * step)
        found = source.cells(middles + move, exact=False)
        p, q = found.p.upper[1:], found.q.lower[1:]
        above = _excess(p, q, scale)
        failed = (above < -room) & (q > 0)
        tries += 1
        # A failed cell loses a step, the others some square of it.
        if tries == _TRIES or float(np.sum(q[failed])) <= _WORTH * step / 12:
            return q, above
        deficit = np.where(failed & (above > -step), -above, 0.0)
        move = move + _OVERSHOT * np.maximum(deficit, np.append(deficit[1:], 0.0))


def _lowering(q: Array, above: Array, step: float, room: float) -> float:
    """Return by how much to lower all losses so that few fall short of their points.

    That costs as much, and a mass that falls short of its point costs a step.
    """
    short = (above < -room) & (q > 0) & (above > -step)
    if not np.any(short):
        return room
    order = np.argsort(-above[short])
    deficits = np.append(room, -above[short][order])
    mass = q[short][order]
    left = np.append(float(np.sum(mass)), np.maximum(np.sum(mass) - np.cumsum(mass), 0.0))
    return float(deficits[np.argmin(deficits + step * left)]) + room


def _noise(cells: Masses, step: float) -> Array:
    """Return by about how much the rounding of a cell's masses may lower its mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = sum((m.upper - m.lower)[1:-1] / m.middle[1:-1] for m in cells) / 2
    return np.where(wide < step / 4, wide, 0.0)


def _excess(p: Array, q: Array, scale: Array) -> Array:
    """Return a lower bound of log q/p - loss, with e^loss at most `scale`."""
    return log(Interval.exactly(q) / (Interval.exactly(p) * scale)).lower


def _placed(grid: Grid, at: _Index, q: Array, above: Array, lowered: float) -> Array:
    """Return masses at grid points, or at earlier ones where their losses fall short."""
    missing = ((Interval.exactly(above) + lowered) / grid.step).lower
    short = np.where(above >= -lowered, 0.0, np.floor(missing))
    to = at + np.maximum(short, -2.0 - grid.index.size).astype(np.int64)
    keep = (to >= 0) & (q > 0)
    return Interval.exactly(q[keep]).binned(to[keep], grid.index.size).lower
