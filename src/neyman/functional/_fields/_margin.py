"""Some axes of a released field, all others integrated out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import cast, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.functional._bases._domain import basis_of
from neyman.functional._bases._line_basis import LineBasis
from neyman.functional._bases._side import Side
from neyman.functional._fields._basis import FieldBasis
from neyman.functional._fields._reading import FieldReading
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["FieldMargin", "Margin", "along", "field_of", "line_of"]


@final
@dataclass(frozen=True, slots=True)
class Margin(LineBasis):
    """The waves of a field that vary along one axis alone.

    Attributes:
        of: the field.
        axis: which.
    """

    of: FieldReading
    axis: int
    domain: Side = field(init=False, repr=False)
    bandwidth: Fraction = field(init=False, repr=False)
    counted: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an axis that is not there.

        Raises:
            ValueError: if there is no such axis.
        """
        if type(self.axis) is not int or not 0 <= self.axis < self.of.dimensions:
            raise ValueError("no such axis")
        object.__setattr__(self, "domain", self.of.sides[self.axis])
        object.__setattr__(self, "bandwidth", self.of.bandwidth[self.axis])
        object.__setattr__(self, "counted", self.of.counted)

    @property
    @override
    def highest(self) -> int:
        return self.of.highest[self.axis]

    @property
    @override
    def amplitudes(self) -> Array:
        return self.of.amplitudes[_index(self.of, (self.axis,))]

    @override
    def record(self) -> dict[str, object]:
        return {"field": self.of.record(), "axis": self.axis}


@final
@dataclass(frozen=True, slots=True)
class FieldMargin(FieldReading):
    """The waves of a field that vary along some of its axes alone.

    Attributes:
        of: the field.
        axes: which, in order.
    """

    of: FieldReading
    axes: tuple[int, ...]
    sides: tuple[Side, ...] = field(init=False, repr=False)
    bandwidth: tuple[Fraction, ...] = field(init=False, repr=False)
    counted: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse axes that are not there.

        Raises:
            ValueError: if there are no two such axes, in order.
        """
        there = range(self.of.dimensions)
        pairs = list[tuple[int, ...]](combinations(there, 2))
        if self.axes not in pairs or any(type(k) is not int for k in self.axes):
            raise ValueError("no such axes")
        object.__setattr__(self, "sides", tuple(self.of.sides[k] for k in self.axes))
        object.__setattr__(self, "bandwidth", tuple(self.of.bandwidth[k] for k in self.axes))
        object.__setattr__(self, "counted", self.of.counted)

    @property
    @override
    def whole(self) -> FieldReading:
        return self.of

    @property
    @override
    def coordinates(self) -> tuple[int, ...]:
        return self.axes

    @property
    @override
    def lattice(self) -> IntArray:
        return self.of.lattice[_index(self.of, self.axes)]

    @override
    def record(self) -> dict[str, object]:
        return {"field": self.of.record(), "axes": list(self.axes)}


def along(field: FieldReading, axes: tuple[int, ...], integers: tuple[int, ...]) -> tuple[int, ...]:
    """Return those of the integers whose waves vary along these axes alone."""
    released = field.released
    index = _index(field, axes)
    order = np.cumsum(released.ravel()).reshape(released.shape) - 1
    return tuple(integers[int(place)] for place in order[index][released[index]])


def field_of(record: Mapping[str, object]) -> FieldReading:
    """Rebuild what a field is read in from what its `record` returned.

    Raises:
        InvalidParameter: if what it describes is refused.
        KeyError, TypeError, ValueError: if it is no such record.
    """
    if "field" not in record:
        return FieldBasis.of_record(record)
    whole = FieldBasis.of_record(cast("Mapping[str, object]", record["field"]))
    return FieldMargin(whole, tuple(cast("list[int]", record["axes"])))


def line_of(record: Mapping[str, object]) -> LineBasis:
    """Rebuild what a curve is read in from what its `record` returned.

    Raises:
        InvalidParameter: if what it describes is refused.
        KeyError, TypeError, ValueError: if it is no such record.
    """
    if "field" not in record:
        return basis_of(record)
    whole = FieldBasis.of_record(cast("Mapping[str, object]", record["field"]))
    return Margin(whole, cast("int", record["axis"]))


def _index(field: FieldReading, axes: tuple[int, ...]) -> tuple[int | slice, ...]:
    return tuple(slice(None) if k in axes else 0 for k in range(field.dimensions))
