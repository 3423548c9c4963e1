"""A box of two or three sides, each a line or a circle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._bases._side import Domain, Side
from neyman.functional._bases._target import Scales, Target
from neyman.functional._fields._basis import FieldBasis
from neyman.functional._public import each
from neyman.numerics import Real
from neyman.overriding import override

__all__ = ["Box"]


@final
@dataclass(frozen=True, slots=True, init=False)
class Box(Domain):
    """Values of two or three coordinates: a map, hour of the day by delay, a point in space.

    A row that is at no place of one of the sides is at no place of the box.

    >>> from neyman.functional import Circle, Interval
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
            InvalidParameter: if there are more or fewer, or one is no side.
        """
        if len(sides) not in (2, 3) or not all(isinstance(side, Side) for side in sides):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(
                f"Box{sides!r} was given; write two or three sides, each Interval(lower, upper, "
                "outside=...) or Circle(period)"
            )
        object.__setattr__(self, "each", sides)

    @property
    @override
    def sides(self) -> tuple[Side, ...]:
        return self.each

    @override
    def basis(
        self, bandwidth: Real | Sequence[Real], target: Target | None, *, counted: bool
    ) -> FieldBasis:
        found = each("bandwidth", bandwidth, len(self.each))
        if target is not None:
            check_type("target", target, Target, "Density() or Scales()")
        return FieldBasis(self.sides, found, Scales() if target is None else target, counted)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "sides": [side.record() for side in self.sides]}
