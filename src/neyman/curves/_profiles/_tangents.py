"""Where a line touches a profile and its power at once: estimates, which make close proofs cheap.

    tpr(a) <= delta(t) + e^t a      for every size a and loss t, equal where the line touches

So any loss bounds the conjugate of a profile from one side, and any size bounds it from the other.
Near the place where the line touches, both are off by the square of the distance only: two proved
values there are a close bracket. The places come from a table of the profile that is not proved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._pair import Pair
from neyman.numerics import Array

__all__ = ["Points", "Tangents", "meeting", "points_of"]

# Candidates for the end of a profile, and the delta that counts as 0 there.
_ENDS, _NOTHING = 700.0 * 2.0 ** (-np.arange(0, 280)[::-1] / 8), 1e-300
# At losses below minus this, delta rounds to 1 and has no slope.
_LEFT = 20.0
# Points on each side of 0, evenly spaced and ever closer to 0; then, twice, one in each cell.
_EVEN, _CLOSER, _CLOSEST, _ROUNDS = 300, 200, 1e-6, 2
# A corner turns the slope this many times more than its neighbours do.
_SHARP, _LONG = 8.0, 6.0
_SAME = 1e-13
_HALVINGS = 60
# Offsets of new points, in units of a cell.
_ABOUT = np.asarray([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0])
# Offsets of neighbouring cells; the least distance of a crossing from the ends of a cell.
_BESIDE, _INSIDE = np.asarray([-2, -1, 0]), 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """About what delta is at some losses.

    Attributes:
        read: delta at losses.
        loss: increasing.
        delta: there.
    """

    read: Callable[[Array], Array]
    loss: Array
    delta: Array

    def with_more(self, loss: Array) -> "Points":
        """Return these points and some more."""
        new = np.setdiff1d(loss[np.isfinite(loss)], self.loss)
        if not new.size:
            return self
        both = np.append(self.loss, new)
        order = np.argsort(both, kind="stable")
        return Points(self.read, both[order], np.append(self.delta, self.read(new))[order])

    def finer(self, about: Array) -> "Points":
        """Return these points and more about some losses."""
        at = np.clip(np.searchsorted(self.loss, about), 1, self.loss.size - 1)
        cell = self.loss[at] - self.loss[at - 1]
        corners = self.crossings()[np.minimum(at[:, None] + _BESIDE, self.loss.size - 2)]
        new = np.ravel(about[:, None] + cell[:, None] * _ABOUT)
        return self.with_more(np.append(new, corners))

    def crossings(self) -> Array:
        """Return, for each cell, where the chords before and behind it cross; nan where nowhere.

        That is a corner of the profile, if the cell holds one.
        """
        slope = _slopes(self.loss, self.delta)
        before, behind = np.append(np.nan, slope[:-1]), np.append(slope[1:], np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (slope - behind) / (before - behind)
        share[~((share > _INSIDE) & (share < 1 - _INSIDE))] = np.nan
        share[~(before - behind > _SAME * before)] = np.nan
        return self.loss[:-1] + np.log1p(np.expm1(np.diff(self.loss)) * share)


@lru_cache(maxsize=32)
def points_of(pair: Pair) -> Points:
    """Return points of a pair's profile on both sides of 0, and at its corners."""

    def read(loss: Array) -> Array:
        return np.asarray(pair.delta_bracket(loss).upper)

    def end(side: Pair) -> float:
        found = side.delta_bracket(np.append(_ENDS, np.inf)).upper
        past = found[:-1] <= found[-1] * (1 + _SAME) + _NOTHING
        return float(_ENDS[np.argmax(past)] if np.any(past) else _ENDS[-1])

    def sizes(most: float) -> Array:
        return most * np.append(np.linspace(0, 1, _EVEN), np.geomspace(_CLOSEST, 1, _CLOSER))

    left = min(end(pair.swap()), _LEFT)
    loss = np.unique(np.append(sizes(end(pair)), -sizes(left)))
    found = Points(read, loss, read(loss))
    for _ in range(_ROUNDS):
        found = found.with_more(found.crossings())
    return found


