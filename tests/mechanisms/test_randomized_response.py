"""Randomized response: exact probabilities, its curve, its frequencies and their coverage."""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtrc

from neyman.curves import discrete, pure_dp, randomized_response
from neyman.errors import InvalidParameter
from neyman.mechanisms import RandomizedResponse
from neyman.testing import SeededBits

CASES = [(2, Fraction(3, 4)), (3, Fraction(1, 2)), (7, Fraction(9, 10)), (1000, Fraction(1, 10))]
COUNT = 2_000_000
ERROR_RATE = 1e-12


def chi_square(reports, truth, categories, code):
    other = (1 - truth) / (categories - 1)
    expected = np.full(categories, float(other))
    expected[code] = float(truth)
    expected *= reports.size
    counts = np.bincount(reports, minlength=categories)
    return float(chdtrc(categories - 1, ((counts - expected) ** 2 / expected).sum()))


@pytest.mark.shows("draws of RandomizedResponse")
@pytest.mark.parametrize(("categories", "truth"), CASES)
def test_reports_follow_the_rational_probabilities(categories, truth):
    response = RandomizedResponse(categories=categories, truth=truth)
    for code in (0, categories - 1):
        codes = np.full(COUNT, code, dtype=np.int64)
        reports = response.randomize(codes, SeededBits(4))
        assert chi_square(reports, truth, categories, code) > ERROR_RATE


@pytest.mark.shows("twin of RandomizedResponse")
@pytest.mark.parametrize(("categories", "truth"), CASES)
def test_broken_twin_two_percent_off_fails(categories, truth):
    # A thousand cells hide two percent of a tenth.
    off = Fraction(98 if categories < 1000 else 90, 100)
    response = RandomizedResponse(categories=categories, truth=truth * off)
    reports = response.randomize(np.zeros(COUNT, dtype=np.int64), SeededBits(4))
    assert chi_square(reports, truth, categories, 0) < ERROR_RATE


class Script:
    def __init__(self, *words):
        self.words = list(words)

    def uint64(self, n):
        given, self.words = self.words[:n], self.words[n:]
        return np.array(given, dtype=np.uint64)


def test_every_edge_is_decided_to_the_last_bit():
    """truth = 1/2, other = 1/4: edges at 2^63 and 3 2^62, where V = c counts as above."""
    response = RandomizedResponse(categories=3, truth=Fraction(1, 2))
    words = [0, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, 2**64 - 1]
    drawn = response.randomize(np.zeros(6, dtype=np.int64), Script(*words))
    assert drawn.tolist() == [0, 0, 1, 1, 2, 2]


def test_an_edge_between_words_takes_more_bits():
    """truth = 2/3: 2^64 2/3 is not whole, and its first 64 bits do not decide."""
    response = RandomizedResponse(categories=2, truth=Fraction(2, 3))
    edge = 2**64 * 2 // 3
    follow = (2**128 * 2 // 3) & (2**64 - 1)
    zero = np.zeros(1, dtype=np.int64)
    assert response.randomize(zero, Script(edge, follow - 1))[0] == 0
    assert response.randomize(zero, Script(edge, follow + 1))[0] == 1
    assert response.randomize(zero, Script(edge, follow, 0))[0] == 0
    assert response.randomize(zero, Script(edge, follow, 2**64 - 1))[0] == 1


@pytest.mark.shows("curve of RandomizedResponse")
@pytest.mark.parametrize(("categories", "truth"), CASES)
def test_the_curve_is_that_of_the_rows(categories, truth):
    if categories > 10:
        return
    other = (1 - truth) / (categories - 1)
    rows = [[truth if x == y else other for y in range(categories)] for x in range(2)]
    found = RandomizedResponse(categories=categories, truth=truth).tradeoff()
    expected = discrete(*rows)
    alpha = np.linspace(0, 1, 33)
    assert found.beta(alpha) == pytest.approx(expected.beta(alpha), abs=1e-14)
    assert found.epsilon(0) == pytest.approx(float(np.log(float(truth / other))), rel=1e-13)


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1, 5, 50])
@pytest.mark.parametrize("categories", [2, 3, 100])
def test_calibration_is_below_epsilon_by_little(epsilon, categories):
    response = RandomizedResponse.calibrate(epsilon, categories=categories)
    curve = response.tradeoff()
    assert curve.implies(pure_dp(epsilon))
    assert curve.epsilon(0) >= epsilon - (32 + 16 * epsilon) * 2.0**-50
    two = RandomizedResponse.calibrate(epsilon, categories=2).tradeoff()
    assert two.delta(0) == pytest.approx(randomized_response(epsilon).delta(0), rel=1e-3)


