"""Noise for a given trade-off function: no wider than the curve requires."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, cast, final

import numpy as np

from neyman.arguments import check_type
from neyman.curves import TradeOff, approx_dp
from neyman.errors import InvalidParameter, NotCertified, SensitivityMismatch
from neyman.mechanisms._canonical_law import FoldedCanonical, TabledCanonical, bracketed
from neyman.mechanisms._canonical_steps import (
    GaussianSteps,
    LaplaceSteps,
    LogisticSteps,
    Steps,
    TulapSteps,
)
from neyman.mechanisms._mechanism import Mechanism
from neyman.mechanisms._moves import changed_coordinates, largest_coordinate
from neyman.numerics import Interval
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["Canonical"]

_WIDEST: Final = 2**40


@final
@dataclass(frozen=True, slots=True, init=False)
class Canonical(Mechanism):
    """Adds round(period N), N the canonical noise of a symmetric curve f: T(N, N + 1) = f.

        P(N <= x) = c (1/2 - x) + (1 - c) (x + 1/2) on |x| <= 1/2, c = f(c),
        P(N > x) = f(P(N <= x - 1)) above

    An integer that moves by at most `period` is as private as f says. No real N could be less
    private at a move by the whole period. For f_{epsilon,delta} this is the Tulap noise. For other
    curves it differs from the noise that the curve is named after.

    The Gaussian, the Laplace, the logistic curve and f_{epsilon,delta} have formulas, and their
    draws are exact. Any other certified symmetric curve is known only by its brackets. Then the law
    that is drawn exactly is a table of doubles within `distance` of the canonical one in total
    variation, and the guarantee is f ⊗ f_{0,slack}, slack = distance + 1 - f(distance).

    Source: Awan and Vadhan, *Canonical noise distributions and private hypothesis tests*, Annals of
        Statistics 2023.

    Attributes:
        curve: f, at a move by the whole period.
        period: the most that an integer moves, in lattice units.

    >>> from neyman.curves import pure_dp
    >>> Canonical(curve=pure_dp(1), period=1).half_width(0.95)
    3
    """

    curve: TradeOff
    period: int
    _law: FoldedCanonical | TabledCanonical = field(compare=False, repr=False)

    def __init__(self, *, curve: TradeOff, period: int) -> None:
        """Create the noise of a curve and a period.

        Args:
            curve: f, certified and symmetric.
            period: the most that an integer moves, in lattice units; from 1 to 2^40.

        Raises:
            NotCertified: if the curve is an estimate.
            InvalidParameter: if the curve bounds a class, is not its own inverse, or is that of
                perfect or of no privacy; or if the period is not an int from 1 to 2^40, or too long
                for a curve without a formula.
        """
        check_type("curve", curve, TradeOff, "a trade-off function, such as gdp(1)")
        if not curve.certified:
            raise NotCertified(
                f"canonical noise needs a curve with proved brackets; {curve} is an estimate"
            )
        if curve.of_class:
            raise InvalidParameter(
                f"canonical noise needs the trade-off function of one mechanism; {curve} bounds a "
                "class of mechanisms. Write a curve such as gdp(1)"
            )
        if not (curve.symmetric and curve.remove == curve.add) or not (
            0 < float(curve.advantage()) < 1
        ):
            raise InvalidParameter(
                "canonical noise needs a curve that is its own inverse, is the same in both "
                f"directions, and neither hides nor tells everything; got {curve}"
            )
        if type(period) is not int or not 1 <= period <= _WIDEST:
            raise InvalidParameter(f"period must be an int from 1 to 2^40; got {period!r}")
        object.__setattr__(self, "curve", curve)
        object.__setattr__(self, "period", period)
        steps = _steps(curve)
        exact = steps is not None and steps.coarse and period / steps.gap <= _WIDEST
        law = FoldedCanonical(steps, period) if exact and steps else bracketed(curve, period)
        object.__setattr__(self, "_law", law)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity | Asked, curve: TradeOff) -> Self:
        """Return the noise that makes each moved integer as private as the curve says.

        Args:
            sensitivity: of the question; or the question itself.
            curve: f, certified and symmetric.

        Raises:
            NotCertified, InvalidParameter: as for `Canonical`.

        >>> from neyman.curves import gdp
        >>> one = Sensitivity(neighbors="add_remove", l1=Fraction(3), coordinates=1)
        >>> Canonical.calibrate(one, gdp(1)).tradeoff(one) == gdp(1)
        True
        """
        sensitivity = sensitivity_of(sensitivity)
        return cls(curve=curve, period=max(largest_coordinate(sensitivity), 1))

    @property
    @override
    def law(self) -> FoldedCanonical | TabledCanonical:
        return self._law

    @property
    def slack(self) -> float:
        """0 if the noise has a formula; otherwise the delta that covers the brackets of f."""
        distance = self.law.distance
        if not distance:
            return 0.0
        # The next double, because a double means its decimal, which may be smaller.
        power = self.curve.tpr_bracket(np.nextafter(np.asarray(distance), 2.0)).upper
        return float((Interval.exactly(distance) + power).upper)

    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return f, composed once for each integer that one unit can move; with the slack, if any.

        At a distance of x, the guarantee is f(alpha + x) - x, which is at least f ⊗ f_{0,slack}:
        both fall from 1 - slack to 0 at 1 - slack, and their difference increases, then decreases.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if an integer moves by more than the period.
        """
        if largest_coordinate(sensitivity) > self.period:
            raise SensitivityMismatch(
                f"one integer moves by up to {largest_coordinate(sensitivity)}, more than the "
                f"period {self.period} of the canonical noise; write a longer period"
            )
        slack = self.slack
        one = self.curve @ approx_dp(0, slack) if slack else self.curve
        return one ** changed_coordinates(sensitivity)

    @property
    @override
    def stddev(self) -> float:
        return math.sqrt(self.law.second_moment())

    @override
    def describe(self) -> dict[str, object]:
        return {
            "mechanism": "canonical",
            "curve": self.curve.to_json(),
            "period": self.period,
            "slack": self.slack,
        }


def _steps(curve: TradeOff) -> Steps | None:
    """Return the formula of a curve, from its record, or None."""
    pair = curve.remove
    build = _KINDS.get(pair.kind)
    return build(pair.parameters()) if build else None


def _tulap(record: Mapping[str, object]) -> Steps | None:
    core = cast("Mapping[str, object]", record["core"])
    failures = cast("list[tuple[str, int]]", record["failures"])
    if core["kind"] != "randomized_response" or [times for _, times in failures] != [1]:
        return None
    return TulapSteps(_rational(core["epsilon"]), Fraction(failures[0][0]))


def _rational(value: object) -> Fraction:
    return Fraction(str(value))


_KINDS: Mapping[str, Callable[[Mapping[str, object]], Steps | None]] = {
    "gaussian": lambda record: GaussianSteps(_rational(record["mu_squared"])),
    "laplace": lambda record: LaplaceSteps(_rational(record["epsilon"])),
    "logistic": lambda record: LogisticSteps(_rational(record["eta"])),
    "randomized_response": lambda record: TulapSteps(_rational(record["epsilon"]), Fraction(0)),
    "erased": _tulap,
}
