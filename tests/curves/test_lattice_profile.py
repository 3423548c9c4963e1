"""Tables of composed losses: what is read short, with noise, or lies at infinity."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import approx_dp, chain, gdp, pure_dp
from neyman.curves._profiles._profile import LatticeProfile, _both, _log_some
from neyman.numerics import ULP, Bracket
from neyman.numerics._atomic._rounding import sampled_atoms


@pytest.mark.parametrize("lost", ["1e-13", "1e-17", "1e-20", "1e-90"])
def test_what_is_at_infinity_is_kept_however_little(lost):
    pair = chain(approx_dp(1, Fraction(lost)), pure_dp(1)).remove
    for times in (1, 3):
        found = LatticeProfile.sampled(((pair, times),), Fraction(1, 20), 40.0)
        assert found is not None
        assert found.delta_bracket(np.asarray(30.0)).upper >= times * float(lost) * (1 - 1e-6)


@pytest.mark.parametrize("reach", [0.5, 0.7, 0.9])
def test_a_short_table_bounds_what_is_beyond(reach):
    """Of a mass below 2^-53 nothing was left by 1 - (1 - mass)."""
    at = np.asarray([0.0, 0.7, 1.0, 1.7, 3.0])
    for times in (1, 2, 20):
        found = LatticeProfile.sampled(((gdp(0.1).remove, times),), Fraction(1, 20), reach)
        exact = (gdp(0.1) ** times).remove.log_delta_bracket(at)
        assert found is not None
        bounds = found.log_delta_bracket(at)
        assert np.all(bounds.upper >= exact.lower)
        assert np.all(bounds.lower <= exact.upper)


@pytest.mark.parametrize("log", [-1e-9, -0.3, -0.6, -20.0, -36.5, -45.0, -300.0, -759.0])
def test_the_union_of_rare_events(log):
    for parts, true in (
        ([(log, 1)], log),
        ([(log, 1), (log, 1)], log + np.log(2 - np.exp(log))),
        ([(log, 2), (-np.inf, 5)], log + np.log(2 - np.exp(log))),
    ):
        found = _log_some(parts)
        room = 4 * ULP * (1 + abs(true))
        assert found.lower[0] - room <= true <= found.upper[0] + room
        assert found.upper[0] - found.lower[0] < 1e-13 * (1 - log)


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("reach", [0.5, 6.0])
@pytest.mark.parametrize("noise", [1e-9, 1e-4, 3.0, 50.0])
def test_wide_brackets_compose_to_brackets(noise, reach, times):
    """A profile from above that rises, or is 1 at the ends, still makes one law."""
    pair, exact = gdp(0.3).remove, (gdp(0.3) ** times).remove
    draw = np.random.default_rng(7)

    def read(losses):
        found = pair.log_delta_bracket(losses), pair.swap().log_delta_bracket(-losses)
        off = [noise * draw.random(losses.shape) * (np.abs(losses) > 0.3) for _ in range(2)]
        first, second = (
            Bracket(b.lower - x, np.minimum(b.upper + x, 0.0))
            for b, x in zip(found, off, strict=True)
        )
        return first, second

    composed = _both([(sampled_atoms(read, Fraction(1, 20), reach), times)])
    assert composed is not None
    at = np.linspace(-3.0, 5.0, 41)
    alpha = np.asarray([1e-12, 1e-6, 0.01, 0.2, 0.5, 0.9])
    for view, place in (("log_delta_bracket", at), ("beta_bracket", alpha)):
        found, true = getattr(composed, view)(place), getattr(exact, view)(place)
        assert np.all(found.lower <= true.upper)
        assert np.all(true.lower <= found.upper)
