"""A search in few trials for the last parameter of a monotone family at which a proof holds."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

from neyman.accounting._targets import Room
from neyman.overriding import override

__all__ = ["Axis", "Reals", "Wholes", "crossing", "proved_missed"]

# The smallest relative step between two trials.
_STEP = 2e-11
# Larger ints may not be doubles, and their logarithms may be equal.
_MOST = 2**52


class Axis(ABC):
    """Positive parameters of one kind, searched by their logarithm.

    Numbers are passed as floats; `parameter` converts them for the user's function.
    """

    __slots__ = ()

    first_power: int
    most_power: int
    least_power: int

    @abstractmethod
    def bounds(self, low: float, high: float) -> bool:
        """Return whether low < high are valid bounds of a search."""

    @abstractmethod
    def parameter(self, x: float) -> float:
        """Return x as the user's function receives it, a float or an int."""

    @abstractmethod
    def place(self, x: float) -> float:
        """Return the coordinate in which the margin is nearly linear."""

    @abstractmethod
    def between(self, near: float, far: float, share: float) -> float | None:
        """Return the parameter at a share of the distance from `near` to `far`; None if none is."""

    @abstractmethod
    def beside(self, x: float, towards: float, steps: int) -> float:
        """Return the parameter this many smallest steps from x, at most as far as `towards`."""


@final
class Reals(Axis):
    """Floats, in relative steps of 2e-11."""

    __slots__ = ()
    first_power, most_power, least_power = 1, 64, -64

    @override
    def bounds(self, low: float, high: float) -> bool:
        return low >= 0 and high < math.inf

    @override
    def parameter(self, x: float) -> float:
        return x

    @override
    def place(self, x: float) -> float:
        return math.log(x)

    @override
    def between(self, near: float, far: float, share: float) -> float | None:
        start, width = math.log(near), math.log(far) - math.log(near)
        least = _STEP / abs(width) if width else 1.0
        if least > 0.5:
            return None
        return math.exp(start + min(max(share, least), 1 - least) * width)

    @override
    def beside(self, x: float, towards: float, steps: int) -> float:
        moved = x * (1 + steps * _STEP) if towards > x else x * (1 - min(steps * _STEP, 1.0))
        return min(moved, towards) if towards > x else max(moved, towards)


@final
class Wholes(Axis):
    """Ints from 0 to 2^52."""

    __slots__ = ()
    # Counts are usually large, and a composition of few steps takes longer than one of a thousand.
    first_power, most_power, least_power = 10, 52, 0

    @override
    def bounds(self, low: float, high: float) -> bool:
        return low >= 0 and high <= _MOST and low % 1 == high % 1 == 0

    @override
    def parameter(self, x: float) -> int:
        return round(x)

    @override
    def place(self, x: float) -> float:
        return math.log1p(x)

    @override
    def between(self, near: float, far: float, share: float) -> float | None:
        low, high = min(near, far), max(near, far)
        if high - low <= 1:
            return None
        start = math.log1p(near)
        x = round(math.expm1(start + share * (math.log1p(far) - start)))
        return float(min(max(x, low + 1), high - 1))

    @override
    def beside(self, x: float, towards: float, steps: int) -> float:
        return min(x + steps, towards) if towards > x else max(x - steps, towards)


def crossing(
    measure: Callable[[float], Room], axis: Axis, met: float, open_: float
) -> tuple[float, float]:
    """Return neighbours (met, open): the target is proved to be met at the one, not at the other.

    It uses inverse quadratic interpolation of the margin's guess where that is safe, and bisection
    elsewhere.

    Source: Chandrupatla (1997), *Advances in Engineering Software* 28, 145-149.
    """
    here, there = met, open_
    value, other = measure(here).guess, measure(there).guess
    share = value / (value - other) if math.isfinite(value - other) else 0.5
    while (x := axis.between(here, there, share)) is not None:
        room = measure(x)
        found = room.guess
        if math.isinf(found) and not room.met and not room.missed:
            # Neither met nor missed is proved: go back until one is.
            here, there = _retreat(measure, axis, x, here if value >= 0 else there)
            value, other, share = measure(here).guess, found, 0.5
            continue
        if (found >= 0) == (value >= 0):
            third, last = here, value
        else:
            third, last, there, other = there, other, here, value
        here, value = x, found
        share = _share(
            (axis.place(here), value), (axis.place(there), other), (axis.place(third), last)
        )
    return (here, there) if value >= 0 else (there, here)


def _retreat(
    measure: Callable[[float], Room], axis: Axis, open_: float, met: float
) -> tuple[float, float]:
    """Return the first parameter from `open_` on that meets the target, and the last before it."""
    x, steps = axis.beside(open_, met, 1), 4
    while x != met and not measure(x).met:
        open_, x, steps = x, axis.beside(x, met, steps), 4 * steps
    return x, open_


def _share(
    here: tuple[float, float], there: tuple[float, float], third: tuple[float, float]
) -> float:
    """Return the share of the distance from `here` to `there` at which the root is expected."""
    (a, fa), (b, fb), (c, fc) = here, there, third
    if not (math.isfinite(fa) and math.isfinite(fb) and math.isfinite(fc)) or fc in (fa, fb):
        return 0.5
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (phi * phi < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    quadratic = (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return fa / (fb - fa) * fc / (fb - fc) + quadratic


def proved_missed(
    measure: Callable[[float], Room], axis: Axis, open_: float, missed: float
) -> float:
    """Return the first parameter found, from `open_` on, that is proved to miss the target.

    Args:
        measure: a function from a parameter to its margin.
        axis: of the parameter.
        open_: the start.
        missed: a parameter that is already proved to miss it.
    """
    x, steps = open_, 1
    while x != missed and not measure(x).missed:
        x, steps = axis.beside(open_, missed, steps), 4 * steps
    return x
