"""Mechanisms with a known curve, an attack on each, and its error rates at one threshold."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

import neyman as ny
from neyman.audit._null import Claim

Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Law:
    """A claim that holds and is attained by the best attack.

    Attributes:
        name: in tables.
        claim: the curve.
        inside: draws scores with the record.
        outside: draws scores without it.
        threshold: of the rule that is tested.
        rates: its false positive and false negative rates, exactly.
    """

    name: str
    claim: Claim
    inside: Draw
    outside: Draw
    threshold: float
    rates: tuple[float, float]


def gaussian(mu: float) -> Law:
    rate = float(ndtr(-mu / 2))
    return Law(
        f"gdp({mu:g})" if mu else "null",
        ny.gdp(mu),
        lambda draw, n: draw.normal(mu, 1, n),
        lambda draw, n: draw.normal(0, 1, n),
        mu / 2,
        (rate, rate),
    )


def laplace(epsilon: float) -> Law:
    rate = float(np.exp(-epsilon / 2) / 2)
    return Law(
        f"laplace({epsilon:g})",
        ny.laplace(epsilon),
        lambda draw, n: draw.laplace(epsilon, 1, n),
        lambda draw, n: draw.laplace(0, 1, n),
        epsilon / 2,
        (rate, rate),
    )


def randomized_response(epsilon: float) -> Law:
    rate = 1 / (1 + float(np.exp(epsilon)))
    return Law(
        f"randomized_response({epsilon:g})",
        ny.randomized_response(epsilon),
        lambda draw, n: (draw.random(n) > rate) + 0.0,
        lambda draw, n: (draw.random(n) < rate) + 0.0,
        0.5,
        (rate, rate),
    )


def subsampled(mu: float, q: float, threshold: float) -> Law:
    rates = float(ndtr(-threshold)), float((1 - q) * ndtr(threshold) + q * ndtr(threshold - mu))
    return Law(
        f"poisson(gdp({mu:g}), {q:g}).remove",
        ny.poisson(ny.gdp(mu), q).remove,
        lambda draw, n: draw.normal(0, 1, n) + mu * (draw.random(n) < q),
        lambda draw, n: draw.normal(0, 1, n),
        threshold,
        rates,
    )


LAWS = (
    *map(gaussian, (0.0, 0.1, 0.3, 1.0, 3.0, 4.0)),
    laplace(1.0),
    randomized_response(1.0),
    subsampled(1.0, 0.1, 0.6),
)
