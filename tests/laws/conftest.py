"""What every law is asked of: certified curves, and a leaf that gives the bare minimum."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
import pytest

from neyman.curves import (
    Pair,
    Tails,
    TradeOff,
    approx_dp,
    bounded_range,
    gdp,
    identity,
    laplace,
    piecewise,
    pure_dp,
)


@final
@dataclass(frozen=True, slots=True)
class TiltedPair(Pair):
    """P uniform on [0, 1], Q with density 3/2 - u: one-way, with two methods and no brackets."""

    kind: ClassVar[str] = "tilted"

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


LEAF = TiltedPair()
CERTIFIED = [
    identity(),
    gdp(0.001),
    gdp(0.3),
    gdp(1),
    gdp(5),
    gdp(squared=Fraction(1, 3)),
    pure_dp(0.01),
    pure_dp(1),
    pure_dp(Fraction(20, 3)),
    laplace(0.01),
    laplace(1),
    laplace(Fraction(20, 3)),
    bounded_range(0.01),
    bounded_range(1),
    bounded_range(Fraction(20, 3)),
    approx_dp(0, 0.2),
    approx_dp(1, 1e-6),
    approx_dp(2, 0.3),
    approx_dp(0, 0.1) ** 3,
    gdp(1) @ approx_dp(0, 0.01) @ approx_dp(0, 0.02),
    laplace(1) @ approx_dp(0, 0.05),
    TradeOff(gdp(1).remove, laplace(2).remove),
    TradeOff(pure_dp(1).remove, approx_dp(0, 0.3).remove),
    piecewise([0, 0.1, 0.5, 1], [1, 0.6, 0.125, 0]),
]
LEAVES = [TradeOff(LEAF, LEAF.swap()), TradeOff(LEAF, LEAF)]
PAIRS = list(dict.fromkeys(pair for f in (*CERTIFIED, *LEAVES) for pair in (f.remove, f.add)))


@pytest.fixture
def leaf():
    return LEAF


@pytest.fixture(params=CERTIFIED, ids=str)
def certified(request):
    return request.param


@pytest.fixture(params=[*CERTIFIED, *LEAVES], ids=str)
def curve(request):
    return request.param


@pytest.fixture(params=PAIRS, ids=str)
def pair(request):
    return request.param


@pytest.fixture
def everything():
    return [*CERTIFIED, *LEAVES]
