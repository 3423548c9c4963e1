"""The joint statistic of two error counts, and its exact law at any pair of error rates."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from neyman.numerics import ULP, Array
from neyman.numerics._special import log_gamma

__all__ = ["Counts", "Statistic", "Tail", "chances_of"]

# A window of this many standard deviations, and more, holds all of a binomial but 1e-13.
_DEVIATIONS, _MORE = 7.5, 20
# What the two windows and the sums over them leave out.
_LEFT_OUT = 4e-13
# Ties of the statistic count as at most the one observed; this much of a count is a tie.
_TIE = 1e-9
# A rate below it is taken for it, which moves no chance by more than n times as much.
_LEAST_RATE = 1e-300
# Numbers in an array at once.
_MOST = 2_000_000
_SAFE = 16.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The errors of one fixed rule that calls each score "in" or "out".

    Attributes:
        false_positives: of the scores outside, those called in.
        outside: how many scores there are without the record.
        false_negatives: of the scores inside, those called out.
        inside: how many scores there are with the record.
    """

    false_positives: int
    outside: int
    false_negatives: int
    inside: int


class Tail(NamedTuple):
    """P(S <= s) at pairs of error rates, and its derivatives.

    Attributes:
        chance: rounded up.
        along_x: the derivative in the false positive rate, about.
        along_y: the derivative in the false negative rate, about.
    """

    chance: Array
    along_x: Array
    along_y: Array


@final
@dataclass(frozen=True, slots=True)
class Statistic:
    """S = w FP / n0 + FN / n1, FP ~ Bin(n0, x), FN ~ Bin(n1, y), independent.

    Small values speak against the claim. {S <= s} is a down-set of (FP, FN), so that its
    probability falls in x and in y.

    Attributes:
        counts: that were observed.
        weight: w, what a false positive weighs; fixed before these counts were seen.
    """

    counts: Counts
    weight: float
    observed: float = field(init=False)

    def __post_init__(self) -> None:
        """Work out s."""
        c = self.counts
        s = self.weight * c.false_positives / c.outside + c.false_negatives / c.inside
        object.__setattr__(self, "observed", s)

    def chance(self, x: Array, y: Array) -> Array:
        """Return P(S <= s), rounded up."""
        return np.concatenate([part.chance for part in self._parts(x, y, slopes=False)])

    def tail(self, x: Array, y: Array) -> Tail:
        """Return P(S <= s), rounded up, and its two derivatives."""
        parts = tuple(self._parts(x, y, slopes=True))
        return Tail(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def bernstein(self, x: Array, y: Array) -> Array:
        """Return an upper bound of P(S <= s) that takes no sum."""
        c, w = self.counts, self.weight
        gap = np.maximum(w * x + y - self.observed, 0.0)
        variance = w * w * x * (1 - x) / c.outside + y * (1 - y) / c.inside
        step = max(w / c.outside, 1 / c.inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            exponent = -(gap**2) / (2 * (variance + step * gap / 3))
        return np.exp(np.nan_to_num(exponent, nan=0.0))

    def _parts(self, x: Array, y: Array, *, slopes: bool) -> Iterator[Tail]:
        c = self.counts
        wide = _width(c.outside, x).max(initial=1) + _width(c.inside, y).max(initial=1)
        rows = max(1, int(_MOST // wide))
        for start in range(0, x.size, rows):
            yield self._part(x[start : start + rows], y[start : start + rows], slopes=slopes)

    def _part(self, x: Array, y: Array, *, slopes: bool) -> Tail:
        c = self.counts
        k, masses = _window(c.outside, x)
        j, others = _window(c.inside, y)
        most = np.floor(c.inside * (self.observed - self.weight * k / c.outside) + _TIE)
        place = np.clip(most - j[:, :1], -1, j.shape[1] - 1).astype(np.intp)
        row = np.arange(x.size)[:, None]
        # The place before the window is its first one, with nothing below it.
        below = np.concatenate([np.zeros((x.size, 1)), np.cumsum(others, axis=1)], axis=1)
        chances = below[row, place + 1]
        chance = np.sum(masses * chances, axis=1)
        slack = (
            ULP
            * _SAFE
            * (float(log_gamma(np.array([c.outside + 2.0, c.inside + 2.0])).sum()) + 100)
        )
        up = np.minimum(chance * (1 + slack) + _LEFT_OUT, 1.0)
        if not slopes:
            return Tail(up, up, up)
        with np.errstate(divide="ignore", invalid="ignore"):
            along_x = np.sum(masses * chances * (k - c.outside * x[:, None]), axis=1) / (
                x * (1 - x)
            )
            within = (most >= j[:, :1]) & (most <= j[:, -1:])
            at_most = np.where(within, others[row, np.maximum(place, 0)], 0.0)
            left = np.clip(c.inside - most, 0, None)
            along_y = -np.sum(masses * at_most * left, axis=1) / (1 - y)
        return Tail(up, along_x, along_y)


def chances_of(n: int, rates: Array, least: int) -> Array:
    """Return P(Bin(n, rate) >= least) for each rate, within 1e-12."""
    if least <= 0:
        return np.ones(rates.size)
    k, masses = _window(n, rates)
    above = np.sum(np.where(k >= least, masses, 0.0), axis=1)
    # A window that lies above holds all of it.
    return np.where(k[:, 0] >= least, 1.0, np.minimum(above, 1.0))


def _width(n: int, rate: Array) -> Array:
    sd = np.sqrt(n * rate * (1 - rate))
    return np.minimum(np.ceil(2 * (_DEVIATIONS * sd + _MORE)) + 1, n + 1)


def _window(n: int, rate: Array) -> tuple[Array, Array]:
    """Return the counts that a binomial takes, row by row, and their masses."""
    width = int(_width(n, rate).max(initial=1))
    sd = np.sqrt(n * rate * (1 - rate))
    first = np.clip(np.floor(n * rate - _DEVIATIONS * sd - _MORE), 0, n + 1 - width)
    k = first[:, None] + np.arange(float(width))
    inner = np.clip(rate, _LEAST_RATE, 1 - ULP)
    logs = _log_choices(n)[k.astype(np.intp)]
    logs += k * (np.log(inner) - np.log1p(-inner))[:, None]
    logs += (n * np.log1p(-inner))[:, None]
    return k, np.exp(logs, out=logs)


@lru_cache(maxsize=8)
def _log_choices(n: int) -> Array:
    factorials = log_gamma(np.arange(1.0, n + 2))
    return factorials[-1] - factorials - factorials[::-1]
