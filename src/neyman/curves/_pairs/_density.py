"""Pairs of laws given by their densities on an interval, integrated by quadrature: estimates."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

import numpy as np

from neyman.curves._pair import Pair, Tails
from neyman.errors import InvalidParameter
from neyman.numerics import Array, ComplexArray
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.numerics._legendre import legendre
from neyman.overriding import override

__all__ = ["DensityPair", "LogDensity", "density_pair"]

LogDensity: TypeAlias = Callable[[Array], Array]

_X, _WEIGHT = legendre(16)
_FEWEST, _MOST = 64, 2**14
# Masses that change by less when the cells are halved have converged.
_SETTLED = 1e-12
# The largest error of a law's mass; a larger one means a wrong domain or no law.
_MASS = 1e-6
_SECANTS, _NARROW = 80, 1e-15
_BLOCK = 2**21


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Gauss-Legendre nodes, a row for each cell, with the logarithms of both masses there."""

    outcome: Array
    log_p: Array
    log_q: Array

    @classmethod
    def over(cls, log_p: LogDensity, log_q: LogDensity, starts: Array, ends: Array) -> "Cells":
        """Lay the nodes between the ends of each cell."""
        half = (ends - starts)[:, None] / 2
        outcome = (starts + ends)[:, None] / 2 + half * _X
        with np.errstate(divide="ignore"):
            log_weight = np.log(half * _WEIGHT)
        flat = outcome.ravel()
        p, q = (
            np.asarray(log(flat), dtype=np.float64).reshape(outcome.shape) + log_weight
            for log in (log_p, log_q)
        )
        return cls(outcome, p, q)

    def masses(self) -> tuple[Array, Array]:
        """Return those of whole cells, under P and under Q."""
        return np.exp(self.log_p).sum(axis=1), np.exp(self.log_q).sum(axis=1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class DensityPair(Pair):
    """P and Q with densities p and q on [low, high]; L = log q - log p.

    Every attacker is taken to see the mass that is missing there: it counts as mass of Q that P
    lacks, and as mass of P that Q lacks.

    Cells of Gauss-Legendre nodes; a cell that a threshold crosses is cut at the crossing, so that
    tails are as smooth as the densities. Sums are of positive terms: small tails keep their digits.

    Error: an estimate. About 1e-12 for analytic densities; a spike narrower than a cell is missed.
    """

    log_p: LogDensity
    log_q: LogDensity
    edges: Array
    cells: "Cells"
    missing: tuple[float, float] = (0.0, 0.0)

    kind: ClassVar[str] = "density"

    def __str__(self) -> str:
        return f"densities on [{self.edges[0]:g}, {self.edges[-1]:g}]"

    def loss(self, outcome: Array) -> Array:
        """Return L = log q - log p at outcomes; infinite where one density is 0."""
        p, q = self.log_p(outcome), self.log_q(outcome)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(p) & np.isneginf(q), 0.0, q - p)

    def errors(self, rejects: Callable[[Array], Array]) -> tuple[float, float]:
        """Return (alpha, beta) of a test: E_P[phi] and 1 - E_Q[phi], estimated.

        Args:
            rejects: phi, the probability of rejecting P at each outcome, in [0, 1].
        """
        phi = np.asarray(rejects(self.cells.outcome), dtype=np.float64)
        if not (np.all(phi >= 0) and np.all(phi <= 1)):
            raise InvalidParameter("a test gave values outside [0, 1]; give probabilities")
        p, q = np.exp(self.cells.log_p), np.exp(self.cells.log_q)
        return float(np.sum(phi * p)), float(np.sum((1 - phi) * q))

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        p, q = self.cells.log_p, self.cells.log_q
        only_q, only_p = q[np.isneginf(p)], p[np.isneginf(q)]
        with np.errstate(divide="ignore"):
            lost_p, lost_q = np.log(self.missing)
        return (
            float(np.logaddexp.reduce(only_q, initial=lost_q)),
            float(np.logaddexp.reduce(only_p, initial=lost_p)),
        )

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        flat = np.ravel(np.asarray(t, dtype=np.float64))
        sums = np.zeros((4, flat.size))
        rows = max(_BLOCK // self.edges.size, 1)
        for start in range(0, flat.size, rows):
            part = slice(start, start + rows)
            sums[:, part] = self._tails(flat[part])
        with np.errstate(divide="ignore"):
            logs = np.log(sums).reshape((4, *np.shape(t)))
        return Tails(*(np.minimum(row, 0.0) for row in logs))

    def _tails(self, t: Array) -> Array:
        """Return P(L > t), P(L <= t), Q(L > t), Q(L <= t)."""
        above = self.loss(self.edges) > t[:, None]
        left, right = above[:, :-1], above[:, 1:]
        whole_p, whole_q = self.cells.masses()
        up, down = left & right, ~left & ~right
        sums = np.stack([up @ whole_p, down @ whole_p, up @ whole_q, down @ whole_q])
        # Whatever the threshold: the loss is -inf there under P, and inf under Q.
        sums[1] += self.missing[0]
        sums[2] += self.missing[1]
        row, cell = np.nonzero(left != right)
        if not row.size:
            return sums
        starts, ends = self.edges[cell], self.edges[cell + 1]
        rising = right[row, cell]
        cut = self._crossing(starts, ends, t[row])
        for begin, end, is_above in ((starts, cut, ~rising), (cut, ends, rising)):
            part = Cells.over(self.log_p, self.log_q, begin, end)
            for side, mass in zip((0, 2), part.masses(), strict=True):
                np.add.at(sums[side], row[is_above], mass[is_above])
                np.add.at(sums[side + 1], row[~is_above], mass[~is_above])
        return sums

    def _crossing(self, low: Array, high: Array, t: Array) -> Array:
        """Return where L = t between ends on either side of it: false position, halved ends."""
        below, above = self.loss(low) - t, self.loss(high) - t
        cut = (low + high) / 2
        for _ in range(_SECANTS):
            with np.errstate(invalid="ignore", divide="ignore"):
                cut = low - below * ((high - low) / (above - below))
            cut = np.where((cut > low) & (cut < high), cut, (low + high) / 2)
            here = self.loss(cut) - t
            after = (here > 0) == (above > 0)
            # The end that stays counts half, or it would stay for ever.
            below, above = np.where(after, below / 2, here), np.where(after, here, above / 2)
            low, high = np.where(after, low, cut), np.where(after, cut, high)
            if np.all(high - low <= _NARROW * np.abs(high) + 1e-300) or np.all(here == 0):
                break
        return cut

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        p, q = self.cells.log_p, self.cells.log_q
        both = np.isfinite(p) & np.isfinite(q)
        loss, weight = q[both] - p[both], p[both]
        if max(self.log_singular) == -np.inf:
            return WeightedLosses.of(weight, np.expm1(loss), loss).at(s)
        with np.errstate(over="ignore", divide="ignore"):
            return np.log(np.exp(weight + s[..., None] * loss).sum(axis=-1))


def density_pair(
    log_p: LogDensity,
    log_q: LogDensity,
    low: float,
    high: float,
    kinks: Sequence[float],
    outside: float,
) -> DensityPair:
    """Halve the cells until the masses no longer move; kinks lie on their edges.

    Raises:
        InvalidParameter: if the domain is no interval, a density is not finite or -inf, or its
            mass on the domain is not in [1 - outside, 1] to 1e-6.
    """
    if not 0 <= outside < 1:
        raise InvalidParameter(
            f"outside must be in [0, 1); got {outside!r}. Write the most that either law has "
            "outside [low, high], such as 1e-6"
        )
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidParameter(
            f"low and high must be finite, with low < high; got {low!r} and {high!r}. Write an "
            "interval that has all but a negligible mass of both laws"
        )
    cells, before = _FEWEST, np.full(2, np.nan)
    while True:
        edges = _edges(low, high, cells, kinks)
        found = Cells.over(log_p, log_q, edges[:-1], edges[1:])
        masses = np.asarray([mass.sum() for mass in found.masses()])
        if not np.all(np.isfinite(masses)):
            raise InvalidParameter(
                "a log density gave nan or +inf on the domain; write -inf where it is 0"
            )
        if np.all(np.abs(masses - before) <= _SETTLED) or cells >= _MOST:
            break
        cells, before = 2 * cells, masses
    if np.any(masses > 1 + _MASS) or np.any(masses < 1 - outside - _MASS):
        settled = np.all(np.abs(masses - before) <= _MASS)
        raise InvalidParameter(
            f"the masses on [{low:g}, {high:g}] must be 1 to 1e-6, less what outside= states; got "
            f"{masses[0]:.9g} and {masses[1]:.9g}. "
            + (
                "Normalise the log densities, widen the domain, or write outside=t for a bound t "
                "of what either law has outside it: it goes into delta"
                if settled
                else "The quadrature did not settle: write a narrower domain, with outside=t for "
                "a bound t of what either law has outside it, and name jumps among the kinks"
            )
        )
    lost = np.maximum(1 - masses, 0.0) if outside else np.zeros(2)
    # One halving more, for what a threshold cuts.
    edges = _edges(low, high, 2 * cells, kinks)
    found = Cells.over(log_p, log_q, edges[:-1], edges[1:])
    return DensityPair(log_p, log_q, edges, found, (float(lost[0]), float(lost[1])))


def _edges(low: float, high: float, cells: int, kinks: Sequence[float]) -> Array:
    inner = [kink for kink in kinks if low < kink < high]
    return np.unique(np.concatenate([np.linspace(low, high, cells + 1), inner]))
