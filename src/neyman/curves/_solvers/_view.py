"""The views that a solver answers: log delta, epsilon, beta and tpr."""

import warnings
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from neyman.numerics import Array, Interval
from neyman.numerics._primitives import exp, expm1, log

__all__ = ["BETA", "EPSILON", "LOG_DELTA", "TPR", "Readable", "View", "left_of_zero", "meet"]

# Below these values a bracket need not be relatively narrow.
_NOTHING = -760.0
_APART = (
    "two proved brackets of one number exclude each other, which is a mistake of neyman; the wider "
    "one was kept. Report the curve and the question"
)
_SMALL = {"epsilon": 1e-6, "beta": 1e-300, "tpr": 1e-300}


class Readable(Protocol):
    """What has the four views: a pair, or a table made of one."""

    def log_delta_bracket(self, epsilon: Array) -> Interval: ...
    def epsilon_bracket(self, delta: Array) -> Interval: ...
    def beta_bracket(self, alpha: Array) -> Interval: ...
    def tpr_bracket(self, alpha: Array) -> Interval: ...


@final
@dataclass(frozen=True, slots=True)
class View:
    """One of the four.

    Attributes:
        name: as in `<name>_bracket`.
        loss: whether it is a loss, which grows with every factor of a composition; else an error.
    """

    name: str
    loss: bool

    def ask(self, readable: Readable, at: Array) -> Interval:
        """Return this view of an object that has it."""
        ask = {
            "log_delta": readable.log_delta_bracket,
            "epsilon": readable.epsilon_bracket,
            "beta": readable.beta_bracket,
            "tpr": readable.tpr_bracket,
        }[self.name]
        return ask(at)

    def of_power(self, power: Interval) -> Interval:
        """Return the view that the power of a test is, or the error that is 1 less the power."""
        return power if self.name == "tpr" else (1 - power).clip(0.0, 1.0)

    def vacuous(self, at: Array) -> Interval:
        """Return what holds for every pair."""
        if self.name == "epsilon":
            return Interval(np.zeros(at.shape), np.where(at >= 1, 0.0, np.inf))
        if self.name == "log_delta":
            least = log(-expm1(Interval.decimal(at).smaller(0))).lower
            return Interval(np.where(at < 0, least, -np.inf), np.zeros(at.shape))
        near = Interval.decimal(at)
        if self.name == "beta":
            most = np.clip(np.nextafter(1 - near.lower, 2.0), 0.0, 1.0)
            return Interval(np.zeros(at.shape), np.where(at == 0, 1.0, most))
        return Interval(np.clip(near.lower, 0.0, 1.0), np.ones(at.shape))

    def narrow(self, found: Interval, tolerance: float) -> npt.NDArray[np.bool_]:
        """Return where a bracket is no wider than the tolerance, relatively."""
        known = np.isfinite(found.upper) & np.isfinite(found.lower)
        upper, lower = np.where(known, found.upper, 1.0), np.where(known, found.lower, 0.0)
        if self.name == "log_delta":
            # The width is that of delta, relatively; a delta that underflows may have any.
            return (found.upper <= _NOTHING) | (known & (upper - lower <= tolerance))
        size = np.maximum(upper, _SMALL[self.name])
        return (found.upper == found.lower) | (known & (upper - lower <= tolerance * size))


LOG_DELTA, EPSILON = View("log_delta", loss=True), View("epsilon", loss=True)
BETA, TPR = View("beta", loss=False), View("tpr", loss=True)


def left_of_zero(epsilon: Interval, back: Interval) -> Interval:
    """Return log delta at epsilon <= 0, by that of the reversed loss at -epsilon.

    delta(epsilon) = 1 - e^epsilon + e^epsilon delta_back(-epsilon), of positive terms
    """
    return log(exp(epsilon + back) - expm1(epsilon)).smaller(0)


def meet(first: Interval, second: Interval) -> Interval:
    """Return what holds by both.

    Where they exclude each other, which no two proved brackets do, the wider ends are kept, and a
    RuntimeWarning asks for a report.
    """
    lower, upper = np.maximum(first.lower, second.lower), np.minimum(first.upper, second.upper)
    apart = lower > upper
    if np.any(apart):
        warnings.warn(_APART, RuntimeWarning, stacklevel=2)
        lower = np.where(apart, np.minimum(first.lower, second.lower), lower)
        upper = np.where(apart, np.maximum(first.upper, second.upper), upper)
    return Interval(lower, upper)
