"""The guarantee: what holds whichever of the two neighbours is the larger."""

import json
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NoReturn, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.calls import plain_calls, plain_calls_of
from neyman.curves._algebra._composed import composed
from neyman.curves._algebra._factors import factors_of
from neyman.curves._algebra._lattice_algebra import BestPair, joined
from neyman.curves._curve import Curve, View
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._identified import one_of
from neyman.curves._json import pair_from_json
from neyman.curves._pair import Pair
from neyman.curves._pairs._erased import without_failure
from neyman.curves._solvers._both_directions import delta_of_both, larger, read_both
from neyman.curves._solvers._implies import proved_above, sampled_above
from neyman.curves._solvers._solver import Solver
from neyman.curves._solvers._view import BETA, EPSILON, LOG_DELTA, TPR
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition
from neyman.numerics import Array, Interval, ceil_float, standing
from neyman.overriding import override
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["TradeOff", "both_ways", "read"]

_FORMAT, _VERSION = "neyman.tradeoff", 1
# Relatively: a difference of rho that is not worth asking about.
_NEAR = 1e-9


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class TradeOff(Curve):
    """A trade-off function, known through the pair of each direction.

    Every view answers for both directions: losses are the larger of the two, and f is the convex
    hull of the smaller of the two curves. A guarantee, a budget, a target and a claim are all
    `TradeOff`s, compared by `f.implies(g)`.

    Attributes:
        remove: P without the unit, Q with it: delta is the hockey-stick divergence of the law
            with the unit from the law without it.
        add: P with the unit, Q without it.

    >>> from neyman.curves import gdp
    >>> gdp(0.1) ** 100 == gdp(1)
    True
    >>> (gdp(3) @ gdp(4)).mu()
    5.0
    """

    remove: Pair
    add: Pair

    def __repr__(self) -> str:
        if self.remove == self.add:
            return str(self.remove)
        if self.add == self.remove.swap():
            # The other direction is its mirror image.
            return str(self.remove)
        return f"TradeOff(remove={self.remove}, add={self.add})"

    def __str__(self) -> str:
        return repr(self)

    @property
    @override
    def certified(self) -> bool:
        return self.remove.certified and self.add.certified

    @property
    @override
    def symmetric(self) -> bool:
        return self.add == self.remove.swap() or (self.remove.symmetric and self.add.symmetric)

    @override
    def dominating(self) -> "TradeOff":
        """Return the guarantee itself, or its bound if it comes from `dominated_by`.

        >>> from neyman.curves import dominated_by, gdp
        >>> dominated_by(gdp(1)).dominating(), gdp(2).dominating()
        (gdp(mu=1), gdp(mu=2))
        """
        sides = self.remove.dominating(), self.add.dominating()
        return self if sides == (self.remove, self.add) else TradeOff(*sides)

    # -- what an attacker finds out of a record's content ---------------------------------------

    def reconstruction(
        self, chance: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return the largest probability that a record's content is reconstructed, rounded up.

            1 - f(chance)

        Args:
            chance: the largest probability of success without the release, in [0, 1], any shape: of
                the best guess by the prior, to within the error that counts as success.
            bracket: return an `Answer`; it is of 1 - f(chance), which attacks may stay below.
            solver: as for `delta`.

        Source: Hayes, Mahloujifar and Balle (2023), "Bounding training data reconstruction in
            DP-SGD", theorem 2, which is docs/theory/reconstruction.md.

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).reconstruction(1e-6):.4g}"
        '8.722e-05'
        """
        return self.tpr(chance, bracket=bracket, solver=solver)

    def identification(
        self,
        candidates: int,
        *,
        neighbors: Neighbors | None = None,
        bracket: bool = False,
        solver: Solver | None = None,
    ) -> View:
        """Return the largest probability to name one of m equally likely contents, rounded up.

            add_remove:   1 - f(1/m)
            replace_one:  max_a (a + (m - 1) (1 - f((1 - a) / (m - 1)))) / m

        Args:
            candidates: m, at least 2.
            neighbors: the relation that f is proved for; None takes that of the curve, and
                add_remove, the larger of the two, where the curve does not say.
            bracket: return an `Answer`; it is of the bound, which attacks may stay below.
            solver: as for `delta`.

        Raises:
            InvalidParameter: if there are fewer than two candidates, or the relation is unknown.
            RelationMismatch: if the curve is proved for the other relation.

        Error: of replace_one relative 1e-6 at most, upwards, beside the curve's own.
        Source: docs/theory/reconstruction.md.

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).identification(10):.4f}"
        '0.3891'
        >>> f"{gdp(1).identification(10, neighbors='replace_one'):.4f}"
        '0.3714'
        """
        many = whole("candidates", candidates, 2, 2**40)
        known = self.remove.neighbors or self.add.neighbors
        if neighbors is not None and check_neighbors(neighbors) != (known or neighbors):
            raise RelationMismatch(
                f"neighbors must be the relation of the curve, {known!r}; got {neighbors!r}. Write "
                "that relation, or leave it out"
            )
        if (neighbors or known) == "replace_one":
            return self._ask(partial(one_of, candidates=many), solver, bracket, up=True)
        # The double that stands for 1 / m, or the one above.
        return self.tpr(standing(Fraction(1, many))[1], bracket=bracket, solver=solver)

    # -- algebra ------------------------------------------------------------------------------

    def __matmul__(self, other: "TradeOff") -> "TradeOff":
        """Return f ⊗ g, the guarantee of running both, the second chosen after seeing the first.

        Raises:
            UnsupportedComposition: if `other` is no guarantee.
            RelationMismatch: if the two are proved for different neighbouring relations.

        Source: Dong, Roth and Su (2022), theorem 3.2 and corollary 3.3.
        """
        if not isinstance(other, TradeOff):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UnsupportedComposition(
                f"f @ g composes two guarantees; g is of type {type(other).__name__}. Write one, "
                "such as ny.gdp(1) @ ny.laplace(0.5)"
            )
        remove = composed(((self.remove, 1), (other.remove, 1)))
        if self.remove is self.add and other.remove is other.add:
            return TradeOff(remove, remove)
        return TradeOff(remove, composed(((self.add, 1), (other.add, 1))))

    def __pow__(self, times: int) -> "TradeOff":
        """Return the `times`-fold composition of f with itself; f ** 0 is the identity.

        Raises:
            InvalidParameter: if `times` is not a whole number of at least 0.
        """
        count = _count(times)
        remove = composed(((self.remove, count),))
        if self.remove is self.add:
            return TradeOff(remove, remove)
        return TradeOff(remove, composed(((self.add, count),)))

    def __add__(self, other: object) -> NoReturn:
        """Refuse f + g and f * n, which read as if losses were numbers.

        Raises:
            UnsupportedComposition: always.
        """
        raise UnsupportedComposition(
            "guarantees are composed; write f @ g for running both, f ** n for running f n times"
        )

    __radd__ = __mul__ = __rmul__ = __add__

    @override
    def swap(self) -> "TradeOff":
        return TradeOff(self.remove.swap(), self.add.swap())

    def symmetrize(self) -> "TradeOff":
        """Return max(f, f^-1), which holds as soon as f holds for all ordered neighbours.

        Not to be confused with `symmetric_hull`, the smaller of the two.

        Source: Dong, Roth and Su (2022), proposition 2.4.

        >>> from neyman.curves import TradeOff, gdp, laplace
        >>> print(TradeOff(gdp(1).remove, laplace(2).remove).symmetrize())
        best(gdp(mu=1), laplace(epsilon=2))
        """
        if self.add == self.remove.swap():
            return self
        both = joined(BestPair, (self.remove, self.add.swap()))
        return TradeOff(both, both.swap())

    def implies(self, other: "TradeOff") -> bool:
        """Return whether f >= g everywhere is proved, so that every mechanism with f has g too.

        Sampled guarantees are compared direction by direction: a base that implies the other's,
        sampled no more often.

        Guarantee: True is a proof, for each of the two directions, so that f may replace g in
            any composition. False means that f < g somewhere, or that the two touch in a way that
            the proof by refinement cannot settle.

        >>> from neyman.curves import approx_dp, gdp, poisson
        >>> gdp(0.5).implies(gdp(1)), gdp(1).implies(approx_dp(1, 0.1))
        (True, False)
        >>> poisson(gdp(0.5), 0.01).implies(poisson(gdp(1), 0.02))
        True
        """
        if self == other:
            return True
        asked = other.dominating()
        if not self.certified:
            return False
        sampled = sampled_above(self.remove, asked.remove) and sampled_above(self.add, asked.add)
        return sampled or all(proved_above(self, x) for x in (asked.remove, asked.add))

    # -- record -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, object]:
        """Return the expression, JSON-able and exact, with its format's version."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "remove": self.remove.record(),
            "add": self.add.record(),
        }

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "TradeOff":
        """Rebuild what `to_json` wrote.

        Raises:
            InvalidParameter: if the record is of another format or version, or is malformed.

        >>> from neyman.curves import TradeOff, approx_dp
        >>> f = approx_dp(1, 1e-6)
        >>> TradeOff.from_json(f.to_json()) == f
        True
        """
        # The type too: True == 1.0 == 1, and neither was ever written.
        known: Mapping[str, object] = record if isinstance(record, Mapping) else {}  # pyright: ignore[reportUnnecessaryIsInstance]
        found = known.get("format"), known.get("version")
        if found != (_FORMAT, _VERSION) or type(found[1]) is not int:
            raise InvalidParameter(
                f"a record must have format={_FORMAT!r} and version={_VERSION}; got "
                f"format={found[0]!r:.80}, version={found[1]!r:.80}. Write what f.to_json() gives"
            )
        return TradeOff(pair_from_json(known.get("remove")), pair_from_json(known.get("add")))

    # -- primitives over the two directions ---------------------------------------------------

    @property
    def of_class(self) -> bool:
        """Whether the views bound a class of mechanisms that has no single worst pair."""
        return self.remove.of_class or self.add.of_class

    @property
    def method(self) -> str:
        """That of the direction with the harder one."""
        method = self.remove.method
        return method if self.remove == self.add else max(method, self.add.method)

    @override
    def log_delta_bracket(self, epsilon: Array) -> Interval:
        return read_both(self.remove, self.add, LOG_DELTA, epsilon)

    @override
    def delta_bracket(self, epsilon: Array) -> Interval:
        return delta_of_both(self.remove, self.add, epsilon)

    @override
    def epsilon_bracket(self, delta: Array) -> Interval:
        return read_both(self.remove, self.add, EPSILON, delta)

    @override
    def beta_bracket(self, alpha: Array) -> Interval:
        return read_both(self.remove, self.add, BETA, alpha)

    @override
    def tpr_bracket(self, alpha: Array) -> Interval:
        return read_both(self.remove, self.add, TPR, alpha)

    @override
    def renyi_bracket(self, order: Array) -> Interval:
        both = [pair.renyi_bracket(order) for pair in {self.remove: 0, self.add: 0}]
        return larger(both[0], both[-1])

    @override
    def mu_bracket(self, slack: float) -> tuple[float, float]:
        if self.add == self.remove.swap():
            return self.remove.mu_bracket(slack)
        remove, add = self.remove.mu_bracket(slack), self.add.mu_bracket(slack)
        return max(remove[0], add[0]), max(remove[1], add[1])

    @override
    def zcdp_bracket(self) -> tuple[float, float]:
        remove, square = self.remove.zcdp_bracket(), self.add.outer_gaussian()
        most = np.inf if square is None else ceil_float(square / 2)
        if most <= remove[0] * (1 + _NEAR):
            return remove[0], max(remove[1], most)
        add = self.add.zcdp_bracket()
        return max(remove[0], add[0]), max(remove[1], add[1])

    @override
    def tcdp_bracket(self, omega: float) -> tuple[float, float]:
        both = [pair.tcdp_bracket(omega) for pair in {self.remove: 0, self.add: 0}]
        return max(low for low, _ in both), max(high for _, high in both)

    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        both = [pair.subgaussian_bracket() for pair in {self.remove: 0, self.add: 0}]
        means, squares = zip(*both, strict=True)
        return (
            (max(low for low, _ in means), max(high for _, high in means)),
            (max(low for low, _ in squares), max(high for _, high in squares)),
        )

    def without_failure(self) -> "tuple[TradeOff, Fraction, Fraction]":
        """Return g, and bounds of d, where this is g ⊗ f_{0,d} by construction; else d = 0.

        The least d is of the direction that fails least, the most of the other.

        >>> from neyman.curves import approx_dp, gdp
        >>> (gdp(1) @ approx_dp(0, 0.125)).without_failure()
        (gdp(mu=1), Fraction(1, 8), Fraction(1, 8))
        """
        remove, add = without_failure(self.remove), without_failure(self.add)
        return TradeOff(remove[0], add[0]), min(remove[1], add[1]), max(remove[2], add[2])

    def as_power(self) -> "tuple[TradeOff, int]":
        """Return g and n, where this is g ** n by construction; else itself and 1.

        >>> from neyman.curves import gdp, poisson
        >>> (poisson(gdp(1), 0.01) ** 1000).as_power()
        (poisson(gdp(mu=1), sampling_probability=0.01), 1000)
        """
        (remove, count), *more = factors_of(self.remove)
        (add, times), *others = factors_of(self.add)
        if more or others or count != times:
            return self, 1
        return TradeOff(remove, add), count

    @override
    def outer_gaussian(self) -> Fraction | None:
        squares = [x.outer_gaussian() for x in {self.remove: 0, self.add: 0}]
        return _largest(squares[0], squares[-1])

    @override
    def tight_gaussian(self) -> Fraction | None:
        squares = [x.tight_gaussian() for x in {self.remove: 0, self.add: 0}]
        return _largest(squares[0], squares[-1])

    @override
    def inner_gaussian(self) -> Fraction:
        return min(self.remove.inner_gaussian(), self.add.inner_gaussian())

    @override
    def outer_pure(self) -> Fraction | None:
        return _largest(self.remove.outer_pure(), self.add.outer_pure())

    @override
    def inner_pure(self) -> Fraction:
        return min(self.remove.inner_pure(), self.add.inner_pure())


def both_ways(pair: Pair) -> TradeOff:
    """Return the guarantee that has one curve in both directions."""
    return TradeOff(pair, pair)


@plain_calls
def read(record: str | Mapping[str, object]) -> TradeOff:
    """Rebuild a guarantee from the JSON text, or the object, that `to_json` wrote.

    Raises:
        InvalidParameter: if it is no such record.

    >>> import json
    >>> from neyman.curves import gdp, poisson
    >>> f = poisson(gdp(1), 0.01) ** 1000
    >>> read(json.dumps(f.to_json())) == f
    True
    """
    if not isinstance(record, str):
        return TradeOff.from_json(record)
    try:
        found: object = json.loads(record)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter(
            f"a record must be a JSON object; got another text of {len(record)} characters. Write "
            "what json.dumps(f.to_json()) gives"
        )
    return TradeOff.from_json(cast("dict[str, object]", found))


def _largest(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else max(first, second)


def _count(times: int) -> int:
    try:
        count = operator.index(times)
    except TypeError:
        count = -1
    if count < 0 or isinstance(times, bool):
        raise InvalidParameter(
            f"the power of a guarantee must be an int of at least 0; got {times!r}. Write the "
            "number of releases"
        )
    return count
