"""The life table of a release: the posterior mean of exits in each stretch of time.

The horizon is cut into K equal cells. The unknowns are x, the number of events in each cell, and z,
the number of censorings in each cell and beyond the horizon. For one channel the release gives

    y = A x + noise of variance s^2,   so   G = A^T A / s^2,   b = A^T y / s^2

which are sufficient. G depends only on the distance of two cells. The prior is that records leave
independently at a rate that varies smoothly,

    x ~ N(m, diag(v)),   m = p (1 + u),   u a Gaussian process, v the mean of m, as Poisson's law

where p is the expected number for a constant hazard of those at risk; for censorings, p is a
constant number per cell. u has one of many length scales and sizes, weighted by the likelihood of
y. So the counts are smoothed as much as the noise requires, most where few are at risk.
"""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from neyman.functional._bases._basis import Basis
from neyman.functional._lifetimes._survival import Exits
from neyman.numerics import Array

__all__ = ["CELLS", "LifeTable", "at_ends", "life_table", "unsmoothed"]

CELLS: Final = 128
# Waves of the process over the horizon.
_WAVES: Final = 32
_SCALES: Final = (1 / 24, 1 / 12, 1 / 6, 1 / 3, 2 / 3)
_SIZES: Final = (0.1, 0.3, 1.0, 3.0)
# First all numbers are smooth, then the events of those at risk: twice is enough.
_ROUNDS: Final = 3
# Poisson's variance is at least this share of that of a constant rate: a rate of 0 is never known.
_LEAST: Final = 0.2
# So many are at risk at least, where a rate is of them.
_FEWEST: Final = 0.5
# Noise is taken to have at least so many times the variance of a count of all: less would be lost
# in rounding.
_ROUNDING: Final = 1e-8
# So many times the number of all is the variance of how many are beyond, about what was read last.
_UNKNOWN: Final = 10.0
# What is not smoothed varies by so many times Poisson's variance.
_LOOSE: Final = 100.0


class LifeTable(NamedTuple):
    """Estimated numbers of records, with the covariance of their errors.

    Attributes:
        numbers: the events of each cause in each cell, then the censorings in each cell, then the
            records beyond the horizon.
        covariance: the covariance of the numbers without noise about these estimates.
        causes: the number of causes.
    """

    numbers: Array
    covariance: Array
    causes: int

    @property
    def events(self) -> Array:
        """The events of each cause in each cell, shape (causes, cells)."""
        return self.numbers[: self.causes * CELLS].reshape(self.causes, CELLS)

    @property
    def at_risk(self) -> Array:
        """The number at risk at the ends of the cells, shape (cells + 1,)."""
        return following() @ self._gone

    @property
    def at_risk_variance(self) -> Array:
        """The variance of the errors of `at_risk`."""
        ends = at_ends(self.causes)
        return np.maximum(np.einsum("ij,jk,ik->i", ends, self.covariance, ends), 0.0)

    @property
    def _gone(self) -> Array:
        """The number that leaves in each cell, and beyond the horizon."""
        inside = self.numbers[:-1].reshape(self.causes + 1, CELLS).sum(axis=0)
        return np.append(inside, self.numbers[-1])


def following() -> Array:
    """Return the matrix of the cells (and the rest) that follow each end of a cell."""
    return np.triu(np.ones((CELLS + 1, CELLS + 1)))


def at_ends(causes: int) -> Array:
    """Return the matrix from the numbers of a table to the numbers at risk at the ends of cells."""
    later = following()
    return np.hstack([later[:, :CELLS]] * (causes + 1) + [later[:, CELLS:]])


