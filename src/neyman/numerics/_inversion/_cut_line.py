"""The inversion of one telescoping term: the sums whose largest step lies between two cuts.

With h(s) = I_high(s), g(s) = I_high(s) - I_low(s) of `CutGrid`, the measure whose transform is

    W = h^n - (h - g)^n = g Σ_j h^(n-1-j) (h - g)^j

is positive, so that it has a line of its own, with the aliases of the contour, at its own saddle.
W falls along the line as fast as g does, however large the part of h that does not.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Array, Interval
from neyman.numerics._inversion._contour import DELTA, Contour, based, even_step
from neyman.numerics._inversion._cut_law import CutGrid
from neyman.numerics._laws._shifts import Mixtures
from neyman.numerics._laws._weighted import waves
from neyman.numerics._primitives import log, log_peak

__all__ = ["Decay", "Term", "cut_line", "power_bound", "powers"]

# What is left out lies below e^-32 of the term, about.
_CUT = 32.0
_MOST_NODES = 6000
_KEPT = 46.0
_SHIFTS = np.asarray([1.2, 0.8, 0.5, 0.25])


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A term, with upper bounds of log W at real points and a guess of its size."""

    low: float
    high: float
    count: int
    c: float
    points: Array
    values: Array
    log_size: float  # log of the functional at t, about
    t: float

    @property
    def step(self) -> float:
        """Return h of the line."""
        x, c = self.points, self.c
        room = self.values - (x - 1) * self.t - self.log_size + _CUT
        above = np.min(room[x > c] / (x[x > c] - c), initial=np.inf)
        below = np.min(room[x < c] / (c - x[x < c]), initial=np.inf)
        # The functional is at most 1.
        trivial = (_CUT - self.log_size) / (c - 1)
        return even_step(2 * math.pi / max(float(above), min(float(below), trivial)))


def power_bound(points: Array, values: Array, t: Array) -> Array:
    """Return the least of log values - (x - 1) t + (x - 1) log(x - 1) - x log x, rounded up.

    Which is the least need not be proved.
    """
    about = values + log_peak.function(points) - (points - 1) * t[:, None]
    best = np.where(np.isfinite(about), about, np.inf).argmin(axis=1)
    x = points[best]
    bound = (values[best] + log_peak(x) - (Interval.exactly(x) - 1) * t).upper
    return np.where(np.isnan(bound), np.inf, bound)


@final
@dataclass(frozen=True, slots=True)
class Decay:
    """Bounds |g(c + iv)|/g(c), or the same of h, for all v >= u."""

    log_cells: Array  # a row for each shift, over the sum at c
    angle: Array  # the least of the cell

    @classmethod
    def of(cls, grid: CutGrid, c: float, ends: tuple[float, float], log_sum: float) -> "Decay":
        """Move the path by a few shifts."""
        width = 2 * grid.rise
        d = width * _SHIFTS
        lift = c * (grid.loss + grid.wrong)[1:] - log_sum
        cells = np.stack([grid.log_cells(float(y), *ends) for y in d]) + lift
        keep = (cells > cells.max(axis=1, keepdims=True) - 70).any(axis=0)
        angle = Mixtures.of([grid.q]).on(grid.x[:-1][keep]).turned(d[None])[1][0] * (1 - 1e-9)
        # Left of the grid the angle falls to nothing, and what is dropped does not turn.
        dropped = np.logaddexp.reduce(
            np.concatenate([cells[:, ~keep], cells[:, :1]], axis=1), axis=1
        )
        cells = np.concatenate([cells[:, keep], dropped[:, None]], axis=1)
        return cls(cells, np.concatenate([angle, np.zeros((d.size, 1))], axis=1))

    def log_bound(self, u: Array) -> Array:
        """The best of the shifts."""
        log = self.log_cells - u[:, None, None] * self.angle
        top = log.max(axis=2)
        bound = top + np.log(np.exp(log - top[..., None]).sum(axis=2)) + 1e-6
        return np.minimum(bound.min(axis=1), 0.0)


