"""A pair that is known only by an upper bound and a lower bound of its loss.

Some mechanisms have no known worst pair of laws. The proof says that a known pair dominates them,
and perhaps that they attain another one:

    bound <= f <= attained        as trade-off functions, in this direction.

Composition, sampling, groups, mixtures, the worst and the best are all monotone, so they act on
both ends alike, and a pair in between is always the outermost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import ClassVar, ParamSpec, cast, final

import numpy as np

from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair, Tails, check_relation
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._view import BETA, EPSILON, LOG_DELTA, TPR, View
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Array, ComplexArray, Interval
from neyman.overriding import override

__all__ = ["BetweenPair", "between", "enclosed", "ends_of", "monotone"]

_P = ParamSpec("_P")


def between(bound: Pair, attained: Pair) -> Pair:
    """Return a pair in between, in its one normal form: where both are one pair, that one."""
    bound, attained = ends_of(bound)[0], ends_of(attained)[1]
    check_relation((bound, attained), "joined")
    return bound if bound == attained else BetweenPair(bound, attained)


def ends_of(pair: Pair) -> tuple[Pair, Pair]:
    """Return the bound and the attained pair; if the pair itself is known, return it twice."""
    # Comparing kinds is faster than isinstance.
    if pair.kind == BetweenPair.kind and isinstance(pair, BetweenPair):
        return pair.bound, pair.attained
    return pair, pair


def monotone(build: Callable[_P, Pair]) -> Callable[_P, Pair]:
    """Let a construction act on both ends of the pairs in between among its arguments.

    More privacy of any argument must give more of the result. The arguments may hold pairs within
    tuples and lists; a list counts as a tuple.
    """

    @wraps(build)
    def at_each_end(*args: _P.args, **named: _P.kwargs) -> Pair:
        if not _is_between(args):
            return build(*args, **named)
        bounds, attained = (_ends(args, which) for which in (0, 1))
        again = cast("Callable[..., Pair]", at_each_end)
        return between(again(*bounds, **named), again(*attained, **named))

    return at_each_end


def _is_between(values: Sequence[object]) -> bool:
    for value in values:
        if isinstance(value, tuple | list):
            if _is_between(cast("Sequence[object]", value)):
                return True
        elif type(value) is BetweenPair:
            return True
    return False


def _ends(values: Sequence[object], which: int) -> tuple[object, ...]:
    return tuple(
        _ends(cast("Sequence[object]", value), which)
        if isinstance(value, tuple | list)
        else ends_of(value)[which]
        if isinstance(value, Pair)
        else value
        for value in values
    )


def enclosed(bound: Interval, attained: Interval, *, loss: bool) -> Interval:
    """Keep the safe end of the bound, and the other end of the attained bracket."""
    if loss:
        return Interval(np.minimum(attained.lower, bound.upper), bound.upper)
    return Interval(bound.lower, np.maximum(attained.upper, bound.lower))


@final
@dataclass(frozen=True, slots=True)
class BetweenPair(Pair):
    """Some pair of laws with a trade-off function between those of two others.

    Built by `between`.

    Attributes:
        bound: dominates it.
        attained: what it loses at least.
    """

    bound: Pair
    attained: Pair

    kind: ClassVar[str] = "between"
    proved: ClassVar[bool] = True
    envelope: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse an end that is itself between two."""
        if self.kind in (self.bound.kind, self.attained.kind):
            raise InvalidParameter(
                "the ends of a pair in between must be known pairs; write dominated_by(f)"
            )

    def __str__(self) -> str:
        more = "" if self.attained == IdentityPair() else f", attained={self.attained}"
        return f"dominated_by({self.bound}{more})"

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        return self.bound.log_singular

    @override
    def swap(self) -> Pair:
        return BetweenPair(self.bound.swap(), self.attained.swap())

    @override
    def views(self) -> Views:
        return Views(
            log_delta=partial(self._view, LOG_DELTA),
            delta=self._delta,
            epsilon=partial(self._view, EPSILON),
            beta=partial(self._view, BETA),
            tpr=partial(self._view, TPR),
            dominating=self.bound,
        )

    @override
    def summaries(self) -> Summaries:
        bound, attained = self.bound, self.attained
        return Summaries(
            renyi=self._renyi,
            zcdp=lambda: _both(bound.zcdp_bracket(), attained.zcdp_bracket()),
            tcdp=self._tcdp,
            subgaussian=self._subgaussian,
            mu=self._mu,
            outer_gaussian=bound.outer_gaussian,
            tight_gaussian=bound.tight_gaussian,
            inner_gaussian=attained.inner_gaussian,
            outer_pure=bound.outer_pure,
            inner_pure=attained.inner_pure,
        )

    def _no_law(self, what: str) -> UnsupportedComposition:
        return UnsupportedComposition(
            f"{what} must be of a pair of laws; got {self}, of which a bound is known. Ask the "
            f"bound itself, f.dominating(): {self.bound}"
        )

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        del t, closed
        raise self._no_law("the law of the privacy loss")

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        del s
        raise self._no_law("the cumulant")

    def _view(self, view: View, at: Array) -> Interval:
        found = (view.ask(pair, at) for pair in (self.bound, self.attained))
        return enclosed(*found, loss=view.loss)

    def _delta(self, epsilon: Array) -> Interval:
        bound, attained = (x.delta_bracket(epsilon) for x in (self.bound, self.attained))
        return enclosed(bound, attained, loss=True)

    def _renyi(self, order: Array) -> Interval:
        bound, attained = (x.renyi_bracket(order) for x in (self.bound, self.attained))
        return enclosed(bound, attained, loss=True)

    def _tcdp(self, omega: float) -> tuple[float, float]:
        return _both(self.bound.tcdp_bracket(omega), self.attained.tcdp_bracket(omega))

    def _mu(self, slack: float) -> tuple[float, float]:
        return _both(self.bound.mu_bracket(slack), self.attained.mu_bracket(slack))

    def _subgaussian(self) -> Subgaussianity:
        # What loses less need not have a loss that is closer to its mean.
        raise self._no_law("the subgaussian parameter of the loss")


def _both(bound: tuple[float, float], attained: tuple[float, float]) -> tuple[float, float]:
    return min(attained[0], bound[1]), bound[1]
