"""A proper density: non-negative, with integral 1, linear between public places."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Final, Self, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.functional._arguments import each, numbers
from neyman.functional._bases._domain import Side, side_of
from neyman.functional._bases._features import MOST_RECORDS
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._densities._nearest import Table
from neyman.functional._generator import Generator, check_generator
from neyman.numerics import Array, Real
from neyman.overriding import override

__all__ = ["ProperDensity", "TabulatedDensity"]

_MOST_DRAWS: Final = 1 << 32
_VERSION: Final = 1
# Gauss's rule of so many points in each cell, for the entropy.
_POINTS: Final = 4

_Places: TypeAlias = npt.NDArray[np.int64]


class ProperDensity(Function):
    """A density that is nowhere negative and has integral 1, with methods as in SciPy.

    It is linear along each axis between public places, and 0 outside an interval. For several
    coordinates, `marginal` gives the density of one. Moments, quantiles and samples are those of
    this density. As estimates for the population they have the noise of the release and the
    sampling error of the records.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def table(self) -> Table:
        """The density at public places."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """The domain, one side for each coordinate."""
        return self.table.sides

    @property
    def steps(self) -> tuple[float, ...]:
        """The distance between places on each side."""
        return self.table.steps

    @property
    def values(self) -> Array:
        """The density at the places, both ends included, one axis for each side; read-only."""
        return self.table.values

    @property
    def axes(self) -> tuple[Array, ...]:
        """The places on each side; between them the density is linear, on the line of a scale."""
        return tuple(
            side.off_line(places) for side, places in zip(self.sides, self._lines, strict=True)
        )

    @property
    def points(self) -> Array:
        """The places of a density of one coordinate."""
        self._require_one("points")
        return self.axes[0]

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the density at each point; 0 outside an interval. Equal points give equal bits.

        For one coordinate it has the shape of x; for d coordinates the shape (..., d) becomes
        (...).

        Raises:
            InvalidParameter: if points have another number of coordinates.
        """
        points = numbers("x", x)
        if len(self.sides) == 1:
            points = points[..., None]
        if points.ndim < 1 or points.shape[-1] != len(self.sides):
            raise InvalidParameter(
                f"x must have shape (..., {len(self.sides)}); got {points.shape}"
            )
        cells, parts, inside = self._cells(points)
        corners = [
            self.values[tuple(cell + up for cell, up in zip(cells, corner, strict=True))]
            for corner in product((0, 1), repeat=len(cells))
        ]
        for part in reversed(parts):
            corners = [
                low + (high - low) * part
                for low, high in zip(corners[::2], corners[1::2], strict=True)
            ]
        slope = math.prod(side.slope(points[..., k]) for k, side in enumerate(self.sides))
        return np.asarray(np.where(inside, corners[0] * slope, 0.0))

    def pdf(self, x: npt.ArrayLike) -> Array:
        """Return the density at each point, as a call does."""
        return self(x)

    def logpdf(self, x: npt.ArrayLike) -> Array:
        """Return the logarithm of the density; -inf where the density is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self(x))

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the distribution function of one coordinate at each x, from 0 to 1.

        Raises:
            InvalidParameter: if there are several coordinates.
        """
        self._require_one("cdf")
        (side,) = self.sides
        place = (side.on_line(numbers("x", x)) - side.start) / self.steps[0]
        last = len(self.values) - 1
        kept = np.clip(place, 0.0, float(last))
        cell = np.minimum(kept.astype(np.int64), last - 1)
        part = kept - cell
        left, right = self.values[cell], self.values[cell + 1]
        within = self.steps[0] * part * (left + (right - left) * (part / 2))
        found = np.minimum(self.table.below[cell] + within, self.table.below[cell + 1])
        # Rounding must not leave anything beyond the upper end.
        return np.asarray(np.where(part == 1, self.table.below[cell + 1], found))

    def sf(self, x: npt.ArrayLike) -> Array:
        """Return 1 - cdf(x).

        Raises:
            InvalidParameter: if there are several coordinates.
        """
        return np.asarray(1 - self.cdf(x))

    def ppf(self, q: npt.ArrayLike) -> Array:
        """Return the smallest x with cdf(x) >= q, up to rounding, for each q in [0, 1].

        Raises:
            InvalidParameter: if a q is outside [0, 1], or there are several coordinates.
        """
        self._require_one("ppf")
        shares = numbers("q", q)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise InvalidParameter("q must be in [0, 1]; write shares such as 0.5")
        (side,), (step,) = self.sides, self.steps
        cell = np.clip(np.searchsorted(self.table.below, shares) - 1, 0, len(self.values) - 2)
        left, right = self.values[cell], self.values[cell + 1]
        rest = np.maximum(shares - self.table.below[cell], 0.0) / step
        root = np.sqrt(np.maximum(left * left + 2 * (right - left) * rest, 0.0))
        bottom = left + root
        part = np.divide(2 * rest, bottom, out=np.zeros_like(rest), where=bottom > 0)
        places = np.asarray(side.start + step * (cell + np.minimum(part, 1.0)), np.float64)
        return side.off_line(places)

    def median(self) -> float:
        """Return the value below which half of the mass lies.

        Raises:
            InvalidParameter: if there are several coordinates.
        """
        return float(self.ppf(0.5))

    def mean(self) -> float:
        """Return the integral of x f(x).

        Raises:
            InvalidParameter: if there are several coordinates, or the side is a circle.
        """
        self._require_line("mean")
        return self._moment(lambda x: x)

    def var(self) -> float:
        """Return the variance.

        Raises:
            InvalidParameter: as for `mean`.
        """
        self._require_line("var")
        middle = self.mean()
        return self._moment(lambda x: (x - middle) ** 2)

    def std(self) -> float:
        """Return the standard deviation.

        Raises:
            InvalidParameter: as for `mean`.
        """
        self._require_line("std")
        return math.sqrt(self.var())

    def mode(self) -> float:
        """Return the place with the largest density; the first of several.

        Raises:
            InvalidParameter: if there are several coordinates.
        """
        self._require_one("mode")
        return float(self.points[int(np.argmax(self.values * self.sides[0].slope(self.points)))])

    def entropy(self) -> float:
        """Return the differential entropy, the integral of -f log f, in nats.

        Raises:
            InvalidParameter: if there are several coordinates.
        """
        self._require_one("entropy")
        x, inside, weights = self._within_cells()
        logs = np.log(np.where(inside > 0, inside * self.sides[0].slope(x), 1.0))
        return -float(((inside * logs) @ weights).sum())

    def rvs(self, size: int, *, generator: Generator) -> Array:
        """Return `size` independent draws: synthetic values, free.

        The shape is (size,) for one coordinate, and (size, d) for d coordinates.

        Args:
            size: number of draws.
            generator: a NumPy Generator; the same seed gives the same draws. It need not be secret,
                because the density is public.

        Raises:
            InvalidParameter: if the size is not a whole number from 0 to 2^36 (to 2^32 for several
                coordinates), or the generator is not one.
        """
        check_generator(generator)
        d = len(self.sides)
        size = whole("size", size, 0, MOST_RECORDS if d == 1 else _MOST_DRAWS)
        if d == 1:
            return self.ppf(generator.random(size))
        below = np.cumsum(self.masses().ravel())
        rows = generator.random(size * (2 * d + 1)).reshape(2 * d + 1, size)
        # A place, and by the tent between it and its neighbours a point on each axis.
        uniform: Array = rows[0] * below[-1]
        rest = np.minimum(np.searchsorted(below, uniform, side="right"), below.size - 1)
        found = np.empty((size, d))
        for k in reversed(range(d)):
            place, rest = rest % self.values.shape[k], rest // self.values.shape[k]
            offset = self.steps[k] * (place + rows[1 + 2 * k] - rows[2 + 2 * k])
            found[:, k] = _inside(self.sides[k], offset)
        return found

    def masses(self) -> Array:
        """Return the integral of the tent at each place, half a tent at an end; their sum is 1."""
        masses = self.values.copy()
        for k, weights in enumerate(self._weights()):
            masses *= weights.reshape([-1 if axis == k else 1 for axis in range(masses.ndim)])
        return masses / masses.sum()

    def grid(self, points: int | Sequence[int]) -> tuple[tuple[Array, ...], Array]:
        """Return equally spaced places over the whole of each side, and the density there.

        Args:
            points: number of places, one number or one for each side.

        Raises:
            InvalidParameter: if the number of `points` is not that of the sides, or one is below 2.
        """
        asked = list(points) if isinstance(points, list | tuple) else [points] * len(self.sides)
        if len(asked) != len(self.sides):
            raise InvalidParameter(f"points must be {len(self.sides)} numbers; got {points!r}")
        axes = tuple(side.grid(cast("int", n)) for side, n in zip(self.sides, asked, strict=True))
        mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return axes, self(mesh[..., 0] if len(axes) == 1 else mesh)

    def integral(self, lower: Real | Sequence[Real], upper: Real | Sequence[Real]) -> float:
        """Return the integral between two places, or over the box between two corners; in [0, 1].

        Raises:
            InvalidParameter: if a corner is outside the box, or the upper one is below the lower
                one.
        """
        corners = [
            [float(v) for v in each(name, corner, len(self.sides))]
            for name, corner in (("lower", lower), ("upper", upper))
        ]
        tables = [
            _within(side, axis, a, b)[:, None]
            for side, axis, a, b in zip(self.sides, self._lines, *corners, strict=True)
        ]
        return float(contracted(self.values, tables).item())

    def marginal(self, axis: int) -> "ProperDensity":
        """Return the density of one coordinate, with the others integrated out.

        Raises:
            InvalidParameter: if there is no such axis.
        """
        axis = whole("axis", axis, 0, len(self.sides) - 1)
        tables = [
            np.eye(len(weights)) if k == axis else (step * weights)[:, None]
            for k, (step, weights) in enumerate(zip(self.steps, self._weights(), strict=True))
        ]
        values = contracted(self.values, tables).reshape(-1)
        return TabulatedDensity(Table((self.sides[axis],), (self.steps[axis],), values))

    @property
    def _lines(self) -> tuple[Array, ...]:
        """The places on the line of each side, equally spaced."""
        return tuple(
            side.start + step * np.arange(number, dtype=np.float64)
            for side, step, number in zip(self.sides, self.steps, self.values.shape, strict=True)
        )

    def _within_cells(self) -> tuple[Array, Array, Array]:
        """Return Gauss's points in each cell, the density on the line there, and the weights."""
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        (line,), (step,), (side,) = self._lines, self.steps, self.sides
        share = (nodes + 1) / 2
        left, right = self.values[:-1, None], self.values[1:, None]
        points = side.off_line(line[:-1, None] + step * share)
        return points, left + (right - left) * share, weights * (step / 2)

    def _cells(self, points: Array) -> tuple[list[_Places], list[Array], npt.NDArray[np.bool_]]:
        """Return each point's cell, its position in the cell, and whether the point is inside."""
        cells: list[_Places] = []
        parts: list[Array] = []
        inside = np.ones(points.shape[:-1], np.bool_)
        for k, (side, step) in enumerate(zip(self.sides, self.steps, strict=True)):
            last = self.values.shape[k] - 1
            x = points[..., k]
            if side.closed:
                here = np.isfinite(x)
                place = side.offsets(np.where(here, x, 0.0)) / step
            else:
                place = (side.on_line(x) - side.start) / step
                here = (place >= 0) & (place <= last)
            inside &= here
            kept = np.clip(place, 0.0, float(last))
            cells.append(np.minimum(kept.astype(np.int64), last - 1))
            parts.append(kept - cells[-1])
        return cells, parts, inside

    def _weights(self) -> list[Array]:
        """Return the integrals of the tents of each axis, in steps."""
        found = [np.ones(number) for number in self.values.shape]
        for weights in found:
            weights[[0, -1]] = 0.5
        return found

    def _moment(self, of: Callable[[Array], Array]) -> float:
        """Return the integral of a function; exact for a polynomial without a scale."""
        x, f, weights = self._within_cells()
        return float(((of(x) * f) @ weights).sum())

    def _require_line(self, what: str) -> None:
        self._require_one(what)
        if self.sides[0].closed:
            raise InvalidParameter(
                f"{what} must be that of values on an interval; on a circle it depends on where "
                "the circle is cut. Write .mode(), or release the values on an Interval"
            )

    def _require_one(self, what: str) -> None:
        if len(self.sides) > 1:
            raise InvalidParameter(
                f"{what} must be that of one coordinate; this density has {len(self.sides)}. Write "
                f".marginal(axis).{what}, or .integral(lower, upper)"
            )


