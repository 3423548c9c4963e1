"""A loss cut to an interval: its law on the interval alone, of mass below 1."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._lattice_sums._source import Atoms, LossSource, Masses, SourceTails
from neyman.overriding import override

__all__ = ["CutSource"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class CutSource(LossSource):
    """What a loss has in (low, high]; infinite losses are beyond every interval but (low, inf].

    An atom belongs to the interval that holds an upper bound of its loss.

    Attributes:
        source: the whole loss.
        low: may be -inf.
        high: may be inf.
    """

    source: LossSource
    low: float
    high: float

    @override
    def tails(self, t: Array) -> SourceTails:
        shape = np.shape(t)
        order = np.argsort(np.ravel(t))
        cells = self.cells(np.ravel(t)[order], exact=True)

        def sums(mass: Bracket, *, above: bool) -> Bracket:
            found: list[Array] = []
            for side in mass:
                total = np.cumsum(side[::-1])[::-1][1:] if above else np.cumsum(side)[:-1]
                back = np.empty(total.size)
                back[order] = total
                found.append(back.reshape(shape))
            room = cells.p.lower.size * 2.0**-52
            return Bracket(found[0] * (1 - room), found[1] * (1 + room))

        p, q = cells
        return SourceTails(
            sums(p, above=True), sums(q, above=True), sums(p, above=False), sums(q, above=False)
        )

    @property
    @override
    def atoms(self) -> Atoms:
        p, q = self.source.atoms
        with np.errstate(divide="ignore"):
            log = np.log(q.upper)
            place = log - np.log(p.lower)
        place = place + ULP * (2 + np.abs(log) + np.abs(place))
        kept = (place > self.low) & (place <= self.high)
        return Atoms(*(Bracket(mass.lower[kept], mass.upper[kept]) for mass in (p, q)))

    @property
    @override
    def reach(self) -> tuple[float, float]:
        least, largest = self.source.reach
        return max(least, self.low), min(largest, self.high)

    @property
    @override
    def only_q(self) -> tuple[float, float]:
        return self.source.only_q if self.high == np.inf else (0.0, 0.0)

    @property
    @override
    def only_p(self) -> tuple[float, float]:
        return self.source.only_p if self.low == -np.inf else (0.0, 0.0)

    @override
    def cells(self, t: Array, *, exact: bool) -> Masses:
        inner = np.clip(t, self.low, self.high)
        found = self.source.cells(np.concatenate(([self.low], inner, [self.high])), exact=exact)
        ends = np.concatenate(([self.low], inner, [self.high]))
        # Between equal thresholds there is nothing, not even rounding.
        some = np.diff(ends) > 0
        return Masses(
            *(
                Bracket(np.where(some, m.lower[1:-1], 0.0), np.where(some, m.upper[1:-1], 0.0))
                for m in found
            )
        )
