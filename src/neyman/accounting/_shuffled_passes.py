"""Shuffled passes: the guarantee without amplification, and what a known attack achieves."""

from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.curves import TradeOff, dominated_by, gdp, piecewise_hull
from neyman.numerics import (
    Interval,
    Real,
    exact_positive,
    expm1,
    normal_log_sf,
)
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["shuffled_attack", "shuffled_passes"]

# The number of thresholds; their range beyond the means, in standard deviations.
_THRESHOLDS, _FAR = 160, 9.0
# Errors are rounded up to multiples of this, so that fractions stay short.
_UNIT: Final = 2.0**-70
# What the record adds to a batch, relative to one that adds -1: on the one side, on the other.
_MOVED: Final[dict[Neighbors, tuple[int, int]]] = {"add_remove": (2, 1), "replace_one": (2, 0)}


def shuffled_passes(
    *, noise_multiplier: Real, steps: int, epochs: int = 1, neighbors: Neighbors = "add_remove"
) -> TradeOff:
    """Return noisy gradient descent on shuffled passes, for which no amplification is proved.

        gdp(1 / noise_multiplier) ** epochs,    gdp(2 / noise_multiplier) ** epochs  (replace_one)

    Each record is in one batch of an epoch in any order, so it is at least as private as in batches
    of a known order.

    Args:
        noise_multiplier: standard deviation of the noise on the summed gradients, divided by the
            clipping norm of each record's gradient; positive.
        steps: batches of an epoch.
        epochs: how many times the records are passed, each time in a new random order.
        neighbors: "add_remove", where a place in the order is filled or empty; or "replace_one".

    Guarantee: a bound: `answer.of` is "class", and its other end is `shuffled_attack`.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang (2024), "How private are DP-SGD
        implementations?"

    >>> found = shuffled_passes(noise_multiplier=1, steps=100).epsilon(1e-5, bracket=True)
    >>> f"{found.lower:.2f} {found.upper:.2f} {found.of}"
    '4.06 4.38 class'
    """
    passes = whole("epochs", epochs, 1)
    attack = shuffled_attack(noise_multiplier=noise_multiplier, steps=steps, neighbors=neighbors)
    moved = _MOVED[neighbors][0] - _MOVED[neighbors][1]
    bound = gdp(moved / exact_positive(noise_multiplier, "noise_multiplier"))
    return dominated_by(bound, attained=attack) ** passes


def shuffled_attack(
    *, noise_multiplier: Real, steps: int, neighbors: Neighbors = "add_remove"
) -> TradeOff:
    """Return a lower bound of the loss of an epoch of shuffled batches: an attack, not a guarantee.

    All other records add -1 to a sum, and one record adds 1. The attack measures how far the
    largest of the T noisy sums is above a batch of the other records. Whatever batch the record is
    in,

        P(largest <= c) = Phi((c - 2)/sigma) Phi(c/sigma)^(T - 1)

    (c - 1) replaces (c - 2) if the record's place is empty, and c replaces it if the record adds -1
    too.

    Args:
        noise_multiplier: sigma, as in `shuffled_passes`.
        steps: T, batches of an epoch.
        neighbors: "add_remove" or "replace_one".
    Guarantee: none for a mechanism. The curve is never below the attack's: its errors are rounded
        up, and it guesses between its thresholds.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Chua et al. (2024), theorem 4.2 and section 4.

    >>> f"{shuffled_attack(noise_multiplier=1, steps=100).epsilon(1e-5):.2f}"
    '4.06'
    """
    sigma = exact_positive(noise_multiplier, "noise_multiplier")
    count = whole("steps", steps, 1)
    with_it, without = _MOVED[check_neighbors(neighbors)]
    noise = float(sigma)
    # The largest of T normal numbers is rarely below this.
    low = min(-_FAR, float(np.sqrt(2 * np.log(count))) - _FAR) * noise if count < 50 else 0.0
    places = np.linspace(low, with_it + _FAR * noise, _THRESHOLDS)
    false_alarms = _above(places, without, sigma, count)
    misses = 1 - _above(places, with_it, sigma, count)
    knots = {Fraction(0): Fraction(1), Fraction(1): Fraction(0)}
    for x, y in zip(_up(false_alarms.upper), _up(misses.upper), strict=True):
        knots[x] = min(y, knots.get(x, Fraction(1)))
    alphas = sorted(knots)
    pair = piecewise_hull(alphas, [knots[x] for x in alphas]).remove
    return TradeOff(pair, pair.swap())


def _above(places: npt.NDArray[np.float64], mean: int, sigma: Fraction, count: int) -> Interval:
    """Return P(largest > c), for one normal number with this mean and T - 1 with mean 0."""
    c, scale = Interval.exactly(places), Interval.of(sigma)
    one, others = normal_log_sf((mean - c) / scale), normal_log_sf(-c / scale)
    return -expm1(one + (count - 1) * others)


def _up(errors: npt.NDArray[np.float64]) -> list[Fraction]:
    """Return errors as short fractions, rounded up."""
    return [Fraction(int(np.ceil(min(x, 1.0) / _UNIT))) * Fraction(_UNIT) for x in errors]
