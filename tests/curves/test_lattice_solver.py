"""The lattice of a step, hits that are counted, and laws that would take any memory."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import (
    Auto,
    Lattice,
    bounded_range,
    discrete,
    discrete_gaussian,
    gdp,
    laplace,
    piecewise,
    poisson,
    pure_dp,
    subsample,
    zcdp,
)
from neyman.curves._algebra._factors import factors_of
from neyman.curves._solvers._known_samples import _MOST_CELLS, known_samples
from neyman.curves._solvers._lattice import lattice_sum
from neyman.errors import InvalidParameter
from neyman.numerics import Span
from neyman.numerics._laws._symmetrised_law import _LONGEST, SymmetrisedGaussianLaw

LAWS = [
    poisson(gdp(1), 0.01) ** 100,
    laplace(0.15) ** 40,
    pure_dp(0.1) ** 50 @ pure_dp(0.03) ** 30,
    piecewise([0, 0.1, 0.3, 1], [0.95, 0.6, 0.3, 0]) ** 3,
    discrete([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]) ** 8,
    bounded_range(1) ** 2,
    # As many as another solver than the lattice reads.
    subsample(gdp(0.5), 0.1) ** 100,
]


@pytest.mark.parametrize("curve", LAWS, ids=str)
def test_a_lattice_of_a_step_reads_every_law_and_meets_the_other_solvers(curve):
    for view, at in (("delta", 0.3), ("epsilon", 1e-3), ("beta", 0.1)):
        ask = getattr(curve, view)
        found, known = ask(at, solver=Lattice(0.002), bracket=True), ask(at, bracket=True)
        assert found.lower <= known.upper
        assert known.lower <= found.upper
        assert "lattice" in found.method


@pytest.mark.parametrize("step", [Fraction(1, 3), 0.9])
def test_a_coarse_lattice_is_no_worse_than_what_holds_anyway(step):
    curve = laplace(0.1) ** 4
    lower, upper = curve.epsilon(1e-9, solver=Lattice(step), bracket=True)
    assert upper <= 0.4 * (1 + 1e-12)
    one, many = curve.delta(0.05, solver=Lattice(step), bracket=True), laplace(0.1).delta(0.05)
    assert lower >= 0
    assert one.lower >= many * (1 - 1e-9)


def test_a_lattice_reads_a_class_from_above_and_what_stands_beside_it_from_below():
    curve = zcdp(0.02) @ pure_dp(0.5)
    found = curve.delta(0.2, solver=Lattice(0.01), bracket=True)
    assert found.of == "class"
    assert pure_dp(0.5).delta(0.2) * (1 - 1e-9) <= found.lower <= found.upper < 1
    assert curve.delta(0.2, bracket=True).lower <= found.upper


def test_a_lattice_with_too_many_cells_is_refused():
    with pytest.raises(InvalidParameter, match="Write a step of at least"):
        (gdp(1) @ laplace(1)).delta(0.1, solver=Lattice(Fraction(1, 10**9)))


@pytest.mark.parametrize(
    ("schedule", "lower", "upper"),
    [
        # By the contour alone the first is 1e-2 wide, the second from 2.7e-4 to 4.7e-3.
        ([(0.6, "1e-6", 10**4)], 0.0014138, 0.00141815),
        pytest.param([(0.6, "3e-7", 30_000)], 0.00053200, 0.00053978, marks=pytest.mark.soak),
    ],
)
def test_steps_that_hardly_ever_see_a_record_are_counted(schedule, lower, upper):
    ((noise, rate, steps),) = schedule
    curve = poisson(gdp(1 / Fraction(str(noise))), Fraction(rate)) ** steps
    found = curve.remove.epsilon(1e-6, bracket=True)
    assert lower <= found.lower <= found.upper <= upper
    assert "counted hits" in found.method


@pytest.mark.soak
def test_the_lattice_narrows_a_small_delta_further_than_hits_do():
    curve = (poisson(gdp(1 / Fraction("0.6")), Fraction("1e-6")) ** 10**4).remove
    lower, upper = curve.delta(0.01, solver=Auto(tolerance=0.005), bracket=True)
    assert lower <= upper <= lower * 1.01


@pytest.mark.parametrize("curve", [discrete_gaussian(4) ** 100, pure_dp(0.1) ** 50], ids=str)
def test_the_lattice_places_atoms_of_a_grid_without_loss(curve):
    """Those next to the smallest doubles, whose places are rounded, do not count."""
    pair, delta = curve.remove, np.asarray(1e-6)
    found = next(lattice_sum(factors_of(pair)).epsilon(delta))
    known = pair.epsilon_bracket(delta)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower < 1e-4


def test_many_places_are_read_block_by_block():
    known = known_samples(factors_of((poisson(gdp(2), 0.001) ** 1000).remove))
    many = np.linspace(0, 3, 5000).reshape(50, 100)
    assert many.size * known.mu.size > _MOST_CELLS
    found = known.log_delta(many)
    assert found.shape == many.shape
    np.testing.assert_array_equal(found[::7, 3], known.log_delta(many[::7, 3]))
    assert known.log_delta(np.zeros(())).shape == ()


@pytest.mark.parametrize("mu", [1e-18, 0.29, 1e3, 1e18])
def test_a_law_of_any_noise_is_laid_on_a_limited_number_of_panels(mu):
    """An array of terabytes was asked for."""
    law = SymmetrisedGaussianLaw(mu, 0.5)
    for span in (Span(1.5, 2.0, 0.0), Span(2.0, 1e9, 0.0)):
        with np.errstate(all="ignore"):
            assert law.sketched(span).panels.left.size <= _LONGEST + 1
