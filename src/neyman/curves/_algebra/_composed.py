"""Compositions without a closed form: the factors are kept, the loss is the sum of theirs."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._algebra._factors import Factors, gathered, put_in
from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity, added_subgaussian
from neyman.curves._order import Deltas
from neyman.curves._pair import BestTest, Pair, Profile, Tails, check_relation
from neyman.curves._pairs._erased import ErasedPair, Failures, erased
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._profiles._both_profile import BothProfile
from neyman.curves._profiles._contour_profile import ContourProfile
from neyman.curves._profiles._crude import (
    LOOSE,
    both,
    enclosed,
    narrow,
    roundable,
    rounded,
    too_long,
)
from neyman.curves._profiles._profile import LatticeProfile
from neyman.curves._profiles._revealed import Revealed, revealed
from neyman.curves._statements._real_line_fold import folded
from neyman.numerics import (
    ULP,
    Array,
    Atoms,
    BothWays,
    Bracket,
    ComplexArray,
    Ladder,
    LossLaw,
    LossSum,
    ceil_float,
    exp_outward,
    standing,
)
from neyman.overriding import override

__all__ = ["ComposedPair", "composed"]


def composed(factors: Iterable[tuple[Pair, int]]) -> Pair:
    """Return the composition of `count` copies of each pair, in its one normal form.

    Failures are factored out, compositions unpacked, Gaussians merged, equal factors counted and
    the rest sorted, so that equal compositions are equal objects.
    """
    parts: list[tuple[Pair, int]] = []
    failures: list[tuple[Fraction, int]] = []
    # The longest of each is in normal form already: what comes one by one is only put in.
    longest: Factors = ()
    lost: Failures = ()
    for pair, count in factors:
        if count == 0:
            continue
        core = pair
        # The kind is quick to tell, the class is not.
        if pair.kind == ErasedPair.kind and isinstance(pair, ErasedPair):
            core, failed = pair.core, pair.failures
            if count == 1 and len(failed) > len(lost):
                lost, failed = failed, lost
            failures.extend((delta, times * count) for delta, times in failed)
        inner = core.factors()
        if len(inner) == 1:
            parts.append(inner[0] if count == 1 else (inner[0][0], inner[0][1] * count))
            continue
        if count == 1 and len(inner) > len(longest):
            longest, inner = inner, longest
        parts.extend((part, times * count) for part, times in inner)
    few = gathered(parts)
    if any(pair.neighbors for pair, _ in few):
        check_relation([pair for pair, _ in (*few, *longest)], "compose", "composed")
    merged = folded(put_in(longest, few), few)
    if not merged:
        return erased(IdentityPair(), failures, lost)
    if len(merged) == 1 and merged[0][1] == 1:
        return erased(merged[0][0], failures, lost)
    return erased(ComposedPair(merged), failures, lost)


@final
@dataclass(frozen=True, slots=True)
class ComposedPair(Pair):
    """f_1^(n_1) ⊗ ... ⊗ f_k^(n_k); K = Σ n_i K_i.

    Source: Dong, Roth and Su (2022), definition 3.1; the contour: docs/theory/contour.md.
    """

    parts: Factors

    kind: ClassVar[str] = "composed"

    @override
    def parameters(self) -> dict[str, object]:
        return {"parts": [[pair.record(), n] for pair, n in self.parts]}

    def __str__(self) -> str:
        return " @ ".join(f"{pair} ** {n}" if n > 1 else str(pair) for pair, n in self.parts)

    @override
    def factors(self) -> Factors:
        return self.parts

    @property
    @override
    def certified(self) -> bool:
        return all(pair.certified for pair, _ in self.parts)

    @property
    @override
    def symmetric(self) -> bool:
        return all(pair.symmetric for pair, _ in self.parts)

    @property
    @override
    def costly(self) -> bool:
        return self.method != "lattice" or self.loss_law() is None

    @property
    @override
    def neighbors(self) -> str | None:
        return next((pair.neighbors for pair, _ in self.parts if pair.neighbors), None)

    @property
    @override
    def method(self) -> str:
        power = self._power()
        if power is not None:
            return power.method
        on_grid = self._on_grid()
        if on_grid is not None and LatticeProfile.fitting(on_grid):
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
        return composed((pair.swap(), n) for pair, n in self.parts)

    @override
    def loss_law(self) -> LossSum | None:
        terms: list[tuple[LossLaw, float, bool]] = []
        for pair, n in self.parts:
            law = pair.loss_law()
            if law is None:
                return None
            terms.extend(law.times(n).terms)
        return LossSum(tuple(terms))

    @override
    def atoms(self) -> None:
        return

    def _power(self) -> Profile | None:
        """Return the views of copies of one pair that has formulas for them."""
        (pair, n), *more = self.parts
        return None if more else pair.power_profile(n)

    def _on_grid(self) -> list[tuple[Atoms, int]] | None:
        """Return the atoms of all factors, where each has only such."""
        found = [(atoms, n) for pair, n in self.parts if (atoms := pair.atoms()) is not None]
        return found if len(found) == len(self.parts) else None

    def _exactly(self) -> Profile | None:
        """Return the views by formulas or exact lattices."""
        power = self._power()
        if power is not None:
            return power
        on_grid = self._on_grid()
        return None if on_grid is None else LatticeProfile.exactly(on_grid)

    def _contour(self) -> ContourProfile | None:
        """Return the views by the contour, where nothing else goes first."""
        law = self.loss_law() if self._exactly() is None else None
        return None if law is None else ContourProfile(law)

    def _profile(self) -> Profile:
        """Choose how the views are evaluated."""
        found = self._exactly()
        if found is not None:
            return found
        law = self.loss_law()
        if law is not None:
            return ContourProfile(law)
        coarse = rounded(self.parts)
        if coarse is None:
            raise too_long(self)
        return coarse

    def _bracket(self, ask: Callable[[Profile], Bracket], *, loss: bool = True) -> Bracket:
        """Ask the profile, where it tells little the rounded losses, and then what is crude.

        Args:
            ask: a view.
            loss: whether it is a loss, which grows with every factor; else an error.
        """
        profile = self._profile()
        found = ask(profile)
        if profile.method != "contour" or np.all(narrow(found)):
            return found
        coarse = rounded(self.parts) if roundable(self.parts) else None
        if coarse is not None:
            found = both(found, ask(coarse))
        if np.all(narrow(found)):
            return found
        return enclosed(self.parts, self.outer_gaussian(), found, ask, loss=loss)

    def _revealed(self) -> Revealed | None:
        """The bound for copies of one sampled Gaussian."""
        (pair, n), *more = self.parts
        return None if more else revealed(pair, n)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        total = np.zeros(np.shape(s), dtype=np.complex128)
        for pair, n in self.parts:
            total = total + n * pair.cumulant(s)
        return total

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        return self._profile().log_tails(np.asarray(t, dtype=np.float64), closed=closed)

    @property
    def _most(self) -> float:
        """Bound the largest loss: by those of the factors, or by the law of the sum."""
        pure, law = self.outer_pure(), self.loss_law()
        bound = math.inf if pure is None else standing(pure)[1]
        return bound if law is None else min(bound, max(law.range[1], 0.0))

    @override
    def log_p_above(self, t: Array) -> Array:
        contour = self._contour()
        return self.log_tails(t).p_above if contour is None else contour.log_p_above(t)

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        beyond = epsilon >= self._most
        inner = self._log_delta(np.where(beyond, 0.0, epsilon))
        return Bracket(*(np.where(beyond, -np.inf, side) for side in inner))

    def _log_delta(self, epsilon: Array) -> Bracket:
        found = self._bracket(lambda profile: profile.log_delta_bracket(epsilon))
        told = None if np.all(narrow(found)) else self._revealed()
        if told is None:
            return found
        crude = np.where(epsilon >= 0, told.log_delta(np.maximum(epsilon, 0.0)), 0.0)
        upper = np.minimum(found.upper, crude)
        return Bracket(np.minimum(found.lower, upper), upper)

    @override
    def log_delta_beside(self, epsilon: Array, enough: Array) -> Bracket:
        contour = self._contour()
        if contour is None:
            return self.log_delta_bracket(epsilon)
        found = contour.log_delta_bracket(epsilon, enough)
        settled = found.upper <= enough
        if np.all(settled | (found.upper <= found.lower + LOOSE)):
            return found
        return self.log_delta_bracket(epsilon)

    @override
    def both_ways(self) -> BothProfile | None:
        law = self.loss_law()
        ways = None if law is None or self._power() is not None else BothWays.of(law)
        return None if ways is None else BothProfile(ways)

    @override
    def delta_bracket(self, epsilon: Array) -> Bracket:
        return exp_outward(self.log_delta_bracket(epsilon))

    @override
    def ready(self, least: float) -> Deltas:
        profile = self._profile()
        if profile.method != "contour" or least <= 0:
            return self
        law, top = self.loss_law(), float(profile.log_delta_bracket(np.zeros(())).upper)
        found = None if law is None else Ladder.over(law, (top, math.log(least)))
        return self if found is None else found

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        found = self._bracket(lambda profile: profile.epsilon_bracket(delta))
        upper = np.minimum(found.upper, self._most)
        enough = np.all(narrow(Bracket(found.lower, upper)))
        told = None if enough else self._revealed()
        if told is not None:
            upper = np.minimum(upper, told.epsilon(delta))
        return Bracket(np.minimum(found.lower, upper), upper)

    @override
    def best_test(self, alpha: Array) -> BestTest | None:
        return self._profile().best_test(alpha)

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        return self._bracket(lambda profile: profile.beta_bracket(alpha), loss=False)

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        return self._bracket(lambda profile: profile.tpr_bracket(alpha))

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        lower, upper = np.zeros(order.shape), np.zeros(order.shape)
        for pair, n in self.parts:
            part = pair.renyi_bracket(order)
            lower, upper = lower + n * part.lower, upper + n * part.upper
        slack = ULP * (1 + len(self.parts))
        return Bracket(lower * (1 - slack), upper * (1 + slack))

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        parts = [(pair.zcdp_bracket()[1], n) for pair, n in self.parts]
        upper = math.fsum(rho * n for rho, n in parts) * (1 + 4 * ULP)
        square = self.outer_gaussian()
        if square is not None:
            upper = min(upper, ceil_float(square / 2))
        orders = 1 + np.asarray([1e-3, 1.0, 8.0, 1e3, 1e12, 1e18])
        lower = float(np.max(self.renyi_bracket(orders).lower / orders))
        return min(lower, upper), upper

    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        return added_subgaussian((pair.subgaussian_bracket(), n) for pair, n in self.parts)

    @override
    def outer_gaussian(self) -> Fraction | None:
        return _total([(pair.outer_gaussian(), n) for pair, n in self.parts])

    @override
    def outer_pure(self) -> Fraction | None:
        return _total([(pair.outer_pure(), n) for pair, n in self.parts])

    @override
    def admits(self, curve: Curve) -> bool:
        del curve
        return False


def _total(bounds: list[tuple[Fraction | None, int]]) -> Fraction | None:
    known = [n * bound for bound, n in bounds if bound is not None]
    return sum(known, Fraction(0)) if len(known) == len(bounds) else None
