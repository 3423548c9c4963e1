"""The named guarantees."""

from fractions import Fraction

from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text
from neyman.tradeoff._erased import erased
from neyman.tradeoff._gaussian import GaussianPair
from neyman.tradeoff._identity import IdentityPair
from neyman.tradeoff._laplace import LaplacePair
from neyman.tradeoff._pair import Pair
from neyman.tradeoff._randomized_response import RandomizedResponsePair
from neyman.tradeoff._tradeoff import TradeOff

__all__ = ["approx_dp", "gdp", "identity", "laplace", "pure_dp"]


def identity() -> TradeOff:
    """Return Id(alpha) = 1 - alpha: perfect indistinguishability.

    >>> identity().delta(0)
    0.0
    """
    return _both_ways(IdentityPair())


def gdp(mu: Real | None = None, *, squared: Real | None = None) -> TradeOff:
    """Return mu-GDP: no easier to attack than telling N(0, 1) from N(mu, 1).

    G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu)

    Args:
        mu: 0, or in [2^-500, 2^500]; a float stands for the decimal it prints as.
        squared: mu^2 instead; 0, or in [2^-1000, 2^1000].

    Raises:
        InvalidParameter: if mu is negative, not finite, out of range, given both ways or neither.

    Source: Dong, Roth and Su (2022), definition 2.6.

    >>> f"{gdp(1).delta(1):.6f}"
    '0.126937'
    """
    if (mu is None) == (squared is None):
        raise InvalidParameter("gdp takes mu or squared=mu^2, one of the two; write gdp(1)")
    if squared is not None:
        square = _at_least_zero(squared, "squared")
    else:
        square = _at_least_zero(mu, "mu") ** 2
    return _both_ways(GaussianPair(square)) if square else identity()


def laplace(epsilon: Real) -> TradeOff:
    """Return the curve of Laplace noise: telling Lap(0, 1) from Lap(epsilon, 1).

    Args:
        epsilon: sensitivity over scale; 0, or in [2^-500, 700].

    Raises:
        InvalidParameter: if epsilon is outside.

    Source: Dong, Roth and Su (2022), proposition 2.15.

    >>> f"{laplace(1).delta(0.5):.6f}"
    '0.221199'
    """
    value = _at_least_zero(epsilon, "epsilon")
    return _both_ways(LaplacePair(value)) if value else identity()


def pure_dp(epsilon: Real) -> TradeOff:
    """Return epsilon-DP, f_{epsilon,0}.

    Args:
        epsilon: 0, or in [2^-500, 700].

    Raises:
        InvalidParameter: if epsilon is outside.

    >>> pure_dp(1).delta(1)
    0.0
    """
    return approx_dp(epsilon, 0)


def approx_dp(epsilon: Real, delta: Real) -> TradeOff:
    """Return (epsilon, delta)-DP.

    f(alpha) = max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))

    Args:
        epsilon: 0, or in [2^-500, 700].
        delta: 0, or in [2^-1000, 1].

    Raises:
        InvalidParameter: if either is outside.

    Source: Wasserman and Zhou (2010); Dong, Roth and Su (2022), equation 3.

    >>> approx_dp(1, 1e-6).epsilon(1e-6)
    1.0
    """
    value, failure = _at_least_zero(epsilon, "epsilon"), _at_least_zero(delta, "delta")
    core: Pair = RandomizedResponsePair(value) if value else IdentityPair()
    return _both_ways(erased(core, ((failure, 1),)))


def _both_ways(pair: Pair) -> TradeOff:
    return TradeOff(pair, pair)


def _at_least_zero(value: object, name: str) -> Fraction:
    number = exact(value, name)
    if number < 0:
        raise InvalidParameter(f"{name}={text(number)} is negative; write a number of at least 0")
    return number
