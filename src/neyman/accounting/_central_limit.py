"""The central limit theorem of composition: a proved band, and estimates that are no bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.accounting._estimate import Estimate
from neyman.accounting._functionals import Functionals, functionals
from neyman.curves import Pair, TradeOff, approx_dp, gdp
from neyman.curves._pairs._erased import ErasedPair, erased
from neyman.curves._pairs._identity import IdentityPair
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import ULP, Array, Bracket, ndtri, normal_tail

__all__ = [
    "CentralLimit",
    "CentralLimitBand",
    "central_limit",
    "central_limit_band",
]

Steps = Sequence[tuple[TradeOff, int]]
_SLACK = 512 * ULP
_METHOD = "central limit theorem"


@final
@dataclass(frozen=True, slots=True)
class CentralLimitBand:
    """G_mu(alpha + gamma) - gamma <= f(alpha) <= G_mu(alpha - gamma) + gamma on [gamma, 1 - gamma].

    Outside, f is only known to be non-increasing and at most 1 - alpha. What is composed is
    f ⊗ f_{0,failure}: the theorem is for the first, and the second is factored out.

    Attributes:
        mu: lower and upper end of 2 kl / sqrt(variance).
        gamma: half-width, rounded up, below 1/2.
        failure: bounds of 1 - prod (1 - delta_i), 0 where no mass is infinite.

    Guarantee: holds for the composition that it was made of. It is wide: about 40 times the true
        error for pure differential privacy, so that exact composition is always the better answer.
    Source: Dong, Roth and Su (2022), theorem 3.4 and proposition 3.7.
    """

    mu: tuple[float, float]
    gamma: float
    failure: tuple[float, float] = (0.0, 0.0)

    def beta(self, alpha: npt.ArrayLike) -> Bracket:
        """Return bounds of the whole composition's f at alpha in [0, 1].

        Raises:
            InvalidParameter: if alpha leaves [0, 1].
        """
        at = np.asarray(alpha, dtype=np.float64)
        if not np.all((at >= 0) & (at <= 1)):
            raise InvalidParameter(f"alpha={alpha!r} leaves [0, 1]; write numbers in it")
        if self.failure[1] == 0:
            return self._core(at)
        # f_{0,d} ⊗ f is (1 - d) f(alpha / (1 - d)), and falls in d.
        kept = [1 - d for d in self.failure]
        most, least = (
            self._core(np.minimum(at / share * (1 + side), 1.0))
            for share, side in zip(kept, (-ULP, ULP), strict=True)
        )
        lower = np.where(at < kept[1] * (1 - ULP), kept[1] * least.lower * (1 - ULP), 0.0)
        upper = np.where(at > kept[0] * (1 + ULP), 0.0, kept[0] * most.upper * (1 + ULP))
        upper = np.minimum(upper, 1 - at)
        return Bracket(np.minimum(lower, upper), upper)

    def _core(self, at: Array) -> Bracket:
        right = (np.maximum(at, self.gamma) + self.gamma) * (1 + ULP)
        left = np.minimum(at, 1 - self.gamma) * (1 - ULP) - self.gamma
        lower = np.maximum(_gaussian(right, self.mu[1]).lower - self.gamma, 0.0) * (1 - ULP)
        upper = np.minimum((_gaussian(left, self.mu[0]).upper + self.gamma) * (1 + ULP), 1 - at)
        return Bracket(np.minimum(lower, upper), upper)


@final
@dataclass(frozen=True, slots=True)
class CentralLimit:
    """G_mu ⊗ f_{0,d}, d = 1 - e^(-sum delta_i): what a composition tends to, and no bound of it.

    It is near if no step counts: the theorem asks that the steps are symmetric, that the largest kl
    tends to 0 and that so does the sum of kappa3. Neither is checked, both are here to be looked
    at; nothing is known of the error, of either sign. It is no curve and cannot be charged.

    Attributes:
        mu: 2 sum kl / sqrt(sum (kappa2 - kl^2)) of the steps without their failures.
        failure: d.
        largest_kl: of a step.
        kappa3: the sum.

    Source: Dong, Roth and Su (2022), theorems 3.5 and 3.8.
    """

    mu: Estimate
    failure: Estimate
    largest_kl: float
    kappa3: float

    is_bound: ClassVar[bool] = False
    certified: ClassVar[bool] = False

    def beta(self, alpha: float) -> Estimate:
        """Estimate f(alpha)."""
        return Estimate(float(self._curve().beta(alpha)), _METHOD)

    def delta(self, epsilon: float) -> Estimate:
        """Estimate the profile."""
        return Estimate(float(self._curve().delta(epsilon)), _METHOD)

    def _curve(self) -> TradeOff:
        return gdp(self.mu.value) @ approx_dp(0, self.failure.value)

    def __str__(self) -> str:
        return f"estimate G_{self.mu.value:.6g} ⊗ f_(0,{self.failure.value:.6g}) ({_METHOD})"


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
        steps: symmetric trade-off functions of any kind, each with how many times it is run;
            f_{0,delta} is factored out of each, and compositions are taken apart.

    Raises:
        InvalidParameter: if one is not symmetric, has an infinite kappa3 that no f_{0,delta}
            explains, or if gamma is not below 1/2.
        NotCertified: if the moments of one are estimates.
        UnsupportedComposition: if a guarantee has no pair of laws.

    >>> from neyman.curves import approx_dp, pure_dp
    >>> f"{central_limit_band([(pure_dp(0.1), 100)]).gamma:.4f}"
    '0.0562'
    >>> f"{central_limit_band([(approx_dp(0.1, 1e-6), 100)]).failure[1]:.6e}"
    '9.999505e-05'
    """
    cores, failures = _apart([(_symmetric(curve), count) for curve, count in _checked(steps)])
    parts = [(functionals(pair), count) for pair, count in cores]
    for (pair, _), (moments, _) in zip(cores, parts, strict=True):
        if not moments.finite:
            raise InvalidParameter(
                f"a band was asked of {pair}, whose kappa3 is infinite; that a curve is symmetric "
                "does not make it finite. Compose it exactly, or write it as a core @ "
                "approx_dp(0, delta)"
            )
    if not all(part.certified for part, _ in parts):
        raise NotCertified(
            "a band was asked of a pair whose moments are only estimated; compose it exactly, or "
            "ask for the estimates central_limit or edgeworth"
        )
    kl, variance = _total(parts, "kl"), _total(parts, "variance")
    if variance[0] <= 0:
        raise InvalidParameter("nothing is composed, and nothing tends to a Gaussian; add a step")
    gamma = 0.56 * _total(parts, "kappa3_bar")[1] / variance[0] ** 1.5 * (1 + _SLACK)
    if not gamma < 0.5:
        raise InvalidParameter(
            f"gamma={gamma:.3g} is not below 1/2, so the band says nothing; compose more steps, or "
            "compose exactly"
        )
    mu = 2 * kl[0] / math.sqrt(variance[1]), 2 * kl[1] / math.sqrt(variance[0])
    bounds = mu[0] * (1 - _SLACK), mu[1] * (1 + _SLACK)
    return CentralLimitBand(bounds, gamma, _mass(failures))


