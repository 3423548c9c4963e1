"""The numbers of an answer that have an interval, each with its group."""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple, TypeAlias, cast

from neyman.aggregate import Aggregate, Columns, FoundGroups, IntArray, Noise

__all__ = ["Cell", "Key", "Number", "Place", "counted", "groups_of", "numbers_of", "read"]

Cell: TypeAlias = str | int | float | bool
Key: TypeAlias = tuple[tuple[str, Cell], ...]


class Place(NamedTuple):
    """Which number of an answer: what it is called, and the key of its group."""

    name: str
    key: Key


class Number(NamedTuple):
    """A number with its interval, and that of noise and sampling where there is one."""

    value: float
    lower: float
    upper: float
    total: tuple[float, float] | None

    @property
    def half_width(self) -> float:
        """Half of the interval of the noise."""
        return (self.upper - self.lower) / 2


def counted(question: Aggregate) -> tuple[IntArray, Columns, IntArray | None]:
    """Return the exact integers of public rows, their keys, and those of the companion."""
    found, own = None, None
    if question.companion is not None:
        found, own = question.companion.compute()
    elif question.unknown is not None:
        found = question.unknown.find()
    match found:
        case FoundGroups():
            return found.integers.reshape(-1), _columns(question, found), own
        case None:
            return question.compute(), question.keys, own
        case _:
            return found, question.keys, own


def _columns(question: Aggregate, found: FoundGroups) -> Columns:
    return {} if question.unknown is None else question.unknown.columns(found.keys)


def groups_of(keys: Columns) -> list[Key]:
    """Return the key of each row of an answer; one without columns, where there are no groups."""
    rows = zip(*keys.values(), strict=True)
    made = (tuple(zip(keys, row, strict=True)) for row in rows)
    return [cast("Key", key) for key in made] or [()]


def read(
    question: Aggregate, integers: IntArray, keys: Columns, noise: Noise, confidence: float
) -> dict[Place, Number]:
    """Read integers as the answer would be."""
    return numbers_of(question.reading.columns(integers, noise, confidence), keys)


def numbers_of(columns: Columns, keys: Columns) -> dict[Place, Number]:
    """Return every number that has ends, lower and upper or x_lower and x_upper."""
    groups = groups_of(keys)
    found: dict[Place, Number] = {}
    for low in columns:
        prefix = low.removesuffix("lower")
        high = f"{prefix}upper"
        if prefix == low or high not in columns or prefix.endswith("total_"):
            continue
        value, marks = _named(columns, low)
        total = f"{prefix}total_lower", f"{prefix}total_upper"
        for i, (lower, upper) in enumerate(zip(columns[low], columns[high], strict=True)):
            name = " ".join([value, *(str(columns[mark][i]) for mark in marks)])
            key = groups[i] if len(groups) > 1 or keys else ()
            ends = _pair(columns, total, i) if total[0] in columns else None
            exact = float(columns[value][i])
            found[Place(name, key)] = Number(exact, float(lower), float(upper), ends)
    return found


def _pair(columns: Columns, names: tuple[str, str], i: int) -> tuple[float, float]:
    low, high = (float(columns[name][i]) for name in names)
    return low, high


def _named(columns: Columns, low: str) -> tuple[str, list[str]]:
    """Return which column the ends are of, and those that say which of its rows one is."""
    if low != "lower":
        return low.removesuffix("_lower"), []
    *marks, value = _before(columns, low)
    return value, marks


def _before(columns: Columns, low: str) -> Iterator[str]:
    return (name for name in takewhile(lambda name: name != low, columns) if name != "stddev")
