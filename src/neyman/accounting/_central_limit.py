"""The central limit theorem of composition: a proved band, and estimates that are no bounds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from neyman.accounting._estimate import Estimate
from neyman.accounting._functionals import Functionals, functionals, summed
from neyman.arguments import check_type
from neyman.curves import Pair, TradeOff, approx_dp, gdp
from neyman.curves._algebra._factors import factors_of
from neyman.curves._pairs._erased import ErasedPair, erased
from neyman.curves._pairs._identity import IdentityPair
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import Interval, normal_quantile, phi

__all__ = [
    "CentralLimit",
    "CentralLimitBand",
    "central_limit",
    "central_limit_band",
]

Steps: TypeAlias = Sequence[tuple[TradeOff, int]]
Pairs: TypeAlias = Sequence[tuple[Pair, int]]
_Curve = TypeVar("_Curve", TradeOff, TradeOff | Pair)
_METHOD = "central limit theorem"
# Berry-Esseen constants: the first for any independent summands, the others for equal ones.
_UNLIKE, _ALIKE, _MORE = Fraction("0.5600"), Fraction("0.33554"), Fraction("0.415")


@final
@dataclass(frozen=True, slots=True)
class CentralLimitBand:
    """The Berry-Esseen band around the normal limit of a composition, in one direction.

        limit(alpha + gamma) - gamma <= f(alpha) <= limit(alpha - gamma) + gamma
        limit(alpha) = Phi(ratio Phi^-1(1 - alpha) - mu), 1 to the left of [0, 1] and 0 to the right

    If the steps are symmetric, ratio = 1 and limit = G_mu. The composition is f ⊗ f_{0,failure}:
    the theorem applies to f, and f_{0,failure} is factored out.

    Attributes:
        mu: lower and upper end of (mean under Q - mean under P) / (standard deviation under Q), of
            the loss.
        ratio: lower and upper end of (standard deviation under P) / (standard deviation under Q).
        gamma: half-width of the band, rounded up, below 1/2.
        failure: lower and upper end of 1 - prod (1 - delta_i); 0 if no loss is infinite.

    Guarantee: holds for the composition that it was computed for. The band is wide: about 40 times
        the true error for pure differential privacy. Exact composition is always the better answer.
    Source: Dong, Roth and Su (2022), theorem 3.4 and proposition 3.7, for symmetric steps;
        docs/theory/limit.md has the proof for any.
    """

    mu: tuple[float, float]
    ratio: tuple[float, float]
    gamma: float
    failure: tuple[float, float] = (0.0, 0.0)

    def beta(self, alpha: npt.ArrayLike) -> Interval:
        """Return bounds of the whole composition's f at alpha in [0, 1].

        Raises:
            InvalidParameter: if alpha is outside [0, 1].
        """
        given = np.asarray(alpha, dtype=np.float64)
        if not np.all((given >= 0) & (given <= 1)):
            raise InvalidParameter(f"alpha must be in [0, 1]; got {alpha!r}")
        at, kept = Interval.decimal(given), 1 - _ends(self.failure)
        # f_{0,d} ⊗ f is (1 - d) f(alpha / (1 - d)).
        return (self._core((at / kept).clip(0.0, 1.0)) * kept).smaller(1 - at).clip(0.0, 1.0)

    def _core(self, alpha: Interval) -> Interval:
        lower = self._limit(alpha + self.gamma) - self.gamma
        upper = self._limit(alpha - self.gamma) + self.gamma
        return Interval(lower.lower, upper.upper).clip(0.0, 1.0).smaller(1 - alpha)

    def _limit(self, alpha: Interval) -> Interval:
        z = -normal_quantile(alpha.clip(0.0, 1.0))
        return phi(_ends(self.ratio) * z - _ends(self.mu))


@final
@dataclass(frozen=True, slots=True)
class CentralLimit:
    """The normal limit of a composition, G_mu ⊗ f_{0,d} with d = 1 - e^(-sum delta_i); not a bound.

    The limit is close if no single step matters. The theorem assumes symmetric steps, a largest kl
    that tends to 0 and a sum of kappa3 that tends to 0. Neither is checked; both are attributes,
    for you to look at. The size and the sign of the error are unknown. This is no curve and cannot
    be charged.

    Attributes:
        mu: of the steps without their failures, by the formula that `central_limit` was called
            with.
        failure: d.
        largest_kl: the largest kl of a step.
        kappa3: the sum of kappa3 over the steps.

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
        """Estimate the privacy profile at epsilon."""
        return Estimate(float(self._curve().delta(epsilon)), _METHOD)

    def epsilon(self, delta: float) -> Estimate:
        """Estimate the epsilon that belongs to a delta."""
        return Estimate(float(self._curve().epsilon(delta)), _METHOD)

    def _curve(self) -> TradeOff:
        return gdp(self.mu.value) @ approx_dp(0, self.failure.value)

    def __str__(self) -> str:
        return f"estimate G_{self.mu.value:.6g} ⊗ f_(0,{self.failure.value:.6g}) ({_METHOD})"


