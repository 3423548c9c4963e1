"""A law with atoms only, on an arithmetic progression, under two measures."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import log1p

__all__ = ["Atoms", "Steps", "common_unit"]

Steps = npt.NDArray[np.int64]
# The relative error of a mass; the relative and the absolute error of its logarithm.
_OF_MASS, OF_LOG = 2.0**-48, 2.0**-51


@final
@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Masses p and q at the places offset + unit * step, with log q - log p = place.

    Attributes:
        offset: exact.
        unit: exact, positive.
        steps: int64, increasing, shape (m,).
        log_p: logarithms of the masses under P, shape (m,); -inf where there is none.
        log_q: the same under Q.
        relative_error: of every mass, or of each, both ways; beside it every logarithm is within
            2^-51 (1 + |log|).
        place_error: absolute error of the places; 0 for a true arithmetic progression.
        log_lost_p: logarithm of an upper bound of the P-mass that the steps leave out.
        log_lost_q: the same under Q.
        log_only_q: logarithm of Q{p = 0}, the mass at +inf; within the relative error.
        log_only_p: logarithm of P{q = 0}, the mass at -inf.
    """

    offset: Fraction
    unit: Fraction
    steps: Steps
    log_p: Array
    log_q: Array
    relative_error: Array | float = _OF_MASS
    place_error: float = 0.0
    log_lost_p: float = -math.inf
    log_lost_q: float = -math.inf
    log_only_q: float = -math.inf
    log_only_p: float = -math.inf

    def __post_init__(self) -> None:
        """Refuse fields that do not make a law on a progression."""
        shapes = {self.steps.shape, self.log_p.shape, self.log_q.shape}
        if len(shapes) != 1 or self.steps.ndim != 1 or np.any(np.diff(self.steps) <= 0):
            raise InvalidParameter(
                "atoms must have increasing steps, and one mass of each measure for each step; got "
                f"shapes {sorted(shapes)}. Write such arrays"
            )
        if self.unit <= 0:
            raise InvalidParameter(f"unit must be positive; got {self.unit}. Write for example 1")

    @property
    def reduced(self) -> "Atoms":
        """The same law with its first step at 0 and without a common divisor of the steps."""
        first = int(self.steps[0]) if self.steps.size else 0
        steps = self.steps - first
        divisor = int(np.gcd.reduce(steps)) or 1
        return Atoms(
            self.offset + self.unit * first,
            self.unit * divisor,
            steps // divisor,
            self.log_p,
            self.log_q,
            self.relative_error,
            self.place_error,
            self.log_lost_p,
            self.log_lost_q,
            self.log_only_q,
            self.log_only_p,
        )

    def swapped(self) -> "Atoms":
        """Return the law with the measures exchanged: the places change sign."""
        last = int(self.steps[-1]) if self.steps.size else 0
        error = np.asarray(self.relative_error)
        return Atoms(
            -self.offset - self.unit * last,
            self.unit,
            (last - self.steps)[::-1],
            self.log_q[::-1],
            self.log_p[::-1],
            error[::-1] if error.ndim else self.relative_error,
            self.place_error,
            self.log_lost_q,
            self.log_lost_p,
            self.log_only_p,
            self.log_only_q,
        )

    @property
    def places(self) -> Interval:
        """The places; those that doubles can hold are exact unless there is an error of them."""
        error = Interval(np.asarray(-self.place_error), np.asarray(self.place_error))
        denominator = math.lcm(self.offset.denominator, self.unit.denominator)
        start, step = int(self.offset * denominator), int(self.unit * denominator)
        ends = [abs(start + step * int(k)) for k in (*self.steps[:1], *self.steps[-1:])]
        if denominator & (denominator - 1) == 0 and max(step, *ends, 0) <= 2**53:
            exact = Interval.exactly((start + step * self.steps) / denominator)
            return exact + error if self.place_error else exact
        base = min(max(round(-self.offset / self.unit), -(2**62)), 2**62)
        apart = (self.steps - base).astype(np.float64)
        sizes = Interval.of(self.unit) * np.abs(apart)
        near = Interval.where(apart < 0, -sizes, sizes)
        return near + (self.offset + self.unit * base) + error

    @property
    def logs(self) -> tuple[Interval, Interval]:
        """The logarithms of the masses under P and under Q, as intervals that cover the errors."""
        relative = np.minimum(np.asarray(self.relative_error), 1.0)
        factor = log1p(Interval(-relative, relative))
        p, q = (Interval.within(log, OF_LOG, OF_LOG) for log in (self.log_p, self.log_q))
        return p + factor, q + factor


def common_unit(units: list[Fraction]) -> Fraction:
    """Return the largest rational such that each of `units` is a whole multiple of it."""
    denominator = math.lcm(*(unit.denominator for unit in units))
    return Fraction(math.gcd(*(int(unit * denominator) for unit in units)), denominator)
