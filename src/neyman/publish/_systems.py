"""The number of rows of a group, and the totals over them, from all integers that are of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final, final

import numpy as np

from neyman.publish._combined import Combination, CombinedNoise, Floats, Known, combined
from neyman.publish._facts import Variable
from neyman.publish._parts import Part, known_of

__all__ = ["Fixed", "Numbers", "System"]

_SAME: Final = 1e-9


@final
@dataclass(frozen=True, slots=True)
class Fixed:
    """A number of rows that a contingency table shows, where it adds up to others.

    Attributes:
        count: that is shown.
        lower, upper: its interval.
        unbiased: the estimate that it was made of.
        stddev: of that.
        law: of its noise.
        names: of the releases that it is made of.
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
class Numbers:
    """What is known of one group.

    Attributes:
        estimates: of n, if it is known, and of each total.
        shown: the same, as whole numbers that fit each other.
    """

    estimates: Floats
    shown: tuple[int | float, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class System:
    """Statistics about the same rows, and what they tell of n and of totals.

    Attributes:
        parts: the statistics.
        telling: those of them whose counts tell n.
        counted: whether n is known, so that it is the first number.
        variables: of the totals.
        used: of each part the integers that something is known from.
        best: the estimates, made of `fixed` first if there is one.
        fixed: whether n is known from a contingency table, and only so.
    """

    parts: tuple[Part, ...]
    telling: tuple[Part, ...]
    counted: bool
    variables: tuple[Variable, ...]
    used: tuple[tuple[int, ...], ...]
    best: Combination = field(repr=False)
    fixed: bool

    @staticmethod
    def of(parts: Sequence[Part], fixed: Fixed | None) -> "System":
        """Put parts together; where a table tells n, nothing else does."""
        counts = [part for part in parts if part.counts is not None]
        # Shown for their large noisy counts, they tell less than any that are shown anyway.
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
            known = [Known(first, fixed.stddev**2, 0.5, fixed.law), *known]
        best, whole = combined(known), fixed is not None
        return System(tuple(parts), tuple(telling), counted, variables, used, best, whole)

    def forms(self, part: Part) -> Floats:
        """Return each integer of a part as a form in n and the totals, 0 where it is none."""
        return _forms(part, self.variables, counted=self.counted)

    def changes(self, part: Part) -> bool:
        """Whether a part is known otherwise than from its own integers alone."""
        if self.fixed:
            return True
        forms = self.forms(part)
        own = [i for i, term in enumerate(part.terms) if term is not None]
        found = self.best.variances(forms[own])
        variances = known_of(np.zeros(1), part.noise, part.law).variance
        return bool(np.any(np.abs(found / variances - 1) > _SAME))

    def uses(self, part: Part) -> bool:
        """Whether all that a part tells is among what the estimates are made of."""
        own = tuple(i for i, term in enumerate(part.terms) if term is not None)
        return self.used[self.parts.index(part)] == own

    @property
    def counted_from(self) -> tuple[Part, ...]:
        """The statistics that the estimate of n is made of: totals tell of it, too."""
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
            places: of the group in each part.
            fixed: n, if a contingency table tells it.
        """
        given = [
            float(part.integers[place, i])
            for part, place, own in zip(self.parts, places, self.used, strict=True)
            for i in own
        ]
        if fixed is not None:
            given = [fixed.unbiased, *given]
        return self.best.of(given)

    def numbers(self, estimates: Floats, count: float | None) -> Numbers:
        """Return the numbers to be shown.

        Args:
            estimates: of the group.
            count: n as it is shown; None where it is not known.
        """
        if count is None:
            return Numbers(estimates, tuple(round(total) for total in estimates.tolist()))
        first = float(estimates[0])
        # What the totals are expected to be beside this count.
        moved = self.best.covariance[:, 0] / self.best.covariance[0, 0] * (count - first)
        totals = [round(total) for total in (estimates + moved)[1:].tolist()]
        return Numbers(estimates, (count, *totals))

    @property
    def variance(self) -> float:
        """Of the estimate of n."""
        return float(self.best.covariance[0, 0])

    def integers(self, part: Part, numbers: Numbers) -> list[int]:
        """Return the integers of a part that fit the numbers shown; of no term its own are 0."""
        found: list[int] = []
        for term in part.terms:
            value = Fraction(0)
            if term is not None and self.counted:
                value += term.rows * Fraction(numbers.shown[0])
            if term is not None and term.total and part.variable is not None:
                place = self.counted + self.variables.index(part.variable)
                value += term.total * Fraction(numbers.shown[place])
            found.append(round(value))
        return found

    def noise(self, part: Part, numbers: Numbers) -> CombinedNoise:
        """Return the noise on those integers."""
        forms = self.forms(part)
        first = part.terms[0]
        step = 1 if first is None else first.total or first.rows
        off = forms @ numbers.estimates - np.array(self.integers(part, numbers), np.float64)
        return self.best.noise(forms, float(step), off)

    def count_ends(self, part: Part, numbers: Numbers) -> tuple[int, int]:
        """Return the noise interval of n, of a part that is a count."""
        (first,) = self.integers(part, numbers)
        low, high = self.noise(part, numbers).ends(first, part.release.confidence)
        weight = 1 if part.counts is None else part.counts[1]
        return low // weight, high // weight

    def mean_ends(self, part: Part, numbers: Numbers) -> tuple[float, float]:
        """Return the noise interval of T / n, of a part with n and T first among its integers."""
        (rows, _), (_, total) = ((t.rows, t.total) for t in part.terms[:2] if t is not None)
        first, second, *_ = self.integers(part, numbers)
        ends = self.noise(part, numbers).ratio_interval(second, first, part.release.confidence)
        low, high = (end * rows / total for end in ends)
        return low, high


def _used(part: Part, *, told: bool) -> Iterator[int]:
    """Yield which integers of a part something is known from; of the rows, if they are told."""
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
