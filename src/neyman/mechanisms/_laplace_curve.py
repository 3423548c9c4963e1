"""Selections with the Laplace curve, and the epsilon at which it meets a Gaussian."""

from typing import Self

from neyman.curves import TradeOff, dominated_by, laplace
from neyman.mechanisms._gaussian_below import laplace_epsilon
from neyman.mechanisms._selection import Selection
from neyman.numerics import Real
from neyman.overriding import override

__all__ = ["LaplaceSelection"]


class LaplaceSelection(Selection):
    """A selection that Laplace noise of the same epsilon dominates."""

    __slots__ = ()

    @classmethod
    def calibrate(cls, mu: Real, *, sensitivity: Real, monotone: bool = False) -> Self:
        """Return the mechanism of the largest epsilon that is mu-GDP, to 1e-12, rounded down.

        epsilon = -2 log(2 Phi(-mu/2))

        Raises:
            InvalidParameter: if mu is not positive, or calls for an epsilon outside [2^-40, 700].
        """
        return cls(epsilon=laplace_epsilon(mu), sensitivity=sensitivity, monotone=monotone)

    @property
    @override
    def tradeoff(self) -> TradeOff:
        return dominated_by(laplace(self.epsilon))
