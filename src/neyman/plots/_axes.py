"""Numbers at an axis: thousands apart, no powers of ten, and only as many as there is room for."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from itertools import pairwise
from typing import Any, Final, cast, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator

from neyman.functional import Scale, ScaledInterval
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["number_axis", "scaled_axis"]

_MOST: Final = 9
# Of the height of a sign its width, and of a sign the room between two numbers.
_SIGN: Final = 0.62
_BETWEEN: Final = 2.0
_POINTS: Final = 72
_STEPS: Final = (1, 2, 2.5, 5, 10)
_SIZE: Final = 10.0
_FEW: Final = 4
_ROUNDED: Final = 1e-9
# Powers of ten that are tried, of either sign.
_POWERS: Final[Array] = np.array([10.0**k for k in range(-100, 101)])


def number_axis(axis: Axis) -> None:
    """Have an axis write its numbers so that people can read them, and none over another."""
    axis.set_major_formatter(FuncFormatter(_at))
    if isinstance(axis, XAxis):
        axis.set_major_locator(_Roomy())


def scaled_axis(axes: Axes, side: ScaledInterval) -> None:
    """Have values lie on a scale across, with powers of ten at the axis.

    The limits of the axis must be set before.
    """
    scale, (low, high) = side.scale, side.ends

    def line(x: Array) -> Array:
        # matplotlib tries numbers that are not on the axis, too.
        return scale.line(np.clip(x, low, high))

    axes.set_xscale("function", functions=(line, scale.value))
    axes.xaxis.set_major_formatter(FuncFormatter(_at))
    axes.xaxis.set_major_locator(_Powers(scale))


def _at(value: float, place: int | None = None) -> str:  # noqa: ARG001
    return _written(value)


@final
class _Roomy(Locator):
    """As many round numbers as stand side by side."""

    def __call__(self) -> Any:
        """Return the places of the numbers in view."""
        ends = cast("tuple[float, float]", cast("Any", self.axis).get_view_interval())
        return self.tick_values(*ends)

    @override
    def tick_values(self, vmin: float, vmax: float) -> Any:
        axes = cast("Any", self.axis).axes
        room = _POINTS * axes.get_window_extent().width / axes.figure.dpi
        found = np.array([vmin, vmax])
        for most in range(_MOST, 0, -1):
            ticks = np.asarray(MaxNLocator(most, steps=list(_STEPS)).tick_values(vmin, vmax))
            found = ticks[(ticks >= min(vmin, vmax)) & (ticks <= max(vmin, vmax))]
            longest = max((len(_written(tick)) for tick in found), default=0)
            if len(found) * (longest + _BETWEEN) * _SIGN * _SIZE <= room:
                break
        return found


@final
class _Powers(Locator):
    """Zero and powers of ten, each or every second one and so on, as many as stand side by side.

    Where fewer than two are in view, round numbers.
    """

    def __init__(self, scale: Scale) -> None:
        self._scale = scale

    def __call__(self) -> Any:
        """Return the places of the numbers in view."""
        ends = cast("tuple[float, float]", cast("Any", self.axis).get_view_interval())
        return self.tick_values(*ends)

    @override
    def tick_values(self, vmin: float, vmax: float) -> Any:
        # The ends of an axis come back from its line, and are rounded.
        found, slack = np.array([vmin, vmax]), _ROUNDED * max(abs(vmin), abs(vmax))
        for every in range(1, _POWERS.size):
            powers = _POWERS[_POWERS.size // 2 % every :: every]
            # Not where the scale is like a line: there are powers side by side.
            powers = powers[powers * self._scale.slope(powers) > 1 / 2]
            ticks = np.concatenate([-powers[::-1], [0.0], powers])
            found = ticks[(ticks >= vmin - slack) & (ticks <= vmax + slack)]
            if self._apart(found):
                break
        if found.size < len(("first", "last")):
            found = np.asarray(MaxNLocator(_FEW, steps=list(_STEPS)).tick_values(vmin, vmax))
        return found[(found >= vmin - slack) & (found <= vmax + slack)]

    def _apart(self, ticks: Any) -> bool:
        """Return whether no number would stand over the next."""
        axes = cast("Any", self.axis).axes
        places = axes.transData.transform(np.stack([ticks, np.zeros(len(ticks))], axis=1))[:, 0]
        sign = _SIGN * _SIZE * axes.figure.dpi / _POINTS
        halves = [(len(_written(tick)) + _BETWEEN) / 2 * sign for tick in ticks]
        ends = zip(places - halves, places + halves, strict=True)
        return all(end <= start for (_, end), (start, _) in pairwise(ends))


def _written(value: float) -> str:
    """Write a number without a power of ten, as long as it is no longer than that."""
    rounded = float(f"{value:.6g}")
    if rounded and not 1e-4 <= abs(rounded) < 1e12:
        return f"{rounded:g}"
    return f"{rounded:,.10f}".rstrip("0").rstrip(".")
