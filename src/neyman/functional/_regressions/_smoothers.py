"""Fits of Nadaraya and Watson and of kernel ridge regression, from released sums."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from neyman.functional._regressions._smoother import Smoother, Sums, Table, deviation_of
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["NadarayaWatson", "Ridge"]

# Waves of a kernel below this, relatively, are left out.
_SMALLEST: Final = 1e-10


@final
@dataclass(frozen=True, slots=True)
class NadarayaWatson(Smoother):
    """The mean of nearby responses: sum_i K_h(x - x_i) y_i / sum_i K_h(x - x_i)."""

    bandwidth: float

    @property
    @override
    def window(self) -> float:
        return self.bandwidth

    @property
    @override
    def words(self) -> str:
        return f"Nadaraya and Watson, bandwidth {self.bandwidth:.3g}"

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        found = table.values(sums.responses, self.bandwidth) / self._below(table, sums)
        return np.clip(found, -1.0, 1.0)

    @override
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        values = self.values(table, sums)
        spread = table.sd(table.rows(self.bandwidth)) / self._below(table, sums)
        return values, deviation_of(table, values, spread)

    def _below(self, table: Table, sums: Sums) -> Array:
        density = table.values(sums.counts, self.bandwidth)
        # Where there is less than this, nothing is told.
        least = 1e-3 * table.deviations[0] * float(table.sd(table.rows(self.bandwidth)).max())
        return np.maximum(density, least)


@final
@dataclass(frozen=True, slots=True)
class Ridge(Smoother):
    """Kernel ridge regression: argmin sum_i (y_i - c - f(x_i))^2 + r ||f||_H^2, k(0) = 1.

    With f = sum_j u_j psi_j, psi_j = sqrt(s_j) times a cosine or sine, s_j the spectrum of k, and
    the records at the places of the released non-negative density,

        (A + r) u = b,   A_jk = sum_g n_g psi_j(g) psi_k(g),   b_j = sum_g t_g psi_j(g)

    A is the Gram matrix of the waves. It is computed as Psi' diag(n) Psi, so it is positive
    semidefinite for any rounding.
    """

    bandwidth: float
    regularization: float

    @property
    @override
    def window(self) -> float:
        return self.bandwidth / 2

    @property
    @override
    def words(self) -> str:
        return f"kernel ridge, bandwidth {self.bandwidth:.3g}, r = {self.regularization:.3g}"

    @override
    def values(self, table: Table, sums: Sums) -> Array:
        waves = self._waves(table)
        h = float(table.channels.bandwidth)
        totals = table.values(sums.responses, h) * table.step * table.weights
        found = self._solved(table, sums, waves, (waves.T @ totals)[:, None])[:, 0]
        return np.clip(waves @ found, -1.0, 1.0)

    @override
    def read(self, table: Table, sums: Sums) -> tuple[Array, Array]:
        values = self.values(table, sums)
        waves = self._waves(table)
        rows = table.rows(float(table.channels.bandwidth))
        rows *= (table.step * table.weights)[:, None]
        spread = table.sd(waves @ self._solved(table, sums, waves, waves.T @ rows))
        return values, deviation_of(table, values, spread)

    def _solved(self, table: Table, sums: Sums, waves: Array, right: Array) -> Array:
        from scipy.linalg import cho_factor, cho_solve

        masses = table.masses(sums.counts, float(table.channels.bandwidth))
        gram = waves.T @ (masses[:, None] * waves)
        gram[np.diag_indices_from(gram)] += self.regularization
        return np.asarray(cho_solve(cho_factor(gram, lower=True), right))

    def _waves(self, table: Table) -> Array:
        """Return psi at the nodes, shape (nodes, 2 J' + 1), with sum_j psi_j^2 = 1 everywhere."""
        reach = math.sqrt(-2 * math.log(_SMALLEST)) / (2 * math.pi)
        highest = min(math.ceil(reach * table.period / self.bandwidth), table.size // 4)
        frequencies = 2 * math.pi / table.period * np.arange(highest + 1)
        squares = 2 * np.exp(-0.5 * (self.bandwidth * frequencies) ** 2)
        squares[0] = 1.0
        scale = np.sqrt(squares / squares.sum())
        angles = np.multiply.outer(table.places, frequencies)
        return np.concatenate([np.cos(angles) * scale, np.sin(angles[:, 1:]) * scale[1:]], axis=1)
