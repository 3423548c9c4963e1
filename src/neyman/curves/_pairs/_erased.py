"""A pair that is betrayed outright with some probability."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import inner_gaussian_square
from neyman.curves._pair import Pair, Tails
from neyman.curves._pairs._between import ends_of
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._sources import ErasedSource
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    ComplexArray,
    Interval,
    first_double,
    gaussian_delta,
    ordinary,
    raised,
    standing,
    text,
)
from neyman.numerics._primitives import exp, expm1, log, log1p
from neyman.overriding import override

__all__ = ["ErasedPair", "Failures", "erased", "without_failure"]

# The ends of the range of mu.
_LEAST_MU, _MOST_MU = 2.0**-500, 2.0**500

Failures: TypeAlias = tuple[tuple[Fraction, int], ...]


def _log_kept(failures: "Failures") -> Interval:
    """Return the sum of times log(1 - delta), as accurate near delta = 1 as near 0."""
    total = Interval.exactly(0.0)
    for delta, times in failures:
        log_one = log1p(-Interval.of(delta)) if 2 * delta < 1 else log(Interval.of(1 - delta))
        total = total + log_one * times
    return total


def erased(core: Pair, failures: Iterable[tuple[Fraction, int]], already: Failures = ()) -> Pair:
    """Return core ⊗ f_{0,delta} ⊗ ..., with equal deltas counted together.

    Beside a certain failure nothing else counts: f ⊗ f_{0,1} is f_{0,1}.

    Args:
        core: the pair to erase; not itself erased.
        failures: probabilities with their counts.
        already: more of them, sorted and counted.

    Raises:
        InvalidParameter: if a failure is no probability, or doubles cannot work with it.
    """
    counts: Counter[Fraction] = Counter()
    for delta, times in failures:
        counts[delta] += times
    kept = list(already)
    for delta, times in counts.items():
        if delta <= 0 or not times:
            continue
        at = bisect_left(kept, delta, key=_delta)
        if at < len(kept) and kept[at][0] == delta:
            kept[at] = _checked(delta, times + kept[at][1])
        else:
            kept.insert(at, _checked(delta, times))
    if kept and kept[-1][0] == 1:
        return ErasedPair(IdentityPair(), ((Fraction(1), 1),))
    return ErasedPair(core, tuple(kept)) if kept else core


def without_failure(pair: Pair) -> tuple[Pair, Fraction, Fraction]:
    """Return g, and bounds of d, where a pair is g ⊗ f_{0,d} by construction; else d = 0."""
    bound, attained = ends_of(pair)
    if not isinstance(bound, ErasedPair):
        return pair, Fraction(0), Fraction(0)
    least, most = bound.bounds
    # What is attained may fail less.
    return bound.core, least if attained is bound else Fraction(0), most


def _delta(failure: tuple[Fraction, int]) -> Fraction:
    return failure[0]


def _checked(delta: Fraction, times: int) -> tuple[Fraction, int]:
    ordinary(Fraction(times), "a number of failures")
    if ordinary(delta, "delta") > 1:
        raise InvalidParameter(f"delta={text(delta)} is above 1; write a probability")
    if delta < 1:
        ordinary(1 - delta, "1 - delta")
    return delta, times


@final
@dataclass(frozen=True, slots=True)
class ErasedPair(Pair):
    """core ⊗ f_{0,d}, d = 1 - prod (1 - delta_i)^n_i.

    f(alpha) = (1 - d) f_core(alpha / (1 - d)) up to 1 - d, then 0;
    delta(x) = d + (1 - d) delta_core(x);  K(s) = log(1 - d) + K_core(s).

    Built by `erased`, which checks the probabilities.

    Source: Dong, Roth and Su (2022), proposition 3.7 and the factorisation f_{eps,delta} =
    f_{eps,0} ⊗ f_{0,delta}.
    """

    core: Pair
    failures: Failures

    kind: ClassVar[str] = "erased"
    proved: ClassVar[bool] = True

    def __str__(self) -> str:
        point, (delta, times) = self.point(), self.failures[0]
        if point is not None and len(self.failures) == times == 1:
            return f"approx_dp(epsilon={text(point)}, delta={text(delta)})"
        parts = [
            f"approx_dp(epsilon=0, delta={text(delta)})" + (f" ** {times}" if times > 1 else "")
            for delta, times in self.failures
        ]
        return " @ ".join([str(self.core), *parts])

    def point(self) -> Fraction | None:
        """Return the epsilon of f_{epsilon,delta}: a symmetric curve above it there is above it."""
        bound = self.core.outer_pure()
        return bound if bound == self.core.inner_pure() else None

    @override
    def swap(self) -> Pair:
        core = self.core.swap()
        return self if core is self.core else ErasedPair(core, self.failures)

    @property
    def _single(self) -> Fraction | None:
        (delta, times), *more = self.failures
        return delta if times == 1 and not more else None

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Bounds of d."""
        if self._single is not None:
            return self._single, self._single
        total = sum((delta * times for delta, times in self.failures), Fraction(0))
        least = total - total**2 / 2 if total < 1 else max(delta for delta, _ in self.failures)
        return least, min(total, Fraction(1))

    @property
    def log_kept(self) -> Interval:
        """Log(1 - d)."""
        return _log_kept(self.failures)

    @property
    def mass(self) -> Interval:
        """The probability d."""
        if self._single is not None:
            return Interval.of(self._single)
        return -expm1(self.log_kept).smaller(0)

    @property
    def kept(self) -> Interval:
        """The probability 1 - d."""
        if self._single is not None:
            return Interval.of(1 - self._single)
        return exp(self.log_kept).clip(0.0, 1.0)

    @property
    def decimals(self) -> tuple[float, float]:
        """The doubles that represent d: the same one twice, or one on either side of it."""
        if self._single is not None:
            return standing(self._single)
        lower, upper = self.mass
        return float(lower), float(upper)

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        mass = self.decimals[1]
        q, p = (mass + (1 - mass) * math.exp(log_core) for log_core in self.core.log_singular)
        return math.log(q), math.log(p)

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        core = self.core.log_tails(t, closed=closed)
        stay, lost = float(self.log_kept.middle), math.log(self.decimals[1])
        return Tails(
            stay + core.p_above,
            np.logaddexp(lost, stay + core.p_below),
            np.logaddexp(lost, stay + core.q_above),
            stay + core.q_below,
        )

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return float(self.log_kept.middle) + self.core.cumulant(s)

    def _with_mass(self, core: Interval) -> Interval:
        return (self.mass + self.kept * core.decimals()).clip(0.0, 1.0)

    @override
    def loss_source(self) -> ErasedSource | None:
        source = self.core.loss_source()
        return None if source is None else ErasedSource(source, self.mass, self.kept)

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=lambda: (math.inf, math.inf),
            mu=self._mu,
            inner_gaussian=self._inner_gaussian,
        )

    def _delta(self, epsilon: Array) -> Interval:
        down, up = self.decimals
        core = self.core.delta_bracket(epsilon)
        lower, upper = self._with_mass(core)
        return Interval(np.where(core.lower > 0, lower, down), np.where(core.upper > 0, upper, up))

    def _epsilon(self, delta: Array) -> Interval:
        """The core's; a closed form is moved up until its delta is proved to be at most `delta`."""
        down, up = self.decimals
        lower, upper = np.full(delta.shape, np.inf), np.full(delta.shape, np.inf)
        exact = (delta == down) & (delta == up)
        if np.any(exact):
            lower[exact], upper[exact] = self.core.epsilon_bracket(np.zeros(()))
        # Below the mass every epsilon is infinite, whatever the core.
        more = (delta >= down) & ~exact
        if np.any(more):
            lower[more], upper[more] = self._beyond_mass(delta[more], up)
        return Interval(lower, upper)

    def _beyond_mass(self, delta: Array, up: float) -> Interval:
        rest = ((Interval.decimal(delta) - self.mass).larger(0) / self.kept).clip(0.0, 1.0)
        lower, upper = rest.through(self.core.epsilon_bracket, falling=True)
        upper = np.where(delta < up, np.inf, upper)
        if self.method != "closed form":
            return Interval(np.minimum(lower, upper), upper)
        step = 2.0**-52 * (1e-300 + np.where(np.isfinite(upper), upper, 1.0))
        upper = raised(upper, step, lambda e: self._proved(e, delta))
        return Interval(np.minimum(lower, upper), upper)

    def _proved(self, epsilon: Array, delta: Array) -> npt.NDArray[np.bool_]:
        return np.isposinf(epsilon) | (self.delta_bracket(epsilon).upper <= delta)

    def _beta(self, alpha: Array) -> Interval:
        core = self._inside(alpha).through(self.core.beta_bracket, falling=True)
        lower, upper = (self.kept * core).clip(0.0, 1.0)
        return Interval(lower, np.where(alpha >= self._most, 0.0, upper))

    def _tpr(self, alpha: Array) -> Interval:
        core = self._inside(alpha).through(self.core.tpr_bracket, falling=False)
        lower, upper = (self.mass + self.kept * core).clip(0.0, 1.0)
        return Interval(np.where(alpha >= self._most, 1.0, lower), upper)

    @property
    def _most(self) -> float:
        """The double at or above 1 - d: from this alpha on f is 0."""
        return float(self.kept.upper) if self._single is None else standing(1 - self._single)[1]

    def _inside(self, alpha: Array) -> Interval:
        if self.kept.upper == 0:
            return Interval.exactly(np.ones(alpha.shape))
        return (Interval.decimal(alpha) / self.kept).clip(0.0, 1.0)

    def _renyi(self, order: Array) -> Interval:
        below = order < 1
        inside = np.where(below, order, 0.5)
        core = self.core.renyi_bracket(inside)
        found = core - self.log_kept / (1 - Interval.decimal(inside))
        return Interval.where(below, found, Interval.exactly(np.inf))

    def _mu(self, slack: float) -> tuple[float, float]:
        down, up = self.decimals
        if slack < down:
            return math.inf, math.inf
        if slack == down == up:
            return self.core.mu_bracket(0.0)
        rest = ((Interval.decimal(slack) - self.mass).larger(0) / self.kept).clip(0.0, 1 - 2.0**-52)
        upper = self.core.mu_bracket(float(rest.lower))[1] if slack >= up else math.inf
        return self.core.mu_bracket(float(rest.upper))[0], upper

    def _inner_gaussian(self) -> Fraction:
        point, mass = self.point(), self.decimals[0]
        if point is None:
            return inner_gaussian_square(self, mass, self.slope) if self.certified else Fraction(0)
        at = np.asarray(standing(point)[0])
        above = first_double(
            lambda mu: gaussian_delta(at, np.maximum(mu, _LEAST_MU)).upper > mass,
            (),
        )
        mu = min(math.nextafter(float(above), 0.0), _MOST_MU)
        return Fraction(mu) ** 2 if mu >= _LEAST_MU else Fraction(0)
