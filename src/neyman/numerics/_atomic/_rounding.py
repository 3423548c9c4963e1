"""A profile on a grid of losses, from above and from below, as laws with atoms on that grid.

With x = e^loss the profile E(x) = E_P[(e^L - x)_+] is convex, and above its floor (1 - x)_+ by
d(x) >= 0. A convex function with kinks at the grid x_i = e^{ih} only is the profile of a law on the
grid, whose masses are the changes of its slope. Composition keeps the order of profiles.

*From above*: the values themselves, joined by chords (the polygon circumscribed to the trade-off
function). *From below*: on a cell a convex function stays above the extended chords of the two
cells beside it, hence above the broken line through their meeting point, c below the cell's own
chord; values lowered by s, (1 - tau) s_i + tau s_{i+1} >= c at the meeting point, have chords below
the profile. Their lower convex hull is the inscribed polygon.

*Rounding.* The computed masses from above are within their stated errors of those of the true
chords. From below, let e_i bound the error of a computed mass: the law with masses within e_i
above max(mass, 0) exists, its profile is higher than the hull's by at most the sum of 2 e_i times
the distance of x_i from the near end, and a share eta of d, set aside first, is checked to cover
it; what is left at x = 1 is made up for by the atoms beside it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["Rounded", "sampled_atoms"]

# Logs of the profile and of the swapped one at minus the loss, where it is read.
Reading = Callable[[Array], tuple[Bracket, Bracket]]
# The least end of a profile, and places that are tried between two a factor of 2 apart.
_NEAREST, _BETWEEN = 2.0**-60, 16
_MOST_POINTS, _MOST_PASSES = 2**21, 100
_SHARES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A law that gives away at least as much as the one read, and one that gives away at most."""

    outer: Atoms
    inner: Atoms


class _Masses(NamedTuple):
    """Logs of the P-masses on some grid points, and of the bounds of their errors."""

    at: npt.NDArray[np.int64]
    log: Array
    log_error: Array
    concave: npt.NDArray[np.bool_]


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
    losses = index.astype(np.float64) * h
    # Where no multiple is rounded, the profile is read once.
    exact = not step.denominator & (step.denominator - 1) and step.numerator < 2**30
    d = _above_floor(read, losses, 0 if exact else 1)
    outer = _atoms(_outer(index, h, d), d.upper, h, step)
    for share in _SHARES:
        inner = _inner(index, h, d, share)
        if inner is not None:
            ends = np.full(2, -np.inf)
            return Rounded(outer, _atoms(inner, ends, h, step))
    return None


def _above_floor(read: Reading, losses: Array, off: int) -> Bracket:
    """Return log d at the grid, of which the losses are within `off` 2^-50: d falls away from 1."""
    room = 4 * ULP * (1 + np.abs(losses))
    both = [read(losses * (1 + x * ULP)) for x in ((-1, 1) if off else (0,))]
    (high, high_back), (low, low_back) = both[0], both[-1]
    right = losses >= 0
    upper = _falling(losses, np.where(right, high.upper, high_back.upper))
    return Bracket(
        np.where(right, low.lower, losses + low_back.lower - room),
        np.where(right, upper, losses + upper + room),
    )


def _falling(losses: Array, upper: Array) -> Array:
    """Return upper bounds of delta, right of 0, and of the swapped one, left of it, that fall.

    As both do, away from 0: else the polygon's ends would be no corners of a convex one.
    """
    fallen = upper.copy()
    fallen[losses >= 0] = np.minimum.accumulate(upper[losses >= 0])
    fallen[losses <= 0] = np.minimum.accumulate(fallen[losses <= 0][::-1])[::-1]
    return fallen


def _width(d: Bracket) -> Array:
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


