"""The central limit theorem of composition: a proved band, and estimates that are no bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.accounting._estimate import Estimate
from neyman.accounting._functionals import Functionals, functionals
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import ULP, Array, Bracket, ndtri, normal_tail
from neyman.tradeoff import TradeOff

__all__ = ["CentralLimitBand", "central_limit_band", "central_limit_mu"]

Steps = Sequence[tuple[TradeOff, int]]
_SLACK = 512 * ULP


@final
@dataclass(frozen=True, slots=True)
class CentralLimitBand:
    """G_mu(alpha + gamma) - gamma <= f(alpha) <= G_mu(alpha - gamma) + gamma on [gamma, 1 - gamma].

    Outside, f is only known to be non-increasing and at most 1 - alpha.

    Attributes:
        mu: lower and upper end of 2 kl / sqrt(variance).
        gamma: half-width, rounded up, below 1/2.

    Guarantee: holds for the composition that it was made of. It is wide: about 40 times the true
        error for pure differential privacy, so that exact composition is always the better answer.
    Source: Dong, Roth and Su (2022), theorem 3.4.
    """

    mu: tuple[float, float]
    gamma: float

    def beta(self, alpha: npt.ArrayLike) -> Bracket:
        """Return bounds of f at alpha in [0, 1].

        Raises:
            InvalidParameter: if alpha leaves [0, 1].
        """
        at = np.asarray(alpha, dtype=np.float64)
        if not np.all((at >= 0) & (at <= 1)):
            raise InvalidParameter(f"alpha={alpha!r} leaves [0, 1]; write numbers in it")
        right = (np.maximum(at, self.gamma) + self.gamma) * (1 + ULP)
        left = np.minimum(at, 1 - self.gamma) * (1 - ULP) - self.gamma
        lower = np.maximum(_gaussian(right, self.mu[1]).lower - self.gamma, 0.0) * (1 - ULP)
        upper = np.minimum((_gaussian(left, self.mu[0]).upper + self.gamma) * (1 + ULP), 1 - at)
        return Bracket(np.minimum(lower, upper), upper)


def _gaussian(alpha: Array, mu: float) -> Bracket:
    """Return G_mu, continued by 1 to the left and 0 to the right of [0, 1]."""
    inside = np.clip(alpha, 1e-300, 1 - 2.0**-53)
    value = normal_tail(-ndtri(inside), -mu)
    lower = np.where(alpha >= 1 - 2.0**-53, 0.0, value.lower)
    return Bracket(lower, np.where(alpha <= 1e-300, 1.0, value.upper))


def central_limit_band(steps: Steps) -> CentralLimitBand:
    """Return the Berry-Esseen band of a composition.

    mu = 2 sum kl / sqrt(sum (kappa2 - kl^2)),
    gamma = 0.56 sum kappa3_bar / (sum (kappa2 - kl^2))^(3/2)

    Args:
        steps: trade-off functions, each with how many times it is run.

    Raises:
        InvalidParameter: if one is not symmetric, has no finite moments (delta > 0), or if gamma
            is not below 1/2.
        NotCertified: if the moments of one are quadratures without a proved error.

    >>> from neyman.tradeoff import pure_dp
    >>> f"{central_limit_band([(pure_dp(0.1), 100)]).gamma:.4f}"
    '0.0562'
    """
    parts = [(_symmetric(curve), count) for curve, count in _checked(steps)]
    if not all(part.certified for part, _ in parts):
        raise NotCertified(
            "a band was asked of a pair whose moments are only estimated; compose it exactly, or "
            "ask for the estimates central_limit_mu or edgeworth"
        )
    kl, variance = _total(parts, "kl"), _total(parts, "variance")
    if variance <= 0:
        raise InvalidParameter("nothing is composed, and nothing tends to a Gaussian; add a step")
    gamma = 0.56 * _total(parts, "kappa3_bar") / variance**1.5 * (1 + _SLACK)
    if not gamma < 0.5:
        raise InvalidParameter(
            f"gamma={gamma:.3g} is not below 1/2, so the band says nothing; compose more steps, or "
            "compose exactly"
        )
    mu = 2 * kl / math.sqrt(variance)
    return CentralLimitBand((mu * (1 - _SLACK), mu * (1 + _SLACK)), gamma)


def central_limit_mu(steps: Steps) -> Estimate:
    """Estimate the mu that a composition tends to, 2 sum kl / sqrt(sum (kappa2 - kl^2)).

    For a pair that is not symmetric, the remove direction: kl is the mean of the loss under P and
    the variance that under P. It errs to either side: for subsampled Gaussians the epsilon it
    stands for was seen from 57% below the truth to 11% above.

    Args:
        steps: trade-off functions, each with how many times it is run.

    Source: Dong, Roth and Su (2022), theorem 3.5; Bu, Dong, Long and Su (2020).

    >>> from neyman.tradeoff import pure_dp
    >>> print(central_limit_mu([(pure_dp(0.1), 100)]))
    estimate 1.00042 (central limit theorem)
    """
    parts = [(functionals(curve.remove), count) for curve, count in _checked(steps)]
    variance = _total(parts, "variance")
    mu = 2 * _total(parts, "kl") / math.sqrt(variance) if variance > 0 else 0.0
    return Estimate(mu, "central limit theorem")


def _checked(steps: Steps) -> Steps:
    if any(count < 0 or count != int(count) for _, count in steps):
        raise InvalidParameter(
            f"steps={steps!r:.200} holds a count that is no whole number of at least 0; "
            "write [(curve, count), ...]"
        )
    return steps


def _symmetric(curve: TradeOff) -> Functionals:
    if not (curve.remove.symmetric and curve.remove == curve.add):
        raise InvalidParameter(
            f"a band was asked of {curve}, which is not its own inverse; the theorem is for "
            "symmetric curves. Compose it exactly"
        )
    return functionals(curve.remove)


def _total(parts: Sequence[tuple[Functionals, int]], name: str) -> float:
    return math.fsum(count * float(getattr(part, name)) for part, count in parts)
