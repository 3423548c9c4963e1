"""Calibration: the noise, the number of steps or the sampling rate that just meets a target."""

import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from neyman.accounting._guarantee_target import demand_of
from neyman.accounting._search import Axis, Reals, Wholes, crossing, proved_missed
from neyman.accounting._targets import Room, Target
from neyman.calls import plain_calls
from neyman.curves import Auto, TradeOff
from neyman.curves._solvers._solver import using
from neyman.errors import InvalidParameter, NeymanError

__all__ = ["Calibration", "calibrate"]

# Relative: the width of a bracket that may be enough; a margin that is large (a factor e).
_COARSE, _FAR = 0.05, 1.0
# If a margin is known this well, the next solver is not run: it would not improve it.
_SHARP = 1e-6
# Relative: margins that count as equal.
_SAME = 1e-9
# How many trials look between one that meets the target and one that is undecided for one that
# misses it.
_INSIDE = 8


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """A parameter that meets a target, and a neighbouring one that does not.

    Attributes:
        value: the parameter, proved to meet the target; an int if `integer=True`, else a float.
        lower: the smaller end of the bracket. One end is `value`; the other is proved to miss the
            target. For a curve that is only bounded, it is the bound that misses.
        upper: the larger end.
        curve: the guarantee at `value`.
        evaluations: how many curves were computed.
    """

    value: float
    lower: float
    upper: float
    curve: TradeOff
    evaluations: int


@plain_calls
def calibrate(
    make: Callable[[Any], TradeOff],
    target: Target | TradeOff,
    *,
    within: tuple[float, float] | None = None,
    increasing: bool | None = None,
    integer: bool = False,
) -> Calibration:
    """Return the parameter at which a family of guarantees just meets a target.

        the smallest x with make(x) meeting the target if privacy grows with x (noise),
        the largest if it shrinks (steps, sampling probability, epsilon)

    Args:
        make: a monotone function from a positive parameter to a guarantee. It receives a float, or
            an int if `integer=True`.
        target: `EpsilonDelta`, `MuSlack`, `Advantage`, `TprAtFpr`, `BayesError`, or a `TradeOff`
            that make(x) must lie above at every point. The search takes as long as the view of the
            curve that decides this.
        within: public bounds, 0 <= low < high. A low end of 0 is tried only if `integer=True`. None
            searches outwards from 1 by powers of two, up to 2^64 and down to 2^-64 (ints: up to
            2^52).
        increasing: whether privacy grows with the parameter; None determines it by comparison.
        integer: whether to search the ints.

    Guarantee: `value` meets the target by its proved bound, and the other end of the bracket is
        proved to miss it.
    Error: the bracket has a relative width of 1e-10, or ends at the next int. It is wider if the
        view that decides is known less well: 1e-10 to 1e-6 for mu with slack, 1e-8 for zCDP, and
        some per cent or more for compositions at or near epsilon = 0 or of few steps. `lower` and
        `upper` show the width.

    Raises:
        InvalidParameter: if the bounds are invalid, if all or none of the parameters meet the
            target, or if the family turns out not to be monotone.
        NotCertified: if a curve is an estimate.

    >>> from neyman.accounting._targets import EpsilonDelta
    >>> from neyman.curves import gdp
    >>> noise = calibrate(lambda sigma: gdp(1 / sigma), EpsilonDelta(1, 1e-5))
    >>> f"{noise.value:.9f}", noise.curve.delta(1) <= 1e-5
    ('3.730631635', True)
    """
    axis = Wholes() if integer else Reals()
    aim = demand_of(target) if isinstance(target, TradeOff) else _asked(target)
    trials = _Trials(make, aim, str(target), axis, increasing)
    ends = _checked(within, axis) if within is not None else None
    met, missed = _outwards(trials) if ends is None else _inside(trials, *ends)
    met, open_ = crossing(trials.room, axis, met, missed)
    missed = proved_missed(trials.room, axis, open_, missed)
    value, other = axis.parameter(met), axis.parameter(missed)
    return Calibration(
        value, min(value, other), max(value, other), trials.seen[met][1], len(trials.seen)
    )


