"""Closed conversions of concentrated privacy to (epsilon, delta), under their authors' names.

Each is Mironov's conversion at its best order, or slightly better. `zcdp(rho).epsilon(delta)`
converts optimally and is never above these; likewise `cdp` and `tcdp`. All round up. They take rho
and tau in [2^-1000, 2^1000], mu of at least 0, delta in [2^-1000, 1] and any finite epsilon.
"""

import math
from fractions import Fraction

from neyman.errors import InvalidParameter
from neyman.numerics import Interval, Real, ceil_float, exact, exact_size, exp, log, ordinary, text
from neyman.numerics._primitives import PI

__all__ = [
    "bun_steinke_delta",
    "bun_steinke_epsilon",
    "dwork_rothblum_delta",
    "dwork_rothblum_epsilon",
    "truncated_delta",
    "truncated_epsilon",
]

_LARGEST = Fraction(2) ** 1000


def bun_steinke_epsilon(rho: Real, delta: Real) -> float:
    """Return rho + 2 sqrt(rho log(1/delta)), for rho-zCDP.

    Args:
        rho: in [2^-1000, 2^1000].
        delta: in [2^-1000, 1].

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Bun and Steinke (2016), proposition 1.3.

    >>> f"{bun_steinke_epsilon(0.5, 1e-5):.4f}"
    '5.2985'
    """
    return truncated_epsilon(rho, math.inf, delta)


def bun_steinke_delta(rho: Real, epsilon: Real) -> float:
    """Return e^(-(epsilon - rho)^2 / 4 rho) min{1/c, 2/(c + sqrt(c^2 + 4/(pi rho)))}, for rho-zCDP.

    This holds for epsilon >= rho, with c = 1 + (epsilon - rho)/(2 rho). It is the integral of
    e^(epsilon - x) times the tail at x, by two bounds of Mills' ratio. For epsilon < rho the result
    is 1.

    Args:
        rho: in [2^-1000, 2^1000].
        epsilon: finite.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Bun and Steinke (2016), lemma 3.6.

    >>> f"{bun_steinke_delta(0.5, 5):.2e}"
    '7.14e-06'
    """
    rate, size = ordinary(exact(rho, "rho"), "rho"), exact(epsilon, "epsilon")
    simple = truncated_delta(rate, math.inf, size)
    if size < rate:
        return simple
    # The share falls in c; a smaller c keeps its square within the doubles.
    c = Interval.of(min((size + rate) / (2 * rate), Fraction(2) ** 500))
    share = (1 / c).smaller(2 / (c + (c.squared() + 4 / (PI * Interval.of(rate))).sqrt()))
    return min(float((share * simple).upper), simple)


def dwork_rothblum_epsilon(mu: Real, tau: Real, delta: Real) -> float:
    """Return mu + tau sqrt(2 log(1/delta)), for (mu, tau)-CDP.

    Args:
        mu: at least 0.
        tau: in [2^-1000, 2^1000].
        delta: in [2^-1000, 1].

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Dwork and Rothblum (2016), section 2: the tail of a subgaussian loss.

    >>> f"{dwork_rothblum_epsilon(0.5, 1, 1e-5):.4f}"
    '5.2985'
    """
    mean = Interval.exactly(_up(exact_size(mu, "mu")))
    width = Interval.of(ordinary(exact(tau, "tau"), "tau"))
    return float((mean + width * (_log_inverse(delta) * 2).sqrt()).upper)


def dwork_rothblum_delta(mu: Real, tau: Real, epsilon: Real) -> float:
    """Return e^(-t^2/2), t = (epsilon - mu)/tau, for (mu, tau)-CDP; 1 if t < 0.

    Q(L >= mu + t tau) <= e^(-t^2/2) holds for t >= 0 only. It bounds delta because probabilistic DP
    implies (epsilon, delta)-DP.

    Args:
        mu: at least 0.
        tau: in [2^-1000, 2^1000].
        epsilon: finite.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Dwork and Rothblum (2016), section 2.
    """
    beyond = exact(epsilon, "epsilon") - exact_size(mu, "mu")
    t = max(beyond / ordinary(exact(tau, "tau"), "tau"), Fraction(0))
    return _exp_up(-t * t / 2)


def truncated_epsilon(rho: Real, omega: Real, delta: Real) -> float:
    """Return rho + 2 sqrt(rho log(1/delta)), or rho omega + log(1/delta)/(omega - 1), for tCDP.

    The second applies if log(1/delta) > (omega - 1)^2 rho, so that the best order is above omega.

    Args:
        rho: in [2^-1000, 2^1000].
        omega: above 1; may be infinite.
        delta: in [2^-1000, 1].

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Bun, Dwork, Rothblum and Steinke (2018), lemma 6.

    >>> f"{truncated_epsilon(0.3, 10, 1e-6):.4f}, {truncated_epsilon(0.3, 3, 1e-6):.4f}"
    '4.3717, 7.8078'
    """
    rate, largest = ordinary(exact(rho, "rho"), "rho"), _order(omega)
    need = Fraction(float(_log_inverse(delta).upper))
    if largest is None or need <= (largest - 1) ** 2 * rate:
        size = Interval.of(rate)
        # Two roots, because the product can leave the doubles.
        return float((size + 2 * size.sqrt() * Interval.of(need).sqrt()).upper)
    return _up(rate * largest + need / (largest - 1))


def truncated_delta(rho: Real, omega: Real, epsilon: Real) -> float:
    """Return e^((a-1)(rho a - epsilon)) at the best order a in [1, omega], for tCDP.

        a = (epsilon + rho) / (2 rho), moved into [1, omega]

    Args:
        rho: in [2^-1000, 2^1000].
        omega: above 1; may be infinite.
        epsilon: finite.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Bun, Dwork, Rothblum and Steinke (2018), lemma 6.
    """
    rate, largest = ordinary(exact(rho, "rho"), "rho"), _order(omega)
    size = exact(epsilon, "epsilon")
    a = max((size + rate) / (2 * rate), Fraction(1))
    if largest is not None:
        a = min(a, largest)
    return _exp_up((a - 1) * (rate * a - size))


def _exp_up(exponent: Fraction) -> float:
    """Return e^x rounded up, at most 1; the exponent is exact."""
    near = min(max(exponent, Fraction(-1000)), Fraction(0))
    return min(float(exp(Interval.of(near)).upper), 1.0)


def _up(value: Fraction) -> float:
    return ceil_float(value) if value <= _LARGEST else math.inf


def _log_inverse(delta: Real) -> Interval:
    """Return log(1/delta)."""
    share = exact(delta, "delta")
    if not 0 < share <= 1:
        raise InvalidParameter(f"delta must be above 0 and at most 1; got {text(share)}")
    return (-log(Interval.of(ordinary(share, "delta")))).larger(0)


def _order(omega: Real) -> Fraction | None:
    """Return omega, or None if it is infinite."""
    if omega == math.inf:
        return None
    largest = exact(omega, "omega")
    if not largest > 1:
        raise InvalidParameter(
            f"omega must be above 1; got {text(largest)}. Write a larger order, or infinity"
        )
    return largest
