"""What a grouping column may be, as a spec writes it: a list of keys, or bins."""

from datetime import date
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import Discriminator, Tag, model_validator

from neyman.publish._section import Cell, Count, Number, Section
from neyman.publish._values_of import ValuesOf
from neyman.tables import Bins, Values

__all__ = ["BinsOf", "Domain", "domain_of"]


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

    @property
    def bins(self) -> Bins:
        """The bins.

        Raises:
            InvalidTable, InvalidParameter: if they do not increase, or are too many.
        """
        if self.edges is not None:
            return Bins(self.edges, outside=self.outside)
        number = self.number or 1
        return Bins.uniform(self.lower or 0, self.upper or 0, number, outside=self.outside)


def _form(value: object) -> str:
    """Tell bins from keys, and these from a mere list, by how they are written."""
    if isinstance(value, ValuesOf):
        return "keys"
    if isinstance(value, dict):
        return "keys" if {"values", "missing", "other"} & set(cast("Any", value)) else "bins"
    return "bins" if isinstance(value, BinsOf) else "list"


_Listed: TypeAlias = Annotated[list[Cell], Tag("list")]
_Named: TypeAlias = Annotated[ValuesOf, Tag("keys")]
_Binned: TypeAlias = Annotated[BinsOf, Tag("bins")]
Domain = Annotated[_Listed | _Named | _Binned, Discriminator(_form)]


def domain_of(declared: list[Cell] | ValuesOf | BinsOf) -> list[Cell] | Values | Bins:
    """Return what `Keys` takes for a column."""
    match declared:
        case ValuesOf():
            return declared.keys
        case BinsOf():
            return declared.bins
        case _:
            return declared
