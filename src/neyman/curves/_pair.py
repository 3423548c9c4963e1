"""An ordered pair of laws, known by its privacy loss."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, cast, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._outer_renyi import outer_renyi, outer_rho
from neyman.curves._divergences._subgaussian_order import Subgaussianity, least_tau_squared
from neyman.curves._estimates import (
    Tails,
    estimated_beta,
    estimated_log_delta,
    estimated_renyi,
    estimated_tpr,
    middles,
)
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import inner_gaussian_square
from neyman.curves._profiles._inverse import epsilon_of_profile
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition
from neyman.numerics import Array, ComplexArray, Interval, LossSum, exp_outward, written
from neyman.numerics._lattice_sums._source import LossSource, SwappedSource
from neyman.numerics._primitives import log, log1p
from neyman.overriding import override

__all__ = [
    "KINDS",
    "Pair",
    "ReversedPair",
    "SwappedPair",
    "Tails",
    "check_relation",
    "middles",
]

# The class of each kind of pair, by its name in records.
KINDS: "dict[str, type[Pair]]" = {}
_PLAIN = (str, int, type(None))
_NO_PAIR = (Fraction, *_PLAIN)


class Pair(Curve):
    """P = law of the output on D, Q = law on its neighbour D', in this order; L = log dQ/dP.

    A kind is its fields, and at most these members: `swap`; the law of its loss, as far as it is
    known (`log_tails`, `cumulant`, `log_singular`, `loss_source`, `loss_law`); and its closed forms
    (`views`, `summaries`). Everything else follows and is final. By tails and cumulant alone the
    views are estimates; a kind whose own brackets are proved sets `proved`.

    Attributes:
        kind: the name in records.
        proved: whether the brackets are proved, if those of the pairs that it is made of are.
        mirrored: whether L has the law under Q that -L has under P.
        envelope: whether it represents a class of mechanisms that has no single worst pair.
        slow: whether one view takes so long that only few should be computed.
        keys: the names that records use for fields, where they differ.
        relation: the neighbouring relation that the kind is proved for, whatever it is made of.
    """

    __slots__ = ()

    kind: ClassVar[str]
    proved: ClassVar[bool] = False
    mirrored: ClassVar[bool] = False
    envelope: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    keys: ClassVar[Mapping[str, str]] = {}
    relation: str | None = None

    def __init_subclass__(cls) -> None:
        """Register a kind when its class is defined, so that records of it can be read.

        Raises:
            InvalidParameter: if another class has the name, or if one outside of the library has
                a name without a dot, such as "mine.gumbel".
        """
        super().__init_subclass__()
        kind = cls.__dict__.get("kind")
        if not isinstance(kind, str):
            return
        known = KINDS.get(kind)
        own = cls.__module__.startswith("neyman.")
        if not own and "." not in kind:
            raise InvalidParameter(
                f"kind={kind!r} must hold a dot, for names without one are the library's; write "
                f'one such as "mine.{kind}"'
            )
        # By name: a dataclass with slots is created twice.
        if known is not None and (known.__module__, known.__name__) != (
            cls.__module__,
            cls.__name__,
        ):
            raise InvalidParameter(
                f"kind={kind!r} must be the name of one class; {known.__module__}."
                f"{known.__qualname__} has it already. Write another"
            )
        KINDS[kind] = cls

    # -- what a kind gives ----------------------------------------------------------------------

    @override
    def swap(self) -> "Pair":
        return self if self.mirrored else SwappedPair(self)

    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t).

        Args:
            t: thresholds, any shape.
            closed: count L = t as above, for P(L >= t), P(L < t) and so on.

        Raises:
            UnsupportedComposition: where the law of the loss is not known.
        """
        del t, closed
        raise self.unsupported("itself")

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Return K(s) = log of the integral of p^(1-s) q^s over p, q > 0, at complex s.

        Raises:
            UnsupportedComposition: where it is not known.
        """
        law = self.loss_law()
        if law is None:
            raise self.unsupported("itself, along a line in the complex plane,")
        return law.cumulant(s)

    @property
    def log_singular(self) -> tuple[float, float]:
        """Return (log Q{p = 0}, log P{q = 0}), the masses of L = +inf and L = -inf."""
        return -np.inf, -np.inf

    def loss_source(self) -> LossSource | None:
        """Return the law of the loss as the lattice reads it, by its tails; None if unknown."""
        return None

    def loss_law(self) -> LossSum | None:
        """Return the law of the loss for the contour, singular masses apart; None if unknown."""
        return None

    def views(self) -> Views:
        """Return the formulas of the privacy profile and of the best tests."""
        return Views()

    def summaries(self) -> Summaries:
        """Return the formulas of the Rényi divergences and of the one-number summaries."""
        return Summaries()

    # -- what follows -------------------------------------------------------------------------

    def parameters(self) -> dict[str, object]:
        """Return what the pair is rebuilt from, JSON-able: its fields.

        Fractions become texts, pairs their records, tuples lists; text, int and bool stay.
        """
        keys, names = self.keys, names_of(type(self))
        return {keys.get(name, name): _written(getattr(self, name)) for name in names}

    @final
    def record(self) -> dict[str, object]:
        """Return the kind and the exact parameters."""
        return {"kind": self.kind, **self.parameters()}

    @final
    @property
    @override
    def certified(self) -> bool:
        return self.proved and all(pair.certified for pair in self.made_of())

    @final
    @property
    @override
    def symmetric(self) -> bool:
        other = self.swap()
        return other is self or other == self

    @final
    @property
    @override
    def of_class(self) -> bool:
        return self.envelope or any(pair.of_class for pair in self.made_of())

    @final
    def made_of(self) -> "list[Pair]":
        """Return the pairs among the fields, within tuples too."""
        found: list[Pair] = []
        for name in names_of(type(self)):
            _put_pairs(getattr(self, name), found)
        return found

    @final
    @property
    def neighbors(self) -> str | None:
        """Return the neighbouring relation that the pair is proved for; None if any."""
        if self.relation is not None:
            return self.relation
        for pair in self.made_of():
            if (known := pair.neighbors) is not None:
                return known
        return None

    @final
    @property
    @override
    def method(self) -> str:
        own = self.views().method
        if own is not None:
            return own()
        return max((pair.method for pair in self.made_of()), default="closed form")

    @final
    @override
    def dominating(self) -> "Pair":
        return (self.views().dominating if self.envelope else None) or self

    @final
    @override
    def log_delta_bracket(self, epsilon: Array) -> Interval:
        return self._log_delta_by(self.views(), epsilon)

    def _log_delta_by(self, views: Views, epsilon: Array) -> Interval:
        if views.log_delta is not None:
            return views.log_delta(epsilon)
        if views.delta is not None:
            return log(views.delta(epsilon).decimals()).smaller(0.0)
        return estimated_log_delta(self, epsilon)

    @final
    @override
    def delta_bracket(self, epsilon: Array) -> Interval:
        views = self.views()
        if views.delta is not None:
            return views.delta(epsilon)
        return exp_outward(self._log_delta_by(views, epsilon))

    @final
    @override
    def epsilon_bracket(self, delta: Array) -> Interval:
        own = self.views().epsilon
        return self.searched_epsilon(delta) if own is None else own(delta)

    @final
    def searched_epsilon(self, delta: Array) -> Interval:
        """Bracket epsilon by a search along the profile."""
        if self.of_class or any(map(_takes_long, self.made_of())):
            return epsilon_of_profile(self.log_delta_bracket, delta)
        return super().epsilon_bracket(delta)

    @final
    @override
    def beta_bracket(self, alpha: Array) -> Interval:
        views = self.views()
        if views.beta is not None:
            return views.beta(alpha)
        if views.tpr is not None:
            return (1 - views.tpr(alpha).decimals()).clip(0.0, 1.0)
        return estimated_beta(self, alpha)

    @final
    @override
    def tpr_bracket(self, alpha: Array) -> Interval:
        views = self.views()
        if views.tpr is not None:
            return views.tpr(alpha)
        if views.beta is not None:
            return (1 - views.beta(alpha).decimals()).clip(0.0, 1.0)
        return estimated_tpr(self, alpha)

    @final
    @override
    def renyi_bracket(self, order: Array) -> Interval:
        own = self.summaries().renyi
        if own is not None:
            return own(order)
        if self.proved:
            return Interval(np.zeros(order.shape), outer_renyi(self, order))
        return estimated_renyi(self, order)

    @final
    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        summaries = self.summaries()
        if summaries.zcdp is not None:
            return summaries.zcdp()
        if self.proved and summaries.renyi is None:
            return 0.0, outer_rho(self)
        return super().zcdp_bracket()

    @final
    @override
    def tcdp_bracket(self, omega: float) -> tuple[float, float]:
        own = self.summaries().tcdp
        return super().tcdp_bracket(omega) if own is None else own(omega)

    @final
    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        own = self.summaries().subgaussian
        if own is not None:
            return own()
        mean = self.renyi_bracket(np.ones(()))
        return (float(mean.lower), float(mean.upper)), least_tau_squared(self)

    @final
    @override
    def mu_bracket(self, slack: float) -> tuple[float, float]:
        own = self.summaries().mu
        return super().mu_bracket(slack) if own is None else own(slack)

    @final
    @override
    def outer_gaussian(self) -> Fraction | None:
        own = self.summaries().outer_gaussian
        return None if own is None else own()

    @final
    @override
    def tight_gaussian(self) -> Fraction | None:
        own = self.summaries().tight_gaussian
        return self.outer_gaussian() if own is None else own()

    @final
    @override
    def inner_gaussian(self) -> Fraction:
        own = self.summaries().inner_gaussian
        if own is not None:
            return own()
        if not self.certified or np.isneginf(min(self.log_singular)):
            return Fraction(0)
        mass = float(self.delta_bracket(np.asarray(np.inf)).lower)
        return inner_gaussian_square(self, mass, self.slope)

    @final
    def slope(self, epsilon: Array) -> Array:
        """Return -d delta / d e^epsilon = P(L > epsilon)."""
        return np.exp(self.log_tails(epsilon).p_above)

    @final
    @override
    def outer_pure(self) -> Fraction | None:
        own = self.summaries().outer_pure
        return None if own is None else own()

    @final
    @override
    def inner_pure(self) -> Fraction:
        """The chord from (0, 1) to the fixed point c of f: log((1 - c)/c) = log((1+a)/(1-a)).

        a = 1 - 2c = delta(0), for a symmetric f, which its convexity keeps below the chord.
        """
        own = self.summaries().inner_pure
        if own is not None:
            return own()
        if not self.symmetric:
            return Fraction(0)
        advantage = float(self.delta_bracket(np.asarray(0.0)).lower)
        finite = Interval.decimal(min(advantage, 1 - 2.0**-50))
        return Fraction(float((log1p(finite) - log1p(-finite)).larger(0).lower))

    def unsupported(self, other: object) -> UnsupportedComposition:
        """Return the error for a composition without a closed form."""
        return UnsupportedComposition(
            f"{self} was to be composed with {other}, and this has no closed form here; Gaussians "
            "compose exactly, and f_{0,delta} factors out of anything. A valid bound is "
            "gdp(f.mu()) @ gdp(g.mu())"
        )


@lru_cache(maxsize=256)
def names_of(kind: type[Pair]) -> tuple[str, ...]:
    """Return the names of the fields of a kind."""
    known = getattr(kind, "__dataclass_fields__", None)
    return () if known is None else tuple(field.name for field in fields(cast("type[Any]", kind)))


def _takes_long(pair: Pair) -> bool:
    return pair.slow or any(map(_takes_long, pair.made_of()))


def _written(value: object) -> object:
    if isinstance(value, Fraction):
        return written(value)
    if isinstance(value, tuple):
        return [_written(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Pair):
        return value.record()
    if callable(value):
        raise InvalidParameter(
            "functions, such as densities, have no exact record and nothing is proved of them, so "
            "that they neither compose nor are charged. Write a Leaf of the same two laws, or the "
            "guarantee that you prove of them, such as gdp(mu)"
        )
    raise InvalidParameter(
        f"a field of type {type(value).__name__} has no record; fields of a curve must be "
        "Fractions, ints, texts, pairs or tuples of them"
    )


def _put_pairs(value: object, into: list[Pair]) -> None:
    if isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            _put_pairs(item, into)
    # isinstance takes longer for the rest.
    elif not isinstance(value, _NO_PAIR) and isinstance(value, Pair):
        into.append(value)


def check_relation(pairs: Iterable[Pair], done: str) -> None:
    """Refuse pairs that are proved for different neighbouring relations.

    Raises:
        RelationMismatch: if there are two relations among them.
    """
    found = sorted({pair.neighbors for pair in pairs} - {None}, key=str)
    if len(found) > 1:
        raise RelationMismatch(
            f"{done} pairs must be proved for one neighbouring relation; got neighbors="
            f"{' and '.join(map(repr, found))}. Write pairs of one relation"
        )


class ReversedPair(Pair):
    """(Q, P) of the pair that is its swap: the loss changes sign and law; K_swap(s) = K(1 - s)."""

    __slots__ = ()

    @abstractmethod
    @override
    def swap(self) -> Pair: ...

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        q, p = self.swap().log_singular
        return p, q

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        tails = self.swap().log_tails(-np.asarray(t), closed=not closed)
        return Tails(tails.q_below, tails.q_above, tails.p_below, tails.p_above)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return self.swap().cumulant(1 - s)

    @override
    def loss_source(self) -> LossSource | None:
        source = self.swap().loss_source()
        return None if source is None else SwappedSource(source)

    @override
    def loss_law(self) -> LossSum | None:
        law = self.swap().loss_law()
        return None if law is None else law.reversed()


@final
@dataclass(frozen=True, slots=True)
class SwappedPair(ReversedPair):
    """The swap of a pair that has no formulas for it."""

    pair: Pair

    kind: ClassVar[str] = "swapped"

    def __str__(self) -> str:
        return f"({self.pair}).swap()"

    @override
    def swap(self) -> Pair:
        return self.pair
