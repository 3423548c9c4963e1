"""A guarantee as a target: the view that decides whether a curve lies above it, by its kind.

    pure epsilon                        the largest loss
    (epsilon, delta)                    one point of the profile
    Gaussian, or with a failure         mu, or mu with that slack
    zCDP, tCDP, RDP, CDP                Rényi divergences
    anything else                       the profile at the points where it is close

A guarantee in two directions lies above a symmetric one if each of its directions does. A `Room` is
the margin between a curve and a target.
"""

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.accounting._targets import EpsilonDelta, MuSlack, Room, Target, below
from neyman.curves import Auto, TradeOff
from neyman.curves._solvers._read import read
from neyman.curves._solvers._solver import using
from neyman.curves._solvers._view import LOG_DELTA
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, exp, expm1, square_roots
from neyman.overriding import override

__all__ = ["demand_of"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_LARGEST_EPSILON = 700.0
# This many points are computed one by one, more in a table; a margin that is clearly negative.
_AT_ONCE, _FAR_OFF = 4, -0.5
# Margins at a point: small, and known well.
_NEARBY, _SHARP = 0.25, 1e-4
# The first points, which show whether a curve is far below.
_FIRST = (0.0, 0.5, 1.0, 2.0, 4.0)
# Points of a profile at which a proof begins, rounds in which they are refined, and their number.
_POINTS, _ROUNDS, _MOST_POINTS = 33, 40, 2000
# An epsilon up to which points are evenly spaced.
_NEAR = 8.0
_TINY, _LEAST_CELL, _STEEPEST = 1e-300, 1e-6, 1e300
# Accepts the first bracket of each composition.
_QUICK = Auto(tolerance=1e300)
_NEVER = Room(-np.inf, -np.inf, -np.inf)


def demand_of(guarantee: TradeOff) -> Target:
    """Return the target that a curve meets if it lies above a guarantee at every point."""
    guarantee = guarantee.dominating()
    statement = guarantee.remove
    if isinstance(statement, RealLinePair) and guarantee.add == statement:
        return _InClass(statement)
    core, least, most = guarantee.without_failure()
    if not guarantee.of_class and least == most and guarantee.symmetric:
        pure = core.outer_pure()
        if pure is not None and pure == core.inner_pure():
            return _BothWays(EpsilonDelta(pure, least)) if pure or least else _Above(guarantee)
        square = core.outer_gaussian()
        if square and square == core.inner_gaussian():
            down, up = square_roots(square)
            # A whole number means itself; any other double may mean a neighbouring decimal.
            return MuSlack(up if down.is_integer() else down, least)
    if guarantee.of_class and not isinstance(core.remove, RealLinePair):
        raise InvalidParameter(
            f"a target must not combine a bound on Rényi divergences with another guarantee; got "
            f"{guarantee}. No mechanism is proved to stay within both. Write the bound alone, such "
            "as zcdp(0.1), or the other guarantee"
        )
    return _Above(guarantee)


@final
@dataclass(frozen=True, slots=True)
class _InClass(Target):
    """Rényi divergences within a statement's bounds. Margin: minus the log of the share used."""

    statement: RealLinePair

    @override
    def room(self, curve: TradeOff) -> Room:
        _ = curve.epsilon(1.0, bracket=True)
        return below(self.statement.share(curve), 1.0)


@final
@dataclass(frozen=True, slots=True)
class _BothWays(Target):
    """A target for a curve and its inverse, from a symmetric guarantee."""

    target: Target

    @override
    def room(self, curve: TradeOff) -> Room:
        here = self.target.room(curve)
        if curve.symmetric:
            return here
        return _smaller(here, self.target.room(curve.swap()))


@final
@dataclass(slots=True)
class _Above(Target):
    """delta_f <= delta_g at every epsilon, for guarantees g that no simpler view decides.

    Both profiles are convex in e^epsilon. Between two points delta_f is at most its chord, and
    delta_g is at least the extended chord on either side. A cell is halved if this does not prove
    one below the other. Points that were close in one trial are checked first in the next: a trial
    ends at the first points where delta_f is larger.

    Margin: the least of log(-log delta_f) - log(-log delta_g) at the points.
    """

    guarantee: TradeOff
    sides: list["_Side"] = field(default_factory=list["_Side"])

    @override
    def room(self, curve: TradeOff) -> Room:
        if not self.sides:
            self.sides.append(_Side(self.guarantee))
            self.sides.append(_Side(self.guarantee.swap()))
        pairs = [(self.sides[0], curve)]
        if not (curve.symmetric and self.guarantee.symmetric):
            pairs.append((self.sides[1], curve.swap()))
        seen = reduce(_smaller, (side.seen(one) for side, one in pairs))
        if seen.missed:
            return seen
        return reduce(_smaller, (side.proved(one) for side, one in pairs))


@dataclass(slots=True)
class _Side:
    """One direction of a guarantee, from epsilon = 0 on, with the values computed so far."""

    guarantee: TradeOff
    rest: float = field(init=False)
    mass: float = field(init=False)
    lost: float = field(init=False)
    close: list[float] = field(init=False)
    known: dict[Auto, dict[float, tuple[float, float]]] = field(init=False)

    def __post_init__(self) -> None:
        """Find the epsilon beyond which only outright failure remains in the profile."""
        least, most = self.guarantee.delta(np.inf, bracket=True)
        # The least and the largest decimals that these doubles may mean.
        self.mass, self.lost = float(np.nextafter(least, 0.0)), float(np.nextafter(most, 1.0))
        self.lost *= most > 0
        self.rest = float(self.guarantee.epsilon(float(least)))
        first = [e for e in _FIRST if e < self.rest]
        self.close = first + [self.rest] * (self.rest <= _LARGEST_EPSILON)
        self.known = {}

    def _values(self, points: Array, solver: Auto) -> Interval:
        """Return brackets of the guarantee's log delta, computed once for each point and solver."""
        known = self.known.setdefault(solver, {})
        new = np.asarray([e for e in points.tolist() if e not in known])
        if new.size:
            lower, upper = self.guarantee.log_delta(new, bracket=True, solver=solver)
            for e, *ends in zip(new.tolist(), lower.tolist(), upper.tolist(), strict=True):
                known[e] = ends[0], ends[1]
        ends = np.asarray([known[e] for e in points.tolist()])
        return Interval(ends[:, 0], ends[:, 1])

    def seen(self, curve: TradeOff) -> Room:
        """Return the margin at the ends, and at the points that were close before."""
        if float(curve.delta(np.inf, bracket=True).lower) > self.lost:
            return _NEVER
        if self.lost == 0 and self.rest < np.inf:
            largest = below(curve.epsilon(0.0, bracket=True), self.rest)
            if largest.missed:
                return largest
        room = Room(-np.inf, np.inf, np.inf)
        for i in range(0, len(self.close), _AT_ONCE):
            sample = self._sample(curve, np.asarray(self.close[i : i + _AT_ONCE]))
            room = _smaller(room, _from_above(_least_room(sample)))
            if room.upper < _FAR_OFF:
                break
        return room

    def _sample(self, curve: TradeOff, points: Array) -> "_Sample":
        """Evaluate at points, and precisely only where a quick bracket does not decide."""
        theirs = self._values(points, _QUICK)
        with using(_QUICK):
            mine = _beside(curve, points, theirs.lower)
        found = _Sample(points, mine, theirs, self.guarantee.symmetric)
        least, most = found.gaps()
        # A bracket that is enough for a proof is too coarse to guess from if the margin is small.
        with np.errstate(invalid="ignore"):
            crude = (least < _NEARBY) & ~(most - least <= _SHARP)
        open_ = (most >= 0) & ((least < 0) | crude)
        if np.any(open_):
            closer = curve.log_delta(points[open_], bracket=True)
            mine.lower[open_], mine.upper[open_] = closer
            theirs.lower[open_], theirs.upper[open_] = self._values(points[open_], Auto())
        return found

    def proved(self, curve: TradeOff) -> Room:
        """Return the margin, with a lower bound if the whole profile is proved to be below."""
        stop = float(curve.epsilon(self.mass))
        if stop > _LARGEST_EPSILON or self.guarantee.of_class:
            # Points prove nothing beyond the last one, or for a curve known only from above.
            if curve.implies(self.guarantee):
                return Room(0.0, np.inf, 0.0)
            if self.guarantee.of_class:
                return Room(-np.inf, np.inf, -np.inf)
            raise InvalidParameter(
                f"the target {self.guarantee} and {curve} both have a positive delta at every "
                "epsilon, and nothing is proved beyond the range of doubles. Write a target with a "
                "delta at infinity, such as f @ approx_dp(0, 1e-12)"
            )
        points = np.linspace(0.0, min(stop, _NEAR), _POINTS)
        if stop > _NEAR:
            points = np.append(points, np.geomspace(_NEAR, stop, _POINTS)[1:])
        # Do not split cells so small that only rounding is visible.
        inner = [e for e in self.close if np.min(np.abs(points - e)) >= _LEAST_CELL and e < stop]
        sample = self._sample(curve, np.unique(np.append(points, inner)))
        room = _least_room(sample)
        for _ in range(_ROUNDS):
            self._remember(sample.closest())
            open_ = ~sample.settled()
            new = sample.wanted(open_)
            if room.missed:
                return _from_above(room)
            if room.met and not new.size:
                return room
            most = sample.points.size + new.size > _MOST_POINTS
            if most or not room.met or sample.fine(open_):
                break
            sample = sample.joined(self._sample(curve, new))
            room = _least_room(sample)
        # Too close to decide.
        return Room(-np.inf, room.upper, -np.inf)

    def _remember(self, at: float) -> None:
        if min(abs(at - e) for e in self.close) >= _LEAST_CELL:
            self.close.append(at)


@final
@dataclass(frozen=True, slots=True)
class _Sample:
    """log delta of a curve and of the guarantee at sorted points."""

    points: Array
    mine: Interval
    theirs: Interval
    mirrored: bool

    def joined(self, other: "_Sample") -> "_Sample":
        """Return both samples together, sorted."""
        points = np.append(self.points, other.points)
        order = np.argsort(points)

        def both(first: Interval, second: Interval) -> Interval:
            pairs = zip(first, second, strict=True)
            return Interval(*(np.append(one, two)[order] for one, two in pairs))

        return _Sample(
            points[order],
            both(self.mine, other.mine),
            both(self.theirs, other.theirs),
            self.mirrored,
        )

    def gaps(self) -> tuple[Array, Array]:
        """Return bounds of the margin at each point, with the signs of an exact comparison."""
        with np.errstate(invalid="ignore", divide="ignore"):
            lower = np.log(-self.mine.upper) - np.log(-self.theirs.lower)
            upper = np.log(-self.mine.lower) - np.log(-self.theirs.upper)
        met, missed = self.mine.upper <= self.theirs.lower, self.mine.lower > self.theirs.upper
        # Two infinite logarithms have no difference.
        lower = np.where(np.isnan(lower), np.where(met, np.inf, -np.inf), lower)
        upper = np.where(np.isnan(upper), np.inf, upper)
        lower = np.where(met, np.maximum(lower, 0.0), np.minimum(lower, -_TINY))
        return lower, np.where(missed, np.minimum(upper, -_TINY), np.maximum(upper, 0.0))

    def closest(self) -> float:
        """Return the point with the smallest margin."""
        return float(self.points[np.argmin(self.gaps()[0])])

    def wanted(self, open_: Mask) -> Array:
        """Return the next points: the middles of open cells, and one next to the smallest margin.

        The array is empty if all cells are settled.
        """
        if not np.any(open_):
            return np.zeros(0)
        left, right = self.points[:-1][open_], self.points[1:][open_]
        new = np.append((left + right) / 2, self._valley())
        return np.setdiff1d(new, self.points)

    def fine(self, open_: Mask) -> bool:
        """Return whether an open cell is so small that only rounding is left."""
        return bool(np.any(np.diff(self.points)[open_] < _LEAST_CELL))

    def _valley(self) -> Array:
        """Return the minimum of the parabola through the three points with the smallest margins."""
        gaps = self.gaps()[0]
        at = int(np.argmin(gaps))
        if not 0 < at < gaps.size - 1 or not np.all(np.isfinite(gaps[at - 1 : at + 2])):
            return np.zeros(0)
        (a, b, c), (fa, fb, fc) = self.points[at - 1 : at + 2], gaps[at - 1 : at + 2]
        left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
        if left == right:
            return np.zeros(0)
        least = b - ((b - a) * left - (b - c) * right) / (2 * (left - right))
        # An existing point would add nothing.
        apart = min(abs(least - end) for end in (a, b, c)) >= _LEAST_CELL
        return np.asarray([least]) if a < least < c and apart else np.zeros(0)

    def _first_fall(self, scale: float) -> float:
        """Return a bound of the fall of the guarantee's delta on the first cell, from epsilon = 0.

        It uses the chord from the left: for a symmetric profile, delta(-e) = 1 - e^-e + e^-e
        delta(e); for any profile, delta is 1 at -infinity.
        """
        step = Interval.exactly(self.points[1])
        least, after = exp(self.theirs.lower[0]), exp(self.theirs.upper[1])
        fall = expm1(step) * (1 - least)
        if self.mirrored:
            fall = fall.smaller(expm1(step) + after - exp(step) * least)
        return float((fall.larger(0) * exp(min(-scale, 700.0))).upper)

    def settled(self) -> Mask:
        """Return the cells between two points on which the curve's delta is proved to be less."""
        width = Interval.exactly(self.points[1:]) - self.points[:-1]
        scale = np.maximum(self.mine.upper, self.theirs.upper)
        scale = np.maximum(scale[:-1], scale[1:])
        scale = np.where(np.isneginf(scale), 0.0, scale)
        # The curve's delta from above and the guarantee's from below, at both ends of each cell.
        curves = self.mine.upper, self.theirs.lower
        ends = np.stack([curve[part] for curve in curves for part in (slice(-1), slice(1, None))])
        found = exp(Interval.exactly(ends) - scale)
        most, least = found.upper[:2], found.lower[2:]
        beside = np.stack((self.theirs.upper[:-2] - scale[1:], self.theirs.upper[2:] - scale[:-1]))
        ahead, behind = exp(Interval.decimal(beside)).upper
        wide = expm1(width)
        left, right = wide.at(slice(-1)), wide.at(slice(1, None))
        # The fall on this cell of the chords of the cells before and after it.
        share = right * (left + 1) / left
        steep = (Interval.exactly(ahead) - least[0][1:]).larger(0) * share
        flat = (Interval.exactly(least[1][:-1]) - behind).larger(0) / share
        steep = np.append(self._first_fall(float(scale[0])), steep.upper)
        # A fall beyond the doubles is larger than any delta, and proves nothing.
        steep = np.where(steep < _STEEPEST, steep, _STEEPEST)
        flat = np.append(flat.lower, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            kink = np.clip((least[0] - least[1] - flat) / (steep - flat), 0.0, 1.0)
        kink = np.where(np.isfinite(kink), kink, 0.0)
        u = Interval.exactly(np.stack([0 * kink, kink, 0 * kink + 1]))
        rest = 1 - u
        floor = (least[0] - u * steep).larger(rest * flat + least[1])
        proved = np.all((rest * most[0] + u * most[1]).upper <= floor.lower, axis=0)
        # From where the profile is zero.
        return proved | np.isneginf(self.mine.upper[:-1])


def _smaller(first: Room, second: Room) -> Room:
    return Room(*(min(ends) for ends in zip(first, second, strict=True)))


def _beside(curve: TradeOff, points: Array, enough: Array) -> Interval:
    """Return brackets of log delta, no closer than needed to prove that it is at most `enough`."""
    sides = {curve.remove: None, curve.add: None}
    found = [read(side, LOG_DELTA, points, enough) for side in sides]
    return Interval(*(np.max(ends, axis=0) for ends in zip(*found, strict=True)))


def _from_above(room: Room) -> Room:
    """Return the margin from above only, because other points may have a smaller one."""
    return Room(-math.inf, room.upper, room.guess)


def _least_room(sample: _Sample) -> Room:
    lower, upper = (float(np.min(ends)) for ends in sample.gaps())
    return Room(lower, upper, lower)
