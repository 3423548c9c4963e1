"""Targets for a guarantee, and the margin by which a curve meets or misses them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Interval,
    Real,
    exact,
    log,
    ndtri,
    normal_quantile_gap,
    standing,
    text,
)
from neyman.overriding import override

__all__ = [
    "Advantage",
    "BayesError",
    "EpsilonDelta",
    "MuSlack",
    "Room",
    "Target",
    "TprAtFpr",
    "below",
]

# Keeps the sign of a margin that rounds to zero.
_LEAST = 5e-324


class Room(NamedTuple):
    """The margin to a target, with proved bounds, on a scale suited to root finding.

    Attributes:
        lower: a proved lower bound.
        upper: a proved upper bound.
        guess: the value for root finding; its sign says whether the target is met.
    """

    lower: float
    upper: float
    guess: float

    @property
    def met(self) -> bool:
        """Whether the target is proved to be met."""
        return self.lower >= 0

    @property
    def missed(self) -> bool:
        """Whether the target is proved to be missed."""
        return self.upper < 0


class Target(ABC):
    """A requirement on a guarantee: more privacy gives a larger margin, and 0 or more meets it."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the target as people write it."""
        found = ((name, getattr(self, name)) for name in self.__slots__)
        words = (f"{name}={text(v) if isinstance(v, Fraction) else v}" for name, v in found)
        return f"{type(self).__name__}({', '.join(words)})"

    @abstractmethod
    def room(self, curve: TradeOff) -> Room:
        """Return the margin by which the curve meets the target, with its bounds.

        Raises:
            NotCertified: if the curve gives only estimates.
        """


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class EpsilonDelta(Target):
    """delta_f(epsilon) <= delta: (epsilon, delta)-DP.

    Margin: log(-log delta_f(epsilon)) - log(-log delta), nearly linear in the logarithm of the
    noise; for delta = 0, the logarithm of epsilon divided by the largest loss.

    Args:
        epsilon: at least 0; positive if delta is 0.
        delta: in [0, 1).

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    epsilon: Real
    delta: Real

    def __post_init__(self) -> None:
        """Refuse a target that is always or never met."""
        epsilon, delta = exact(self.epsilon, "epsilon"), exact(self.delta, "delta")
        if epsilon < 0 or not 0 <= delta < 1 or epsilon == delta == 0:
            raise InvalidParameter(
                "epsilon must be at least 0 and delta in [0, 1), not both 0; got "
                f"epsilon={self.epsilon}, delta={self.delta}"
            )

    @override
    def room(self, curve: TradeOff) -> Room:
        epsilon, delta = exact(self.epsilon, "epsilon"), exact(self.delta, "delta")
        if delta == 0:
            return below(curve.epsilon(0.0, bracket=True), float(epsilon))
        (low, high), goal = standing(epsilon), log(Interval.of(delta))
        most = curve.log_delta(low, bracket=True)
        least = most if low == high else curve.log_delta(high, bracket=True)
        return _known(
            _log(-most.upper) - _log(-float(goal.lower)),
            _log(-least.lower) - _log(-float(goal.upper)),
        )


@final
@dataclass(frozen=True, slots=True)
class MuSlack(Target):
    """f >= G_mu ⊗ f_{0,slack}: mu-GDP outside an event of probability `slack`.

    Margin: log mu - log mu_f(slack), with the width of the bracket of that view (1e-10 to 1e-6).

    Args:
        mu: positive.
        slack: in [0, 1).

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    mu: Real
    slack: Real

    def __post_init__(self) -> None:
        """Refuse a target that is always or never met."""
        if exact(self.mu, "mu") <= 0 or not 0 <= exact(self.slack, "slack") < 1:
            raise InvalidParameter(
                f"mu must be positive and slack in [0, 1); got mu={self.mu}, slack={self.slack}"
            )

    @override
    def room(self, curve: TradeOff) -> Room:
        slack = float(self.slack)
        least, most = curve.mu(slack=slack, bracket=True)
        return below(Interval(np.asarray(least), np.asarray(most)), float(self.mu))


