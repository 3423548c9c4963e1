"""The product limit of a life table, and its errors.

For cell k, with Y(k) at risk at its start, e(k, d) events of cause d and c(k) censored,

    h(k, d) = e(k, d) / (Y(k) - c(k) / 2),   h(k) = sum_d h(k, d)
    S(t) = prod_{k < t} (1 - h(k)),   F(t, d) = sum_{k < t} S(k) h(k, d)

are the actuarial estimate and, for several causes, that of Aalen and Johansen. Errors propagate by
derivatives. They are those of the table and of sampling, where the h of one cell vary as shares of
Y(k) - c(k) / 2 records (Greenwood) and those of two cells are uncorrelated.
"""

from typing import NamedTuple

import numpy as np

from neyman.functional._lifetimes._life_table import CELLS, LifeTable, at_ends
from neyman.numerics import Array

__all__ = [
    "Errors",
    "Hazards",
    "exposure",
    "hazards_of",
    "incidence",
    "log_survival",
    "survival_of",
]

# No fewer are at risk in a cell, and no larger share of them is taken by it, where errors are
# carried through; no curve is shown so far.
_FEWEST = 1e-9
_MOST = 0.95


class Hazards(NamedTuple):
    """The share of those at risk who have the event in a cell.

    Attributes:
        shares: h, shape (causes, cells), with a sum of at most 1 in each cell.
        exposed: Y - c / 2 of each cell.
        noise: covariance of the errors of h from the noise, for causes x cells.
        sampling: the same from the sampling of records.
    """

    shares: Array
    exposed: Array
    noise: Array
    sampling: Array


class Errors(NamedTuple):
    """A curve at the ends of the cells, and the covariances of its two errors."""

    values: Array
    noise: Array
    sampling: Array


def hazards_of(table: LifeTable) -> Hazards:
    """Return the hazards of a table with their errors."""
    causes = table.causes
    parts = exposure(causes)
    exposed = np.maximum(parts @ table.numbers, _FEWEST)
    shares = np.maximum(table.events, 0.0) / exposed
    shares /= np.maximum(shares.sum(axis=0), 1.0)
    moves = np.vstack([_moves(parts, exposed, each, d) for d, each in enumerate(shares)])
    return Hazards(shares, exposed, moves @ table.covariance @ moves.T, _drawn(shares, exposed))


def exposure(causes: int) -> Array:
    """Return the matrix from the numbers of a table to Y - c / 2 of each cell."""
    parts = at_ends(causes)[:-1].copy()
    parts[:, causes * CELLS : -1] -= np.eye(CELLS) / 2
    return parts


def survival_of(hazards: Hazards) -> Array:
    """Return S at the ends of the cells."""
    left = 1 - np.minimum(hazards.shares.sum(axis=0), 1.0)
    return np.asarray(np.cumprod(np.append(1.0, left)), np.float64)


def log_survival(hazards: Hazards) -> Errors:
    """Return the cumulative hazard -log S with its errors; infinite when nobody is left."""
    causes = len(hazards.shares)
    with np.errstate(divide="ignore"):
        values = -np.log(survival_of(hazards))
    return _carried(hazards, values, np.hstack([_sums(hazards)] * causes))


def incidence(hazards: Hazards, cause: int) -> Errors:
    """Return the share that has had the event by one cause, with its errors.

    Args:
        hazards: of all causes.
        cause: the cause, from 0 on.
    """
    survival, share = survival_of(hazards), hazards.shares[cause]
    values = np.concatenate([[0.0], np.cumsum(survival[:-1] * share)])
    # d F(t) = sum_{k < t} S(k) d h(k, cause) - sum_{k < t} d A(k) (F(t) - F(k + 1)).
    later = np.maximum(values[:, None] - values[None, 1:], 0.0)
    others = -later / np.maximum(1 - hazards.shares.sum(axis=0), 1 - _MOST)
    own = np.tril(np.ones((CELLS + 1, CELLS)), -1) * survival[:-1]
    gradient = [others + own * (d == cause) for d in range(len(hazards.shares))]
    return _carried(hazards, values, np.hstack(gradient))


def _sums(hazards: Hazards) -> Array:
    """Return the derivatives of -log S at the ends of the cells by h of each cell."""
    left = np.maximum(1 - hazards.shares.sum(axis=0), 1 - _MOST)
    return np.tril(np.ones((CELLS + 1, CELLS)), -1) / left


def _carried(hazards: Hazards, values: Array, gradient: Array) -> Errors:
    return Errors(
        values,
        gradient @ hazards.noise @ gradient.T,
        gradient @ hazards.sampling @ gradient.T,
    )


def _moves(parts: Array, exposed: Array, shares: Array, cause: int) -> Array:
    """Return the derivatives of the hazards of a cause by the numbers of the table."""
    own = np.zeros_like(parts)
    own[:, cause * CELLS : (cause + 1) * CELLS] = np.eye(CELLS)
    return (own - shares[:, None] * parts) / exposed[:, None]


def _drawn(shares: Array, exposed: Array) -> Array:
    """Return the covariance of shares of this many records, for each cell separately."""
    causes = len(shares)
    found = np.zeros((causes, CELLS, causes, CELLS))
    cells = np.arange(CELLS)
    for d, one in enumerate(shares):
        for e, other in enumerate(shares):
            found[d, cells, e, cells] = ((d == e) * one - one * other) / exposed
    return found.reshape(causes * CELLS, causes * CELLS)
