"""A profile on a grid of losses, from above and from below, as laws with atoms on that grid.

With x = e^loss the profile E(x) = E_P[(e^L - x)_+] is convex, and above its floor (1 - x)_+ by
d(x) >= 0. A convex function with kinks at the grid x_i = e^{ih} only is the profile of a law on the
grid, whose masses are the changes of its slope. Composition keeps the order of profiles.

*From above*: the values themselves, joined by chords (the polygon circumscribed to the trade-off
function). *From below*: on a cell a convex function stays above the extended chords of the two
cells beside it, hence above the broken line through their meeting point, c below the cell's own
chord; values lowered by s, (1 - tau) s_i + tau s_{i+1} >= c at the meeting point, have chords below
the profile. Their lower convex hull is the inscribed polygon.

*Rounding.* The masses computed from above are within their stated errors of those of the true
chords. From below, let e_i bound the error of a computed mass. The law with masses within e_i above
max(mass, 0) exists. Its profile is higher than the hull's by at most the sum of 2 e_i times the
distance of x_i from the near end. A share eta of d is set aside first, and a check confirms that it
covers this sum. The atoms beside x = 1 make up for the remainder there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import exp, expm1, log, log1p

__all__ = ["Rounded", "sampled_atoms"]

# Logs of the profile and of the swapped one at minus the loss, where it is read.
Reading = Callable[[Array], tuple[Interval, Interval]]
# The least end of a profile, and places that are tried between two a factor of 2 apart.
_NEAREST, _BETWEEN = 2.0**-60, 16
_MOST_POINTS, _MOST_PASSES = 2**21, 100
# A mass below it, in logarithms, is none.
_LEAST_LOG = -1e5
_NONE, _NOTHING = Interval.exactly(-np.inf), Interval.exactly(0.0)
# How much the value at x = 1 is put below a chord, so that it is seen to be below; and how much
# upper bounds are raised before.
_BELOW, _RAISED = 1e-14, 1e-13
_SHARES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A law that gives away at least as much as the one read, and one that gives away at most."""

    outer: Atoms
    inner: Atoms


class _Masses(NamedTuple):
    """P-masses on some grid points, times e^(loss - scale).

    Attributes:
        at: the points.
        value: the masses; below 0 where rounding leaves nothing of them, or no hull was taken.
        scale: logarithm.
        some: where there is something at the point, or beside it.
        step: of the grid.
    """

    at: npt.NDArray[np.int64]
    value: Interval
    scale: Array
    some: npt.NDArray[np.bool_]
    step: Fraction

    @property
    def concave(self) -> npt.NDArray[np.bool_]:
        """Where the slope falls."""
        return self.value.middle < 0

    @property
    def logs(self) -> Interval:
        """Logarithms of the masses."""
        return self._log(self.value.larger(0))

    @property
    def log_errors(self) -> Array:
        """Logarithms of bounds of their errors."""
        return self._log(Interval.exactly(self.value.upper) - self.value.middle).upper

    def _log(self, scaled: Interval) -> Interval:
        sizes = _sizes(np.abs(self.at), self.step)
        shift = Interval.where(self.at < 0, sizes, -sizes) + self.scale
        # Where there is nothing beside nothing, rounding makes nothing of it.
        return Interval.where(self.some, log(scaled) + shift, _NONE)


def sampled_atoms(
    read: Reading, step: Fraction, reach: float, floors: tuple[float, float]
) -> Rounded | None:
    """Return laws on the grid of multiples of `step` that bracket the profile read.

    Args:
        read: brackets of log E at losses, and of the log of the swapped profile at their negatives.
        step: of the grid.
        reach: losses beyond it count as infinite above and as none below.
        floors: logs of the profile, and of the swapped one, from which on the same.

    Returns:
        None where rounding spoils the differences, or the grid has more than 2^21 points.
    """
    h = float(step)
    right = math.ceil(_end(lambda x: read(x)[0].upper, reach, floors[0]) / h) + 2
    left = math.ceil(_end(lambda x: read(-x)[1].upper, reach, floors[1]) / h) + 2
    if left + right > _MOST_POINTS:
        return None
    index = np.arange(-left, right + 1, dtype=np.int64)
    d = _above_floor(read, _sizes(np.abs(index), step), index >= 0)
    outer = _atoms(_outer(index, step, d), d.upper)
    for share in _SHARES:
        inner = _inner(index, step, d, share)
        if inner is not None:
            return Rounded(outer, _atoms(inner, np.full(2, -np.inf)))
    return None