@final
@dataclass(frozen=True, slots=True)
class Advantage(Target):
    """max over attacks of (true - false positive rate) <= value.

    Margin: in the logarithm of the mu that has this advantage.

    Args:
        value: in (0, 1).

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    value: Real

    def __post_init__(self) -> None:
        """Refuse a target that is always or never met."""
        _inside(self.value, "advantage")

    @override
    def room(self, curve: TradeOff) -> Room:
        return below(
            curve.advantage(bracket=True),
            float(self.value),
            lambda advantage: normal_quantile_gap(advantage, 1 - advantage),
        )


@final
@dataclass(frozen=True, slots=True)
class TprAtFpr(Target):
    """1 - f(fpr) <= tpr: an attack with false positive rate `fpr` has true positive rate <= `tpr`.

    Margin: in the logarithm of the mu that has this power.

    Args:
        tpr: in (fpr, 1).
        fpr: in (0, 1).

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    tpr: Real
    fpr: Real

    def __post_init__(self) -> None:
        """Refuse a target that is always or never met."""
        _inside(self.fpr, "fpr")
        _inside(self.tpr, "tpr")
        if exact(self.tpr, "tpr") <= exact(self.fpr, "fpr"):
            raise InvalidParameter(
                f"tpr must be above fpr={self.fpr}; got {self.tpr}, which a coin reaches"
            )

    @override
    def room(self, curve: TradeOff) -> Room:
        fpr = float(self.fpr)
        chance = ndtri(np.asarray(fpr))
        return below(
            curve.tpr(fpr, bracket=True),
            float(self.tpr),
            lambda power: float(ndtri(np.asarray(power)) - chance),
        )


@final
@dataclass(frozen=True, slots=True)
class BayesError(Target):
    """Every guess about membership, with this prior, is wrong with probability at least `error`.

    Margin: in the logarithm of the gain over always guessing the likelier side.

    Args:
        error: positive, below min(prior, 1 - prior).
        prior: in (0, 1).

    Raises:
        InvalidParameter: if a parameter is out of range.
    """

    error: Real
    prior: Real

    def __post_init__(self) -> None:
        """Refuse a target that is always or never met."""
        _inside(self.prior, "prior")
        prior, error = exact(self.prior, "prior"), exact(self.error, "error")
        if not 0 < error < min(prior, 1 - prior):
            raise InvalidParameter(
                f"error at prior={self.prior} must be above 0 and below "
                f"{float(min(prior, 1 - prior))}, the error of guessing by the prior; "
                f"got {self.error}"
            )

    @override
    def room(self, curve: TradeOff) -> Room:
        prior, (down, up) = float(self.prior), map(float, Interval.decimal(float(self.error)))
        blind = min(prior, 1 - prior)
        least, most = curve.bayes_error(prior, bracket=True)
        return _decided(
            _log(blind - up) - _log(blind - least),
            _log(blind - down) - _log(blind - most),
            met=least >= up,
            missed=most < down,
        )


def _inside(value: object, name: str) -> None:
    if not 0 < exact(value, name) < 1:
        raise InvalidParameter(f"{name} must be strictly between 0 and 1; got {value}")


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _known(lower: float, upper: float) -> Room:
    """Return the bounds, with an infinite bound in place of nan."""
    least = -math.inf if math.isnan(lower) else lower
    return Room(least, math.inf if math.isnan(upper) else upper, least)


def _decided(lower: float, upper: float, *, met: bool, missed: bool) -> Room:
    """Return bounds with the signs of an exact comparison, whatever the rounding of a logarithm."""
    room = _known(lower, upper)
    least = max(room.lower, 0.0) if met else min(room.lower, -_LEAST)
    most = min(room.upper, -_LEAST) if missed else max(room.upper, 0.0)
    return Room(least, most, most if missed and math.isinf(least) else least)


def below(bounds: Interval, goal: float, scale: Callable[[float], float] = float) -> Room:
    """Return log(scale(goal)) - log(scale(loss)), for a loss that must be at most `goal`."""
    least, most = float(bounds.lower), float(bounds.upper)
    down, up = float(Interval.decimal(goal).lower), float(Interval.decimal(goal).upper)
    return _decided(
        _log(scale(down)) - _log(scale(most)),
        _log(scale(up)) - _log(scale(least)),
        met=most <= down,
        missed=least > up,
    )
