"""The pair that dominates what a shuffler of local reports gives away."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.curves._formulas import Summaries, Views
from neyman.curves._pair import Pair
from neyman.curves._pairs._bounded import check_epsilon
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, proved_root, standing, text
from neyman.numerics._distributions._binomial import log_binomial_mass, log_even_mass
from neyman.numerics._primitives import exp, expm1
from neyman.overriding import override

__all__ = ["ClonesPair"]

# Deviations from the middle that are summed. By Bernstein's inequality the totals beyond
# W sqrt(v) + W²/3, and by Hoeffding's the counts beyond W sqrt(m)/2, weigh less than 2 e^(-W²/2).
_WIDE = 11.5
_CHUNK = 2**19
# The probability of a cell that may be omitted, with up to 2^28 of them, and the total omitted.
_FAINT = 2.0**-126
_LEFT_OUT = 4 * math.exp(-(_WIDE**2) / 2) + 2.0**-98
# The most cells to keep, at 32 bytes each.
_MOST_KEPT = 2**22


@final
@dataclass(frozen=True, slots=True)
class ClonesPair(Pair):
    """P = (A + D, C - A + 1 - D), Q = (A + 1 - D, C - A + D): hiding among clones.

    C ~ Binomial(n - 1, e^-epsilon0), A ~ Binomial(C, 1/2), D ~ Bernoulli(e^epsilon0 /
    (1 + e^epsilon0)). At a total m = C + 1 and first count a, with w = e^epsilon0,

        e^L = (a + w (m - a)) / (w a + m - a),

    and delta sums (Q - e^epsilon P)_+ over (m, a): positive terms only.

    Source: Feldman, McMillan and Talwar (2021), "Hiding among the clones", theorem 3.1.
    """

    epsilon0: Fraction
    reports: int

    kind: ClassVar[str] = "clones"
    keys: ClassVar[Mapping[str, str]] = {"epsilon0": "epsilon"}
    proved: ClassVar[bool] = True
    slow: ClassVar[bool] = True
    mirrored: ClassVar[bool] = True
    relation = "replace_one"

    def __post_init__(self) -> None:
        """Refuse what the sum cannot hold."""
        check_epsilon(self.epsilon0)
        if not 2 <= self.reports <= 10**6:
            raise InvalidParameter(
                f"n must be in [2, 10^6]; got {self.reports}. Write the number of reports"
            )

    def __str__(self) -> str:
        return f"shuffled(epsilon0={text(self.epsilon0)}, n={self.reports})"

    @override
    def views(self) -> Views:
        return Views(delta=self._delta, epsilon=self._epsilon, beta=self._beta)

    @override
    def summaries(self) -> Summaries:
        return Summaries(outer_pure=lambda: self.epsilon0)

    def _delta(self, epsilon: Array) -> Interval:
        near = Interval.decimal(epsilon)
        w = exp(Interval.of(self.epsilon0))
        upper = [self._at(e, w).upper for e in np.ravel(near.lower).tolist()]
        lower = [self._at(e, w).lower for e in np.ravel(near.upper).tolist()]
        over = epsilon >= standing(self.epsilon0)[1]
        shape = np.shape(epsilon)
        found = Interval(np.reshape(lower, shape), np.reshape(upper, shape)).clip(0.0, 1.0)
        return Interval.where(over, Interval.exactly(0.0), found)

    def _at(self, epsilon: float, w: Interval) -> Interval:
        """Return delta at exactly epsilon, of all e^epsilon0 in w."""
        total = self._sum(abs(epsilon), w)
        return total if epsilon >= 0 else total * exp(epsilon) - expm1(epsilon)

    def _sum(self, epsilon: float, w: Interval) -> Interval:
        """Return the sum over the likely totals, with all that the others may add."""
        # Q - e^epsilon P is mass(a) (2/m) ((m - a) up - a down)/(1 + w), positive for small a.
        # w - e^epsilon and w e^epsilon - 1 keep their digits where both are near 1.
        bound = Interval.of(self.epsilon0)
        up, down = (expm1(bound) - expm1(epsilon)).larger(0), expm1(bound + epsilon)
        total = Interval.exactly(0.0)
        for cells in _cells(self.epsilon0, self.reports):
            # Few enough of a total are first.
            most = np.floor(cells.total * float(up.upper) / float((up + down).lower)) + 1
            found = cells if epsilon == 0 else cells.where(cells.first <= most)
            value = found.weight * (up * (found.total - found.first) - down * found.first).larger(0)
            total = total + value.total()
        left_out = Interval(np.zeros(()), np.asarray(_LEFT_OUT))
        return (total * (2 / (w + 1)) + left_out).larger(0)

    def _epsilon(self, delta: Array) -> Interval:
        flat, most = np.ravel(delta), float(standing(self.epsilon0)[1])
        lower, upper = np.zeros(flat.shape), np.zeros(flat.shape)
        lower[flat == 0] = upper[flat == 0] = most
        at_zero = self.delta_bracket(np.zeros(()))
        for i in np.flatnonzero((flat > 0) & (flat < at_zero.upper)).tolist():
            target = np.log(flat[i : i + 1])
            low, high = 0.0, most
            for _ in range(12):
                middle = (low + high) / 2
                above = self.log_delta_bracket(np.asarray([middle])).upper > target
                low, high = (middle, high) if above else (low, middle)
            found = proved_root(
                self.log_delta_bracket,
                lambda e: self.log_delta_bracket(e).upper,
                target,
                np.asarray([(low + high) / 2]),
                np.asarray([-1.0 / max(high, 1e-300)]),
            )
            certain = flat[i] < at_zero.lower
            lower[i] = max(float(found.lower[0]), 0.0) if certain else 0.0
            upper[i] = min(max(float(found.upper[0]), 0.0), most)
        return Interval(lower.reshape(np.shape(delta)), upper.reshape(np.shape(delta)))

    def _beta(self, alpha: Array) -> Interval:
        grid = np.linspace(-float(self.epsilon0), float(self.epsilon0), 257)
        rest, level = 1 - self.delta_bracket(grid).decimals(), Interval.decimal(alpha)
        lines = rest - exp(grid) * Interval(level.lower[..., None], level.upper[..., None])
        lower = np.max(lines.lower, axis=-1)
        return Interval(lower, (1 - level).upper).clip(0.0, 1.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Totals m and first counts a, with P(C + 1 = m, A = a of m fair coins) / m."""

    total: Array
    first: Array
    weight: Interval

    def where(self, kept: npt.NDArray[np.bool_]) -> "_Cells":
        weight = Interval(self.weight.lower[kept], self.weight.upper[kept])
        return _Cells(self.total[kept], self.first[kept], weight)


