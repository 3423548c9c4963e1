"""The orders at which Rényi divergences are bounded: an interval from 1 on, or finitely many."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.curves._statements._real_line_bounds import Orders
from neyman.numerics import ULP, Array

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
    def width(self) -> int:
        """One."""
        return 1

    @property
    def first(self) -> tuple[int, ...]:
        """One coordinate."""
        return (16,)

    def at(self, coordinates: Array) -> tuple[Array, Array]:
        """b, and the line there."""
        b = np.minimum(self._unit * np.expm1(coordinates[..., 0]), self.last - 1)
        return b, (self.start + self.slope * b) * (1 + ULP)

    def reach(self, loss: Array) -> tuple[Array, ...]:
        """Some times the order (loss + slope) / (2 slope) of a Gaussian's saddle."""
        most = 4 * (1 + loss / (2 * self.slope) + 1 / np.sqrt(self.slope))
        return (np.log1p(np.minimum(most, min(1e290, self.last - 1)) / self._unit),)

    def loss(self, log: Array) -> Array:
        """Of a Gaussian with this slope."""
        return 2 * np.sqrt(self.slope * (1 + np.abs(log))) + self.slope

    def log_spread(self, rows: Array) -> Array:
        """Half of the logarithm of the divergence of order 1."""
        return np.full(rows.shape, min(0.5 * float(np.log(self.start)), 0.0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Points(Orders):
    """Orders 1 + b with bounds R of the divergence, each tried in turn."""

    b: Array
    divergence: Array

    @property
    def width(self) -> int:
        """One row for each."""
        return self.b.size

    @property
    def first(self) -> tuple[int, ...]:
        """No coordinate."""
        return ()

    def at(self, coordinates: Array) -> tuple[Array, Array]:
        """The order of the row."""
        times = coordinates.shape[0] // self.b.size
        return np.tile(self.b, times)[:, None], np.tile(self.divergence, times)[:, None]

    def reach(self, loss: Array) -> tuple[Array, ...]:  # noqa: ARG002
        """Nothing to search."""
        return ()

    def loss(self, log: Array) -> Array:
        """By the order of the row alone."""
        b = np.tile(self.b, log.size // self.b.size)
        divergence = np.tile(self.divergence, log.size // self.b.size)
        return (np.abs(log) + np.abs(b) * divergence + 2) / (1 + b)

    def log_spread(self, rows: Array) -> Array:
        """Half of log R."""
        return np.tile(np.minimum(0.5 * np.log(self.divergence), 0.0), rows.size // self.b.size)