def central_limit_band(steps: Sequence[tuple[TradeOff | Pair, int]]) -> CentralLimitBand:
    """Return the Berry-Esseen band of a composition of curves whose loss has a third moment.

        mu = (sum kl + sum kl') / sqrt(v'),  ratio = sqrt(v / v'),  v = sum (kappa2 - kl^2),
        gamma = 0.56 sum kappa3_bar / v^(3/2), the larger one of both laws

    A prime marks the law of the loss under Q. For n equal steps gamma is 0.33554 (rho + 0.415) /
    sqrt(n), where rho = kappa3_bar / (kappa2 - kl^2)^(3/2) of one step. That is at most 0.4748 rho
    / sqrt(n).

    Args:
        steps: pairs of a guarantee and how many times it is run. The guarantee is a trade-off
            function whose two directions are equal, or one direction, f.remove or f.add.
            f_{0,delta} is factored out of each, and compositions are split into their parts.

    Raises:
        InvalidParameter: if a trade-off function has two different directions, if kappa3 is
            infinite after f_{0,delta} is factored out, or if gamma is not below 1/2.
        NotCertified: if the moments of a step are estimates.
        UnsupportedComposition: if a guarantee has no pair of laws.

    Source: Dong, Roth and Su (2022), theorem 3.4. The constants: Shevtsova, *An improvement of
        convergence rate estimates in the Lyapunov theorem*, Doklady Mathematics 82 (2010), and *On
        the absolute constants in the Berry-Esseen type inequalities for identically distributed
        summands*, arXiv:1111.6554 (2011).

    >>> from neyman.curves import approx_dp, gdp, poisson, pure_dp
    >>> f"{central_limit_band([(pure_dp(0.1), 100)]).gamma:.4f}"
    '0.0476'
    >>> f"{central_limit_band([(approx_dp(0.1, 1e-6), 100)]).failure[1]:.6e}"
    '9.999505e-05'
    >>> step = poisson(gdp(0.9), 0.004)
    >>> f"{central_limit_band([(step.remove, 14_000)]).gamma:.4f}"
    '0.0149'
    """
    cores, failures = _apart([(_one_way(curve), count) for curve, count in _checked(steps)])
    under_p = _sum(cores)
    alike = all(pair.symmetric for pair, _ in cores)
    under_q = under_p if alike else _sum([(pair.swap(), count) for pair, count in cores])
    gamma = max(under_p.gamma, under_q.gamma)
    if not gamma < 0.5:
        raise InvalidParameter(
            f"gamma={gamma:.3g} is not below 1/2, so the band says nothing; compose more steps, or "
            "compose exactly"
        )
    mu = (under_p.kl + under_q.kl) / under_q.variance.sqrt()
    ratio = (under_p.variance / under_q.variance).sqrt()
    return CentralLimitBand(_pair(mu), _pair(ratio), gamma, _mass(failures))


@final
@dataclass(frozen=True, slots=True)
class _Sum:
    """The loss of a composition under P: minus its mean, its variance, its distance to normal."""

    kl: Interval
    variance: Interval
    gamma: float


def _sum(cores: Pairs) -> _Sum:
    parts = [(functionals(pair), count) for pair, count in cores]
    for (pair, _), (moments, _) in zip(cores, parts, strict=True):
        if not moments.finite:
            raise InvalidParameter(
                f"a band needs a finite kappa3; that of {pair} is infinite. Compose it exactly, or "
                "write it as a core @ approx_dp(0, delta)"
            )
    if not all(part.certified for part, _ in parts):
        raise NotCertified(
            "a band needs proved moments; those of this pair are only estimated. Compose it "
            "exactly, or use the estimates central_limit or edgeworth"
        )
    kl, variance = _total(parts, "kl"), _total(parts, "variance")
    if not variance > 0:
        raise InvalidParameter("nothing is composed, and nothing tends to a Gaussian; add a step")
    skewed = _total(parts, "kappa3_bar") / (variance * variance.sqrt())
    number = sum(count for _, count in cores)
    if len({pair for pair, _ in cores}) == 1:
        gamma = (skewed + _MORE / Interval.of(number).sqrt()) * _ALIKE
    else:
        gamma = skewed * _UNLIKE
    return _Sum(kl, variance, float(gamma.upper))


