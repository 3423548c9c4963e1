"""The exact game: what an analyst gains at most who chooses each release from the answers before.

An account is a state and what it allows: releases, each with the state that it leads to, fixed
before the answer. An analyst may stop at any time. What all answers together lose at a ratio e^eps,

    max over strategies of sum over transcripts w of (Q(w) - ratio P(w))_+,

is found by dynamic programming over all strategies, in exact fractions. An account is right if it
is at most the hockey-stick divergence that it states, at every ratio.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random


@dataclass(frozen=True)
class Pair:
    """Two laws on few outcomes: without the unit, and with it."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def swap(self) -> "Pair":
        return Pair(self.q, self.p)

    def then(self, other: "Pair") -> "Pair":
        """Return both, one after the other."""
        return Pair(
            tuple(x * y for x, y in product(self.p, other.p)),
            tuple(x * y for x, y in product(self.q, other.q)),
        )

    def through(self, kernel: tuple[tuple[Fraction, ...], ...]) -> "Pair":
        """Return what is left of both after a channel, one row for each outcome."""
        columns = tuple(zip(*kernel, strict=True))
        return Pair(
            tuple(sum(x * k for x, k in zip(self.p, col, strict=True)) for col in columns),
            tuple(sum(x * k for x, k in zip(self.q, col, strict=True)) for col in columns),
        )

    def hockey_stick(self, ratio: Fraction) -> Fraction:
        return sum(
            (max(q - ratio * p, Fraction(0)) for p, q in zip(self.p, self.q, strict=True)),
            Fraction(0),
        )


NOTHING = Pair((Fraction(1),), (Fraction(1),))

Allowed = Callable[[Hashable], Iterable[tuple[Pair, Hashable]]]


def composed(pairs: Iterable[Pair]) -> Pair:
    """Return all pairs, one after the other."""
    whole = NOTHING
    for pair in pairs:
        whole = whole.then(pair)
    return whole


def worst(start: Hashable, allowed: Allowed, ratio: Fraction) -> Fraction:
    """Return the most that any strategy loses at a ratio."""
    known: dict[tuple[Hashable, Fraction], Fraction] = {}

    def at(state: Hashable, odds: Fraction) -> Fraction:
        # What remains of q - ratio p, for q = 1 and ratio p = odds.
        if (state, odds) not in known:
            most = max(1 - odds, Fraction(0))
            for pair, then in allowed(state):
                told = Fraction(0)
                for p, q in zip(pair.p, pair.q, strict=True):
                    # An outcome that the unit alone can have betrays it.
                    told += q * at(then, odds * p / q) if q else Fraction(0)
                most = max(most, told)
            known[state, odds] = most
        return known[state, odds]

    return at(start, ratio)


def random_pair(random: Random, outcomes: int = 3, whole: int = 12) -> Pair:
    """Return two laws on a few outcomes, each probability a positive multiple of 1/whole."""

    def law() -> tuple[Fraction, ...]:
        cuts = sorted(random.sample(range(1, whole), outcomes - 1))
        ends = zip([0, *cuts], [*cuts, whole], strict=True)
        return tuple(Fraction(high - low, whole) for low, high in ends)

    return Pair(law(), law())


def random_kernel(random: Random, rows: int, columns: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return a channel."""
    return tuple(random_pair(random, columns, 6).p for _ in range(rows))
