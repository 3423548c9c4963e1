"""What noisy gradient descent costs."""

from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.tradeoff import TradeOff, gdp, identity, poisson

__all__ = ["dp_sgd"]


def dp_sgd(
    *,
    noise_multiplier: Real,
    sampling_probability: Real,
    steps: int,
    neighbors: Neighbors = "add_remove",
) -> TradeOff:
    """Return the guarantee of DP-SGD with Poisson sampling, all steps released.

        poisson(gdp(1 / noise_multiplier), sampling_probability) ** steps

    Args:
        noise_multiplier: standard deviation of the noise on the summed gradients, over the norm
            that each record's gradient is clipped to; positive.
        sampling_probability: with which each record enters a step, on its own; in [0, 1].
        steps: how many are taken; an int of at least 0.
        neighbors: the neighbouring relation.

    Guarantee: holds for every step's parameters together, chosen adaptively; not for shuffled
        batches.

    Raises:
        InvalidParameter: if a parameter is outside.
        UnsupportedComposition: for neighbors="replace_one".

    Source: Abadi et al. (2016), "Deep learning with differential privacy"; Dong, Roth and Su
        (2022), theorem 4.2 for the sampling.

    >>> dp_sgd(noise_multiplier=2, sampling_probability=1, steps=4)
    gdp(mu=1)
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
            "such as batch / records"
        )
    _check_relation(neighbors)
    step = gdp(1 / noise)
    if probability == 0:
        step = identity()
    elif probability < 1:
        step = poisson(step, probability)
    return step**steps


def _check_relation(neighbors: str) -> None:
    """The one place where other relations will lead to other samplers."""
    if check_neighbors(neighbors) == "replace_one":
        raise UnsupportedComposition(
            'neighbors="replace_one" was asked, and sampled steps are known here for "add_remove" '
            'only; write neighbors="add_remove"'
        )
