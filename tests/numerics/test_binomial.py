"""Binomial masses and tails against sixty digits, far from the mean as well."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from neyman.numerics import Interval
from neyman.numerics._distributions._binomial import (
    log_binomial_mass,
    log_binomial_tail,
    log_even_mass,
)


def _log_mass(k: int, n: int, p: mp.mpf) -> mp.mpf:
    ways = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return ways + k * mp.log(p) + (n - k) * mp.log(1 - p)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (100, 1e-4), (1000, 0.3), (5000, 1e-6), (50, 0.99), (10_000, 0.47)]
)
def test_brackets_of_masses_hold_sixty_digits(n: int, p: float) -> None:
    found = log_binomial_mass(np.arange(n + 1.0), n, p, 1 - Fraction(p))
    with mp.workdps(60):
        for j in range(0, n + 1, max(n // 500, 1)):
            assert found.lower[j] <= _log_mass(j, n, mp.mpf(p)) <= found.upper[j]
    # Where the masses are.
    middle = np.abs(np.arange(n + 1.0) - n * p) < 3 + 5 * np.sqrt(n * p * (1 - p))
    assert np.max((found.upper - found.lower)[middle]) < 2e-12


@pytest.mark.parametrize("n", [1, 2, 15, 16, 31, 999, 10**6, 10**12, 10**15])
def test_even_masses_are_within_their_stated_error(n: int) -> None:
    rng = np.random.default_rng(1)
    some = np.append(np.floor(n * rng.random(60)), n / 2 + np.sqrt(n) * np.linspace(-5, 5, 41))
    k = np.clip(np.unique(np.append(np.floor(some), np.arange(40.0))), 0, n)
    k = np.unique(np.append(k, n - k))
    found = log_even_mass(k, n)
    with mp.workdps(60):
        truth = [_log_mass(int(j), n, mp.mpf(0.5)) for j in k]
    off = [abs(float(t - mp.mpf(x))) for t, x in zip(truth, found.middle.tolist(), strict=True)]
    assert np.all(np.asarray(off) < 0.4 * (found.upper - found.lower))


def _log_tail(k: int, n: int, p: mp.mpf) -> mp.mpf:
    """From the end where the sum is small."""
    if k <= n * p:
        return mp.log1p(-mp.exp(_log_tail(n - k + 1, n, 1 - p))) if k else mp.mpf(0)
    term, total, j = mp.exp(_log_mass(k, n, p)), mp.mpf(0), k
    while j <= n and term > total * mp.mpf(10) ** -40:
        total, j = total + term, j + 1
        term *= mp.mpf(n - j + 1) / j * p / (1 - p)
    return mp.log(total)


@pytest.mark.parametrize("times", [2, 3, 50, 1000, 10**5])
@pytest.mark.parametrize("gap", [0.0, -0.001, 0.2, 0.45])
def test_brackets_of_tails_hold_sixty_digits(times: int, gap: float) -> None:
    deviation = (times * (0.25 - gap**2)) ** 0.5
    k = np.round(times * (0.5 + gap) + deviation * np.array([-5, -1, 0, 1, 4, 9, 20]))
    k = np.unique(np.append(np.clip(k, 1, times), [1, 2, times]))
    found = log_binomial_tail(k, times, Interval.exactly(gap))
    with mp.workdps(60):
        for i, value in enumerate(k):
            truth = _log_tail(int(value), times, mp.mpf(0.5) + mp.mpf(gap))
            assert found.lower[i] <= truth <= found.upper[i]
    usual = (k > 60) & (k < times - 60)
    width = (found.upper - found.lower)[usual]
    assert np.all(width <= 1e-11 * np.maximum(1.0, -found.lower[usual]))


def test_a_trillion_trials_keep_ten_digits() -> None:
    k = 5e11 + 5e5 * np.array([0.0, 1.0, 5.0])
    found = log_binomial_tail(k, 10**12, Interval.exactly(0.0))
    assert np.all(found.upper - found.lower < 1e-10)
    # Half of the tie is above the middle.
    with mp.workdps(40):
        n = mp.mpf(10) ** 12
        tie = mp.exp(mp.loggamma(n + 1) - 2 * mp.loggamma(n / 2 + 1) - n * mp.log(2))
        assert found.lower[0] <= mp.log((1 + tie) / 2) <= found.upper[0]
