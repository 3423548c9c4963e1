"""Scales of an interval: lines on which its values are spread differently, and nodes on them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.functional._arguments import number
from neyman.nodes import Nodes
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = ["Asinh", "Log", "Scale", "ScaledNodes", "WholeScaledNodes", "scale_of"]


class Scale(ABC):
    """An increasing, smooth function G from the values of an interval to a line."""

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """G(x) as text."""

    @abstractmethod
    def line(self, x: Array) -> Array:
        """Return G(x)."""

    @abstractmethod
    def value(self, u: Array) -> Array:
        """Return the x with G(x) = u, up to rounding."""

    @abstractmethod
    def slope(self, x: Array) -> Array:
        """Return G'(x)."""

    @abstractmethod
    def check(self, lower: Fraction) -> None:
        """Check that the scale covers an interval.

        Raises:
            InvalidParameter: if its lower end is not on the scale.
        """

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        return {"kind": self.kind}


@final
@dataclass(frozen=True, slots=True)
class Log(Scale):
    """The scale G(x) = log x of positive values, such as incomes, sizes and times."""

    kind: ClassVar[str] = "log"

    @property
    @override
    def words(self) -> str:
        return "log x"

    @override
    def line(self, x: Array) -> Array:
        return np.log(x)

    @override
    def value(self, u: Array) -> Array:
        return np.exp(u)

    @override
    def slope(self, x: Array) -> Array:
        return 1 / x

    @override
    def check(self, lower: Fraction) -> None:
        if lower <= 0:
            raise InvalidParameter(
                f"lower must be positive on Log(); got {text(lower)}. Write a positive lower end, "
                "or Asinh(unit), which has 0 and negative values"
            )


@final
@dataclass(frozen=True, slots=True, init=False)
class Asinh(Scale):
    """The scale G(x) = asinh(x / unit): linear near 0, logarithmic beyond the unit.

    Attributes:
        unit: the value where one becomes the other, in the units of the values; public.
    """

    kind: ClassVar[str] = "asinh"

    unit: Fraction

    def __init__(self, unit: Real) -> None:
        """Take a positive number.

        Raises:
            InvalidParameter: if it is not positive and finite.
        """
        object.__setattr__(self, "unit", exact(unit, "unit"))
        if self.unit <= 0:
            raise InvalidParameter(f"unit must be positive; got {text(self.unit)}. Write Asinh(1)")

    @property
    @override
    def words(self) -> str:
        return f"asinh(x / {text(self.unit)})"

    @override
    def line(self, x: Array) -> Array:
        return np.arcsinh(x / float(self.unit))

    @override
    def value(self, u: Array) -> Array:
        return np.sinh(u) * float(self.unit)

    @override
    def slope(self, x: Array) -> Array:
        return 1 / np.hypot(x, float(self.unit))

    @override
    def check(self, lower: Fraction) -> None:
        """Accept every interval."""

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "unit": text(self.unit)}


def scale_of(record: Mapping[str, object]) -> Scale:
    """Return the scale that `record` wrote.

    Raises:
        InvalidParameter: if its kind is unknown.
        KeyError, TypeError, ValueError: if the record is malformed.
    """
    if record["kind"] == Log.kind:
        return Log()
    if record["kind"] != Asinh.kind:
        raise InvalidParameter(f"a scale of kind {record['kind']!r} is unknown")
    return Asinh(number(record["unit"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledNodes(Nodes):
    """Nodes that are equally spaced on a scale; comparisons with public values locate a value.

    The midpoints between nodes are transformed to values once, and each private value is compared
    with them. So no private value is transformed or rounded, and their order is kept.

    Attributes:
        lower: the smallest value inside.
        upper: the largest value inside.
        scale: the function G; start, end and step are on its line.
    """

    lower: float
    upper: float
    scale: Scale

    @property
    @override
    def range(self) -> tuple[float, float]:
        return (self.lower, self.upper) if self.dropped else (-math.inf, math.inf)

    @override
    def index(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        found = np.asarray(np.searchsorted(_edges(self), values, side="right"), np.int64)
        below, above = values < self.lower, values > self.upper
        if self.counted:
            found[below], found[above] = self.inside, self.inside + 1
        elif self.dropped:
            found[below | above] = self.number
        found[np.isnan(values)] = self.number - self.counted
        return found

    @override
    def spread(self, mean: float, stddev: float) -> tuple[float, float]:
        kept = np.clip(np.array([mean]), self.lower, self.upper)
        return float(self.scale.line(kept)[0]), stddev * float(self.scale.slope(kept)[0])

    @override
    def record(self) -> dict[str, object]:
        return {**Nodes.record(self), "scale": self.scale.record(), "counted": self.counted}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WholeScaledNodes(ScaledNodes):
    """The same nodes, and three more: for values below, above, and all others."""

    counted: ClassVar[bool] = True


@lru_cache(maxsize=4)
def _edges(nodes: ScaledNodes) -> Array:
    """Return the smallest value of each node except the first."""
    between = nodes.start + (np.arange(1, nodes.inside, dtype=np.float64) - 0.5) * nodes.step
    values = np.clip(nodes.scale.value(between), nodes.lower, nodes.upper)
    return np.maximum.accumulate(values)
