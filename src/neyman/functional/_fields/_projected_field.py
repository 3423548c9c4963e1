"""A proper density of several coordinates: non-negative, of integral one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import ClassVar, Final, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.functional._bases._domain import side_of
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._bases._side import Side
from neyman.functional._curves._projected import ProjectedDensity, nearest_masses
from neyman.functional._fields._reading import FieldReading, even_nodes
from neyman.functional._fields._waves import waves
from neyman.functional._generator import Generator, check_generator
from neyman.functional._public import each, numbers
from neyman.numerics import Array, Real
from neyman.overriding import override

__all__ = ["ProjectedField", "projected"]

# Kernels reach so many bandwidths.
_REACH: Final = 5
_MOST_DRAWS: Final = 1 << 32
_VERSION: Final = 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class ProjectedField(Function):
    """The density nearest to a released field, linear along each axis between places.

    Attributes:
        sides: of the box.
        steps: between places, for each axis.
        values: at the places, both ends included, one axis each; read-only.
    """

    kind: ClassVar[str] = "projected_field"
    statistics: ClassVar[tuple[str, ...]] = ()

    sides: tuple[Side, ...]
    steps: tuple[float, ...]
    values: Array = field(repr=False)

    @classmethod
    def of_release(cls, release: Released) -> Self:  # noqa: ARG003
        """Refuse: a release is made a field, and that is projected.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(
            "a projected field was asked of a release; write "
            "functional.function(release, functional.ReleasedField).project()"
        )

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        sides = [side_of(one) for one in cast("list[Mapping[str, object]]", record["sides"])]
        steps = [float.fromhex(step) for step in cast("list[str]", record["steps"])]
        return cls(tuple(sides), tuple(steps), np.array(record["values"], np.float64))

    def __post_init__(self) -> None:
        """Keep the values as they are.

        Raises:
            ValueError: if they are not of as many axes as there are sides, from end to end.
        """
        ends = [
            step * (number - 1) - float(side.length)
            for side, step, number in zip(self.sides, self.steps, self.values.shape, strict=True)
        ]
        if (
            any(
                abs(end) > 1e-9 * float(side.length)
                for end, side in zip(ends, self.sides, strict=True)
            )
            or not np.isfinite(self.values).all()
        ):
            raise ValueError("no lattice of these sides")
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
        below = np.cumsum(self.masses().ravel())
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

    def masses(self) -> Array:
        """Return the integral of the tent at each place, at an end half of one; their sum is 1."""
        masses = self.values.copy()
        for k, weights in enumerate(self._weights()):
            masses *= weights.reshape([-1 if axis == k else 1 for axis in range(masses.ndim)])
        return masses / masses.sum()

    def grid(self, points: int | Sequence[int]) -> tuple[tuple[Array, ...], Array]:
        """Return equally spaced places on each axis over the whole box, and the density there.

        Args:
            points: on each axis.

        Raises:
            InvalidParameter: if there are not as many numbers as axes, or one is below 2.
        """
        asked = list(points) if isinstance(points, list | tuple) else [points] * len(self.sides)
        if len(asked) != len(self.sides):
            raise InvalidParameter(f"points={points!r} was given; write {len(self.sides)} numbers")
        axes = tuple(side.grid(cast("int", n)) for side, n in zip(self.sides, asked, strict=True))
        return axes, self(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1))

    def integral(self, lower: Sequence[Real], upper: Sequence[Real]) -> float:
        """Return the integral over the box between two corners, in [0, 1].

        Raises:
            InvalidParameter: if a corner is outside the box, or below another.
        """
        corners = [
            [float(v) for v in each(name, corner, len(self.sides))]
            for name, corner in (("lower", lower), ("upper", upper))
        ]
        tables = [
            _within(side, axis, a, b)[:, None]
            for side, axis, a, b in zip(self.sides, self.axes, *corners, strict=True)
        ]
        return float(contracted(self.values, tables).item())

    def marginal(self, axis: int) -> ProjectedDensity:
        """Return the density of one coordinate, all others integrated out.

        Raises:
            InvalidParameter: if there is no such axis.
        """
        axis = whole("axis", axis, 0, len(self.sides) - 1)
        tables = [
            np.eye(len(weights)) if k == axis else (step * weights)[:, None]
            for k, (step, weights) in enumerate(zip(self.steps, self._weights(), strict=True))
        ]
        values = contracted(self.values, tables).reshape(-1)
        return ProjectedDensity(self.sides[axis].start, self.steps[axis], values)

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": _VERSION,
            "kind": self.kind,
            "sides": [side.record() for side in self.sides],
            "steps": [step.hex() for step in self.steps],
            "values": self.values.tolist(),
        }

    def _weights(self) -> list[Array]:
        """Return of each axis the integrals of its tents, in steps."""
        found = [np.ones(number) for number in self.values.shape]
        for weights in found:
            weights[[0, -1]] = 0.5
        return found


def _within(side: Side, places: Array, lower: float, upper: float) -> Array:
    """Return the integrals of the tents at places between two points."""
    ends = [_running(side, places, end) for end in (lower, upper)]
    if not lower <= upper:
        raise InvalidParameter(
            f"a box from {lower:g} to {upper:g} was given; write the lower corner first"
        )
    return ends[1] - ends[0]


def _running(side: Side, places: Array, end: float) -> Array:
    """Return the integrals of the tents up to a point; on a circle over all turns before it."""
    turns = math.floor(end / side.period) if side.closed else 0
    offset = float(side.located(np.array([end]))[0])
    step = float(places[1] - places[0])
    reach = np.clip((offset - (places - side.start)) / step, -1.0, 1.0)
    # Half of a tent is inside at each end, and its integral up to t steps from its peak.
    below = np.where(reach < 0, (1 + reach) ** 2 / 2, 1 - (1 - reach) ** 2 / 2)
    below[0] -= 0.5
    whole = np.ones(len(places))
    whole[[0, -1]] = 0.5
    return step * (np.minimum(below, whole) + turns * whole)


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