@dataclass(slots=True)
class _Trials:
    """The parameters tried so far; none is tried twice."""

    make: Callable[[Any], TradeOff]
    target: Target
    name: str
    axis: Axis
    increasing: bool | None
    halvings: int = _INSIDE
    seen: dict[float, tuple[Room, TradeOff]] = field(
        default_factory=dict[float, tuple[Room, TradeOff]]
    )

    def room(self, x: float) -> Room:
        """Return the margin between the target and the guarantee at x."""
        if x not in self.seen:
            try:
                curve = self.make(self.axis.parameter(x))
                if not isinstance(curve, TradeOff):  # pyright: ignore[reportUnnecessaryIsInstance]
                    raise InvalidParameter(
                        f"make returned a {type(curve).__name__}; return a TradeOff, such as gdp(1)"
                    )
                # Only the bound is proved to miss: the mechanism itself may do better.
                room = self._measured(curve.dominating())
            except NeymanError as error:
                error.add_note(
                    f"(calibrate tried {self.axis.parameter(x)!r}; if that is outside of what is "
                    "possible, write within=(low, high))"
                )
                raise
            self._compare(x, room)
            self.seen[x] = room, curve
        return self.seen[x][0]

    def _measured(self, curve: TradeOff) -> Room:
        """Return the margin of a curve, as precisely as the search needs it.

        Far from the target a coarse bracket is enough.
        """
        with using(Auto(tolerance=_COARSE)):
            room = self.target.room(curve)
        if room.upper - room.lower <= _SHARP:
            return room
        if room.met or room.missed:
            near = room.lower if room.met else -room.upper
            width = room.upper - room.lower if room.met else room.upper - room.guess
            if near >= _FAR or width <= _COARSE * near:
                return room
        return self.target.room(curve)

    def _compare(self, x: float, room: Room) -> None:
        """Find out whether privacy grows with the parameter, and refuse a family that does both."""
        for y, (other, _) in self.seen.items():
            low, high = (room, other) if x < y else (other, room)
            if high.lower > low.upper:
                grows = True
            elif low.lower > high.upper:
                grows = False
            else:
                continue
            if self.increasing is None:
                self.increasing = grows
            if self.increasing != grows:
                small, large = sorted((self.axis.parameter(x), self.axis.parameter(y)))
                raise InvalidParameter(
                    f"make is not monotone as stated or seen: from {small!r} to {large!r} the "
                    f"guarantee {'improves' if grows else 'worsens'}, elsewhere the opposite; "
                    "write within=(low, high) around one monotone part, and check increasing="
                )

    @property
    def met(self) -> list[float]:
        """The parameters that meet the target."""
        return [x for x, (room, _) in self.seen.items() if room.met]

    @property
    def missed(self) -> list[float]:
        """The parameters that miss the target."""
        return [x for x, (room, _) in self.seen.items() if room.missed]

    def wanted(self, *, up: bool) -> bool:
        """Return whether a side that was not found yet may lie above (or below)."""
        if self.met and self.missed:
            return False
        neither = not self.met and not self.missed
        return self.increasing is None or neither or (self.increasing != bool(self.met)) == up

    def look_between(self) -> None:
        """Search between the last decided trial and the next undecided one for the other side.

        The views of a curve can be useless at extreme parameters and useful before them.
        """
        while self.halvings and bool(self.met) != bool(self.missed):
            gap = self._open_gap()
            x = gap and self.axis.between(*gap, 0.5)
            if x is None:
                return
            self.halvings -= 1
            self.room(x)

    def _open_gap(self) -> tuple[float, float] | None:
        """Return the last decided and the next open trial, if the other side may lie between."""
        decided = self.met or self.missed
        open_ = set(self.seen) - set(decided)
        above = [x for x in open_ if x > max(decided)]
        below = [x for x in open_ if x < min(decided)]
        if above and self.wanted(up=True):
            return max(decided), min(above)
        return (min(decided), max(below)) if below and self.wanted(up=False) else None

    def nearest(self) -> tuple[float, float]:
        """Return the closest pair of a parameter that meets the target and one that misses it."""
        met, missed = self.met, self.missed
        if min(met) > max(missed):
            return min(met), max(missed)
        return max(met), min(missed)

    def refusal(self, searched: str) -> InvalidParameter:
        """Return the error for a search that did not find both sides, with the reason if known."""
        if not self.met and not self.missed:
            what = "neither is proved for any parameter"
        elif self.met:
            largest = self.axis.parameter(max(self.met))
            what = (
                f"every parameter tried meets it, {largest!r} as well, and none is proved to miss "
                "it"
            )
        else:
            what = f"no parameter meets the target{self._reason()}"
        return InvalidParameter(
            f"calibrate needs a parameter that meets {self.name} and one that misses it; "
            f"{searched}, {what}. Write another target, or other bounds: within=(low, high)"
        )

    def _reason(self) -> str:
        """Return why no parameter meets the target, if the trials show it."""
        rooms = [room for room, _ in self.seen.values()]
        if not all(room.missed for room in rooms):
            return ", as far as is proved"
        if all(room.upper == -math.inf for room in rooms):
            return ": the loss that it bounds is infinite at every parameter tried"
        most, least = max(room.lower for room in rooms), min(room.upper for room in rooms)
        if most - least <= _SAME * abs(least):
            return (
                ": the loss that it bounds is the same at every parameter tried, as mu and rho are "
                "at every sampling probability"
            )
        return ""


