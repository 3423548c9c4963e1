"""Selections with the Laplace curve."""

from typing import Self

from neyman.curves import TradeOff, dominated_by, laplace
from neyman.mechanisms._gaussian_below import laplace_epsilon
from neyman.mechanisms._selection import Selection
from neyman.numerics import Real
from neyman.overriding import override

__all__ = ["LaplaceSelection"]


class LaplaceSelection(Selection):
    """A selection that is dominated by Laplace noise with the same epsilon."""

    __slots__ = ()

    @classmethod
    def calibrate(cls, mu: Real, *, sensitivity: Real, monotone: bool = False) -> Self:
        """Return the mechanism with the largest epsilon that is mu-GDP.

            epsilon = -2 log(2 Phi(-mu/2))

        Args:
            mu: of one selection; positive.
            sensitivity: the most that one unit moves a score.
            monotone: whether neighbouring data move all scores in one direction.

        Raises:
            InvalidParameter: if mu is not positive, or needs an epsilon outside [2^-40, 700].

        Error: epsilon is rounded down, by at most 1e-12 relatively.
        """
        return cls(epsilon=laplace_epsilon(mu), sensitivity=sensitivity, monotone=monotone)

    @property
    @override
    def tradeoff(self) -> TradeOff:
        return dominated_by(laplace(self.epsilon))
