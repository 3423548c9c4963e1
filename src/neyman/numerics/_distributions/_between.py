"""A law between 0 and 1 of given mean and standard deviation: what a column may look like."""
# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false

import math
from dataclasses import dataclass
from typing import Final, Self, cast, final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics._bracket import Array

__all__ = ["EVEN", "TYPICAL", "Between"]

# Where a + b is smaller, all but a rounding error lies at the two ends.
_TWO_POINTS: Final = 1e-3
# If a and b are larger than this, the normal law stands for the beta law.
_NORMAL: Final = 1e6


@final
@dataclass(frozen=True, slots=True)
class Between:
    """The beta law on [0, 1] with this mean and standard deviation, sd^2 <= mean (1 - mean).

    a + b = mean (1 - mean) / sd^2 - 1,   a = mean (a + b)

    With mean 1/2 and sd 1/sqrt(12) it is uniform; with the largest sd it has the two ends alone;
    with sd = 0 it is one point.
    """

    mean: float
    sd: float

    @classmethod
    def of(cls, name: str, mean: float, sd: float, lower: float, upper: float) -> Self:
        """Return the law of a column between bounds, as parts of their range.

        Args:
            name: of the column, for the error.
            mean: in the column's units.
            sd: in the column's units.
            lower: bound.
            upper: bound.

        Raises:
            InvalidParameter: if no values between the bounds have this mean and deviation.
        """
        if not lower <= mean <= upper:
            raise InvalidParameter(
                f"the mean of {name!r} must be between its bounds {lower:g} and {upper:g}; "
                f"got {mean:g}. Write (mean, sd) in the units of the column"
            )
        most = math.sqrt((mean - lower) * (upper - mean))
        if not 0 <= sd <= most * (1 + 1e-9):
            raise InvalidParameter(
                f"the standard deviation of {name!r} must be at most {most:.6g}, for values "
                f"between {lower:g} and {upper:g} with mean {mean:g}; got {sd:g}. Write that "
                "of the values after they are moved to the bounds"
            )
        return cls((mean - lower) / (upper - lower), min(sd, most) / (upper - lower))

    @property
    def _shape(self) -> tuple[float, float] | None:
        """A and b; None where the law is one point, or two."""
        if not self.sd:
            return None
        total = self.mean * (1 - self.mean) / self.sd**2 - 1
        return (self.mean * total, (1 - self.mean) * total) if total > _TWO_POINTS else None

    def quantile(self, p: Array) -> Array:
        """Return the values that a share p lies below."""
        from scipy import special

        if self._shape is None:
            ends = (p > 1 - self.mean).astype(np.float64)
            return ends if self.sd else np.full(p.shape, self.mean)
        a, b = self._shape
        if min(a, b) > _NORMAL:
            found = self.mean + self.sd * special.ndtri(p)
        else:
            found = special.betaincinv(a, b, p)
        return np.clip(cast("Array", found), 0.0, 1.0)

    def below(self, x: Array) -> Array:
        """Return the share at or below each place; 0 below 0 and 1 from 1 on."""
        from scipy import special

        inside = np.clip(x, 0.0, 1.0)
        if self._shape is None:
            share = np.full(x.shape, 1 - self.mean) if self.sd else 1.0 * (x >= self.mean)
        else:
            a, b = self._shape
            if min(a, b) > _NORMAL:
                share = cast("Array", special.ndtr((inside - self.mean) / self.sd))
            else:
                share = cast("Array", special.betainc(a, b, inside))
        return np.where(x < 0, 0.0, np.where(x >= 1, 1.0, share))


EVEN: Final = Between(0.5, 1 / math.sqrt(12))
# Mean and standard deviation at 5 % of the range: money, visits, delays, counts of cells.
TYPICAL: Final = Between(0.05, 0.05)