def _asked(target: object) -> Target:
    if not isinstance(target, Target):
        raise InvalidParameter(
            f"the target {reprlib.repr(target)} is a {type(target).__name__}; write one such as "
            "EpsilonDelta(1, 1e-5), MuSlack, Advantage, TprAtFpr, BayesError, or a guarantee such "
            "as gdp(1)"
        )
    return target


def _checked(within: tuple[float, float], axis: Axis) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in within)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"within must be two finite bounds; got {reprlib.repr(within)}. Write a pair such as "
            "within=(0.5, 8)"
        ) from None
    if not (low < high and axis.bounds(low, high)):
        raise InvalidParameter(
            "within must be finite bounds 0 <= low < high, and ints of at most 2^52 if "
            f"integer=True; got {within}"
        )
    return float(low), float(high)


def _inside(trials: _Trials, low: float, high: float) -> tuple[float, float]:
    """Return two parameters within the bounds, one that meets the target and one that misses it."""
    trials.room(high)
    if low > 0 or trials.axis.least_power == 0:
        trials.room(low)
    else:
        power = 1
        while not (trials.met and trials.missed) and power <= -trials.axis.least_power:
            trials.room(high * 2.0**-power)
            trials.look_between()
            power *= 2
    trials.look_between()
    if not (trials.met and trials.missed):
        raise trials.refusal(f"in within=({low:g}, {high:g})")
    return trials.nearest()


def _outwards(trials: _Trials) -> tuple[float, float]:
    """Search outwards from 1, squaring each step, and on one side only once it is known."""
    axis, power = trials.axis, trials.axis.first_power
    trials.room(1.0)
    while not (trials.met and trials.missed):
        if trials.wanted(up=True):
            trials.room(2.0 ** min(power, axis.most_power))
        if trials.wanted(up=False) and axis.least_power < 0:
            trials.room(2.0 ** max(-power, axis.least_power))
        trials.look_between()
        if power > axis.most_power or (axis.least_power == 0 and not trials.wanted(up=True)):
            break
        power *= 2
    if not (trials.met and trials.missed):
        raise trials.refusal(f"from 2^{axis.least_power} to 2^{axis.most_power}")
    return trials.nearest()
