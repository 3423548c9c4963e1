"""A band for a field on a grid, from simulated noise."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._bases._fixed_point import contracted
from neyman.functional._fields._sampling import FieldSampling
from neyman.functional._generator import Generator
from neyman.numerics import Array

__all__ = ["FieldBand", "FieldNoise"]


class FieldBand(NamedTuple):
    """A released field between two others, at the points of a grid.

    Attributes:
        axes: places on each axis.
        estimate: the field, shape (points, ...).
        lower: the lower field.
        upper: the upper field.
        width: by how many standard deviations they are apart from the estimate, everywhere.
    """

    axes: tuple[Array, ...]
    estimate: Array
    lower: Array
    upper: Array
    width: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class FieldNoise:
    """The law of the noise of a field on a grid.

    Attributes:
        sd: of each product of waves, shape (2 J_1 + 1, ..., 2 J_d + 1).
        count: relative standard deviation of the number of records, 0 where it is public.
        tables: the waves of each axis at the places on it.
    """

    sd: Array = field(repr=False)
    count: float
    tables: list[Array] = field(repr=False)

    def width(
        self,
        lift: Array,
        spread: Array,
        level: float,
        generator: Generator,
        repetitions: int,
        sampling: FieldSampling | None = None,
    ) -> float:
        """Return the quantile of the greatest |noise| / spread on the grid.

        Args:
            lift: what a relative error of the count adds, at each point.
            spread: the standard deviation of both together.
            level: in (0, 1).
            generator: for the simulation.
            repetitions: how often. The release's own value is as likely at any rank among them.
            sampling: of the records, drawn along, or None for the noise alone.

        Raises:
            InvalidParameter: if there are too few repetitions for the level.
        """
        repetitions = whole("repetitions", repetitions, 1, 2**20)
        place = math.ceil(level * (repetitions + 1))
        if place > repetitions:
            raise InvalidParameter(
                f"repetitions={repetitions!r} were asked for; write at least "
                f"{math.ceil(level / (1 - level))} for level={level}"
            )
        sd, tables = self._felt()
        highest = np.empty(repetitions)
        for k in range(repetitions):
            waves = contracted(sd * generator.standard_normal(sd.shape), tables)
            common = self.count * float(generator.standard_normal(1)[0])
            moved = waves + common * lift
            if sampling is not None:
                moved += sampling.drawn(generator)
            highest[k] = np.abs(moved / spread).max()
        return float(np.sort(highest)[place - 1])

    def _felt(self) -> tuple[Array, list[Array]]:
        """Leave out rows of waves that all together add less than 1e-6 of the noise."""
        sd, tables = self.sd, list[Array]()
        for k, table in enumerate(self.tables):
            highest = np.moveaxis(sd, k, 0).reshape(table.shape[0], -1).max(axis=1)
            rows = np.flatnonzero(highest > 1e-9 * highest.max())
            sd = sd.take(rows, axis=k)
            tables.append(table[rows])
        return sd, tables