def _slopes(loss: Array, delta: Array) -> Array:
    """Return -d delta / d e^loss between points, falling: the sizes of tests."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = -np.diff(delta) / np.diff(np.expm1(loss))
    fall = np.clip(np.nan_to_num(fall, nan=1.0), 0.0, 1.0)
    # Rounding may make one rise.
    return (np.minimum.accumulate(fall) + np.maximum.accumulate(fall[::-1])[::-1]) / 2


def _hull(loss: Array, delta: Array) -> npt.NDArray[np.intp]:
    """Return which points are corners of the largest convex function of e^loss below them."""
    x, y = np.expm1(loss).tolist(), delta.tolist()
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            first, last = kept[-2], kept[-1]
            before = (y[last] - y[first]) / (x[last] - x[first])
            behind = (y[i] - y[last]) / (x[i] - x[last])
            if behind >= before + _SAME * before:
                break
            kept.pop()
        kept.append(i)
    return np.asarray(kept, dtype=np.intp)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tangents:
    """The convex hull of points of a profile, and its lines.

    Attributes:
        loss: the corners', increasing.
        delta: there.
        size: of the lines, increasing, from 0 to 1; a corner has lines of many sizes.
        touched: where each line touches.
        edge: sizes of the lines between neighbouring corners, increasing, from 0 to 1.
        power: about what tpr is there.
    """

    loss: Array
    delta: Array
    size: Array
    touched: Array
    edge: Array
    power: Array

    @classmethod
    def of(cls, points: Points) -> "Tangents":
        """Return the tangents of a profile."""
        loss, delta = points.loss, points.delta
        order = np.lexsort((delta, loss))
        order = order[np.append(True, np.diff(np.expm1(loss[order])) > 0)]
        order = order[_hull(loss[order], delta[order])]
        loss, delta = loss[order], delta[order]
        slope = _slopes(loss, delta)
        with np.errstate(over="ignore", invalid="ignore"):
            power = delta[:-1] + np.nan_to_num(np.exp(loss[:-1]) * slope)
        edge = np.concatenate(([0.0], slope[::-1], [1.0]))
        power = np.concatenate((delta[-1:], power[::-1], [1.0]))
        size, touched = _path(loss, slope)
        return cls(loss, delta, size, touched, edge, power)

    def loss_at(self, size: Array) -> Array:
        """Return where the line of a size touches."""
        return np.interp(size, self.size, self.touched)

    def power_at(self, size: Array) -> Array:
        """Return about tpr."""
        return np.interp(size, self.edge, self.power)

    def delta_at(self, loss: Array) -> Array:
        """Return about delta."""
        with np.errstate(over="ignore"):
            return np.interp(np.expm1(loss), np.expm1(self.loss), self.delta)


def _path(loss: Array, slope: Array) -> tuple[Array, Array]:
    """Return sizes and losses of lines in between: smooth but for corners, and for straight parts.

    A chord of a smooth profile has the slope of the middle. At a sharp corner the slope turns and
    the loss stays; along a straight part the loss moves and the slope stays.
    """
    length, turned = np.diff(loss), np.concatenate(([0.0], -np.diff(slope), [0.0]))
    density = turned / np.concatenate((length[:1], length[:-1] + length[1:], length[-1:]))
    around = np.concatenate(([0.0], density, [0.0]))
    sharp = density > _SHARP * np.maximum(around[:-2], around[2:])
    sides = np.concatenate(([0.0], length, [0.0]))
    long = length > _LONG * np.maximum(sides[:-2], sides[2:])
    cells = np.arange(slope.size)
    # In order of the losses: a corner before, the beginning, the middle and the end of each cell,
    # a corner behind.
    place = np.stack((loss[:-1], loss[:-1], loss[:-1] + length / 2, loss[1:], loss[1:]), axis=1)
    kept = np.stack((sharp[:-1], long, cells >= 0, long, sharp[1:]), axis=1)
    size, touched = np.repeat(slope[:, None], 5, axis=1)[kept][::-1], place[kept][::-1]
    return np.concatenate(([0.0], size, [1.0])), np.concatenate((loss[-1:], touched, loss[:1]))


def meeting(
    links: Sequence[tuple[Tangents, int]], goal: Array, *, inverse: bool
) -> tuple[Array, Array]:
    """Return the size, and the loss at each link, where a line touches a chain of powers.

    tpr_n(... tpr_1(a)) has at `a` the slope e^(t_1 + ... + t_n), each link's at what comes into it.

    Args:
        links: in order, with how many of each.
        goal: the sum of the losses; or, if `inverse`, delta there.
        inverse: which of both.
    """
    first = links[0][0]
    index = np.arange(first.size.size, dtype=np.float64)

    def walk(at: Array) -> tuple[Array, Array, Array]:
        size = np.interp(at, index, first.size)
        x, delta, losses = size, np.zeros(at.shape), list[Array]()
        for table, times in links:
            for _ in range(times):
                loss = table.loss_at(x) if losses else np.interp(at, index, first.touched)
                with np.errstate(over="ignore"):
                    delta = table.delta_at(loss) + np.exp(np.minimum(loss, 700.0)) * delta
                losses.append(loss)
                x = table.power_at(x)
        return size, np.stack(losses), delta if inverse else -np.sum(losses, axis=0)

    wanted = goal if inverse else -goal
    low, high = np.zeros(goal.shape), np.full(goal.shape, index[-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = walk(middle)[2] > wanted
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    left, right = walk(low), walk(high)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip(np.nan_to_num((wanted - left[2]) / (right[2] - left[2])), 0.0, 1.0)
    size = left[0] + share * (right[0] - left[0])
    if not inverse:
        return size, left[1] + share * (right[1] - left[1])
    # Along a straight part delta is linear in e^loss.
    return size, left[1] + np.log1p(share * np.expm1(np.minimum(right[1] - left[1], 700.0)))
