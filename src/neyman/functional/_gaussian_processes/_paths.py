"""One path for ever, asked point by point, in floating point: for simulation, not for release."""

import itertools
import math
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._gaussian_processes._kernels import Matern, SquaredExponential, table
from neyman.functional._gaussian_processes._markov import stationary_root, step_noise, transition
from neyman.functional._public import numbers
from neyman.numerics import Array, Real, exact, ndtri

__all__ = ["MaternPath", "SmoothPath"]

_Words: TypeAlias = npt.NDArray[np.uint64]

_NODES_A_LENGTH: Final = 2
_REACH: Final = 9
_CELLS_A_UNIT: Final = 1024
_MOST_DIMENSIONS, _MOST_LEVELS, _FARTHEST = 3, 40, 2.0**40


@final
@dataclass(frozen=True, slots=True)
class SmoothPath:
    """A path of a squared exponential process on the whole space. Not private: floats, public seed.

        f(x) = sum over lattice points u of g(x - u) z_u,   g ~ exp(-|x|^2 / l^2),

    z_u independent normal numbers made of `seed` and u alone. So a path is a function: the same
    point gives the same bits, whatever else is asked, in whichever order.

    Attributes:
        kernel: the covariance.
        seed: which path.

    Error: an estimate: the covariance is within 2e-8 times the dimension: lattice points are l/2
        apart (aliasing 2 exp(-2 pi^2)) and count within 4.5 l (exp(-4.5^2)).

    >>> path = SmoothPath(SquaredExponential(0.3), seed=1)
    >>> bool(path([0.2, 0.7])[1] == path(0.7))
    True
    """

    kernel: SquaredExponential
    seed: int

    def __post_init__(self) -> None:
        """Refuse another kernel, or what is no seed."""
        check_type("kernel", self.kernel, SquaredExponential, "SquaredExponential(length_scale)")
        object.__setattr__(self, "seed", _seed(self.seed))

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f at points of shape (m, d), d at most 3, or (m,) on the line; or at a number.

        Raises:
            InvalidParameter: if a point is not finite or very far out, or has more coordinates.
        """
        given = numbers("x", x)
        places = table(given.reshape(-1) if given.ndim == 0 else given, "x")
        if places.shape[1] > _MOST_DIMENSIONS:
            raise InvalidParameter(
                f"points of {places.shape[1]} coordinates were given; write at most "
                f"{_MOST_DIMENSIONS}"
            )
        spacing = float(self.kernel.length_scale) / _NODES_A_LENGTH
        sides = [_side(np.ascontiguousarray(column) / spacing) for column in places.T]
        total = np.zeros(len(places))
        # In a fixed order, elementwise.
        for corner in itertools.product(range(2 * _REACH), repeat=len(sides)):
            weight = np.ones(len(places))
            words = _mixed(np.full(len(places), self.seed, np.uint64))
            for (first, weights), offset in zip(sides, corner, strict=True):
                weight = weight * weights[offset]
                words = _mixed(words ^ (first + offset).view(np.uint64))
            total += weight * _normal(words)
        return total.reshape(() if given.ndim == 0 else len(places))


@final
@dataclass(frozen=True, slots=True, eq=False)
class MaternPath:
    """A path of a Matern process on an interval. Not private: floats, of a public seed.

    The states at both ends are drawn, then that half-way between given both, and so on down to a
    lattice of at least 1024 steps to a unit 1/b, linear in between; all from `seed` and the place
    of a lattice point alone. So a path is a function: the same point gives the same bits, whatever
    else is asked, in whichever order. Nothing is remembered.

    Attributes:
        kernel: the covariance.
        lower: lower end.
        upper: upper end.
        seed: which path.

    Error: an estimate: at lattice points the covariance is within 1e-11. In between the variance is
        too small by at most (1 - k(step)) / 2, that is 5e-4 for smoothness 1/2 and 5e-7 beyond.
    """

    kernel: Matern
    lower: float
    upper: float
    seed: int
    _levels: tuple[tuple[Array, Array, Array], ...] = field(init=False, repr=False)

    def __init__(self, kernel: Matern, lower: Real, upper: Real, *, seed: int) -> None:
        """Work out what halving an interval takes, level by level.

        Raises:
            InvalidParameter: if the ends are reversed, or 2^30 units apart.
        """
        check_type("kernel", kernel, Matern, "Matern(smoothness, length_scale)")
        seed = _seed(seed)
        ends = float(exact(lower, "lower")), float(exact(upper, "upper"))
        cells = (ends[1] - ends[0]) * kernel.rate * _CELLS_A_UNIT
        if not 0 < cells <= 2.0**_MOST_LEVELS:
            raise InvalidParameter(
                f"a path from lower={lower!r} to upper={upper!r} was asked for; write lower < "
                f"upper, not 10^8 length scales apart"
            )
        levels = max(0, math.ceil(math.log2(cells)))
        widths = (ends[1] - ends[0]) * 0.5 ** np.arange(1, levels + 1)
        for name, value in (
            ("kernel", kernel),
            ("lower", ends[0]),
            ("upper", ends[1]),
            ("seed", seed),
            ("_levels", tuple(_halving(kernel, half) for half in widths)),
        ):
            object.__setattr__(self, name, value)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f at each x, shape of x.

        Raises:
            InvalidParameter: if a point is outside.
        """
        given = numbers("x", x)
        if not ((given >= self.lower) & (given <= self.upper)).all():
            raise InvalidParameter(
                f"x outside [{self.lower}, {self.upper}] was asked for; write others, or a "
                "longer path"
            )
        cells = 1 << len(self._levels)
        place = (given.reshape(-1) - self.lower) / (self.upper - self.lower) * cells
        cell = np.minimum(place.astype(np.int64), cells - 1)
        left, right = self._ends(cell.size)
        for level, (from_left, from_right, root) in enumerate(self._levels):
            below = len(self._levels) - level - 1
            middle = self._drawn(root, level + 2, cell >> (below + 1))
            middle = [
                m + a + b
                for m, a, b in zip(
                    middle, _product(from_left, left), _product(from_right, right), strict=True
                )
            ]
            upper_half = ((cell >> below) & 1) == 1
            left = [np.where(upper_half, m, a) for m, a in zip(middle, left, strict=True)]
            right = [np.where(upper_half, b, m) for m, b in zip(middle, right, strict=True)]
        part = place - cell
        return (left[0] + (right[0] - left[0]) * part).reshape(given.shape)

    def _ends(self, size: int) -> tuple[list[Array], list[Array]]:
        length = np.array(self.upper - self.lower)
        zero = np.zeros(size, np.int64)
        left = self._drawn(stationary_root(self.kernel), 0, zero)
        right = self._drawn(step_noise(self.kernel, length), 1, zero)
        carried = _product(transition(self.kernel, length), left)
        return left, [a + b for a, b in zip(right, carried, strict=True)]

    def _drawn(self, root: Array, level: int, index: npt.NDArray[np.int64]) -> list[Array]:
        """Return root @ z, z made of the seed, the level and the index."""
        words = _mixed(np.full(index.size, self.seed, np.uint64) ^ np.uint64(level << 56))
        words = _mixed(words ^ index.view(np.uint64))
        z = [_normal(_mixed(words ^ np.uint64(k + 1))) for k in range(len(root))]
        return _product(root, z)


