"""A proper density of several coordinates: non-negative, of integral one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._field_reading import FieldReading, even_nodes
from neyman.functional._field_waves import waves
from neyman.functional._fixed_point import contracted
from neyman.functional._generator import Generator, check_generator
from neyman.functional._projected import nearest_masses
from neyman.functional._public import numbers
from neyman.functional._side import Side
from neyman.numerics import Array

__all__ = ["ProjectedField", "projected"]

# Kernels reach so many bandwidths.
_REACH: Final = 5
_MOST_DRAWS: Final = 1 << 32


@final
@dataclass(frozen=True, slots=True, eq=False)
class ProjectedField:
    """The density nearest to a released field, linear along each axis between places.

    Attributes:
        sides: of the box.
        steps: between places, for each axis.
        values: at the places, both ends included, one axis each; read-only.
    """

    sides: tuple[Side, ...]
    steps: tuple[float, ...]
    values: Array = field(repr=False)

    def __post_init__(self) -> None:
        """Keep the values as they are."""
        self.values.setflags(write=False)

    @property
    def axes(self) -> tuple[Array, ...]:
        """The places on each axis."""
        return tuple(
            side.start + step * np.arange(number, dtype=np.float64)
            for side, step, number in zip(self.sides, self.steps, self.values.shape, strict=True)
        )

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the density at each point, shape (..., d) to (...). The same point, the same bits.

        Raises:
            InvalidParameter: if a point is outside the box.
        """
        points = numbers("x", x)
        if points.ndim < 1 or points.shape[-1] != len(self.sides):
            raise InvalidParameter(
                f"x of shape {points.shape} was given; write shape (..., {len(self.sides)})"
            )
        cells: list[npt.NDArray[np.int64]] = []
        parts: list[Array] = []
        for k, (side, step) in enumerate(zip(self.sides, self.steps, strict=True)):
            place = side.located(points[..., k]) / step
            cells.append(np.minimum(place.astype(np.int64), self.values.shape[k] - 2))
            parts.append(np.minimum(place - cells[-1], 1.0))
        found = np.zeros(points.shape[:-1])
        for corner in product((0, 1), repeat=len(cells)):
            weight = np.ones(points.shape[:-1])
            for up, part in zip(corner, parts, strict=True):
                weight = weight * (part if up else 1 - part)
            index = tuple(cell + up for cell, up in zip(cells, corner, strict=True))
            found = found + weight * self.values[index]
        return found

    def sample(self, size: int, generator: Generator) -> Array:
        """Return `size` independent draws, shape (size, d): synthetic rows, free of further cost.

        Args:
            size: how many.
            generator: a NumPy Generator; the same seed gives the same draws. It need not be
                secret, for the density is public.

        Raises:
            InvalidParameter: if the size is no whole number from 0 to 2^32, or the generator none.
        """
        check_generator(generator)
        size = whole("size", size, 0, _MOST_DRAWS)
        below = np.cumsum(self._masses().ravel())
        rows = generator.random(size * (2 * len(self.sides) + 1)).reshape(
            2 * len(self.sides) + 1, size
        )
        # A place, and by the tent between it and its neighbours a point on each axis.
        uniform: Array = rows[0] * below[-1]
        rest = np.minimum(np.searchsorted(below, uniform, side="right"), below.size - 1)
        found = np.empty((size, len(self.sides)))
        for k in reversed(range(len(self.sides))):
            place, rest = rest % self.values.shape[k], rest // self.values.shape[k]
            offset = self.steps[k] * (place + rows[1 + 2 * k] - rows[2 + 2 * k])
            found[:, k] = _inside(self.sides[k], offset)
        return found

    def _masses(self) -> Array:
        """Return the integral of the tent at each place: at an end half of one."""
        masses = self.values.copy()
        for k, number in enumerate(self.values.shape):
            weights = np.ones(number)
            weights[[0, -1]] = 0.5
            masses *= weights.reshape([-1 if axis == k else 1 for axis in range(masses.ndim)])
        return masses


def _inside(side: Side, offset: Array) -> Array:
    """Return points whose distances from the lower end may be a little beyond an end."""
    length = float(side.length)
    if side.closed:
        return side.start + np.mod(offset, length)
    folded = np.clip(length - np.abs(length - np.abs(offset)), 0.0, length)
    return np.minimum(side.start + folded, side.start + length)


def projected(basis: FieldReading, terms: Array, bandwidth: Sequence[Fraction]) -> ProjectedField:
    """Return the nearest density of a sum of waves, on the lattice of these bandwidths."""
    lattice = even_nodes(basis.sides, bandwidth)
    steps = tuple(side.period / m for side, m in zip(basis.sides, lattice, strict=True))
    shown = [
        _reached(side, m, float(h))
        for side, m, h in zip(basis.sides, lattice, bandwidth, strict=True)
    ]
    tables = [
        waves(nodes / m, j) for nodes, m, j in zip(shown, lattice, basis.highest, strict=True)
    ]
    values = contracted(terms, tables)
    total = 1 / math.prod(steps)
    values = nearest_masses(values.ravel(), total).reshape(values.shape)
    for k, (side, nodes, m) in enumerate(zip(basis.sides, shown, lattice, strict=True)):
        values = np.moveaxis(_folded(np.moveaxis(values, k, 0), side, nodes, m), 0, k)
    return ProjectedField(basis.sides, steps, np.ascontiguousarray(values))


def _reached(side: Side, m: int, h: float) -> npt.NDArray[np.int64]:
    """Return the nodes of a circle that kernels of values on the side reach."""
    beyond = side.period / m * np.arange(m) - float(side.length)
    reach = _REACH * h
    return np.flatnonzero((beyond <= reach) | (beyond >= side.period - float(side.length) - reach))


def _folded(values: Array, side: Side, nodes: npt.NDArray[np.int64], m: int) -> Array:
    """Return values at the places of the side, along the first axis, what is beyond folded back."""
    if side.closed:
        return np.concatenate([values, values[:1]])
    whole = np.zeros((m, *values.shape[1:]))
    whole[nodes] = values
    return (whole + np.roll(whole[::-1], 1, axis=0))[: m // 2 + 1]
