"""Domains: lines, circles and boxes, declared without looking at the values."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Literal, TypeAlias, cast, final, get_args

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, got, whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import number, numbers
from neyman.functional._bases._scale import (
    Scale,
    ScaledNodes,
    WholeScaledNodes,
    scale_of,
)
from neyman.nodes import OUTSIDE, Nodes, WholeNodes
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = [
    "Box",
    "Circle",
    "Domain",
    "Interval",
    "Outside",
    "ScaledInterval",
    "Side",
    "check_side",
    "side_of",
]

Outside: TypeAlias = Literal["count", "clip", "drop"]

_MOST_POINTS: Final = 1 << 26


class Domain(ABC):
    """The domain of values: a line, a circle, or a box of such sides.

    Every double is either at a place of the domain or at none, so no value raises an error.
    """

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sides(self) -> "tuple[Side, ...]":
        """The sides, one for each coordinate of a record."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in self.record().items() if k != "kind")
        return f"{type(self).__name__}({fields})"


class Side(Domain):
    """A line or a circle, and the circle on which its waves are defined."""

    __slots__ = ()

    @property
    @override
    def sides(self) -> "tuple[Side, ...]":
        return (self,)

    @property
    @abstractmethod
    def start(self) -> float:
        """The lower end."""

    @property
    @abstractmethod
    def length(self) -> Fraction:
        """Upper minus lower end, in the units of the values."""

    @property
    @abstractmethod
    def period(self) -> float:
        """The length of the circle of the cosines of the domain."""

    @property
    @abstractmethod
    def largest_bandwidth(self) -> Fraction:
        """The largest bandwidth; a larger kernel would overlap its own tail."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether the upper end equals the lower end."""

    @abstractmethod
    def offsets(self, points: Array) -> Array:
        """Return the distances of points of the domain from the lower end, in [0, length]."""

    @abstractmethod
    def places(self, step: float, number: int) -> Nodes:
        """Return the first `number` nodes at this step, with the rule for values outside."""

    @property
    def inner(self) -> "Side":
        """The same side where values outside count for nothing."""
        return self

    @property
    def line(self) -> "Side":
        """The line with equally spaced nodes: the side itself, if it has no scale."""
        return self

    def on_line(self, x: Array) -> Array:
        """Return the positions of points on that line."""
        return x

    def off_line(self, u: Array) -> Array:
        """Return the points at positions on that line."""
        return u

    def slope(self, x: Array) -> Array:
        """Return the derivative of the position on that line at each point."""
        return np.ones(np.shape(x))

    def located(self, points: npt.ArrayLike) -> Array:
        """Return the distances of public points from the lower end, in [0, length], checked.

        Raises:
            InvalidParameter: if a point is outside the domain.
        """
        x = numbers("x", points)
        low, high = self.start, self.start + float(self.length)
        inside = np.isfinite(x) if self.closed else (x >= low) & (x <= high)
        if not inside.all():
            raise InvalidParameter(
                f"x must be in the domain [{low:g}, {high:g}]; nothing is known outside it"
            )
        return self.offsets(x)

    def grid(self, points: int) -> Array:
        """Return equally spaced places over the whole side; the end of a circle is not repeated.

        Raises:
            InvalidParameter: if the number is below 2 or above 2^26.
        """
        points = whole("points", points, 2, _MOST_POINTS)
        steps = np.arange(points) / (points if self.closed else points - 1)
        ends = self.start, self.start + float(self.length)
        return np.minimum(ends[0] + steps * (ends[1] - ends[0]), ends[1])


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Interval(Side):
    """The interval [lower, upper] of values.

    On the circle of its waves, an empty stretch of the same length follows it, so the tails of
    kernels at one end do not reach the other. That costs time but no noise, because the noise at a
    point does not depend on the length of the circle.

    >>> Interval(-60, 180, outside="clip").length
    Fraction(240, 1)

    Attributes:
        lower: the lower end, exact, in the units of the values.
        upper: the upper end, exact.
        outside: the rule for a value outside. "count" counts separately the values below, above and
            at no place (for a density of one column). "clip" moves the value to the nearer end.
            "drop" ignores it. Under "clip" and "drop", NaN is ignored.
    """

    kind: ClassVar[str] = "interval"

    lower: Fraction
    upper: Fraction
    outside: Outside

    def __init__(self, lower: Real, upper: Real, *, outside: Outside) -> None:
        """Take numbers; a float counts as the decimal that it prints as.

        Raises:
            InvalidParameter: if an end is not finite, the ends are reversed or too close for
                doubles, or `outside` is another word.
        """
        object.__setattr__(self, "lower", exact(lower, "lower"))
        object.__setattr__(self, "upper", exact(upper, "upper"))
        object.__setattr__(self, "outside", outside)
        if self.lower >= self.upper:
            raise InvalidParameter(
                f"lower must be below upper; got {text(self.lower)} and {text(self.upper)}. Write "
                "Interval(lower, upper, ...) with lower < upper"
            )
        _check_doubles(self.length, max(abs(self.lower), abs(self.upper)))
        if type(outside) is not str or outside not in get_args(Outside):
            raise InvalidParameter(
                f"outside must be the rule for values outside; got {got(outside)}. Write "
                '"count" (count them apart), "clip" (move them to the nearer end) or "drop" (leave '
                "them out). No value is refused, because an error would show that it is there"
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
    def middle(self) -> float:
        """The midpoint."""
        return float((self.lower + self.upper) / 2)

    @property
    def half(self) -> float:
        """Half the length."""
        return float(self.length / 2)

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
        if self.outside == "count":
            raise InvalidParameter(
                'outside must be "clip" or "drop" here; got "count", which is for a density of one '
                'column. Write Interval(lower, upper, outside="drop")'
            )
        return Nodes(
            start=self.start,
            end=float(self.upper),
            step=step,
            number=number,
            closed=False,
            dropped=self.outside == "drop",
        )

    @property
    @override
    def inner(self) -> "Interval":
        if self.outside != "count":
            return self
        return Interval(self.lower, self.upper, outside="drop")

    def scaled(self, scale: Scale) -> "ScaledInterval":
        """Return the same interval on a scale, such as `Log()` or `Asinh(unit)`.

        >>> from neyman.functional import Log
        >>> Interval(1, 1000, outside="drop").scaled(Log()).record()["scale"]
        {'kind': 'log'}

        Raises:
            InvalidParameter: if it is not a scale, or the scale does not cover the interval.
        """
        return ScaledInterval(self, scale)

    def whole(self, step: float, number: int) -> WholeNodes:
        """Return the nodes of `places`, and three for values below, above and at none of them."""
        return WholeNodes(
            start=self.start,
            end=float(self.upper),
            step=step,
            number=number + OUTSIDE,
            closed=False,
            dropped=False,
        )

    @override
    def record(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "lower": text(self.lower),
            "upper": text(self.upper),
            "outside": self.outside,
        }


@final
@dataclass(frozen=True, slots=True, repr=False)
class ScaledInterval(Side):
    """An interval whose density is released on a scale, a line u = G(x).

    A kernel of one bandwidth on the line is narrow among small values and wide among large ones, so
    skewed values with long tails are no harder than others. All results are in the units of the
    values; bandwidths are on the line (for `Log()`, 0.1 is about 10 per cent).

    Attributes:
        within: the interval of the values.
        scale: the function G.
    """

    kind: ClassVar[str] = "scaled"

    within: Interval
    scale: Scale

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a field has a wrong class.
        """
        check_type("within", self.within, Interval, 'Interval(lower, upper, outside="count")')
        check_type("scale", self.scale, Scale, "Log() or Asinh(unit)")
        self.scale.check(self.within.lower)
        _ = self.line

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return float(self.within.lower), float(self.within.upper)

    @property
    @override
    def line(self) -> Interval:
        low, high = self.scale.line(np.array(self.ends)).tolist()
        return Interval(low, high, outside=self.within.outside)

    @property
    @override
    def inner(self) -> "ScaledInterval":
        return ScaledInterval(self.within.inner, self.scale)

    @property
    @override
    def start(self) -> float:
        return self.line.start

    @property
    @override
    def length(self) -> Fraction:
        return self.line.length

    @property
    @override
    def period(self) -> float:
        return self.line.period

    @property
    @override
    def largest_bandwidth(self) -> Fraction:
        return self.line.largest_bandwidth

    @property
    @override
    def closed(self) -> bool:
        return False

    @override
    def on_line(self, x: Array) -> Array:
        (low, high), line = self.ends, self.line
        found = self.scale.line(np.clip(x, low, high))
        found = np.clip(found, line.start, float(line.upper))
        return np.where(x < low, -np.inf, np.where(x > high, np.inf, found))

    @override
    def off_line(self, u: Array) -> Array:
        return np.clip(self.scale.value(u), *self.ends)

    @override
    def slope(self, x: Array) -> Array:
        return self.scale.slope(np.clip(x, *self.ends))

    @override
    def offsets(self, points: Array) -> Array:
        return self.line.offsets(self.on_line(points))

    @override
    def located(self, points: npt.ArrayLike) -> Array:
        self.within.located(points)
        return self.offsets(numbers("x", points))

    @override
    def grid(self, points: int) -> Array:
        return self.within.grid(points)

    @override
    def places(self, step: float, number: int) -> Nodes:
        lower, upper = self.ends
        plain = self.line.inner.places(step, number)
        return ScaledNodes(
            start=plain.start,
            end=plain.end,
            step=step,
            number=number,
            closed=False,
            dropped=plain.dropped,
            lower=lower,
            upper=upper,
            scale=self.scale,
        )

    def whole(self, step: float, number: int) -> WholeScaledNodes:
        """Return the nodes of `places`, and three for values below, above and at none of them."""
        lower, upper = self.ends
        return WholeScaledNodes(
            start=self.start,
            end=float(self.line.upper),
            step=step,
            number=number + OUTSIDE,
            closed=False,
            dropped=False,
            lower=lower,
            upper=upper,
            scale=self.scale,
        )

    @override
    def record(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "within": self.within.record(),
            "scale": self.scale.record(),
        }


@final
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Circle(Side):
    """A circle: values that differ by a period are equal, such as hours of the day or angles.

    >>> Circle(24).offsets(np.array([25.0, -1.0]))
    array([ 1., 23.])

    Attributes:
        around: the period, exact, in the units of the values.
    """

    kind: ClassVar[str] = "circle"

    around: Fraction

    def __init__(self, period: Real) -> None:
        """Take a positive number; a float counts as the decimal that it prints as.

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
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "period": text(self.around)}


