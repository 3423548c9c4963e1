# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Staircase noise on the integers."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Self, final

import numpy as np

from neyman.curves import TradeOff, staircase
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms._folded import FloatArray, FoldedLaw
from neyman.mechanisms._law import ball
from neyman.mechanisms._mechanism import Mechanism, check_scale
from neyman.mechanisms._moves import largest_coordinate, worst_move
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override
from neyman.sensitivity import Asked, Sensitivity, sensitivity_of

__all__ = ["FoldedStaircase", "Staircase"]

if TYPE_CHECKING:
    from flint import arb

_LEAST, _MOST = Fraction(1, 2**20), 50
# How many widths are compared on either side of the optimum of the continuous law.
_WINDOW: Final = 64


@final
@dataclass(frozen=True, slots=True)
class FoldedStaircase(FoldedLaw):
    """t_j = 2 a b^m (width + m period - 1 - j + period b / (1 - b)), m the number of steps up to j.

    K is the integer nearest to an X whose density falls by b = e^-epsilon at width - 1/2 and then
    after every period. With V = P(|X| > x), in units of the scale period / (1 - b),

        x = z_0 + m (1 - b) + b - w,   w = V e^(m epsilon) / tau in (b, 1],
        z_0 = (width - 1/2) (1 - b) / period,   tau = 2 a period / (1 - b).
    """

    epsilon: Fraction
    period: int
    width: int

    @property
    @override
    def scale(self) -> float:
        return self.period / -math.expm1(-float(self.epsilon))

    @override
    def magnitude(self, upper: FloatArray) -> FloatArray:
        bound = float(self.epsilon)
        b, rest = math.exp(-bound), -math.expm1(-bound)
        # 1/tau = z_0 + b, because V = 1 at x = 0.
        start = (self.width - 0.5) * rest / self.period
        upper *= start + b
        with np.errstate(divide="ignore"):
            steps = np.maximum(np.floor(np.log(upper) / -bound), 0.0)
        # 24 bits, so that its product with a whole number below 2^29 is exact.
        high = float(np.float32(bound))
        low = float(self.epsilon - Fraction(high))
        with np.errstate(over="ignore"):
            upper *= np.exp(steps * high)
        upper *= np.exp(steps * low)
        np.subtract(b, upper, out=upper)
        steps *= rest
        upper += steps
        upper += start
        return np.maximum(upper, 0.0, out=upper)

    @override
    def tail(self, j: int) -> "arb":
        b = ball(-self.epsilon).exp()
        m = 0 if j < self.width else (j - self.width) // self.period + 1
        a = (1 - b) / (2 * self.width - 1 + b * (2 * (self.period - self.width) + 1))
        inside = self.width + m * self.period - 1 - j + self.period * b / (1 - b)
        return 2 * a * ball(-self.epsilon * m).exp() * inside

    def moment(self, power: int) -> float:
        """Return E |K|^power, for power 1 or 2."""
        widths = np.array([float(self.width)])
        return float(_moment(float(self.epsilon), self.period, widths, power)[0])


