"""Bins of a number or a date, as a spec writes them."""

from datetime import date
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Discriminator, Tag, model_validator

from neyman.publish._section import Cell, Count, Number, Section
from neyman.tables import Bins

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
    """Tell bins from a list of keys by how they are written."""
    return "bins" if isinstance(value, dict | BinsOf) else "list"


_Listed: TypeAlias = Annotated[list[Cell], Tag("list")]
_Binned: TypeAlias = Annotated[BinsOf, Tag("bins")]
Domain = Annotated[_Listed | _Binned, Discriminator(_form)]


def domain_of(declared: list[Cell] | BinsOf) -> list[Cell] | Bins:
    """Return what `Keys` takes for a column."""
    return declared.bins if isinstance(declared, BinsOf) else declared
