"""A proper density: non-negative, of integral one, linear between public points."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional._bases._features import MOST_RECORDS
from neyman.functional._generator import Generator, check_generator
from neyman.functional._public import numbers
from neyman.numerics import Array

__all__ = ["ProjectedDensity", "nearest_masses"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class ProjectedDensity(Displayed):
    """The density nearest to a released function: what samples and quantiles are taken from.

    Attributes:
        start: the lower end.
        step: between points.
        values: at the points, both ends included, shape (points,); read-only.
    """

    start: float
    step: float
    values: Array = field(repr=False)
    _below: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Add up the cells."""
        check_type("values", self.values, np.ndarray, "function.project()")
        cells = self.step * (self.values[:-1] + self.values[1:]) / 2
        below = np.concatenate([[0.0], np.cumsum(cells)])
        below.setflags(write=False)
        self.values.setflags(write=False)
        object.__setattr__(self, "_below", below / below[-1])

    @property
    def points(self) -> Array:
        """The places between which the density is linear."""
        steps = np.arange(len(self.values), dtype=np.float64)
        return self.start + steps * self.step

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the density at each x; 0 outside the domain. The same point, the same bits."""
        cell, part, inside = self._cells(x)
        value = self.values[cell] + (self.values[cell + 1] - self.values[cell]) * part
        return np.asarray(np.where(inside, value, 0.0))

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the distribution function at each x, from 0 to 1."""
        cell, part, _ = self._cells(x)
        left, right = self.values[cell], self.values[cell + 1]
        within = self.step * part * (left + (right - left) * (part / 2))
        found = np.minimum(self._below[cell] + within, self._below[cell + 1])
        # Rounding must not leave anything beyond the upper end.
        return np.asarray(np.where(part == 1, self._below[cell + 1], found))

    def quantile(self, q: npt.ArrayLike) -> Array:
        """Return the smallest x, nearly, with cdf(x) >= q, for each q in [0, 1].

        Raises:
            InvalidParameter: if a q is outside [0, 1].
        """
        asked = numbers("q", q)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise InvalidParameter("q outside [0, 1] was asked for; write shares in it")
        cell = np.clip(np.searchsorted(self._below, asked) - 1, 0, len(self.values) - 2)
        left, right = self.values[cell], self.values[cell + 1]
        rest = np.maximum(asked - self._below[cell], 0.0) / self.step
        root = np.sqrt(np.maximum(left * left + 2 * (right - left) * rest, 0.0))
        bottom = left + root
        part = np.divide(2 * rest, bottom, out=np.zeros_like(rest), where=bottom > 0)
        return np.asarray(self.start + self.step * (cell + np.minimum(part, 1.0)), np.float64)

    def sample(self, size: int, generator: Generator) -> Array:
        """Return `size` independent draws: synthetic values, free of further cost.

        Args:
            size: how many.
            generator: a NumPy Generator; the same seed gives the same draws. It need not be
                secret, for the density is public.

        Raises:
            InvalidParameter: if the size is no whole number from 0 to 2^36, or the generator none.
        """
        check_generator(generator)
        return self.quantile(generator.random(whole("size", size, 0, MOST_RECORDS)))

    def _cells(
        self, x: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.bool_]]:
        points = numbers("x", x)
        place = (points - self.start) / self.step
        last = len(self.values) - 1
        inside = (place >= 0) & (place <= last)
        kept = np.clip(place, 0.0, float(last))
        cell = np.minimum(kept.astype(np.int64), last - 1)
        return cell, kept - cell, inside


def nearest_masses(values: Array, total: float) -> Array:
    """Return the non-negative vector of sum `total` nearest to `values`: max(v - t, 0).

    In the mean square never farther from any such vector than `values` was.

    Source: Held, Wolfe and Crowder, *Validation of subgradient optimization*, Mathematical
        Programming 1974 (the threshold after sorting).
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(values - excess[last], 0.0)
