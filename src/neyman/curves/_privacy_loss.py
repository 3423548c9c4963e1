"""The privacy loss as a random variable: its law under either dataset."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._curve import View
from neyman.curves._pair import Pair, Tails
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["LossDistribution", "PrivacyLoss", "privacy_loss"]

_DOUBLINGS, _HALVINGS = 64, 200
# Cumulants by Cauchy's formula on a circle: so many points, of a radius in deviations.
_POINTS, _RADIUS = 32, 0.25


@final
@dataclass(frozen=True, slots=True)
class LossDistribution:
    """The law of L = log dQ/dP under P (`under` 0) or under Q (1); methods as in scipy.stats.

    Infinite losses count: where p = 0 the loss is +inf, where q = 0 it is -inf.

    Error: estimates, about 1e-12 relatively for closed forms and contours.
    """

    pair: Pair
    under: int

    def sf(self, t: npt.ArrayLike) -> View:
        """Return the probability of L > t, any shape."""
        return _plain(np.exp(self._logs(t)[0]))

    def logsf(self, t: npt.ArrayLike) -> View:
        """Return its logarithm, which lives on where the probability underflows."""
        return _plain(self._logs(t)[0])

    def cdf(self, t: npt.ArrayLike) -> View:
        """Return the probability of L <= t, any shape."""
        return _plain(np.exp(self._logs(t)[1]))

    def ppf(self, probability: npt.ArrayLike) -> View:
        """Return the quantile: the smallest t with P(L <= t) >= probability, in (0, 1)."""
        share = np.asarray(probability, dtype=np.float64)
        if not (np.all(share > 0) and np.all(share < 1)):
            raise InvalidParameter(
                f"probability must be strictly between 0 and 1; got {probability!r}. "
                "Write for example 0.95"
            )
        level = np.log(share)
        low, high = np.full(share.shape, -1.0), np.full(share.shape, 1.0)
        left, right = self._logs(low)[1], self._logs(high)[1]
        for _ in range(_DOUBLINGS):
            if np.all((left < level) & (right >= level)):
                break
            low = np.where(left >= level, 2 * low, low)
            high = np.where(right < level, 2 * high, high)
            left, right = self._logs(low)[1], self._logs(high)[1]
        # An end that ran off is where the mass at infinity begins.
        low, high = np.where(left >= level, -np.inf, low), np.where(right < level, np.inf, high)
        with np.errstate(invalid="ignore"):
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                if np.all((middle == low) | (middle == high) | ~np.isfinite(middle)):
                    break
                holds = self._logs(middle)[1] >= level
                low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return _plain(np.where(np.isneginf(low), -np.inf, high))

    def cumulants(self, count: int = 4) -> Array:
        """Return the first cumulants: mean, variance, third, fourth; infinite with mass there.

        Under P those of K at 0, under Q at 1: K^(m) / 1, by Cauchy's formula on a circle.
        """
        if max(self.pair.log_singular) > -np.inf:
            return np.full(count, np.nan)
        centre = complex(self.under)
        step = 1e-4
        around = np.asarray([centre - step, centre, centre + step], dtype=np.complex128)
        values = self.pair.cumulant(around).real
        deviation = math.sqrt(max(float(values[0] - 2 * values[1] + values[2]), 0.0)) / step
        radius = _RADIUS / max(deviation, 0.5)
        angle = 2 * math.pi * np.arange(_POINTS) / _POINTS
        circle = np.asarray(centre + radius * np.exp(1j * angle), dtype=np.complex128)
        found = self.pair.cumulant(circle)
        orders = np.arange(1, count + 1)
        waves = np.exp(-1j * np.outer(orders, angle))
        factorials = np.asarray([math.factorial(m) for m in orders.tolist()])
        return np.real(waves @ found) / _POINTS * factorials / radius**orders

    def mean(self) -> float:
        """Return E[L]: the Kullback-Leibler divergence under Q, less the reverse one under P."""
        return float(self.cumulants(1)[0])

    def var(self) -> float:
        """Return the variance of L."""
        return float(self.cumulants(2)[1])

    def std(self) -> float:
        """Return the standard deviation of L."""
        return math.sqrt(self.var())

    def _logs(self, t: npt.ArrayLike) -> tuple[Array, Array]:
        tails: Tails = self.pair.log_tails(np.asarray(t, dtype=np.float64))
        if self.under:
            return tails.q_above, tails.q_below
        return tails.p_above, tails.p_below


@final
@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """L = log dQ/dP of one direction of a guarantee.

    Attributes:
        pair: (P, Q).
    """

    pair: Pair

    @property
    def null(self) -> LossDistribution:
        """L under P."""
        return LossDistribution(self.pair, 0)

    @property
    def alternative(self) -> LossDistribution:
        """L under Q, the law of the output that the loss accuses."""
        return LossDistribution(self.pair, 1)

    def probabilistic_delta(self, epsilon: npt.ArrayLike) -> View:
        """Return Q(L > epsilon), the delta of "epsilon except with probability delta".

        It is not the delta of (epsilon, delta)-DP but an upper bound of it:

            delta(epsilon) = Q(L > epsilon) - e^epsilon P(L > epsilon) <= Q(L > epsilon)

        For a Gaussian it is Phi(mu/2 - epsilon/mu), without the second term of the exact formula.

        Source: Dwork and Roth (2014), lemma 3.17; Meiser (2018) on the difference.

        >>> from neyman.curves import gdp
        >>> loss = privacy_loss(gdp(1).remove)
        >>> f"{loss.probabilistic_delta(1):.6f} >= {gdp(1).delta(1):.6f}"
        '0.308538 >= 0.126937'
        """
        return self.alternative.sf(epsilon)


def privacy_loss(pair: Pair) -> PrivacyLoss:
    """Return the privacy loss of one direction as a random variable.

    L = log dQ/dP; for a Gaussian N(-mu^2/2, mu^2) under P and N(mu^2/2, mu^2) under Q

    Args:
        pair: one way, such as `f.remove` or `f.add`.

    Raises:
        InvalidParameter: if `pair` is no one-way pair.

    >>> from neyman.curves import gdp
    >>> loss = privacy_loss(gdp(2).remove)
    >>> f"{loss.alternative.mean():.6f}, {loss.alternative.std():.6f}, {loss.null.mean():.6f}"
    '2.000000, 2.000000, -2.000000'
    >>> f"{loss.alternative.ppf(0.975):.6f}"
    '5.919928'
    """
    if not isinstance(pair, Pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"pair must be one direction of a guarantee; got {pair}, which has a privacy loss in "
            "each direction. Write f.remove or f.add"
        )
    return PrivacyLoss(pair)


def _plain(value: Array) -> View:
    return float(value) if np.ndim(value) == 0 else value
