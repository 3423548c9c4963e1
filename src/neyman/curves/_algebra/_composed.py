"""Compositions without a closed form: the factors are kept, the loss is the sum of theirs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import ClassVar, final

import numpy as np

from neyman.curves._algebra._factors import (
    Factors,
    ProductPair,
    factors_of,
    folded,
    gathered,
    put_in,
)
from neyman.curves._algebra._tight import tight_mu
from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity, added_subgaussian
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import Deltas, largest_ratio, least_mu
from neyman.curves._pair import Pair, Tails, check_relation
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._erased import ErasedPair, Failures, erased
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._contour import ContourProfile, loss_law
from neyman.curves._solvers._exact import (
    Profile,
    contour_of,
    exact_profile,
    has_exact_profile,
)
from neyman.curves._solvers._read import read
from neyman.curves._solvers._view import BETA, EPSILON, LOG_DELTA, TPR
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import UnsupportedComposition
from neyman.numerics import (
    Array,
    ComplexArray,
    Interval,
    Ladder,
    LossSum,
    ceil_float,
    square_roots,
)
from neyman.overriding import override

__all__ = ["ComposedPair", "composed"]

# Kinds whose powers have another normal form.
_REWRITTEN = (ProductPair, ErasedPair, GaussianPair, IdentityPair, RealLinePair)
# Step of log delta between the depths to which contours are precomputed.
_LEVEL = math.log(1000)


@monotone
def composed(factors: Sequence[tuple[Pair, int]]) -> Pair:
    """Return the composition of `count` copies of each pair, in its one normal form.

    Failures are factored out, compositions unpacked, Gaussians merged, equal factors counted and
    the rest sorted, so that equal compositions are equal objects.
    """
    if len(factors) == 1 and not isinstance(factors[0][0], _REWRITTEN):
        (pair, count), *_ = factors
        if count > 1:
            return ComposedPair(((pair, count),))
        return pair if count else IdentityPair()
    return _normal_form(factors)


def _normal_form(factors: Sequence[tuple[Pair, int]]) -> Pair:
    parts: list[tuple[Pair, int]] = []
    failures: list[tuple[Fraction, int]] = []
    # The longest of each is in normal form already: what comes one by one is only put in.
    longest: Factors = ()
    lost: Failures = ()
    for pair, count in factors:
        if count == 0:
            continue
        core = pair
        # Comparing kinds is faster than isinstance.
        if pair.kind == ErasedPair.kind and isinstance(pair, ErasedPair):
            core, failed = pair.core, pair.failures
            if count == 1 and len(failed) > len(lost):
                lost, failed = failed, lost
            failures.extend((delta, times * count) for delta, times in failed)
        inner = factors_of(core)
        if len(inner) == 1:
            parts.append(inner[0] if count == 1 else (inner[0][0], inner[0][1] * count))
            continue
        if count == 1 and len(inner) > len(longest):
            longest, inner = inner, longest
        parts.extend((part, times * count) for part, times in inner)
    few = gathered(parts)
    if len(few) + len(longest) > 1 and any(pair.neighbors for pair, _ in few):
        check_relation([pair for pair, _ in (*few, *longest)], "composed")
    merged = folded(put_in(longest, few), few)
    if not merged:
        return erased(IdentityPair(), failures, lost)
    if len(merged) == 1 and merged[0][1] == 1:
        return erased(merged[0][0], failures, lost)
    return erased(ComposedPair(merged), failures, lost)


@final
@dataclass(frozen=True, slots=True)
class ComposedPair(ProductPair):
    """f_1^(n_1) ⊗ ... ⊗ f_k^(n_k); K = Σ n_i K_i.

    Source: Dong, Roth and Su (2022), definition 3.1; the contour: docs/theory/contour.md.
    """

    kind: ClassVar[str] = "composed"
    proved: ClassVar[bool] = True

    def __str__(self) -> str:
        return " @ ".join(f"{pair} ** {n}" if n > 1 else str(pair) for pair, n in self.parts)

    @override
    def views(self) -> Views:
        return Views(
            log_delta=partial(read, self, LOG_DELTA),
            epsilon=partial(read, self, EPSILON),
            beta=partial(read, self, BETA),
            tpr=partial(read, self, TPR),
            method=self._method,
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi,
            zcdp=self._zcdp,
            subgaussian=self._subgaussian,
            mu=self._mu,
            outer_gaussian=lambda: _total((pair.outer_gaussian(), n) for pair, n in self.parts),
            tight_gaussian=self._tight_gaussian,
            outer_pure=lambda: _total((pair.outer_pure(), n) for pair, n in self.parts),
        )

    def _method(self) -> str:
        if self.of_class:
            return "Rényi orders"
        if has_exact_profile(self.parts):
            return "lattice"
        return "lattice" if self.loss_law() is None else "contour"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        sides = np.asarray([pair.log_singular for pair, _ in self.parts])
        if np.all(np.isneginf(sides)):
            return -math.inf, -math.inf
        kept = np.asarray([n for _, n in self.parts]) @ np.log1p(-np.exp(sides))
        q, p = np.log(-np.expm1(kept)).tolist()
        return q, p

    @override
    def swap(self) -> Pair:
        turned = tuple((pair.swap(), n) for pair, n in self.parts)
        # Equal parts are the same objects where they are their own swap.
        return self if turned == self.parts else composed(turned)

    @override
    def loss_law(self) -> LossSum | None:
        return loss_law(self.parts)

    def _profile(self) -> Profile:
        """Return what knows the tails of the loss."""
        found = exact_profile(self.parts)
        if found is not None:
            return found
        law = self.loss_law()
        if law is None:
            raise too_long(self)
        return ContourProfile(law)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        total = np.zeros(np.shape(s), dtype=np.complex128)
        for pair, n in self.parts:
            total = total + n * pair.cumulant(s)
        return total

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        return self._profile().log_tails(np.asarray(t, dtype=np.float64), closed=closed)

    def _renyi(self, order: Array) -> Interval:
        total, infinite = Interval.exactly(np.zeros(order.shape)), np.zeros(order.shape, dtype=bool)
        for pair, n in self.parts:
            part = pair.renyi_bracket(order)
            total, infinite = total + part * Fraction(n), infinite | np.isinf(part.lower)
        return Interval.where(infinite, Interval.exactly(np.inf), total)

    def _zcdp(self) -> tuple[float, float]:
        total = Interval.exactly(0.0)
        for pair, n in self.parts:
            total = total + Interval.exactly(pair.zcdp_bracket()[1]) * Fraction(n)
        upper = float(total.upper)
        square = self.outer_gaussian()
        if square is not None:
            upper = min(upper, ceil_float(square / 2))
        orders = 1 + np.asarray([1e-3, 1.0, 8.0, 1e3, 1e12, 1e18])
        lower = largest_ratio(self, orders)
        return min(lower, upper), upper

    def _subgaussian(self) -> Subgaussianity:
        return added_subgaussian((pair.subgaussian_bracket(), n) for pair, n in self.parts)

    def _tight_gaussian(self) -> Fraction | None:
        return None if self.outer_gaussian() is None else tight_mu(self.parts, composed)[1]

    def _mu(self, slack: float) -> tuple[float, float]:
        if slack > 0:
            square = self.outer_gaussian()
            lower, upper = least_mu(self, slack, _laid_once)
            return lower, upper if square is None else min(upper, square_roots(square)[1])
        lower, upper = Curve.mu_bracket(self, slack)
        if math.isfinite(upper):
            lower = min(max(lower, tight_mu(self.parts, composed)[0]), upper)
        return lower, upper


def _laid_once(side: Deltas, least: float) -> Deltas:
    """Return the profile by contours that are laid once, where delta is at least `least`."""
    if least <= 0 or not isinstance(side, Pair):
        return side
    # Down to a power of 1000: a price tries many tails of one release.
    found = _ladder(side, math.floor(math.log(least) / _LEVEL))
    return found or side


# Room for both directions, at two depths.
@lru_cache(maxsize=4)
def _ladder(side: Pair, depth: int) -> Ladder | None:
    contour = contour_of(side)
    if contour is None:
        return None
    top = float(contour.log_delta_bracket(np.zeros(())).upper)
    return Ladder.over(contour.law, (top, depth * _LEVEL))


def _total(bounds: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    total = Fraction(0)
    for bound, n in bounds:
        if bound is None:
            return None
        total += n * bound
    return total


def too_long(pair: Pair) -> UnsupportedComposition:
    """Return the error where nothing here composes in seconds."""
    return UnsupportedComposition(
        f"{pair} was asked for a view, and what is here composes these in no short time; valid "
        "bounds are gdp(f.mu()) @ gdp(g.mu()), approx_dp(f.epsilon(delta), delta) @ g, and "
        "best(f @ g, h @ g) for best(f, h) @ g"
    )
