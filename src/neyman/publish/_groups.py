"""The groups and the domains of a spec."""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, cast

from pydantic import Discriminator, Field, Tag, model_validator

from neyman.functional import Circle, Interval, Side
from neyman.publish._section import Cell, Count, Number, Positive, Section
from neyman.tables import Bins, UnknownKeys, Values

__all__ = ["BinsOf", "Domain", "DomainOf", "UnknownOf", "ValuesOf"]


class ValuesOf(Section):
    """Keys, and groups for missing and for other values."""

    sentence: ClassVar[str] = (
        'keys with more groups need values, such as { values = ["north", "south"], '
        'missing = "not recorded", other = "all other wards" }'
    )

    values: Annotated[list[Cell], Field(min_length=1)]
    """The keys."""
    missing: Annotated[str, Field(min_length=1)] | None = None
    """The name of a group for rows without a value; without it they are in no group."""
    other: Annotated[str, Field(min_length=1)] | None = None
    """The name of a group for rows with any other value; without it they are in no group."""

    def build(self) -> Values:
        """Return the keys, with the names of the groups."""
        return Values(self.values, missing=self.missing, other=self.other)


class BinsOf(Section):
    """Bins between cut points; each includes its lower end, the last one both ends."""

    edges: list[Number | date] | None = None
    """The cut points, increasing: numbers or dates."""
    lower: Number | None = None
    """Instead of edges: the lower end of the first bin,"""
    upper: Number | None = None
    """the upper end of the last bin,"""
    number: Count | None = None
    """and the number of bins, which have equal widths."""
    outside: Literal["drop", "clip"]
    """Rows beyond the edges: "drop" leaves them out, "clip" counts them in the nearest bin."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        uniform = (self.lower, self.upper, self.number)
        if (None in uniform) if self.edges is None else uniform != (None, None, None):
            raise ValueError(
                "give edges, a list of cut points; or lower, upper and number, for bins of one "
                "width"
            )
        return self

    def build(self) -> Bins:
        """Return the bins.

        Raises:
            InvalidTable, InvalidParameter: if the edges do not increase, or are too many.
        """
        if self.edges is not None:
            return Bins(self.edges, outside=self.outside)
        number = self.number or 1
        return Bins.uniform(self.lower or 0, self.upper or 0, number, outside=self.outside)


def _form_of_keys(value: object) -> str:
    """Return whether groups are written as bins, as keys or as a list."""
    if isinstance(value, ValuesOf):
        return "keys"
    if isinstance(value, dict):
        return "keys" if {"values", "missing", "other"} & set(cast("Any", value)) else "bins"
    return "bins" if isinstance(value, BinsOf) else "list"


_ListedKeys: TypeAlias = Annotated[list[Cell], Tag("list")]
_Named: TypeAlias = Annotated[ValuesOf, Tag("keys")]
_Binned: TypeAlias = Annotated[BinsOf, Tag("bins")]
Domain = Annotated[_ListedKeys | _Named | _Binned, Discriminator(_form_of_keys)]


class UnknownOf(Section):
    """Undeclared groups: every key in the rows, shown if its noisy count is large."""

    sentence: ClassVar[str] = 'unknown groups need columns, a list such as ["dest"]'

    columns: Annotated[list[str], Field(min_length=1)]
    """The grouping columns; several give the combinations that occur."""

    def build(self) -> UnknownKeys:
        """Return the groups.

        Raises:
            InvalidTable: if a column repeats.
        """
        return UnknownKeys(*self.columns)


class DomainOf(Section):
    """The range of values: between two ends, or on a circle."""

    lower: Number | None = None
    """The lower end."""
    upper: Number | None = None
    """The upper end."""
    outside: Literal["count", "clip", "drop"] | None = None
    """Values outside: "count" counts them separately, "clip" moves them, "drop" leaves them out."""
    period: Positive | None = None
    """Instead of the ends: the period of values on a circle, such as 24 for hours."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        interval = (self.lower, self.upper, self.outside)
        if (None in interval) if self.period is None else interval != (None, None, None):
            raise ValueError(
                'give lower, upper and outside = "count" (counted separately, for a density of one '
                'column), "clip" (moved to the nearer end) or "drop" (left out); or period alone, '
                "for hours of the day and the like"
            )
        return self

    def build(self) -> Side:
        """Return the interval or circle.

        Raises:
            InvalidParameter: if it is too long or too short, or the ends are reversed.
        """
        if self.period is not None:
            return Circle(self.period)
        return Interval(self.lower or 0, self.upper or 0, outside=self.outside or "clip")
