"""Least squares of noisy integers about the same rows: estimates, their noise, and consistency.

For one group let n be the number of rows, and T_v the centred total of each column v. A noisy
integer is y = h (n, T_1, ...) + noise, where the noise is independent, with mean 0 and a known
variance. Least squares weighted by the inverse variances has the least variance of all unbiased
linear estimates (Gauss and Markov), and a known covariance.

Intervals. The error of an estimate is X + R, where R comes from rounding, and |R| is at most half
the sum of the absolute weights. The standard deviation s of X is known, and |X| > t s has
probability at most p for

* Gaussian noise: t as for a normal variable;
* Laplace noise among it: t = L / sqrt(2 (1 - (1 + L) p)), L = log(1/p). X has a log-concave
  law, as sums of such variables do, so |X| has a log-concave tail S: S(u) >= p^(u/t) below t, and
  the variance is the integral of 2 u S(u);
* any other noise: t = 2 / (3 sqrt(p)) for p <= 1/3, because X is unimodal and symmetric (Gauss).

The last two are conservative: 2.37 and 2.98 at 95 %, instead of 1.96.

Counts of nested rows. There are at most as many rows with a known value as rows. If noise violates
this, both show the mean of the two counts, weighted by the inverse variances: the nearest
consistent numbers. Their intervals are around the original estimates, extended to include the
numbers shown, so their coverage does not decrease.

Source: Gauss (1823), *Theoria combinationis observationum*, sections 9 and 10.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Noise
from neyman.numerics import ndtri
from neyman.publish._same_counts import Fact, Part, Variable

__all__ = ["Fixed", "SolvedGroup", "System", "solved"]

Floats = npt.NDArray[np.float64]

_CONTINUOUS: Final = ("gaussian", "laplace")
_LOG_CONCAVE: Final = ("gaussian", "laplace")
_UP: Final = 1 + 1e-9
_TURNS: Final = 80
_SPARE: Final = 1e-6


@final
@dataclass(frozen=True, slots=True)
class _Known:
    """A noisy number.

    Attributes:
        of: its coefficients of n, T_1, ...
        variance: the variance of its noise.
        rounded: the largest rounding error.
        law: the name of the noise in the ledger.
    """

    of: tuple[float, ...]
    variance: float
    rounded: float
    law: str


def known_of(form: np.ndarray[tuple[int], np.dtype[np.float64]], noise: Noise, law: str) -> _Known:
    """Return a noisy integer as a noisy number.

    Noise that is drawn as an integer becomes unimodal, as the intervals require, by adding a
    uniform number with variance 1/12.
    """
    more = 0.0 if law in _CONTINUOUS else 1 / 12
    return _Known(tuple(form.tolist()), noise.stddev**2 + more, 0.5, law)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Combination:
    """The best estimates of n, T_1, ... from noisy numbers.

    Attributes:
        weights: the weight of each number in each estimate.
        covariance: the covariance of the estimates.
        rounded: the largest rounding error of each number.
        laws: the names of the noise.
    """

    weights: Floats
    covariance: Floats
    rounded: Floats
    laws: frozenset[str]

    def of(self, numbers: Sequence[float]) -> Floats:
        """Return the estimates."""
        return self.weights @ np.asarray(numbers, np.float64)

    def variances(self, forms: Floats) -> Floats:
        """Return the variances of linear forms in n, T_1, ..., one in each row."""
        return np.einsum("ij,jk,ik->i", forms, self.covariance, forms)

    def noise(self, forms: Floats, step: float, off: Floats) -> "_CombinedNoise":
        """Return the noise on linear forms in the estimates, when other numbers are shown.

        Args:
            forms: one or two forms, one in each row.
            step: the shown first form is a whole multiple of this.
            off: the forms of the estimates minus the shown ones.
        """
        covariance = forms @ self.covariance @ forms.T
        slack = np.abs(forms @ self.weights) @ self.rounded
        return _CombinedNoise(covariance, slack, off, step, self.laws)


def _combined(known: Sequence[_Known]) -> _Combination:
    """Return the best estimates; every number needs an observation."""
    forms = np.array([one.of for one in known])
    deviations = np.sqrt([one.variance for one in known])
    scaled = forms / deviations[:, None]
    sizes = np.linalg.norm(scaled, axis=0)
    inverse = np.asarray(np.linalg.pinv(scaled / sizes), np.float64) / sizes[:, None]
    return _Combination(
        weights=inverse / deviations,
        covariance=inverse @ inverse.T,
        rounded=np.array([one.rounded for one in known]),
        laws=frozenset(one.law for one in known),
    )


def _multiple(laws: frozenset[str], confidence: float) -> float:
    """Return the number of standard deviations for a confidence in (0, 1)."""
    p = 1 - confidence
    if laws <= {"gaussian"}:
        return float(ndtri(np.array(1 - p / 2))) * _UP
    gauss = 2 / (3 * math.sqrt(p)) if p <= 1 / 3 else math.sqrt(3) * confidence
    if laws <= set(_LOG_CONCAVE):
        size = -math.log(p)
        # 1 - (1 + L) e^-L, by its series if L is small.
        part = size**2 / 2 * (1 - 2 * size / 3) if size < 1e-4 else 1 - (1 + size) * p
        return min(gauss, size / math.sqrt(2 * part)) * _UP
    return gauss * _UP


@final
@dataclass(frozen=True, slots=True, eq=False)
class _CombinedNoise:
    """The noise on one or two combined integers.

    Attributes:
        covariance: their covariance.
        slack: the largest rounding error of each.
        off: the estimates minus the integers shown.
        step: the first integer is a multiple of this.
        laws: the names of the noise.
    """

    covariance: Floats
    slack: Floats
    off: Floats
    step: float
    laws: frozenset[str]

    @property
    def stddev(self) -> float:
        """The standard deviation of the first integer."""
        return math.sqrt(float(self.covariance[0, 0]))

    @property
    def normal(self) -> bool:
        """Whether all noise is Gaussian."""
        return self.laws <= {"gaussian"}

    def half_width(self, confidence: float) -> int:
        """Return the half-width around the first integer: the true one is a multiple of `step`."""
        width = _multiple(self.laws, confidence) * self.stddev + float(self.slack[0])
        steps = math.floor((width + abs(float(self.off[0]))) / self.step + _SPARE)
        return round(self.step * steps)

    def ends(self, shown: int, confidence: float) -> tuple[int, int]:
        """Return the interval of the first integer, extended to include the shown one."""
        width = _multiple(self.laws, confidence) * self.stddev + float(self.slack[0])
        middle, step = shown + float(self.off[0]), self.step
        low, high = (
            round(step * math.ceil((middle - width) / step - _SPARE)),
            round(step * math.floor((middle + width) / step + _SPARE)),
        )
        return min(low, shown), max(high, shown)

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Return the interval of ratios r for which s = r n is not rejected (Fieller).

        |s - r n| <= t sqrt(var(s - r n)) + slack_s + |r| slack_n
        """
        top, bottom = numerator + float(self.off[1]), denominator + float(self.off[0])
        times, (lower, upper) = _multiple(self.laws, confidence), self.slack[:2]
        (nn, ns), (_, ss) = self.covariance[:2, :2]
        if bottom <= times * math.sqrt(nn) + lower:
            return -math.inf, math.inf

        def accepts(ratio: float) -> bool:
            variance = max(ss - 2 * ratio * ns + ratio**2 * nn, 0.0)
            reach = times * math.sqrt(variance) + upper + abs(ratio) * lower
            return abs(top - ratio * bottom) <= reach

        middle = top / bottom
        return tuple(_end(accepts, middle, side) for side in (-1, 1))  # pyright: ignore[reportReturnType]

    def radius(self, rank: int, size: int, confidence: float) -> float:  # noqa: ARG002
        """Return infinity: there is no joint bound on all integers."""
        return math.inf