def life_table(
    exits: Exits, integers: tuple[int, ...], stddev: float, records: int | None
) -> LifeTable:
    """Return the table of a release.

    Args:
        exits: the channels of the integers.
        integers: the released integers.
        stddev: standard deviation of the noise on each integer.
        records: the number of records if it is public.
    """
    channels, counted = _channels(exits, integers, stddev, records)
    total = max(counted, 1.0)
    # Nothing is known yet: all leave evenly, one half of them before the end.
    even = np.full(CELLS, total / (2 * CELLS * len(channels)))
    found = [_Read.even(even) for _ in channels[:-1]]
    left = _Read.even(np.append(even, total / 2))
    for _ in range(_ROUNDS):
        gone = np.sum([each.mean[:CELLS] for each in (*found, left)], axis=0)
        ends = following() @ np.append(gone, max(left.mean[-1], 0.0))
        at_risk = np.maximum((ends[1:] + ends[:-1]) / 2, _FEWEST)
        found = [
            _read(channel, at_risk * (max(was.mean.sum(), 1.0) / at_risk.sum()), was.smooth, None)
            for channel, was in zip(channels[:-1], found, strict=True)
        ]
        rate = max(float(left.mean[:CELLS].sum()), 1.0) / CELLS
        last = np.append(np.full(CELLS, rate), max(float(left.mean[-1]), 0.0))
        left = _read(channels[-1], last, left.smooth, _UNKNOWN * total)
    every = [*found, left]
    table = LifeTable(
        np.concatenate([each.mean for each in every]),
        _diagonal([each.covariance for each in every]),
        len(found),
    )
    return table if records is None else _of_so_many(table, float(records))


def unsmoothed(
    exits: Exits, integers: tuple[int, ...], stddev: float, records: int | None, table: LifeTable
) -> LifeTable:
    """Return a table of the same release that is almost not shrunk.

    Its covariance is that of the noise alone. Tests need it, because they must not use shrunk
    numbers.

    Args:
        exits: as for `life_table`.
        integers: as for `life_table`.
        stddev: as for `life_table`.
        records: as for `life_table`.
        table: the table that it is shrunk to, a hundred times less.
    """
    channels, counted = _channels(exits, integers, stddev, records)
    ends = np.cumsum([len(channel.vector) for channel in channels])[:-1]
    means: list[Array] = []
    noises: list[Array] = []
    for channel, mean in zip(channels, np.split(table.numbers, ends), strict=True):
        variance = _LOOSE * np.maximum(mean, max(counted, 1.0) / CELLS)
        rest = np.linalg.inv(np.diag(1 / variance) + channel.matrix)
        means.append(mean + rest @ (channel.vector - channel.matrix @ mean))
        noises.append(rest @ channel.matrix @ rest)
    whole = LifeTable(np.concatenate(means), _diagonal(noises), table.causes)
    return whole if records is None else _of_so_many(whole, float(records))


class _Information(NamedTuple):
    """G of a channel with noise of variance 1, and the cosines and sines that give b."""

    matrix: Array
    cosines: Array
    sines: Array


class _Channel(NamedTuple):
    """G and b of a channel."""

    matrix: Array
    vector: Array


class _Read(NamedTuple):
    """The numbers of one channel: mean and covariance, and their smooth part."""

    mean: Array
    covariance: Array
    smooth: Array

    @classmethod
    def even(cls, mean: Array) -> "_Read":
        """Return the prior numbers."""
        return cls(mean, np.diag(mean), mean)


@lru_cache(maxsize=16)
def _information(basis: Basis, *, beyond: bool) -> _Information:
    """Return G for records spread evenly in each cell; with those beyond, who are at the end."""
    from scipy.linalg import toeplitz

    length = float(basis.domain.length)
    waves = 2 * np.pi / basis.period * np.arange(basis.highest + 1)
    squares = basis.amplitudes**2
    cell = length / CELLS
    spread = np.sinc(waves * cell / (2 * np.pi))
    places, weights = cell * (np.arange(CELLS) + 0.5), squares * spread
    turns = np.multiply.outer(places, waves)
    apart = np.cos(np.multiply.outer(places - places[0], waves))
    matrix = np.asarray(toeplitz(apart @ (weights * spread)))
    cosines, sines = np.cos(turns) * weights, np.sin(turns) * weights
    if beyond:
        beside = np.cos(np.multiply.outer(length - places, waves)) @ weights
        matrix = np.block([[matrix, beside[:, None]], [beside[None], squares.sum()]])
        cosines = np.vstack([cosines, squares * np.cos(waves * length)])
        sines = np.vstack([sines, squares * np.sin(waves * length)])
    return _Information(matrix, cosines, sines)


