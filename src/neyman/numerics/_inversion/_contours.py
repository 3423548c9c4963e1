"""One line for several sums of losses: a contour for each, and thresholds one for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import final

import numpy as np

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval, quiet
from neyman.numerics._inversion._contour import DELTA, Bounds, Rows, Waves, based, line_weights
from neyman.numerics._laws._loss_law import SumNodes
from neyman.numerics._primitives import exp, log

__all__ = ["Contours", "sums_of"]


@final
@dataclass(frozen=True, slots=True)
class Contours:
    """Contours of delta on one line, as `Contour` has one of them; arrays have a row for each.

    Attributes:
        c: real part.
        waves: of the weights.
        base: b + log h/π.
        rest: bounds of the sums over the rest of the line.
        bounds: by other points, whose logarithms have a row for each sum.
    """

    c: float
    waves: Waves
    base: Interval
    rest: Interval
    bounds: Bounds

    @classmethod
    def of(
        cls, parts: Sequence[SumNodes], counts: Array, c: float, u: Array, points: Array
    ) -> "Contours | None":
        """Lay the line; None where a cumulant leaves the doubles.

        Args:
            parts: of each loss, its nodes.
            counts: how often each sum has each loss, a row for each sum.
            c: real part.
            u: equally spaced from 0, of a step of at most 30 binary digits.
            points: of the strip, c among them, to bound aliases by.
        """
        lines: list[Disc] = []
        for part in parts:
            value, error = part.line(c, u)
            real = part.real(np.asarray([c]))
            value[0], error[0] = real.value[0], real.error[0]
            lines.append(Disc(value, error))
        exponent = sums_of(lines, counts)
        most = sums_of([Disc.exactly(part.most(points)) for part in parts], counts).upper
        known = np.isfinite(exponent.value[:, 0]) & np.isfinite(exponent.error[:, 0])
        if not (np.all(known) and np.all(np.isfinite(most))):
            return None
        step, last = float(u[1]), u[-1:]
        tops = exponent.value[:, :1].real.copy()
        off = Interval.within(np.zeros(tops.shape), 0.0, exponent.error[:, :1])
        s: ComplexArray = np.asarray(c + 1j * u, np.complex128)
        weight = line_weights(DELTA, s, exponent - tops, off)
        weight.value[:, 0] /= 2
        base = based(Interval.exactly(tops), step)
        # A decay matters where that of the smallest sum does.
        copies = np.asarray([part.copies for part in parts])
        hints = (np.min(counts @ copies) / copies).tolist()
        decays = np.stack([p.decay(c, last, n) for p, n in zip(parts, hints, strict=True)])
        values = Interval.exactly(most) + DELTA.log_chernoff(points)
        ends = np.zeros((len(counts), 1))
        values = Interval.exactly(np.concatenate([values.upper, ends], axis=1)) - base
        return cls(
            c,
            Waves.of(weight, step),
            _column(base),
            _column(exp(off + (counts @ decays - np.log(last))) / step),
            Bounds.of((c, step), np.append(points, DELTA.shift), values),
        )

    def middle(self, t: Array) -> Array:
        """Estimate the logarithms of delta, at a threshold for each sum."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.waves.about_each(t, slice(None)))
        return self.base.upper - (self.c - DELTA.shift) * t + logs

    @quiet
    def log_bracket(self, t: Array, which: Rows) -> Interval:
        """Bracket the logarithms of delta at thresholds t, of the sums that `which` names."""
        most = self.bounds.at_each(t, which)
        rest = self.rest.at(which)
        lost = exp(most[1:]).total(axis=0).upper
        total = self.waves.at_each(t, which)
        found = log(total - Interval(-rest.upper, (rest + lost).upper))
        low = np.where(np.isnan(found.lower), -np.inf, found.lower)
        lift = Interval.exactly(np.asarray(self.c)) - DELTA.shift
        return self.base.at(which) - lift * t + Interval(low, np.fmin(found.upper, most[0]))


def _column(column: Interval) -> Interval:
    return Interval(column.lower[:, 0], column.upper[:, 0])


def sums_of(parts: Sequence[Disc], counts: Array) -> Disc:
    """Return Σ n_i part_i, with a row for each sum."""
    return reduce(add, (part.at((None,)) * counts[:, i : i + 1] for i, part in enumerate(parts)))
