"""`turned_line` for many laws on the same nodes, a row for each."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._laws._weighted import LAST_ORDER, PER_TERM, SMALL, logged

__all__ = ["PointRows", "turned_rows"]

Mask = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True)
class PointRows:
    """Points that may be complex, Im l >= 0: common weights, and rows of losses."""

    log_weight: ComplexArray
    weight: ComplexArray
    loss: ComplexArray
    drift: ComplexArray  # sums of weight (l - e^l + 1)


def turned_rows(
    points: PointRows, at: tuple[float, Array], wrong: Array
) -> tuple[ComplexArray, Array]:
    """Return K(c + iu) for each row, and bounds of its error.

    Args:
        points: of the laws.
        at: c, and equally spaced u from 0.
        wrong: bounds an error of e^K from elsewhere, a row for each.
    """
    c, u = at
    s: ComplexArray = np.asarray(c + 1j * u, np.complex128)
    size = np.abs(s)
    small = np.abs(points.loss) * math.hypot(c, float(u[-1])) < SMALL
    total, bend = _by_moments(points, small, s)
    drift = points.drift[:, None]
    sums = 10 + PER_TERM * points.weight.size
    rounded = sums * size * np.abs(drift) + 16 * size * size * bend[:, None]
    total = total + s * drift
    columns = ~np.all(small, axis=0)
    if np.any(columns):
        part, error = _far(points, ~small[:, columns], columns, at)
        total, rounded = total + part, rounded + error
    return logged(total, wrong + ULP * rounded)


def _by_moments(points: PointRows, small: Mask, s: ComplexArray) -> tuple[ComplexArray, Array]:
    """Return the sums of weight (e^(sl) - 1 - sl) for |sl| < 2, and those of |weight l²/2|."""
    scale = float(np.max(np.abs(s), initial=1e-300))
    columns = np.any(small, axis=0)
    x = np.where(small[:, columns], points.loss[:, columns] * scale, 0.0)
    term = points.weight[columns] * x * x / 2
    bend = np.abs(term).sum(axis=1) / scale**2
    moments = [term.sum(axis=1)]
    for order in range(3, LAST_ORDER):
        term *= x
        term *= 1 / order
        moments.append(term.sum(axis=1))
    powers = np.multiply.outer(np.ones(len(moments)), s / scale)
    powers[0] *= powers[0]
    found = np.stack(moments, axis=1) @ np.cumprod(powers, axis=0)
    return np.asarray(found, np.complex128), bend


def _far(
    points: PointRows, far: Mask, columns: Mask, at: tuple[float, Array]
) -> tuple[ComplexArray, Array]:
    """Return the sums of weight (e^(sl) - 1 - sl), and their rounding in ULP."""
    (c, u), loss, log_weight = at, points.loss[:, columns], points.log_weight[columns]
    lift = c * loss
    with np.errstate(over="ignore", invalid="ignore"):
        tilted = np.where(far, np.exp(log_weight + lift), 0.0)
        weight = np.where(far, points.weight[columns], 0.0)
        level = (weight * loss).sum(axis=1)[:, None]
        waves, products = _waves(u, np.where(far, loss, 0.0), tilted)
        part = waves - weight.sum(axis=1)[:, None] - (c + 1j * u) * level
        size, plain, depth = np.abs(tilted), np.abs(weight), np.abs(lift)
        flat = size * (4 + depth + np.abs(log_weight)) + plain * (4 + depth)
        steep = (size + plain) * np.abs(loss)
        sums = 6 + PER_TERM * columns.size
        lost = sums * (flat.sum(axis=1)[:, None] + u * steep.sum(axis=1)[:, None])
        return part, lost + 2 * products * size.sum(axis=1)[:, None]


def _waves(u: Array, loss: ComplexArray, tilted: ComplexArray) -> tuple[ComplexArray, int]:
    """Return the sums of tilted e^(iul) for equally spaced u from 0, by powers of two waves.

    Second: how many factors there are in each at most; each is within 2 ULP.
    """
    width = math.isqrt(u.size - 1) + 1
    height = -(-u.size // width)
    step = float(u[1]) if u.size > 1 else 0.0
    if abs(u[-1] - step * (u.size - 1)) > 1e-9 * (step + abs(u[-1])):
        raise ValueError("heights must be equally spaced from 0")
    inner = _powers(np.ones_like(tilted), np.exp(1j * loss * step), width)
    outer = _powers(tilted, np.exp(1j * loss * (step * width)), height)
    found = np.matmul(outer.transpose(1, 0, 2), inner.transpose(1, 2, 0))
    return found.reshape(loss.shape[0], -1)[:, : u.size], width + height


def _powers(first: ComplexArray, factor: ComplexArray, many: int) -> ComplexArray:
    found = np.empty((many, *first.shape), dtype=np.complex128)
    found[0] = first
    for k in range(1, many):
        np.multiply(found[k - 1], factor, out=found[k])
    return found
