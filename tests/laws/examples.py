"""Examples of every kind of curve, of which the laws are asked; a kind without any is a failure.

A new kind needs one entry here, and then stands before every law that its pairs can answer.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from leaves import cauchy, gumbel
from neyman.accounting import random_allocation, shuffled
from neyman.curves import (
    Pair,
    Tails,
    TradeOff,
    approx_dp,
    best,
    bounded_range,
    cdp,
    chain,
    densities,
    discrete_gaussian,
    discrete_laplace,
    dominated_by,
    gaussian_mixture,
    gdp,
    identity,
    laplace,
    mixture,
    piecewise,
    poisson,
    pure_dp,
    rdp,
    staircase,
    subsample,
    tcdp,
    worst,
    zcdp,
)
from neyman.errors import UnsupportedComposition


@final
@dataclass(frozen=True, slots=True)
class TiltedPair(Pair):
    """P uniform on [0, 1], Q with density 3/2 - u: one-way, with two methods and no brackets."""

    kind: ClassVar[str] = "tests.tilted"

    def parameters(self):
        return {}

    def log_tails(self, t, *, closed=False):  # noqa: ARG002
        with np.errstate(divide="ignore", over="ignore"):
            c = np.clip(1.5 - np.exp(t), 0.0, 1.0)
            return Tails(
                np.log(c), np.log1p(-c), np.log(c * (1.5 - c / 2)), np.log((1 - c) * (1 - c / 2))
            )

    def cumulant(self, s):
        r = np.where(s == -1, 1.0, s + 1)
        ratio = np.where(s == -1, np.log(3), -np.expm1(-r * np.log(3)) / r)
        return (s + 1) * np.log(1.5) + np.log(ratio.astype(np.complex128))


def normal(mean):
    return lambda x: -((x - mean) ** 2) / 2 - np.log(2 * np.pi) / 2


LEAF = TiltedPair()
# Closed forms: quick, so that they stand before all laws, those over all couples of curves too.
CLOSED = {
    "identity": [identity()],
    "gaussian": [
        *map(gdp, (0.001, 0.3, 1, 5)),
        gdp(squared=Fraction(1, 3)),
        TradeOff(gdp(1).remove, laplace(2).remove),
    ],
    "randomized_response": [
        *map(pure_dp, (0.01, 1, Fraction(20, 3))),
        TradeOff(pure_dp(1).remove, approx_dp(0, 0.3).remove),
    ],
    "laplace": [*map(laplace, (0.01, 1, Fraction(20, 3)))],
    "logistic": [*map(bounded_range, (0.01, 1, Fraction(20, 3)))],
    "erased": [
        approx_dp(0, 0.2),
        approx_dp(1, 1e-6),
        approx_dp(2, 0.3),
        approx_dp(0, 0.1) ** 3,
        gdp(1) @ approx_dp(0, 0.01) @ approx_dp(0, 0.02),
        laplace(1) @ approx_dp(0, 0.05),
    ],
    "discrete": [piecewise([0, 0.1, 0.5, 1], [1, 0.6, 0.125, 0])],
    "tests.tilted": [TradeOff(LEAF, LEAF.swap()), TradeOff(LEAF, LEAF)],
}
# The rest are read by a search, a sum or a composition; they stand before the laws of one curve.
SEARCHED = {
    "discrete_gaussian": [discrete_gaussian(2)],
    "discrete_laplace": [discrete_laplace(0.5, sensitivity=2)],
    "staircase": [staircase(1, period=3, width=1)],
    "sampled": [poisson(pure_dp(1), 0.3), poisson(gdp(1), 0.1)],
    "symmetrised": [subsample(gdp(1), 0.25)],
    "gaussian_mixture": [gaussian_mixture({0: 0.5, 1: 0.5}, noise_multiplier=2)],
    "composed": [gdp(0.5) @ laplace(0.5), pure_dp(1) ** 5, poisson(gdp(1), 0.1) ** 10],
    "chained": [chain(gdp(0.5), laplace(0.5))],
    "mixture": [mixture([0.3, 0.7], [gdp(1), laplace(1)])],
    "worst": [worst(gdp(1), pure_dp(1))],
    "best": [best(gdp(1), pure_dp(1))],
    "allocation": [random_allocation(noise_multiplier=2, steps=2)],
    "clones": [shuffled(1, reports=100).curve.dominating()],
    "between": [
        dominated_by(poisson(gdp(1), 0.1), attained=poisson(gdp(1), 0.05)),
        dominated_by(gdp(1)),
    ],
    "zcdp": [zcdp(0.5)],
    "cdp": [cdp(0.1, 0.5)],
    "tcdp": [tcdp(0.1, 10)],
    "rdp": [rdp([(2, 0.5), (8, 2)])],
    "tests.gumbel": [gumbel("1/2")],
    "swapped_leaf": [gumbel("1/2").swap()],
    "tests.cauchy": [cauchy("1/2")],
    "density": [densities(normal(0), normal(1), low=-38, high=38)],
}
EXAMPLES = CLOSED | SEARCHED


def kinds(base=Pair):
    """Return the concrete classes of pairs in the library, by kind."""
    found = {}
    for pair in base.__subclasses__():
        if pair.__module__.startswith("neyman.") and "kind" in vars(pair):
            found[pair.kind] = pair
        found |= kinds(pair)
    return found


def has_law(pair):
    """Return whether the law of its loss is known, and not its curve or a bound of it alone.

    Tails of compositions are middles of brackets, which at an atom hold both its sides.
    """
    if pair.kind in ("composed", "lattice"):
        return False
    try:
        pair.log_tails(np.zeros(0))
        pair.cumulant(np.zeros(0, dtype=np.complex128))
    except UnsupportedComposition:
        return False
    return True


def class_of(curve):
    """Return what a covering set covers: the kind of the first pair."""
    return curve.remove.kind


def covering(curves):
    """Return couples of curves in which every curve meets every class, its own too; few of them."""
    classes = list(dict.fromkeys(map(class_of, curves)))
    missing = dict.fromkeys(itertools.product(curves, classes))
    used = dict.fromkeys(curves, 0)
    couples = []
    while missing:
        one, kind = next(iter(missing))
        # One that needs this class as well, if there is any; of these the one used least.
        other = min(
            (f for f in curves if class_of(f) == kind),
            key=lambda f: ((f, class_of(one)) not in missing, used[f]),
        )
        couples.append((one, other))
        for f, g in (couples[-1], couples[-1][::-1]):
            missing.pop((f, class_of(g)), None)
            used[f] += 1
    return couples
