"""The sparse vector: epsilon-DP for the whole run, and then no more."""

import copy
import itertools
import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import dominated_by, gdp, pure_dp
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.mechanisms import AboveThreshold
from neyman.mechanisms._above_threshold import _scales
from neyman.testing import SeededBits

REACH = 400


def law(scale):
    """Return P(K = k), k = -REACH..REACH, of the rounded Laplace."""
    k = np.arange(-REACH, REACH + 1)
    b = float(scale)
    tails = np.exp(-(np.abs(k) - 0.5) / b) - np.exp(-(np.abs(k) + 0.5) / b)
    return np.where(k == 0, 1 - math.exp(-0.5 / b), tails / 2)


def chances(values, first, each, hits):
    """Return the chance of every sequence of answers, thresholds 0; it stops after `hits`."""
    k = np.arange(-REACH, REACH + 1)
    opening, mass = law(first), law(each)
    upper = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    found = {}
    for answers in itertools.product((False, True), repeat=len(values)):
        if sum(answers[:-1]) >= hits and any(answers[-1:]):
            continue
        joint = opening.copy()
        seen, used = [], 0
        for value, answer in zip(values, answers, strict=True):
            if used == hits:
                break
            # value + K >= z
            above = upper[np.clip(k - value + REACH, 0, 2 * REACH + 1)]
            joint = joint * (above if answer else 1 - above)
            used += answer
            seen.append(answer)
        found[tuple(seen)] = joint.sum()
    return found


@pytest.mark.shows("curve of AboveThreshold")
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("hits", [1, 2])
def test_every_sequence_of_answers_is_within_epsilon(monotone, hits):
    epsilon, worst = Fraction(3, 2), 0.0
    first, each = _scales(epsilon, 1, hits, monotone)
    one_way = itertools.product((0, 1), repeat=4)
    moves = one_way if monotone else itertools.product((-1, 0, 1), repeat=4)
    for move in moves:
        for start in ((0, 0, 0, 0), (5, -3, 5, 1), (-9, 20, -9, 20)):
            p = chances(start, first, each, hits)
            q = chances([a + b for a, b in zip(start, move, strict=True)], first, each, hits)
            assert sum(p.values()) == pytest.approx(1, abs=1e-9)
            for answers, mass in p.items():
                if mass > 1e-9:
                    worst = max(worst, abs(math.log(q[answers] / mass)))
    # Not so loose that half the noise would do.
    assert float(epsilon) / 2 < worst <= float(epsilon) + 1e-6


@pytest.mark.shows("draws of AboveThreshold", "twin of AboveThreshold")
def test_the_draws_have_these_chances():
    first, each = _scales(Fraction(1), 1, 1, False)
    expected = chances((-12, -6, 9), first, each, 1)
    bits, seen, runs = SeededBits(9), {}, 3000
    for _ in range(runs):
        watch = AboveThreshold(epsilon=1, sensitivity=1, hits=1, source=bits)
        answers = []
        for value in (-12, -6, 9):
            answers.append(watch.ask(value + 7, threshold=7))
            if not watch.left:
                break
        seen[tuple(answers)] = seen.get(tuple(answers), 0) + 1
    assert set(seen) <= set(expected)
    # A twin with a fifth less noise is told apart.
    twin = chances((-12, -6, 9), first * Fraction(4, 5), each * Fraction(4, 5), 1)
    found, wrong = (
        sum((seen.get(a, 0) - runs * m) ** 2 / (runs * m) for a, m in law.items() if m > 0)
        for law in (expected, twin)
    )
    assert found < 25 < wrong


@pytest.mark.parametrize("mu", [1e-9, 0.01, 0.5, 1, 4])
def test_calibration_keeps_mu_and_wastes_nothing(mu):
    watch = AboveThreshold.calibrate(mu, sensitivity=1, hits=2, source=SeededBits(1))
    assert watch.tradeoff.implies(gdp(mu))
    assert watch.tradeoff.mu() > mu * (1 - 1e-11)
    with pytest.raises(InvalidParameter, match="not positive"):
        AboveThreshold.calibrate(0, sensitivity=1, hits=1)


def test_after_the_last_hit_it_refuses():
    watch = AboveThreshold(epsilon=2, sensitivity=1, hits=2, source=SeededBits(1))
    assert watch.tradeoff == dominated_by(pure_dp(2))
    assert [watch.ask(10**6, threshold=0), watch.ask(-(10**6), threshold=0)] == [True, False]
    assert watch.left == 1
    assert watch.ask(10**6, threshold=0)
    for value in (-(10**6), 10**6):
        with pytest.raises(BudgetExceeded, match="all hits"):
            watch.ask(value, threshold=0)
    assert "left=0" in repr(watch)


def test_it_is_not_copied_nor_forked(monkeypatch):
    watch = AboveThreshold(epsilon=1, sensitivity=1, hits=1)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(InvalidParameter, match="one object is one run"):
            way(watch)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(InvalidParameter, match="forked"):
        watch.ask(1, threshold=0)


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"sensitivity": 0}, {"sensitivity": 0.5}, {"hits": 0}, {"epsilon": 1e-20}],
)
def test_refusals(wrong):
    with pytest.raises(InvalidParameter):
        AboveThreshold(**{"epsilon": 1, "sensitivity": 1, "hits": 1} | wrong)
    watch = AboveThreshold(epsilon=1, sensitivity=1, hits=1)
    for value, threshold in ((1.0, 0), (1, 0.5), (1, 2**63)):
        with pytest.raises(InvalidParameter, match="write ints"):
            watch.ask(value, threshold=threshold)
