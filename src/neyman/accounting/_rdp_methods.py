"""(epsilon, delta) from a whole curve of Rényi divergences, and the moments accountant."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from neyman.accounting._conversions import MIRONOV, Conversion
from neyman.curves import Pair, TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval

__all__ = ["moments_delta", "moments_epsilon", "rdp_delta", "rdp_epsilon"]

Divergence: TypeAlias = TradeOff | Callable[[Array], npt.ArrayLike]
# Logarithms of order - 1 for the search; every order gives a bound.
_LOW, _HIGH, _COUNT, _ROUNDS = -7.0, 16.0, 93, 8
_PARTS = 12


def rdp_delta(
    source: Divergence,
    epsilon: float,
    *,
    by: Conversion,
    orders: npt.ArrayLike | None = None,
) -> float:
    """Return the least delta that a conversion gives over the orders.

    Args:
        source: a trade-off function, or a function from orders to divergences (both directions).
        epsilon: real.
        by: which conversion.
        orders: the only orders to use, at least 1; None searches real orders.

    Guarantee: an upper bound, if the divergences are upper bounds.
    Error: rounded up.

    Raises:
        InvalidParameter: if epsilon is nan, or an order is below 1.

    >>> from neyman.accounting._conversions import CANONNE_KAMATH_STEINKE
    >>> from neyman.curves import gdp
    >>> f"{rdp_delta(gdp(1), 4.7284, by=CANONNE_KAMATH_STEINKE):.1e}"
    '1.0e-05'
    """
    at = _number(epsilon, "epsilon", -np.inf, np.inf)
    return min(_over_orders(_divergences(source), lambda a, r: by.delta(a, r, at), orders), 1.0)


def rdp_epsilon(
    source: Divergence,
    delta: float,
    *,
    by: Conversion,
    orders: npt.ArrayLike | None = None,
) -> float:
    """Return the least epsilon that a conversion gives over the orders.

    Args:
        source: a trade-off function, or a function from orders to divergences (both directions).
        delta: in [0, 1].
        by: which conversion.
        orders: the only orders to use, at least 1; None searches real orders.

    Guarantee: an upper bound, if the divergences are upper bounds.
    Error: rounded up.

    Raises:
        InvalidParameter: if delta is outside [0, 1], or an order is below 1.

    >>> from neyman.accounting._conversions import CANONNE_KAMATH_STEINKE
    >>> from neyman.curves import gdp
    >>> f"{rdp_epsilon(gdp(1), 1e-5, by=CANONNE_KAMATH_STEINKE):.4f}"
    '4.7284'
    """
    at = _number(delta, "delta", 0.0, 1.0)
    return _over_orders(_divergences(source), lambda a, r: by.epsilon(a, r, at), orders)


def moments_delta(steps: Sequence[tuple[TradeOff, int]], epsilon: float) -> float:
    """Return min over lambda of e^(sum K(lambda + 1) - lambda epsilon).

    This is the moments accountant: Chernoff's bound from the cumulant of the composition, over real
    lambda, for each direction separately.

    Args:
        steps: pairs of a trade-off function and how many times it is run.
        epsilon: real.

    Raises:
        InvalidParameter: if the loss of a step can be infinite.

    Error: rounded up.
    Source: Abadi et al. (2016), theorem 2.

    >>> from neyman.curves import gdp
    >>> f"{moments_delta([(gdp(0.1), 100)], 5.2985):.1e}"
    '1.0e-05'
    """
    _refuse_no_moment(steps)
    return max(rdp_delta(side, epsilon, by=MIRONOV) for side in _sides(steps))


def moments_epsilon(steps: Sequence[tuple[TradeOff, int]], delta: float) -> float:
    """Return min over lambda of (sum K(lambda + 1) + log(1/delta)) / lambda.

    Args:
        steps: pairs of a trade-off function and how many times it is run.
        delta: in [0, 1].

    Raises:
        InvalidParameter: if delta is outside [0, 1], or if the loss of a step can be infinite.

    Error: rounded up.
    Source: Abadi et al. (2016), theorem 2.

    >>> from fractions import Fraction
    >>> from neyman.accounting import dp_sgd
    >>> step = dp_sgd(noise_multiplier=1.3, sampling_probability=Fraction(256, 60_000), steps=1)
    >>> f"{moments_epsilon([(step, 3515)], 1e-5):.4f}"
    '1.1911'
    """
    _refuse_no_moment(steps)
    return max(rdp_epsilon(side, delta, by=MIRONOV) for side in _sides(steps))


def _refuse_no_moment(steps: Sequence[tuple[TradeOff, int]]) -> None:
    """Refuse a step whose loss can be infinite.

    A moment bound implies (epsilon, delta)-DP; one (epsilon, delta) implies no moment bound.
    """
    for curve, count in steps:
        surely = float(curve.delta_bracket(np.asarray(np.inf)).lower)
        if count and surely > 0:
            raise InvalidParameter(
                f"moments need a finite loss; the loss of {curve} is infinite with probability "
                f"{surely:.3g}. Write (f ** n).epsilon(delta), which composes it exactly"
            )


def _sides(steps: Sequence[tuple[TradeOff, int]]) -> list[Callable[[Array], Array]]:
    def total(pairs: Sequence[tuple[Pair, int]]) -> Callable[[Array], Array]:
        def divergence(order: Array) -> Array:
            # K(lambda + 1) = lambda D_(lambda + 1), with the same lambda in all terms.
            parts = (pair.renyi_bracket(order) * count for pair, count in pairs if count)
            return sum(parts, start=Interval.exactly(np.zeros_like(order))).upper

        return divergence

    return [
        total([(curve.remove, count) for curve, count in steps]),
        total([(curve.add, count) for curve, count in steps]),
    ]


def _divergences(source: Divergence) -> Callable[[Array], Array]:
    read = source.renyi if isinstance(source, TradeOff) else source
    return lambda order: np.asarray(read(order), dtype=np.float64)


def _number(value: float, name: str, low: float, high: float) -> Array:
    number = float(value)
    if not low <= number <= high:
        raise InvalidParameter(f"{name} must be in [{low:g}, {high:g}]; got {value!r}")
    return np.asarray(number)


def _over_orders(
    divergence: Callable[[Array], Array],
    bound: Callable[[Array, Array], Array],
    orders: npt.ArrayLike | None,
) -> float:
    """Return the least bound over the given orders, or over real orders by zooming in."""

    def values(points: Array) -> Array:
        # Orders far beyond the last useful one overflow on the way to an infinite divergence.
        with np.errstate(all="ignore"):
            known = divergence(points)
            usable = np.isfinite(known) & (known >= 0)
            found = bound(points, np.where(usable, known, 1.0))
        return np.where(usable & ~np.isnan(found), found, np.inf)

    if orders is not None:
        return float(np.min(values(_listed(orders))))
    best = float(values(np.ones(1))[0])
    grid: Array = np.asarray(np.linspace(_LOW, _HIGH, _COUNT), dtype=np.float64)
    for k in range(_ROUNDS):
        found = np.full(grid.shape, np.inf)
        for part in np.array_split(np.arange(grid.size), 2 if k else _PARTS):
            found[part] = values(1 + np.exp(grid[part]))
            # Divergences increase with the order: above an infinite one, all are infinite.
            if np.isinf(found[part[-1]]):
                break
        at, best = int(np.argmin(found)), min(best, float(np.min(found)))
        ends = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, len(grid) - 1)])
        grid = np.asarray(np.linspace(*ends, 17), dtype=np.float64)
    return best


def _listed(orders: npt.ArrayLike) -> Array:
    points = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if points.size == 0 or not np.all(points >= 1):
        raise InvalidParameter(f"orders must be one or more numbers of at least 1; got {orders!r}")
    return points
