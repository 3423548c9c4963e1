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

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._lattice_sums._source import Atoms, LossSource, Masses

__all__ = ["Grid", "LatticeLaw", "laws", "lower_law", "right_shares", "upper_law"]

_Index = npt.NDArray[np.int64]
# Rounding of a share of a cell, in units of the ratio that it is 1 minus.
_RATIO = 8 * ULP
# How often the boundaries of the lower law's cells are moved, and when a cell short of its grid
# point is worth another try: the share of the cells' mean error that the floors may add.
_TRIES, _WORTH = 4, 0.2
# The lower law's losses are lowered by this share of the squared step.
_LOWERED = 1 / 128
# A cell's boundaries are moved by so many times what its mean lacks.
_OVERSHOT = 1.5
# A mass from which on the law is laid so that the mass is at a grid point.
_HEAVY = 0.2
# A mass beside which no other counts.
_NEARLY_ALL = 0.95


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
    def size(self) -> float:
        """The largest absolute loss."""
        return max(abs(self.first), abs(self.last)) * self.step


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


def _right_share(p: Array, q: Array, loss: Array, step: float) -> Array:
    """Return the share of a cell's mass at its right end that keeps the mass in P; unrounded."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        # In two factors, either of which is a double.
        ratio = (p * np.exp(loss / 2)) / q * np.exp(loss / 2)
    ratio = np.where(np.isnan(ratio), 1.0, ratio)
    return (1 - ratio) / -np.expm1(-step)


def right_shares(losses: Array, left: Array, step: float) -> Array:
    """Return the shares of masses at losses that go to the right ends of their cells, at least."""
    room = _RATIO / -np.expm1(-step)
    return np.clip(np.expm1(left - losses) / np.expm1(-step) + room, 0.0, 1.0)


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
    losses, step = grid.losses, grid.step
    cells = source.cells(losses, exact=True) if cells is None else cells
    masses, infinite = np.zeros(losses.size), source.only_q[1] + float(cells.q.upper[-1])
    moved = float(cells.q.upper[0]) + infinite - source.only_q[0]
    masses[0] += cells.q.upper[0]
    inner = Masses(*(Bracket(m.lower[1:-1], m.upper[1:-1]) for m in cells))
    right, more = _right_ends(inner, losses[:-1], step)
    masses[:-1] += inner.q.upper - right
    masses[1:] += right
    moved += more
    if source.atoms.q.upper.size:
        beyond, more = _spread(source.atoms, grid, masses)
        infinite, moved = infinite + beyond, moved + more
    # Sums of a few terms, each rounded.
    raised = ULP * grid.size
    return LatticeLaw(grid, masses * (1 + ULP), infinite * (1 + ULP), -raised, moved * (1 + ULP))


def _right_ends(masses: Masses, losses: Array, step: float) -> tuple[Array, float]:
    """Return what goes to the right ends of cells, rounded up, and what rounding adds to a profile.

    Args:
        masses: of the cells.
        losses: the cells' left ends.
        step: their width.
    """
    room = _RATIO / -np.expm1(-step)
    p, q = masses
    share = np.clip(_right_share(p.lower, q.upper, losses, step) + room, 0.0, 1.0)
    least = np.clip(_right_share(p.upper, q.lower, losses, step) - room, 0.0, 1.0)
    right = q.upper * share
    # A mass moved by a step changes a profile by a step's share of it.
    moved = np.sum(right - least * q.lower) * -np.expm1(-step) + np.sum(q.upper - q.lower)
    return right, float(moved)


def _spread(atoms: Atoms, grid: Grid, masses: Array) -> tuple[float, float]:
    """Add the atoms to the masses; return what lies beyond the grid, and what rounding adds."""
    with np.errstate(divide="ignore"):
        log = np.log(atoms.q.upper)
        place = log - np.log(atoms.p.lower)
    place = place + ULP * (2 + np.abs(log) + np.abs(place))
    cell = np.floor(np.clip(place / grid.step, grid.first - 1, grid.last)).astype(np.int64)
    low, far = cell < grid.first, cell >= grid.last
    k = np.where(low, grid.first, np.minimum(cell, grid.last - 1)) - grid.first
    right, moved = _right_ends(atoms, grid.losses[k], grid.step)
    mass = np.where(far, 0.0, atoms.q.upper)
    right = np.where(low | far, 0.0, right)
    masses += np.bincount(k, weights=mass - right, minlength=masses.size)
    masses += np.bincount(k + 1, weights=right, minlength=masses.size)
    lost = float(np.sum(atoms.q.upper[far]))
    return lost, moved + lost + float(np.sum(atoms.q.upper[low]))


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
    room = max(_LOWERED * square, 8 * ULP * (1 + grid.size))
    origin = _origin(source.atoms, cells, grid)
    points = grid.losses + origin
    q, above = _means(source, points, step, cells, room)
    at = np.arange(1, q.size + 1)
    atoms = source.atoms
    if atoms.q.lower.size:
        mass, p = atoms.q.lower, atoms.p.upper
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.nan_to_num((np.log(mass) - np.log(p) - origin) / step, neginf=grid.first - 1)
        k = np.clip(np.rint(place), grid.first, grid.last).astype(np.int64) - grid.first
        at, q = np.append(at, k), np.append(q, mass)
        above = np.append(above, _excess(p, mass, points[k]))
    lowered = _lowering(q, above, step, room)
    masses = np.zeros(points.size)
    _place(masses, grid, at, q, above, lowered)
    return LatticeLaw(grid, masses * (1 - ULP), source.only_q[0] * (1 - ULP), lowered - origin)


def _origin(atoms: Atoms, cells: Masses, grid: Grid) -> float:
    """Return how far above a grid point the heaviest loss lies, if there is one; else 0.

    Two cells beside each other count together where they hold nearly everything: a grid point
    between them cuts many small losses in two, whose halves have means that the whole has not.
    """
    p, q = (_middle(mass)[1:-1] for mass in cells)
    pairs = p[:-1] + p[1:], q[:-1] + q[1:]
    if np.max(pairs[1], initial=0.0) > _NEARLY_ALL:
        p, q = pairs
    p, q = (np.append(cell, _middle(atom)) for cell, atom in zip((p, q), atoms, strict=True))
    k = int(np.argmax(q))
    if not (q[k] > _HEAVY and p[k] > 0):
        return 0.0
    place = math.log(q[k]) - math.log(p[k])
    origin = place - round(place / grid.step) * grid.step
    # What rounding cannot tell from a grid point is one.
    return origin if abs(origin) > 8 * ULP * (1 + grid.size) else 0.0


def _means(
    source: LossSource, points: Array, step: float, cells: Masses, room: float
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
    middles = points[:-1] + step / 2
    p, q = (_middle(mass)[1:-1] for mass in cells)
    short = _excess(p, q, middles)
    move = np.where(np.abs(short) < step / 2, -short, 0.0) + _noise(cells, step)
    tries = 0
    while True:
        move = np.clip(move, -0.45 * step, 0.45 * step)
        found = source.cells(middles + move, exact=False)
        p, q = found.p.upper[1:], found.q.lower[1:]
        above = _excess(p, q, points[1:])
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
    deficits = np.append(room, -above[short][order] * (1 + 8 * ULP) + 8 * ULP * step)
    mass = q[short][order]
    left = np.append(float(np.sum(mass)), np.maximum(np.sum(mass) - np.cumsum(mass), 0.0))
    return float(deficits[np.argmin(deficits + step * left)]) + room


def _noise(cells: Masses, step: float) -> Array:
    """Return by about how much the rounding of a cell's masses may lower its mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = sum((m.upper - m.lower)[1:-1] / _middle(m)[1:-1] for m in cells) / 2
    return np.where(wide < step / 4, wide, 0.0)


def _middle(mass: Bracket) -> Array:
    return (mass.lower + mass.upper) / 2


def _excess(p: Array, q: Array, loss: Array) -> Array:
    """Return about log q/p - loss, accurate where it is small."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        ratio = q / (p * np.exp(loss / 2)) * np.exp(-loss / 2)
        log = np.log1p(ratio - 1)
    return np.where(np.isnan(log), -np.inf, log)


def _place(masses: Array, grid: Grid, at: _Index, q: Array, above: Array, lowered: float) -> None:
    """Add masses at grid points, or at earlier ones where their losses fall short."""
    # The ratio, its logarithm and the step's multiple are each rounded; and so are the places.
    room = 4 * ULP * (1 + np.where(np.isfinite(above), np.abs(above), 0.0)) + ULP * grid.size
    short = np.where(above - room >= -lowered, 0.0, np.floor((above - room + lowered) / grid.step))
    to = at + np.maximum(short, -2.0 - masses.size).astype(np.int64)
    keep = (to >= 0) & (q > 0)
    masses += np.bincount(to[keep], weights=q[keep], minlength=masses.size)