def _sizes(count: npt.NDArray[np.int64], step: Fraction) -> Interval:
    """Return multiples of the step; as long as doubles can hold them, exactly."""
    if not step.denominator & (step.denominator - 1) and step.numerator < 2**30:
        return Interval.exactly(count.astype(np.float64) * float(step))
    return Interval.of(step) * count.astype(np.float64)


def _above_floor(read: Reading, sizes: Interval, right: npt.NDArray[np.bool_]) -> Interval:
    """Return log d at losses of some sizes, right and left of 0: d falls away from 1."""
    # What is rounded is read at both ends.
    near, far = (np.where(right, size, -size) for size in sizes)
    high, high_back = read(near)
    low, low_back = (high, high_back) if sizes.lower is sizes.upper else read(far)
    back = Interval(low_back.lower, high_back.upper)
    turned = Interval.where(np.isneginf(back.upper), _NONE, back - sizes)
    upper = _falling(right, np.where(right, high.upper, back.upper))
    left = Interval.where(np.isneginf(upper), _NONE, Interval.exactly(upper) - sizes)
    return Interval(np.where(right, low.lower, turned.lower), np.where(right, upper, left.upper))


def _falling(right: npt.NDArray[np.bool_], upper: Array) -> Array:
    """Return upper bounds of delta, right of 0, and of the swapped one, left of it, that fall.

    As both do, away from 0: else the polygon's ends would be no corners of a convex one.
    """
    zero, fallen = int(np.argmax(right)), upper.copy()
    fallen[zero:] = np.minimum.accumulate(upper[zero:])
    fallen[: zero + 1] = np.minimum.accumulate(fallen[: zero + 1][::-1])[::-1]
    return fallen


def _width(d: Interval) -> Array:
    with np.errstate(invalid="ignore"):
        wide = d.upper - d.lower
    return np.where(np.isfinite(wide), np.minimum(wide, 1.0), np.where(d.upper > -np.inf, 1.0, 0.0))


def _end(log: Callable[[Array], Array], reach: float, floor: float) -> float:
    """Return a loss from which the profile is below the floor, or `reach`: not much too far."""

    def above(loss: float) -> bool:
        return float(log(np.asarray(loss))) > floor

    high = 1.0
    while high < reach and above(high):
        high *= 2
    while _NEAREST < high <= 1 and not above(high / 2):
        high /= 2
    between = np.linspace(high / 2, high, _BETWEEN + 1)[1:]
    end = between[np.argmax(np.append(log(between[:-1]) <= floor, True))]
    return min(float(end), reach)


def _scaled(log_d: Array, width: Array | float, scale: Array) -> Interval:
    """Return d, which may be off by a share, over e^scale; nothing stays nothing."""
    value = exp(Interval.exactly(log_d) + Interval(np.asarray(-width), np.asarray(width)) - scale)
    return Interval.where(np.isneginf(log_d), _NOTHING, value)


def _join(first: Interval, second: Interval) -> Interval:
    return Interval(*(np.append(a, b) for a, b in zip(first, second, strict=True)))