def _end(accepts: Callable[[float], bool], middle: float, side: int) -> float:
    """Return the first ratio that is rejected on one side of the middle, rounded outwards.

    The ratios that are not rejected are an interval around the middle.
    """
    inside, outside = 0.0, max(abs(middle), 2.0**-20)
    while accepts(middle + side * outside):
        inside, outside = outside, 2 * outside
    for _ in range(_TURNS):
        half = (inside + outside) / 2
        if half in (inside, outside):
            break
        inside, outside = (half, outside) if accepts(middle + side * half) else (inside, half)
    return middle + side * outside


_SAME: Final = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Fixed:
    """A number of rows in a contingency table.

    Attributes:
        count: the count shown.
        lower, upper: its interval.
        unbiased: the unbiased estimate.
        stddev: the standard deviation of the estimate.
        law: the name of its noise.
        names: the names of the releases that it comes from.
    """

    columns: ClassVar = ("count", "lower", "upper", "unbiased", "stddev")

    count: int | float
    lower: float
    upper: float
    unbiased: float
    stddev: float
    law: str
    names: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class System:
    """Statistics about the same rows, with the estimates of n and of totals.

    Attributes:
        parts: the statistics.
        telling: those whose counts measure n.
        counted: whether n is measured; it is then the first number.
        variables: the columns of the totals.
        used: the integers of each part that are used.
        best: the estimates; `fixed` comes first if there is one.
        fixed: whether n comes only from a contingency table.
    """

    parts: tuple[Part, ...]
    telling: tuple[Part, ...]
    counted: bool
    variables: tuple[Variable, ...]
    used: tuple[tuple[int, ...], ...]
    best: _Combination = field(repr=False)
    fixed: bool

    @staticmethod
    def of(parts: Sequence[Part], fixed: Fixed | None) -> "System":
        """Combine parts; if a contingency table has n, nothing else is used for n."""
        counts = [part for part in parts if part.counts is not None]
        # Groups selected by a large noisy count are biased.
        telling = [] if fixed is not None else [p for p in counts if not p.chosen] or counts
        counted = bool(telling) or fixed is not None
        totals = [part.variable for part in parts if any(t and t.total for t in part.terms)]
        variables = tuple(dict.fromkeys(one for one in totals if one is not None))
        used = tuple(tuple(_used(part, told=part in telling)) for part in parts)
        known = [
            known_of(form, part.noise, part.law)
            for part, own in zip(parts, used, strict=True)
            for form in _forms(part, variables, counted=counted)[list(own)]
        ]
        if fixed is not None:
            first = (1.0, *[0.0] * len(variables))
            known = [_Known(first, fixed.stddev**2, 0.5, fixed.law), *known]
        best, whole = _combined(known), fixed is not None
        return System(tuple(parts), tuple(telling), counted, variables, used, best, whole)

    def forms(self, part: Part) -> Floats:
        """Return each integer of a part as a linear form in n and the totals, or as 0."""
        return _forms(part, self.variables, counted=self.counted)

    def changes(self, part: Part) -> bool:
        """Return whether other integers than its own change the numbers of a part."""
        if self.fixed:
            return True
        forms = self.forms(part)
        own = [i for i, term in enumerate(part.terms) if term is not None]
        found = self.best.variances(forms[own])
        variances = known_of(np.zeros(1), part.noise, part.law).variance
        return bool(np.any(np.abs(found / variances - 1) > _SAME))

    def uses(self, part: Part) -> bool:
        """Return whether the estimates use every integer of a part."""
        own = tuple(i for i, term in enumerate(part.terms) if term is not None)
        return self.used[self.parts.index(part)] == own

    @property
    def counted_from(self) -> tuple[Part, ...]:
        """The statistics in the estimate of n; totals contribute to it as well."""
        if not self.counted:
            return ()
        found: list[Part] = []
        place, least = int(self.fixed), _SAME * np.sqrt(self.variance)
        for part, own in zip(self.parts, self.used, strict=True):
            weights = self.best.weights[0, place : place + len(own)]
            deviation = np.sqrt(known_of(np.zeros(1), part.noise, part.law).variance)
            if np.any(np.abs(weights) * deviation > least):
                found.append(part)
            place += len(own)
        return tuple(found)

    def estimates(self, places: Sequence[int], fixed: Fixed | None) -> Floats:
        """Return the best estimates of a group.

        Args:
            places: the place of the group in each part.
            fixed: n, if a contingency table has it.
        """
        given = [
            float(part.integers[place, i])
            for part, place, own in zip(self.parts, places, self.used, strict=True)
            for i in own
        ]
        if fixed is not None:
            given = [fixed.unbiased, *given]
        return self.best.of(given)

    @property
    def variance(self) -> float:
        """The variance of the estimate of n."""
        return float(self.best.covariance[0, 0])


