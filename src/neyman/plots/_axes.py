"""Numbers at an axis: thousands apart, no powers of ten, and only as many as there is room for."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from typing import Any, Final, cast, final

import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator

from neyman.overriding import override

__all__ = ["number_axis"]

_MOST: Final = 9
# Of the height of a sign its width, and of a sign the room between two numbers.
_SIGN: Final = 0.62
_BETWEEN: Final = 2.0
_POINTS: Final = 72
_STEPS: Final = (1, 2, 2.5, 5, 10)


def number_axis(axis: Axis) -> None:
    """Have an axis write its numbers so that people can read them, and none over another."""
    axis.set_major_formatter(FuncFormatter(_at))
    if isinstance(axis, XAxis):
        axis.set_major_locator(_Roomy())


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
        size = 10.0
        found = np.array([vmin, vmax])
        for most in range(_MOST, 0, -1):
            ticks = np.asarray(MaxNLocator(most, steps=list(_STEPS)).tick_values(vmin, vmax))
            found = ticks[(ticks >= min(vmin, vmax)) & (ticks <= max(vmin, vmax))]
            longest = max((len(_written(tick)) for tick in found), default=0)
            if len(found) * (longest + _BETWEEN) * _SIGN * size <= room:
                break
        return found


def _written(value: float) -> str:
    """Write a number without a power of ten, as long as it is no longer than that."""
    rounded = float(f"{value:.6g}")
    if rounded and not 1e-4 <= abs(rounded) < 1e12:
        return f"{rounded:g}"
    return f"{rounded:,.10f}".rstrip("0").rstrip(".")
