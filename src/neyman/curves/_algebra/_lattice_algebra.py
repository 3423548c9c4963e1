"""The worst and the best of several guarantees, and the one of a mixture."""

import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from neyman.curves._algebra._factors import ProductPair
from neyman.curves._divergences._joined_renyi import joined_renyi
from neyman.curves._divergences._outer_renyi import outer_renyi
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import largest_ratio
from neyman.curves._pair import Pair, Tails, check_relation
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._profiles._conjugate import (
    epsilon_shown,
    powers_of_profile,
    profile_of_powers,
)
from neyman.curves._solvers._sources import MixedSource
from neyman.numerics import (
    Array,
    ComplexArray,
    Interval,
    LossSum,
    ceil_float,
    exp_outward,
    text,
)
from neyman.numerics._laws._mixed_law import MixedLaw
from neyman.numerics._primitives import log, log_total
from neyman.overriding import override

__all__ = [
    "BestPair",
    "ExtremePair",
    "MixturePair",
    "WorstPair",
    "count_of_choices",
    "joined",
    "mixed",
]

# Relative width at which an epsilon of the best of several needs no further search.
_DECIDED = 1e-6


@monotone
def joined(build: "type[ExtremePair]", parts: tuple[Pair, ...]) -> Pair:
    """Return the worst or the best of the pairs, in its one normal form."""
    found: dict[Pair, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, build) else (part,)
        found.update(dict.fromkeys(inner))
    check_relation(tuple(found), "joined")
    return next(iter(found)) if len(found) == 1 else build(tuple(sorted(found, key=_order)))


@monotone
def mixed(shares: tuple[Fraction, ...], parts: tuple[Pair, ...]) -> Pair:
    """Return the mixture of the pairs, in its one normal form."""
    total: dict[Pair, Fraction] = {}
    for share, part in zip(shares, parts, strict=True):
        total[part] = total.get(part, Fraction(0)) + share
    check_relation(tuple(total), "joined")
    if len(total) == 1:
        return next(iter(total))
    found = sorted(total.items(), key=lambda item: _order(item[0]))
    return MixturePair(tuple((part, share) for part, share in found))


def count_of_choices(pair: Pair) -> int:
    """Return of how many guarantees one may be chosen in a pair, sampled or composed; or 0."""
    if isinstance(pair, BestPair):
        return len(pair.parts)
    if isinstance(pair, SampledPair | SampledSwapPair):
        return count_of_choices(pair.base)
    if isinstance(pair, ProductPair):
        return max(count_of_choices(part) for part, _ in pair.parts)
    return 0


def _order(pair: Pair) -> tuple[str, str]:
    # Different tables may print alike.
    return str(pair), json.dumps(pair.record(), sort_keys=True)


class JoinedPair(Pair):
    """A pair known by its parts."""

    __slots__ = ()

    proved: ClassVar[bool] = True

    @property
    @abstractmethod
    def all_parts(self) -> tuple[Pair, ...]:
        """The parts."""

    @override
    def views(self) -> Views:
        return Views(log_delta=self._log_delta, delta=self._delta, tpr=self._tpr)

    @override
    def summaries(self) -> Summaries:
        parts = self.all_parts
        return Summaries(
            renyi=self._renyi,
            zcdp=self._zcdp,
            outer_gaussian=lambda: _most(part.outer_gaussian() for part in parts),
            tight_gaussian=lambda: _most(part.tight_gaussian() for part in parts),
            inner_gaussian=lambda: min(part.inner_gaussian() for part in parts),
            outer_pure=lambda: _most(part.outer_pure() for part in parts),
            inner_pure=lambda: min(part.inner_pure() for part in parts),
        )

    @abstractmethod
    def _log_delta(self, epsilon: Array) -> Interval: ...

    @abstractmethod
    def _delta(self, epsilon: Array) -> Interval: ...

    @abstractmethod
    def _renyi(self, order: Array) -> Interval: ...

    @abstractmethod
    def _zcdp(self) -> tuple[float, float]: ...

    def _tpr(self, alpha: Array) -> Interval:
        found = powers_of_profile(self.delta_bracket, alpha)
        lower = np.maximum(found.lower, self._least_power(alpha))
        return Interval(lower, np.maximum(found.upper, lower))

    def _least_power(self, alpha: Array) -> Array:
        """A power that is known to be reached."""
        return Interval.decimal(alpha).lower


@dataclass(frozen=True, slots=True)
class ExtremePair(JoinedPair):
    """The worst or the best of its parts."""

    parts: tuple[Pair, ...]

    @property
    @override
    def all_parts(self) -> tuple[Pair, ...]:
        return self.parts

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"

    @override
    def swap(self) -> Pair:
        return joined(type(self), tuple(part.swap() for part in self.parts))


