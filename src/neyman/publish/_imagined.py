"""Made-up records in place of private ones: for previews of functions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from neyman.aggregate import Aggregate, Columns, Countable, IntArray
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["foreseen"]


@final
@dataclass(frozen=True, slots=True)
class MadeUp:
    """A `Countable`: so many records, spread evenly over all places.

    Attributes:
        number: how many.
    """

    number: int

    @property
    def source(self) -> str:
        """Nowhere."""
        return "made up"

    @property
    def unit(self) -> str:
        """One of them."""
        return "one made-up record"

    @property
    def neighbors(self) -> Neighbors:
        """As of a table."""
        return "add_remove"

    @property
    def records(self) -> None:
        """As of a table, whose number is private."""
        return

    @property
    def groups(self) -> int:
        """One of all."""
        return 1

    @property
    def keys(self) -> Columns:
        """None."""
        return {}

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Each is a unit."""
        return one

    def describe(self) -> dict[str, object]:
        """Return nothing."""
        return {}

    def counter(self, axes: Sequence[Nodes]) -> Callable[[], IntArray]:
        """Return what counts them: the same number at each place, to within one."""
        places = math.prod(axis.number for axis in axes)
        whole, rest = divmod(self.number, places)

        def count() -> IntArray:
            ends = np.arange(places + 1, dtype=np.int64) * rest // places
            return whole + np.diff(ends)

        return count


def foreseen(records: Countable, ask: Callable[[Countable], Aggregate]) -> Aggregate:
    """Ask of private records, and let a preview ask the same of made-up ones."""

    def imagined(sizes: Sequence[int]) -> list[IntArray]:
        return [ask(MadeUp(size)).compute() for size in sizes]

    return replace(ask(records), imagined=imagined)
