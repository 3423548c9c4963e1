"""Private arrays, checked by class, dtype and public shape, and counted at public nodes.

No value decides whether an error is raised, because everybody sees errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, Countable, Counter
from neyman.arguments import check_name, check_type, whole
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.functional._bases._features import MOST_RECORDS
from neyman.nodes import Nodes, histogram
from neyman.sensitivity import Neighbors, Sensitivity, check_neighbors

__all__ = [
    "ArrayRecords",
    "Units",
    "one_column",
    "public_number",
    "real",
    "records_of",
    "rows",
    "source",
]

# So that noise for any mu from 0.016 on stays within what can be drawn, a scale of 2^40.
_MOST_OF_A_UNIT: Final = 1000


@final
@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The privacy unit of each value; the first `max_values` values of a unit count.

    >>> Units(np.array(["a", "b", "a", "a"]), max_values=2).kept(np.array([5.0, 6.0, 7.0, 8.0]))
    array([5., 6., 7.])

    Attributes:
        ids: private, one id for each value, a NumPy array of integers or fixed-width text.
        max_values: the contribution limit, the most values of one unit that count, in the order of
            the array. Choose it without looking at the ids.
    """

    ids: npt.NDArray[np.generic] = field(repr=False)
    max_values: int

    def __post_init__(self) -> None:
        """Check the fields by types alone, because the ids are private.

        Raises:
            InvalidParameter: if the ids are not a NumPy array of integers or fixed-width text, or
                max_values is not a whole number in [1, 1000].
        """
        if type(self.ids) not in (np.ndarray, np.memmap) or self.ids.dtype.kind not in "iuSU":
            raise InvalidParameter(
                "ids must be a NumPy array of integers or fixed-width text, one id for each value; "
                f"got a {type(self.ids).__name__}"
            )
        object.__setattr__(
            self, "max_values", whole("max_values", self.max_values, 1, _MOST_OF_A_UNIT)
        )

    def kept(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the values that count; those of one unit do not depend on other units."""
        order = np.argsort(self.ids, axis=None, kind="stable")
        ids = self.ids.reshape(-1)[order]
        place = np.arange(ids.size)
        begins = np.ones(ids.size, bool)
        begins[1:] = ids[1:] != ids[:-1]
        rank = place - np.maximum.accumulate(np.where(begins, place, 0))
        return values[np.sort(order[rank < self.max_values])]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayRecords:
    """A `Countable` of one or more columns of the same length, each an array of real numbers.

    Attributes:
        columns: the private arrays, shape (n,) each.
        name: the name of the dataset in the ledger.
        unit: the privacy unit in words.
        neighbors: the neighbouring relation.
        units: the unit of each record, if one unit can have several; under add_remove only.
        names: the caller's names of the columns.
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
        """Return records of named arrays, checked by types and shapes alone.

        Raises:
            InvalidParameter: if an array is not a NumPy array of real numbers, has more than 2^36
                of them, or is empty under replace_one; or if the ids do not fit the arrays.
        """
        check_neighbors(neighbors)
        arrays = tuple(one_column(column, called) for called, column in columns)
        public_number(arrays[0], neighbors)
        _check_units(units, arrays[0], counted=neighbors == "add_remove")
        names = tuple(called for called, _ in columns)
        return cls(
            columns=arrays, names=names, name=name, unit=unit, neighbors=neighbors, units=units
        )

    @property
    def source(self) -> str:
        """The name and the types."""
        return source(self.name, *self.columns)

    @property
    def records(self) -> int | None:
        """The number of records under replace_one."""
        return public_number(self.columns[0], self.neighbors)

    @property
    def whole(self) -> tuple[bool, ...]:
        """Whether the dtype of each array is integer."""
        return tuple(np.issubdtype(column.dtype, np.integer) for column in self.columns)

    @property
    def groups(self) -> int:
        """The number of groups: one."""
        return 1

    @property
    def keys(self) -> Columns:
        """The key columns: none."""
        return {}

    @property
    def unit_records(self) -> int:
        """The most values of one unit that count."""
        return 1 if self.units is None else self.units.max_values

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return the sensitivity times the most values of one unit that count."""
        return one if self.units is None else one.of_many(self.units.max_values)

    def describe(self) -> dict[str, object]:
        """Return the contribution limit for the public record."""
        return {"max_values": None if self.units is None else self.units.max_values}

    def like(self, public: object) -> tuple[Countable, int, bool]:  # noqa: ARG002
        """Refuse, because a public table can only imitate a table."""
        raise InvalidParameter(
            "like= needs a question of a table; this one is of an array. Open the records with "
            "open_table(...) and ask publish.density or the like of the table, or write spread="
        )

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> None:  # noqa: ARG002
        """Return None: arrays have no companion."""
        return

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return the function that counts the records at these nodes."""
        most = None if self.units is None else self.units.max_values
        return Counter(digest(axes, most), lambda: histogram(axes, self.kept()))

    def kept(self) -> list[npt.NDArray[np.generic]]:
        """Return the values of each column that count; private."""
        # Side by side and not stacked: columns have types of their own.
        return [c if self.units is None else self.units.kept(c) for c in self.columns]


def real(values: npt.NDArray[np.generic], name: str = "values") -> npt.NDArray[np.generic]:
    """Check an array by its dtype alone: no value decides whether an error is raised.

    Lists and nullable columns are refused, because their dtype depends on their values.

    Raises:
        InvalidParameter: if it is not a plain NumPy array of real numbers.
    """
    if type(values) not in (np.ndarray, np.memmap):
        raise InvalidParameter(
            f"{name} must be a NumPy array; got a {type(values).__name__}, whose number type can "
            f"depend on the values. Write {_instead(values, name)}"
        )
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8:
        raise InvalidParameter(
            f"{name} must be an array of real numbers, float64 or narrower; got dtype "
            f"{values.dtype}"
        )
    if values.size > MOST_RECORDS:
        raise InvalidParameter(f"{name} must have at most {MOST_RECORDS} numbers; got more")
    return values


def one_column(values: npt.NDArray[np.generic], name: str = "values") -> npt.NDArray[np.generic]:
    """Return one value per record, from shape (n,) or (n, 1).

    Raises:
        InvalidParameter: if it is not an array of real numbers, or has several columns: a row may
            belong to one unit, and each value would be protected separately.
    """
    array = real(values, name)
    if array.ndim > 1 and array.shape[1:] != (1,) * (array.ndim - 1):
        raise InvalidParameter(
            f"{name} must have one value a record; got an array of {array.ndim} axes. Write one "
            f"column, {name}[:, 0]; where every value is of another unit, {name}.ravel(), and "
            "where a row is of one unit, units=Units(ids, max_values=...) beside it"
        )
    return array.reshape(-1)


def _instead(values: object, name: str) -> str:
    """Return a correct argument in place of a list, masked array, data frame or column."""
    if isinstance(values, np.ma.MaskedArray):
        return f"{name}.filled(np.nan), or what it hides comes back"
    kinds = {type(values).__name__, type(values).__module__.split(".", maxsplit=1)[0]}
    if not kinds & {"pandas", "polars"}:
        return f"np.asarray({name}, dtype=float)"
    taken = "to_numpy(float)" if "pandas" in kinds else "cast(float).to_numpy()"
    if "DataFrame" not in kinds:
        return f"{name}.{taken}"
    return f'{name}["column"].{taken}, or open_table({name}, ...) and publish, which ask a table'


def rows(
    values: npt.NDArray[np.generic], width: int, name: str = "values"
) -> npt.NDArray[np.generic]:
    """Return an array with one row per record, shape (n, width); it can be (n,) for width 1.

    Raises:
        InvalidParameter: if it is not an array of real numbers, or has another shape. The message
            has no size, because the size of a transposed array is n, which can be private.
    """
    array = real(values, name)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != width:
        raise InvalidParameter(
            f"{name} must have shape (n, {width}), one row for each record; got {values.ndim} "
            f"axes, with rows of another length than {width}"
        )
    return array


def records_of(values: npt.NDArray[np.generic], width: int) -> npt.NDArray[np.generic]:
    """Return one record per row, shape (n, width), also from shape (n,) for width 1."""
    return one_column(values)[:, None] if width == 1 else rows(values, width)


def public_number(array: npt.NDArray[np.generic], neighbors: Neighbors) -> int | None:
    """Return the number of records if it is public, under replace_one; else None.

    Raises:
        InvalidParameter: if the public number is 0.
    """
    if neighbors == "add_remove":
        return None
    if not len(array):
        raise InvalidParameter(
            "under replace_one the number of records is public and must be at least 1; got none. "
            'Write neighbors="add_remove" if the number is private'
        )
    return len(array)


def source(name: str, *arrays: npt.NDArray[np.generic]) -> str:
    """Return the name of the dataset in the ledger: the given name and the dtypes.

    Raises:
        InvalidParameter: if the name is not text, empty, too long, or not printable.
    """
    check_name("name", name)
    return ":".join(["array", name, *(str(array.dtype) for array in arrays)])


def _check_units(units: Units | None, values: npt.NDArray[np.generic], *, counted: bool) -> None:
    if units is None:
        return
    check_type("units", units, Units, "Units(ids, max_values=...)")
    if units.ids.size != values.size:
        raise InvalidParameter(
            "units must have an id for each value; got another number of ids. Write one for each "
            "value"
        )
    if not counted:
        raise InvalidParameter(
            "under replace_one the number of values is public, so each unit must have one value; "
            'got units with several. Write neighbors="add_remove"'
        )
