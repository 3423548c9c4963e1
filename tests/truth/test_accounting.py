"""Compositions against 50 digits (accounting.json, by make_accounting.py)."""

import cmath
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from neyman.curves import (
    approx_dp,
    discrete_gaussian,
    discrete_laplace,
    gdp,
    laplace,
    poisson,
)
from neyman.numerics import P_ABOVE, Q_ABOVE, LossTails, Span

CASES = json.loads(Path(__file__).with_name("accounting.json").read_text())["cases"]


def number(text):
    """The exact rational: a decimal is what its digits say."""
    return Fraction(Decimal(text))


def sampled(p):
    f = gdp(1 / number(p["sigma"]))
    return poisson(f, number(p["q"])) ** int(number(p["T"]))


def responses(p):
    return approx_dp(number(p["epsilon0"]), number(p["delta0"])) ** int(number(p["T"]))


def gaussians(p):
    first, step = number(p["first"]), number(p["step"])
    squares = [1 / (first + k * step) ** 2 for k in range(int(p["count"]))]
    return gdp(squared=Fraction(float(sum(squares))))


BUILD = {
    "dpsgd": sampled,
    "gaussian": lambda p: gdp(Fraction(float(p["mu"]))),
    "gaussians": gaussians,
    "laplace": lambda p: laplace(number(p["epsilon0"])) ** int(number(p["T"])),
    "subsampled_laplace": lambda p: (
        poisson(laplace(number(p["epsilon0"])), number(p["q"])) ** int(number(p["T"]))
    ),
    "randomized_response": responses,
    "discrete_gaussian": lambda p: discrete_gaussian(number(p["sigma"])) ** int(number(p["T"])),
    "discrete_laplace": lambda p: (
        discrete_laplace(number(p["a"]), sensitivity=int(p["shift"])) ** int(number(p["T"]))
    ),
}
# Parameters of 70 digits are asked as doubles, which moves the truth itself.
ROUNDED = {"gaussian": 1e-14, "gaussians": 1e-13}


def pair_of(case):
    f = BUILD[case["kind"]](case["parameters"])
    return f.add if case["direction"] == "add" else f.remove


def bracket(case):
    pair, at = pair_of(case), float(case["at"])
    if case["quantity"] == "one_minus_delta":
        return [1 - side for side in reversed([*pair.delta(at, bracket=True)])]
    return [*getattr(pair, case["quantity"])(at, bracket=True)]


def contains(bounds, case):
    """A truth of fewer digits than a double's is given its own room."""
    lower, upper = (Decimal(repr(float(side))) for side in bounds)
    truth = Decimal(case["value"])
    slack = max(ROUNDED.get(case["kind"], 0.0), 10.0 ** (1 - min(case["digits"], 40)))
    room = abs(truth) * Decimal(slack)
    return lower - room <= truth <= upper + room


VIEWS = [
    c
    for c in CASES
    if c["kind"] in BUILD
    and c["quantity"] in ("delta", "log_delta", "epsilon", "one_minus_delta")
    # A delta below the doubles is asked as its logarithm.
    and not (c["quantity"] == "delta" and abs(Decimal(c["value"])) < Decimal("1e-307"))
]


@pytest.mark.shows("S1.20", "e4.9")
@pytest.mark.parametrize("case", VIEWS, ids=[c["id"] for c in VIEWS])
def test_the_truth_is_in_the_bracket(case):
    assert contains(bracket(case), case)


NARROW = [c for c in CASES if c["source"] == "jumps" and c["quantity"] == "log_delta"]


@pytest.mark.parametrize("case", NARROW, ids=[c["id"] for c in NARROW])
def test_delta_of_few_steps_is_narrow(case):
    lower, upper = pair_of(case).log_delta_bracket(np.asarray([float(case["at"])]))
    assert upper[0] - lower[0] <= 1e-9


TAILS = [c for c in CASES if c["kind"] in BUILD and c["quantity"][2:] in ("above", "below")]


TAIL_OF = {
    "p_above": (P_ABOVE, False),
    "q_above": (Q_ABOVE, False),
    "p_below": (Q_ABOVE, True),
    "q_below": (P_ABOVE, True),
}


@pytest.mark.parametrize("case", TAILS, ids=[c["id"] for c in TAILS])
def test_the_tails_are_in_their_brackets(case):
    functional, back = TAIL_OF[case["quantity"]]
    law = pair_of(case).loss_law()
    t = np.asarray([float(case["at"])])
    tails = LossTails(law.reversed() if back else law, functional)
    bounds = tails.log_tail(-t if back else t)
    log = str(Decimal(case["value"]).ln())
    assert contains([side[0] for side in bounds], {**case, "value": log})


CUMULANTS = [c for c in CASES if c["kind"] in BUILD and c["quantity"] == "cumulant"]


@pytest.mark.parametrize("case", CUMULANTS, ids=[c["id"] for c in CUMULANTS])
def test_cumulants_of_one_step(case):
    once = {**case["parameters"], "T": "1"}
    pair = pair_of({**case, "parameters": once})
    s = complex(*map(float, case["at"]))
    truth = complex(*(float(part) for part in case["value"]))
    found = complex(pair.cumulant(np.asarray([s]))[0])
    # Relative, even where K is 1e-12; where e^K has all but vanished, of e^K.
    small = abs(found - truth) <= 1e-13 * abs(truth) * max(1.0, abs(s))
    assert small or abs(cmath.exp(found) - cmath.exp(truth)) <= 1e-15 * (8 + abs(s))


@pytest.mark.parametrize("case", CUMULANTS, ids=[c["id"] for c in CUMULANTS])
def test_the_error_of_a_real_cumulant_is_known(case):
    re, im = map(float, case["at"])
    law = pair_of({**case, "parameters": {**case["parameters"], "T": "1"}}).loss_law()
    if im != 0 or law is None:
        return
    real = law.prepared(Span(re, re, 0.0)).real(np.asarray([re]))
    assert abs(real.value[0] - float(case["value"][0])) <= real.error[0] + 1e-16 * abs(re)


def test_every_quantity_is_asked_somewhere():
    kinds = {c["kind"] for c in VIEWS}
    assert {"dpsgd", "randomized_response"} <= kinds
    assert len(VIEWS) > 300
