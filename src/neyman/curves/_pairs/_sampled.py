"""The pair of a mechanism that saw the unit with some probability only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.curves._divergences._binomial_renyi import binomial_renyi, capped_renyi
from neyman.curves._divergences._law_renyi import renyi_by_law
from neyman.curves._divergences._outer_renyi import outer_renyi
from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, ReversedPair, Tails
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._lattice_pair import LatticePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    LossSum,
    ordinary,
    raised,
    text,
)
from neyman.numerics._lattice_sums._source import LossSource, SampledSource
from neyman.numerics._primitives import exp, expm1, log, log1p
from neyman.numerics._root import proved_root
from neyman.overriding import override

# A bracket of larger relative width is worth another method.
_LOOSE = 1e-9
# The relative accuracy of a level, and the most bisections for it.
_CLOSE, _HALVINGS = 2.0**-53, 60

__all__ = ["SampledPair", "SampledSwapPair", "sampled", "sampling_of"]


@monotone
def sampled(base: Pair, probability: Fraction) -> Pair:
    """Return (P, (1 - q) P + q Q); sampling twice is sampling once with the product."""
    if probability == 0 or base.kind == IdentityPair.kind:
        return IdentityPair()
    if probability == 1:
        return base
    if isinstance(base, SampledPair):
        return SampledPair(base.base, probability * base.probability)
    return SampledPair(base, probability)


def sampling_of(pair: Pair) -> "SampledPair | None":
    """Return a sampled pair itself, or the one whose other direction it is; else None."""
    if isinstance(pair, SampledSwapPair):
        return pair.forward
    return pair if isinstance(pair, SampledPair) else None


def _falling(
    view: Callable[[Array], Interval], at: Interval, asked: npt.NDArray[np.bool_]
) -> Interval:
    """Evaluate a falling view where `asked` is true; return some number elsewhere."""
    if not np.any(asked):
        return Interval.exactly(np.zeros(np.shape(asked)))
    first = np.unravel_index(np.argmax(asked), np.shape(asked))
    one = Interval(at.lower[first], at.upper[first])
    return Interval.where(asked, at, one).through(view, falling=True)


@dataclass(frozen=True, slots=True)
class _PoissonSampled(Pair):
    """A base pair under Poisson sampling, seen from one side."""

    base: Pair
    probability: Fraction

    keys: ClassVar[Mapping[str, str]] = {"probability": "sampling_probability"}
    proved: ClassVar[bool] = True
    relation = "add_remove"

    def __post_init__(self) -> None:
        """Refuse a probability that is not strictly between 0 and 1."""
        ordinary(self.probability, "sampling_probability")
        if self.probability >= 1 or self.base.kind == self.kind:
            raise InvalidParameter(
                "a sampled pair has 0 < sampling_probability < 1 and a base that is not itself "
                "sampled; write poisson(f, sampling_probability)"
            )

    @property
    def least(self) -> Interval:
        """The loss log(1 - q), which is exceeded surely without the unit."""
        return log1p(-Interval.of(self.probability))

    @override
    def summaries(self) -> Summaries:
        """Bound mu by the base's: sampling cannot hurt, nor does it help against every test.

        As alpha -> 0 the local mu of f tends to the base's, for q e^L0 is all of the loss there.
        """
        return Summaries(
            outer_gaussian=self.base.outer_gaussian, tight_gaussian=self.base.tight_gaussian
        )


@final
@dataclass(frozen=True, slots=True)
class SampledPair(_PoissonSampled):
    """(P, (1 - q) P + q Q) of a base pair (P, Q): Poisson sampling, seen from without the unit.

    L = log(1 - q + q e^L0) with L0 the base's loss, and in closed form of the base

        f(alpha) = q f0(alpha) + (1 - q) (1 - alpha)
        delta(epsilon) = q delta0(log(1 + (e^epsilon - 1)/q)), epsilon > log(1 - q).

    Source: Zhu, Dong and Wang (2022), theorem 11; Dong, Roth and Su (2022), theorem 4.2.
    """

    kind: ClassVar[str] = "sampled"

    def __str__(self) -> str:
        return f"poisson({self.base}, sampling_probability={text(self.probability)})"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        return float(np.log(float(self.probability))) + self.base.log_singular[0], -np.inf

    @override
    def swap(self) -> Pair:
        return SampledSwapPair(self.base, self.probability)

    @override
    def loss_source(self) -> LossSource | None:
        source = self.base.loss_source()
        return None if source is None else SampledSource(source, self.probability)

    @override
    def loss_law(self) -> LossSum | None:
        base = self.base
        known = isinstance(base, GaussianPair | LaplacePair | RandomizedResponsePair | LatticePair)
        return base.sampled_law(float(self.probability)) if known else None

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        q = float(self.probability)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            inner = self._inner(Interval.exactly(t)).middle
            tails = self.base.log_tails(inner, closed=closed)
            low = np.asarray(t) < np.log1p(-q)
            p_above = np.where(low, 0.0, tails.p_above)
            p_below = np.where(low, -np.inf, tails.p_below)
            q_above = np.logaddexp(
                np.log1p(-q) + p_above, np.log(q) + np.where(low, 0.0, tails.q_above)
            )
            q_below = np.logaddexp(
                np.log1p(-q) + p_below, np.log(q) + np.where(low, -np.inf, tails.q_below)
            )
        return Tails(p_above, p_below, q_above, q_below)

    def _inner(self, x: Interval) -> Interval:
        """Return log(1 + (e^x - 1)/q), the base's loss where L is x; -inf below the least."""
        q, rest = Interval.of(self.probability), Interval.of(1 - self.probability)
        near = log1p(expm1(x.smaller(1)) / q)
        far = x - log(q) + log1p(-(rest * exp(-x.larger(1))))
        return Interval.where(x.lower == np.inf, x, x.choose(1, near, far))

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta,
            delta=self._delta,
            epsilon=self._epsilon,
            beta=self._beta,
            tpr=self._tpr,
        )

    @override
    def summaries(self) -> Summaries:
        own = _PoissonSampled.summaries(self)._replace(renyi=self._renyi)
        # Sampling cannot hurt, and rho of a Gaussian is attained at orders without end.
        gaussian = self.base.kind == GaussianPair.kind
        return own._replace(zcdp=self.base.zcdp_bracket) if gaussian else own

    def _log_delta(self, epsilon: Array) -> Interval:
        """Log q + log delta0; below log(1 - q) the loss is above surely, delta 1 - e^epsilon."""
        x = Interval.decimal(epsilon)
        base = _falling(self.base.log_delta_bracket, self._inner(x), ~(x <= self.least))
        sure = log(-expm1(x.smaller(0)))
        found = log(Interval.of(self.probability)) + base
        # Nothing is left of nothing.
        found = Interval.where(np.isneginf(base.upper), base, found)
        return x.choose(self.least, sure, found).smaller(0)

    def _delta(self, epsilon: Array) -> Interval:
        x = Interval.decimal(epsilon)
        base = _falling(self.base.delta_bracket, self._inner(x), ~(x <= self.least))
        found = x.choose(self.least, -expm1(x.smaller(0)), Interval.of(self.probability) * base)
        return found.clip(0.0, 1.0)

    def _epsilon(self, delta: Array) -> Interval:
        """log(1 + q (e^epsilon0 - 1)) at the base's epsilon of delta/q, moved up until proved."""
        q, rest = Interval.of(self.probability), Interval.of(1 - self.probability)
        share = (Interval.decimal(delta) / q).clip(0.0, 1.0)
        inner = share.through(self.base.epsilon_bracket, falling=True).larger(0)

        def outer(end: Array) -> Interval:
            x = Interval.exactly(end)
            near = log1p(q * expm1(x.smaller(1)))
            return x.choose(1, near, x + log(q + rest * exp(-x.larger(1)))).larger(0)

        # It rises: the ends may lie far apart, where the lower bound is loose.
        lower, upper = outer(inner.lower).lower, outer(inner.upper).upper
        upper = np.where(np.isinf(inner.upper), np.inf, upper)
        lower = np.where(np.isinf(inner.lower), np.inf, lower)
        step = 2.0**-53 * np.where(np.isfinite(upper), upper, 1.0) + 1e-300

        def holds(epsilon: Array) -> npt.NDArray[np.bool_]:
            return np.isinf(epsilon) | (self.delta_bracket(epsilon).upper <= delta)

        upper = raised(upper, step, holds)
        return Interval(np.minimum(lower, upper), upper)

    def _beta(self, alpha: Array) -> Interval:
        q, rest = Interval.of(self.probability), Interval.of(1 - self.probability)
        missed = rest * (1 - Interval.decimal(alpha)).larger(0)
        return (q * self.base.beta_bracket(alpha).decimals() + missed).clip(0.0, 1.0)

    def _tpr(self, alpha: Array) -> Interval:
        q, rest = Interval.of(self.probability), Interval.of(1 - self.probability)
        level = Interval.decimal(alpha).clip(0.0, 1.0)
        return (q * self.base.tpr_bracket(alpha).decimals() + rest * level).clip(0.0, 1.0)

    def _renyi(self, order: Array) -> Interval:
        law = self.loss_law()
        if law is None:
            # Sampling cannot hurt.
            return Interval(np.zeros(order.shape), self.base.renyi_bracket(order).upper)
        found = renyi_by_law(law, order, self.log_singular[0])
        if self.base.kind != GaussianPair.kind:
            # By convexity sampling cannot hurt.
            upper = np.minimum(found.upper, outer_renyi(self.base, order))
            return Interval(np.minimum(found.lower, upper), upper)
        square = self.base.inner_gaussian()
        high = np.ravel((order > 1) & (found.upper > found.lower * (1 + _LOOSE)))
        lower, upper = np.ravel(found.lower).copy(), np.ravel(found.upper).copy()
        sums = binomial_renyi(np.ravel(order)[high], square, self.probability)
        lower[high] = np.maximum(lower[high], sums.lower)
        upper[high] = np.minimum(upper[high], sums.upper)
        bounds = Interval(lower.reshape(order.shape), upper.reshape(order.shape))
        return capped_renyi(bounds, order, square)


