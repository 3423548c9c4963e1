"""The privacy cost of noisy gradient descent."""

import operator
from fractions import Fraction

from neyman.calls import plain_calls
from neyman.curves import TradeOff, gdp, poisson, poisson_replace
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["dp_sgd"]

_SMALLEST, _LARGEST = Fraction(2) ** -500, Fraction(2) ** 500


@plain_calls
def dp_sgd(
    noise_multiplier: Real,
    sampling_probability: Real,
    steps: int,
    *,
    neighbors: Neighbors = "add_remove",
) -> TradeOff:
    """Return the guarantee of DP-SGD with Poisson sampling, all steps released.

        poisson(gdp(1 / noise_multiplier), sampling_probability) ** steps

    For one record replaced, `poisson_replace` takes the place of `poisson`.

    Args:
        noise_multiplier: standard deviation of the noise on the summed gradients, divided by the
            clipping norm of each record's gradient; positive.
        sampling_probability: the probability in [0, 1] that a record enters a step, independently
            of the others.
        steps: the number of steps; an int of at least 0.
        neighbors: "add_remove", or "replace_one": one record's gradient is exchanged for another.

    Guarantee: for every step's parameters together, chosen adaptively; not for shuffled batches.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Abadi et al. (2016), "Deep learning with differential privacy"; Dong, Roth and Su
        (2022), theorem 4.2 for the sampling; Lebeda, Regehr, Kamath and Steinke (2024) for one
        record replaced.

    >>> dp_sgd(noise_multiplier=2, sampling_probability=1, steps=4)
    gdp(mu=1)
    >>> replaced = dp_sgd(
    ...     noise_multiplier=1, sampling_probability=0.01, steps=1000, neighbors="replace_one"
    ... )
    >>> f"{replaced.epsilon(1e-5):.5f}"
    '2.84344'
    """
    noise, probability = (
        exact(noise_multiplier, "noise_multiplier"),
        exact(sampling_probability, "sampling_probability"),
    )
    if noise <= 0:
        raise InvalidParameter(
            f"noise_multiplier={text(noise)} adds no noise; write a positive number"
        )
    if not 0 <= probability <= 1:
        raise InvalidParameter(
            f"sampling_probability={text(probability)} is no probability; write one in [0, 1], "
            "such as batch / records; in calibrate, within=(0, 1)"
        )
    if not _SMALLEST <= noise <= _LARGEST:
        raise InvalidParameter(
            f"noise_multiplier={float(noise):g} is outside [2^-500, 2^500]; write one in that range"
        )
    count = _count(steps)
    sampled = {"add_remove": poisson, "replace_one": poisson_replace}[check_neighbors(neighbors)]
    return sampled(gdp(1 / noise), probability) ** count


def _count(steps: object) -> int:
    try:
        count = operator.index(steps)  # pyright: ignore[reportArgumentType]
    except TypeError:
        count = -1
    if count < 0 or isinstance(steps, bool):
        raise InvalidParameter(
            f"steps must be an int of at least 0; got {steps!r}. Write int(1e6), not 1e6; in "
            "calibrate, write integer=True"
        )
    return count
