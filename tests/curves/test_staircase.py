"""The staircase pair against sums over outcomes to 50 digits, and its place in the algebra."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from neyman.curves import (
    TradeOff,
    discrete_laplace,
    identity,
    mixture,
    pure_dp,
    read,
    staircase,
)
from neyman.curves._pairs._staircase import StaircasePair
from neyman.errors import InvalidParameter

TRUTH = json.loads((Path(__file__).parents[1] / "truth" / "integer_noise.json").read_text())[
    "staircases"
]
EVERY = pytest.mark.parametrize("row", TRUTH, ids=lambda row: str(row["parameters"]))


def curve_of(row):
    epsilon, period, width, shift = row["parameters"]
    return staircase(Fraction(epsilon), period=period, width=width, sensitivity=shift)


def misses(curve, row):
    """Views whose bracket does not hold the truth, or is wider than 1e-11."""
    found = []
    with mp.workdps(50):
        for share, shown in row["delta"].items():
            x = float(mp.mpf(share) * mp.mpf(row["parameters"][0]))
            answer = curve.delta(x, bracket=True)
            # The place is rounded to a double; delta moves by less than the place does.
            room = mp.mpf(2) ** -50 * (1 + abs(mp.mpf(x)))
            if not answer.lower - room <= mp.mpf(shown) <= answer.upper + room:
                found.append(("delta", share))
            if answer.upper - answer.lower > 1e-11:
                found.append(("wide", share))
        for alpha, shown in row["beta"].items():
            answer = curve.beta(float(alpha), bracket=True)
            room = mp.mpf(10) ** -40
            if not mp.mpf(answer.lower) - room <= mp.mpf(shown) <= mp.mpf(answer.upper) + room:
                found.append(("beta", alpha))
    return found


@pytest.mark.shows("curve of Staircase")
@EVERY
def test_brackets_hold_the_truth(row):
    assert misses(curve_of(row), row) == []


@pytest.mark.shows("twin of Staircase")
@EVERY
def test_broken_twin_with_another_epsilon_is_found(row):
    epsilon, period, width, shift = row["parameters"]
    wrong = staircase(
        Fraction(epsilon) * Fraction(10**9 + 1, 10**9),
        period=period,
        width=width,
        sensitivity=shift,
    )
    assert misses(wrong, row) != []


@EVERY
def test_it_is_the_identity_or_randomized_response(row):
    """Id with the mass of loss 0, else f_epsilon: the same mixture to rounding."""
    curve = curve_of(row)
    epsilon = Fraction(row["parameters"][0])
    advantage = float(curve.advantage())
    share = Fraction(min(advantage / float(pure_dp(epsilon).advantage()), 1.0))
    alpha = np.linspace(0, 1, 41)
    if share < 1:
        other = mixture([1 - share, share], [identity(), pure_dp(epsilon)])
        assert curve.beta(alpha) == pytest.approx(other.beta(alpha), abs=1e-10)


def test_period_one_is_the_discrete_laplace():
    curve, other = staircase(0.3, period=1, width=1), discrete_laplace(0.3)
    alpha = np.linspace(0, 1, 41)
    assert curve.beta(alpha) == pytest.approx(other.beta(alpha), abs=1e-13)
    assert (curve**7).epsilon(1e-6) == pytest.approx((other**7).epsilon(1e-6), rel=1e-9)


def test_smaller_moves_are_more_private():
    alpha = np.linspace(0.01, 0.99, 33)
    curves = [staircase(1, period=9, width=4, sensitivity=d).beta(alpha) for d in range(1, 10)]
    for nearer, farther in pairwise(curves):
        assert np.all(nearer >= farther - 1e-13)
        assert np.any(nearer > farther + 1e-6)


@EVERY
def test_mu_is_the_steepest_vertex(row):
    lower, upper = curve_of(row).mu(bracket=True)
    assert 0 < lower <= upper <= lower * (1 + 1e-11)
    probabilities = np.exp(curve_of(row).remove.atoms().log_p)
    with mp.workdps(50):
        # The vertex at the largest loss: alpha = P(L = epsilon), beta = 1 - P(L = -epsilon).
        low, high = (mp.mpf(float(p)) for p in probabilities[[-1, 0]])
        gap = -mp.sqrt(2) * (mp.erfinv(2 * low - 1) + mp.erfinv(1 - 2 * high))
    assert float(gap) == pytest.approx(upper, rel=1e-9)


@pytest.mark.parametrize(
    "f", [staircase(1, period=10, width=4), discrete_laplace(1, sensitivity=2)], ids=str
)
def test_an_atom_at_zero_counts_as_above_when_closed(f):
    here, there = f.remove.log_tails(np.zeros(1)), f.remove.log_tails(np.zeros(1), closed=True)
    assert there.p_above > here.p_above
    assert there.p_above == pytest.approx(here.q_below)
    assert there.q_above == pytest.approx(here.p_below)


def test_views_and_composition():
    f = staircase(2, period=10, width=3)
    assert f.outer_pure() == 2
    assert f.implies(pure_dp(2))
    assert f.symmetric
    assert f.swap() == f
    assert f.epsilon(0) == pytest.approx(2, rel=1e-12)
    assert f.renyi(np.inf) == pytest.approx(2, rel=1e-12)
    assert 0 < f.mu() < pure_dp(2).mu()
    assert (f @ f).delta(1) == pytest.approx((f**2).delta(1), rel=1e-12)
    assert (f**10).epsilon(1e-6) < (pure_dp(2) ** 10).epsilon(1e-6)


def test_the_record():
    f = staircase(Fraction(1, 3), period=5, width=2, sensitivity=4)
    assert f.to_json()["remove"] == {
        "kind": "staircase",
        "epsilon": "1/3",
        "period": 5,
        "width": 2,
        "sensitivity": 4,
    }
    assert read(json.dumps(f.to_json())) == f
    assert TradeOff.from_json((f**3).to_json()) == f**3
    for change in ({"period": 3}, {"width": 0}, {"sensitivity": 6}, {"epsilon": "0"}):
        record = f.to_json()
        record["remove"] = {**record["remove"], **change}
        with pytest.raises(InvalidParameter):
            TradeOff.from_json(record)


def test_what_is_no_staircase_is_refused():
    good = StaircasePair(Fraction(1), 5, 2, 3)
    for change in ({"period": 2}, {"width": 6}, {"sensitivity": 0}, {"width": True}):
        with pytest.raises(InvalidParameter, match="staircase"):
            replace(good, **change)
    with pytest.raises(InvalidParameter):
        staircase(701, period=1, width=1)
