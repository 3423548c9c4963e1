"""Losses of bounded slope, which bounds the influence of one record on a fitted function."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, exact_size, text
from neyman.overriding import override

__all__ = ["Hinge", "Huber", "Logistic", "Loss"]


class Loss(ABC):
    """A convex loss l(y, f) with |dl/df| <= `lipschitz` for all y.

    There is no squared loss. Its slope has no bound, so a function fitted with it has no
    sensitivity that holds for all data. `Huber(threshold)` is squared up to a threshold.
    """

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def lipschitz(self) -> Fraction:
        """L, the largest slope."""

    @property
    @abstractmethod
    def curvature(self) -> Fraction | None:
        """The largest second derivative; None if the slope jumps."""

    @abstractmethod
    def slope(self, y: Array, f: Array) -> Array:
        """Return dl/df, elementwise, with an error of at most 2^-48 L."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""


@final
@dataclass(frozen=True, slots=True, init=False)
class Hinge(Loss):
    """max(0, 1 - y f) for the sign y = -1 or +1, with a parabola of width s at the corner.

    With z = y f it is 0 for z >= 1, (1 - z)^2 / (2 s) from 1 - s to 1, and 1 - z - s/2 below. So it
    is below the hinge by at most s/2. With s = 0 it is the hinge.

    Attributes:
        smoothing: s, exact.
    """

    kind: ClassVar[str] = "hinge"

    smoothing: Fraction

    def __init__(self, smoothing: Real) -> None:
        """Take s, which is 0 or in [2^-10, 1].

        Raises:
            InvalidParameter: if it is another number.
        """
        object.__setattr__(self, "smoothing", exact_size(smoothing, "smoothing"))
        if self.smoothing and not Fraction(1, 1024) <= self.smoothing <= 1:
            raise InvalidParameter(
                f"smoothing must be 0, or from 0.001 to 1; got {text(self.smoothing)}"
            )

    @property
    @override
    def lipschitz(self) -> Fraction:
        return Fraction(1)

    @property
    @override
    def curvature(self) -> Fraction | None:
        return 1 / self.smoothing if self.smoothing else None

    @override
    def slope(self, y: Array, f: Array) -> Array:
        sign = np.where(y > 0, 1.0, -1.0)
        gap = 1.0 - sign * f
        if not self.smoothing:
            return np.where(gap > 0, -sign, 0.0)
        return -sign * np.clip(gap / float(self.smoothing), 0.0, 1.0)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "smoothing": text(self.smoothing)}


@final
@dataclass(frozen=True, slots=True)
class Logistic(Loss):
    """The logistic loss log(1 + exp(-y f)), with y = +1 if the value is positive, and else -1.

    So the classes may be given as -1 and +1, or as 0 and 1.
    """

    kind: ClassVar[str] = "logistic"

    @property
    @override
    def lipschitz(self) -> Fraction:
        return Fraction(1)

    @property
    @override
    def curvature(self) -> Fraction | None:
        return Fraction(1, 4)

    @override
    def slope(self, y: Array, f: Array) -> Array:
        sign = np.where(y > 0, 1.0, -1.0)
        return -sign / (1.0 + np.exp(np.clip(sign * f, -700.0, 700.0)))

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind}


@final
@dataclass(frozen=True, slots=True, init=False)
class Huber(Loss):
    """(f - y)^2 / 2 if |f - y| <= t, else t |f - y| - t^2/2.

    Attributes:
        threshold: t, in the units of y, exact.
    """

    kind: ClassVar[str] = "huber"

    threshold: Fraction

    def __init__(self, threshold: Real) -> None:
        """Take t.

        Raises:
            InvalidParameter: if it is not in [1e-12, 1e12].
        """
        object.__setattr__(self, "threshold", exact(threshold, "threshold"))
        if not Fraction(1, 10**12) <= self.threshold <= 10**12:
            raise InvalidParameter(
                f"threshold must be from 1e-12 to 1e12; got {text(self.threshold)}. The squared "
                "loss, which has no threshold, has no bounded sensitivity"
            )

    @property
    @override
    def lipschitz(self) -> Fraction:
        return self.threshold

    @property
    @override
    def curvature(self) -> Fraction | None:
        return Fraction(1)

    @override
    def slope(self, y: Array, f: Array) -> Array:
        t = float(self.threshold)
        return np.clip(f - y, -t, t)

    @override
    def record(self) -> dict[str, object]:
        return {"kind": self.kind, "threshold": text(self.threshold)}
