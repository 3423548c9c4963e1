"""What a density is released in and read in: chosen by its domain, rebuilt from a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import cast, final

from neyman.arguments import check_type, given
from neyman.errors import InvalidParameter
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Domain
from neyman.functional._bases._field_basis import FieldBasis
from neyman.functional._bases._target import Density, Scales, Target
from neyman.functional._bases._waves import WaveBasis, Waves
from neyman.functional._public import each
from neyman.numerics import Real, exact
from neyman.overriding import override

__all__ = ["Margin", "basis_of", "basis_on"]


@final
@dataclass(frozen=True, slots=True)
class Margin(WaveBasis):
    """The waves of a density of several coordinates that vary along some of its axes alone.

    Attributes:
        of: what was released.
        axes: one or two, in order.
    """

    of: FieldBasis
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse axes that are not there.

        Raises:
            ValueError: if there are no such axes, in order.
        """
        there = range(self.of.dimensions)
        known = [*combinations(there, 1), *combinations(there, 2)]
        if self.axes not in known or any(type(k) is not int for k in self.axes):
            raise ValueError("no such axes")

    @property
    @override
    def bandwidths(self) -> tuple[Fraction, ...]:
        return tuple(self.of.bandwidth[k] for k in self.axes)

    @property
    @override
    def waves(self) -> Waves:
        return self.of.waves.along(self.axes)

    @override
    def record(self) -> dict[str, object]:
        one = len(self.axes) == 1
        return {
            "field": self.of.record(),
            **({"axis": self.axes[0]} if one else {"axes": list(self.axes)}),
        }


def basis_on(
    domain: Domain,
    bandwidth: Real | Sequence[Real],
    target: Target | None,
    *,
    counted: bool,
) -> Basis | FieldBasis:
    """Return what a density on a domain is released in.

    Args:
        domain: a line, a circle, or a box of such sides.
        bandwidth: one number, or one for each side of a box.
        target: what errors weigh; by default `Density()` on one side and `Scales()` on a box.
        counted: whether the number of records is private and released.

    Raises:
        InvalidParameter: if the domain cannot carry it.
    """
    first, *others = domain.sides
    if others:
        found = each("bandwidth", bandwidth, len(domain.sides))
        if target is not None:
            check_type("target", target, Target, "Density() or Scales()")
        return FieldBasis(domain.sides, found, Scales() if target is None else target, counted)
    if isinstance(bandwidth, Sequence) and not isinstance(bandwidth, str):
        raise InvalidParameter(
            f"{given('bandwidth', bandwidth)} of several numbers was given for values on a line; "
            "write one"
        )
    chosen = Density() if target is None else target
    return Basis(first, exact(bandwidth, "bandwidth"), chosen, counted)


def basis_of(record: Mapping[str, object]) -> WaveBasis:
    """Rebuild what a density is read in from what its `record` returned.

    Raises:
        InvalidParameter: if what it describes is refused.
        KeyError, TypeError, ValueError: if it is no such record.
    """
    if "field" in record:
        whole = FieldBasis.of_record(cast("Mapping[str, object]", record["field"]))
        if "axis" in record:
            return Margin(whole, (cast("int", record["axis"]),))
        return Margin(whole, tuple(cast("list[int]", record["axes"])))
    return (FieldBasis if "sides" in record else Basis).of_record(record)
