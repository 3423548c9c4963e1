"""The Rényi divergence of two given laws, of every order."""

from collections.abc import Sequence

import numpy.typing as npt

from neyman.curves._curve import View
from neyman.curves._pairs._discrete import DiscretePair
from neyman.numerics import Real, exact

__all__ = ["renyi_divergence"]


def renyi_divergence(
    p: Sequence[Real], q: Sequence[Real], order: npt.ArrayLike, *, bracket: bool = False
) -> View:
    """Return D_order(P || Q) of two laws on the same outcomes, one way, rounded up.

        D_a(P || Q) = log Σ p^a q^(1-a) / (a - 1)

    with its limits: -log Q{p > 0} at 0, the Kullback-Leibler divergence at 1, and the P-essential
    supremum of log p/q at infinity: +inf, as from order 1 on, where P has mass and Q has none.

    Args:
        p: probabilities that add up to exactly 1; a float means the decimal it prints as.
        q: the law that is divided by.
        order: at least 0, any shape.
        bracket: return an `Answer` with `.lower` and `.upper`.

    Returns:
        One direction. `discrete(p, q).renyi(order)` is the larger of both.

    Raises:
        InvalidParameter: if these are not two laws on as many outcomes, or an order is negative.

    Source: Rényi (1961); van Erven and Harremoës (2014), theorems 4 to 6, for the limits.

    >>> import math
    >>> half, quarter = [0.5, 0.5, 0], [0.25, 0.5, 0.25]
    >>> renyi_divergence(half, quarter, [0, 1, math.inf]).round(6)
    array([0.287682, 0.346574, 0.693147])
    >>> renyi_divergence(quarter, half, [0.5, 1, math.inf]).round(6)
    array([0.316694,      inf,      inf])
    """
    # A pair's divergence is that of its second law from its first.
    pair = DiscretePair(
        tuple(exact(mass, "q") for mass in q), tuple(exact(mass, "p") for mass in p)
    )
    return pair.renyi(order, bracket=bracket)