def _halving(kernel: Matern, half: float) -> tuple[Array, Array, Array]:
    """Return how x in the middle depends on both ends, and the root of what is left.

        S = (Q^-1 + A^T Q^-1 A)^-1,   E[x | left, right] = S Q^-1 A left + S A^T Q^-1 right

    in coordinates divided by powers of the step, in which nothing is small.
    """
    u = min(half * kernel.rate, 1.0)
    scales = u ** (kernel.states - 0.5 - np.arange(kernel.states))
    step = np.array(half)
    a = transition(kernel, step) / scales[:, None] * scales
    root = step_noise(kernel, step) / scales[:, None]
    inverse = np.linalg.inv(root)
    q = inverse.T @ inverse
    rest = np.linalg.inv(q + a.T @ q @ a)
    rest = (rest + rest.T) / 2
    found = rest @ q @ a, rest @ a.T @ q
    back = [scales[:, None] * matrix / scales for matrix in found]
    return back[0], back[1], scales[:, None] * np.linalg.cholesky(rest)


def _product(matrix: Array, vector: list[Array]) -> list[Array]:
    """Multiply elementwise, in a fixed order."""
    rows: list[Array] = []
    for row in matrix.tolist():
        total = row[0] * vector[0]
        for entry, x in zip(row[1:], vector[1:], strict=True):
            total = total + entry * x
        rows.append(total)
    return rows


def _side(place: Array) -> tuple[npt.NDArray[np.int64], list[Array]]:
    """Return the first lattice point that counts, and the weights of it and its followers."""
    if not (np.abs(place) < _FARTHEST).all():
        raise InvalidParameter("a point 10^12 length scales from 0 was asked for; write a nearer")
    base = np.floor(place)
    first = base.astype(np.int64) - (_REACH - 1)
    height = math.sqrt(1 / (_NODES_A_LENGTH * math.sqrt(math.pi / 2)))
    weights: list[Array] = []
    for offset in range(2 * _REACH):
        apart = (place - base + (_REACH - 1 - offset)) / _NODES_A_LENGTH
        weights.append(height * np.exp(-apart * apart))
    return first, weights


def _seed(seed: int) -> int:
    return whole("seed", seed, 0, 2**64 - 1)


def _mixed(words: _Words) -> _Words:
    """Scramble 64 bits, one to one.

    Source: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
    """
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _normal(words: _Words) -> Array:
    """Return normal numbers of 52 bits each, never infinite."""
    return ndtri(((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
