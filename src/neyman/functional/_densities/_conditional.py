"""The conditional density of some coordinates given another one, from a released field.

    f(y | x) = integral of K_b(x - x') f(x', y) over x',    divided by its integral over y

The divisor is the density of x. Its relative error is known: it is a kernel estimate of bandwidth b
from the released marginal, with exact noise and a known sampling variance. b is the least bandwidth
at which both together are at most 0.15. The field itself is already smoothed along x, so the square
of its bandwidth is subtracted from b^2. If many records are near, no smoothing is left to do; if no
b is large enough, the answer is an error.
"""

import math
from typing import Final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.functional._bases._domain import Side
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._nearest import Table
from neyman.functional._densities._proper import TabulatedDensity
from neyman.numerics import Array

__all__ = ["conditioned"]

# How well the density of the condition must be known, relatively.
_ERROR: Final = 0.15
_BANDWIDTHS: Final = 25
# Of the length of the side: a wider kernel says nothing of the value.
_WIDEST: Final = 0.1
# Places at which an error message looks for a value that can be asked.
_PLACES: Final = 129


def conditioned(
    table: Table, axis: int, value: float, along: ReleasedFunction, read: float
) -> TabulatedDensity:
    """Return the density of all coordinates but one, given the value of that one.

    Args:
        table: the density of all coordinates.
        axis: the axis of the known coordinate.
        value: its value.
        along: its released marginal.
        read: the bandwidth of the table along the axis.

    Raises:
        InvalidParameter: if the value is outside the domain, or the density there is too uncertain
            to divide by.
    """
    side = table.sides[axis]
    upper = side.start + float(side.length)
    if not (math.isfinite(value) and (side.closed or side.start <= value <= upper)):
        raise InvalidParameter(
            f"value must be in the domain of axis {axis}; got {value:g}; write one in "
            f"[{side.start:g}, {upper:g}]"
        )
    bandwidth = _least_bandwidth(along, axis, value)
    added = math.sqrt(max(bandwidth**2 - read**2, 0.0))
    weights = _weights(side, table.steps[axis], table.values.shape[axis], value, added)
    values = np.tensordot(weights, table.values, axes=(0, axis))
    rest = [k for k in range(len(table.sides)) if k != axis]
    steps = tuple(table.steps[k] for k in rest)
    total = values
    for step in reversed(steps):
        total = step * (total.sum(axis=-1) - (total[..., 0] + total[..., -1]) / 2)
    if not float(total) > 0:
        raise _refused(along, axis, value)
    return TabulatedDensity(
        Table(tuple(table.sides[k] for k in rest), steps, values / float(total))
    )


def _least_bandwidth(along: ReleasedFunction, axis: int, value: float) -> float:
    """Return the least b at which the density of the condition is certain enough."""
    for factor in _factors(along):
        kernel = along.smooth(along.bandwidth_at(float(factor)))
        if float(_errors(kernel, np.array([value]))[0]) <= _ERROR:
            # What is known at the bandwidth of the release needs no more than it was read with.
            return float(kernel.bandwidth) if factor > 1 else 0.0
    raise _refused(along, axis, value)


def _factors(along: ReleasedFunction) -> Array:
    low, _ = along.bandwidths
    return np.geomspace(1.0, max(_WIDEST * float(along.side.length) / low, 1.0), _BANDWIDTHS)


def _errors(kernel: ReleasedFunction, x: Array) -> Array:
    """Return the relative standard deviation of noise and sampling; infinite unless f > 0."""
    found = kernel(x)
    records = max(kernel.count, 1.0) / kernel.unit_records
    height = 1 / (2 * math.sqrt(math.pi) * float(kernel.bandwidth) * records)
    variance = kernel.noise_sd(x) ** 2 + height * np.maximum(found, 0.0)
    unknown = np.full(x.shape, np.inf)
    return np.divide(np.sqrt(variance), found, out=unknown, where=found > 0)


def _weights(side: Side, step: float, number: int, value: float, bandwidth: float) -> Array:
    """Return the weights of the places of an axis in a kernel around a value, with sum near 1."""
    away = np.abs(side.start + step * np.arange(number) - value)
    if side.closed:
        turn = np.mod(away, side.period)
        away = np.minimum(turn, side.period - turn)
    if bandwidth < step:
        weights = np.maximum(1 - away / step, 0.0)
        # Around a circle both ends are one place.
        weights[-1] *= not (side.closed and weights[0] > 0)
        return weights
    with np.errstate(under="ignore"):
        weights = np.exp(-((away / bandwidth) ** 2) / 2)
    weights[[0, -1]] /= 2
    return weights / weights.sum()


def _refused(along: ReleasedFunction, axis: int, value: float) -> InvalidParameter:
    x = along.side.grid(_PLACES)
    widest = along.smooth(along.bandwidth_at(float(_factors(along)[-1])))
    known = x[_errors(widest, x) <= _ERROR]
    instead = "spend more, or release with a larger bandwidth"
    if known.size:
        instead = f"write one such as {known[np.argmin(np.abs(known - value))]:.4g}"
    return InvalidParameter(
        f"value must be where the density of axis {axis} is known to {100 * _ERROR:g} %, for it is "
        f"what is divided by; at {value:g} too few records are near; {instead}"
    )
