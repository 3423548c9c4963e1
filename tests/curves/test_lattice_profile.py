"""Tables of composed losses: what is read short, with noise, or lies at infinity."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import approx_dp, chain, gdp, pure_dp
from neyman.curves._solvers._sources import atom_source
from neyman.numerics import ULP, Interval
from neyman.numerics._atomic._rounding import sampled_atoms
from neyman.numerics._atomic._tail_table import log_some
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._sum import LatticeSum


def read(pair, noise=0.0):
    """Return what a grid reads of a pair: both directions, as wide as the noise says."""
    draw = np.random.default_rng(7)

    def both(losses):
        found = pair.log_delta_bracket(losses), pair.swap().log_delta_bracket(-losses)
        off = [noise * draw.random(losses.shape) * (np.abs(losses) > 0.3) for _ in range(2)]
        first, second = (
            Interval(b.lower - x, np.minimum(b.upper + x, 0.0))
            for b, x in zip(found, off, strict=True)
        )
        return first, second

    return both


def composed(pair, times, reach, noise=0.0):
    """Return bounds of log delta by the laws that a profile is read to, and composed."""
    q, p = (max(log + 1e-9, -690.0) for log in pair.log_singular)
    found = sampled_atoms(read(pair, noise), Fraction(1, 20), reach, (q, p))
    part = Part(atom_source(found.outer), atom_source(found.inner), times)
    return LatticeSum((part,)).profile(1)


@pytest.mark.parametrize(
    "lost",
    # Below what 1 - (1 - lost) leaves of a double, and below any square of it.
    ["1e-17", *(pytest.param(x, marks=pytest.mark.soak) for x in ("1e-13", "1e-20", "1e-90"))],
)
def test_what_is_at_infinity_is_kept_however_little(lost):
    pair = chain(approx_dp(1, Fraction(lost)), pure_dp(1)).remove
    for times in (1, 3):
        found = composed(pair, times, 40.0).log_delta(np.asarray(30.0))
        assert np.exp(found.upper) >= times * float(lost) * (1 - 1e-6)


@pytest.mark.parametrize("reach", [0.5, 0.7, 0.9])
def test_a_short_table_bounds_what_is_beyond(reach):
    """Of a mass below 2^-53 nothing was left by 1 - (1 - mass)."""
    at = np.asarray([0.0, 0.7, 1.0, 1.7, 3.0])
    for times in (1, 2, 20):
        bounds = composed(gdp(0.1).remove, times, reach).log_delta(at)
        exact = (gdp(0.1) ** times).remove.log_delta_bracket(at)
        assert np.all(bounds.upper >= exact.lower)
        assert np.all(bounds.lower <= exact.upper)


@pytest.mark.parametrize("log", [-1e-9, -0.3, -0.6, -20.0, -36.5, -45.0, -300.0, -759.0])
def test_the_union_of_rare_events(log):
    for parts, true in (
        ([(log, 1)], log),
        ([(log, 1), (log, 1)], log + np.log(2 - np.exp(log))),
        ([(log, 2), (-np.inf, 5)], log + np.log(2 - np.exp(log))),
    ):
        found = log_some(parts)
        room = 4 * ULP * (1 + abs(true))
        assert found.lower[0] - room <= true <= found.upper[0] + room
        assert found.upper[0] - found.lower[0] < 1e-13 * (1 - log)


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("reach", [0.5, 6.0])
@pytest.mark.parametrize("noise", [1e-9, 1e-4, 3.0, 50.0])
def test_wide_brackets_compose_to_brackets(noise, reach, times):
    """A profile from above that rises, or is 1 at the ends, still makes one law."""
    exact, at = (gdp(0.3) ** times).remove, np.linspace(0.0, 5.0, 26)
    for pair in (gdp(0.3).remove, gdp(0.3).remove.swap()):
        found, true = composed(pair, times, reach, noise).log_delta(at), exact.log_delta_bracket(at)
        assert np.all(found.lower <= true.upper)
        assert np.all(true.lower <= found.upper)


@pytest.mark.parametrize("lean", [1e-12, 1e-6, 1e-3, 0.03])
def test_a_profile_that_is_known_less_well_on_one_side_of_0_has_a_law_of_mass_1(lean):
    """The upper bound right of 0 begins above the chord over 0, and is no convex function."""
    pair = gdp(1).remove

    def both(losses):
        found = pair.log_delta_bracket(losses), pair.swap().log_delta_bracket(-losses)
        high = found[0].upper + lean * np.exp(-((5 * losses) ** 2))
        return Interval(found[0].lower, np.minimum(high, 0.0)), found[1]

    found = sampled_atoms(both, Fraction(1, 100), 40.0, (-690.0, -690.0))
    whole = np.exp(found.outer.log_p)
    assert (
        float(np.sum(whole * (1 + np.minimum(found.outer.relative_error, 1)))) < 1 + 2 * lean + 1e-9
    )
    at = np.linspace(0, 3, 7)
    bounds = LatticeSum((Part(atom_source(found.outer), atom_source(found.inner), 1),)).profile(1)
    bounds, exact = bounds.log_delta(at), pair.log_delta_bracket(at)
    assert np.all(bounds.upper >= exact.lower)
    assert np.all(bounds.upper <= exact.upper + 2 * lean + 1e-3)
