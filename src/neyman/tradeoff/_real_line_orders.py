"""The orders at which Rényi divergences are bounded: a half-line, or finitely many."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics import ULP, Array
from neyman.tradeoff._real_line_bounds import Orders

__all__ = ["HalfLine", "Points"]

# Orders this much closer to 1 than a Gaussian's typical saddle are as good as 1.
_UNIT = 0.05


@final
@dataclass(frozen=True, slots=True)
class HalfLine(Orders):
    """D_a <= rho a at all orders a >= 1; searched over c = log(1 + (a - 1)/unit)."""

    rho: float

    @property
    def _unit(self) -> float:
        return _UNIT * max(1.0, self.rho**-0.5)

    @property
    def width(self) -> int:
        """One."""
        return 1

    @property
    def first(self) -> tuple[int, ...]:
        """One coordinate."""
        return (16,)

    def at(self, coordinates: Array) -> tuple[Array, Array]:
        """b, and rho (1 + b)."""
        order = 1 + self._unit * np.expm1(coordinates[..., 0])
        return order - 1, self.rho * order * (1 + ULP)

    def reach(self, loss: Array) -> tuple[Array, ...]:
        """Some times the order (loss + rho) / (2 rho) of a Gaussian's saddle."""
        most = 4 * (1 + loss / (2 * self.rho) + 1 / np.sqrt(self.rho))
        return (np.log1p(np.minimum(most, 1e290) / self._unit),)

    def loss(self, log: Array) -> Array:
        """Of a Gaussian with this rho."""
        return 2 * np.sqrt(self.rho * (1 + np.abs(log))) + self.rho

    def log_spread(self, rows: Array) -> Array:
        """Half of log rho."""
        return np.full(rows.shape, min(0.5 * float(np.log(self.rho)), 0.0))


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
