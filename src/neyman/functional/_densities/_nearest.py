"""The nearest density to a function on public places, and the table of a density."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from neyman.functional._bases._domain import Side
from neyman.numerics import Array

__all__ = ["Table", "nearest_density", "nearest_masses"]


@final
@dataclass(frozen=True, eq=False)
class Table:
    """A density at places of each side, both ends included.

    Attributes:
        sides: the domain, one side for each coordinate.
        steps: the distance between places on each side.
        values: the density at the places, one axis for each side; read-only.
    """

    sides: tuple[Side, ...]
    steps: tuple[float, ...]
    values: Array = field(repr=False)

    def __post_init__(self) -> None:
        """Check the values and make them read-only.

        Raises:
            ValueError: if the values do not have one axis for each side, from end to end.
        """
        lengths = [float(side.length) for side in self.sides]
        off = [
            abs(step * (number - 1) - length) > 1e-9 * length
            for length, step, number in zip(lengths, self.steps, self.values.shape, strict=True)
        ]
        if not off or any(off) or not np.isfinite(self.values).all():
            raise ValueError("no lattice of these sides")
        self.values.setflags(write=False)

    @cached_property
    def below(self) -> Array:
        """The distribution function of one coordinate at its places, from 0 to 1."""
        cells = self.steps[0] * (self.values[:-1] + self.values[1:]) / 2
        below = np.concatenate([[0.0], np.cumsum(cells)])
        return below / below[-1]


def nearest_density(sides: Sequence[Side], values: Array) -> Table:
    """Return the non-negative density of integral 1 that is nearest to values at places.

    It is the nearest in mean square over the domain, where a place at an end of an interval has
    half the weight of another.
    """
    steps = tuple(
        float(side.length) / (number - 1) for side, number in zip(sides, values.shape, strict=True)
    )
    # On a circle of twice an interval's length every place has the same weight.
    around = values
    for axis, side in enumerate(sides):
        part = np.moveaxis(around, axis, 0)
        part = part[:-1] if side.closed else np.concatenate([part, part[-2:0:-1]])
        around = np.moveaxis(part, 0, axis)
    total = math.prod(
        (1 if side.closed else 2) / step for side, step in zip(sides, steps, strict=True)
    )
    found = nearest_masses(around.ravel(), total).reshape(around.shape)
    for axis, (side, number) in enumerate(zip(sides, values.shape, strict=True)):
        part = np.moveaxis(found, axis, 0)
        part = np.concatenate([part, part[:1]]) if side.closed else part[:number]
        found = np.moveaxis(part, 0, axis)
    return Table(tuple(sides), steps, np.ascontiguousarray(found))


def nearest_masses(values: Array, total: float) -> Array:
    """Return the non-negative vector of sum `total` nearest to `values`: max(v - t, 0).

    In mean square, it is never farther than `values` from any other such vector.

    Source: Held, Wolfe and Crowder, *Validation of subgradient optimization*, Mathematical
        Programming 1974 (the threshold after sorting).
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(values - excess[last], 0.0)
