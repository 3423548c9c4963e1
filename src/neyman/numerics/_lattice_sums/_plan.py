"""Where the lattice of a question lies: its range, its step, the saddle and the window.

Nothing here is certified, and nothing needs to be: whatever the plan, the laws built by it bracket
the truth. A bad plan makes wide brackets.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics._interval import Array
from neyman.numerics._lattice_sums._law import Grid
from neyman.numerics._lattice_sums._source import LossSource
from neyman.numerics._lattice_sums._window import Tilt

__all__ = [
    "FIRST_LOG",
    "LEVELS",
    "Coarse",
    "Ends",
    "Part",
    "Plan",
    "Question",
    "coarse_law",
    "ends_of",
    "grid_by",
    "grid_of",
    "levels_within",
    "look_at",
    "plan",
    "plan_whole",
    "saddle",
    "tilt_at",
]

LEVELS = 5
# Thresholds of the coarse law on each side of 0, and how many times smaller the least is.
_SIDE, _FINEST, _MOST_COARSE = 400, 1e-7, 2000
# Mass cut off on the left, and on the right relative to delta, at the first level; a level changes
# the brackets by about a sixteenth.
_LEFT, _RIGHT, _LESS = 1e-6, 1e-5, 1 / 16
_LEAST_LOG, FIRST_LOG = -690.0, -138.0
_ROUNDS = 3
# A sum whose losses differ by less, relatively, counts as one point.
_SMALL, _LEAST_STEP = 1e-6, 1e-13
_SIZES = np.append(0.0, np.geomspace(2.0**-70, 2.0**14, 337))
# Minus the logarithm of the tilted mass beyond the window, at the first level.
_BEYOND = 20.0
_TILTS = np.geomspace(1e-6, 1e9, 241)
_OFFSETS = np.geomspace(0.05, 200.0, 60)
# The rounding error of a transform for each step, and the share of delta that may come from it.
_NOISE, _QUIET = 1e-14, 1e-5
_MOST_ALIGNED, _ROUND = 2**14, 1e-250


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A loss and how often it is taken; bounded by the losses of two sources.

    Attributes:
        upper: gives away at least as much as the loss.
        lower: gives away at most as much.
        times: at least 1.
    """

    upper: LossSource
    lower: LossSource
    times: int

    @staticmethod
    def of(source: LossSource, times: int) -> "Part":
        """Return a loss that is known itself."""
        return Part(source, source, times)


Ends: TypeAlias = tuple[tuple[float, float], ...]


class Question(NamedTuple):
    """One point of the profile: its epsilon, or the logarithm of its delta if `inverse`."""

    value: float
    inverse: bool


class Plan(NamedTuple):
    """Where the lattice lies.

    Attributes:
        ends: of each part's losses.
        tilt: of the composition.
        least: the least epsilon of interest.
        log_delta: about the log of the profile there.
    """

    ends: Ends
    tilt: Tilt
    least: float
    log_delta: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coarse:
    """Coarse laws of the parts: places, log masses, and how often each part is taken."""

    laws: Sequence[tuple[Array, Array, int]]

    def cumulants(self, tilt: Array) -> tuple[Array, Array, Array]:
        """Return K, K' and K'' of the sum at tilts."""
        found = np.zeros((3, tilt.size))
        for places, log_mass, times in self.laws:
            exponents = log_mass + np.multiply.outer(tilt, places)
            top = np.max(exponents, axis=-1)
            weight = np.exp(exponents - top[:, None])
            total = np.sum(weight, axis=-1)
            mean = weight @ places / total
            spread = np.sum(weight * (places - mean[:, None]) ** 2, axis=-1) / total
            found += times * np.stack((top + np.log(total), mean, spread))
        return found[0], found[1], found[2]


def levels_within(cells: int, most: int) -> range:
    """Return the levels that take at most `most` cells, if the first one takes `cells`.

    Each takes four times the cells of the one before.
    """
    return range(sum(cells * 4**level <= most for level in range(LEVELS)))


def _edge(tail: Callable[[Array], Array], mass: float, sign: int, limit: float) -> float:
    """Return a loss beyond which, in the direction of `sign`, the mass is at most `mass`."""
    places, end = sign * np.concatenate((-_SIZES[:0:-1], _SIZES)), limit
    for _ in range(_ROUNDS):
        enough = tail(places) <= mass
        at = int(np.argmax(enough)) if np.any(enough) else places.size - 1
        end = float(places[at])
        places = np.linspace(float(places[max(at - 1, 0)]), end, 33)
    return min(end, limit) if sign > 0 else max(end, limit)


def _atom_places(source: LossSource) -> tuple[Array, Array]:
    """Return about where the atoms are, in increasing order, and their masses in Q."""
    p, q = source.atoms
    kept = (q.upper > 0) & (p.upper > 0)
    place = np.log(q.upper[kept]) - np.log(p.upper[kept])
    order = np.argsort(place, kind="stable")
    return place[order], q.upper[kept][order]


