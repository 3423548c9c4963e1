"""The named guarantees of discrete noise."""

from collections.abc import Sequence

from neyman.curves._pairs._discrete import DiscreteGaussianPair, DiscreteLaplacePair, DiscretePair
from neyman.curves._pairs._staircase import StaircasePair
from neyman.curves._tradeoff import TradeOff, both_ways
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text

__all__ = ["discrete", "discrete_gaussian", "discrete_laplace", "staircase"]


def discrete_gaussian(
    sigma: Real | None = None, *, variance: Real | None = None, sensitivity: int = 1
) -> TradeOff:
    """Return the curve of discrete Gaussian noise on a whole number of that sensitivity.

    P[k] proportional to exp(-k^2 / (2 sigma^2)), Q shifted by the sensitivity

    Args:
        sigma: in [0.01, 1000], in units of the grid.
        variance: sigma^2 instead.
        sensitivity: a whole number of at least 1, at most 26 sigma.

    Raises:
        InvalidParameter: if one is outside, or sigma is given both ways or neither.

    Source: Canonne, Kamath and Steinke (2020). It is not 1/sigma-GDP.

    >>> f"{discrete_gaussian(2).epsilon(1e-6):.6f}"
    '2.275793'
    """
    if (sigma is None) == (variance is None):
        raise InvalidParameter(
            "discrete_gaussian takes sigma or variance=sigma^2, one of the two; write "
            "discrete_gaussian(2)"
        )
    if variance is not None:
        square = exact(variance, "variance")
    else:
        scale = exact(sigma, "sigma")
        if scale <= 0:
            raise InvalidParameter(
                f"sigma={text(scale)} is not positive; write a noise scale above 0"
            )
        square = scale**2
    return both_ways(DiscreteGaussianPair(square, sensitivity))


def discrete_laplace(epsilon: Real, *, sensitivity: int = 1) -> TradeOff:
    """Return the curve of discrete Laplace (two-sided geometric) noise.

    P[k] proportional to exp(-epsilon |k|), Q shifted by the sensitivity

    Args:
        epsilon: the loss per unit of the grid, positive.
        sensitivity: a whole number of at least 1; epsilon * sensitivity at most 700.

    Raises:
        InvalidParameter: if either is outside.

    Source: Ghosh, Roughgarden and Sundararajan (2009).

    >>> discrete_laplace(0.1, sensitivity=3).epsilon(0)
    0.3...
    """
    rate = exact(epsilon, "epsilon")
    if rate <= 0:
        raise InvalidParameter(f"epsilon={text(rate)} is not positive; write a number above 0")
    return both_ways(DiscreteLaplacePair(rate, sensitivity))


def discrete(p: Sequence[Real], q: Sequence[Real]) -> TradeOff:
    """Return the curve of two laws on the same outcomes, in both directions.

    Args:
        p: probabilities of the outcomes on one dataset; a float means the decimal it prints
            as, and they add up to exactly 1.
        q: probabilities on its neighbour.

    Raises:
        InvalidParameter: if these are not two laws on as many outcomes.

    >>> f"{discrete([0.5, 0.5, 0], [0.25, 0.5, 0.25]).delta(0):.6f}"
    '0.250000'
    """
    first = DiscretePair(
        tuple(exact(mass, "p") for mass in p), tuple(exact(mass, "q") for mass in q)
    )
    return TradeOff(first, first.swap())


def staircase(
    epsilon: Real, *, period: int, width: int, sensitivity: int | None = None
) -> TradeOff:
    """Return the curve of staircase noise on a whole number of that sensitivity.

    P[k] proportional to e^(-epsilon n), n = 0 for |k| < width, 1 for the next `period` numbers,
    2 for the next, and so on

    Args:
        epsilon: the loss at a step; in [2^-500, 700].
        period: how long a step is; a whole number.
        width: how many numbers, from 0 on, are the likeliest; from 1 to `period`.
        sensitivity: from 1 to `period`; None means `period`.

    Raises:
        InvalidParameter: if one is outside.

    Source: Geng and Viswanath (2016).

    >>> f"{staircase(1, period=10, width=4).delta(0):.6f}"
    '0.434755'
    """
    moved = period if sensitivity is None else sensitivity
    return both_ways(StaircasePair(exact(epsilon, "epsilon"), period, width, moved))
