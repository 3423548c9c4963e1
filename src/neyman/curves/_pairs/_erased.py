"""A pair that is betrayed outright with some probability."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._order import inner_gaussian_square, proved_below
from neyman.curves._pair import Pair, Tails
from neyman.curves._solvers._sources import ErasedSource
from neyman.errors import InvalidParameter
from neyman.numerics import (
    ULP,
    Array,
    Bracket,
    ComplexArray,
    around,
    exact,
    exp_outward,
    first_double,
    gaussian_log_delta,
    ordinary,
    standing,
    text,
)
from neyman.overriding import override

__all__ = ["ErasedPair", "Failures", "erased"]

# The ends of the range of mu.
_LEAST_MU, _MOST_MU = 2.0**-500, 2.0**500

Failures: TypeAlias = tuple[tuple[Fraction, int], ...]


def _log_kept(delta: Fraction, times: int) -> float:
    """Return times log(1 - delta), as accurate near delta = 1 as near 0."""
    kept = float(1 - delta)
    if kept == 0:
        return -math.inf
    log = math.log1p(-float(delta)) if 2 * delta < 1 else math.log(kept)
    return times * log


def erased(core: Pair, failures: Iterable[tuple[Fraction, int]], already: Failures = ()) -> Pair:
    """Return core ⊗ f_{0,delta} ⊗ ..., with equal deltas counted together.

    Args:
        core: what is erased; not itself erased.
        failures: probabilities with their counts.
        already: more of them, sorted and counted.

    Raises:
        InvalidParameter: for what is no probability, or what doubles cannot work with.
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
    return ErasedPair(core, tuple(kept)) if kept else core


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

    @override
    def parameters(self) -> dict[str, object]:
        return {
            "core": self.core.record(),
            "failures": [[str(delta), times] for delta, times in self.failures],
        }

    def __str__(self) -> str:
        point, (delta, times) = self._point(), self.failures[0]
        if point is not None and len(self.failures) == times == 1:
            return f"approx_dp(epsilon={text(point)}, delta={text(delta)})"
        parts = [
            f"approx_dp(epsilon=0, delta={text(delta)})" + (f" ** {times}" if times > 1 else "")
            for delta, times in self.failures
        ]
        return " @ ".join([str(self.core), *parts])

    def _point(self) -> Fraction | None:
        """Return the epsilon of f_{epsilon,delta}: a symmetric curve above it there is above it."""
        bound = self.core.outer_pure()
        return bound if bound == self.core.inner_pure() else None

    @property
    @override
    def certified(self) -> bool:
        return self.core.certified

    @property
    @override
    def costly(self) -> bool:
        return self.core.costly

    @property
    @override
    def symmetric(self) -> bool:
        return self.core.symmetric

    @override
    def swap(self) -> Pair:
        return self if self.symmetric else erased(self.core.swap(), self.failures)

    @property
    def _single(self) -> Fraction | None:
        (delta, times), *more = self.failures
        return delta if times == 1 and not more else None

    @override
    def without_failure(self) -> tuple[Pair, Fraction, Fraction]:
        if self._single is not None:
            return self.core, self._single, self._single
        total = sum((delta * times for delta, times in self.failures), Fraction(0))
        least = total - total**2 / 2 if total < 1 else max(delta for delta, _ in self.failures)
        return self.core, least, min(total, Fraction(1))

    @property
    def log_kept(self) -> float:
        """Log(1 - d); relative error 4 ULP."""
        return math.fsum(_log_kept(delta, times) for delta, times in self.failures)

    @property
    def mass(self) -> tuple[float, float]:
        """Bounds of d."""
        if self._single is not None:
            return standing(self._single)
        value = -math.expm1(self.log_kept)
        return value * (1 - 8 * ULP), min(value * (1 + 8 * ULP), 1.0)

    @property
    def kept(self) -> tuple[float, float]:
        """Bounds of 1 - d."""
        if self._single is not None:
            return standing(1 - self._single)
        log = self.log_kept
        low, high = math.exp(log * (1 + 8 * ULP)), math.exp(log * (1 - 8 * ULP))
        return low * (1 - ULP), min(math.nextafter(high * (1 + ULP), 1.0), 1.0)

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        mass = self.mass[1]
        q, p = (mass + (1 - mass) * math.exp(log) for log in self.core.log_singular)
        return math.log(q), math.log(p)

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        core = self.core.log_tails(t, closed=closed)
        stay, lost = self.log_kept, math.log(self.mass[1])
        return Tails(
            stay + core.p_above,
            np.logaddexp(lost, stay + core.p_below),
            np.logaddexp(lost, stay + core.q_above),
            stay + core.q_below,
        )

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return self.log_kept + self.core.cumulant(s)

    @override
    def loss_source(self) -> ErasedSource | None:
        source = self.core.loss_source()
        return None if source is None else ErasedSource(source, self.mass, self.kept)

    @override
    def delta_bracket(self, epsilon: Array) -> Bracket:
        down, up = self.mass
        core = self.core.delta_bracket(epsilon)
        lower = np.where(core.lower > 0, (down + (1 - down) * core.lower) * (1 - ULP), down)
        upper = np.where(core.upper > 0, (up + (1 - up) * core.upper) * (1 + ULP), up)
        return Bracket(lower, np.minimum(upper, 1.0))

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        (down, up), (low, high) = self.mass, self.kept
        near = around(delta)
        least = np.maximum(near.lower - up, 0.0) / (high if high > 0 else 1.0) * (1 - 4 * ULP)
        most = np.maximum(near.upper - down, 0.0) / (low if low > 0 else 1.0) * (1 + 4 * ULP)
        upper = self.core.epsilon_bracket(np.clip(least, 0.0, 1.0)).upper
        lower = self.core.epsilon_bracket(np.clip(most, 0.0, 1.0)).lower
        exact = (delta == down) & (delta == up)
        at_mass = self.core.epsilon_bracket(np.zeros(()))
        upper = np.where(exact, at_mass.upper, np.where(delta < up, np.inf, upper))
        lower = np.where(exact, at_mass.lower, np.where(delta < down, np.inf, lower))
        return Bracket(np.minimum(lower, upper), upper)

    @property
    @override
    def method(self) -> str:
        return self.core.method

    @property
    @override
    def neighbors(self) -> str | None:
        return self.core.neighbors

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        delta = self.delta_bracket(epsilon)
        lower, upper = np.log(delta.lower), np.log(delta.upper)
        return Bracket(lower - ULP * (1 - lower), np.minimum(upper + ULP * (1 - upper), 0.0))

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        low, high = self.kept
        lower = low * self.core.beta_bracket(self._inside(alpha, low, ULP)).lower * (1 - ULP)
        upper = high * self.core.beta_bracket(self._inside(alpha, high, -ULP)).upper * (1 + ULP)
        lower = np.maximum(np.nextafter(lower, -1.0), 0.0)
        upper = np.where(alpha >= high, 0.0, np.minimum(np.nextafter(upper, 2.0), high))
        return Bracket(lower, upper)

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        (down, up), (low, high) = self.mass, self.kept
        least = self.core.tpr_bracket(self._inside(alpha, high, -ULP)).lower
        most = self.core.tpr_bracket(self._inside(alpha, low, ULP)).upper
        lower = np.where(alpha >= high, 1.0, (down + (1 - down) * least) * (1 - ULP))
        return Bracket(lower, np.minimum((up + (1 - up) * most) * (1 + ULP), 1.0))

    @staticmethod
    def _inside(alpha: Array, kept: float, slack: float) -> Array:
        if kept == 0:
            return np.ones(alpha.shape)
        with np.errstate(over="ignore"):
            return np.clip(alpha / kept * (1 + slack), 0.0, 1.0)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        below = order < 1
        near = around(np.where(below, order, 0.5))
        core, lost = self.core.renyi_bracket(np.where(below, order, 0.5)), -self.log_kept
        with np.errstate(divide="ignore", over="ignore"):
            lower = (core.lower + lost / (1 - near.lower) * (1 - 8 * ULP)) * (1 - ULP)
            upper = (core.upper + lost / (1 - near.upper) * (1 + 8 * ULP)) * (1 + ULP)
        return Bracket(np.where(below, lower, np.inf), np.where(below, upper, np.inf))

    @override
    def mu_bracket(self, slack: float) -> tuple[float, float]:
        down, up = self.mass
        if slack < down:
            return math.inf, math.inf
        if slack == down == up:
            return self.core.mu_bracket(0.0)
        # Both are decimals, off by up to half a step, and may nearly cancel.
        least = (slack * (1 - ULP) - up * (1 + ULP)) / (1 - up) if up < 1 else 0.0
        most = (slack * (1 + ULP) - down * (1 - ULP)) / (1 - down)
        upper = self.core.mu_bracket(max(least, 0.0) * (1 - ULP))[1] if slack >= up else math.inf
        return self.core.mu_bracket(min(most * (1 + ULP), 1 - ULP))[0], upper

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        return math.inf, math.inf

    @override
    def inner_gaussian(self) -> Fraction:
        point, mass = self._point(), self.mass[0]
        if point is None:
            return inner_gaussian_square(self, mass, self.slope) if self.certified else Fraction(0)
        at = np.asarray(standing(point)[0])
        above = first_double(
            lambda mu: exp_outward(gaussian_log_delta(at, np.maximum(mu, _LEAST_MU))).upper > mass,
            (),
        )
        mu = min(math.nextafter(float(above), 0.0), _MOST_MU)
        return Fraction(mu) ** 2 if mu >= _LEAST_MU else Fraction(0)

    @override
    def admits(self, curve: Curve) -> bool:
        point, mass, square = self._point(), self.mass[0], self.core.inner_gaussian()
        if not self.certified:
            return False
        if point is not None:
            at = np.asarray(standing(point)[0])
            return curve.symmetric and float(curve.delta_bracket(at).upper) <= mass
        if square > 0:
            fitted = curve.mu_bracket(mass)[1]
            # A double may stand for its decimal, which can be the larger of the two.
            if not math.isfinite(fitted):
                return False
            return max(exact(fitted, "mu"), Fraction(fitted)) ** 2 <= square
        return proved_below(curve, self, mass, self.slope)
