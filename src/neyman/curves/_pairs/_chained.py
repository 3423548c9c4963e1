"""A chain of datasets: the guarantee between its ends, from the guarantees of its links."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import nextafter
from typing import ClassVar, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, check_relation
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._bounded import check_epsilon
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._profiles._tangents import Tangents, meeting, points_of
from neyman.numerics import (
    Array,
    Interval,
    ceil_float,
    floor_float,
    square_roots,
    standing,
)
from neyman.numerics._primitives import exp, expm1, log
from neyman.overriding import override

__all__ = ["ChainedPair", "Links", "chained"]

# Pairs in order, each with its number of links; equal neighbours are merged.
Links: TypeAlias = tuple[tuple[Pair, int], ...]
Places: TypeAlias = npt.NDArray[np.int64]
Lines: TypeAlias = list[tuple[Tangents, int]]

# The most refinements of the tables, the most questions, and the relative accuracy.
_ROUNDS, _FEW, _CLOSE = 5, 64, 1e-11
# The least size of a test; how often a delta is aimed at, by which share of what was missed it is
# missed on purpose, and how near it is at last.
_LEAST, _AIMS, _SPARE, _ROOM = 1e-280, 8, 0.01, 1e-15
_FAR, _ABOVE, _FLOOR = 700.0, 1e-9, -690.0


@monotone
def chained(links: Sequence[tuple[Pair, int]]) -> Pair:
    """Return the pair of the ends of a chain, in its one normal form: first link first."""
    found: list[tuple[Pair, int]] = []
    for pair, times in links:
        inner = pair.links if isinstance(pair, ChainedPair) else ((pair, 1),)
        for _ in range(times if len(inner) > 1 else 1):
            for part, count in inner:
                many = count * (times if len(inner) == 1 else 1)
                if part.kind == IdentityPair.kind:
                    continue
                if found and found[-1][0] == part:
                    found[-1] = (part, found[-1][1] + many)
                else:
                    found.append((part, many))
    check_relation((pair for pair, _ in found), "chained")
    if not found:
        return IdentityPair()
    if len(found) > 1 or found[0][1] > 1:
        return _closed(tuple(found)) or ChainedPair(tuple(found))
    return found[0][0]


def _closed(links: Links) -> Pair | None:
    """Gaussians of one size: G_mu and G_mu make G_(2 mu)."""
    pair, times = links[0]
    square = pair.outer_gaussian() if pair.kind == GaussianPair.kind else None
    return GaussianPair(square * times**2) if square is not None and len(links) == 1 else None


@final
@dataclass(frozen=True, slots=True)
class ChainedPair(Pair):
    """P_0, ..., P_n with T(P_(i-1), P_i) >= f_i:  T(P_0, P_n) >= f_n ∘ (1 - f_(n-1)) ∘ ... .

    The power of the whole is tpr_n(... tpr_1(alpha)), and each is increasing, so that the brackets
    of the links go through. delta is its conjugate: of any size, and any losses of sum epsilon,

        tpr_n(... tpr_1(a)) - e^epsilon a  <=  delta(epsilon)
        delta(epsilon)  <=  delta_n(t_n) + e^(t_n) (delta_(n-1)(t_(n-1)) + e^(t_(n-1)) (...))

    and the largest of the first is the least of the second.

    Guarantee: the smallest curve, and the largest profile, that the links allow.
    Source: Dong, Roth and Su (2022), theorem 2.14 and its lemma on T(P, R).
    """

    links: Links

    kind: ClassVar[str] = "chained"
    proved: ClassVar[bool] = True

    def __str__(self) -> str:
        parts = (f"{n} of {pair}" if n > 1 else str(pair) for pair, n in self.links)
        return f"chain({', '.join(parts)})"

    @override
    def swap(self) -> Pair:
        return chained(self._both()[1])

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            logs = [np.log(_power(links, np.zeros(1)).upper) for links in self._both()]
        return float(logs[0][0]), float(logs[1][0])

    def _both(self) -> tuple[Links, Links]:
        return self.links, tuple((pair.swap(), n) for pair, n in reversed(self.links))

    @override
    def views(self) -> Views:
        return Views(
            delta=self._delta,
            epsilon=self._epsilon,
            beta=self._beta,
            tpr=partial(_power, self.links),
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=self._zcdp,
            outer_gaussian=self._outer_gaussian,
            inner_gaussian=self._inner_gaussian,
            outer_pure=lambda: self._sum(lambda pair: pair.outer_pure()),
        )

    def _beta(self, alpha: Array) -> Interval:
        pair, n = self.links[-1]
        before = (*self.links[:-1], (pair, n - 1)) if n > 1 else self.links[:-1]
        size = _power(before, alpha)
        return Interval(pair.beta_bracket(size.upper).lower, pair.beta_bracket(size.lower).upper)

    def _delta(self, epsilon: Array) -> Interval:
        flat = np.ravel(np.asarray(epsilon, dtype=np.float64))
        lower, upper, left = np.zeros(flat.shape), np.ones(flat.shape), flat < 0
        if np.any(left):
            # delta(-x) = 1 - e^-x + e^-x delta_swapped(x)
            x = Interval.decimal(flat[left])
            lower[left], upper[left] = -expm1(x) + exp(x) * self.swap().delta_bracket(-flat[left])
        if not np.all(left):
            lower[~left], upper[~left] = self._right(flat[~left])
        most = self.outer_pure()
        if most is not None:
            upper[flat >= standing(most)[1]] = 0.0
        found = Interval(np.minimum(lower, upper), upper).clip(0.0, 1.0)
        return Interval(*(side.reshape(np.shape(epsilon)) for side in found))

    def _right(self, epsilon: Array) -> Interval:
        """Bracket delta at epsilon >= 0, one dimension."""
        near, least = Interval.decimal(epsilon), float(_power(self.links, np.zeros(1)).lower[0])

        def prove(links: Lines, open_: Places) -> Interval:
            at, (size, losses) = near.at(open_), meeting(links, epsilon[open_], inverse=False)
            # No more than epsilon in all.
            first = (at - _total(list(losses[1:]))).lower
            power = Interval.exactly(_power(self.links, size).lower)
            low = power - exp(at.smaller(_FAR)) * Interval.exactly(size)
            low = np.where(at.upper <= _FAR, low.lower, 0.0)
            return Interval(np.maximum(low, least), self._most([first, *losses[1:]]))

        return self._closer(epsilon, (0.0, 1.0), prove, inverse=False)

    def _epsilon(self, delta: Array) -> Interval:
        flat, most = np.ravel(np.asarray(delta, dtype=np.float64)), self.outer_pure()
        near, largest = Interval.decimal(flat), np.inf if most is None else float(standing(most)[1])
        alone = _power(self.links, np.zeros(1)).lower[0]

        def prove(links: Lines, open_: Places) -> Interval:
            size = meeting(links, flat[open_], inverse=True)[0]
            at, size = near.at(open_), np.maximum(size, _LEAST)
            shown = Interval.exactly(_power(self.links, size).lower) - at
            low = np.maximum(log(shown.larger(0.0) / Interval.exactly(size)).lower, 0.0)
            low = np.where(at.upper < alone, np.inf, np.where(at.upper >= 1, 0.0, low))
            return Interval(low, self._least_epsilon(links, at.lower))

        found = self._closer(flat, (0.0, largest), prove, inverse=True)
        return Interval(found.lower.reshape(np.shape(delta)), found.upper.reshape(np.shape(delta)))

    def _least_epsilon(self, links: Lines, delta: Array) -> Array:
        """Return a sum of losses, at least 0, at which delta is proved to be so small."""
        aim, found = delta, np.full(delta.shape, np.inf)
        for _ in range(_AIMS):
            losses = list(meeting(links, aim, inverse=True)[1])
            most = self._most(losses)
            found = np.where(most <= delta, np.minimum(found, _total(losses).upper), found)
            if np.all((most <= delta) & (most >= delta * (1 - _CLOSE))):
                break
            # Where the tables say too little, a little further; where too much, not as far.
            share = np.where(most > delta, 1 + _SPARE, 1 - _SPARE)
            aim = np.maximum(aim + (delta - most) * share - delta * _ROOM, 0.0)
        return np.maximum(found, 0.0)

    def _closer(
        self,
        goal: Array,
        known: tuple[float, float],
        prove: Callable[[Lines, Places], Interval],
        *,
        inverse: bool,
    ) -> Interval:
        """Return the bounds proved where the lines of finer and finer tables touch."""
        lower, upper = (np.full(goal.shape, end) for end in known)
        points, open_ = {pair: points_of(pair) for pair, _ in self.links}, np.arange(goal.size)
        for _ in range(_ROUNDS):
            tables = {pair: Tangents.of(found) for pair, found in points.items()}
            links = [(tables[pair], n) for pair, n in self.links]
            found = prove(links, open_)
            lower[open_] = np.maximum(lower[open_], found.lower)
            upper[open_] = np.minimum(upper[open_], found.upper)
            open_ = np.flatnonzero(upper > lower + _CLOSE * np.abs(upper))
            if not 0 < open_.size <= _FEW:
                break
            losses, start = meeting(links, goal[open_], inverse=inverse)[1], 0
            for pair, n in self.links:
                points[pair] = points[pair].finer(losses[start : start + n].ravel())
                start += n
        return Interval(np.minimum(lower, upper), upper)

    def _most(self, losses: list[Array]) -> Array:
        """Bound delta at the sum of losses, one of each link, from above."""
        total, start = Interval.exactly(0.0), 0
        for pair, n in self.links:
            at = Interval.exactly(np.stack(losses[start : start + n]))
            parts, odds = at.through(pair.delta_bracket, falling=True), exp(at)
            for i in range(n):
                one = np.asarray(i)
                total = parts.at(one) + odds.at(one) * total
            start += n
        return total.upper

    def _sum(self, bound: Callable[[Pair], Fraction | None]) -> Fraction | None:
        total = Fraction(0)
        for pair, n in self.links:
            part = bound(pair)
            if part is None:
                return None
            total += n * part
        return total

    def _renyi(self, order: Array) -> Interval:
        square, most = self.outer_gaussian(), self.outer_pure()
        upper, a = np.full(order.shape, np.inf), Interval.decimal(order)
        if square is not None:
            upper = np.where(np.isinf(order), np.inf, (a * (square / 2)).upper)
        if most is not None:
            upper = np.minimum(upper, ceil_float(most))
        lower = (a * (self.inner_gaussian() / 2)).lower
        least = self.inner_pure()
        if least > 0:
            check_epsilon(least)
            lower = np.maximum(lower, RandomizedResponsePair(least).renyi_bracket(order).lower)
        return Interval(np.minimum(lower, upper), upper)

    def _zcdp(self) -> tuple[float, float]:
        square, most = self.outer_gaussian(), self.outer_pure()
        known = [x for x in (square, None if most is None else most**2) if x]
        upper = ceil_float(min(known) / 2) if known else np.inf
        return floor_float(self.inner_gaussian() / 2), upper

    def _outer_gaussian(self) -> Fraction | None:
        if len(self.links) == 1:
            square = self.links[0][0].outer_gaussian()
            return None if square is None else square * self.links[0][1] ** 2
        mu = self._sum(lambda pair: _root(pair.outer_gaussian(), 1))
        return None if mu is None else mu**2

    def _inner_gaussian(self) -> Fraction:
        mu = self._sum(lambda pair: _root(pair.inner_gaussian(), 0))
        return Fraction(0) if mu is None else mu**2


def _total(losses: list[Array]) -> Interval:
    total = Interval.exactly(0.0)
    for loss in losses:
        total = total + loss
    return total


def _power(links: Links, alpha: Array) -> Interval:
    low = high = alpha
    for pair, times in links:
        for _ in range(times):
            if low is high:
                low, high = pair.tpr_bracket(low)
            else:
                low, high = pair.tpr_bracket(low).lower, pair.tpr_bracket(high).upper
    return Interval(low, high)


def _root(square: Fraction | None, side: int) -> Fraction | None:
    if square is None or square == 0:
        return square
    # A printed decimal may stand for a root a little larger or smaller than the double.
    root = square_roots(square)[side]
    exact = Fraction(root)
    if exact**2 == square:
        return exact
    return Fraction(nextafter(root, np.inf if side else 0.0))
