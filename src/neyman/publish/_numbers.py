"""The numbers of an answer that have an interval, with their names and groups."""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple, TypeAlias, cast

from neyman.aggregate import Columns

__all__ = ["Key", "Number", "Place", "groups_of", "numbers_in", "numbers_of"]

_Cell: TypeAlias = str | int | float | bool
Key: TypeAlias = tuple[tuple[str, _Cell], ...]


class Place(NamedTuple):
    """A number of an answer: its name, and the key of its group."""

    name: str
    key: Key


class Number(NamedTuple):
    """A number with its interval, whose ends are infinite or NaN if they are unknown.

    Attributes:
        value: the number.
        lower, upper: the interval for the noise.
        stddev: the standard deviation of the noise; None if it has none, as for a quotient.
        total: the interval for noise and sampling, if there is one.
    """

    value: float
    lower: float
    upper: float
    stddev: float | None = None
    total: tuple[float, float] | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval for the noise."""
        return (self.upper - self.lower) / 2


def groups_of(keys: Columns) -> list[Key]:
    """Return the key of each row of an answer; without groups, one empty key."""
    rows = zip(*keys.values(), strict=True)
    made = (tuple(zip(keys, row, strict=True)) for row in rows)
    return [cast("Key", key) for key in made] or [()]


def numbers_of(columns: Columns, keys: Columns) -> dict[Place, Number]:
    """Return every number by its name and group."""
    groups = groups_of(keys)
    return {
        Place(name, groups[row] if len(groups) > 1 or keys else ()): number
        for name, row, number in numbers_in(columns)
    }


def numbers_in(columns: Columns) -> Iterator[tuple[str, int, Number]]:
    """Yield every number with columns lower and upper, or x_lower and x_upper, with its row."""
    for low in columns:
        prefix = low.removesuffix("lower")
        high = f"{prefix}upper"
        # These are intervals for noise and sampling.
        if prefix == low or high not in columns or prefix.endswith("total_"):
            continue
        value, marks = _named(columns, low)
        total = [columns.get(f"{prefix}total_{end}") for end in ("lower", "upper")]
        spread = columns.get(f"{prefix}stddev")
        for row, (lower, upper) in enumerate(zip(columns[low], columns[high], strict=True)):
            ends = [float(cells[row]) for cells in total if cells is not None]
            yield (
                " ".join([value, *(str(columns[mark][row]) for mark in marks)]),
                row,
                Number(
                    value=float(columns[value][row]),
                    lower=float(lower),
                    upper=float(upper),
                    stddev=None if spread is None else float(spread[row]),
                    total=(ends[0], ends[1]) if ends else None,
                ),
            )


def _named(columns: Columns, low: str) -> tuple[str, list[str]]:
    """Return the column that an interval belongs to, and the columns that label its rows."""
    if low != "lower":
        return low.removesuffix("_lower"), []
    before = takewhile(lambda name: name != low, columns)
    *marks, value = (name for name in before if name != "stddev")
    return value, marks