def _used(part: Part, *, told: bool) -> Iterator[int]:
    """Yield the integers of a part that are used, with that of the rows if it measures them."""
    for i, term in enumerate(part.terms):
        if term is not None and (told or (term.total and part.variable is not None)):
            yield i


def _forms(part: Part, variables: Sequence[Variable], *, counted: bool) -> Floats:
    found = np.zeros((len(part.terms), counted + len(variables)))
    for row, term in zip(found, part.terms, strict=True):
        if term is None:
            continue
        if counted:
            row[0] = term.rows
        if term.total and part.variable is not None:
            row[counted + variables.index(part.variable)] = term.total
    return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class SolvedGroup:
    """One group.

    Attributes:
        fact: the fact of its number of rows.
        held: the statistics about it, each with the place of the group.
        system: the combined statistics.
        estimates: the estimates of its numbers.
        fixed: the number of rows in a contingency table, if there is one.
        count: the count shown; None if it is unknown.
        moved: whether the count differs from the estimate, to be consistent with other counts.
    """

    fact: Fact
    held: tuple[tuple[Part, int], ...]
    system: System
    estimates: Floats
    fixed: Fixed | None
    count: int | float | None
    moved: bool = False

    @property
    def combined(self) -> bool:
        """Whether more than one statistic, or a contingency table, is about it."""
        return len(self.held) > 1 or self.fixed is not None

    @property
    def shown(self) -> tuple[int | float, ...]:
        """The count, if it is known, and each total, as consistent whole numbers."""
        if self.count is None:
            return tuple(round(total) for total in self.estimates.tolist())
        covariance = self.system.best.covariance
        # The expected totals, given this count.
        beside = covariance[:, 0] / covariance[0, 0] * (self.count - float(self.estimates[0]))
        return (self.count, *(round(total) for total in (self.estimates + beside)[1:].tolist()))

    def integers(self, part: Part) -> list[int]:
        """Return the integers of a part that match the numbers shown; others are 0."""
        found: list[int] = []
        shown = self.shown
        for term in part.terms:
            value = Fraction(0)
            if term is not None and self.system.counted:
                value += term.rows * Fraction(shown[0])
            if term is not None and term.total and part.variable is not None:
                place = self.system.counted + self.system.variables.index(part.variable)
                value += term.total * Fraction(shown[place])
            found.append(round(value))
        return found

    def noise(self, part: Part) -> _CombinedNoise:
        """Return the noise on those integers."""
        forms = self.system.forms(part)
        first = part.terms[0]
        step = 1 if first is None else first.total or first.rows
        off = forms @ self.estimates - np.array(self.integers(part), np.float64)
        return self.system.best.noise(forms, float(step), off)

    def count_ends(self, part: Part) -> tuple[int, int]:
        """Return the noise interval of n, for a count."""
        (first,) = self.integers(part)
        low, high = self.noise(part).ends(first, part.release.confidence)
        weight = 1 if part.counts is None else part.counts[1]
        return low // weight, high // weight

    def mean_ends(self, part: Part) -> tuple[float, float]:
        """Return the noise interval of T / n, for a part whose first integers are n and T."""
        (rows, _), (_, total) = ((t.rows, t.total) for t in part.terms[:2] if t is not None)
        first, second, *_ = self.integers(part)
        ends = self.noise(part).ratio_interval(second, first, part.release.confidence)
        low, high = (end * rows / total for end in ends)
        return low, high


