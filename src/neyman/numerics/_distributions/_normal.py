"""Normal tails and the Gaussian privacy profile, in logarithms.

With R(x) = (1 - Phi(x)) / phi(x) the Mills ratio, psi(x) = 1 - x R(x), a = eps/mu - mu/2 and
b = a + mu,

    delta(eps) = Phi(-a) - e^eps Phi(-b) = phi(a) (R(a) - R(b)) = phi(a) ∫_a^b psi(x) dx

and the last form loses no digits when mu is small. psi is completely monotone, so that Gauss's rule
bounds the integral from below and Lobatto's from above (docs/theory/rounding.md, section 4).
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.numerics._interval import Array, Interval
from neyman.numerics._legendre import legendre, lobatto
from neyman.numerics._primitives import (
    erf_inverse,
    exp,
    expm1,
    log,
    mills,
    normal_quantile,
    normal_sf,
    phi,
    psi,
)
from neyman.numerics._special import erfinv, ndtri

__all__ = [
    "gaussian_delta",
    "gaussian_log_delta",
    "normal_quantile_gap",
    "normal_tail",
    "quantile_gap",
]

Mask: TypeAlias = npt.NDArray[np.bool_]
Sides: TypeAlias = npt.NDArray[np.int64]
Parts: TypeAlias = Callable[[Array, Array, Sides], tuple[Interval, Interval]]

# phi(0) = 1 / sqrt(2 pi).
_DENSITY = Interval.within(np.asarray(1 / math.sqrt(2 * math.pi)), 2.0**-51)
# Nodes of Gauss's rule; Lobatto's has one more. They differ by at most 1e-15 where they are used.
_NODES = 6
# mu up to which it is, and where a is beyond `_FAR`, and the share of a.
_NARROW, _NARROW_FAR, _FAR, _SHARE = 0.5, 1.0, 4.0, 0.125
# Gauss's rule, whose last weight is 0, and Lobatto's: a row each, on [0, 1].
_RULES = legendre(_NODES), lobatto(_NODES + 1)
_ROWS = np.stack([np.append(_RULES[0][0], 1.0), _RULES[1][0]])
_LOW, _HIGH = Interval.within((_ROWS + 1) / 2, 0.0, 2.0**-52).clip(0.0, 1.0)
_WEIGHTS = np.stack([np.append(_RULES[0][1], 0.0), _RULES[1][1]]) / 2
# The same, widened by the rounding of a sum of products of positive numbers.
_SUM_DENSITY = _DENSITY * Interval.within(np.ones(()), (_NODES + 5) * 2.0**-53)


def normal_tail(z: Array, shift: Array | float) -> Interval:
    """Return a bracket of Phi(z + shift), where z = Phi^-1(p) came from `ndtri`."""
    place = Interval.within(z, 2.0**-50, 2.0**-50) + Interval.exactly(shift)
    return phi(place)


def normal_quantile_gap(advantage: float, complement: float) -> float:
    """Return mu with 2 Phi(mu/2) - 1 = advantage; relative error within 2^-49.

    Args:
        advantage: in [0, 1).
        complement: 1 - advantage, given apart so that neither loses digits.
    """
    if advantage < 0.5:
        return 2 * math.sqrt(2) * float(erfinv(np.asarray(advantage)))
    return -2 * float(ndtri(np.asarray(complement / 2)))


def quantile_gap(advantage: Interval, complement: Interval) -> Interval:
    """Return mu with 2 Phi(mu/2) - 1 = advantage.

    Args:
        advantage: in [0, 1).
        complement: 1 - advantage, given apart so that neither loses digits.
    """
    near = erf_inverse(advantage) * Interval.of(8).sqrt()
    return advantage.choose(0.5, near, normal_quantile(complement / 2) * -2)


def gaussian_delta(epsilon: Array | Interval, mu: Array | Interval) -> Interval:
    """Return a bracket of delta(epsilon) of the pair N(0, 1), N(mu, 1).

    Args:
        epsilon: real, any shape; infinities allowed. Doubles mean the decimals that they print as.
        mu: positive, broadcast against `epsilon`.
    """
    e, m = _decimals(epsilon), _decimals(mu)
    delta = _at_least_zero(e.larger(0), m, _product, 0.0)
    if np.all(e.lower >= 0):
        return delta.clip(0.0, 1.0)
    return e.choose(0, _turned(e.smaller(0), m), delta).clip(0.0, 1.0)


def gaussian_log_delta(epsilon: Array | Interval, mu: Array | Interval) -> Interval:
    """Return a bracket of log delta(epsilon), beyond the doubles too; as `gaussian_delta`."""
    e, m = _decimals(epsilon), _decimals(mu)
    log_delta = _at_least_zero(e.larger(0), m, _sum, -math.inf)
    if np.all(e.lower >= 0):
        return log_delta.smaller(0)
    return e.choose(0, log(_turned(e.smaller(0), m)), log_delta).smaller(0)


def _decimals(x: Array | Interval) -> Interval:
    return x if isinstance(x, Interval) else Interval.decimal(x)


def _turned(epsilon: Interval, mu: Interval) -> Interval:
    """Return delta at -x <= 0: 1 - e^-x + e^-x delta(x), for a symmetric pair."""
    return exp(epsilon) * _at_least_zero(-epsilon, mu, _product, 0.0) - expm1(epsilon)


def _product(exponent: Interval, factor: Interval) -> Interval:
    return exp(exponent) * factor


def _sum(exponent: Interval, factor: Interval) -> Interval:
    return exponent + log(factor)


def _at_least_zero(
    epsilon: Interval,
    mu: Interval,
    joined: Callable[[Interval, Interval], Interval],
    at_infinity: float,
) -> Interval:
    """Return delta or its logarithm at epsilon >= 0: it falls with epsilon and rises with mu.

    Both bounds in one pass: in the first row the lower ones, of the most epsilon and the least mu.
    """
    e = np.stack(np.broadcast_arrays(epsilon.upper, epsilon.lower, mu.lower)[:2])
    m = np.stack(np.broadcast_arrays(mu.lower, mu.upper, epsilon.lower)[:2])
    a = Interval.exactly(e) / m - m / 2
    place = np.stack([a.upper[0], a.lower[1]])
    side = np.zeros(place.shape, dtype=np.int64)
    side[1] = 1
    found = np.empty(place.shape)
    for there, parts in _regions(place, m):
        if there.any():
            ends = joined(*parts(place[there], m[there], side[there]))
            found[there] = np.where(side[there], ends.upper, ends.lower)
    found[e == np.inf] = at_infinity
    return Interval(found[0], found[1])


# -- delta = e^exponent times a factor, at exact a and mu ----------------------------------------


def _regions(a: Array, mu: Array) -> tuple[tuple[Mask, Parts], ...]:
    narrow = (mu <= np.where(a < _FAR, _NARROW, _NARROW_FAR)) | (mu < _SHARE * a)
    left = ~narrow & (a < 0)
    return (narrow, _integral), (~narrow & ~left, _difference), (left, _tails)


def _exponent(a: Array) -> Interval:
    return Interval.exactly(a).squared() / -2


def _integral(a: Array, mu: Array, side: Sides) -> tuple[Interval, Interval]:
    places = Interval.exactly(mu[:, None]) * Interval(_LOW[side], _HIGH[side]) + a[:, None]
    values = psi(np.where(side[:, None], places.lower, places.upper))
    low, high = (np.einsum("ij,ij->i", end, _WEIGHTS[side]) for end in values)
    # A product that is no double any more is not nothing.
    total = Interval(np.maximum(low - 1e-322, 0.0), high + 1e-322)
    return _exponent(a), total * mu * _SUM_DENSITY


def _difference(a: Array, mu: Array, side: Sides) -> tuple[Interval, Interval]:  # noqa: ARG001
    return _exponent(a), (mills(a) - mills(Interval.exactly(a) + mu)) * _DENSITY


def _tails(a: Array, mu: Array, side: Sides) -> tuple[Interval, Interval]:  # noqa: ARG001
    right = exp(_exponent(a)) * mills(Interval.exactly(a) + mu) * _DENSITY
    return Interval.exactly(np.zeros(a.shape)), normal_sf(a) - right
