"""Where values lie, declared without looking at them: the abstractions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._target import Target
from neyman.functional._public import numbers
from neyman.nodes import Nodes
from neyman.numerics import Array, Real
from neyman.overriding import override

__all__ = ["Domain", "Side", "check_domain"]

_MOST_POINTS: Final = 1 << 26


class Domain(ABC):
    """Where values lie: on a line, on a circle, in a box of such sides.

    Every double is either at a place of the domain or at none: no value raises an error.
    """

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sides(self) -> "tuple[Side, ...]":
        """One for each coordinate of a record."""

    @abstractmethod
    def basis(
        self, bandwidth: Real | Sequence[Real], target: Target | None, *, counted: bool
    ) -> AbstractBasis:
        """Return what a density on this domain is expanded in.

        Args:
            bandwidth: one number, or one for each side of a box.
            target: what errors weigh; None for the domain's default.
            counted: whether the number of records is private and released.

        Raises:
            InvalidParameter: if the domain cannot carry it.
        """

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in self.record().items() if k != "kind")
        return f"{type(self).__name__}({fields})"


class Side(Domain):
    """A line or a circle, and the circle that it is bent to."""

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
        """The length of the circle that the domain lies on."""

    @property
    @abstractmethod
    def largest_bandwidth(self) -> Fraction:
        """The bandwidth beyond which a kernel would meet its own tail."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether the upper end is the lower end."""

    @abstractmethod
    def offsets(self, points: Array) -> Array:
        """Return distances of points of the domain from the lower end, in [0, length]."""

    @abstractmethod
    def places(self, step: float, number: int) -> Nodes:
        """Return the first `number` nodes at this step, and the rule for what is outside."""

    def located(self, points: npt.ArrayLike) -> Array:
        """Return distances of public points from the lower end, in [0, length].

        Raises:
            InvalidParameter: if a point is outside the domain.
        """
        x = numbers("x", points)
        low, high = self.start, self.start + float(self.length)
        inside = np.isfinite(x) if self.closed else (x >= low) & (x <= high)
        if not inside.all():
            raise InvalidParameter(
                f"x outside [{low:g}, {high:g}] was asked for, where nothing is known; "
                "write points of the domain"
            )
        return self.offsets(x)

    def grid(self, points: int) -> Array:
        """Return equally spaced places over all of it; a circle's end is not repeated.

        Raises:
            InvalidParameter: if fewer than two are asked for, or more than 2^26.
        """
        points = whole("points", points, 2, _MOST_POINTS)
        steps = np.arange(points) / (points if self.closed else points - 1)
        ends = self.start, self.start + float(self.length)
        return np.minimum(ends[0] + steps * (ends[1] - ends[0]), ends[1])


def check_domain(domain: object) -> None:
    """Refuse what is no line or circle.

    Raises:
        InvalidParameter: if it is something else.
    """
    instead = 'Interval(lower, upper, outside="clip") or Circle(period)'
    check_type("domain", domain, Side, instead)
