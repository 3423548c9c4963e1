"""The privacy profile over an interval, by lines that serve many epsilons."""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import Array, exp_outward
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._contour import DELTA, Contour
from neyman.numerics._inversion._few_steps import FewSteps
from neyman.numerics._inversion._largest_step import LargestStep
from neyman.numerics._inversion._tails import ContourTails
from neyman.numerics._laws._loss_law import LossSum

__all__ = ["Ladder"]

# The number of levels of log delta for which lines are laid. Neighbours share a line.
_LEVELS = 48
# A bracket by the largest step of this relative width needs no other contour.
_NARROW = 5e-10


@final
@dataclass(frozen=True, slots=True)
class Ladder:
    """Contours with the thresholds that each serves best, ascending.

    Every contour bounds the functional at every threshold; near its own it does so tightly.
    """

    contours: "tuple[Contour | LargestStep, ...]"
    centres: Array

    @classmethod
    def over(cls, law: LossSum, levels: tuple[float, float]) -> "Ladder | None":
        """Lay the lines.

        Args:
            law: of the loss.
            levels: log delta at the ends of the interval, the larger one first.

        Returns:
            None where one of the lines could not be laid.
        """
        targets, tails = np.linspace(*levels, _LEVELS), ContourTails(law, DELTA)
        few = tails.few
        if few is not None:
            return cls._of_few(few, tails.sketch(log_tail=levels).near_tail(targets))
        rungs: list[tuple[float, Contour]] = []
        served = 0
        for group, line, found in tails.thresholds(targets):
            if not np.isfinite([found.lower, found.upper]).all():
                return None
            middle = float(np.mean(found.lower + found.upper)) / 2
            rungs.append((middle, line.tail(DELTA)))
            served += group.size
        if served < _LEVELS:
            return None
        rungs.sort(key=lambda rung: rung[0])
        return cls(tuple(contour for _, contour in rungs), np.asarray([at for at, _ in rungs]))

    @classmethod
    def _of_few(cls, few: FewSteps, t: Array) -> "Ladder | None":
        """Lay contours by the largest step, where lines of the whole sum are long."""
        t = np.maximum(t, 0.0)
        found = [(float(t[at[at.size // 2]]), line) for at, line, _ in few.served(t, _NARROW)]
        found.sort(key=lambda rung: rung[0])
        centres, lines = np.asarray([at for at, _ in found]), tuple(line for _, line in found)
        return cls(lines, centres) if found else None

    def delta_bracket(self, epsilon: Array) -> Interval:
        """Bracket delta at finite epsilon, by the nearest contour of each."""
        flat = np.ravel(epsilon)
        lower, upper = np.zeros(flat.shape), np.ones(flat.shape)
        between = (self.centres[1:] + self.centres[:-1]) / 2
        nearest = np.searchsorted(between, flat)
        for place in map(int, np.unique(nearest)):
            here = nearest == place
            log = self.contours[place].log_bracket(flat[here])
            bounds = exp_outward(Interval(np.minimum(log.lower, 0.0), np.minimum(log.upper, 0.0)))
            lower[here], upper[here] = bounds.lower, bounds.upper
        return Interval(lower.reshape(epsilon.shape), upper.reshape(epsilon.shape))
