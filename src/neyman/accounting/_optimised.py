"""The Toeplitz strategies with the least error of prefix sums at a given guarantee."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import math
from collections.abc import Callable

import numpy as np

from neyman.accounting._participation import Participation, shifted
from neyman.accounting._series import correlation, inverse_series, product
from neyman.accounting._toeplitz import BufferedStrategy, ToeplitzStrategy, banded_strategy
from neyman.arguments import whole
from neyman.numerics import Array

__all__ = ["buffered_strategy", "optimised_strategy"]

_MOST_STEPS, _MOST_BUFFERS = 2**16, 10
# The number of searches for a buffered strategy, from slow decays to fast ones.
_STARTS = 6
# Coefficients below this share of the first one are set to 0.
_FAINT = 2.0**-90


def optimised_strategy(steps: int, bands: int, participation: Participation) -> ToeplitzStrategy:
    """Return the banded Toeplitz strategy with the least error of prefix sums, found numerically.

        minimise (mean over t of ||row t of A C^-1||^2) * sensitivity(C)^2

    The search is over decreasing coefficients, for which the sensitivity is known.

    Args:
        steps: at most 65536.
        bands: the number of bands of C; the noise needs one row fewer of memory.
        participation: how many times, and how far apart, a record may contribute.

    Guarantee: does not depend on the search. The sensitivity of the result is bounded like that of
        any other strategy. The error is never larger than that of `banded_strategy` with the same
        bands.

    Raises:
        InvalidParameter: if a size is out of range.

    Source: McKenna (2024), "Scaling up the banded matrix factorization mechanism for differentially
        private ML", for banded Toeplitz matrices and this gradient.

    >>> from neyman.accounting import Once
    >>> root, best = banded_strategy(256, 16), optimised_strategy(256, 16, Once())
    >>> for strategy in (root, best):
    ...     print(f"{strategy.error()[1] * float(strategy.sensitivity_squared(Once())) ** 0.5:.4f}")
    3.8581
    3.6376
    """
    start = banded_strategy(whole("steps", steps, 1, _MOST_STEPS), bands).coefficients[:bands]

    def cost(falls: Array) -> tuple[float, Array]:
        first = np.zeros(steps)
        first[:bands] = _sums(falls)
        value, slope = _log_cost(first, participation)
        return value, np.cumsum(slope[:bands])

    falls, _ = _least(cost, start - np.append(start[1:], 0.0), [(0.0, math.inf)] * bands)
    first = np.zeros(steps)
    first[:bands] = _sums(falls)
    first = first / first[0]
    first[first < _FAINT] = 0
    return ToeplitzStrategy(first)


def buffered_strategy(steps: int, buffers: int, participation: Participation) -> BufferedStrategy:
    """Return the buffered strategy with the least error of prefix sums, found numerically.

    Like `optimised_strategy`, over weights and decays. A few buffers come close to the best
    Toeplitz strategy, whose noise needs every row so far.

    Args:
        steps: at most 65536.
        buffers: how many rows of noise are kept, at most 10.
        participation: how many times, and how far apart, a record may contribute.

    Guarantee: does not depend on the search.

    Raises:
        InvalidParameter: if a size is out of range.

    Source: McMahan, Xu and Zhang (2024), section 4.

    >>> from neyman.accounting import Once
    >>> strategy = buffered_strategy(1024, 3, Once())
    >>> f"{strategy.error()[1] * float(strategy.sensitivity_squared(Once())) ** 0.5:.4f}"
    '3.0587'
    """
    whole("buffers", buffers, 1, _MOST_BUFFERS)
    ages = np.arange(whole("steps", steps, 1, _MOST_STEPS) - 1, dtype=np.float64)

    def cost(place: Array) -> tuple[float, Array]:
        weights, rates = _shares(place[:buffers]), np.exp(place[buffers:])
        powers = np.exp(-np.outer(ages, rates))
        value, slope = _log_cost(np.append(1.0, powers @ weights), participation)
        by_weight = slope[1:] @ powers
        by_rate = -(ages * slope[1:]) @ powers * weights * rates
        mean = float(by_weight @ weights)
        return value, np.append(weights * (by_weight - mean), by_rate)

    bounds = [(-40.0, 40.0)] * buffers + [(-40.0, 3.0)] * buffers
    tried = [
        _least(cost, _first_guess(buffers, slowest), bounds)
        for slowest in np.geomspace(2 / (steps + 2), 0.5, _STARTS).tolist()
    ]
    place, _ = min(tried, key=lambda found: found[1])
    weights, decays = _shares(place[:buffers]), np.exp(-np.exp(place[buffers:]))
    return BufferedStrategy(
        length=steps,
        weights=tuple((weights * (1 - 2.0**-40)).tolist()),
        decays=tuple(np.minimum(decays, 1 - 2.0**-50).tolist()),
    )


def _least(
    cost: Callable[[Array], tuple[float, Array]], start: Array, bounds: list[tuple[float, float]]
) -> tuple[Array, float]:
    """Return the end of a search from `start`, and the cost there."""
    from scipy.optimize import minimize

    found = minimize(
        cost,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 1000, "maxcor": 30, "ftol": 1e-13, "gtol": 1e-9},
    )
    return np.asarray(found.x, dtype=np.float64), float(found.fun)


def _first_guess(buffers: int, slowest: float) -> Array:
    """Return parameters of weights whose sums of powers are near those of a square root."""
    rates = np.geomspace(slowest, 1.0, buffers)
    width = math.log(rates[1] / rates[0]) if buffers > 1 else 1.0
    weights = np.sqrt(rates) * width / math.pi
    weights *= min(1.0, 0.7 / float(np.sum(weights)))
    spare = math.log1p(-float(np.sum(weights)))
    return np.append(np.log(weights) - spare, np.log(rates))


def _log_cost(first: Array, participation: Participation) -> tuple[float, Array]:
    """Return log(mean squared error * sensitivity^2) of decreasing coefficients, and its slope."""
    inverse = inverse_series(first)
    sums = np.cumsum(inverse)
    # The square of sums[s] is in the rows from s on.
    rows = 1 - np.arange(first.size) / first.size
    error = float(rows @ (sums * sums))
    by_error = -2 * correlation(rows * sums, product(sums, inverse)) / error
    pattern = participation.earliest(first.size)
    total = shifted(first, pattern)
    square = float(total @ total)
    by_square = np.zeros(first.size)
    for start in pattern:
        by_square[: first.size - start] += total[start:]
    return math.log(error) + math.log(square), by_error + 2 * by_square / square


def _sums(falls: Array) -> Array:
    """Return the sequence that decreases to 0 by these amounts."""
    return np.cumsum(falls[::-1])[::-1]


def _shares(place: Array) -> Array:
    """Return e^x_i / (1 + sum of e^x): positive, with a sum below 1."""
    most = max(float(np.max(place)), 0.0)
    scaled = np.exp(place - most)
    return scaled / (math.exp(-most) + float(np.sum(scaled)))