def _masses(index: npt.NDArray[np.int64], h: float, log_d: Array, width: Array | float) -> _Masses:
    """Return the changes of slope at the points, d being 0 or constant beyond the ends."""
    gaps = np.diff(index).astype(np.float64) * h
    up, down = np.expm1(gaps), -np.expm1(-gaps)
    at_zero = index == 0
    wide = np.broadcast_to(np.asarray(width), log_d.shape) + 4 * ULP
    before, after = np.append(-np.inf, log_d[:-1]), np.append(log_d[1:], -np.inf)
    wide_before, wide_after = np.append(0.0, wide[:-1]), np.append(wide[1:], 0.0)
    scale = np.maximum(np.maximum(before, after), np.where(at_zero, 0.0, log_d))
    scale = np.where(np.isneginf(scale), 0.0, scale)
    a, b, c = (np.exp(x - scale) for x in (before, log_d, after))
    # Beyond the right end the profile is flat; on the left its line ends at d = 0, x = 0.
    e_up, e_down = np.append(up, np.inf), np.append(1.0, down)
    # The differences first: equal neighbours leave nothing.
    value = (c - b) / e_up - (b - a) / e_down
    kink = np.exp(np.where(at_zero, -scale, -np.inf))
    value = value + kink
    error = (c * wide_after + b * wide) / e_up + (b * wide + a * wide_before) / e_down
    error = error + 8 * ULP * ((c + b) / e_up + (a + b) / e_down + kink)
    losses = index.astype(np.float64) * h
    with np.errstate(divide="ignore", invalid="ignore"):
        log = scale - losses + np.log(np.maximum(value, 0.0))
        log_error = scale - losses + np.log(error)
    return _Masses(index, log, log_error, value < 0)


def _atoms(masses: _Masses, log_d: Array, h: float, step: Fraction) -> Atoms:
    """Return the law; what the profile has left at the ends lies at infinity."""
    log = np.logaddexp(masses.log, masses.log_error)
    keep = log > -np.inf
    log, error = log[keep], masses.log_error[keep]
    relative = np.minimum(np.exp(error - log) * (2 + 64 * ULP), 1.0) + 16 * ULP
    first = float(masses.at[0]) * h
    return Atoms(
        Fraction(0),
        step,
        masses.at[keep],
        log,
        log + masses.at[keep].astype(np.float64) * h,
        relative,
        log_only_q=min(float(log_d[-1]), 0.0),
        log_only_p=min(float(log_d[0]) - first, 0.0),
    )


def _outer(index: npt.NDArray[np.int64], h: float, d: Bracket) -> _Masses:
    """Return the masses of the hull of the upper bounds, or theirs with all they may be off by.

    The largest convex function below upper bounds of a convex one is an upper bound of it.
    """
    at, log, zero = index, d.upper, int(-index[0])
    for _ in range(_MOST_PASSES):
        masses = _masses(at, h, log, 0.0)
        drop = masses.concave & (at != 0)
        drop[0] = drop[-1] = False
        if masses.concave[zero]:
            break
        if not np.any(drop):
            return masses
        at, log = at[~drop], log[~drop]
        zero = int(np.searchsorted(at, 0))
    return _masses(index, h, d.upper, _width(d))