def central_limit(
    steps: Steps, *, by: Literal["moments", "chi_square"] = "moments"
) -> CentralLimit:
    """Estimate the limit of a composition: G_mu, and f_{0,d} if steps can fail.

        by="moments"     mu = 2 sum kl / sqrt(sum (kappa2 - kl^2))
        by="chi_square"  mu = sqrt(sum chi^2(Q, P)), chi^2 = E_P (dQ/dP - 1)^2

    Both use the remove direction, and have the same limit as all steps become small. The second is
    the published formula for noisy SGD, q sqrt(T (e^(1/sigma^2) - 1)). Each errs to either side.
    For subsampled Gaussians, the epsilon of the first was found from 57% below the truth to 11%
    above.

    Args:
        steps: pairs of a trade-off function and how many times it is run; f_{0,delta} is factored
            out of each.
        by: which formula for mu.

    Raises:
        InvalidParameter: if a step has infinite moments after f_{0,delta} is factored out.

    Source: Dong, Roth and Su (2022), theorems 3.5 and 3.8; Bu, Dong, Long and Su (2020), "Deep
        learning with Gaussian differential privacy", for the second. It is no bound.

    >>> from neyman.curves import approx_dp, gdp, poisson
    >>> print(central_limit([(approx_dp(0.1, 1e-5), 100)]))
    estimate G_1.00042 ⊗ f_(0,0.0009995) (central limit theorem)
    >>> step = poisson(gdp(1), 0.01)
    >>> print(central_limit([(step, 400)], by="chi_square").mu)  # 0.01 * 20 * sqrt(e - 1)
    estimate 0.262166 (central limit theorem)
    """
    if by not in ("moments", "chi_square"):
        raise InvalidParameter(f"by must be 'moments' or 'chi_square'; got {by!r:.80}")
    cores, failures = _apart([(curve.remove, count) for curve, count in _checked(steps)])
    parts = [(functionals(pair), count) for pair, count in cores]
    kl, variance = (float(_total(parts, name).upper) for name in ("kl", "variance"))
    if by == "chi_square":
        square = _chi_squares(cores)
    else:
        square = 4 * kl**2 / variance if 0 < variance < math.inf else variance
    if not math.isfinite(square):
        raise InvalidParameter(
            "a central limit needs a finite kappa2 and chi^2 of every step, once f_{0,delta} is "
            "factored out; one step has neither. Compose the steps exactly"
        )
    failed = math.fsum(float(delta) * times for delta, times in failures)
    return CentralLimit(
        Estimate(math.sqrt(square), _METHOD),
        Estimate(-math.expm1(-failed), _METHOD),
        max((part.kl.upper for part, _ in parts), default=0.0),
        float(_total(parts, "kappa3").upper),
    )


def _chi_squares(cores: Pairs) -> float:
    """Return the sum of chi^2 = exp(D_2) - 1, D_2 the Rényi divergence of order 2."""
    orders = np.asarray(2.0)
    return math.fsum(n * math.expm1(float(pair.renyi_bracket(orders).upper)) for pair, n in cores)


def _checked(steps: Sequence[tuple[_Curve, int]]) -> Sequence[tuple[_Curve, int]]:
    if any(count < 0 or count != int(count) for _, count in steps):
        raise InvalidParameter(
            "steps must be pairs of a curve and a whole number of at least 0; got "
            f"{steps!r:.200}. Write [(curve, count), ...]"
        )
    return steps


def _one_way(curve: TradeOff | Pair) -> Pair:
    if isinstance(curve, Pair):
        return curve
    check_type("a step", curve, TradeOff, "a guarantee or one direction of it, f.remove or f.add")
    if curve.remove != curve.add:
        raise InvalidParameter(
            f"a band needs one direction; the two directions of {curve} differ. Write f.remove or "
            "f.add of each step"
        )
    return curve.remove


def _apart(steps: Pairs) -> tuple[list[tuple[Pair, int]], list[tuple[Fraction, int]]]:
    """Return the cores with their counts, and the failures with theirs."""
    cores: list[tuple[Pair, int]] = []
    failures: list[tuple[Fraction, int]] = []
    for pair, count in steps:
        core = pair
        if isinstance(pair, ErasedPair):
            core = pair.core
            failures += [(delta, times * count) for delta, times in pair.failures]
        cores += [(part, times * count) for part, times in factors_of(core) if count]
    return cores, failures


def _mass(failures: Sequence[tuple[Fraction, int]]) -> tuple[float, float]:
    """Bound 1 - prod (1 - delta_i)^n_i."""
    lost = erased(IdentityPair(), failures).tpr_bracket(np.zeros(1))
    return float(lost.lower[0]), float(lost.upper[0])


def _total(parts: Sequence[tuple[Functionals, int]], name: str) -> Interval:
    return summed((getattr(part, name), count) for part, count in parts)


def _ends(bounds: tuple[float, float]) -> Interval:
    return Interval(np.asarray(bounds[0]), np.asarray(bounds[1]))


def _pair(bounds: Interval) -> tuple[float, float]:
    return float(bounds.lower), float(bounds.upper)
