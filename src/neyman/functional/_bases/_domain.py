"""The public line segment or circle that values lie on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias, cast, final, get_args

import numpy as np

from neyman.arguments import given
from neyman.errors import InvalidParameter
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._side import Domain, Side, check_domain
from neyman.functional._bases._target import Density, Target, target_of
from neyman.functional._written import number
from neyman.nodes import Nodes
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = [
    "Circle",
    "Domain",
    "Interval",
    "Outside",
    "Side",
    "basis_of",
    "check_domain",
    "side_of",
]

Outside: TypeAlias = Literal["clip", "drop"]


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Interval(Side):
    """[lower, upper], followed by an empty stretch as long as itself, so that both ends are apart.

    Tails of kernels run into the empty stretch and do not come out on the other side. It costs
    time and no noise: the noise at a point does not depend on the length of the circle.

    >>> Interval(-60, 180, outside="clip").length
    Fraction(240, 1)

    Attributes:
        lower: lower end, exact.
        upper: upper end, exact.
        outside: what becomes of a value outside: "clip" moves it to the nearer end, "drop" lets
            it count for nothing. NaN counts for nothing under both.
    """

    kind: ClassVar[str] = "interval"

    lower: Fraction
    upper: Fraction
    outside: Outside

    def __init__(self, lower: Real, upper: Real, *, outside: Outside) -> None:
        """Take numbers, a float meaning the decimal that it prints as.

        Raises:
            InvalidParameter: if an end is not finite, the ends are reversed or too near to each
                other for doubles, or `outside` is another word.
        """
        object.__setattr__(self, "lower", exact(lower, "lower"))
        object.__setattr__(self, "upper", exact(upper, "upper"))
        object.__setattr__(self, "outside", outside)
        if self.lower >= self.upper:
            raise InvalidParameter(
                f"lower={text(self.lower)} is not below upper={text(self.upper)}; "
                "write Interval(lower, upper, ...) with lower < upper"
            )
        _check_doubles(self.length, max(abs(self.lower), abs(self.upper)))
        if type(outside) is not str or outside not in get_args(Outside):
            raise InvalidParameter(
                f'{given("outside", outside)} was given; write "clip" (move values to the nearer '
                'end) or "drop" (leave them out). They are never refused: an error would show that '
                "one is there"
            )

    @property
    @override
    def start(self) -> float:
        return float(self.lower)

    @property
    @override
    def length(self) -> Fraction:
        return self.upper - self.lower

    @property
    @override
    def period(self) -> float:
        return 2 * float(self.length)

    @property
    @override
    def largest_bandwidth(self) -> Fraction:
        return self.length / 10

    @property
    @override
    def closed(self) -> bool:
        return False

    @override
    def offsets(self, points: Array) -> Array:
        return np.clip(points - self.start, 0.0, float(self.length))

    @override
    def places(self, step: float, number: int) -> Nodes:
        return Nodes(
            start=self.start,
            end=float(self.upper),
            step=step,
            number=number,
            closed=False,
            dropped=self.outside == "drop",
        )

    @override
    def basis(
        self, bandwidth: Real | Sequence[Real], target: Target | None, *, counted: bool
    ) -> Basis:
        return _basis(self, bandwidth, target, counted=counted)

    @override
    def record(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "lower": text(self.lower),
            "upper": text(self.upper),
            "outside": self.outside,
        }


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Circle(Side):
    """Values that are the same if they differ by a period: hours of the day, angles.

    >>> Circle(24).offsets(np.array([25.0, -1.0]))
    array([ 1., 23.])

    Attributes:
        around: the period, exact.
    """

    kind: ClassVar[str] = "circle"

    around: Fraction

    def __init__(self, period: Real) -> None:
        """Take a positive number, a float meaning the decimal that it prints as.

        Raises:
            InvalidParameter: if it is not positive and finite.
        """
        object.__setattr__(self, "around", exact(period, "period"))
        if self.around <= 0:
            raise InvalidParameter(f"period={text(self.around)} is not positive; write a length")
        _check_doubles(self.around, self.around)

    @property
    @override
    def start(self) -> float:
        return 0.0

    @property
    @override
    def length(self) -> Fraction:
        return self.around

    @property
    @override
    def period(self) -> float:
        return float(self.around)

    @property
    @override
    def largest_bandwidth(self) -> Fraction:
        return self.around / 4

    @property
    @override
    def closed(self) -> bool:
        return True

    @override
    def offsets(self, points: Array) -> Array:
        return np.asarray(np.mod(points, self.period))

    @override
    def places(self, step: float, number: int) -> Nodes:
        return Nodes(
            start=0.0, end=self.period, step=step, number=number, closed=True, dropped=False
        )

    @override
    def basis(
        self, bandwidth: Real | Sequence[Real], target: Target | None, *, counted: bool
    ) -> Basis:
        return _basis(self, bandwidth, target, counted=counted)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "period": text(self.around)}


def side_of(record: Mapping[str, object]) -> Side:
    """Rebuild a line or circle from what `record` returned.

    Raises:
        InvalidParameter: if it is of no known kind, or its numbers are unusable.
        KeyError, TypeError, ValueError: if it is no such record.
    """
    if record["kind"] == Circle.kind:
        return Circle(number(record["period"]))
    if record["kind"] != Interval.kind:
        raise InvalidParameter(f"a domain of kind {record['kind']!r} is unknown")
    ends = (number(record[name]) for name in ("lower", "upper"))
    return Interval(*ends, outside=cast("Outside", record["outside"]))


def basis_of(record: Mapping[str, object]) -> Basis:
    """Rebuild a basis from what its `record` returned.

    Raises:
        InvalidParameter: if what it describes is refused.
        KeyError, TypeError, ValueError: if it is no such record.
    """
    return Basis(
        side_of(cast("Mapping[str, object]", record["domain"])),
        number(record["bandwidth"]),
        target_of(cast("Mapping[str, object]", record["target"])),
        record["counted"] is True,
    )


def _basis(
    side: Side, bandwidth: Real | Sequence[Real], target: Target | None, *, counted: bool
) -> Basis:
    if isinstance(bandwidth, Sequence) and not isinstance(bandwidth, str):
        raise InvalidParameter(
            f"{given('bandwidth', bandwidth)} of several numbers was given for values on a line; "
            "write one"
        )
    chosen = Density() if target is None else target
    return Basis(side, exact(bandwidth, "bandwidth"), chosen, counted)


def _check_doubles(length: Fraction, largest: Fraction) -> None:
    """Refuse a domain on which doubles are too coarse, or overflow."""
    if not Fraction(1, 10**100) <= length <= 10**100 or largest > length * 2**20:
        raise InvalidParameter(
            f"a domain of length {float(length):g} with numbers as large as {float(largest):g} is "
            "too short for doubles; write a length in [1e-100, 1e100], not far from zero, shifting "
            "the values first"
        )