@final
@dataclass(frozen=True, slots=True)
class WorstPair(ExtremePair):
    """delta is the largest of the parts'; f the convex hull of the smallest."""

    kind: ClassVar[str] = "worst"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        q, p = zip(*(part.log_singular for part in self.parts), strict=True)
        return max(q), max(p)

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta, delta=self._delta, epsilon=self._epsilon, tpr=self._tpr
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        return _largest([part.log_delta_bracket(epsilon) for part in self.parts])

    def _delta(self, epsilon: Array) -> Interval:
        return _largest([part.delta_bracket(epsilon) for part in self.parts])

    def _epsilon(self, delta: Array) -> Interval:
        return _largest([part.epsilon_bracket(delta) for part in self.parts])

    @override
    def _least_power(self, alpha: Array) -> Array:
        return np.max([part.tpr_bracket(alpha).lower for part in self.parts], axis=0)

    def _renyi(self, order: Array) -> Interval:
        parts = [part.renyi_bracket(order) for part in self.parts]
        upper = joined_renyi(order, [1.0] * len(parts), parts).upper
        if np.any(order < 1):
            # D grows with the order: where the sum is no bound below 1, the one at 1 is.
            ones = [part.renyi_bracket(np.ones(())) for part in self.parts]
            at_one = joined_renyi(np.ones(()), [1.0] * len(parts), ones).upper
            upper = np.where(order < 1, np.fmin(upper, at_one), upper)
        upper = np.minimum(upper, outer_renyi(self, order))
        return Interval(np.minimum(_largest(parts).lower, upper), upper)

    def _zcdp(self) -> tuple[float, float]:
        lower, upper = zip(*(part.zcdp_bracket() for part in self.parts), strict=True)
        square = self.outer_gaussian()
        most = float(Interval.exactly(np.asarray(upper)).total().upper)
        if square is not None:
            most = min(most, ceil_float(square / 2))
        return min(max(lower), most), most


