"""Losses of bounded slope: what one record can pull at a fitted function."""

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
    """A convex loss l(y, f) with |dl/df| <= `lipschitz`, whatever y.

    There is no squared loss: its slope has no bound, and so no function fitted with it has a
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
        """The largest second derivative, or None where the slope jumps."""

    @abstractmethod
    def slope(self, y: Array, f: Array) -> Array:
        """Return dl/df, elementwise, within 2^-48 L."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""


@final
@dataclass(frozen=True, slots=True, init=False)
class Hinge(Loss):
    """max(0, 1 - y f), y read as -1 or +1, its corner replaced by a parabola of width s.

    With z = y f: 0 from z = 1 on, (1 - z)^2 / (2 s) from 1 - s to 1, and 1 - z - s/2 below: between
    the hinge less s/2 and the hinge. With s = 0 it is the hinge.

    Attributes:
        smoothing: s, exact.
    """

    kind: ClassVar[str] = "hinge"

    smoothing: Fraction

    def __init__(self, smoothing: Real) -> None:
        """Take s in 0 or [2^-10, 1].

        Raises:
            InvalidParameter: if it is another.
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
    """log(1 + exp(-y f)), y read as -1 or +1."""

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
    """(f - y)^2 / 2 where |f - y| <= t, t |f - y| - t^2/2 beyond.

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