def test_more_categories_are_more_private_at_one_epsilon():
    at = [RandomizedResponse.calibrate(1, categories=k).tradeoff().delta(0) for k in (2, 3, 10)]
    assert at[0] > at[1] > at[2]


def test_estimates_are_unbiased_and_add_up():
    response = RandomizedResponse.calibrate(1, categories=4)
    codes = np.repeat(np.arange(4), [100, 200, 300, 400])
    source = SeededBits(9)
    found = np.array(
        [
            response.frequencies(
                np.bincount(response.randomize(codes, source), minlength=4), 0.9
            ).estimate
            for _ in range(2000)
        ]
    )
    assert found.sum(axis=1) == pytest.approx(1)
    error = np.std(found, axis=0) / np.sqrt(2000)
    # Seeded; a fresh seed would be outside once in 10^11 times.
    assert np.all(np.abs(found.mean(axis=0) - [0.1, 0.2, 0.3, 0.4]) < 7 * error)


@pytest.mark.parametrize(("epsilon", "shares"), [(1, [5, 95, 0]), (4, [500, 490, 10])])
def test_intervals_cover(epsilon, shares):
    """Four standard errors below 90 %; seeded."""
    response = RandomizedResponse.calibrate(epsilon, categories=3)
    codes = np.repeat(np.arange(3), shares)
    truth = np.array(shares) / sum(shares)
    source, held = SeededBits(2), np.zeros(3)
    for _ in range(1500):
        reports = np.bincount(response.randomize(codes, source), minlength=3)
        _, low, high = response.frequencies(reports, 0.9)
        held += (low <= truth) & (truth <= high)
    assert np.all(held / 1500 > 0.9 - 4 * (0.09 / 1500) ** 0.5)


def test_broken_twin_that_takes_reports_for_answers_does_not_cover():
    response = RandomizedResponse.calibrate(1, categories=3)
    honest = RandomizedResponse(categories=3, truth=Fraction(999, 1000))
    codes = np.repeat(np.arange(3), [5000, 4000, 1000])
    reports = np.bincount(response.randomize(codes, SeededBits(1)), minlength=3)
    _, low, high = honest.frequencies(reports, 0.99)
    assert not (low[2] <= 0.1 <= high[2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomizedResponse(categories=1, truth=Fraction(1, 2)), "categories"),
        (lambda: RandomizedResponse(categories=2.0, truth=Fraction(3, 4)), "categories"),
        (lambda: RandomizedResponse(categories=2, truth=Fraction(1, 2)), "tells nothing"),
        (lambda: RandomizedResponse(categories=2, truth=1), "hides nothing"),
        (lambda: RandomizedResponse.calibrate(0, categories=2), "outside"),
        (lambda: RandomizedResponse.calibrate(51, categories=2), "outside"),
    ],
)
def test_what_is_no_response_is_refused(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_codes_and_counts_are_checked():
    response = RandomizedResponse(categories=3, truth=Fraction(1, 2))
    with pytest.raises(InvalidParameter, match="int64"):
        response.randomize(np.zeros(3))
    for counts, confidence in (([1, 2], 0.9), ([1.0, 2.0, 3.0], 0.9), ([-1, 50, 50], 0.9)):
        with pytest.raises(InvalidParameter, match="counts"):
            response.frequencies(counts, confidence)
    with pytest.raises(InvalidParameter, match="more than 4 reports"):
        response.frequencies([1, 1, 2], 0.9)
    with pytest.raises(InvalidParameter, match=r"at least 0\.5"):
        response.frequencies([100, 100, 200], 0.4)
    # Codes that do not exist are answered too: whether they occur is private.
    reports = response.randomize(np.array([-1, 7]), SeededBits(1))
    assert set(reports.tolist()) <= {0, 1, 2}


def test_the_record():
    response = RandomizedResponse(categories=3, truth=Fraction(1, 2))
    record = json.loads(json.dumps(response.describe()))
    assert record == {"mechanism": "randomized_response", "categories": 3, "truth": "0.5"}