@final
@dataclass(frozen=True, slots=True, init=False)
class Staircase(Mechanism):
    """Adds K on the integers, P(K = k) proportional to e^(-epsilon n(k)), n the steps up to |k|.

    At the right width it has the least E|K| or E K^2 of all noise that makes one integer of
    sensitivity `period` epsilon-DP. It is meant for ONE integer that moves by at most `period`. If
    one unit changes several integers, each adds up to epsilon, and Laplace noise is better.

    Source: Geng and Viswanath, *The optimal noise-adding mechanism in differential privacy*, IEEE
        Transactions on Information Theory 2016.

    Attributes:
        epsilon: the loss at a step, exact.
        period: the length of a step, in lattice units.
        width: half the length of the top: |k| < width is the most likely.

    >>> noise = Staircase.calibrate(
    ...     Sensitivity(neighbors="add_remove", l1=Fraction(10), coordinates=1), 3, power=1)
    >>> noise
    Staircase(epsilon=Fraction(3, 1), period=10, width=2)
    """

    epsilon: Fraction
    period: int
    width: int

    def __init__(self, *, epsilon: Real, period: int, width: int) -> None:
        """Create the noise from its staircase; a float means the decimal that it prints as.

        Args:
            epsilon: the loss at a step, in [2^-20, 50].
            period: the length of a step, in lattice units.
            width: half the length of the top, from 1 to `period`.

        Raises:
            InvalidParameter: if epsilon or width is out of range, or the steps are too long to
                draw.
        """
        loss = exact(epsilon, "epsilon")
        if not _LEAST <= loss <= _MOST:
            raise InvalidParameter(
                f"epsilon={text(loss)} is outside [2^-20, {_MOST}]; write one in that range, or "
                "Laplace noise"
            )
        staircase(loss, period=period, width=width)
        check_scale((period / min(loss, Fraction(1))) ** 2, "Staircase")
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "period", period)
        object.__setattr__(self, "width", width)

    @classmethod
    def calibrate(cls, sensitivity: Sensitivity | Asked, epsilon: Real, *, power: int) -> Self:
        """Return the epsilon-DP staircase of least E |K|^power for one integer.

        The best top of the continuous law is gamma period, with

            gamma = 1 / (1 + e^(epsilon/2)) for power 1,
            gamma = ((b (1 + b) / 2)^(1/3) - b) / (1 - b) for power 2.

        The widths around it are compared.

        Args:
            sensitivity: of the question, or the question itself. It must be for one integer:
                coordinates=1, or a norm below 2.
            epsilon: in [2^-20, 50].
            power: 1 or 2.

        Raises:
            SensitivityMismatch: if more than one integer may move.
            InvalidParameter: if epsilon or power is out of range.
        """
        sensitivity = sensitivity_of(sensitivity)
        steps = max(largest_coordinate(sensitivity), 1)
        if sensitivity.coordinates != 1 and steps > 1:
            raise SensitivityMismatch(
                "staircase noise needs a query in which one unit moves one integer; "
                f"got {sensitivity}. Write Laplace noise, or a Sensitivity with coordinates=1"
            )
        loss = exact(epsilon, "epsilon")
        cls(epsilon=loss, period=steps, width=1)
        middle = round(_best_share(float(loss), power) * steps + 0.5)
        low, high = max(middle - _WINDOW, 1), min(middle + _WINDOW, steps)
        costs = _moment(float(loss), steps, np.arange(low, high + 1, dtype=np.float64), power)
        return cls(epsilon=loss, period=steps, width=low + int(np.argmin(costs)))

    @property
    @override
    def law(self) -> FoldedStaircase:
        return FoldedStaircase(self.epsilon, self.period, self.width)

    def noise_tradeoff(self, sensitivity: Sensitivity) -> TradeOff:
        """Return the staircase curve of one integer, or the worst composition of several.

        Args:
            sensitivity: of the integers before noise.

        Raises:
            SensitivityMismatch: if an integer moves by more than the period, or if there are more
                than 16 moves of several integers to compare.
        """
        if largest_coordinate(sensitivity) > self.period:
            raise SensitivityMismatch(
                f"one integer moves by up to {largest_coordinate(sensitivity)}, more than the "
                f"period {self.period} of the staircase; write a longer period"
            )
        return worst_move(sensitivity, self._curve)

    def _curve(self, steps: int) -> TradeOff:
        return staircase(self.epsilon, period=self.period, width=self.width, sensitivity=steps)

    @property
    @override
    def stddev(self) -> float:
        return math.sqrt(self.law.moment(2))

    @override
    def describe(self) -> dict[str, object]:
        return {
            "mechanism": "staircase",
            "epsilon": text(self.epsilon),
            "period": self.period,
            "width": self.width,
        }


def _best_share(epsilon: float, power: int) -> float:
    """Return gamma: the top's share of a period with the least E|X|^power of the continuous law."""
    if power not in (1, 2):
        raise InvalidParameter(f"power must be 1, for E|K|, or 2, for E K^2; got {power!r}")
    if power == 1:
        return 1 / (1 + math.exp(epsilon / 2))
    b = math.exp(-epsilon)
    return ((b * (1 + b) / 2) ** (1 / 3) - b) / -math.expm1(-epsilon)


def _moment(epsilon: float, period: int, widths: Array, power: int) -> Array:
    """Return E|K|^power for some widths: block 0 plus sums over the others of b^n times powers.

    The n-th block starts at s_n = width + (n - 1) period; g_k is the sum of b^n (n - 1)^k.
    """
    b, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    a = rest / (2 * widths - 1 + b * (2 * (period - widths) + 1))
    g0, g1, g2 = b / rest, b**2 / rest**2, b**2 * (1 + b) / rest**3
    r, d = widths, float(period)
    first = r * g0 + d * g1
    if power == 1:
        return 2 * a * (r * (r - 1) / 2 + d * first + g0 * d * (d - 1) / 2)
    second = r**2 * g0 + 2 * r * d * g1 + d**2 * g2
    top = (r - 1) * r * (2 * r - 1) / 6
    return 2 * a * (top + d * second + d * (d - 1) * first + g0 * (d - 1) * d * (2 * d - 1) / 6)
