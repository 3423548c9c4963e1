"""Moments of the privacy loss in one direction, for the central limit theorem.

With L = log dQ/dP under P, that is log|f'(U)| at a uniform U:

    kl = -E L,  kappa2 = E L^2,  kappa3 = E |L|^3,  kappa3_bar = E |L + kl|^3
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.accounting._profile_moments import Side, Sides, Weights, first_places, tail_of
from neyman.arguments import check_type
from neyman.curves import Answer, Pair
from neyman.curves._algebra._factors import ProductPair
from neyman.curves._pairs._between import BetweenPair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    exp,
    expm1,
    normal_sf,
    standing,
    tanh,
)
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import PI, log1p_gap

__all__ = ["Functionals", "functionals", "summed"]

_PLACES, _SHARES = (Interval.within(part, 2.0**-52) for part in legendre(32))
_RULE = Interval.within(np.ones(()), 2.0**-60)
_FAR = 200.0
# The integral of the profile may stop here: beyond, e^-t leaves the doubles.
_REACH = 690.0
# Orders - 1 whose divergence bounds a tail; minus the logarithm of the tail that is aimed at.
_RATES, _TAIL = np.geomspace(1e-2, 1e14, 129), 90.0


@final
@dataclass(frozen=True, slots=True)
class Functionals:
    """kl, kappa2, kappa3 and kappa3_bar of a pair, and the variance kappa2 - kl^2.

    Each is an `Answer`: `.value` is the upper end, and it unpacks into its two bounds. An infinite
    moment is infinite on both sides.

    Attributes:
        certified: whether the bounds are proved. If not, they are the two ends of an estimate.

    Source: Dong, Roth and Su (2022), equation 7.
    """

    kl: Answer
    kappa2: Answer
    kappa3: Answer
    kappa3_bar: Answer
    variance: Answer
    certified: bool

    @property
    def finite(self) -> bool:
        """Whether kappa3, and so every moment here, is finite."""
        return math.isfinite(self.kappa3.upper)


def functionals(pair: Pair) -> Functionals:
    """Return the moments of the loss of (P, Q) under P, of one direction of any curve.

    The identity, Gaussians, randomised response and Laplace have closed forms. Every other pair
    uses the profiles of its two directions, bounded by chords (`_profile_moments`). For a
    composition, kl and the variance are the sums over its factors.

    Args:
        pair: `f.remove` or `f.add`; for the guarantee as one curve, `symmetric_hull(f).remove`.

    Returns:
        The moments; infinite if P has mass where Q has none, as for f_{0,delta}.

    Error: the width of the brackets: a few roundings for closed forms, else 1e-7 to 1e-4.

    Raises:
        InvalidParameter: if no tail of the loss is proved to have moments.
        UnsupportedComposition: if the guarantee has no pair of laws.

    >>> from neyman.curves import approx_dp, gdp
    >>> f"{functionals(gdp(1).remove).kappa3_bar.value:.10f}"
    '1.5957691216'
    >>> functionals(approx_dp(0, 1e-9).remove).kl.value
    inf
    """
    check_type("pair", pair, Pair, "one direction of a guarantee, f.remove or f.add")
    closed = _CLOSED.get(type(pair))
    if closed is not None:
        return closed(pair)
    if isinstance(pair, RealLinePair | BetweenPair):
        # It says why there is no loss.
        pair.log_tails(np.zeros(1))
    if _betrayed(pair):
        return _told(Interval(*np.full((2, 5), np.inf)), pair)
    if isinstance(pair, ProductPair):
        parts = pair.parts
        known = [(functionals(part), n) for part, n in parts]
        kl, variance = (
            summed((getattr(found, name), n) for found, n in known) for name in ("kl", "variance")
        )
        return _by_profile(pair, kl, variance)
    return _by_profile(pair, _ANY, _ANY)


def summed(parts: Iterable[tuple[Answer, int]]) -> Interval:
    """Return the sum of answers, each multiplied by its count."""
    total = Interval.exactly(0.0)
    for answer, count in parts:
        total = total + Interval(np.asarray(answer.lower), np.asarray(answer.upper)) * count
    return total


_ANY = Interval(np.asarray(0.0), np.asarray(np.inf))


def _told(found: Interval, pair: Pair) -> Functionals:
    method = pair.method if pair.certified else "estimate"
    answers = [
        Answer(float(high), float(low), float(high), method)
        for low, high in zip(*found, strict=True)
    ]
    return Functionals(*answers, certified=pair.certified)


def _closed(*found: Interval) -> Functionals:
    answers = [
        Answer(float(x.upper), max(float(x.lower), 0.0), float(x.upper), "closed form")
        for x in found
    ]
    return Functionals(*answers, certified=True)


def _betrayed(pair: Pair) -> bool:
    """Return whether P has mass where Q has none: power at no error, in the other direction."""
    return float(pair.swap().tpr_bracket(np.zeros(1)).lower[0]) > 0


# -- closed forms ---------------------------------------------------------------------------------


def _identity(pair: Pair) -> Functionals:  # noqa: ARG001
    return _closed(*5 * (Interval.exactly(0.0),))


def _gaussian(pair: Pair) -> Functionals:
    """L is N(-mu^2/2, mu^2)."""
    mu = Interval(*map(np.asarray, pair.mu_bracket(0.0)))
    square, r = mu.squared(), mu / 2
    density, inside = exp(r.squared() / -2) / (PI * 2).sqrt(), 1 - normal_sf(r) * 2
    third = 2 * density * (r.squared() + 2) + r * (r.squared() + 3) * inside
    cube = square * mu
    central = 2 * (2 / PI).sqrt() * cube
    return _closed(square / 2, square + square.squared() / 4, cube * third, central, square)


def _randomized_response(pair: Pair) -> Functionals:
    """L is +-epsilon, with mean -epsilon t, t = tanh(epsilon/2); 1 - t^2 comes from e^-epsilon."""
    e = _parameter(pair, "epsilon")
    t, small = tanh(e / 2), exp(-e)
    rest = 4 * small / (1 + small).squared()
    square, cube = e.squared(), e.squared() * e
    return _closed(e * t, square, cube, cube * rest * (1 + t.squared()), square * rest)


def _laplace(pair: Pair) -> Functionals:
    """L = x - epsilon: x = 0 with mass 1/2, 2 epsilon with mass e^-epsilon/2, e^(-x/2)/4 between.

    Gauss quadrature on panels that break where |.| has its corner. The error of the rule, and the
    part beyond x = 200, are below 2^-60 of the whole.
    """
    e = _parameter(pair, "epsilon")
    # With y = e^-epsilon - 1, kl is y - log(1 + y), and -y is the shift of the mean.
    fall = expm1(-e)
    kl, rise = e.choose(1, -log1p_gap(fall), e + fall), -fall
    end = min(2 * float(e.upper), _FAR)

    def moment(power: int, center: Interval, other: Interval) -> Interval:
        breaks = [x for x in (float(e.middle), float(rise.middle)) if 0 < x < end]
        edges = np.unique(np.concatenate([np.linspace(0.0, end, 65), breaks]))
        half = Interval.exactly(np.diff(edges)[:, None]) / 2
        x = half * (_PLACES + 1) + edges[:-1, None]
        mass = half * _SHARES * exp(x / -2) / 4
        inner = (mass * _power(x - center, power)).total() * _RULE
        return inner + (_power(center, power) + _power(other, power) * exp(-e)) / 2

    return _closed(
        kl, moment(2, e, e), moment(3, e, e), moment(3, rise, e + kl), moment(2, rise, e + kl)
    )


def _power(x: Interval, power: int) -> Interval:
    """Return |x|^2 or |x|^3."""
    return x.squared() if power == 2 else x.squared() * x.larger(-x).larger(0)


def _parameter(pair: Pair, name: str) -> Interval:
    return Interval.of(Fraction(str(pair.parameters()[name])))


_CLOSED: Mapping[type[Pair], Callable[[Pair], Functionals]] = {
    IdentityPair: _identity,
    GaussianPair: _gaussian,
    RandomizedResponsePair: _randomized_response,
    LaplacePair: _laplace,
}


# -- by the profile -------------------------------------------------------------------------------


def _by_profile(pair: Pair, kl: Interval, variance: Interval) -> Functionals:
    """Return the moments from the profiles of both directions.

    Args:
        pair: a pair in which P has mass only where Q has.
        kl: a bracket of kl from elsewhere.
        variance: likewise.
    """
    advantage = float(pair.delta_bracket(np.zeros(())).upper)
    if advantage == 0:
        return _told(Interval(*np.zeros((2, 5))), pair)
    other, most = pair.swap(), _most(pair)
    stop, rate, log = _left_end(other, most)
    right = Side.first(pair.delta_bracket, first_places(advantage, min(most, _REACH)), rising=False)
    left = Side.first(other.delta_bracket, first_places(advantage, stop), rising=True)

    def beyond(weights: Weights) -> Array:
        height = exp(min(log, 700.0)).upper
        return (Interval.exactly(tail_of(weights, stop, rate)) * height).upper

    sides = Sides(right.within([1.0, 2.0]), left)
    sides, plain = sides.moments(np.zeros(3), _PLAIN[0], _PLAIN[1], beyond(_PLAIN[1]))
    low, high = max(plain.lower[0], float(kl.lower)), min(plain.upper[0], float(kl.upper))
    known = Interval(np.asarray(low), np.asarray(high))
    center = float(known.middle)
    off = known - center
    off = Interval.exactly(off.larger(-off).upper)
    about = _about(center)
    sides = Sides(
        sides.right.within([1 - center, 2 - center]),
        sides.left.within([center - 2, center - 1, center]),
    )
    constants = np.asarray([center**2, center**3])
    _, found = sides.moments(constants, about[0], about[1], beyond(about[1]))
    # E (L + c)^2 is the variance and (c - kl)^2; E |L + c|^3 is convex in c.
    shifted, cube = (Interval(found.lower[k], found.upper[k]) for k in (0, 1))
    least = np.maximum((shifted - off.squared()).lower, np.maximum(variance.lower, 0.0))
    spread = Interval(least, np.maximum(np.minimum(shifted.upper, variance.upper), least))
    slope = (off * 3 * (Interval.exactly(spread.upper) + off.squared())).upper
    square = spread + known.squared()
    lower = low, max(plain.lower[1], square.lower), plain.lower[2], (cube - slope).lower, least
    upper = high, min(plain.upper[1], square.upper), plain.upper[2], (cube + slope).upper
    ends = Interval(np.asarray(lower), np.asarray([*upper, spread.upper]))
    return _told(ends.larger(0), pair)


def _most(pair: Pair) -> float:
    """Return a bound of the absolute loss."""
    pure = pair.outer_pure()
    return math.inf if pure is None else standing(pure)[1]


def _left_end(other: Pair, most: float) -> tuple[float, float, float]:
    """Return where the integral of the other profile may stop, and (rate, log): the bound beyond.

    There delta(t) <= e^(-(order - 1) (t - D_order)) <= e^(log - rate s), s beyond the stop.
    """
    if most <= _REACH:
        return most, 1.0, -math.inf
    square = other.outer_gaussian()
    with np.errstate(all="ignore"):
        if square is None:
            divergence = other.renyi_bracket(1 + _RATES).upper
        else:
            divergence = ((Interval.exactly(_RATES) + 1) * Interval.of(square) / 2).upper
        ends = np.where(np.isfinite(divergence), divergence + _TAIL / _RATES, np.inf)
    best = int(np.argmin(ends))
    stop = float(ends[best])
    if not math.isfinite(stop):
        raise InvalidParameter(
            f"moments need a finite Rényi divergence; none is known for {other}. Write a curve "
            "below it, such as gdp(f.mu())"
        )
    rate = float(_RATES[best])
    return stop, rate, float(((Interval.exactly(divergence[best]) - stop) * rate).upper)


def _rows(*rows: tuple[Array | float, Array | float, Array | float]) -> Callable[[Array], Array]:
    def at(left: Array) -> Array:
        return np.stack([np.stack([np.broadcast_to(c, left.shape) for c in row]) for row in rows])

    return at


# g'' - g' at t and at -t, for g = -l, l^2 and |l|^3.
_PLAIN: tuple[Weights, Weights] = (
    _rows((1.0, 0.0, 0.0), (2.0, -2.0, 0.0), (0.0, 6.0, -3.0)),
    _rows((1.0, 0.0, 0.0), (2.0, 2.0, 0.0), (0.0, 6.0, 3.0)),
)


def _about(c: float) -> tuple[Weights, Weights]:
    """Return the same for (l + c)^2 and |l + c|^3, whose sign changes at t = c on the left."""

    def left(at: Array) -> Array:
        sign = np.where(at >= c, -1.0, 1.0)
        # u = c - t: 6 u - 3 u^2 before, 3 u^2 - 6 u beyond.
        cubic = sign * (6 * c - 3 * c * c), sign * (6 * c - 6), -3 * sign
        return _rows((2 - 2 * c, 2.0, 0.0), cubic)(at)

    return _rows((2 - 2 * c, -2.0, 0.0), (6 * c - 3 * c * c, 6 - 6 * c, -3.0)), left
