"""What concentrated privacy reads from a curve: mean, subgaussian parameter, truncated rho."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._curve import Answer, Curve, View, answers_of
from neyman.curves._statements._real_line import rounded_up
from neyman.curves._statements._real_line_constructors import cdp
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Interval, exp

__all__ = ["Subgaussian", "subgaussian", "truncated_rho"]


@final
@dataclass(frozen=True, slots=True)
class Subgaussian:
    """The mean of a privacy loss, and how subgaussian it is about it: (mu, tau)-CDP.

    Attributes:
        mean: bracket of mu = E_Q[L], the Kullback-Leibler divergence.
        parameter: bracket of tau, the least with E_Q e^(x (L - mu)) <= e^(x^2 tau^2 / 2) for all
            real x; infinite where there is none.
    """

    mean: Answer
    parameter: Answer

    def tail(self, t: npt.ArrayLike) -> View:
        """Bound Q(L >= mu + t tau) by e^(-t^2/2), for t >= 0.

        Raises:
            InvalidParameter: if a t is negative, where nothing is bounded.
        """
        at = np.asarray(t, dtype=np.float64)
        if not np.all(at >= 0):
            raise InvalidParameter(
                f"t must be at least 0; got {t!r}. Write the distance from the mean, on the side "
                "that the bound covers"
            )
        bound = np.minimum(exp(-(Interval.decimal(at).squared() / 2)).upper, 1.0)
        return float(bound) if np.ndim(bound) == 0 else bound

    def tradeoff(self) -> TradeOff:
        """Return cdp(mu, tau), which composes and converts.

        Raises:
            InvalidParameter: if tau is infinite.
        """
        return cdp(rounded_up(self.mean.upper), rounded_up(self.parameter.upper))


def subgaussian(f: Curve) -> Subgaussian:
    """Return the smallest certified (mu, tau) of a guarantee, of both directions.

        tau^2 = sup over x of 2 log E_Q e^(x (L - mu)) / x^2

    For a Gaussian mu^2/2 and mu; for randomized response tau^2 = 2 epsilon tanh(epsilon/2); where
    the loss is bounded by epsilon, tau is at most epsilon. It is that of the pair, or the worst of
    the class: post-processing lowers the mean, and may raise tau, so that tau^2 = 2 rho of the
    best zCDP is what a mechanism that is only known to be f-DP has from above (`cdp`).

    Args:
        f: a guarantee, or one direction of it.

    Raises:
        NotCertified: if f gives estimates only.

    Error: the brackets; of tau^2 relative 1e-6 to 1e-2 where no closed form is known.
    Source: Dwork and Rothblum (2016), definitions 2.1 to 2.5; proofs: docs/theory/renyi.md.

    >>> from neyman.curves import gdp, pure_dp
    >>> loss = subgaussian(gdp(2))
    >>> loss.mean.value, loss.parameter.value, f"{loss.tail(3):.6f}"
    (2.0, 2.0, '0.011109')
    >>> f"{subgaussian(pure_dp(1)).parameter.value:.6f}"
    '0.961371'
    """
    mean = f.renyi(1, bracket=True)
    (low, high), (least, most) = f.subgaussian_bracket()
    tau = _root(least)[0], _root(most)[1]
    return Subgaussian(
        Answer(high, low, high, mean.method, mean.of),
        Answer(tau[1], tau[0], tau[1], mean.method, mean.of),
    )


def truncated_rho(f: Curve, omega: float, *, bracket: bool = False) -> View:
    """Return the smallest rho for which f is (rho, omega)-tCDP, rounded up.

        D_a <= rho a  for all orders a in (1, omega)

    D_a is the Rényi divergence of order a.

    Args:
        f: a guarantee, or one direction of it.
        omega: above 1; infinity is `f.zcdp()`.
        bracket: return an `Answer` with `.lower` and `.upper`.

    Raises:
        InvalidParameter: if omega is not above 1.

    Error: the bracket, as of `zcdp`.
    Source: Bun, Dwork, Rothblum and Steinke (2018), definition 1.

    >>> from neyman.curves import rdp
    >>> f = rdp([(2, 0.5), (3, 0.9)])
    >>> f"{truncated_rho(f, 2):.3f}", f.zcdp()
    ('0.500', inf)
    """
    last = float(omega)
    if not last > 1:
        raise InvalidParameter(f"omega={omega!r} leaves no order above 1; write one above 1")
    lower, upper = f.zcdp_bracket() if math.isinf(last) else f.tcdp_bracket(last)
    bounds = Interval(np.asarray(lower), np.asarray(upper))
    if not bracket:
        return float(bounds.upper)
    return Answer(upper, lower, upper, f.method, answers_of(f))


def _root(square: float) -> tuple[float, float]:
    """Bracket a square root; of an exact square it is twice the root itself."""
    root = math.sqrt(square)
    if math.isinf(root) or Fraction(root) ** 2 == Fraction(square):
        return root, root
    lower, upper = Interval.exactly(square).sqrt()
    return float(lower), float(upper)
