"""Where values lie, as a spec writes it."""

from typing import Literal, Self

from pydantic import model_validator

from neyman.functional import Circle, Interval, Side
from neyman.publish._section import Number, Positive, Section

__all__ = ["DomainOf"]


class DomainOf(Section):
    """Where values lie: between two ends, or on a circle."""

    lower: Number | None = None
    """The lower end."""
    upper: Number | None = None
    """The upper end."""
    outside: Literal["clip", "drop"] | None = None
    """What becomes of values outside: moved to the nearer end, or left out."""
    period: Positive | None = None
    """In place of the ends: values begin anew after it, as hours of the day do after 24."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        interval = (self.lower, self.upper, self.outside)
        if (None in interval) if self.period is None else interval != (None, None, None):
            raise ValueError(
                'give lower, upper and outside = "clip" (moved to the nearer end) or "drop" (left '
                "out); or period alone, for hours of the day and the like"
            )
        return self

    @property
    def side(self) -> Side:
        """The line or circle.

        Raises:
            InvalidParameter: if it is too long, too short, or the ends are reversed.
        """
        if self.period is not None:
            return Circle(self.period)
        return Interval(self.lower or 0, self.upper or 0, outside=self.outside or "clip")
