"""A chain of datasets: what is known about its ends from what is known about its links."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import ClassVar, TypeAlias, final

import numpy as np

from neyman.curves._pair import Pair, check_relation
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._curve_pair import CurvePair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._profiles._conjugate import profile_of_powers
from neyman.numerics import Array, Bracket, square_roots, standing
from neyman.overriding import override

__all__ = ["ChainedPair", "Links", "chained"]

# Pairs with how many links of each, in order; equal neighbours are counted together.
Links: TypeAlias = tuple[tuple[Pair, int], ...]


@monotone
def chained(links: Iterable[tuple[Pair, int]]) -> Pair:
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
    check_relation((pair for pair, _ in found), "chain", "chained")
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
class ChainedPair(CurvePair):
    """P_0, ..., P_n with T(P_(i-1), P_i) >= f_i:  T(P_0, P_n) >= f_n ∘ (1 - f_(n-1)) ∘ ... .

    The power of the whole is tpr_n(... tpr_1(alpha)), and each is increasing, so that the brackets
    of the links go through; delta is its conjugate.

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
        return chained((pair.swap(), n) for pair, n in reversed(self.links))

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            logs = [np.log(_power(links, np.zeros(1)).upper) for links in self._both()]
        return float(logs[0][0]), float(logs[1][0])

    def _both(self) -> tuple[Links, Links]:
        return self.links, tuple((pair.swap(), n) for pair, n in reversed(self.links))

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        return _power(self.links, alpha)

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        pair, n = self.links[-1]
        before = (*self.links[:-1], (pair, n - 1)) if n > 1 else self.links[:-1]
        size = _power(before, alpha)
        return Bracket(pair.beta_bracket(size.upper).lower, pair.beta_bracket(size.lower).upper)

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        found = profile_of_powers(self.tpr_bracket, lambda a: _power(self._both()[1], a), epsilon)
        most = self.outer_pure()
        if most is None:
            return found
        beyond = epsilon >= standing(most)[1]
        return Bracket(*(np.where(beyond, -np.inf, side) for side in found))

    def _sum(self, bound: Callable[[Pair], Fraction | None]) -> Fraction | None:
        total = Fraction(0)
        for pair, n in self.links:
            part = bound(pair)
            if part is None:
                return None
            total += n * part
        return total

    @override
    def outer_pure(self) -> Fraction | None:
        return self._sum(lambda pair: pair.outer_pure())

    @override
    def outer_gaussian(self, *, tight: bool = False) -> Fraction | None:  # noqa: ARG002
        if len(self.links) == 1:
            square = self.links[0][0].outer_gaussian()
            return None if square is None else square * self.links[0][1] ** 2
        mu = self._sum(lambda pair: _root(pair.outer_gaussian(), 1))
        return None if mu is None else mu**2

    @override
    def inner_gaussian(self) -> Fraction:
        mu = self._sum(lambda pair: _root(pair.inner_gaussian(), 0))
        return Fraction(0) if mu is None else mu**2


def _power(links: Links, alpha: Array) -> Bracket:
    low = high = alpha
    for pair, times in links:
        for _ in range(times):
            if low is high:
                low, high = pair.tpr_bracket(low)
            else:
                low, high = pair.tpr_bracket(low).lower, pair.tpr_bracket(high).upper
    return Bracket(low, high)


def _root(square: Fraction | None, side: int) -> Fraction | None:
    if square is None or square == 0:
        return square
    # A printed decimal may stand for a root a little larger or smaller than the double.
    root = square_roots(square)[side]
    exact = Fraction(root)
    if exact**2 == square:
        return exact
    return Fraction(nextafter(root, np.inf if side else 0.0))
