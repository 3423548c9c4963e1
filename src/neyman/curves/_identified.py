"""Which of several contents a record has: the best attack where any other one is a neighbour."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from neyman.curves._curve import Curve
from neyman.numerics import Array, Interval, exp

__all__ = ["one_of"]

# Both ends are sought in rounds of so many nodes; what any node gives is a bound.
_ROUNDS: Final = 8
_NODES: Final = 16


def one_of(f: Curve, candidates: int) -> Interval:
    """Bracket max_x h(x) = min_(eps >= 0) g(eps).

        h(x) = (1 + (m - 1) (tpr(x) - x)) / m,  x = (1 - a) / (m - 1) in [0, 1 / (m - 1)]
        g(eps) = ((m - 1) delta(eps) + e^eps) / m

    Args:
        f: the guarantee.
        candidates: m.
    """
    m = float(candidates)

    def h(rates: Array) -> Array:
        gain = f.tpr_bracket(rates).decimals() - Interval.decimal(rates)
        return -((1 + (m - 1) * gain) / m).lower

    def g(epsilons: Array) -> Array:
        delta = f.delta_bracket(epsilons).decimals()
        return (((m - 1) * delta + exp(Interval.decimal(epsilons))) / m).upper

    upper = min(_least(g, math.log(m)), 1.0)
    lower = min(-_least(h, math.nextafter(1 / (m - 1), 0)), upper)
    return Interval(np.asarray(lower), np.asarray(upper))


def _least(of: Callable[[Array], Array], high: float) -> float:
    """Return about the least value on [0, high] of a function that falls and then rises."""
    low, least = 0.0, math.inf
    for _ in range(_ROUNDS):
        nodes = np.linspace(low, high, _NODES + 1)
        found = of(nodes)
        best = int(np.argmin(found))
        least = min(least, float(found[best]))
        low, high = float(nodes[max(best - 1, 0)]), float(nodes[min(best + 1, _NODES)])
    return least