@final
@dataclass(frozen=True, slots=True)
class SampledSwapPair(ReversedPair, _PoissonSampled):
    """((1 - q) P + q Q, P): Poisson sampling, seen from with the unit.

    With k = 1 - (1 - q) e^epsilon and the base swapped, delta0 that of (Q, P) from Q's side,

        delta(epsilon) = k delta0(epsilon + log(q / k)), and 0 from k <= 0 on;

    a test of the swapped base with errors (x, beta0) has here the errors
    alpha = (1 - q) (1 - beta0) + q x and beta0.

    Source: as `SampledPair`.
    """

    kind: ClassVar[str] = "sampled_swap"

    @property
    def forward(self) -> SampledPair:
        """The same sampling, seen from without the unit."""
        return SampledPair(self.base, self.probability)

    def __str__(self) -> str:
        return f"{self.forward}.swap()"

    @override
    def swap(self) -> Pair:
        return self.forward

    def _shares(self, x: Interval) -> tuple[Interval, Interval]:
        """Return k = 1 - (1 - q) e^x, at least 0, and the base's loss x + log(q / k)."""
        q, most = Interval.of(self.probability), -self.least
        # From the largest loss on k is 0: a little beyond it is proved, and nothing overflows.
        near = x.smaller(most.upper + 1)
        k = (q * exp(near) - expm1(near)).larger(0)
        return k, x + log(q) - log(k)

    @override
    def views(self) -> Views:
        return Views(log_delta=self._log_delta, delta=self._delta, beta=self._beta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return _PoissonSampled.summaries(self)._replace(renyi=self._renyi)

    def _log_delta(self, epsilon: Array) -> Interval:
        k, inner = self._shares(Interval.decimal(epsilon))
        back = self.base.swap()
        found = log(k) + _falling(back.log_delta_bracket, inner, k.upper > 0)
        return Interval.where(k.upper > 0, found.smaller(0), Interval.exactly(-np.inf))

    def _delta(self, epsilon: Array) -> Interval:
        k, inner = self._shares(Interval.decimal(epsilon))
        back = self.base.swap()
        found = k * _falling(back.delta_bracket, inner, k.upper > 0)
        return Interval.where(k.upper > 0, found.clip(0.0, 1.0), Interval.exactly(0.0))

    def _base_level(self, size: Array) -> Interval:
        """Interval the x with (1 - q) tpr0(x) + q x = size."""
        alpha = np.ravel(np.asarray(size, dtype=np.float64))
        back, near = self.base.swap(), Interval.decimal(alpha)
        q, rest = (Interval.of(x) for x in (self.probability, 1 - self.probability))

        def level(x: Array) -> Interval:
            return rest * back.tpr_bracket(x).decimals() + q * x

        def log_level(t: Array) -> Interval:
            return log(level(np.exp(-np.maximum(t, 0.0))))

        lower, upper = np.zeros(alpha.shape), np.where(near.lower <= 0, 0.0, np.minimum(alpha, 1.0))
        # Where a test that never rejects without the unit is as large, it is one.
        open_ = (alpha > 0) & (alpha < 1) & ~(level(np.zeros(1)).lower >= near.upper)
        upper[~open_ & (alpha < 1)] = 0.0
        lower[alpha >= 1] = 1.0
        if np.any(open_):
            target = np.log(alpha[open_])
            found = proved_root(
                log_level, lambda t: log_level(t).middle, target, -target, -np.ones(target.shape)
            )
            lower[open_], upper[open_] = np.exp(-found.upper), np.exp(-np.maximum(found.lower, 0.0))
        # A secant stops early, where the function is flat most of all: each end by halving.
        first, last = lower, upper
        for _ in range(_HALVINGS):
            room = (upper - lower) / 16 + _CLOSE * upper
            if np.all((last - lower <= room) & (upper - first <= room)):
                break
            middles = (lower + last) / 2, (first + upper) / 2
            here = level(np.stack(middles))
            under, over = here.upper[0] <= near.lower, here.lower[1] >= near.upper
            lower, last = np.where(under, middles[0], lower), np.where(under, last, middles[0])
            upper, first = np.where(over, middles[1], upper), np.where(over, first, middles[1])
        return Interval(lower.reshape(np.shape(size)), upper.reshape(np.shape(size)))

    def _proportional(self, alpha: Array) -> Interval:
        """Interval alpha / (1 - q), the power while all tests fit where only the unit leads."""
        return Interval.decimal(alpha) / Interval.of(1 - self.probability)

    def _beta(self, alpha: Array) -> Interval:
        back, x, line = self.base.swap(), self._base_level(alpha), self._proportional(alpha)
        missed = (1 - line).clip(0.0, 1.0)
        lower, upper = x.through(back.beta_bracket, falling=True)
        lower = np.maximum(lower, missed.lower)
        upper = np.where(x.lower > 0, upper, np.maximum(upper, missed.upper))
        return Interval(np.minimum(lower, upper), upper)

    def _tpr(self, alpha: Array) -> Interval:
        back, x, line = self.base.swap(), self._base_level(alpha), self._proportional(alpha)
        lower, upper = x.through(back.tpr_bracket, falling=False)
        lower = np.where(x.lower > 0, lower, np.minimum(lower, line.lower))
        upper = np.minimum(upper, line.upper)
        return Interval(np.minimum(lower, upper), upper)

    def _renyi(self, order: Array) -> Interval:
        law = self.loss_law()
        if law is None:
            upper = self.base.swap().renyi_bracket(order).upper
            upper = np.minimum(upper, (-self.least).upper)
            return Interval(np.zeros(order.shape), upper)
        found = renyi_by_law(law, order, self.log_singular[0])
        upper = np.minimum(found.upper, max(law.range[1], 0.0))
        found = Interval(np.minimum(found.lower, upper), upper)
        return capped_renyi(found, order, self.outer_gaussian())
