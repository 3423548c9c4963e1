"""Records in arrays of memory, counted at public nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, Countable, Counter, IntArray
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.functional._private import public_number, real, source
from neyman.functional._units import Units, check_units
from neyman.nodes import Nodes, histogram
from neyman.sensitivity import Neighbors, Sensitivity, check_neighbors

__all__ = ["ArrayRecords"]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayRecords:
    """A `Countable`: one or more columns of one length, each an array of real numbers.

    Attributes:
        columns: private, shape (n,) each.
        name: stands for them in the ledger.
        unit: who is protected, in words.
        neighbors: the neighbouring relation.
        units: whose each record is, where one unit can have several; under add_remove only.
        names: what the caller calls the columns.
    """

    columns: tuple[npt.NDArray[np.generic], ...] = field(repr=False)
    names: tuple[str, ...]
    name: str
    unit: str
    neighbors: Neighbors
    units: Units | None

    @classmethod
    def of(
        cls,
        *columns: tuple[str, npt.NDArray[np.generic]],
        name: str,
        unit: str,
        neighbors: Neighbors,
        units: Units | None = None,
    ) -> Self:
        """Take arrays, and what the caller calls them, by types and shapes alone.

        Raises:
            InvalidParameter: if an array is none of NumPy's, is not of real numbers, holds more
                than 2^36, or is empty under replace_one; or if the ids do not go with them.
        """
        check_neighbors(neighbors)
        arrays = tuple(real(column, called).reshape(-1) for called, column in columns)
        public_number(arrays[0], neighbors)
        check_units(units, arrays[0], counted=neighbors == "add_remove")
        names = tuple(called for called, _ in columns)
        return cls(
            columns=arrays, names=names, name=name, unit=unit, neighbors=neighbors, units=units
        )

    @property
    def source(self) -> str:
        """Name and types."""
        return source(self.name, *self.columns)

    @property
    def records(self) -> int | None:
        """The length under replace_one."""
        return public_number(self.columns[0], self.neighbors)

    @property
    def whole(self) -> tuple[bool, ...]:
        """Whether the type of each array is of integers."""
        return tuple(np.issubdtype(column.dtype, np.integer) for column in self.columns)

    @property
    def groups(self) -> int:
        """One of all."""
        return 1

    @property
    def keys(self) -> Columns:
        """None."""
        return {}

    @property
    def unit_records(self) -> int:
        """The most values that count of one unit."""
        return 1 if self.units is None else self.units.max_values

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Multiply by the most values that count of one unit."""
        return one if self.units is None else one.of_many(self.units.max_values)

    def describe(self) -> dict[str, object]:
        """Return the most values that count of one unit."""
        return {"max_values": None if self.units is None else self.units.max_values}

    def like(self, public: object) -> tuple[Countable, int, bool]:  # noqa: ARG002
        """Refuse: a public table stands for a table."""
        raise InvalidParameter(
            "like= needs a question of a table; this one is of an array. Open the records with "
            "open_table(...) and ask publish.density or the like of the table, or write spread="
        )

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> None:  # noqa: ARG002
        """None: of arrays nothing is told."""
        return

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return what counts them."""

        def count() -> IntArray:
            # Side by side and not stacked: columns have types of their own.
            kept = [c if self.units is None else self.units.kept(c) for c in self.columns]
            return histogram(axes, kept)

        most = None if self.units is None else self.units.max_values
        return Counter(digest(axes, most), count)