def _cells(epsilon0: Fraction, reports: int) -> Iterable[_Cells]:
    """Return the likely cells with a no more than half, and one count above."""
    kept = _kept(epsilon0, reports)
    return _Grid.of(epsilon0, reports).parts() if kept is None else kept


@lru_cache(maxsize=2)
def _kept(epsilon0: Fraction, reports: int) -> tuple[_Cells, ...] | None:
    """Return the cells for many readings; None where they are too many to keep."""
    grid = _Grid.of(epsilon0, reports)
    return tuple(grid.parts()) if grid.depth * grid.total.size <= _MOST_KEPT else None


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """The likely totals, with the logarithms of their chances, and their likely first counts."""

    total: Array
    log_chance: Interval
    least: Array
    most: Array
    depth: int

    @classmethod
    def of(cls, epsilon0: Fraction, reports: int) -> "_Grid":
        trials, chance = reports - 1, exp(-Interval.of(epsilon0))
        p = float(chance.middle)
        reach = _WIDE * math.sqrt(trials * p * (1 - p)) + _WIDE**2 / 3
        first, last = (
            max(0, math.floor(trials * p - reach)),
            min(trials, math.ceil(trials * p + reach)),
        )
        clones = np.arange(first, last + 1.0)
        row = log_binomial_mass(clones, trials, chance, -expm1(-Interval.of(epsilon0)))
        m = clones + 1
        most = np.minimum(np.floor(m / 2) + 1, m)
        least = np.maximum(np.floor(m / 2 - _WIDE * np.sqrt(m) / 2), 0.0)
        return cls(m, row, least, most, int(np.max(most - least)) + 1)

    def parts(self) -> Iterator[_Cells]:
        rows = max(_CHUNK // self.depth, 1)
        for start in range(0, self.total.size, rows):
            part = slice(start, start + rows)
            m = self.total[part, None]
            a = self.most[part, None] - np.arange(self.depth, dtype=np.float64)
            inside = (a >= self.least[part, None]) & (a >= 0)
            halves = log_even_mass(np.where(inside, a, 0.0), m)
            row = Interval(self.log_chance.lower[part, None], self.log_chance.upper[part, None])
            mass = exp(halves + row) / m
            kept = inside & (mass.upper > _FAINT)
            yield _Cells(np.broadcast_to(m, a.shape), a, mass).where(kept)
