"""Which curves are proved to be above a pair's: the order of guarantees."""

import math
from fractions import Fraction

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._order import proved_below
from neyman.curves._pair import Pair
from neyman.curves._pairs._between import BetweenPair
from neyman.curves._pairs._bounded import ShiftedPair
from neyman.curves._pairs._erased import ErasedPair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._statements._real_line import RealLinePair
from neyman.numerics import exact, standing

__all__ = ["proved_above", "sampled_above"]


def proved_above(curve: Curve, pair: Pair) -> bool:
    """Whether `curve` is proved to be at least a pair's trade-off function, everywhere."""
    match pair:
        case BetweenPair():
            return proved_above(curve, pair.attained)
        case RealLinePair():
            return pair.admits(curve)
        case ErasedPair():
            return pair.certified and _above_erased(curve, pair)
        case GaussianPair():
            square = curve.outer_gaussian()
            return square is not None and square <= pair.mu_squared
        case IdentityPair() | RandomizedResponsePair():
            return _bounded(curve, pair.bound)
        case ShiftedPair():
            return _bounded(curve, pair.bound) and proved_below(curve, pair, 0.0, pair.slope)
        case _:
            return False


def sampled_above(pair: Pair, other: Pair) -> bool:
    """Whether both are sampled, seen from the same side, and the first no worse by its formula.

    f(alpha) = q f0(alpha) + (1 - q) (1 - alpha) grows with f0 and falls with q, for f0(alpha) is at
    most 1 - alpha; the other direction is the inverse of f, which keeps the order.
    """
    match pair, other:
        case SampledPair(), SampledPair():
            bases = pair.base, other.base
        case SampledSwapPair(), SampledSwapPair():
            bases = pair.base, other.base
        case _:
            return False
    return pair.probability <= other.probability and (
        bases[0] == bases[1] or (bases[0].certified and proved_above(*bases))
    )


def _bounded(curve: Curve, bound: Fraction) -> bool:
    largest = curve.outer_pure()
    return largest is not None and largest <= bound


def _above_erased(curve: Curve, pair: ErasedPair) -> bool:
    point, mass, square = pair.point(), pair.decimals[0], pair.core.inner_gaussian()
    if point is not None:
        at = np.asarray(standing(point)[0])
        return curve.symmetric and float(curve.delta_bracket(at).upper) <= mass
    if square > 0:
        fitted = curve.mu_bracket(mass)[1]
        # A double may stand for its decimal, which can be the larger of the two.
        if not math.isfinite(fitted):
            return False
        return max(exact(fitted, "mu"), Fraction(fitted)) ** 2 <= square
    return proved_below(curve, pair, mass, pair.slope)
