"""Contour and lattice answer the same question by other means: their brackets overlap."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from neyman.curves import (
    Lattice,
    bounded_range,
    compose,
    discrete,
    discrete_gaussian,
    discrete_laplace,
    gdp,
    laplace,
    poisson,
    pure_dp,
)

STEP = Fraction(1, 25)


def decimals(least, most):
    return st.integers(round(1000 * least), round(1000 * most)).map(lambda n: Fraction(n, 1000))


probabilities = decimals(0.001, 0.5)
outcomes = st.lists(st.integers(1, 50), min_size=3, max_size=3)
bases = st.one_of(
    decimals(0.05, 1.5).map(gdp),
    decimals(0.02, 1.5).map(laplace),
    decimals(0.02, 1.5).map(pure_dp),
)
leaves = st.one_of(
    bases,
    st.builds(poisson, bases, probabilities),
    decimals(0.02, 1.5).map(bounded_range),
    st.builds(
        lambda epsilon, k: discrete_laplace(epsilon, sensitivity=k),
        decimals(0.05, 1),
        st.integers(1, 3),
    ),
    decimals(0.8, 5).map(discrete_gaussian),
    st.builds(
        lambda p, q: discrete([Fraction(x, sum(p)) for x in p], [Fraction(x, sum(q)) for x in q]),
        outcomes,
        outcomes,
    ),
)
compositions = st.lists(
    st.builds(lambda leaf, times: leaf**times, leaves, st.integers(1, 20)), min_size=1, max_size=3
).map(lambda factors: compose(*factors))
thresholds = st.lists(st.floats(-2, 8), min_size=2, max_size=2).map(np.array)


def overlap(f, epsilon):
    """Compare both directions."""
    for way in ("remove", "add"):
        exact = getattr(f, way).delta(epsilon, bracket=True)
        other = getattr(f, way).delta(epsilon, solver=Lattice(STEP), bracket=True)
        assert np.all(exact.lower <= other.upper)
        assert np.all(other.lower <= exact.upper)


@given(compositions, thresholds)
@settings(max_examples=15, phases=[Phase.generate])
def test_contour_and_lattice_overlap(f, epsilon):
    overlap(f, epsilon)


@pytest.mark.soak
@given(compositions, thresholds)
@settings(max_examples=500, phases=[Phase.generate])
def test_contour_and_lattice_overlap_five_hundred_times(f, epsilon):
    overlap(f, epsilon)


def test_the_witness_would_notice():
    """A loss a twentieth too small, of one factor in three, is outside what the lattice allows."""
    f = compose(gdp(1), laplace(1) ** 4, poisson(gdp(1), Fraction(1, 10)) ** 10)
    less = compose(gdp(Fraction(19, 20)), laplace(1) ** 4, poisson(gdp(1), Fraction(1, 10)) ** 10)
    found = less.delta(3.0, bracket=True)
    assert 0 < found.upper < f.delta(3.0, solver=Lattice(Fraction(1, 200)), bracket=True).lower