@final
@dataclass(frozen=True, slots=True, eq=False)
class TabulatedDensity(ProperDensity):
    """A density by its values at places: a stored one, or a part of several coordinates."""

    kind: ClassVar[str] = "projected_field"
    statistics: ClassVar[tuple[str, ...]] = ()

    held: Table

    def __post_init__(self) -> None:
        """Check the table.

        Raises:
            InvalidParameter: if it is not a table.
        """
        check_type("held", self.held, Table, "density.marginal(axis), which makes it")

    @property
    @override
    def table(self) -> Table:
        return self.held

    @classmethod
    def of_release(cls, release: Released) -> Self:  # noqa: ARG003
        """Refuse, because a release gives a `DensityFunction`.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(
            "a tabulated density must be made of values; got a release. Write "
            "functional.function(release)"
        )

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        sides = [side_of(one) for one in cast("list[Mapping[str, object]]", record["sides"])]
        steps = [float.fromhex(step) for step in cast("list[str]", record["steps"])]
        return cls(Table(tuple(sides), tuple(steps), np.array(record["values"], np.float64)))

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


def _within(side: Side, places: Array, lower: float, upper: float) -> Array:
    """Return the integrals of the tents at places between two points."""
    ends = [_running(side, places, end) for end in (lower, upper)]
    if not lower <= upper:
        raise InvalidParameter(
            f"the lower corner of a box must come first; got {lower:g} to {upper:g}"
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
    """Return points for distances from the lower end that may be slightly beyond an end."""
    length = float(side.length)
    if side.closed:
        return side.start + np.mod(offset, length)
    folded = np.clip(length - np.abs(length - np.abs(offset)), 0.0, length)
    return np.minimum(side.start + folded, side.start + length)
