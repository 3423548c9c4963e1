"""Trees of events, as dp_accounting writes them down, read as one guarantee."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil
from typing import final

from neyman.accounting._event_table import Relation, open_event
from neyman.curves import TradeOff, approx_dp, bounded_range, compose, dominated_by, gdp
from neyman.numerics import MOST_SUM_BITS
from neyman.sensitivity import check_neighbors

__all__ = ["from_dp_event", "relation_of"]


def from_dp_event(event: object, *, neighbors: object) -> TradeOff:
    """Return the trade-off function of what a `dp_accounting.DpEvent` says was run.

    Events are known by the name of their class and by their fields, so dp_accounting itself is
    not needed. Equal steps anywhere in the tree are counted together, and each is composed once.
    A step without noise, where it can be run at all, makes the whole tree non-private.

    Args:
        event: an event, of any depth.
        neighbors: "add_remove" or "replace_one", or a member of dp_accounting's
            NeighboringRelation. The noise of a sum is in units of the largest record, so one
            record replaced counts twice. REPLACE_SPECIAL, one record replaced by a special, empty
            one, is read as "add_remove", save by randomized response, where that one answers at
            random, by truncated samples, where it takes up room, and by batches of a fixed size,
            which are read as for one record replaced.

    Raises:
        InvalidParameter: if the tree holds an event that is not known here, or a field of a known
            one is missing or makes no sense.
        RelationMismatch: if an event has no meaning under this relation.
        UnsupportedComposition: if two of its steps have no composition here.

    Guarantee: each event's own definition, at its worst pair; an event that names no pair of laws,
        such as ZCDpEvent, bounds a class. As certified as its curves are.
    Error: none before the views, but where 2^20 bits would not hold the sum of the squares of mu:
        each is rounded up first, by less than 2^-400 of the largest.
    Source: Zhu, Dong and Wang (2022), theorem 10: products of dominating pairs dominate adaptive
        compositions.

    >>> from collections import namedtuple
    >>> GaussianDpEvent = namedtuple("GaussianDpEvent", "noise_multiplier")
    >>> SelfComposedDpEvent = namedtuple("SelfComposedDpEvent", "event count")
    >>> run = SelfComposedDpEvent(GaussianDpEvent(10.0), 100)
    >>> from_dp_event(run, neighbors="add_remove")
    gdp(mu=1)
    """
    return _Reading(relation_of(neighbors)).total(event)


def relation_of(neighbors: object) -> Relation:
    """Return the relation of this name, or of this member of dp_accounting's enum.

    Raises:
        InvalidParameter: if there is none.
    """
    name = str(getattr(neighbors, "name", neighbors))
    special = name == "REPLACE_SPECIAL"
    return "replace_special" if special else check_neighbors(_NAMES.get(name, name))


_NAMES = {"ADD_OR_REMOVE_ONE": "add_remove", "REPLACE_ONE": "replace_one"}
_NON_PRIVATE = approx_dp(0, 1)
# Of a sum that is rounded.
_KEPT_BITS = 512


@final
@dataclass(frozen=True, slots=True)
class _Steps:
    """What was run, each as often as counted; Gaussians by the square of mu, selections by eta."""

    squares: Counter[Fraction] = field(default_factory=Counter[Fraction])
    ranges: Counter[Fraction] = field(default_factory=Counter[Fraction])
    curves: Counter[TradeOff] = field(default_factory=Counter[TradeOff])

    def total(self) -> TradeOff:
        """Return their composition."""
        if _NON_PRIVATE in self.curves:
            return _NON_PRIVATE
        curves = [curve**times for curve, times in self.curves.items()]
        selections = (bounded_range(eta, times=times) for eta, times in self.ranges.items())
        curves.extend(map(dominated_by, selections))
        if self.squares:
            curves.append(_gaussian(self.squares))
        return compose(*curves)


@final
@dataclass(frozen=True, slots=True)
class _Reading:
    """One walk over a tree. What is still to do lies on a list: depth costs no recursion."""

    neighbors: Relation
    pending: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def total(self, event: object) -> TradeOff:
        """Walk, and compose what was found."""
        steps = _Steps()
        self.visit(event, 1, steps, self.neighbors)
        while self.pending:
            self.pending.pop()()
        return steps.total()

    def visit(self, event: object, times: int, steps: _Steps, neighbors: Relation) -> None:
        """Add an event, read under a relation, to the steps, or leave its parts to be added."""
        if times == 0:
            return
        opened = open_event(event, neighbors)
        if opened.mu_squared is not None:
            steps.squares[opened.mu_squared] += times
        if opened.eta is not None:
            steps.ranges[opened.eta] += times
        if opened.curve is not None:
            steps.curves[opened.curve] += times
        if opened.sampled is not None:
            # What is sampled is composed by itself, after its parts: last in, first out.
            inside = _Steps()
            self.pending.append(partial(self.close, opened.sampled, inside, times, steps))
            steps, times = inside, 1
        for part, count in opened.parts:
            relation = opened.inside or neighbors
            self.pending.append(partial(self.visit, part, times * count, steps, relation))

    @staticmethod
    def close(
        sampled: Callable[[TradeOff], TradeOff], inside: _Steps, times: int, steps: _Steps
    ) -> None:
        """Add what was sampled."""
        curve = inside.total()
        steps.curves[curve if curve == _NON_PRIVATE else sampled(curve)] += times


def _gaussian(squares: Counter[Fraction]) -> TradeOff:
    """Return the composition; where the exact sum would be endless, of squares rounded up."""
    denominators = {square.denominator for square in squares}
    if sum(map(int.bit_length, denominators)) > MOST_SUM_BITS:
        largest = max(squares)
        size = largest.numerator.bit_length() - largest.denominator.bit_length()
        unit = Fraction(2) ** (size - _KEPT_BITS)
        total = sum(ceil(square / unit) * times for square, times in squares.items())
        return gdp(squared=unit * total)
    return compose(*(gdp(squared=square * times) for square, times in squares.items()))
