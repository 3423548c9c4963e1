"""Closed conversions of concentrated privacy: rounded up everywhere, and refused beyond."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from neyman.accounting import (
    bun_steinke_delta,
    bun_steinke_epsilon,
    dwork_rothblum_delta,
    dwork_rothblum_epsilon,
    truncated_delta,
    truncated_epsilon,
)
from neyman.errors import InvalidParameter


def bun_steinke_by_hand(rho, epsilon):
    with mp.workdps(60):
        rho, epsilon = (mp.mpf(x.numerator) / x.denominator for x in (rho, epsilon))
        c = 1 + (epsilon - rho) / (2 * rho)
        share = min(1 / c, 2 / (c + mp.sqrt(c * c + 4 / (mp.pi * rho))))
        return mp.exp(-((epsilon - rho) ** 2) / (4 * rho)) * share


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [
        ("1e-290", "1"),
        ("1e-290", "1e-290"),
        ("1e300", "1e300"),
        ("1e300", "1e308"),
        ("1e-300", "1e308"),
        ("1/300", "3.13"),
        ("1/300", "3.157"),
        ("0.5", "38"),
        ("0.5", "0.5"),
    ],
)
def test_closed_conversions_round_up_at_the_ends_of_the_doubles(rho, epsilon):
    rho, epsilon = Fraction(rho), Fraction(epsilon)
    found, exact = bun_steinke_delta(rho, epsilon), bun_steinke_by_hand(rho, epsilon)
    assert exact <= mp.mpf(found) <= min(exact * (1 + 1e-12) + 4e-323, 1)
    simple = truncated_delta(rho, math.inf, epsilon)
    assert found <= simple
    assert simple > 0
    assert dwork_rothblum_delta(rho, 1, epsilon) > 0
    assert Fraction(dwork_rothblum_epsilon(rho, 1, 1)) >= rho


def test_the_logarithm_of_a_large_delta_is_rounded_up():
    for delta in (Fraction(1), 1 - Fraction(1, 10**20), Fraction(1, 3), Fraction(1, 10**300)):
        with mp.workdps(60):
            log = -mp.log(mp.mpf(delta.numerator) / delta.denominator)
            exact = mp.mpf("0.5") + 2 * mp.sqrt(log / 2)
        assert exact <= mp.mpf(bun_steinke_epsilon(0.5, delta)) <= exact * (1 + 1e-7)
        assert exact <= mp.mpf(dwork_rothblum_epsilon(0.5, 1, delta)) <= exact * (1 + 1e-7)
    assert truncated_epsilon(0.5, 1 + Fraction(1, 2**2000), 0.1) == math.inf


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("convert", "arguments", "words"),
    [
        (dwork_rothblum_epsilon, (1, 1, 0), "delta must be above 0 and at most 1; got 0"),
        (truncated_epsilon, (0, 2, 0.1), "rho=0 is outside"),
        (truncated_epsilon, (1, 1, 0.1), "omega must be above 1; got 1"),
        (truncated_delta, (1, 1, 0.1), "omega must be above 1; got 1"),
        (dwork_rothblum_epsilon, (-5, 1, 1e-5), "mu=-5 is negative"),
        (dwork_rothblum_delta, (-5, 1, 1), "mu=-5 is negative"),
        (bun_steinke_delta, (5e-324, 1), r"rho=about 2\^-1073 is outside"),
        (truncated_delta, (1e308, INF, 1e308), "rho=about .* is outside"),
        (bun_steinke_delta, (NAN, 1), "rho must be finite; got nan"),
        (bun_steinke_delta, (1, NAN), "epsilon must be finite; got nan"),
        (bun_steinke_delta, (1, INF), "epsilon must be finite; got inf"),
        (bun_steinke_epsilon, (NAN, 0.1), "rho must be finite; got nan"),
        (bun_steinke_epsilon, (1, NAN), "delta must be finite; got nan"),
        (dwork_rothblum_delta, (NAN, 1, 1), "mu must be finite; got nan"),
        (dwork_rothblum_delta, (1, NAN, 1), "tau must be finite; got nan"),
        (dwork_rothblum_delta, (1, 1, NAN), "epsilon must be finite; got nan"),
        (dwork_rothblum_epsilon, (NAN, 1, 0.1), "mu must be finite; got nan"),
        (dwork_rothblum_epsilon, (1, NAN, 0.1), "tau must be finite; got nan"),
        (truncated_delta, (1, NAN, 1), "omega must be finite; got nan"),
        (truncated_delta, (1, 2, NAN), "epsilon must be finite; got nan"),
        (truncated_epsilon, (1, NAN, 0.1), "omega must be finite; got nan"),
        (truncated_epsilon, (1, 2, NAN), "delta must be finite; got nan"),
    ],
)
def test_what_is_no_argument_is_refused(convert, arguments, words):
    with pytest.raises(InvalidParameter, match=words):
        convert(*arguments)
