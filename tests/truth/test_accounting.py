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
from neyman.numerics import P_ABOVE, Q_ABOVE, ContourTails, Span

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


def by_pair(cases):
    """Return lists of cases of one pair: it is built once, and asked once for all its places."""
    groups = {}
    for case in cases:
        key = json.dumps([case["kind"], case["parameters"], case["direction"]])
        groups.setdefault(key, []).append(case)
    return list(groups.values())


def brackets(cases):
    """Yield each case of one pair with its bounds; one call for all places of a quantity."""
    pair = pair_of(cases[0])
    for quantity in dict.fromkeys(case["quantity"] for case in cases):
        asked = [case for case in cases if case["quantity"] == quantity]
        at = np.array([float(case["at"]) for case in asked])
        if quantity in TAIL_OF:
            bounds = tail_bounds(pair, quantity, at)
        elif quantity == "one_minus_delta":
            bounds = [1 - side for side in reversed([*pair.delta(at, bracket=True)])]
        else:
            bounds = getattr(pair, quantity)(at, bracket=True)
        yield from zip(asked, zip(*bounds, strict=True), strict=True)


def tail_bounds(pair, quantity, t):
    functional, back = TAIL_OF[quantity]
    law = pair.loss_law()
    tails = ContourTails(law.reversed() if back else law, functional)
    return tails.log_tail(-t if back else t)


def contains(bounds, case):
    """A truth of fewer digits than a double's is given its own room."""
    lower, upper = (Decimal(repr(float(side))) for side in bounds)
    truth = Decimal(case["value"])
    slack = max(ROUNDED.get(case["kind"], 0.0), 10.0 ** (1 - min(case["digits"], 40)))
    if case["quantity"] in TAIL_OF:
        truth = truth.ln()
    room = abs(truth) * Decimal(slack)
    return lower - room <= truth <= upper + room


def missed(cases):
    """Return what lies outside its bracket, by name."""
    return [(case["id"], bounds) for case, bounds in brackets(cases) if not contains(bounds, case)]


TAIL_OF = {
    "p_above": (P_ABOVE, False),
    "q_above": (Q_ABOVE, False),
    "p_below": (Q_ABOVE, True),
    "q_below": (P_ABOVE, True),
}
VIEWS = [
    c
    for c in CASES
    if c["kind"] in BUILD
    and c["quantity"] in ("delta", "log_delta", "epsilon", "one_minus_delta")
    # A delta below the doubles is asked as its logarithm.
    and not (c["quantity"] == "delta" and abs(Decimal(c["value"])) < Decimal("1e-307"))
]
TAILS = [c for c in CASES if c["kind"] in BUILD and c["quantity"] in TAIL_OF]
EACH_PAIR = pytest.mark.parametrize("cases", by_pair([*VIEWS, *TAILS]), ids=lambda c: c[0]["id"])


@pytest.mark.shows("S1.20", "e4.9")
@EACH_PAIR
def test_the_truth_is_in_the_bracket(cases):
    assert missed(cases) == []


@pytest.mark.soak
def test_the_truth_is_in_the_bracket_of_one_place_asked_alone():
    assert [found for case in [*VIEWS, *TAILS] for found in missed([case])] == []


NARROW = [c for c in CASES if c["source"] == "jumps" and c["quantity"] == "log_delta"]


@pytest.mark.parametrize("cases", by_pair(NARROW), ids=lambda c: c[0]["id"])
def test_delta_of_few_steps_is_narrow(cases):
    wide = [case["id"] for case, (lower, upper) in brackets(cases) if upper - lower > 1e-9]
    assert wide == []


CUMULANTS = [c for c in CASES if c["kind"] in BUILD and c["quantity"] == "cumulant"]


def gap_of_exp(found, truth):
    return abs(cmath.exp(found) - cmath.exp(truth))


@pytest.mark.parametrize("cases", by_pair(CUMULANTS), ids=lambda c: c[0]["id"])
def test_cumulants_of_one_step(cases):
    pair = pair_of({**cases[0], "parameters": {**cases[0]["parameters"], "T": "1"}})
    for case in cases:
        s = complex(*map(float, case["at"]))
        truth = complex(*(float(part) for part in case["value"]))
        found = complex(pair.cumulant(np.asarray([s]))[0])
        # Relative, even where K is 1e-12; where e^K has all but vanished, of e^K.
        small = abs(found - truth) <= 1e-13 * abs(truth) * max(1.0, abs(s))
        assert small or gap_of_exp(found, truth) <= 1e-15 * (8 + abs(s)), case["id"]


@pytest.mark.parametrize("cases", by_pair(CUMULANTS), ids=lambda c: c[0]["id"])
def test_the_error_of_a_real_cumulant_is_known(cases):
    law = pair_of({**cases[0], "parameters": {**cases[0]["parameters"], "T": "1"}}).loss_law()
    for case in cases if law is not None else ():
        re, im = map(float, case["at"])
        if im == 0:
            real = law.prepared(Span(re, re, 0.0)).real(np.asarray([re]))
            gap = abs(real.value[0] - float(case["value"][0]))
            assert gap <= real.error[0] + 1e-16 * abs(re), case["id"]


def test_every_quantity_is_asked_somewhere():
    kinds = {c["kind"] for c in VIEWS}
    assert {"dpsgd", "randomized_response"} <= kinds
    assert len(VIEWS) > 300
