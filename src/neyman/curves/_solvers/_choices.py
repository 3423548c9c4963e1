"""Of several guarantees that hold at once, one may be chosen: max(g, h) is at least each.

The best of several is seldom known as a pair of laws, so that its compositions are bounded by those
of a choice: the same place in every factor.
"""

from neyman.curves._algebra._composed import composed
from neyman.curves._algebra._lattice_algebra import BestPair
from neyman.curves._pair import Pair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair, sampled

__all__ = ["chosen"]


def chosen(pair: Pair, i: int) -> Pair:
    """Return a pair that the best is above: the i-th of several in the place of the best."""
    if isinstance(pair, BestPair):
        return pair.parts[i % len(pair.parts)]
    if isinstance(pair, SampledPair):
        return sampled(chosen(pair.base, i), pair.probability)
    if isinstance(pair, SampledSwapPair):
        return chosen(pair.forward, i).swap()
    factors = pair.factors()
    if factors == ((pair, 1),):
        return pair
    return composed((chosen(part, i), n) for part, n in factors)