def ends_of(source: LossSource, left: float, right: float) -> tuple[float, float]:
    """Return losses below and beyond which the loss has at most these masses in Q."""
    least, largest = source.reach
    low, high = np.inf, -np.inf
    if least < largest:
        low = _edge(lambda t: source.tails(t).q_below.upper, left, -1, least)
        high = _edge(lambda t: source.tails(t).q_above.upper, right, 1, largest)
    place, mass = _atom_places(source)
    if place.size:
        above, below = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
        low = min(low, float(place[np.argmax(below > left)]))
        high = max(high, float(place[place.size - 1 - np.argmax(above[::-1] > right)]))
    return (low, high) if low <= high else (0.0, 0.0)


def coarse_law(source: LossSource, ends: tuple[float, float]) -> tuple[Array, Array]:
    """Return places and logarithms of masses."""
    size = max(abs(ends[0]), abs(ends[1]), 1e-300)
    sizes = np.geomspace(size * _FINEST, size, _SIDE)
    t = np.concatenate((-sizes[::-1], np.zeros(1), sizes))
    found = source.cells(t[(t >= ends[0]) & (t <= ends[1])], exact=False)
    p, q = (
        np.append((m.lower + m.upper) / 2, a.upper)
        for m, a in zip(found, source.atoms, strict=True)
    )
    kept = (p > 0) & (q > 0)
    if not np.any(kept):
        return np.zeros(1), np.full(1, _LEAST_LOG)
    p, q = p[kept], q[kept]
    if p.size > _MOST_COARSE:
        # Neighbours of many atoms stand together.
        order = np.argsort(q / p, kind="stable")
        starts = np.linspace(0, p.size - 1, _MOST_COARSE).astype(np.int64)
        p, q = (np.add.reduceat(mass[order], np.unique(starts)) for mass in (p, q))
    return np.log(q) - np.log(p), np.log(q)


class Saddle(NamedTuple):
    """A tilt, the epsilon whose saddle is there, and about the logarithm of its delta."""

    tilt: float
    epsilon: float
    log_delta: float


def _point(coarse: Coarse, tilt: Array) -> tuple[Array, Array]:
    """Return the epsilon whose saddle is at each tilt, and about log delta there."""
    k, mean, spread = coarse.cumulants(tilt)
    epsilon = mean - 1 / tilt - 1 / (1 + tilt)
    curved = spread + 1 / tilt**2 + 1 / (1 + tilt) ** 2
    log = k - tilt * epsilon - np.log(tilt * (1 + tilt)) - np.log(2 * np.pi * curved) / 2
    return epsilon, log


def saddle(coarse: Coarse, question: Question) -> Saddle:
    """Return where the tilt of a question lies, within a hundredth."""
    tilts, at = _TILTS, 0
    epsilon, log = _point(coarse, tilts)
    for _ in range(_ROUNDS):
        # An epsilon below 0 is of no interest.
        beyond = epsilon >= (0.0 if question.inverse else question.value)
        beyond = beyond & (log <= question.value) if question.inverse else beyond
        at = int(np.argmax(beyond)) if np.any(beyond) else tilts.size - 1
        tilts = np.geomspace(float(tilts[max(at - 1, 0)]), float(tilts[at]), 17)
        epsilon, log = _point(coarse, tilts)
    return Saddle(float(tilts[-1]), float(epsilon[-1]), float(log[-1]))


def _window(coarse: Coarse, found: Saddle, count: int, level: int) -> Tilt:
    """Return a tilt, and the losses outside which the tilted sum has little mass.

    At the saddle rounding matters least. A smaller tilt has lighter tails, and so a shorter window;
    the least is taken at which rounding does not matter yet.
    """
    room = math.log(_QUIET * _LESS**level / (count + 20)) - math.log(_NOISE)
    tilts = np.geomspace(found.tilt / 64, found.tilt, 49)
    excess = coarse.cumulants(tilts)[0] - tilts * found.epsilon - found.log_delta
    enough = excess <= max(room, float(excess[-1]))
    tau = float(tilts[np.argmax(enough)])
    beyond = _BEYOND - level * math.log(_LESS) + float(excess[np.argmax(enough)])
    return tilt_at(coarse, tau, beyond)


def tilt_at(coarse: Coarse, tau: float, beyond: float) -> Tilt:
    """Return the losses outside which a tilted sum has a mass of about e^-beyond."""
    (k,), (mean,), (spread,) = coarse.cumulants(np.asarray([tau]))
    scale = 1 / max(math.sqrt(spread), _SMALL * (_SMALL + abs(mean)))
    right, left = tau + _OFFSETS * scale, tau - _OFFSETS * scale
    up, down = (coarse.cumulants(t)[0] for t in (right, left))
    highs = (up - k + beyond) / (right - tau)
    lows = (down - k + beyond) / (left - tau)
    i, j = int(np.argmin(highs)), int(np.argmax(lows))
    return Tilt(tau, float(left[j]), float(right[i]), float(lows[j]), float(highs[i]))


