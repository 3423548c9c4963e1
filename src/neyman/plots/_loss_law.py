"""The privacy loss as what can be drawn: densities in cells, atoms, and masses at infinity."""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.curves import Pair
from neyman.numerics import Array

__all__ = ["DrawnLoss"]

_CELLS = 240
# What lies beyond is not drawn.
_TAIL = 1e-4
# After the first halvings a density has spread over the leaves; after the rest none can be seen,
# and P and Q still find their atoms in one leaf, where their thresholds differ in the last bits.
_FIRST, _REST = 4, 20
_HEAVY, _SEEN = 1 / 4, 1e-9
# Of the ends that are sought, and the steps to the nearer one.
_NEAREST, _FARTHEST, _STEPS = 2.0**-10, 2.0**14, 32


class _Mass(NamedTuple):
    """Of some cells, under P and under Q."""

    p: Array
    q: Array


@final
@dataclass(frozen=True, slots=True)
class DrawnLoss:
    """The finite losses of a pair on some cells; estimates.

    Attributes:
        edges: of the cells.
        densities: mean density of each cell under P and under Q, atoms taken out. Of atoms closer
            than a cell the heaviest is one, and the others count as density.
        places: of the atoms.
        atoms: their masses under P and under Q.
        endless: mass of L = -inf under P, and of L = +inf under Q.
    """

    edges: Array
    densities: _Mass
    places: Array
    atoms: _Mass
    endless: tuple[float, float]

    @property
    def centres(self) -> Array:
        """Of the cells."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def smooth(self) -> bool:
        """Whether there is a density."""
        return bool(np.any(self.densities.p > 0) or np.any(self.densities.q > 0))

    def mirrored(self) -> "DrawnLoss":
        """Return the loss of the swapped pair."""
        p, q = (np.flip(side) for side in self.densities)
        return DrawnLoss(
            -np.flip(self.edges),
            _Mass(q, p),
            -self.places,
            _Mass(self.atoms.q, self.atoms.p),
            (self.endless[1], self.endless[0]),
        )

    def lines(self) -> _Mass:
        """Return the densities to draw: none where there is none, or where an atom stands."""
        bare = np.histogram(self.places, self.edges)[0] == 0
        return _Mass(*(np.where(bare & (side > 0), side, np.nan) for side in self.densities))

    @staticmethod
    def of(pair: Pair, epsilon: float) -> "DrawnLoss":
        """Return what lies in an interval that holds +-epsilon and all but small tails."""
        up, down = (float(np.exp(log)) for log in pair.log_singular)
        low = -_reach(pair, down, epsilon, below=True)
        high = _reach(pair, up, epsilon, below=False)
        # Unlike margins keep atoms that lie alike about 0 off the edges.
        room = high - low
        edges = np.linspace(low - 0.081 * room, high + 0.083 * room, _CELLS + 1)
        tails = _tails(pair, edges)
        mass = _mass(tails[:, :-1], tails[:, 1:])
        left, right, leaf = _heaviest(pair, edges[:-1], edges[1:], _FIRST)
        found = np.flatnonzero(_stands_out(leaf, mass))
        left, right, leaf = _heaviest(pair, left[found], right[found], _REST)
        real = _stands_out(leaf, _Mass(*(side[found] for side in mass)))
        atoms = _Mass(*(side[real] for side in leaf))
        rest = [np.array(side) for side in mass]
        for side, whole, atom in zip(rest, mass, atoms, strict=True):
            side[found[real]] -= atom
            side[side <= _SEEN * whole] = 0.0
        densities = _Mass(*(side / np.diff(edges) for side in rest))
        return DrawnLoss(edges, densities, right[real], atoms, (down, up))


def _reach(pair: Pair, endless: float, least: float, *, below: bool) -> float:
    """Return how far the losses go, but for a small tail: below 0 under P, or above it under Q."""
    if endless >= 1 - _TAIL:
        return least

    def far(t: Array) -> npt.NDArray[np.bool_]:
        tails = _tails(pair, -t if below else t)
        tail: Array = tails[1] if below else tails[2]
        return tail - endless <= _TAIL * (1 - endless)

    # Outwards, for far thresholds take long by the contour.
    scale = max(least, _NEAREST)
    while scale < _FARTHEST and not far(np.asarray([scale]))[0]:
        scale *= 2
    steps = np.linspace(0.0, scale, _STEPS + 1)[1:]
    return max(float(steps[np.argmax(far(steps))]), least, _NEAREST)


def _stands_out(leaf: _Mass, whole: _Mass) -> npt.NDArray[np.bool_]:
    heavy: Array = leaf.p + leaf.q
    return (heavy > _SEEN) & (heavy > _HEAVY * (whole.p + whole.q))


def _heaviest(pair: Pair, left: Array, right: Array, times: int) -> tuple[Array, Array, _Mass]:
    """Halve each cell, keeping the half with more mass under both laws."""
    at_left, at_right = _tails(pair, left), _tails(pair, right)
    for _ in range(times if left.size else 0):
        middle = (left + right) / 2
        between = _tails(pair, middle)
        lower, upper = _mass(at_left, between), _mass(between, at_right)
        first = lower.p + lower.q >= upper.p + upper.q
        left, right = np.where(first, left, middle), np.where(first, middle, right)
        at_left, at_right = (
            np.where(first, at_left, between),
            np.where(first, between, at_right),
        )
    return left, right, _mass(at_left, at_right)


def _tails(pair: Pair, t: Array) -> Array:
    """Return P(L > t), P(L <= t), Q(L > t) and Q(L <= t), a row each."""
    return np.exp(np.asarray(pair.log_tails(t))) if t.size else np.zeros((4, 0))


def _mass(left: Array, right: Array) -> _Mass:
    """Return the masses of left < L <= right."""
    return _Mass(_between(left[:2], right[:2]), _between(left[2:], right[2:]))


def _between(left: Array, right: Array) -> Array:
    """Return what lies between, from the side with the smaller tails: rows above and below."""
    below: Array = right[1] - left[1]
    above: Array = left[0] - right[0]
    found: Array = np.where(right[1] < left[0], below, above)
    return np.maximum(found, 0.0)
