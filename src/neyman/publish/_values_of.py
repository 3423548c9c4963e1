"""Keys of a column with groups for the rows that have none of them, as a spec writes them."""

from typing import Annotated, ClassVar

from pydantic import Field

from neyman.publish._section import Cell, Section
from neyman.tables import Values

__all__ = ["ValuesOf"]


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

    @property
    def keys(self) -> Values:
        """The keys, with the names of the groups."""
        return Values(self.values, missing=self.missing, other=self.other)
