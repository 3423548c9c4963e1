"""The named guarantees that have no pair: concentrated ones, and Rényi DP at some orders."""

import reprlib
from collections.abc import Iterable

from neyman.calls import plain_calls
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._statements._cdp import CdpPair
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._tcdp import TcdpPair
from neyman.curves._statements._zcdp import ZcdpPair
from neyman.curves._tradeoff import TradeOff, both_ways
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, exact_size

__all__ = ["cdp", "rdp", "tcdp", "zcdp"]


@plain_calls
def zcdp(rho: Real) -> TradeOff:
    """Return rho-zCDP: Rényi divergences of order a are at most rho a, for all a > 1.

    The views hold for every mechanism of this kind: they are upper bounds on the loss of any one of
    them. Gaussian noise of the same rho loses less; write gdp(mu) if the mechanism is known.

    Args:
        rho: 0, or in [2^-100, 700]; a float means the decimal it prints as.

    Raises:
        InvalidParameter: if rho is outside.

    Source: Bun and Steinke (2016), definition 1.1.

    >>> f"{zcdp(0.5).epsilon(1e-5):.3f}, {zcdp(0.5).mu():.4f}"
    '4.728, 1.2839'
    """
    value = exact_size(rho, "rho")
    return both_ways(ZcdpPair(value) if value else IdentityPair())


@plain_calls
def cdp(mu: Real, tau: Real) -> TradeOff:
    """Return (mu, tau)-concentrated differential privacy: mean and spread of the privacy loss.

    E_Q[L] <= mu,  E_Q e^(x (L - E L)) <= e^(x^2 tau^2 / 2) for all real x, in both directions

    The guarantee keeps D_a <= mu + (a - 1) tau^2/2 for all a >= 1. That survives post-processing;
    the definition does not. Composition adds mu and tau^2.

    Args:
        mu: 0, or in [2^-100, 700]; one above tau^2/2 says no more than tau^2/2, which follows.
        tau: 0, or tau^2 in [2^-100, 1400].

    Raises:
        InvalidParameter: if one is outside.

    Source: Dwork and Rothblum (2016), "Concentrated differential privacy", definition 2.5; Bun and
        Steinke (2016), lemma 4.2.

    >>> f = cdp(0.5, 1) @ cdp(0.3, 2)
    >>> print(f, f.zcdp())
    cdp(mu=0.8, tau=sqrt(5)) 2.5
    """
    mean, square = exact_size(mu, "mu"), exact_size(tau, "tau") ** 2
    mean = min(mean, square / 2)
    return both_ways(CdpPair(mean, square) if mean else IdentityPair())


@plain_calls
def tcdp(rho: Real, omega: Real) -> TradeOff:
    """Return (rho, omega)-tCDP: Rényi divergences of order a are at most rho a, for 1 < a < omega.

    Composition adds rho and keeps the smaller omega.

    Args:
        rho: 0, or in [2^-100, 700].
        omega: above 1, at most 2^20.

    Raises:
        InvalidParameter: if one is outside.

    Source: Bun, Dwork, Rothblum and Steinke (2018), "Composable and versatile privacy via
        truncated CDP", definition 1.

    >>> f = tcdp(0.1, 10) @ tcdp(0.2, 20)
    >>> print(f, f"{f.epsilon(1e-6):.3f}")
    tcdp(rho=0.3, omega=10) 3.920
    """
    value, last = exact_size(rho, "rho"), exact(omega, "omega")
    return both_ways(TcdpPair(value, last) if value else IdentityPair())


@plain_calls
def rdp(points: Iterable[tuple[Real, Real]]) -> TradeOff:
    """Return Rényi differential privacy at finitely many orders, in both directions.

    The views hold for every mechanism that obeys all the bounds: they are upper bounds on the loss
    of any one of them.

    Args:
        points: pairs (order, bound of the divergence); orders in [1/2, 2^20], order 1 being
            Kullback-Leibler, at least one from 1 on; bounds 0, or in [2^-100, 2^20].

    Raises:
        InvalidParameter: if a point is outside, or no order is at least 1.

    Source: Mironov (2017), definition 4.

    >>> f"{rdp([(2, 0.5)]).delta(1):.4f}"
    '0.0897'
    """
    try:
        pairs = [(order, bound) for order, bound in points]
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"points must be pairs of an order and a bound; got {reprlib.repr(points)}. Write such "
            "as [(2, 0.1), (8, 0.5)], or table.items() of a dict"
        ) from None
    read = [(exact(order, "order"), exact_size(bound, "divergence")) for order, bound in pairs]
    if any(bound == 0 for _, bound in read):
        # Two laws without divergence are equal.
        return both_ways(IdentityPair())
    return both_ways(RdpPair.of(read))