@final
@dataclass(frozen=True, slots=True, init=False)
class Box(Domain):
    """A box: values with two or three coordinates, such as a map, or hour of the day by delay.

    A row with a coordinate at no place of its side is at no place of the box.

    >>> len(Box(Circle(24), Interval(-60, 180, outside="clip")).sides)
    2

    Attributes:
        each: an `Interval` or a `Circle` for each coordinate.
    """

    kind: ClassVar[str] = "box"

    each: tuple[Side, ...]

    def __init__(self, *sides: Side) -> None:
        """Take two or three sides.

        Raises:
            InvalidParameter: if there are more or fewer sides, or one is not a side.
        """
        if len(sides) not in (2, 3) or not all(isinstance(side, Side) for side in sides):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(
                "a Box must have two or three sides, each Interval(lower, upper, outside=...) or "
                f"Circle(period); got Box{sides!r}"
            )
        for side in sides:
            check_side(side)
        object.__setattr__(self, "each", sides)

    @property
    @override
    def sides(self) -> tuple[Side, ...]:
        return self.each

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "sides": [side.record() for side in self.sides]}


def side_of(record: Mapping[str, object]) -> Side:
    """Return the line or circle that `record` wrote.

    Raises:
        InvalidParameter: if its kind is unknown, or its numbers are not valid.
        KeyError, TypeError, ValueError: if the record is malformed.
    """
    if record["kind"] == Circle.kind:
        return Circle(number(record["period"]))
    if record["kind"] == ScaledInterval.kind:
        parts = cast("Mapping[str, Mapping[str, object]]", record)
        within = side_of(parts["within"])
        check_type("within", within, Interval, "an interval")
        return ScaledInterval(cast("Interval", within), scale_of(parts["scale"]))
    if record["kind"] != Interval.kind:
        raise InvalidParameter(f"a domain of kind {record['kind']!r} is unknown")
    ends = (number(record[name]) for name in ("lower", "upper"))
    return Interval(*ends, outside=cast("Outside", record["outside"]))


def check_side(domain: object) -> None:
    """Check that a domain is a line or a circle without a scale.

    Raises:
        InvalidParameter: if it is not.
    """
    instead = 'Interval(lower, upper, outside="clip") or Circle(period)'
    check_type("domain", domain, Side, instead)
    if isinstance(domain, ScaledInterval):
        raise InvalidParameter(
            "only a density of one column takes a scale. For this question, transform the values "
            f"and write {instead}"
        )


def _check_doubles(length: Fraction, largest: Fraction) -> None:
    """Check that doubles are fine enough for a domain, and do not overflow."""
    if not Fraction(1, 10**100) <= length <= 10**100 or largest > length * 2**20:
        raise InvalidParameter(
            f"a domain of length {float(length):g} with numbers as large as {float(largest):g} is "
            "too short for doubles; write a length in [1e-100, 1e100], not far from zero, shifting "
            "the values first"
        )