def plan(
    parts: Sequence[Part], question: Question, level: int, log_cut: float | None = None
) -> Plan:
    """Return where the lattice for one point of the profile of the sum lies.

    Args:
        parts: the losses.
        question: the point.
        level: of the grid.
        log_cut: logarithm of the delta beside which losses may be cut, if not the question's.
    """

    def look(log_delta: float) -> tuple[Ends, Coarse, Saddle]:
        ends, coarse = look_at(parts, log_delta, level)
        return ends, coarse, saddle(coarse, question)

    if question.inverse:
        ends, coarse, found = look(question.value if log_cut is None else log_cut)
        # The epsilon of a delta is known within some units of the slope.
        least = found.epsilon - 3 / found.tilt
    else:
        ends, coarse, found = look(look(FIRST_LOG)[2].log_delta)
        least = question.value
    count = sum(part.times for part in parts)
    return Plan(ends, _window(coarse, found, count, level), least, min(found.log_delta, 0.0))


def plan_whole(parts: Sequence[Part], log_mass: float, level: int) -> Plan:
    """Return where the lattice for all losses of the sum lies, but a mass of about e^log_mass."""
    ends, coarse = look_at(parts, log_mass, level)
    spread = math.sqrt(float(coarse.cumulants(np.zeros(1))[2][0]))
    tilt = tilt_at(coarse, _SMALL / (1 + spread), _BEYOND - log_mass)
    return Plan(ends, tilt, tilt.low, log_mass)


def look_at(parts: Sequence[Part], log_delta: float, level: int) -> tuple[Ends, Coarse]:
    """Return the ends of the parts' losses that matter for a delta, and about their laws."""
    share = _LESS**level / sum(part.times for part in parts)
    right = math.exp(min(max(log_delta, _LEAST_LOG), 0.0)) * _RIGHT * share
    ends = tuple(ends_of(part.upper, _LEFT * share, right) for part in parts)
    laws = [
        (*coarse_law(part.upper, end), part.times) for part, end in zip(parts, ends, strict=True)
    ]
    return ends, Coarse(laws)


def grid_of(parts: Sequence[Part], found: Plan, cells: int) -> tuple[Grid, ...]:
    """Return the grids of the parts, all of one step, the longest of at most `cells` cells."""
    far = max(abs(x) for end in found.ends for x in end)
    step = max(_longest(parts, found), _SMALL * far, _LEAST_STEP * cells) / cells
    unit = _aligned(parts)
    if unit > step:
        step = unit / math.ceil(unit / step)
    return _grids(found, step)


def grid_by(parts: Sequence[Part], found: Plan, step: float, cells: int) -> tuple[Grid, ...]:
    """Return the grids of a given step, the longest of at most `cells` cells.

    Raises:
        InvalidParameter: if they take too many cells.
    """
    longest = max(_longest(parts, found), *(abs(x) for end in found.ends for x in end))
    if longest > step * cells:
        raise InvalidParameter(
            f"a lattice of {len(parts)} different losses has at most {cells} cells; got "
            f"step={step:g} for losses up to {longest:g}. Write a step of at least "
            f"{longest / cells:.2g}"
        )
    return _grids(found, step)


def _longest(parts: Sequence[Part], found: Plan) -> float:
    """Return the length of the longest part, or of the window; a sum's range is not exceeded."""
    lengths = [end[1] - end[0] for end in found.ends]
    whole = sum(x * part.times for x, part in zip(lengths, parts, strict=True))
    return max(*lengths, min(found.tilt.high - found.tilt.low, whole))


def _grids(found: Plan, step: float) -> tuple[Grid, ...]:
    return tuple(
        Grid(step, math.floor(low / step) - 1, math.ceil(high / step) + 1)
        for low, high in found.ends
    )


def _aligned(parts: Sequence[Part]) -> float:
    """Return a length that divides all atoms of the most frequent part, or else the largest atom.

    If it divides them, they lie on the grid, where both laws place them without loss.
    """
    best, unit = 0, 0.0
    for part in parts:
        places, mass = _atom_places(part.lower)
        # Masses near the smallest doubles have inaccurate ratios.
        places = np.abs(places[mass > _ROUND])
        places = places[places > 1e-12]
        if 0 < places.size <= _MOST_ALIGNED and part.times > best:
            best = part.times
            least, largest = float(np.min(places)), float(np.max(places))
            gaps = np.diff(np.sort(np.append(places, 0.0)))
            gaps = gaps[gaps > 1e-9 * largest]
            for length in (float(np.min(gaps)), least, largest):
                unit = length
                if np.all(np.abs(places / length - np.rint(places / length)) < 1e-9 * places.size):
                    break
    return unit
