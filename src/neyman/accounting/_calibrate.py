"""Which noise, how many steps, what sampling: the parameter that just meets a target."""

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

# Relatively: the width of a bracket that may do, and a room that is far: of a factor e.
_COARSE, _FAR = 0.05, 1.0
# A room that is known so well would be no better known by the next solver, which is not asked then.
_SHARP = 1e-6
# Relatively: rooms that are the same.
_SAME = 1e-9
# Between a trial that meets the target and one of which nothing is known: trials for one that
# misses it.
_INSIDE = 8


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """A parameter that meets a target, and a neighbour that does not.

    Attributes:
        value: meets the target, proved; an int if ints were searched, else a float.
        lower: the smaller end of the bracket: `value` itself, or what is proved to miss; of a
            curve that is only bounded, where its bound is proved to miss.
        upper: the larger end.
        curve: the guarantee at `value`.
        evaluations: how many curves were made.
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
        make: from a positive parameter to a guarantee; monotone. It is given a float, or an int.
        target: `EpsilonDelta`, `MuSlack`, `Advantage`, `TprAtFpr`, `BayesError`, or a `TradeOff`
            that every point of make(x) shall lie above; it costs what the view costs that decides.
        within: public bounds, 0 <= low < high. A low end of 0 is never tried, unless ints are
            searched. None looks outwards from 1 by powers of two, up to 2^64 and down to 2^-64
            (ints: up to 2^52).
        increasing: whether privacy grows with the parameter; None finds it out by comparison.
        integer: search the ints.

    Guarantee: `value` meets the target by its proved bound, and the other end of the bracket is
        proved to miss it.
    Error: the bracket is 1e-10 wide, relatively, or the next int; wider where the bracket of the
        view that the target asks is: mu with slack by 1e-10 to 1e-6, zCDP by 1e-8, and some per
        cent, or more, where compositions are known to so much only: epsilon = 0 or next to it, few
        steps. `lower` and `upper` say how wide.

    Raises:
        InvalidParameter: if the bounds are not such, if all or none of the parameters meet the
            target, or if the family is seen not to be monotone.
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
    """What was tried so far; none is made twice."""

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
        """Return the room at x."""
        if x not in self.seen:
            try:
                curve = self.make(self.axis.parameter(x))
                if not isinstance(curve, TradeOff):  # pyright: ignore[reportUnnecessaryIsInstance]
                    raise InvalidParameter(
                        f"make returned a {type(curve).__name__}; return a TradeOff, such as gdp(1)"
                    )
                # What is proved to miss is the bound: the mechanism may do better.
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
        """Return the room: as closely as it takes to tell on which side the target lies, how far.

        Far off a coarse bracket does.
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
        """Learn the direction, and refuse a family that goes both ways."""
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
        """Where the target is met."""
        return [x for x, (room, _) in self.seen.items() if room.met]

    @property
    def missed(self) -> list[float]:
        """Where the target is missed."""
        return [x for x, (room, _) in self.seen.items() if room.missed]

    def wanted(self, *, up: bool) -> bool:
        """Whether what is not seen yet, met or missed, may lie above (or below)."""
        if self.met and self.missed:
            return False
        neither = not self.met and not self.missed
        return self.increasing is None or neither or (self.increasing != bool(self.met)) == up

    def look_between(self) -> None:
        """Halve between the last decided trial and the next that is not, for the other decision.

        Views can be useless where a parameter is extreme, short of which they are not.
        """
        while self.halvings and bool(self.met) != bool(self.missed):
            gap = self._open_gap()
            x = gap and self.axis.between(*gap, 0.5)
            if x is None:
                return
            self.halvings -= 1
            self.room(x)

    def _open_gap(self) -> tuple[float, float] | None:
        """Return the last decided trial and the next that is not, where the other side may lie."""
        decided = self.met or self.missed
        open_ = set(self.seen) - set(decided)
        above = [x for x in open_ if x > max(decided)]
        below = [x for x in open_ if x < min(decided)]
        if above and self.wanted(up=True):
            return max(decided), min(above)
        return (min(decided), max(below)) if below and self.wanted(up=False) else None

    def nearest(self) -> tuple[float, float]:
        """Return the innermost two, one that meets the target and one that misses it."""
        met, missed = self.met, self.missed
        if min(met) > max(missed):
            return min(met), max(missed)
        return max(met), min(missed)

    def refusal(self, searched: str) -> InvalidParameter:
        """Return the error for a search without both sides, with the reason where it is seen."""
        if not self.met and not self.missed:
            what = "nothing is proved about the target"
        elif self.met:
            largest = self.axis.parameter(max(self.met))
            what = (
                f"every parameter tried meets it, {largest!r} as well: none is proved to miss it, "
                "so none is the last to meet it"
            )
        else:
            what = f"no parameter meets the target{self._reason()}"
        return InvalidParameter(
            f"{self.name} was asked, and {searched} {what}; "
            "write another target, or other bounds: within=(low, high)"
        )

    def _reason(self) -> str:
        """Return why no parameter helps, where that is seen."""
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
    """Return the ends of a range, or what lies next to a low end of 0."""
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
        raise trials.refusal(f"within=({low:g}, {high:g})")
    return trials.nearest()


def _outwards(trials: _Trials) -> tuple[float, float]:
    """Look outwards from 1, by squares of the last step, to one side once it is known which."""
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
