"""The named guarantees."""

import reprlib

from neyman.calls import plain_calls
from neyman.curves._pair import Pair
from neyman.curves._pairs._erased import erased
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import sampled
from neyman.curves._tradeoff import TradeOff, both_ways
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact_size, text

__all__ = [
    "approx_dp",
    "gdp",
    "identity",
    "laplace",
    "poisson",
    "pure_dp",
    "randomized_response",
]


def identity() -> TradeOff:
    """Return Id(alpha) = 1 - alpha: perfect indistinguishability.

    >>> identity().delta(0)
    0.0
    """
    return both_ways(IdentityPair())


@plain_calls
def gdp(mu: Real | None = None, *, squared: Real | None = None) -> TradeOff:
    """Return mu-GDP: no easier to attack than telling N(0, 1) from N(mu, 1).

    G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu)

    Args:
        mu: 0, or in [2^-500, 2^500]; a float means the decimal it prints as.
        squared: mu^2 instead; 0, or in [2^-1000, 2^1000].

    Raises:
        InvalidParameter: if mu is negative, not finite, out of range, given both ways or neither.

    Source: Dong, Roth and Su (2022), definition 2.6.

    >>> f"{gdp(1).delta(1):.6f}"
    '0.126937'
    """
    if (mu is None) == (squared is None):
        raise InvalidParameter("gdp takes mu or squared=mu^2, one of the two; write gdp(1)")
    square = exact_size(squared, "squared") if squared is not None else exact_size(mu, "mu") ** 2
    return both_ways(GaussianPair(square)) if square else identity()


@plain_calls
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
    value = exact_size(epsilon, "epsilon")
    return both_ways(LaplacePair(value)) if value else identity()


@plain_calls
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


@plain_calls
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
    value, failure = exact_size(epsilon, "epsilon"), exact_size(delta, "delta")
    core: Pair = RandomizedResponsePair(value) if value else IdentityPair()
    return both_ways(erased(core, ((failure, 1),)))


@plain_calls
def randomized_response(epsilon: Real) -> TradeOff:
    """Return the curve of a binary answer kept with probability e^epsilon / (1 + e^epsilon).

    It is epsilon-DP at its worst, f_{epsilon,0}.

    Args:
        epsilon: 0, or in [2^-500, 700].

    >>> randomized_response(1) == pure_dp(1)
    True
    """
    return approx_dp(epsilon, 0)


@plain_calls
def poisson(f: TradeOff, sampling_probability: Real) -> TradeOff:
    """Return f on a Poisson sample: every record takes part with this probability, by itself.

    remove: P, (1 - q) P + q Q of f's own; add: the same of f's other direction, swapped. The two
    are composed apart, and joined by the views.

    Args:
        f: the guarantee on the sample, for one record added or removed.
        sampling_probability: q in [0, 1].

    Guarantee: for neighbours that differ by one record, add_remove.

    Raises:
        InvalidParameter: if q is outside.
        RelationMismatch: if f is proved for another neighbouring relation.

    Source: Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via
    characteristic function", theorem 11.

    >>> f"{poisson(gdp(1), 0.01).delta(1):.3e}"
    '2.732e-09'
    """
    q = exact_size(sampling_probability, "sampling_probability")
    if q > 1:
        raise InvalidParameter(
            f"sampling_probability={text(q)} is above 1; write a probability in [0, 1]"
        )
    for pair in (curve(f).remove, f.add):
        if pair.neighbors not in (None, "add_remove"):
            raise RelationMismatch(
                f"{pair} is proved for neighbors={pair.neighbors!r}, and Poisson sampling for "
                "'add_remove'; sample a guarantee of that relation"
            )
    return TradeOff(sampled(f.remove, q), sampled(f.add.swap(), q).swap())


def curve(f: object) -> TradeOff:
    """Return f if it is a guarantee.

    Raises:
        InvalidParameter: if it is anything else.
    """
    if not isinstance(f, TradeOff):
        raise InvalidParameter(
            f"{reprlib.repr(f)} is a {type(f).__name__}, where a guarantee is needed; write one "
            "such as gdp(1)"
        )
    return f
