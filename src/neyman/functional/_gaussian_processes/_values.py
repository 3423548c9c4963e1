"""Values at public points: what the door is asked for, and how noisy integers are read."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, final

import numpy as np

from neyman.aggregate import Aggregate, Columns, IntArray, Noise
from neyman.digests import digest
from neyman.functional._gaussian_processes._whitening import Whitening
from neyman.numerics import Array
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["SCALE", "Question", "ValuesReading", "in_lattice"]

# One unit moves the whitened coordinates by about this many lattice units.
SCALE: Final = 2.0**23
# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class ValuesReading:
    """values = step F y: noise of covariance (step sd)^2 F F^T. Post-processing of y.

    Attributes:
        points: public, shape (m, d).
        factor: F, which undoes the whitening, shape (m, m).
        step: what one lattice unit of a whitened coordinate stands for.
    """

    points: Array = field(repr=False)
    factor: Array = field(repr=False)
    step: float

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the points x1 ... xd, the values with their noise, and the integers.

        The standard deviations are exact but for rounding; the intervals take a sum of independent
        rounded Gaussians for as wide as one, in proportion, and each holds alone.
        """
        values = self.step * (self.factor @ noisy.astype(np.float64))
        lengths = self.step * np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))
        widths = lengths * noise.half_width(confidence)
        columns: Columns = {f"x{k}": x.tolist() for k, x in enumerate(self.points.T, 1)}
        return columns | {
            "value": values.tolist(),
            "stddev": (noise.stddev * lengths).tolist(),
            "lower": (values - widths).tolist(),
            "upper": (values + widths).tolist(),
            "coefficient": noisy.tolist(),
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parts that all questions about values at public points share.

    Attributes:
        statistic: which question.
        whitening: points and kernel of the noise.
        unit: who is protected, in the words of the ledger.
        source: stands for the data in the ledger.
        neighbors: the neighbouring relation.
        records: their number where it is public, else None.
    """

    statistic: str
    whitening: Whitening
    unit: str
    source: str
    neighbors: Neighbors
    records: int | None

    def aggregate(
        self,
        declared: Mapping[str, object],
        rule: object,
        l2_squared: Fraction,
        step: float,
        compute: Callable[[], IntArray],
        factor: Array | None = None,
    ) -> Aggregate:
        """Return the question, not yet computed.

        Args:
            declared: the public record of the rest, JSON-able.
            rule: what makes integers of records, the points apart; all that it holds tells this
                question from others.
            l2_squared: of the integers.
            step: what one lattice unit of a whitened coordinate stands for.
            compute: gives the integers.
            factor: what undoes the whitening; that of the points by default.
        """
        size, points = self.whitening.size, self.whitening
        query = {"statistic": self.statistic, "rules": _RULES, "records": self.records}
        # Not the factor: its last bits are those of a machine.
        rules = digest(self.statistic, points.kernel, points.points, points.nugget, rule)
        return Aggregate(
            query=query | dict(points.record()) | dict(declared) | {"computation": rules},
            source=self.source,
            unit=self.unit,
            sensitivity=Sensitivity(
                neighbors=self.neighbors,
                l2_squared=l2_squared,
                coordinates=size,
                largest=math.isqrt(math.floor(l2_squared)) + 1,
            ),
            size=size,
            reading=ValuesReading(
                self.whitening.points, self.whitening.factor if factor is None else factor, step
            ),
            compute=compute,
        )


def in_lattice(distance: float, size: int) -> Fraction:
    """Return l2_squared of integers rounded from vectors this far apart, in lattice units.

    Rounding moves each difference by at most 1, the error of the doubles before it included with
    room: ||rint(a) - rint(b)|| <= ||a - b|| + sqrt(size) (1 + 2^-10).
    """
    return Fraction(math.ceil((1 + 2.0**-45) * (distance + math.sqrt(size) * (1 + 2.0**-10)) ** 2))