def _lowered(index: npt.NDArray[np.int64], h: float, d: Bracket, share: float) -> Array:
    """Return logs of values whose chords stay below the profile; 0 at the ends."""
    values, wide = d.upper, _width(d) + 4 * ULP
    quarters = [values[:-3], values[1:-2], values[2:-1], values[3:]]
    widths = [wide[:-3], wide[1:-2], wide[2:-1], wide[3:]]
    cell = index[1:-2]
    scale: Array = np.maximum.reduce(quarters)
    scale = np.where(np.isneginf(scale), 0.0, scale)
    y0, y1, y2, y3 = (np.exp(q - scale) for q in quarters)
    noise = [y * w for y, w in zip((y0, y1, y2, y3), widths, strict=True)]
    # Across the kink of the floor the profile itself is convex, its excess is not.
    y3 = y3 + np.expm1(h) * np.exp(np.where(cell == -1, -scale, -np.inf))
    y0 = y0 - np.expm1(-h) * np.exp(np.where(cell == 0, -scale, -np.inf))
    steep, flat = (y1 - y0) * np.exp(h), (y3 - y2) * np.exp(-h)
    chord = y2 - y1
    error = 2 * (np.exp(h) * (noise[0] + noise[1]) + noise[1] + noise[2] + noise[2] + noise[3])
    error = error + 16 * ULP * (np.abs(steep) + np.abs(flat) + y0 + y1 + y2 + y3)
    first, second = np.maximum(chord - steep, 0.0) + error, np.maximum(flat - chord, 0.0) + error
    total = np.maximum(first + second, 1e-300)
    gap, tau = first * second / total * (1 + 8 * ULP), second / total
    low1, low2 = (
        np.exp(d.lower[1:-2] - scale) * (1 - share),
        np.exp(d.lower[2:-1] - scale) * (1 - share),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.fmax(gap, (gap - tau * low2) / np.maximum(1 - tau, 1e-300))
        right = np.fmax(gap, (gap - (1 - tau) * low1) / np.maximum(tau, 1e-300))
        log_left, log_right = scale + np.log(left), scale + np.log(right)
    needed = np.full(values.shape, -np.inf)
    needed[1:-2] = log_left + 8 * ULP
    needed[2:-1] = np.maximum(needed[2:-1], log_right + 8 * ULP)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.exp(np.minimum(needed - d.lower, 1.0)) + share
        log = d.lower + np.log1p(-np.minimum(ratio, 1.0))
    log = np.where(np.isneginf(d.lower), -np.inf, log)
    # Cells at the ends have one neighbour: nothing is claimed of them.
    log[:2] = log[-2:] = -np.inf
    return log


def _inner(index: npt.NDArray[np.int64], h: float, d: Bracket, share: float) -> _Masses | None:
    """Return the masses of the hull of the lowered values, or None if rounding is too much."""
    log, at = _lowered(index, h, d, share), index
    for _ in range(_MOST_PASSES):
        masses = _masses(at, h, log, 0.0)
        drop = masses.concave & (at != 0)
        drop[0] = drop[-1] = False
        zero = int(np.searchsorted(at, 0))
        if masses.concave[zero]:
            log = _flattened(at, h, log, zero)
        elif not np.any(drop):
            return masses if _covered(masses, index, h, d, share) else None
        # What is above the chord of its neighbours is no corner of the hull.
        at, log = at[~drop], log[~drop]
    return None


def _flattened(at: npt.NDArray[np.int64], h: float, log: Array, zero: int) -> Array:
    """Return the values with the one at x = 1 lowered to the chord of its neighbours, or below."""
    up, down = np.expm1((at[zero + 1]) * h), -np.expm1(at[zero - 1] * h)
    after, before = np.exp(log[zero + 1]), np.exp(log[zero - 1])
    # The profile at the left neighbour is its excess and the floor, 1 - x = `down`.
    value = (after * down + (before + down) * up) / (up + down)
    lowered = log.copy()
    lowered[zero] = min(float(np.log(value)) - 8 * ULP, float(log[zero]) - 8 * ULP)
    return lowered


def _covered(
    masses: _Masses, index: npt.NDArray[np.int64], h: float, d: Bracket, share: float
) -> bool:
    """Return whether the rounding of the masses raises the profile by less than its share."""
    # Twice the errors times their distance, summed from the far end, in logarithms.
    weight = np.full(index.shape, -np.inf)
    weight[masses.at - index[0]] = masses.log_error + math.log(4.0)
    losses = index.astype(np.float64) * h
    zero = int(-index[0])
    right = np.logaddexp.accumulate((weight + losses)[zero + 1 :][::-1])[::-1]
    left = np.logaddexp.accumulate(weight[:zero]) + losses[:zero]
    room = math.log(share / 2) + d.lower
    # Of the masses at x_j and beyond only those beyond raise the value there.
    return bool(np.all(right[1:] <= room[zero + 1 : -1]) and np.all(left[:-1] <= room[1:zero]))
