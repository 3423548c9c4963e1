"""Pictures of the privacy profile and of Rényi divergences."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.plots._labelled import labelled
from neyman.plots._style import INK, PALETTE, QUIET, clean, figure, legend, plain, words

__all__ = ["profile", "renyi"]

_LEAST_DELTA = 1e-8
_POINTS = 160
_LEAST_ORDER = 2


@plain
def profile(curves: TradeOff | Mapping[str, TradeOff], *, epsilon: float) -> Figure:
    """Draw privacy profiles: delta at each epsilon, on a logarithmic axis, with proved bounds.

    Args:
        curves: a trade-off function, or several by label.
        epsilon: the largest epsilon; positive.

    Raises:
        InvalidParameter: if epsilon is not positive, or the curves are anything else.
    """
    if not 0 < epsilon < math.inf:
        raise InvalidParameter(f"epsilon must be a positive number; got {epsilon!r}")
    picture = figure(5.4, 4.4)
    axes = clean(picture.add_subplot())
    along = np.linspace(0.0, float(epsilon), _POINTS)
    for i, (label, curve) in enumerate(labelled(curves).items()):
        lower, upper = _bounds(curve, curve.delta(along, bracket=curve.certified))
        _line(axes, i, label, along, lower, upper)
    axes.set_yscale("log")
    axes.set(xlim=(0, float(epsilon)), ylim=(_LEAST_DELTA, 1.0))
    axes.grid(axis="y", color=QUIET, alpha=0.25)
    axes.set_xlabel("ε", color=INK)
    axes.set_ylabel("δ(ε)", color=INK)
    legend(picture)
    return picture


@plain
def renyi(curves: TradeOff | Mapping[str, TradeOff], *, order: float) -> Figure:
    """Draw Rényi divergences by order, both axes logarithmic, with their proved bounds.

    If some outcomes reveal the dataset with certainty, the divergence is infinite above order 1.
    Such a curve has no line, and the legend says so.

    Args:
        curves: a trade-off function, or several by label.
        order: the largest order; at least 2.

    Raises:
        InvalidParameter: if the order is below 2, or the curves are anything else.
    """
    if not _LEAST_ORDER <= order < math.inf:
        raise InvalidParameter(f"order must be a number of at least 2; got {order!r}")
    picture = figure(5.4, 4.4)
    axes = clean(picture.add_subplot())
    along = 1 + np.geomspace(0.01, float(order) - 1, _POINTS)
    for i, (label, curve) in enumerate(labelled(curves).items()):
        lower, upper = _bounds(curve, curve.renyi(along, bracket=curve.certified))
        seen = np.isfinite(upper) & (upper > 0)
        said = label if np.any(seen) else f"{label}: " + ("0" if upper[0] == 0 else "infinite")
        _line(axes, i, said, along[seen], lower[seen], upper[seen])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(color=QUIET, alpha=0.25)
    axes.set_xlabel("order (at 1: Kullback-Leibler)", color=INK)
    axes.set_ylabel("Rényi divergence", color=INK)
    legend(picture)
    return picture


def _bounds(curve: TradeOff, answer: Array) -> tuple[Array, Array]:
    """Return both bounds of a view, which are equal for an estimate."""
    if not curve.certified:
        return answer, answer
    lower, upper = answer
    return lower, upper


def _line(axes: Axes, place: int, label: str, along: Array, lower: Array, upper: Array) -> None:
    colour = PALETTE[place % len(PALETTE)]
    axes.fill_between(along, lower, upper, color=colour, alpha=0.35, linewidth=0)
    drawn = np.where(upper > 0, upper, math.nan)
    axes.plot(along, drawn, color=colour, linewidth=1.8, label=words(label))