def solved(parts: Sequence[Part], facts: Mapping[Fact, Fixed]) -> list[SolvedGroup]:
    """Return the groups that more than one statistic measures.

    Args:
        parts: the statistics.
        facts: the numbers of rows in contingency tables.
    """
    places: defaultdict[Fact, list[tuple[Part, int]]] = defaultdict(list)
    for part in parts:
        for group, fact in enumerate(part.facts):
            places[fact].append((part, group))
    nested: defaultdict[object, list[Fact]] = defaultdict(list)
    for fact in places:
        nested[_bundle(fact)].append(fact)
    for fact in facts:
        if fact not in places and _bundle(fact) in nested:
            nested[_bundle(fact)].append(fact)
    systems: dict[object, System] = {}
    found: list[SolvedGroup] = []
    for bundle in nested.values():
        groups = [
            _solve(fact, places.get(fact, []), facts.get(fact), systems)
            for fact in bundle
            if len(bundle) > 1 or len(places[fact]) > 1 or fact in facts
        ]
        found += _nested(groups)
    return [one for one in found if one.combined or one.moved]


def _bundle(fact: Fact) -> object:
    """Return a key that is equal for rows that may be nested."""
    rows = fact.rows
    return rows.data, rows.limits, rows.units, fact.group


def _solve(
    fact: Fact,
    held: Sequence[tuple[Part, int]],
    fixed: Fixed | None,
    systems: dict[object, System],
) -> SolvedGroup:
    alike = (tuple(id(part) for part, _ in held), fixed and (fixed.stddev, fixed.law))
    if alike not in systems:
        systems[alike] = System.of([part for part, _ in held], fixed)
    system = systems[alike]
    estimates = system.estimates([group for _, group in held], fixed)
    count = None
    if system.counted:
        count = round(float(estimates[0])) if fixed is None else fixed.count
    return SolvedGroup(fact, tuple(held), system, estimates, fixed, count)


