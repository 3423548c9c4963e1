"""One axis of a released field, all others integrated out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast, final

from neyman.functional._domain import basis_of
from neyman.functional._field_basis import FieldBasis
from neyman.functional._line_basis import LineBasis
from neyman.functional._side import Side
from neyman.numerics import Array

__all__ = ["Margin", "line_of"]


@final
@dataclass(frozen=True, slots=True)
class Margin(LineBasis):
    """The waves of a field that vary along one axis alone.

    Attributes:
        whole: whose.
        axis: which.
    """

    whole: FieldBasis
    axis: int
    domain: Side = field(init=False, repr=False)
    bandwidth: Fraction = field(init=False, repr=False)
    counted: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an axis that is not there.

        Raises:
            ValueError: if there is no such axis.
        """
        if type(self.axis) is not int or not 0 <= self.axis < self.whole.dimensions:
            raise ValueError("no such axis")
        object.__setattr__(self, "domain", self.whole.sides[self.axis])
        object.__setattr__(self, "bandwidth", self.whole.bandwidth[self.axis])
        object.__setattr__(self, "counted", self.whole.counted)

    @property
    def highest(self) -> int:
        """The side's."""
        return self.whole.highest[self.axis]

    @property
    def amplitudes(self) -> Array:
        """Those of the waves that are constant along all other axes."""
        return self.whole.amplitudes[self.along]

    @property
    def along(self) -> tuple[int | slice, ...]:
        """The index of those waves."""
        d = self.whole.dimensions
        return tuple(slice(None) if k == self.axis else 0 for k in range(d))

    def record(self) -> dict[str, object]:
        """Return the field and the axis."""
        return {"field": self.whole.record(), "axis": self.axis}


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
