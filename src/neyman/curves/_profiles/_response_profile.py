"""Randomized response taken many times, by binomial tails: up to 10^12 answers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.curves._pair import Tails, middles
from neyman.curves._pairs._bounded import check_epsilon
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Atoms, Interval, exact, exp, log, log1mexp, tanh
from neyman.numerics._distributions._binomial import log_binomial_tail

__all__ = ["ResponseProfile", "atoms_of_randomized_response"]

_MOST, _FEW = 2**50, 8


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
                f"times must be from 2 to 2^50; got {self.times}. Write the number of answers"
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

    def _above(self, k: Array) -> tuple[Interval, Interval]:
        """Return log Q(X >= k) and log P(X >= k)."""
        ways = np.ones((2, *k.shape))
        ways[1] = -1
        found = log_binomial_tail(k * np.abs(ways), self.times, self._gap() * ways)
        return Interval(found.lower[0], found.upper[0]), Interval(found.lower[1], found.upper[1])

    def _p_above(self, k: Array) -> Interval:
        """Return log P(X >= k)."""
        return log_binomial_tail(k, self.times, -self._gap())

    def _q_above(self, k: Array) -> Interval:
        return log_binomial_tail(k, self.times, self._gap())

    def _q_below(self, k: Array) -> Interval:
        """Return log Q(X < k) = log P(X > n - k)."""
        return log_binomial_tail(self.times - k + 1, self.times, -self._gap())

    def _loss(self, k: Array) -> Interval:
        """Return the loss at k."""
        return Interval.exactly(2 * k - self.times) * Interval.of(self.epsilon0)

    def _first(
        self, holds: Callable[[Array], npt.NDArray[np.bool_]], shape: tuple[int, ...]
    ) -> Array:
        """Return the smallest k in 0..n + 1 for which it holds, for it does at the last."""
        low, high = np.full(shape, -1.0), np.full(shape, self.times + 1.0)
        # For few points the overhead of a call costs more than its work.
        pieces = 8 if math.prod(shape) <= _FEW else 2
        parts = np.arange(1, pieces).reshape(-1, *(1 for _ in shape)) / pieces
        while np.any(high - low > 1):
            places = np.minimum(np.maximum(np.floor(low + (high - low) * parts), low + 1), high)
            good = holds(places) | (places == high)
            low = np.max(np.where(good, low, places), axis=0)
            high = np.min(np.where(good, places, high), axis=0)
        return high

    def _log_line(self, k: Array, x: Interval) -> Interval:
        """Return log(Q(X >= k) - e^x P(X >= k))."""
        q, p = self._above(k)
        line = q + log1mexp((x + p - q).smaller(0.0))
        return Interval.where(np.isneginf(q.upper), q, line).smaller(0.0)

    def log_delta_bracket(self, epsilon: Array) -> Interval:
        """Return a bracket of log delta; relative, 1e-10 at 10^12 answers of a total mu near 1."""
        return self._log_line(self._after(np.asarray(epsilon)), Interval.decimal(epsilon))

    def _after(self, loss: Array) -> Array:
        """Return the first k with a loss above the decimal that a double prints as."""
        place = (Interval.decimal(loss) / Interval.of(self.epsilon0) + self.times) / 2
        low, high = (np.ravel(np.clip(np.floor(end), -1.0, self.times)) for end in place)
        for i in np.flatnonzero(low != high).tolist():
            ratio = exact(float(np.ravel(loss)[i]), "loss") / self.epsilon0
            low[i] = (ratio + self.times) / 2 // 1
        return low.reshape(np.shape(loss)) + 1

    def delta_bracket(self, epsilon: Array) -> Interval:
        """Return a bracket of delta."""
        return _mass(self.log_delta_bracket(epsilon))

    def epsilon_bracket(self, delta: Array) -> Interval:
        """Return a bracket of the smallest epsilon >= 0 with delta(epsilon) <= delta."""
        target = log(Interval.decimal(delta).larger(0.0))
        k = self._first(
            lambda k: self._log_line(k, self._loss(k)).upper <= target.lower, np.shape(delta)
        )
        k = np.minimum(k, float(self.times))
        # Where Q(X >= k) - e^x P(X >= k) is the target.
        q, p = self._above(k)
        low, high = q + log1mexp((target - q).smaller(0.0)) - p
        high = np.where(np.isnan(high), np.inf, high)
        high = np.minimum(np.maximum(high, self._loss(k - 1).upper), self._loss(k).upper)
        low = np.minimum(np.where(np.isnan(low), -np.inf, low), high)
        return Interval(low, high).larger(0.0)

    def _place(self, alpha: Array) -> Array:
        """Return the k with P(X > k) <= alpha < P(X >= k), from above."""
        # At the next threshold the level is proved to be at most alpha.
        after = self._first(lambda k: _mass(self._p_above(k)).upper <= alpha, alpha.shape)
        return np.maximum(after - 1, 0.0)

    def beta_bracket(self, alpha: Array) -> Interval:
        """Return a bracket of f(alpha): a chord above, a supporting line below."""
        near = Interval.decimal(alpha)
        k = self._place(near.lower)
        after, here = (Interval.exactly(_mass(self._q_below(j)).upper) for j in (k + 1, k))
        chord = here + (1 - self._coin(k, near.lower)) * (after - here).larger(0.0)
        spare = _mass(self._p_above(k)) - near.upper
        line = _mass(self._q_below(k)) + exp(self._loss(k)) * spare
        upper = np.where(near.lower >= 1, 0.0, np.minimum(chord.upper, 1.0))
        return Interval(np.clip(line.lower, 0.0, upper), upper)

    def tpr_bracket(self, alpha: Array) -> Interval:
        """Return a bracket of 1 - f(alpha), with its own relative accuracy."""
        near = Interval.decimal(alpha)
        k = self._place(near.lower)
        after, here = (Interval.exactly(_mass(self._q_above(j)).lower) for j in (k + 1, k))
        chord = after + self._coin(k, near.lower) * (here - after).larger(0.0)
        spare = (near.upper - _mass(self._p_above(k + 1))).larger(0.0)
        line = _mass(self._q_above(k + 1)) + exp(self._loss(k)) * spare
        lower = np.where(near.lower >= 1, 1.0, chord.lower)
        ends = (np.where(near.upper <= 0, 0.0, np.minimum(end, 1.0)) for end in (lower, line.upper))
        low, high = ends
        return Interval(np.minimum(low, high), high)

    def _coin(self, k: Array, alpha: Array) -> Interval:
        """Return a weight of the threshold k that keeps the level, the rest going to k + 1."""
        after, here = (Interval.exactly(_mass(self._p_above(j)).upper) for j in (k + 1, k))
        return Interval.exactly(np.clip(((alpha - after) / (here - after)).lower, 0.0, 1.0))


def _mass(log_mass: Interval) -> Interval:
    return exp(log_mass).smaller(1.0)
