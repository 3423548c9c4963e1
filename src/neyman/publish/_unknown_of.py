"""Groups that nobody declared, as a spec writes them."""

from typing import Annotated, ClassVar

from pydantic import Field

from neyman.publish._section import Section
from neyman.tables import UnknownKeys

__all__ = ["UnknownOf"]


class UnknownOf(Section):
    """Groups that nobody declared: every key that the rows hold, shown if its count is large."""

    sentence: ClassVar[str] = 'unknown groups need columns, a list such as ["dest"]'

    columns: Annotated[list[str], Field(min_length=1)]
    """The grouping columns; several make the combinations that occur."""

    @property
    def keys(self) -> UnknownKeys:
        """The groups.

        Raises:
            InvalidTable: if a column repeats.
        """
        return UnknownKeys(*self.columns)
