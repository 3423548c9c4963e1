"""Randomized response taken many times, by binomial tails: up to 10^12 answers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._pair import BestTest, Tails, middles
from neyman.curves._pairs._bounded import check_epsilon
from neyman.errors import InvalidParameter
from neyman.numerics import ULP, Array, Atoms, Bracket, Interval, around, exp_outward, tanh
from neyman.numerics._distributions._binomial import log_binomial_tail

__all__ = ["ResponseProfile", "atoms_of_randomized_response"]

_MOST = 2**50


def atoms_of_randomized_response(epsilon: Fraction) -> Atoms:
    """Return the two losses -epsilon and epsilon of the binary answer under epsilon-DP."""
    bound = float(epsilon)
    kept = -math.log1p(math.exp(-bound))
    return Atoms(
        -epsilon,
        2 * epsilon,
        np.array([0, 1], dtype=np.int64),
        np.array([kept, kept - bound]),
        np.array([kept - bound, kept]),
    )


@final
@dataclass(frozen=True, slots=True)
class ResponseProfile:
    """`times` answers under epsilon-DP: L = epsilon (2 X - n), X binomial.

    P(X = k) has the success probability 1 / (1 + e^epsilon), Q its complement, and
    delta(x) = max over k of Q(X >= k) - e^x P(X >= k), by the k of the first loss above x.

    Source: Kairouz, Oh and Viswanath (2015), theorem 3.3.

    >>> profile = ResponseProfile(Fraction(1, 10**6), 10**12)
    >>> f"{float(profile.delta_bracket(1.0).upper):.8f}"
    '0.12693674'
    """

    epsilon0: Fraction
    times: int

    def __post_init__(self) -> None:
        """Refuse what doubles cannot count."""
        check_epsilon(self.epsilon0)
        if not 2 <= self.times <= _MOST:
            raise InvalidParameter(
                f"{self.times} answers were asked; write a number from 2 to 2^50"
            )

    @property
    def method(self) -> str:
        """Sums over the lattice of losses."""
        return "lattice"

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return the middles of the brackets of the tails."""
        place = (np.asarray(t) / float(self.epsilon0) + self.times) / 2
        # The first count whose loss is above the threshold.
        k = np.ceil(place) if closed else np.floor(place) + 1
        k = np.clip(k, 0.0, self.times + 1.0)
        flipped = self.times - k + 1
        sides = (
            self._p_above(k),
            log_binomial_tail(flipped, self.times, self._gap()),
            self._q_above(k),
            self._q_below(k),
        )
        return middles(sides)

    def _gap(self) -> Interval:
        return tanh(Interval.of(self.epsilon0) / 2) / 2

    def _above(self, k: Array) -> tuple[Bracket, Bracket]:
        """Return log Q(X >= k) and log P(X >= k)."""
        gap, ways = self._gap(), np.ones((2, *k.shape))
        ways[1] = -1
        found = log_binomial_tail(k * np.abs(ways), self.times, gap * ways)
        return Bracket(found.lower[0], found.upper[0]), Bracket(found.lower[1], found.upper[1])

    def _p_above(self, k: Array) -> Bracket:
        """Return log P(X >= k)."""
        return log_binomial_tail(k, self.times, -self._gap())

    def _q_above(self, k: Array) -> Bracket:
        return log_binomial_tail(k, self.times, self._gap())

    def _q_below(self, k: Array) -> Bracket:
        """Return log Q(X < k) = log P(X > n - k)."""
        return log_binomial_tail(self.times - k + 1, self.times, -self._gap())

    def _loss(self, k: Array) -> Bracket:
        """Return the loss at k."""
        value = (2 * k - self.times) * float(self.epsilon0)
        return Bracket(value - ULP * np.abs(value) / 4, value + ULP * np.abs(value) / 4)

    def _first(
        self, holds: Callable[[Array], npt.NDArray[np.bool_]], shape: tuple[int, ...]
    ) -> Array:
        """Return the smallest k in 0..n + 1 for which it holds, for it does at the last."""
        low, high = np.full(shape, -1.0), np.full(shape, self.times + 1.0)
        parts = np.arange(1, 8).reshape(-1, *(1 for _ in shape)) / 8
        while np.any(high - low > 1):
            places = np.minimum(np.maximum(np.floor(low + (high - low) * parts), low + 1), high)
            good = holds(places) | (places == high)
            low = np.max(np.where(good, low, places), axis=0)
            high = np.min(np.where(good, places, high), axis=0)
        return high

    @staticmethod
    def _log_line(tails: tuple[Bracket, Bracket], x: Array, *, up: bool) -> Array:
        """Return log(Q(X >= k) - e^x P(X >= k)), bounded."""
        q, p = tails
        first, second = (q.upper, p.lower) if up else (q.lower, p.upper)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = x + second - first
            log = first + np.log(-np.expm1(np.minimum(ratio, 0.0)))
            error = ULP * (
                2 + np.abs(first) + (1 + np.abs(x)) / np.maximum(-np.expm1(ratio), 1e-300)
            )
        log = np.where(np.isneginf(second), first, log + (error if up else -error))
        return np.where(np.isneginf(first), -np.inf, np.minimum(log, 0.0))

    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        """Return a bracket of log delta; relative, 1e-10 at 10^12 answers of a total mu near 1."""
        x = np.asarray(epsilon, dtype=np.float64)
        near = around(x)
        scale = float(self.epsilon0)
        k = np.clip(np.floor((x / scale + self.times) / 2) + 1, 0.0, self.times + 1.0)
        tails = self._above(k)
        upper = self._log_line(tails, near.lower, up=True)
        upper = upper + np.where(np.isfinite(upper), 2 * ULP * (1 + np.abs(x)), 0.0)
        lower = self._log_line(tails, near.upper, up=False)
        upper = np.minimum(upper, 0.0)
        return Bracket(np.minimum(lower, upper), upper)

    def best_test(self, alpha: Array) -> BestTest | None:  # noqa: ARG002
        """Not here: at atoms the threshold is shared by many sizes."""
        return None

    def delta_bracket(self, epsilon: Array) -> Bracket:
        """Return a bracket of delta."""
        return exp_outward(self.log_delta_bracket(epsilon))

    def epsilon_bracket(self, delta: Array) -> Bracket:
        """Return a bracket of the smallest epsilon >= 0 with delta(epsilon) <= delta."""
        at = np.asarray(delta, dtype=np.float64)
        near = around(at)
        with np.errstate(divide="ignore"):
            down, up = np.log(np.maximum(near.lower, 0.0)), np.log(near.upper)
        down, up = (
            t + s * np.where(np.isfinite(t), ULP * (1 - t), 0.0) for t, s in ((down, -1), (up, 1))
        )
        k = self._first(
            lambda k: self._log_line(self._above(k), self._loss(k).lower, up=True) <= down, at.shape
        )
        k = np.minimum(k, float(self.times))
        high = self._root(k, down, up=True)
        high = np.minimum(np.maximum(high, self._loss(k - 1).upper), self._loss(k).upper)
        low = np.minimum(self._root(k, up, up=False), high)
        return Bracket(np.maximum(low, 0.0), np.maximum(high, 0.0))

    def _root(self, k: Array, target: Array, *, up: bool) -> Array:
        """Return the x at which Q(X >= k) - e^x P(X >= k) is the target."""
        q, p = self._above(k)
        first, second = (q.upper, p.lower) if up else (q.lower, p.upper)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = -np.expm1(np.minimum(target - first, 0.0))
            x = first + np.log(share) - second
            error = ULP * (2 + np.abs(first) + np.abs(second) + (1 + np.abs(first)) / share)
            x = np.where(share > 0, x + (error if up else -error), -np.inf)
        return np.where(np.isnan(x), np.inf if up else -np.inf, x)

    def _place(self, alpha: Array) -> Array:
        """Return the k with P(X > k) <= alpha < P(X >= k), from above."""
        # At the next threshold the level is proved to be at most alpha.
        after = self._first(lambda k: exp_outward(self._p_above(k)).upper <= alpha, alpha.shape)
        return np.maximum(after - 1, 0.0)

    def beta_bracket(self, alpha: Array) -> Bracket:
        """Return a bracket of f(alpha): a chord above, a supporting line below."""
        at = np.asarray(alpha, dtype=np.float64)
        near, k = around(at), self._place(around(at).lower)
        gamma = self._coin(k, near.lower)
        ends = [exp_outward(self._q_below(j)).upper for j in (k + 1, k)]
        upper = ends[1] + (1 - gamma) * np.maximum(ends[0] - ends[1], 0.0)
        upper = np.nextafter(upper * (1 + ULP), 2.0)
        level, below = exp_outward(self._p_above(k)).lower, exp_outward(self._q_below(k)).lower
        spare = level - near.upper
        slope = np.where(spare > 0, self._loss(k).lower, self._loss(k).upper)
        part = np.exp(np.minimum(slope, 700.0)) * spare
        lower = (below + part) - ULP * (below + np.abs(part)) * (4 + np.abs(slope))
        upper = np.where(at >= 1, 0.0, np.minimum(upper, 1.0))
        return Bracket(np.clip(lower, 0.0, upper), upper)

    def tpr_bracket(self, alpha: Array) -> Bracket:
        """Return a bracket of 1 - f(alpha), with its own relative accuracy."""
        at = np.asarray(alpha, dtype=np.float64)
        near, k = around(at), self._place(around(at).lower)
        gamma = self._coin(k, near.lower)
        ends = [exp_outward(self._q_above(j)).lower for j in (k + 1, k)]
        lower = (ends[0] + gamma * np.maximum(ends[1] - ends[0], 0.0)) * (1 - ULP)
        lower = np.where(at >= 1, 1.0, np.maximum(np.nextafter(lower, -1.0), 0.0))
        level, above = (
            exp_outward(self._p_above(k + 1)).lower,
            exp_outward(self._q_above(k + 1)).upper,
        )
        part = np.exp(np.minimum(self._loss(k).upper, 700.0)) * np.maximum(near.upper - level, 0.0)
        upper = (above + part) * (1 + ULP * (4 + np.abs(self._loss(k).upper)))
        upper = np.where(at <= 0, 0.0, np.minimum(np.nextafter(upper, 2.0), 1.0))
        return Bracket(np.minimum(np.where(at <= 0, 0.0, lower), upper), upper)

    def _coin(self, k: Array, alpha: Array) -> Array:
        """Return a weight of the threshold k that keeps the level, the rest going to k + 1."""
        first, second = (exp_outward(self._p_above(j)).upper for j in (k + 1, k))
        wide = np.maximum(second - first, 5e-324)
        return np.clip((alpha - first) / wide, 0.0, 1.0) * (1 - ULP)
