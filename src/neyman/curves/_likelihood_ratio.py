"""The best test of P against Q: reject where the likelihood ratio is large."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._estimates import estimated_threshold
from neyman.curves._pair import Pair
from neyman.curves._pairs._density import LogDensity, density_pair
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, text

__all__ = ["LikelihoodRatioTest", "densities", "errors_of_test", "likelihood_ratio_test"]

_SAME = 1e-12


@final
@dataclass(frozen=True, slots=True)
class LikelihoodRatioTest:
    """Reject P where L > threshold, and with probability `coin` where L = threshold.

    No test of its size has more power (Neyman and Pearson).

    Attributes:
        pair: (P, Q), known by L = log dQ/dP.
        size: alpha = E_P[rejection], exactly the requested size.
        threshold: t, the smallest with P(L > t) <= size.
        coin: probability of rejecting at L = t; 0 where L has a density there.
        power: E_Q[rejection] = 1 - beta.
    """

    pair: Pair
    size: float
    threshold: float
    coin: float
    power: float

    @property
    def beta(self) -> float:
        """The type II error, 1 - power, with a relative accuracy of its own."""
        return float(self.pair.beta_bracket(np.asarray(self.size)).lower)

    def rejection(self, loss: npt.ArrayLike) -> Array:
        """Return the probability of rejecting P at outcomes of these losses L, any shape."""
        at = np.asarray(loss, dtype=np.float64)
        # A loss is a rounded logarithm: within it the atom is meant.
        equal = np.abs(at - self.threshold) <= _SAME * (1 + abs(self.threshold))
        return np.where(equal, self.coin, np.where(at > self.threshold, 1.0, 0.0))

    def p_value(self, loss: npt.ArrayLike) -> Array:
        """Return P(L >= loss): the least size at which an outcome of this loss is rejected."""
        at = np.asarray(loss, dtype=np.float64)
        at = at - _SAME * (1 + np.abs(at))
        return np.exp(self.pair.log_tails(at, closed=True).p_above)


def likelihood_ratio_test(pair: Pair, *, size: float) -> LikelihoodRatioTest:
    """Return the most powerful test of P against Q.

    E_P[phi] = P(L > t) + coin P(L = t) = size

    Args:
        pair: one way, such as `f.remove` or `f.add`.
        size: alpha in (0, 1).

    Raises:
        InvalidParameter: if the size is outside, or `pair` is no one-way pair.

    Error: threshold, coin and power are estimates, to about 1e-12; `pair.tpr(size, bracket=True)`
        brackets the power of a certified pair.
    Source: Neyman and Pearson (1933); Lehmann and Romano (2005), theorem 3.2.1.

    >>> from neyman.curves import gdp
    >>> test = likelihood_ratio_test(gdp(1).remove, size=0.05)
    >>> f"{test.threshold:.6f}, {test.coin}, {test.power:.6f}"
    '1.144854, 0.0, 0.259511'
    >>> from neyman.curves import discrete
    >>> test = likelihood_ratio_test(discrete([0.8, 0.2], [0.5, 0.5]).remove, size=0.05)
    >>> f"{test.threshold:.6f}, {test.coin:.6f}, {test.power:.6f}"
    '0.916291, 0.250000, 0.125000'
    """
    if not isinstance(pair, Pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"pair must be one direction of a guarantee; got {pair}. Write f.remove or f.add"
        )
    alpha = float(size)
    if not 0 < alpha < 1:
        raise InvalidParameter(f"size={size!r} leaves (0, 1); write a probability strictly inside")
    threshold, coin = estimated_threshold(pair, np.asarray(alpha))
    power = float(pair.tpr_bracket(np.asarray(alpha)).upper)
    return LikelihoodRatioTest(pair, alpha, float(threshold), float(coin), power)


def densities(
    log_p: LogDensity,
    log_q: LogDensity,
    *,
    low: float,
    high: float,
    kinks: Sequence[float] = (),
    outside: float = 0.0,
) -> TradeOff:
    """Return the curve of two laws with densities on an interval, in both directions.

    L(x) = log q(x) - log p(x)

    Args:
        log_p: log density on one dataset, of an array of outcomes; -inf where it is 0.
        log_q: log density on its neighbour.
        low: end of the domain, which must hold both laws but for what `outside` states.
        high: the other end.
        kinks: outcomes where a density, its derivative or a test that you evaluate jumps.
        outside: a bound of the mass that either law has outside the domain, for heavy tails. Mass
            that the quadrature misses goes into delta, in both directions.

    Returns:
        Estimates only: a quadrature of functions about which nothing is proved. You can evaluate,
        plot, compare and test the curve, but not bracket, charge or compose it.

    Raises:
        InvalidParameter: if the domain is no interval, or a mass on it is not 1 to 1e-6, less what
            `outside` states.

    Error: about 1e-12 for densities that are analytic between kinks; 1e-8 with unnamed kinks.
        Rényi divergences are those of the laws cut to the domain: a high order looks far beyond
        where the mass is, for N(0, 1) and N(1, 1) at about the order itself.

    >>> import numpy as np
    >>> def normal(mean):
    ...     return lambda x: -((x - mean) ** 2) / 2 - np.log(2 * np.pi) / 2
    >>> f = densities(normal(0), normal(1), low=-38, high=38)
    >>> f"{f.delta(1):.10f}, {f.beta(0.05):.10f}, {f.renyi(2):.10f}"
    '0.1269367375, 0.7404889772, 1.0000000000'

    Cauchy noise has heavy tails:

    >>> def cauchy(center):
    ...     return lambda x: -np.log(np.pi * (1 + (x - center) ** 2))
    >>> f = densities(cauchy(0), cauchy(1), low=-1e4, high=1e4, outside=1e-4)
    >>> f"{f.delta(0):.4f}, {f.delta(0.5):.4f}"
    '0.2952, 0.1191'
    """
    pair = density_pair(log_p, log_q, low, high, kinks, outside)
    return TradeOff(pair, pair.swap())


def errors_of_test(
    p: Sequence[Real], q: Sequence[Real], rejection: Sequence[Real]
) -> tuple[Fraction, Fraction]:
    """Return the two errors of a given test between laws on the same outcomes, exactly.

    alpha = Σ p_i phi_i,  beta = 1 - Σ q_i phi_i

    Args:
        p: probabilities on one dataset; a float means the decimal it prints as.
        q: probabilities on its neighbour.
        rejection: phi, the probability of rejecting P at each outcome.

    Raises:
        InvalidParameter: if the three differ in length, a law does not add up to 1, or phi leaves
            [0, 1].

    >>> errors_of_test([0.8, 0.2], [0.5, 0.5], [0, 0.25])
    (Fraction(1, 20), Fraction(7, 8))
    """
    rows = [[exact(x, name) for x in row] for name, row in (("p", p), ("q", q))]
    phi = [exact(x, "rejection") for x in rejection]
    if not len(rows[0]) == len(rows[1]) == len(phi):
        raise InvalidParameter(
            "p, q and rejection must have the same length; got "
            f"{len(rows[0])}, {len(rows[1])} and {len(phi)}. Write one number for each outcome in "
            "all three"
        )
    for name, row in zip("pq", rows, strict=True):
        if any(mass < 0 for mass in row) or sum(row) != 1:
            raise InvalidParameter(
                f"{name} adds up to {text(sum(row, Fraction(0)))}, or holds a negative number; "
                "write probabilities that add up to exactly 1"
            )
    if any(not 0 <= share <= 1 for share in phi):
        raise InvalidParameter("rejection leaves [0, 1]; write a probability for each outcome")
    alpha, power = (
        sum((mass * share for mass, share in zip(row, phi, strict=True)), Fraction(0))
        for row in rows
    )
    return alpha, 1 - power
