"""Gaussian noise with any covariance: its cost, and the covariance with the least cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, floor_float
from neyman.numerics._rational_matrix import Rows, inverse_forms, is_semidefinite
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = [
    "OptimalCovariance",
    "box_covariance",
    "integer_map",
    "mahalanobis_squared",
    "mapped_sensitivity",
    "optimal_covariance",
]

Table = Sequence[Sequence[Real]] | npt.NDArray[Any]
_MOST_DIMENSIONS, _MOST_STEPS = 40, 20_000
_AIM = 1e-7


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimalCovariance:
    """A covariance that hides all moves at mu = 1, and a proof that no smaller trace does.

    Attributes:
        covariance: M with v^T M^-1 v <= 1 for every move v, exactly for the decimals that these
            doubles print as; shape (d, d).
        trace: the trace of M.
        lower: a lower bound of the trace of any such covariance: exact, rounded down.
        weights: of the moves in the proof, shape (m,); their sum is 1 up to rounding.
    """

    covariance: Array
    trace: float
    lower: float
    weights: Array


def mahalanobis_squared(covariance: Table, moves: Table) -> Fraction:
    """Return max over the moves v of v^T M^-1 v, exactly: mu^2 of one release with noise N(0, M).

        T(N(v, M), N(v', M)) = G_mu,  mu = ||M^(-1/2) (v - v')||

    The maximum is the same over the convex hull of the moves and their negatives.

    Args:
        covariance: M, symmetric positive definite, shape (d, d), d at most 40. Floats mean the
            decimals that they print as.
        moves: the changes of the vector that one unit can cause, shape (m, d).

    Raises:
        InvalidParameter: if M is not symmetric positive definite, or the shapes do not agree.

    Source: Hall, Rinaldo and Wasserman (2013), proposition 3; Dong, Roth and Su (2022), theorem 1,
        for the exact curve.

    >>> from neyman.curves import gdp
    >>> gdp(squared=mahalanobis_squared([[2, 1], [1, 2]], [[1, 0], [1, 1]]))
    gdp(mu≈0.816497)
    """
    vectors = _rationals(moves, "moves")
    return _largest_form(_square(_rationals(covariance, "covariance")), vectors)


def optimal_covariance(moves: Table) -> OptimalCovariance:
    """Return the covariance of least trace with v^T M^-1 v <= 1 for all moves v.

        min tr M = max over weights p of (tr S^(1/2))^2,  S = sum of p_i v_i v_i^T,
        M = tr(S^(1/2)) S^(1/2)

    Weak duality is the Cauchy-Schwarz inequality: (tr S^(1/2))^2 <= tr(M) tr(M^-1 S) <= tr(M). The
    weights are found by multiplying them by v_i^T S^(-1/2) v_i / tr S^(1/2). Both ends are then
    proved in exact rationals, so they do not depend on the iteration. Elimination proves that M
    hides the moves. The lower bound is proved by a T with S - T^2 positive semidefinite, so that tr
    S^(1/2) >= tr T.

    For noise with another mu, divide M by mu^2. For moves in an ellipsoid v^T A^-1 v <= 1 the
    optimum is A itself. For moves in a box see `box_covariance`.

    Args:
        moves: moves that span the space, shape (m, d), d at most 40. Floats mean the decimals that
            they print as. A unit's largest moves are enough, with either sign, because the hull is
            covered.

    Raises:
        InvalidParameter: if the moves do not span the space.

    Error: `trace` / `lower` - 1 is about 1e-7, and larger if the moves are nearly dependent.
    Source: Pukelsheim (2006), "Optimal design of experiments", chapters 6 and 7, for the duality;
        Yu (2010), "Monotonic convergence of a general algorithm for computing optimal designs".

    >>> found = optimal_covariance([[1, 0], [0, 3]])
    >>> round(found.trace, 5), round(found.lower, 5)
    (10.0, 10.0)
    """
    vectors = _rationals(moves, "moves")
    v = np.array([[float(x) for x in row] for row in vectors])
    largest = float(np.max(np.abs(v), initial=0.0))
    if not largest or np.linalg.matrix_rank(v) < v.shape[1]:
        raise InvalidParameter(
            f"the moves must span all {v.shape[1]} dimensions; got rank "
            f"{int(np.linalg.matrix_rank(v))}. Write the vector in coordinates that the moves "
            "span; the others need no noise"
        )
    weights = _weights(v / largest)
    root, _ = _roots(v.T * weights @ v)
    covariance = _hiding(float(np.trace(root)) * root, vectors)
    trace = float(np.trace(covariance)) * (1 + 1e-14)
    return OptimalCovariance(covariance, trace, _lower(weights, vectors, root), weights)


def box_covariance(bounds: Sequence[Real]) -> Array:
    """Return the covariance of least trace for all moves |v_i| <= b_i: diagonal, b_i sum of b.

    Every corner v has v^T M^-1 v = 1. With equal weights on all corners, S = diag(b_i^2) and (tr
    S^(1/2))^2 = (sum of b)^2 = tr M, so no trace is smaller (see `optimal_covariance`).

    Args:
        bounds: b, positive.

    Raises:
        InvalidParameter: if a bound is not positive, or there is none.

    Error: the diagonal is rounded up.
    """
    sides = [exact(b, "a bound") for b in bounds]
    if not sides or min(sides) <= 0:
        raise InvalidParameter(f"bounds must be positive; got {bounds!r}")
    return np.diag([np.nextafter(float(b * sum(sides)), np.inf) for b in sides])


def integer_map(covariance: Table, resolution: int) -> npt.NDArray[np.int64]:
    """Return A, integers near resolution M^(-1/2), for drawing correlated noise exactly.

    There is no exactly rounded draw of correlated noise. Instead, release A v with independent
    exactly rounded `Gaussian` noise K of variance sigma^2, and compute A^-1 (A v + K) = v + A^-1 K.
    This is post-processing. The covariance of the noise is (sigma^2 + 1/12) (A^T A)^-1, which is
    near M at sigma = resolution. The privacy is that of the integers A v, `mapped_sensitivity(A,
    moves)`, and exact however A was rounded.

    Args:
        covariance: M, symmetric positive definite.
        resolution: the scale of A: the standard deviation of the noise in units of the lattice.

    Raises:
        InvalidParameter: if M is not symmetric positive definite, if A is singular, which a finer
            resolution avoids, or if an entry of A is above 2^40.
    """
    rows = _square(_rationals(covariance, "covariance"))
    _largest_form(rows, rows)
    _, inverse = _roots(np.array([[float(x) for x in row] for row in rows]))
    found = np.rint(resolution * inverse)
    if np.max(np.abs(found)) > 2**40 or np.linalg.matrix_rank(found) < len(rows):
        raise InvalidParameter(
            f"resolution={resolution} gives a singular map, or entries above 2^40; write another"
        )
    return found.astype(np.int64)


def mapped_sensitivity(
    integers: npt.NDArray[np.int64], moves: Table, neighbors: Neighbors
) -> Sensitivity:
    """Return the exact sensitivity of A v to these moves of v.

    Args:
        integers: A, shape (k, d).
        moves: the changes of v that one unit can cause, or points whose convex hull holds these
            changes; shape (m, d).
        neighbors: the neighbouring relation that the moves are for.
    """
    images = [
        [sum((int(a) * x for a, x in zip(row, move, strict=True)), Fraction(0)) for row in integers]
        for move in _rationals(moves, "moves")
    ]
    return Sensitivity(
        neighbors=neighbors,
        l1=max(sum((abs(x) for x in image), Fraction(0)) for image in images),
        l2_squared=max(sum((x * x for x in image), Fraction(0)) for image in images),
    )


def _weights(v: Array) -> Array:
    weights = np.full(v.shape[0], 1 / v.shape[0])
    for _ in range(_MOST_STEPS):
        root, inverse = _roots(v.T * weights @ v)
        ratio = np.einsum("ij,jk,ik->i", v, inverse, v) / np.trace(root)
        if np.max(ratio) < 1 + _AIM:
            break
        weights = weights * ratio
        weights /= np.sum(weights)
    return weights


def _roots(square: Array) -> tuple[Array, Array]:
    """Return S^(1/2) and S^(-1/2), symmetric."""
    values, vectors = np.linalg.eigh((square + square.T) / 2)
    values = np.sqrt(np.maximum(values, values[-1] * 1e-30))
    root, inverse = vectors * values @ vectors.T, vectors / values @ vectors.T
    return (root + root.T) / 2, (inverse + inverse.T) / 2


def _hiding(covariance: Array, vectors: Rows) -> Array:
    """Return the covariance, scaled up until it hides the moves exactly."""
    for grown in 10.0 ** np.arange(-15, -4):
        rows = [[exact(x, "covariance") for x in row] for row in covariance.tolist()]
        largest = max(inverse_forms(rows, vectors) or [Fraction(2)])
        if largest <= 1:
            return covariance
        covariance = covariance * (float(largest) * (1 + grown))
    raise InvalidParameter(
        "the moves are too nearly dependent for doubles; write them in coordinates of like size"
    )


def _lower(weights: Array, vectors: Rows, root: Array) -> float:
    """Return (tr T)^2 rounded down, T = (1 - x) S^(1/2), for the least x with T^2 <= S proved."""
    shares = [Fraction(w) for w in weights.tolist()]
    total, size = sum(shares), range(root.shape[0])
    used = [(share / total, row) for share, row in zip(shares, vectors, strict=True) if share]
    s = [[sum((p * v[i] * v[j] for p, v in used), Fraction(0)) for j in size] for i in size]
    for x in 10.0 ** np.arange(-13, -1):
        t = [[Fraction(y) for y in row] for row in (root * (1 - x)).tolist()]
        t2 = [[sum((t[i][k] * t[k][j] for k in size), Fraction(0)) for j in size] for i in size]
        if is_semidefinite([[s[i][j] - t2[i][j] for j in size] for i in size]):
            return floor_float(sum((t[i][i] for i in size), Fraction(0)) ** 2)
    return 0.0


def _largest_form(matrix: Rows, vectors: Rows) -> Fraction:
    if len(vectors[0]) != len(matrix):
        raise InvalidParameter(
            f"moves must have as many coordinates as the covariance, {len(matrix)}; got "
            f"{len(vectors[0])}"
        )
    forms = inverse_forms(matrix, vectors)
    if forms is None:
        raise InvalidParameter(
            "the covariance is not symmetric positive definite; write one that is"
        )
    return max(forms)


def _square(rows: Rows) -> Rows:
    if len(rows) != len(rows[0]):
        raise InvalidParameter(f"a covariance must be square; got {len(rows)} by {len(rows[0])}")
    return rows


def _rationals(table: Table, name: str) -> Rows:
    rows = [[exact(x, name) for x in row] for row in table]
    if not rows or len({len(row) for row in rows}) != 1 or not 0 < len(rows[0]) <= _MOST_DIMENSIONS:
        raise InvalidParameter(
            f"{name} must have at least one row, all of the same length from 1 to "
            f"{_MOST_DIMENSIONS}; got lengths {sorted({len(row) for row in rows})}"
        )
    return rows
