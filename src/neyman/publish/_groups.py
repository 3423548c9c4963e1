"""Groups, and where values lie, as a spec writes them."""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, cast

from pydantic import Discriminator, Field, Tag, model_validator

from neyman.functional import Circle, Interval, Side
from neyman.publish._section import Cell, Count, Number, Positive, Section
from neyman.tables import Bins, UnknownKeys, Values

__all__ = ["BinsOf", "Domain", "DomainOf", "UnknownOf", "ValuesOf"]


class ValuesOf(Section):
    """Keys, a group of rows without a value, and a group of rows with any other value."""

    sentence: ClassVar[str] = (
        'keys with more groups need values, such as { values = ["north", "south"], '
        'missing = "not recorded", other = "all other wards" }'
    )

    values: Annotated[list[Cell], Field(min_length=1)]
    """The keys."""
    missing: Annotated[str, Field(min_length=1)] | None = None
    """What the group of rows without a value is called; without it they are in no group."""
    other: Annotated[str, Field(min_length=1)] | None = None
    """What the group of rows with any other value is called; without it they are in no group."""

    def build(self) -> Values:
        """Return the keys, with the names of the groups."""
        return Values(self.values, missing=self.missing, other=self.other)


class BinsOf(Section):
    """Bins between cut points, each with its lower end, the last one with both."""

    edges: list[Number | date] | None = None
    """The cut points, increasing: numbers or dates."""
    lower: Number | None = None
    """In place of edges: where the first bin begins,"""
    upper: Number | None = None
    """where the last one ends,"""
    number: Count | None = None
    """and how many of one width there are."""
    outside: Literal["drop", "clip"]
    """What becomes of rows beyond the edges: left out, or counted in the nearest bin."""

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
            InvalidTable, InvalidParameter: if they do not increase, or are too many.
        """
        if self.edges is not None:
            return Bins(self.edges, outside=self.outside)
        number = self.number or 1
        return Bins.uniform(self.lower or 0, self.upper or 0, number, outside=self.outside)


def _form_of_keys(value: object) -> str:
    """Tell bins from keys, and these from a mere list, by how they are written."""
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
    """Groups that nobody declared: every key that the rows hold, shown if its count is large."""

    sentence: ClassVar[str] = 'unknown groups need columns, a list such as ["dest"]'

    columns: Annotated[list[str], Field(min_length=1)]
    """The grouping columns; several make the combinations that occur."""

    def build(self) -> UnknownKeys:
        """Return the groups.

        Raises:
            InvalidTable: if a column repeats.
        """
        return UnknownKeys(*self.columns)


class DomainOf(Section):
    """Where values lie: between two ends, or on a circle."""

    lower: Number | None = None
    """The lower end."""
    upper: Number | None = None
    """The upper end."""
    outside: Literal["count", "clip", "drop"] | None = None
    """What becomes of values outside: counted apart, moved to the nearer end, or left out."""
    period: Positive | None = None
    """In place of the ends: values begin anew after it, as hours of the day do after 24."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        interval = (self.lower, self.upper, self.outside)
        if (None in interval) if self.period is None else interval != (None, None, None):
            raise ValueError(
                'give lower, upper and outside = "count" (counted apart, of a density of one '
                'column), "clip" (moved to the nearer end) or "drop" (left out); or period alone, '
                "for hours of the day and the like"
            )
        return self

    def build(self) -> Side:
        """Return the line or circle.

        Raises:
            InvalidParameter: if it is too long, too short, or the ends are reversed.
        """
        if self.period is not None:
            return Circle(self.period)
        return Interval(self.lower or 0, self.upper or 0, outside=self.outside or "clip")
