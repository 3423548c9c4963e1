"""Bounds of a column, and the grid of its values."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.calls import plain_calls_of
from neyman.errors import InvalidTable
from neyman.numerics import Real, exact, text

__all__ = ["Bounds"]

# Up to here double rounding cannot move a bound off its own grid point.
_MOST_STEPS = 2**50
# Up to here no sum of 2^63 steps overflows a double.
_SMALLEST, _LARGEST = Fraction(10) ** -250, Fraction(10) ** 250


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class Bounds:
    """Public bounds and grid of a column: every value is clamped, then rounded to the grid.

    k = floor(min(max(x, lower), upper) / grid + 1/2) is computed in double precision, row by row.
    All later arithmetic has integers. Choose the bounds without looking at the data.

    Attributes:
        lower: the lower bound, in the column's units.
        upper: the upper bound, in the column's units.
        grid: the distance between distinct values, in the column's units; it divides both bounds.

    >>> Bounds(-60, 180, grid=1)
    Bounds(-60, 180, grid=1)
    >>> Bounds(0, 1, grid=0.1).steps
    (0, 10)
    """

    lower: Fraction
    upper: Fraction
    grid: Fraction

    def __init__(self, lower: Real, upper: Real, grid: Real) -> None:
        """Take numbers; a float counts as the decimal that it prints as.

        Raises:
            InvalidParameter: if a number is not finite.
            InvalidTable: if the bounds are reversed, the grid is not positive or does not divide
                them, or there are more than 2^50 grid steps between zero and a bound.
        """
        object.__setattr__(self, "lower", exact(lower, "lower"))
        object.__setattr__(self, "upper", exact(upper, "upper"))
        object.__setattr__(self, "grid", exact(grid, "grid"))
        self._check_order()
        self._check_grid()

    @property
    def steps(self) -> tuple[int, int]:
        """The bounds as integers, in grid steps."""
        return int(self.lower / self.grid), int(self.upper / self.grid)

    def _check_order(self) -> None:
        if self.lower >= self.upper:
            raise InvalidTable(
                f"lower={text(self.lower)} is not below upper={text(self.upper)}; "
                "write Bounds(lower, upper, grid) with lower < upper"
            )
        if not _SMALLEST <= self.grid <= _LARGEST:
            raise InvalidTable(
                f"grid must be in [1e-250, 1e250]; got {text(self.grid)}. Write the step to which "
                "values are rounded"
            )

    def _check_grid(self) -> None:
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            step = bound // self.grid
            if step * self.grid != bound:
                below, above = text(step * self.grid), text((step + 1) * self.grid)
                raise InvalidTable(
                    f"{name}={text(bound)} is not a multiple of grid={text(self.grid)}; "
                    f"write {name}={below} or {name}={above}"
                )
            if abs(step) > _MOST_STEPS:
                raise InvalidTable(
                    f"{name}={text(bound)} is more than 2^50 steps of grid={text(self.grid)} "
                    "from zero; write a coarser grid"
                )

    def __repr__(self) -> str:
        return f"Bounds({text(self.lower)}, {text(self.upper)}, grid={text(self.grid)})"
