"""Composition on a lattice against exact rationals and 60-digit values."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.errors import InvalidParameter
from neyman.numerics._atomic._atoms import Atoms, common_unit
from neyman.numerics._atomic._lattice import LatticePart, compose
from neyman.numerics._distributions._theta import log_theta_ratio
from neyman.numerics._interval import Interval
from neyman.numerics._spectrum import convolved, spectrum_at


def _law(weights, unit=Fraction(1, 7)):
    """Any masses; Q is only required to be p e^loss up to a factor, which compose never reads."""
    total = sum(weights)
    log_p = np.array([float(mp.log(mp.mpf(w) / total)) if w else -np.inf for w in weights])
    steps = np.arange(len(weights), dtype=np.int64)
    return Atoms(Fraction(0), unit, steps, log_p, log_p + float(unit) * steps)


def _power(weights, times):
    total, law = Fraction(sum(weights)), [Fraction(1)]
    for _ in range(times):
        new = [Fraction(0)] * (len(law) + len(weights) - 1)
        for i, a in enumerate(law):
            for j, w in enumerate(weights):
                new[i + j] += a * w / total
        law = new
    return law


def _log(value):
    with mp.workdps(40):
        return float(mp.log(mp.mpf(value.numerator) / value.denominator)) if value else -np.inf


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=6).filter(
        lambda w: w[0] and w[1] and w[-1]
    ),
    st.integers(2, 7),
)
def test_brackets_hold_every_mass_of_an_exact_composition(weights, times):
    found = compose([(_law(weights).reduced, times)], 2**12)
    logs = np.array([_log(x) for x in _power(weights, times)])
    # The reference is itself rounded to a double.
    slack = 1e-15 * np.where(np.isfinite(logs), np.abs(logs), 0.0)
    assert np.all(found.log_p.lower <= logs + slack)
    assert np.all(found.log_p.upper >= logs - slack)


@pytest.mark.parametrize("times", [20, 120])
def test_masses_keep_relative_accuracy_into_the_far_tail(times):
    weights = [5, 3, 2]
    found = compose([(_law(weights), times)], 2**14)
    logs = np.array([_log(x) for x in _power(weights, times)])
    assert logs.min() < -13 * times / 10
    assert np.all((found.log_p.lower <= logs) & (logs <= found.log_p.upper))
    assert np.max(found.log_p.upper - found.log_p.lower) < 1e-9


def test_two_laws_on_different_grids_share_their_common_one():
    first, second = _law([1, 2], Fraction(1, 2)), _law([3, 1, 1], Fraction(1, 3))
    found = compose([(first, 2), (second, 1)], 2**10)
    assert found.unit == Fraction(1, 6)
    masses = {}
    for i, a in enumerate(_power([1, 2], 2)):
        for j, b in enumerate(_power([3, 1, 1], 1)):
            masses[3 * i + 2 * j] = masses.get(3 * i + 2 * j, Fraction(0)) + a * b
    for step, low, up in zip(found.steps, *found.log_p, strict=True):
        truth = _log(masses.get(int(step), Fraction(0)))
        assert low <= truth <= up


def test_too_fine_a_grid_is_not_composed():
    assert compose([(_law([1, 1], Fraction(1, 10**9 + 7)), 2), (_law([1, 1, 1]), 1)], 2**16) is None


def test_a_wrapped_transform_is_bounded_by_its_aliasing():
    half = Interval.within(np.log([0.5, 0.5]), 2.0**-52)
    part = LatticePart(np.arange(2, dtype=np.int64), half, 40)
    (x,), (slack,), _ = part.weights(np.zeros(1))
    truth = np.array([_log(x) for x in _power([1, 1], 40)])[12:28]
    # Beyond 12 cells from the middle lie 1.8e-4 of the mass; the window takes 16 cells of 16.
    one = [(spectrum_at(part.steps, x, float(slack), 16), 40)]
    found = convolved(one, (12, 28), 16, 0.02)
    assert np.all((found.lower <= np.exp(truth)) & (np.exp(truth) <= found.upper))
    bare = convolved(one, (12, 28), 16, 0.0)
    assert np.any(bare.lower > np.exp(truth))


def test_atoms_refuse_steps_that_do_not_increase():
    with pytest.raises(InvalidParameter, match="increasing steps"):
        Atoms(Fraction(0), Fraction(1), np.array([1, 1]), np.zeros(2), np.zeros(2))
    with pytest.raises(InvalidParameter, match="unit must be positive; got 0"):
        Atoms(Fraction(0), Fraction(0), np.array([1, 2]), np.zeros(2), np.zeros(2))


def test_common_unit_and_swap():
    assert common_unit([Fraction(3, 10), Fraction(1, 4)]) == Fraction(1, 20)
    law = _law([1, 2, 3])
    back = law.swapped().swapped()
    assert np.array_equal(back.places.lower, law.places.lower)
    assert np.array_equal(back.places.upper, law.places.upper)


@pytest.mark.parametrize("square", [0.09, 0.3, 1.0, 16.0])
def test_theta_against_forty_digits(square):
    points = np.array([0.25, 1e-5, 0.5 + 0.2j, 3.3, 0.1 - 1j])
    found = log_theta_ratio(points, square)
    with mp.workdps(40):
        for z, value in zip(points, found, strict=True):

            def theta(x):
                return mp.nsum(lambda k: mp.exp(-((k - x) ** 2) / (2 * mp.mpf(square))), [-90, 90])

            exact = mp.log(theta(mp.mpc(z - np.rint(z.real))) / theta(0))
            assert abs(complex(exact) - value) <= 2e-14 * abs(value) + 1e-16
