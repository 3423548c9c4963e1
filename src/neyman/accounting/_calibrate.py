"""Which noise, how many steps, what sampling: the parameter that just meets a target."""

import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from neyman.accounting._search import Axis, Reals, Wholes, crossing, proved_missed
from neyman.accounting._targets import AtLeast, Room, Target
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, NeymanError

__all__ = ["Calibration", "calibrate"]


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """A parameter that meets a target, and a neighbour that does not.

    Attributes:
        value: meets the target, proved; an int if ints were searched, else a float.
        lower: the smaller end of the bracket: `value` itself, or what is proved to miss.
        upper: the larger end.
        curve: the guarantee at `value`.
        evaluations: how many curves were made.
    """

    value: float
    lower: float
    upper: float
    curve: TradeOff
    evaluations: int


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
            that every point of make(x) shall lie above.
        within: public bounds, 0 <= low < high. A low end of 0 is never tried, unless ints are
            searched. None looks outwards from 1 by powers of two, up to 2^64 and down to 2^-64
            (ints: up to 2^52).
        increasing: whether privacy grows with the parameter; None finds it out by comparison.
        integer: search the ints.

    Guarantee: `value` meets the target by its proved bound, and the other end of the bracket is
        proved to miss it.
    Error: the bracket is 1e-10 wide, relatively, or the next int; wider where the bracket of the
        view that the target asks is: mu with slack by 1e-10 to 1e-6, and some per cent, or more,
        where compositions are known to so much only: epsilon = 0 or next to it, a slack of 0 for
        what is sampled, few steps. `lower` and `upper` say how wide.

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
    aim = AtLeast(target) if isinstance(target, TradeOff) else _asked(target)
    trials = _Trials(make, aim, axis, increasing)
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
    axis: Axis
    increasing: bool | None
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
                room = self.target.room(curve)
            except NeymanError as error:
                error.add_note(
                    f"(calibrate tried {self.axis.parameter(x)!r}; if that is outside of what is "
                    "possible, write within=(low, high))"
                )
                raise
            self._compare(x, room)
            self.seen[x] = room, curve
        return self.seen[x][0]

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

    def nearest(self) -> tuple[float, float]:
        """Return the innermost two, one that meets the target and one that misses it."""
        met, missed = self.met, self.missed
        if min(met) > max(missed):
            return min(met), max(missed)
        return max(met), min(missed)

    def refusal(self, searched: str) -> InvalidParameter:
        """Return the error for a search without both sides."""
        if not self.met and not self.missed:
            what = "nothing is proved about the target"
        elif self.met:
            largest = self.axis.parameter(max(self.met))
            what = (
                f"every parameter tried meets it, {largest!r} as well: none is proved to miss it, "
                "so none is the last to meet it"
            )
        else:
            what = "no parameter meets the target"
        return InvalidParameter(
            f"{self.target} was asked, and {searched} {what}; "
            "write another target, or other bounds: within=(low, high)"
        )


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
            f"within={reprlib.repr(within)} was given; write two finite bounds, such as "
            "within=(0.5, 8)"
        ) from None
    if not (low < high and axis.bounds(low, high)):
        raise InvalidParameter(
            f"within={within} was given; write finite bounds 0 <= low < high, and ints of at most "
            "2^52 if integer=True"
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
            power *= 2
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
        if power > axis.most_power or (axis.least_power == 0 and not trials.wanted(up=True)):
            break
        power *= 2
    if not (trials.met and trials.missed):
        raise trials.refusal(f"from 2^{axis.least_power} to 2^{axis.most_power}")
    return trials.nearest()
