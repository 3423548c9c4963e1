"""Noises by name: what each is calibrated to, and which is the default."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from neyman.curves import gdp, pure_dp
from neyman.errors import SensitivityMismatch
from neyman.mechanisms._canonical import Canonical
from neyman.mechanisms._discrete_gaussian import DiscreteGaussian
from neyman.mechanisms._discrete_laplace import DiscreteLaplace
from neyman.mechanisms._gaussian import Gaussian
from neyman.mechanisms._laplace import Laplace
from neyman.mechanisms._mechanism import Mechanism
from neyman.mechanisms._staircase import Staircase
from neyman.numerics import Real
from neyman.sensitivity import Sensitivity

__all__ = ["NOISES", "USUAL_NOISES", "NamedNoise", "noise_charged"]


@final
@dataclass(frozen=True, slots=True)
class NamedNoise:
    """A noise that can be calibrated to a sensitivity and an amount.

    Attributes:
        makes: the calibrations, by what is spent: mu, rho or epsilon.
        one_integer: whether it is only for a single integer.
    """

    makes: Mapping[str, Callable[[Sensitivity, Real], Mechanism]]
    one_integer: bool = False


def _staircase(sensitivity: Sensitivity, epsilon: Real) -> Mechanism:
    return Staircase.calibrate(sensitivity, epsilon, power=2)


def _gaussian_shape(sensitivity: Sensitivity, mu: Real) -> Mechanism:
    return Canonical.calibrate(sensitivity, gdp(mu))


def _pure_shape(sensitivity: Sensitivity, epsilon: Real) -> Mechanism:
    return Canonical.calibrate(sensitivity, pure_dp(epsilon))


NOISES: Final[Mapping[str, NamedNoise]] = {
    "gaussian": NamedNoise({"mu": Gaussian.calibrate}),
    "laplace": NamedNoise({"epsilon": Laplace.calibrate}),
    "discrete_gaussian": NamedNoise({"rho": DiscreteGaussian.calibrate}),
    "discrete_laplace": NamedNoise({"epsilon": DiscreteLaplace.calibrate}),
    "staircase": NamedNoise({"epsilon": _staircase}, one_integer=True),
    "canonical": NamedNoise({"mu": _gaussian_shape, "epsilon": _pure_shape}, one_integer=True),
}
# The default noise for each kind of budget.
USUAL_NOISES: Final = {"mu": "gaussian", "rho": "discrete_gaussian", "epsilon": "laplace"}


def noise_charged(sensitivity: Sensitivity, account: str, amount: Fraction) -> Mechanism:
    """Return the noise that costs this amount: Gaussian for mu^2, Laplace for epsilon.

    Args:
        sensitivity: of the question.
        account: "mu^2" or "epsilon".
        amount: in the account's unit.

    Raises:
        SensitivityMismatch: if the norm that the noise needs is not bounded.
    """
    if account == "epsilon":
        return Laplace.calibrate(sensitivity, amount)
    if sensitivity.l2_squared is None:
        raise SensitivityMismatch(
            "Gaussian noise needs a bound of the L2 norm, which this question does not have; "
            "write noise="
        )
    return Gaussian(variance=sensitivity.l2_squared / amount)