def _nested(groups: Sequence[SolvedGroup]) -> Iterator[SolvedGroup]:
    """Yield the groups with counts such that none exceeds that of a set of rows around it."""
    blocks = [[one] for one in groups if one.count is not None]
    while True:
        pairs = [(x, y) for x in blocks for y in blocks if x is not y and _within(x, y)]
        wrong = [(x, y) for x, y in pairs if _level(x) > _level(y)]
        if not wrong:
            break
        first, second = max(wrong, key=lambda pair: _level(pair[0]) - _level(pair[1]))
        blocks = [block for block in blocks if block is not first and block is not second]
        blocks.append([*first, *second])
    yield from (one for one in groups if one.count is None)
    for block in blocks:
        if len(block) == 1:
            yield block[0]
            continue
        level = _level(block)
        whole = level if any(one.fixed is not None for one in block) else round(level)
        yield from (replace(one, count=whole, moved=True) for one in block)


def _within(first: Sequence[SolvedGroup], second: Sequence[SolvedGroup]) -> bool:
    """Return whether the rows of the first are a subset of those of the second."""
    return any(x.fact.rows.known > y.fact.rows.known for x in first for y in second)


def _level(block: Sequence[SolvedGroup]) -> float:
    """Return the weighted mean of the estimates; numbers of a contingency table do not change."""
    fixed = [one.fixed.count for one in block if one.fixed is not None]
    if fixed:
        return float(fixed[0]) if fixed[0] != round(fixed[0]) else round(fixed[0])
    weights = [1 / one.system.variance for one in block]
    values = [float(one.estimates[0]) for one in block]
    return sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