def _masses(
    index: npt.NDArray[np.int64], step: Fraction, log_d: Array, width: Array | float
) -> _Masses:
    """Return the changes of slope at the points, d being 0 or constant beyond the ends."""
    gaps, at_zero = _sizes(np.diff(index), step), index == 0
    wide = np.broadcast_to(np.asarray(width), log_d.shape)
    before, after = np.append(-np.inf, log_d[:-1]), np.append(log_d[1:], -np.inf)
    scale = np.maximum(np.maximum(before, after), np.where(at_zero, 0.0, log_d))
    scale = np.where(np.isneginf(scale), 0.0, scale)
    b = _scaled(log_d, wide, scale)
    c, a = _scaled(log_d[1:], wide[1:], scale[:-1]), _scaled(log_d[:-1], wide[:-1], scale[1:])
    # Beyond the right end the profile is flat; on the left its line ends at d = 0, x = 0.
    rise = _join((c - b.at(slice(-1))) / expm1(gaps), _NOTHING)
    fall = _join(b.at(slice(1)), (b.at(slice(1, None)) - a) / -expm1(-gaps))
    kink = Interval.where(at_zero, exp(-Interval.exactly(scale)), _NOTHING)
    value = rise - fall + kink
    some = (b.upper > 0) | (after > -np.inf) | (before > -np.inf) | at_zero
    return _Masses(index, value, scale, some, step)


def _atoms(masses: _Masses, log_d: Array) -> Atoms:
    """Return the law; what the profile has left at the ends lies at infinity."""
    logs, step = masses.logs, masses.step
    keep = logs.upper > _LEAST_LOG
    at, (lower, log_p) = masses.at[keep], logs.at(keep)
    return Atoms(
        Fraction(0),
        step,
        at,
        log_p,
        log_p + at.astype(np.float64) * float(step),
        (-expm1(Interval.exactly(lower) - log_p)).upper,
        log_only_q=min(float(log_d[-1]), 0.0),
        log_only_p=min(float(log_d[0]) - float(masses.at[0] * step), 0.0),
    )


def _outer(index: npt.NDArray[np.int64], step: Fraction, d: Interval) -> _Masses:
    """Return the masses of the hull of the upper bounds, or theirs with all they may be off by.

    The largest convex function below upper bounds of a convex one is an upper bound of it.
    """
    at, log_d, zero = index, d.upper, int(-index[0])
    for _ in range(_MOST_PASSES):
        masses = _masses(at, step, log_d, 0.0)
        drop = masses.concave & (at != 0)
        drop[0] = drop[-1] = False
        if masses.concave[zero]:
            # All others are raised, so that the chord lies above an upper bound and can be cut.
            bound = min(float(_chord(at, step, log_d, zero).upper), float(log_d[zero]))
            log_d = _flattened(at, step, log_d + _RAISED, zero)
            if log_d[zero] < bound:
                break
        elif not np.any(drop):
            return masses
        at, log_d = at[~drop], log_d[~drop]
        zero = int(np.searchsorted(at, 0))
    return _masses(index, step, d.upper, _width(d))


