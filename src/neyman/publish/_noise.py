"""The noises that a spec can name: what each may spend, and of what queries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from neyman.curves import gdp, pure_dp
from neyman.errors import SensitivityMismatch, SpecError
from neyman.mechanisms import (
    Canonical,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    Staircase,
)
from neyman.numerics import Real
from neyman.sensitivity import Sensitivity

__all__ = ["NOISES", "USUAL", "Noise", "noise_for"]


@final
@dataclass(frozen=True, slots=True)
class Noise:
    """A noise, made for a sensitivity and a share of the budget.

    Attributes:
        makes: by the key of the share: mu, rho or epsilon.
        instead: what to write where it does not fit, by the same keys.
        one_integer: whether it is for one integer alone.
    """

    makes: Mapping[str, Callable[[Sensitivity, Real], Mechanism]]
    instead: str
    one_integer: bool = False

    def calibrated(self, entry: str, sensitivity: Sensitivity, key: str, share: Real) -> Mechanism:
        """Return the noise that spends this share.

        Raises:
            SpecError: if the noise does not go with the integers of the query.
            InvalidParameter: if it cannot be drawn.
        """
        if self.one_integer and sensitivity.coordinates != 1:
            raise SpecError(
                f"query {entry!r}: this noise hides one integer, and one unit moves up to "
                f"{sensitivity.coordinates} here, for a mean is two and each group is one; write "
                f"{self.instead}, or a count or sum without by, or with max_rows = 1"
            )
        try:
            return self.makes[key](sensitivity, share)
        except SensitivityMismatch as error:
            raise SpecError(f"query {entry!r}: {error}; in a spec, write {self.instead}") from error


def _staircase(sensitivity: Sensitivity, epsilon: Real) -> Mechanism:
    return Staircase.calibrate(sensitivity, epsilon, power=2)


def _gaussian_shape(sensitivity: Sensitivity, mu: Real) -> Mechanism:
    return Canonical.calibrate(sensitivity, gdp(mu))


def _pure_shape(sensitivity: Sensitivity, epsilon: Real) -> Mechanism:
    return Canonical.calibrate(sensitivity, pure_dp(epsilon))


_GAUSSIAN: Final = 'noise = "gaussian" with mu'
_LAPLACE: Final = 'noise = "laplace" with epsilon'

NOISES: Final[Mapping[str, Noise]] = {
    "gaussian": Noise({"mu": Gaussian.calibrate}, _LAPLACE),
    "laplace": Noise({"epsilon": Laplace.calibrate}, _GAUSSIAN),
    "discrete_gaussian": Noise({"rho": DiscreteGaussian.calibrate}, _GAUSSIAN),
    "discrete_laplace": Noise({"epsilon": DiscreteLaplace.calibrate}, _GAUSSIAN),
    "staircase": Noise({"epsilon": _staircase}, _LAPLACE, one_integer=True),
    "canonical": Noise(
        {"mu": _gaussian_shape, "epsilon": _pure_shape},
        f"{_GAUSSIAN} or {_LAPLACE}",
        one_integer=True,
    ),
}
# The noise of a share that comes without a name.
USUAL: Final = {"mu": "gaussian", "rho": "discrete_gaussian", "epsilon": "laplace"}


def noise_for(sensitivity: Sensitivity, account: str, amount: Fraction) -> Mechanism:
    """Return the noise that is charged this much: Gaussian for mu^2, Laplace for epsilon.

    Raises:
        SensitivityMismatch: if the question does not bound the norm that it needs.
    """
    if account == "epsilon":
        return Laplace.calibrate(sensitivity, amount)
    if sensitivity.l2_squared is None:
        raise SensitivityMismatch(
            "Gaussian noise needs a bound of the L2 norm, which this question does not have; "
            "write noise="
        )
    return Gaussian(variance=sensitivity.l2_squared / amount)
