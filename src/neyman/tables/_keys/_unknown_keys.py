"""Undeclared groups: the keys that the rows have."""

from dataclasses import dataclass
from typing import final

from neyman.calls import plain_calls_of
from neyman.errors import InvalidTable

__all__ = ["UnknownKeys"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class UnknownKeys:
    """Undeclared groups: one for each key, or combination of keys, that some row has.

    The set of groups is private. An answer shows the groups whose noisy count reaches a threshold
    (`neyman.mechanisms.Thresholded`), and costs a delta besides the noise. So the statistic must
    count its rows, as a count or a mean does. Rows with NULL in a column are in no group.

    >>> UnknownKeys("dest", "month")
    UnknownKeys('dest', 'month')

    Attributes:
        columns: the grouping columns, of text, integers, booleans or dates.
    """

    columns: tuple[str, ...]

    def __init__(self, *columns: str) -> None:
        """Take the grouping columns.

        Raises:
            InvalidTable: if there is none, one is not text, or one repeats.
        """
        if not columns:
            raise InvalidTable('UnknownKeys needs at least one column; write UnknownKeys("dest")')
        for column in columns:
            if not isinstance(column, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidTable(
                    f"a {type(column).__name__} is no column name; write "
                    'UnknownKeys("dest", "month"), one text for each column'
                )
        if len(set(columns)) < len(columns):
            raise InvalidTable(
                f"the columns {', '.join(map(repr, columns))} repeat; write each once"
            )
        object.__setattr__(self, "columns", columns)

    def __repr__(self) -> str:
        return f"UnknownKeys({', '.join(map(repr, self.columns))})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the key columns of an answer."""
        return self.columns

    @property
    def by_value(self) -> tuple[str, ...]:
        """The columns; each group has one value of each."""
        return self.columns

    def describe(self) -> dict[str, object]:
        """Return the public record: the columns."""
        return {"unknown": list(self.columns)}