def _lowered(index: npt.NDArray[np.int64], step: Fraction, d: Interval, share: float) -> Array:
    """Return logs of values whose chords stay below the profile; 0 at the ends."""
    values, wide, h = d.upper, _width(d), Interval.of(step)
    cell, parts = index[1:-2], [slice(k, k - 3 or None) for k in range(4)]
    scale: Array = np.maximum.reduce([values[part] for part in parts])
    scale = np.where(np.isneginf(scale), 0.0, scale)
    y0, y1, y2, y3 = (_scaled(values[part], wide[part], scale) for part in parts)
    # Across the kink of the floor the profile itself is convex, its excess is not.
    kink = exp(-Interval.exactly(scale))
    y3 = y3 + Interval.where(cell == -1, expm1(h) * kink, _NOTHING)
    y0 = y0 + Interval.where(cell == 0, -expm1(-h) * kink, _NOTHING)
    # How far the extended chords of the cells beside are below this one at its ends.
    first = (y2 - y1 - (y1 - y0) * exp(h)).larger(0).upper
    second = ((y3 - y2) * exp(-h) - (y2 - y1)).larger(0).upper
    total = (Interval.exactly(first) + second).larger(1e-300)
    gap, tau = Interval.exactly(first) * second / total, Interval.exactly(second) / total
    low1, low2 = (
        exp(Interval.exactly(d.lower[part]) - scale) * Interval.exactly(1 - share)
        for part in parts[1:3]
    )
    left = (gap - tau * low2) / (1 - tau).larger(1e-300)
    right = (gap - (1 - tau) * low1) / tau.larger(1e-300)
    log_left, log_right = ((log(gap.larger(each)) + scale).upper for each in (left, right))
    needed = np.full(values.shape, -np.inf)
    needed[1:-2] = log_left
    needed[2:-1] = np.maximum(needed[2:-1], log_right)
    lower = Interval.exactly(d.lower)
    ratio = exp((Interval.exactly(needed) - lower).smaller(1)) + share
    found = (lower + log1p((-ratio).larger(-1))).lower
    found = np.where(np.isneginf(d.lower), -np.inf, found)
    # Cells at the ends have one neighbour: nothing is claimed of them.
    found[:2] = found[-2:] = -np.inf
    return found


def _inner(
    index: npt.NDArray[np.int64], step: Fraction, d: Interval, share: float
) -> _Masses | None:
    """Return the masses of the hull of the lowered values, or None if rounding is too much."""
    log_d, at = _lowered(index, step, d, share), index
    for _ in range(_MOST_PASSES):
        masses = _masses(at, step, log_d, 0.0)
        drop = masses.concave & (at != 0)
        drop[0] = drop[-1] = False
        zero = int(np.searchsorted(at, 0))
        if masses.concave[zero]:
            log_d = _flattened(at, step, log_d, zero)
        elif not np.any(drop):
            return masses if _covered(masses, index, step, d, share) else None
        # What is above the chord of its neighbours is no corner of the hull.
        at, log_d = at[~drop], log_d[~drop]
    return None


def _flattened(at: npt.NDArray[np.int64], step: Fraction, log_d: Array, zero: int) -> Array:
    """Return the values with the one at x = 1 lowered to the chord of its neighbours, or below."""
    lowered = log_d.copy()
    # Below the chord by what rounding may make of a change of slope.
    lowered[zero] = min(float(_chord(at, step, log_d, zero).lower), float(log_d[zero])) - _BELOW
    return lowered


def _chord(at: npt.NDArray[np.int64], step: Fraction, log_d: Array, zero: int) -> Interval:
    """Return the log of the chord at x = 1 between the neighbours of that point."""
    gaps = _sizes(np.abs(at[[zero - 1, zero + 1]]), step)
    down, up = -expm1(-gaps.at(np.asarray(0))), expm1(gaps.at(np.asarray(1)))
    before, after = (exp(Interval.exactly(log_d[zero + k])) for k in (-1, 1))
    # The profile at the left neighbour is its excess and the floor, 1 - x = `down`.
    return log((after * down + (before + down) * up) / (up + down))


def _covered(
    masses: _Masses, index: npt.NDArray[np.int64], step: Fraction, d: Interval, share: float
) -> bool:
    """Return whether the rounding of the masses raises the profile by less than its share."""
    # Twice the errors times their distance, summed from the far end, in logarithms.
    weight = np.full(index.shape, -np.inf)
    weight[masses.at - index[0]] = masses.log_errors + math.log(4.0)
    losses = index.astype(np.float64) * float(step)
    zero = int(-index[0])
    right = np.logaddexp.accumulate((weight + losses)[zero + 1 :][::-1])[::-1]
    left = np.logaddexp.accumulate(weight[:zero]) + losses[:zero]
    room = math.log(share / 2) + d.lower
    # Of the masses at x_j and beyond only those beyond raise the value there.
    return bool(np.all(right[1:] <= room[zero + 1 : -1]) and np.all(left[:-1] <= room[1:zero]))