def _sizes(grid: CutGrid, term: Term) -> Array:
    """Return log h(c) and log g(c), about."""
    log = grid.log_base + term.c * grid.loss
    both = np.stack([grid.cut(term.high), grid.between(term.low, term.high)])
    with np.errstate(divide="ignore"):
        logs = log + np.log(both)
    return np.logaddexp.reduce(logs, axis=1)


def cut_line(grid: CutGrid, term: Term) -> Contour | None:
    """Return the contour of a term; None if it takes too many nodes."""
    c, n, ends = term.c, term.count, (term.low, term.high)
    sizes = _sizes(grid, term)
    base, share = float(sizes[0]), math.exp(sizes[1] - sizes[0])
    part, lost = _kept(grid, term, sizes)
    decay = Decay.of(grid, c, ends, float(sizes[1]))
    power = n if math.isinf(term.low) else 1
    step, scale = term.step, 0.0 if power == n else math.log(n * share)
    if not step > 0:
        return None
    scaled = term.log_size - (n * base - (c - 1) * term.t)
    height = _height(decay, power, scale, step, scaled)
    if height is None:
        return None
    u = step * np.arange(math.floor(height / step) + 2.0)
    lifted = grid.lifted(c, *ends, base, part)
    at = np.asarray([c])
    alias = np.exp(
        [float(grid.log_lifted_alias(a, term.high, at)[0]) - base for a in (-math.inf, term.low)]
    )
    sums = waves(u, lifted.loss.at((None,)), lifted.terms)
    h, g = (Disc.of(sums.value[i], sums.error[i] + alias[i] + lost[i]) for i in (0, 1))
    s: ComplexArray = np.asarray(c + 1j * u, np.complex128)
    weight = powers(h, g, n) / DELTA.denominator(Disc.exactly(s))
    rest = power * decay.log_bound(u[-1:]) + scale - log(u[-1:])
    points = term.points, term.values
    return Contour.of(
        DELTA, (c, step), weight, based(Interval.exactly(base) * n, step), rest, points
    )


def _kept(grid: CutGrid, term: Term, sums: Array) -> tuple[slice, Array]:
    """Return the nodes that matter on the line above, and what the others may be, of both sums."""
    lift = term.c * (grid.loss + grid.wrong)[1:]
    ends = ((-math.inf, term.high), (term.low, term.high))
    cells = np.stack([grid.log_cells(grid.rise, *pair) for pair in ends]) + lift - sums[:, None]
    matter = np.flatnonzero((cells > -_KEPT).any(axis=0))
    first, last = int(matter[0]), int(matter[-1])
    size = np.exp(np.minimum(cells, 0.0))
    # Both ends of a cell that matters are kept, and each node left out is one of a cell's.
    last += 2
    lost = size[:, :first].sum(axis=1) + size[:, last:].sum(axis=1) + size[:, 0] + size[:, -1]
    return slice(first, last), lost * np.exp(sums - sums[0])


def _height(decay: Decay, power: int, scale: float, step: float, scaled: float) -> float | None:
    """Return where the line may end; None if it takes too many nodes."""
    first, last = step, _MOST_NODES * step
    target = scaled - _CUT
    for _ in range(3):
        u = np.geomspace(first, last, 10)
        bound = power * decay.log_bound(u) + scale - np.log(math.pi * u)
        good = np.flatnonzero(bound <= target)
        if not good.size:
            return None
        at = int(good[0])
        if at == 0:
            return float(u[0])
        first, last = float(u[at - 1]), float(u[at])
    return last


def powers(h: Disc, g: Disc, n: int) -> Disc:
    """Return h^n - (h - g)^n.

    Sums of h^(m-1-j) k^j, k = h - g, by doubling m: S_2m = S_m (h^m + k^m), S_(m+1) = h S_m + k^m.
    """
    a, b = h, h - g
    k, total = b, Disc.exactly(np.ones_like(h.value))
    for bit in bin(n)[3:]:
        total = total * (a + b)
        a, b = a * a, b * b
        if bit == "1":
            total = h * total + b
            a, b = a * h, b * k
    return g * total
