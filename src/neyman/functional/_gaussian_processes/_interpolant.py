"""A function through released values, defined everywhere and free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.functional._arguments import number, numbers
from neyman.functional._gaussian_processes._kernels import Kernel, Matern, SquaredExponential, table
from neyman.functional._gaussian_processes._values import Whitening
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["Interpolant"]


VERSION = 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Interpolant(Function):
    """f(x) = sum_j k(x, p_j) w_j, (K + t I) w = v: the smoothest function near released values.

    It has the least ||f||_H^2 + sum_j (f(p_j) - v_j)^2 / t of all functions. With a nugget t of
    2^-26 it goes through the values. Far from all points it falls to 0.

    Attributes:
        whitening: the kernel k, points p_j and nugget t of the release, all public.
        values: v_j, the released values, shape (m,).
        stddev: standard deviation of the noise of each value, shape (m,).
        weights: w_j, shape (m,).
    """

    kind: ClassVar[str] = "values"
    statistics: ClassVar[tuple[str, ...]] = ("density_at", "kernel_machine", "curve_mean")

    whitening: Whitening = field(repr=False)
    values: Array = field(repr=False)
    stddev: Array = field(repr=False)
    weights: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Solve for the weights.

        Raises:
            InvalidParameter: if a point has no finite value with its noise.
        """
        instead = "functional.function(release), which makes it"
        check_type("whitening", self.whitening, Whitening, instead)
        check_type("values", self.values, np.ndarray, instead)
        check_type("stddev", self.stddev, np.ndarray, instead)
        size = self.whitening.size
        fits = self.values.shape == self.stddev.shape == (size,)
        if not (fits and np.isfinite(self.values).all() and (self.stddev > 0).all()):
            raise InvalidParameter(
                f"values must be a release at these {size} points; write what the release gives"
            )
        coordinates = self.whitening.whiten(self.values[:, None])[:, 0]
        weights = np.asarray(np.linalg.solve(self.whitening.factor.T, coordinates), np.float64)
        for array in (self.values, self.stddev, weights):
            array.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @classmethod
    @override
    def of_release(cls, release: Released) -> Self:
        values, stddev = (
            np.array(cast("list[float]", release.columns[name])) for name in ("value", "stddev")
        )
        return cls(_whitening_of(release.query), values, stddev)

    @classmethod
    @override
    def of_record(cls, record: Mapping[str, object]) -> Self:
        values, stddev = (
            np.array([float.fromhex(x) for x in cast("list[str]", record[name])])
            for name in ("values", "stddev")
        )
        return cls(_whitening_of(record), values, stddev)

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same function of the same release."""
        return isinstance(other, Interpolant) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.stddev.tobytes()))

    @property
    def points(self) -> Array:
        """p_j, the public points, shape (m, d)."""
        return self.whitening.points

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f at points of shape (m, d), or (m,) on the line, or at a number.

        Equal points give equal bits, in any call.
        """
        places, shape = self._places(x)
        total = np.zeros(len(places))
        # Elementwise and in a fixed order; a matrix product sums as it likes.
        for point, weight in zip(self.points, self.weights.tolist(), strict=True):
            total += weight * self.whitening.kernel.covariance(places, point[None])[:, 0]
        return total.reshape(shape)

    def noise_sd(self, x: npt.ArrayLike) -> Array:
        """Return the standard deviation of the noise of f(x), without any other error.

            s |L^-1 k(p, x)|,   L L^T = K + t I,   s^2 L L^T the covariance of the noise of v

        f is linear in v. At a released point it is nearly `stddev` of the value, if f goes through
        it. Far from all points f falls to 0, and so does its noise.

        Args:
            x: the points, as in a call.

        Error: rounding; for a `curve_mean` at least 2^-16 (relative), because its whitening has
            whole numbers.
        """
        places, shape = self._places(x)
        noise = float((self.stddev / self.whitening.lengths).mean())
        columns = self.whitening.kernel.covariance(self.points, places)
        whitened = self.whitening.whiten(columns)
        return noise * np.sqrt(np.einsum("ij,ij->j", whitened, whitened)).reshape(shape)

    def _places(self, x: npt.ArrayLike) -> tuple[Array, tuple[int, ...]]:
        """Return points of shape (m, d), and the shape of the answer."""
        given = numbers("x", x)
        places = table(given.reshape(-1) if given.ndim == 0 else given, "x")
        if places.shape[1] != self.points.shape[1]:
            raise InvalidParameter(
                f"x must have {self.points.shape[1]} coordinates, as released; got "
                f"{places.shape[1]}"
            )
        return places, (() if given.ndim == 0 else (len(places),))

    @override
    def to_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "values": [x.hex() for x in self.values.tolist()],
            "stddev": [x.hex() for x in self.stddev.tolist()],
        } | dict(self.whitening.record())


def _whitening_of(record: Mapping[str, object]) -> Whitening:
    return Whitening.of(
        kernel_of(cast("Mapping[str, object]", record["kernel"])),
        cast("Sequence[Sequence[float]]", record["points"]),
        number(record["nugget"]),
    )


def kernel_of(record: Mapping[str, object]) -> Kernel:
    """Return the kernel that `record` wrote.

    Raises:
        InvalidParameter: if its kind is unknown, or its numbers are not valid.
        KeyError, ValueError: if the record is malformed.
    """
    length_scale = number(record["length_scale"])
    if record["kind"] == SquaredExponential.kind:
        return SquaredExponential(length_scale)
    if record["kind"] == Matern.kind:
        return Matern(number(record["smoothness"]), length_scale)
    raise InvalidParameter(f"a kernel of kind {record['kind']!r} is unknown")
