"""Composition of laws on a common lattice, cell by cell, with relative accuracy far into the tails.

A ladder of tilts, each with its peak a few standard deviations from the last, gives every cell a
bracket relative to a peak nearby (its error: `_spectrum`); where several are known it takes the
narrowest. So the mass of a cell of probability 1e-300 is as accurate as that of a central one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._atomic._atoms import Atoms, Steps, common_unit
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import exp, log, log_running
from neyman.numerics._spectrum import convolved, spectrum_at

__all__ = ["Composition", "LatticePart", "compose", "fits"]

# Less than the smallest double, in logarithms: where the table ends.
_FLOOR = -760.0
# Peaks of the ladder are this many standard deviations apart, and a transform is this wide.
_RUNG, _WIDTH = 5.0, 9.0
_MOST_RUNGS, _SPARE = 4000, 3
# Cells between the last peak and the end of the support.
_AT_THE_END = 0.05
# The most numbers of one law in memory.
_HELD = 2**18
# Aliasing allowed beside a peak of height 1/deviation.
_LOG_ALIASING = -42.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticePart:
    """A law on the integers, `times` copies of it: steps, and the logarithms of their masses."""

    steps: Steps
    log_p: Interval
    times: int

    def moments(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return log E e^{tau s}, and mean and variance of s under that tilt, for an array."""
        exponents = self.log_p.lower + np.multiply.outer(tau, self.steps)
        top = np.max(exponents, axis=-1)
        weights = np.exp(exponents - top[..., None])
        total = np.sum(weights, axis=-1)
        mean = weights @ self.steps / total
        centred = (self.steps - mean[..., None]) ** 2
        return top + np.log(total), mean, np.sum(weights * centred, axis=-1) / total

    def weights(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return, for each tilt, x = p exp(tau s - kappa), a bound of sum |error of x|, and kappa.

        The masses add up to about 1.
        """
        exponents = self.log_p + Interval.exactly(tau[:, None]) * self.steps.astype(np.float64)
        top = np.max(exponents.lower, axis=-1, keepdims=True)
        kappa = top + np.log(np.sum(np.exp(exponents.lower - top), axis=-1, keepdims=True))
        x = exp(exponents - kappa)
        off = Interval.exactly(x.upper - x.middle).total(axis=-1).upper
        return x.middle, off, kappa[:, 0]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """The composed law: consecutive cells of a lattice, and what they leave out.

    Attributes:
        offset: place of step 0, exact.
        unit: exact.
        steps: int64, shape (w,).
        log_p: the logarithms of the P-masses, shape (w,).
        log_lost_p: upper bound of the P-mass left out, in logarithms.
        log_lost_q: the same under Q.
    """

    offset: Fraction
    unit: Fraction
    steps: Steps
    log_p: Interval
    log_lost_p: float
    log_lost_q: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Ladder:
    """Tilts in increasing order, with cumulant, mean and standard deviation of the composition."""

    tau: Array
    kappa: Array
    mean: Array
    deviation: Array


class _Rung(NamedTuple):
    """A tilt of the ladder, the window that it is for, and the length of its transform."""

    at: int
    window: tuple[int, int]
    length: int
    log_aliasing: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The transforms that fill the cells first..end, by rungs."""

    offset: Fraction
    unit: Fraction
    laws: Sequence[LatticePart]
    ladder: _Ladder
    first: int
    end: int
    cut: float
    rungs: Sequence[_Rung]


def fits(parts: Sequence[tuple[Atoms, int]], most_cells: int) -> bool:
    """Return whether `compose` has an answer; without its transforms."""
    return _plan(parts, most_cells) is not None


def compose(parts: Sequence[tuple[Atoms, int]], most_cells: int) -> Composition | None:
    """Compose laws whose places share a lattice; None where that takes more than `most_cells`.

    Args:
        parts: reduced laws, and how many copies of each.
        most_cells: of the table, and of a transform.
    """
    plan = _plan(parts, most_cells)
    if plan is None:
        return None
    log_p = _filled(plan)
    lost_p = _lost([(atoms.log_lost_p, times) for atoms, times in parts], plan.cut)
    lost_q = _lost([(atoms.log_lost_q, times) for atoms, times in parts], plan.cut)
    steps = np.arange(plan.first, plan.end + 1, dtype=np.int64)
    return Composition(plan.offset, plan.unit, steps, log_p, lost_p, lost_q)


def _plan(parts: Sequence[tuple[Atoms, int]], most_cells: int) -> _Plan | None:
    unit = common_unit([atoms.unit for atoms, _ in parts])
    stretch = [int(atoms.unit / unit) for atoms, _ in parts]
    widest = max(int(a.steps[-1]) * f for (a, _), f in zip(parts, stretch, strict=True))
    # Steps are multiplied by tilts as doubles, exactly.
    if widest > 2**31:
        return None
    offset = sum((times * atoms.offset for atoms, times in parts), Fraction(0))
    laws = [
        LatticePart(atoms.steps * factor, atoms.logs[0], times)
        for (atoms, times), factor in zip(parts, stretch, strict=True)
    ]
    last = sum(law.times * int(law.steps[-1]) for law in laws)
    ladder = _climb(laws, float(offset), float(unit), last)
    first, end, cut = _ends(ladder, float(offset), float(unit), last)
    if end - first + 1 > most_cells:
        return None
    rungs: list[_Rung] = []
    total = ladder.tau.size
    for at in range(total):
        left = ladder.mean[at - 1] if at else first
        right = ladder.mean[at + 1] if at + 1 < total else end
        a, b = max(math.floor(left) - 1, first), min(math.ceil(right) + 1, end)
        if a > b:
            continue
        found = _length(ladder, at, (a, b + 1), last, most_cells)
        if found is None:
            return None
        rungs.append(_Rung(at, (a, b + 1), *found))
    return _Plan(offset, unit, laws, ladder, first, end, cut, rungs)


def _lost(parts: Sequence[tuple[float, int]], cut: float) -> float:
    some = [(log, times) for log, times in [*parts, (cut, 1)] if log > -math.inf]
    if not some:
        return -math.inf
    logs, times = np.asarray(some, dtype=np.float64).T
    return float(log_running(Interval.exactly(logs) + log(Interval.exactly(times))).upper[-1])


def _moments(laws: Sequence[LatticePart], tau: Array) -> tuple[Array, Array, Array]:
    kappa, mean, variance = np.zeros(tau.shape), np.zeros(tau.shape), np.zeros(tau.shape)
    for law in laws:
        k, m, v = law.moments(tau)
        kappa, mean, variance = (
            kappa + law.times * k,
            mean + law.times * m,
            variance + law.times * v,
        )
    return kappa, mean, np.sqrt(variance)


def _climb(laws: Sequence[LatticePart], offset: float, unit: float, last: int) -> _Ladder:
    """Return rungs from where P has no more mass on the left to where Q has none on the right."""
    up = _one_way(laws, last, lambda t, k, m: offset + k - (t - unit) * m if t > unit else 0.0, 1)
    down = _one_way(laws, last, lambda t, k, m: k - t * m, -1)
    tau, kappa, mean, deviation = np.array([*reversed(down), *up[1:]]).T
    return _Ladder(tau, kappa, mean, deviation)


def _one_way(
    laws: Sequence[LatticePart],
    last: int,
    log_tail: Callable[[float, float, float], float],
    sign: int,
) -> list[tuple[float, float, float, float]]:
    """Return (tau, kappa, mean, deviation) from tau = 0 on, with a few rungs to spare."""
    tau, spare = 0.0, 0
    rungs: list[tuple[float, float, float, float]] = []
    while len(rungs) < _MOST_RUNGS and spare <= _SPARE:
        kappa, mean, deviation = (float(x) for x in _moments(laws, np.asarray(tau)))
        if rungs:
            # Where the deviation changes on the way, the peaks may come too far apart.
            before, _, centre, narrow = rungs[-1]
            apart = abs(mean - centre) > _RUNG * max(min(narrow, deviation), 0.2)
            if apart and abs(tau - before) > 1e-9 * abs(tau):
                tau = (tau + before) / 2
                continue
        rungs.append((tau, kappa, mean, deviation))
        edge = last - mean if sign > 0 else mean
        if edge < _AT_THE_END:
            break
        spare += log_tail(tau, kappa, mean) < _FLOOR
        tau += sign * min(_RUNG / max(deviation, 1e-9), 4 + abs(tau))
    return rungs


def _ends(ladder: _Ladder, offset: float, unit: float, last: int) -> tuple[int, int, float]:
    """Return the first and last cell of the table, and a bound of the log mass beyond them."""
    tau, kappa, mean = ladder.tau, ladder.kappa, ladder.mean
    above = np.where(tau > unit, offset + kappa - (tau - unit) * mean, 0.0)
    below = np.where(tau < 0, kappa - tau * mean, 0.0)
    first, final_ = 0, last
    far = np.flatnonzero(below < _FLOOR)
    if far.size:
        first = max(math.floor(mean[far[-1]]), 0)
    far = np.flatnonzero(above < _FLOOR)
    if far.size:
        final_ = min(math.ceil(mean[far[0]]), last)
    cut, slack = -math.inf, _slack(ladder, 0) + _slack(ladder, -1)
    if first > 0:
        cut = float(np.min(np.where(tau <= 0, kappa - tau * first, np.inf))) + slack
    if final_ < last:
        beyond = np.where(tau >= unit, offset + kappa - (tau - unit) * final_, np.inf)
        cut = float(np.logaddexp(cut, np.min(beyond))) + slack
    # Beyond the right end, at a positive place, P has at most e^-place times the mass of Q.
    return first, final_, cut


def _log_aliasing(ladder: _Ladder, at: int, above: float, below: float, last: int) -> float:
    """Return log of Chernoff's bound of the tilted mass at cells >= above or <= below."""
    tau, kappa = ladder.tau, ladder.kappa
    log = -math.inf
    if above <= last:
        bound = kappa - kappa[at] - (tau - tau[at]) * above
        log = float(np.min(bound[at:]))
    if below >= 0:
        bound = kappa - kappa[at] - (tau - tau[at]) * below
        log = float(np.logaddexp(log, np.min(bound[: at + 1])))
    return log


def _filled(plan: _Plan) -> Interval:
    """Return the log masses of the cells first..end, each from all rungs that cover it."""
    size = plan.end - plan.first + 1
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    together = max(_HELD // max(law.steps.size for law in plan.laws), 1)
    for first in range(0, len(plan.rungs), together):
        rungs = plan.rungs[first : first + together]
        for rung, (low, high) in zip(rungs, _logs(plan, rungs), strict=True):
            part = slice(rung.window[0] - plan.first, rung.window[1] - plan.first)
            lower[part] = np.maximum(lower[part], low)
            upper[part] = np.minimum(upper[part], high)
    return Interval(lower, upper)


def _length(
    ladder: _Ladder, at: int, window: tuple[int, int], last: int, most: int
) -> tuple[int, float] | None:
    """Return the length of a rung's transform, and the log of its aliasing."""
    deviation = float(ladder.deviation[at])
    reach = window[1] - window[0] + _WIDTH * deviation
    length = 1 << math.ceil(math.log2(max(reach, 2.0)))
    while True:
        aliasing = -math.inf
        if length <= last:
            aliasing = _log_aliasing(ladder, at, window[0] + length, window[1] - 1 - length, last)
        if aliasing < _LOG_ALIASING - math.log(1 + deviation) or length > last:
            return length, aliasing
        length *= 2
        if length > 4 * most:
            return None


def _logs(plan: _Plan, rungs: Sequence[_Rung]) -> Iterator[tuple[Array, Array]]:
    """Return the log masses of the windows of some rungs."""
    taus = plan.ladder.tau[[rung.at for rung in rungs]]
    weights = [law.weights(taus) for law in plan.laws]
    masses: list[Interval] = []
    tilts: list[Interval] = []
    for i, (rung, tau) in enumerate(zip(rungs, taus.tolist(), strict=True)):
        spectra = [
            (spectrum_at(law.steps, x[i], float(slack[i]), rung.length), law.times)
            for law, (x, slack, _) in zip(plan.laws, weights, strict=True)
        ]
        with np.errstate(over="ignore"):
            aliasing = float(np.exp(rung.log_aliasing + _slack(plan.ladder, rung.at)))
        masses.append(convolved(spectra, rung.window, rung.length, aliasing))
        # The change back is exact at one cell, so that only the distance from it rounds.
        centre = sum(rung.window) // 2
        base = Fraction(tau) * -centre
        for law, (_, _, kappas) in zip(plan.laws, weights, strict=True):
            base += law.times * Fraction(float(kappas[i]))
        k = np.arange(*rung.window, dtype=np.float64) - centre
        tilts.append(Interval.of(base) - Interval.exactly(k) * tau)
    logs = log(_joined(masses)) + _joined(tilts)
    ends = np.cumsum([rung.window[1] - rung.window[0] for rung in rungs])[:-1]
    return zip(*(np.split(end, ends) for end in logs), strict=True)


def _joined(parts: Sequence[Interval]) -> Interval:
    return Interval(*(np.concatenate(ends) for ends in zip(*parts, strict=True)))


def _slack(ladder: _Ladder, at: int) -> float:
    """Return what rounding may take from a bound of Chernoff, generously."""
    return 1e-6 + 1e-12 * float(np.max(np.abs(ladder.kappa)) + abs(ladder.tau[at]))
