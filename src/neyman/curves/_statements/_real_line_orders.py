"""The orders at which Rényi divergences are bounded: an interval from 1 on, or finitely many."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.curves._statements._real_line_bounds import Orders
from neyman.numerics import Array, Interval
from neyman.overriding import override

__all__ = ["Line", "Points"]

# Orders this much closer to 1 than a Gaussian's typical saddle are as good as 1.
_UNIT = 0.05


@final
@dataclass(frozen=True, slots=True)
class Line(Orders):
    """D_a <= start + slope (a - 1) at orders 1 <= a <= last.

    Searched over c = log(1 + (a - 1)/unit).
    """

    start: float
    slope: float
    last: float = math.inf

    @property
    def _unit(self) -> float:
        return _UNIT * max(1.0, self.slope**-0.5)

    @property
    @override
    def width(self) -> int:
        return 1

    @property
    @override
    def first(self) -> tuple[int, ...]:
        return (12,)

    @override
    def at(self, coordinates: Array) -> tuple[Array, Array]:
        b = np.minimum(self._unit * np.expm1(coordinates[..., 0]), self.last - 1)
        return b, (self.start + self.slope * Interval.exactly(b)).upper

    @override
    def reach(self, loss: Array) -> tuple[Array, ...]:
        most = 4 * (1 + loss / (2 * self.slope) + 1 / np.sqrt(self.slope))
        return (np.log1p(np.minimum(most, min(1e290, self.last - 1)) / self._unit),)

    @override
    def loss(self, log: Array) -> Array:
        return 2 * np.sqrt(self.slope * (1 + np.abs(log))) + self.slope

    @override
    def log_spread(self, rows: Array) -> Array:
        return np.full(rows.shape, min(0.5 * float(np.log(self.start)), 0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Points(Orders):
    """Orders 1 + b with bounds R of the divergence, each tried in turn."""

    b: Array
    divergence: Array

    @property
    @override
    def width(self) -> int:
        return self.b.size

    @property
    @override
    def first(self) -> tuple[int, ...]:
        return ()

    @override
    def at(self, coordinates: Array) -> tuple[Array, Array]:
        times = coordinates.shape[0] // self.b.size
        return np.tile(self.b, times)[:, None], np.tile(self.divergence, times)[:, None]

    @override
    def reach(self, loss: Array) -> tuple[Array, ...]:  # noqa: ARG002
        return ()

    @override
    def loss(self, log: Array) -> Array:
        b = np.tile(self.b, log.size // self.b.size)
        divergence = np.tile(self.divergence, log.size // self.b.size)
        return (np.abs(log) + np.abs(b) * divergence + 2) / (1 + b)

    @override
    def log_spread(self, rows: Array) -> Array:
        return np.tile(np.minimum(0.5 * np.log(self.divergence), 0.0), rows.size // self.b.size)
