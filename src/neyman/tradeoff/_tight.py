"""The Gaussian below a composition, by its exact curve and not by the sum of its parts."""

import math
from collections.abc import Iterable
from fractions import Fraction

from neyman.tradeoff._composed import composed
from neyman.tradeoff._order import least_mu
from neyman.tradeoff._pair import Pair
from neyman.tradeoff._tradeoff import TradeOff

__all__ = ["tight_gaussian"]

# Each different factor takes some ms at each place of the proof.
_MOST_FACTORS = 16


def tight_gaussian(curve: TradeOff) -> Fraction | None:
    """Return a mu^2 with f >= G_mu, at most the sum over the factors; None where there is none.

    What has a largest loss is composed exactly, and the smallest mu of that composition is proved
    from above; the squares of mu of the rest are added. Of more than 16 different factors the sum
    is taken.

    Error: rounded up. Of factors with a largest loss alone, relatively about 1e-10, at most 1e-2;
        with others, by what exact composition across the two would save.

    >>> from neyman.tradeoff import laplace
    >>> f = laplace(0.1) ** 10
    >>> float(tight_gaussian(f)) / float(f.outer_gaussian()) < 0.68
    True
    """
    squares = [_tight(pair) for pair in {curve.remove: None, curve.add: None}]
    known = [square for square in squares if square is not None]
    return max(known) if len(known) == len(squares) else None


def _tight(pair: Pair) -> Fraction | None:
    whole = pair.outer_gaussian()
    if whole is None:
        return None
    bounded = [(part, n) for part, n in pair.factors() if part.outer_pure() is not None]
    if sum(n for _, n in bounded) < 2 or len(bounded) > _MOST_FACTORS:
        return whole
    rest = [(part, n) for part, n in pair.factors() if part.outer_pure() is None]
    mu = least_mu(composed(bounded), 0.0)[1]
    if not math.isfinite(mu):
        return whole
    return min(whole, Fraction(mu) ** 2 + _sum(rest))


def _sum(parts: Iterable[tuple[Pair, int]]) -> Fraction:
    squares = ((part.outer_gaussian(), n) for part, n in parts)
    return sum((n * square for square, n in squares if square is not None), Fraction(0))