@final
@dataclass(frozen=True, slots=True)
class BestPair(ExtremePair):
    """f is the largest of the parts'; delta its conjugate, at most the smallest."""

    kind: ClassVar[str] = "best"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        q, p = zip(*(part.log_singular for part in self.parts), strict=True)
        return min(q), min(p)

    @override
    def views(self) -> Views:
        return Views(self._log_delta, self._delta, self._epsilon, self._beta, self._tpr)

    @override
    def summaries(self) -> Summaries:
        return JoinedPair.summaries(self)._replace(
            outer_gaussian=lambda: _least(part.outer_gaussian() for part in self.parts),
            tight_gaussian=lambda: _least(part.tight_gaussian() for part in self.parts),
            outer_pure=lambda: _least(part.outer_pure() for part in self.parts),
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        found = profile_of_powers(self.tpr_bracket, self.swap().tpr_bracket, epsilon)
        parts = [part.log_delta_bracket(epsilon).upper for part in self.parts]
        upper = np.minimum(found.upper, np.min(parts, axis=0))
        return Interval(np.minimum(found.lower, upper), upper)

    def _delta(self, epsilon: Array) -> Interval:
        parts = [part.delta_bracket(epsilon).upper for part in self.parts]
        lower, upper = exp_outward(self.log_delta_bracket(epsilon))
        upper = np.minimum(upper, np.min(parts, axis=0))
        return Interval(np.minimum(lower, upper), upper)

    def _epsilon(self, delta: Array) -> Interval:
        flat = np.ravel(delta)
        parts = [part.epsilon_bracket(flat) for part in self.parts]
        upper = np.min([part.upper for part in parts], axis=0)
        lower = np.zeros(flat.shape)
        inner = (flat > 0) & (flat < 1)
        # Where a part is not known to lose anything, the best is not either.
        shown = inner & (np.min([part.lower for part in parts], axis=0) > 0)
        lower[shown] = np.minimum(epsilon_shown(self.tpr_bracket, flat[shown]), upper[shown])
        # It cannot be known more closely than its parts.
        blur = np.max([_width(part) for part in parts], axis=0)
        decided = inner & (upper - lower <= _DECIDED * (1 + upper) + blur)
        open_ = ~decided & (upper > lower)
        if np.any(open_):
            lower[open_], upper[open_] = self.searched_epsilon(flat[open_])
        return Interval(lower.reshape(np.shape(delta)), upper.reshape(np.shape(delta)))

    def _tpr(self, alpha: Array) -> Interval:
        bounds = [part.tpr_bracket(alpha) for part in self.parts]
        return Interval(
            np.min([b.lower for b in bounds], axis=0), np.min([b.upper for b in bounds], axis=0)
        )

    def _beta(self, alpha: Array) -> Interval:
        bounds = [part.beta_bracket(alpha) for part in self.parts]
        return Interval(
            np.max([b.lower for b in bounds], axis=0), np.max([b.upper for b in bounds], axis=0)
        )

    def _renyi(self, order: Array) -> Interval:
        upper = np.min([part.renyi_bracket(order).upper for part in self.parts], axis=0)
        return Interval(np.zeros(order.shape), upper)

    def _zcdp(self) -> tuple[float, float]:
        return 0.0, min(part.zcdp_bracket()[1] for part in self.parts)


@final
@dataclass(frozen=True, slots=True)
class MixturePair(JoinedPair):
    """One of the parts, drawn with its share and seen: e^K = Σ w_i e^(K_i)."""

    parts: tuple[tuple[Pair, Fraction], ...]

    kind: ClassVar[str] = "mixture"

    @property
    @override
    def all_parts(self) -> tuple[Pair, ...]:
        return tuple(part for part, _ in self.parts)

    def __str__(self) -> str:
        return "mixture(" + ", ".join(f"{text(w)} of {part}" for part, w in self.parts) + ")"

    @override
    def swap(self) -> Pair:
        return mixed(tuple(w for _, w in self.parts), tuple(part.swap() for part, _ in self.parts))

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        masses = [np.log(float(w)) + np.asarray(part.log_singular) for part, w in self.parts]
        q, p = np.logaddexp.reduce(masses, axis=0).tolist()
        return q, p

    def _log_delta(self, epsilon: Array) -> Interval:
        found = [part.log_delta_bracket(epsilon) + log(Interval.of(w)) for part, w in self.parts]
        ends = (np.stack(sides, axis=-1) for sides in zip(*found, strict=True))
        return log_total(Interval(*ends)).smaller(0)

    def _delta(self, epsilon: Array) -> Interval:
        return self._mean([part.delta_bracket(epsilon) for part, _ in self.parts])

    def _mean(self, found: list[Interval]) -> Interval:
        total = Interval.exactly(0.0)
        for each, (_, share) in zip(found, self.parts, strict=True):
            total = total + each.decimals() * Interval.of(share)
        return total.clip(0.0, 1.0)

    @override
    def _least_power(self, alpha: Array) -> Array:
        return self._mean([part.tpr_bracket(alpha) for part, _ in self.parts]).lower

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        tails = [part.log_tails(t, closed=closed) for part, _ in self.parts]
        logs = [np.log(float(w)) for _, w in self.parts]
        return Tails(
            *(
                np.logaddexp.reduce(
                    [log + side for log, side in zip(logs, sides, strict=True)], axis=0
                )
                for sides in zip(*tails, strict=True)
            )
        )

    def _renyi(self, order: Array) -> Interval:
        weights, parts = [w for _, w in self.parts], self.all_parts
        return joined_renyi(order, weights, [part.renyi_bracket(order) for part in parts])

    def _zcdp(self) -> tuple[float, float]:
        upper = max(part.zcdp_bracket()[1] for part in self.all_parts)
        orders = 1 + np.asarray([1e-3, 1.0, 8.0, 1e3])
        lower = largest_ratio(self, orders)
        return min(lower, upper), upper

    @override
    def loss_source(self) -> MixedSource | None:
        sources = [(part.loss_source(), share) for part, share in self.parts]
        known = [(source, share) for source, share in sources if source is not None]
        return MixedSource(known) if len(known) == len(sources) else None

    @override
    def loss_law(self) -> LossSum | None:
        laws = [part.loss_law() for part, _ in self.parts]
        if any(law is None for law in laws) or max(self.log_singular) > -np.inf:
            return None
        known = tuple(law for law in laws if law is not None)
        return LossSum.of(MixedLaw(tuple(float(w) for _, w in self.parts), known))

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        total = sum(float(w) * np.expm1(part.cumulant(s)) for part, w in self.parts)
        return np.log1p(total)


def _most(bounds: Iterable[Fraction | None]) -> Fraction | None:
    """Return the largest bound; None where one is missing."""
    found = list(bounds)
    known = [bound for bound in found if bound is not None]
    return max(known) if len(known) == len(found) else None


def _least(bounds: Iterable[Fraction | None]) -> Fraction | None:
    """Return the smallest bound of those that are known."""
    return min((bound for bound in bounds if bound is not None), default=None)


def _largest(found: list[Interval]) -> Interval:
    return Interval(*np.max([(each.lower, each.upper) for each in found], axis=0))


def _width(found: Interval) -> Array:
    known = np.isfinite(found.upper)
    return np.where(known, found.upper, 0.0) - np.where(known, found.lower, 0.0)