def _channels(
    exits: Exits, integers: tuple[int, ...], stddev: float, records: int | None
) -> tuple[list[_Channel], float]:
    """Return G and b of each channel, and the number of all records."""
    bases, found = exits.bases, list[_Channel]()
    ends = np.cumsum([basis.size for basis in bases])[:-1]
    parts = np.split(np.array(integers, dtype=np.float64), ends)
    sums = [basis.transform(part) for basis, part in zip(bases, parts, strict=True)]
    counted = sum(float(each[0].real) for each in sums) if records is None else float(records)
    for place, (basis, each) in enumerate(zip(bases, sums, strict=True)):
        known = _information(basis, beyond=place == exits.causes)
        least = _ROUNDING * max(counted, 1.0) * float(np.sum(basis.amplitudes**2))
        variance = max(stddev**2, least)
        vector = known.cosines @ each.real - known.sines @ each.imag
        found.append(_Channel(known.matrix / variance, vector / variance))
    return found, counted


@lru_cache(maxsize=1)
def _process() -> tuple[Array, Array]:
    """Return the waves of u at the middle of each cell, and their variances under each prior."""
    number = np.arange(_WAVES)
    middle = (np.arange(CELLS) + 0.5) / CELLS
    waves = np.cos(np.pi * np.multiply.outer(middle, number))
    variances = [np.zeros(_WAVES)]
    for scale in _SCALES:
        each = np.exp(-((np.pi * scale * number) ** 2) / 2) * np.where(number > 0, 2.0, 1.0)
        variances += [size**2 * each / each.sum() for size in _SIZES]
    found = np.array(variances)
    # How many there are of all is not known, either.
    found[:, 0] += 1.0
    return waves, found


def _read(channel: _Channel, rate: Array, smooth: Array, beyond: float | None) -> _Read:
    """Return the posterior mean over all priors, weighted by their likelihood.

    Args:
        channel: G and b.
        rate: p in each cell, and the number beyond the horizon if there can be any.
        smooth: v, before it is raised to at least a share of p.
        beyond: the variance of the number beyond; None if there cannot be any.
    """
    waves, beliefs = _process()
    inside = rate[:CELLS]
    shape, variance = inside[:, None] * waves, np.maximum(smooth[:CELLS], _LEAST * inside)
    if beyond is not None:
        shape = np.vstack([shape, np.zeros(_WAVES)])
        variance = np.append(variance, beyond)
    known = channel.matrix
    rest = np.linalg.inv(np.diag(1 / variance) + known)
    moved = channel.vector - known @ rate
    seen = known @ shape
    through = rest @ seen
    matrix, vector = shape.T @ seen - seen.T @ through, shape.T @ moved - through.T @ moved
    weight, spread = _mixed(matrix, vector, beliefs)
    left = shape - through
    return _Read(
        rate + rest @ moved + left @ weight,
        rest + left @ spread @ left.T,
        rate + shape @ weight,
    )


def _mixed(matrix: Array, vector: Array, beliefs: Array) -> tuple[Array, Array]:
    """Return mean and covariance of the waves, over the priors by their likelihood."""
    roots = np.sqrt(beliefs)
    inner = np.eye(_WAVES) + roots[:, :, None] * matrix * roots[:, None, :]
    covariances = roots[:, :, None] * np.linalg.inv(inner) * roots[:, None, :]
    means = covariances @ vector
    logs = means @ vector / 2 - np.linalg.slogdet(inner)[1] / 2
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    mean = shares @ means
    apart = means - mean
    covariance = np.tensordot(shares, covariances, 1) + (apart.T * shares) @ apart
    return mean, np.asarray(covariance)


def _diagonal(blocks: list[Array]) -> Array:
    size = sum(len(block) for block in blocks)
    whole, first = np.zeros((size, size)), 0
    for block in blocks:
        last = first + len(block)
        whole[first:last, first:last] = block
        first = last
    return whole


def _of_so_many(table: LifeTable, records: float) -> LifeTable:
    """Return the table conditioned on the number of all records."""
    moves = table.covariance.sum(axis=1)
    variance = max(float(moves.sum()), 1e-12)
    missing = records - float(table.numbers.sum())
    return table._replace(
        numbers=table.numbers + moves * (missing / variance),
        covariance=table.covariance - np.outer(moves, moves) / variance,
    )