def central_limit(steps: Steps) -> CentralLimit:
    """Estimate what a composition tends to: G_mu, and f_{0,d} beside it where steps can fail.

    Of a pair that is not symmetric, the remove direction: kl is the mean of the loss under P and
    the variance that under P. mu errs to either side: for subsampled Gaussians the epsilon it
    stands for was seen from 57% below the truth to 11% above.

    Args:
        steps: trade-off functions, each with how many times it is run; f_{0,delta} is factored out
            of each.

    Raises:
        InvalidParameter: if a step has infinite moments that no f_{0,delta} explains.

    Source: Dong, Roth and Su (2022), theorems 3.5 and 3.8; Bu, Dong, Long and Su (2020). It is no
        bound.

    >>> from neyman.curves import approx_dp
    >>> print(central_limit([(approx_dp(0.1, 1e-5), 100)]))
    estimate G_1.00042 ⊗ f_(0,0.0009995) (central limit theorem)
    """
    cores, failures = _apart([(curve.remove, count) for curve, count in _checked(steps)])
    parts = [(functionals(pair), count) for pair, count in cores]
    kl, variance = _total(parts, "kl")[1], _total(parts, "variance")[1]
    if not math.isfinite(variance):
        raise InvalidParameter(
            "a central limit was asked of steps of which one has an infinite kappa2 that no "
            "f_{0,delta} explains; compose it exactly"
        )
    failed = math.fsum(float(delta) * times for delta, times in failures)
    return CentralLimit(
        Estimate(2 * kl / math.sqrt(variance) if variance > 0 else 0.0, _METHOD),
        Estimate(-math.expm1(-failed), _METHOD),
        max((part.kl.upper for part, _ in parts), default=0.0),
        _total(parts, "kappa3")[1],
    )


def _checked(steps: Steps) -> Steps:
    if any(count < 0 or count != int(count) for _, count in steps):
        raise InvalidParameter(
            f"steps={steps!r:.200} holds a count that is no whole number of at least 0; "
            "write [(curve, count), ...]"
        )
    return steps


def _symmetric(curve: TradeOff) -> Pair:
    if not (curve.remove.symmetric and curve.remove == curve.add):
        raise InvalidParameter(
            f"a band was asked of {curve}, which is not its own inverse; the theorem is for "
            "symmetric curves. Compose it exactly, or ask for that of symmetric_hull of each step, "
            "which lies below"
        )
    return curve.remove


def _apart(
    steps: Sequence[tuple[Pair, int]],
) -> tuple[list[tuple[Pair, int]], list[tuple[Fraction, int]]]:
    """Return the cores with their counts, and the failures with theirs."""
    cores: list[tuple[Pair, int]] = []
    failures: list[tuple[Fraction, int]] = []
    for pair, count in steps:
        core = pair
        if isinstance(pair, ErasedPair):
            core = pair.core
            failures += [(delta, times * count) for delta, times in pair.failures]
        cores += [(part, times * count) for part, times in core.factors()]
    return cores, failures


def _mass(failures: Sequence[tuple[Fraction, int]]) -> tuple[float, float]:
    """Bound 1 - prod (1 - delta_i)^n_i."""
    lost = erased(IdentityPair(), failures).tpr_bracket(np.zeros(1))
    return float(lost.lower[0]), float(lost.upper[0])


def _total(parts: Sequence[tuple[Functionals, int]], name: str) -> tuple[float, float]:
    found = [(getattr(part, name), count) for part, count in parts]
    lower = math.fsum(count * answer.lower for answer, count in found)
    return lower * (1 - ULP), math.fsum(count * answer.upper for answer, count in found) * (1 + ULP)
