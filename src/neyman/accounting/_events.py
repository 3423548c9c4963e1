"""Guarantees of trees of events, as dp_accounting records them."""

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
    """Return the trade-off function of what a `dp_accounting.DpEvent` describes.

    Events are recognised by the name of their class and by their fields, so dp_accounting itself is
    not needed. Equal steps anywhere in the tree are counted together, and each is composed once. A
    step without noise, if it can be run at all, makes the whole tree non-private.

    Args:
        event: an event, of any depth.
        neighbors: "add_remove" or "replace_one", or a member of dp_accounting's
            NeighboringRelation. The noise of a sum is in units of the largest record, so a replaced
            record counts twice. REPLACE_SPECIAL, one record replaced by a special, empty one, is
            treated as "add_remove", with three exceptions. In randomised response, the special
            record answers at random. In a truncated sample, it takes a place. In a batch of a fixed
            size, it counts as one record replaced.

    Raises:
        InvalidParameter: if the tree holds an unknown event, or if a field of a known event is
            missing or makes no sense.
        RelationMismatch: if an event has no meaning under this relation.
        UnsupportedComposition: if two of its steps have no composition here.

    Guarantee: that of each event's own definition, at its worst pair. An event that names no pair
        of laws, such as ZCDpEvent, bounds a class. It is certified if its curves are.
    Error: none before the views, with one exception. If the sum of the squares of mu needs more
        than 2^20 bits, each square is first rounded up, by less than 2^-400 of the largest.
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
        InvalidParameter: if there is no such relation.
    """
    name = str(getattr(neighbors, "name", neighbors))
    special = name == "REPLACE_SPECIAL"
    return "replace_special" if special else check_neighbors(_NAMES.get(name, name))


_NAMES = {"ADD_OR_REMOVE_ONE": "add_remove", "REPLACE_ONE": "replace_one"}
_NON_PRIVATE = approx_dp(0, 1)
# The bits that are kept of a rounded sum.
_KEPT_BITS = 512


@final
@dataclass(frozen=True, slots=True)
class _Steps:
    """What was run, with counts: Gaussians by mu^2, selections by eta, the rest by their curves."""

    squares: Counter[Fraction] = field(default_factory=Counter[Fraction])
    ranges: Counter[Fraction] = field(default_factory=Counter[Fraction])
    curves: Counter[TradeOff] = field(default_factory=Counter[TradeOff])

    def total(self) -> TradeOff:
        """Return the composition of all steps."""
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
    """One walk over a tree. Pending work is on a list, so deep trees need no recursion."""

    neighbors: Relation
    pending: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def total(self, event: object) -> TradeOff:
        """Walk over the tree, and return the composition of its steps."""
        steps = _Steps()
        self.visit(event, 1, steps, self.neighbors)
        while self.pending:
            self.pending.pop()()
        return steps.total()

    def visit(self, event: object, times: int, steps: _Steps, neighbors: Relation) -> None:
        """Add an event under a relation to the steps, or schedule its parts."""
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
            # A sample is composed by itself, after its parts: last in, first out.
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
        """Add the sampled steps."""
        curve = inside.total()
        steps.curves[curve if curve == _NON_PRIVATE else sampled(curve)] += times


def _gaussian(squares: Counter[Fraction]) -> TradeOff:
    """Return the composition of Gaussians; if the exact sum is too long, of squares rounded up."""
    denominators = {square.denominator for square in squares}
    if sum(map(int.bit_length, denominators)) > MOST_SUM_BITS:
        largest = max(squares)
        size = largest.numerator.bit_length() - largest.denominator.bit_length()
        unit = Fraction(2) ** (size - _KEPT_BITS)
        total = sum(ceil(square / unit) * times for square, times in squares.items())
        return gdp(squared=unit * total)
    return compose(*(gdp(squared=square * times) for square, times in squares.items()))
