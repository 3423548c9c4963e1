"""Statements about Gaussian differential privacy that are often made, and false or short of a word.

One test each: what is refused, or what is true instead.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman.accounting import (
    central_limit,
    central_limit_band,
    classic_gaussian_sigma,
    functionals,
    without_replacement,
)
from neyman.curves import (
    TradeOff,
    approx_dp,
    chain,
    compare,
    gdp,
    identity,
    laplace,
    piecewise,
    poisson,
    pure_dp,
    roc_area,
    sup_distance,
    symmetric_hull,
)
from neyman.errors import InvalidParameter, NeymanError
from neyman.sensitivity import Sensitivity

AT = np.linspace(0, 1, 21)


# -- the sensitivity of Gaussian noise is that of the Euclidean norm ------------------------------


def test_gaussian_noise_asks_for_the_euclidean_norm():
    """Of four coordinates that move by 1 each l1 is 4 and l2 is 2: mu is 2/sigma."""
    moves = Sensitivity(neighbors="add_remove", l1=4, l2_squared=4, coordinates=4, largest=1)
    assert ny.Gaussian(scale=2).tradeoff(moves) == gdp(1)


# -- what a trade-off function is -----------------------------------------------------------------


def test_not_increasing_follows_and_continuity_is_asked_at_0():
    with pytest.raises(InvalidParameter, match="continuous, at 0 too"):
        piecewise([0, 0, 1], [1, 0.5, 0])
    # f(0) < 1 is no jump: what is lost there betrays the dataset.
    assert piecewise([0, 1], [0.5, 0]).delta(20) == pytest.approx(0.5, rel=1e-12)


def test_gdp_is_a_bound_not_a_normal_law():
    """Laplace noise is GDP too, and its curve is no Gaussian's."""
    below = gdp(squared=laplace(1).outer_gaussian())
    assert laplace(1).implies(below)
    assert not below.implies(laplace(1))


def test_areas_do_not_order_and_curves_cross():
    found = compare(pure_dp(1), gdp(1))
    assert found.crossing
    assert roc_area(pure_dp(1)).value < roc_area(gdp(1)).value
    assert not pure_dp(1).implies(gdp(1))


def test_a_relation_is_part_of_what_is_proved():
    with pytest.raises(NeymanError, match="neighbors"):
        _ = poisson(gdp(1), 0.1) @ without_replacement(gdp(1), records=10, batch=1).curve


def test_groups_of_unlike_curves():
    """T(P, R) >= g(1 - f): not named where groups are said to be 1 - (1 - f)^k."""
    f, g = gdp(0.5), laplace(1)
    known = g.beta(1 - f.beta(AT))
    assert chain(f, g).remove.beta_bracket(AT).lower == pytest.approx(known, abs=1e-12)


# -- composition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [gdp(1), approx_dp(1, 0.1), poisson(gdp(1), 0.1)], ids=str)
def test_the_identity_composes_to_f_itself(f):
    assert f @ identity() == identity() @ f == f


def test_symmetric_curves_may_have_infinite_moments():
    f = approx_dp(0, 1e-9)
    assert f.symmetric
    assert functionals(f.remove).kappa3.lower == math.inf
    # So f_{0,delta} is factored out before the theorem is applied.
    assert central_limit_band([(approx_dp(0.1, 1e-9), 100)]).failure[0] > 9e-8


def test_the_limit_needs_that_no_step_counts():
    """One large step among many: largest kl and the sum of kappa3 do not vanish, nor the error."""
    small = [(pure_dp(0.01), 100)]
    even, uneven = central_limit(small), central_limit([*small, (pure_dp(4), 1)])
    assert even.largest_kl < 1e-4
    assert even.kappa3 < 1e-3
    assert uneven.largest_kl > 3
    assert uneven.kappa3 > 60
    exact = pure_dp(0.01) ** 100 @ pure_dp(4)
    assert sup_distance(exact, gdp(uneven.mu.value)).lower > 0.05
    with pytest.raises(InvalidParameter, match="not below 1/2"):
        central_limit_band([(pure_dp(4), 1)])


def test_the_limit_is_no_bound():
    """f_{0.1,0}^100 is 0.00125 from G_1, above and below; the band is 38 times as wide."""
    exact = pure_dp(0.1) ** 100
    found = sup_distance(exact, gdp(1))
    assert found.value == pytest.approx(0.00125, rel=0.01)
    assert compare(exact, gdp(1)).crossing
    assert central_limit_band([(pure_dp(0.1), 100)]).gamma > 37 * found.value
    mu = central_limit([(pure_dp(0.1), 100)]).mu.value
    assert sup_distance(exact, gdp(mu)).value == pytest.approx(0.0014, rel=0.02)


# -- divergences and conversions ------------------------------------------------------------------


def test_pure_dp_is_the_largest_loss_and_not_kullback_leibler():
    f = pure_dp(1)
    assert f.renyi(np.inf) == pytest.approx(1, rel=1e-12)
    assert f.renyi(1) == pytest.approx(math.tanh(0.5), rel=1e-9)
    # A small divergence of Kullback and Leibler leaves no epsilon.
    assert gdp(0.1).renyi(1) < 0.006
    assert gdp(0.1).epsilon(0) == math.inf


def test_one_point_of_the_profile_is_no_gaussian():
    """mu-GDP is (epsilon, delta(epsilon)) for every epsilon; one point gives no mu."""
    point = approx_dp(1, gdp(1).delta(1))
    assert gdp(1).implies(point)
    assert not point.implies(gdp(1))
    assert point.mu() == math.inf


def test_vectors_move_by_their_norm():
    """T(N(v, s^2 I), N(w, s^2 I)) = G_(|v - w|/s)."""
    moves = Sensitivity(neighbors="add_remove", l1=7, l2_squared=25, coordinates=2, largest=4)
    assert ny.Gaussian(scale=5).tradeoff(moves) == gdp(1)


def test_the_classic_formula_is_refused_where_it_is_false():
    assert classic_gaussian_sigma(0.5, 1e-5, 1) > 1 / gdp_of(0.5, 1e-5)
    with pytest.raises(InvalidParameter):
        classic_gaussian_sigma(10, 1e-5, 1)


def gdp_of(epsilon, delta):
    """Return the mu of a point, by halving."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gdp(middle).delta(epsilon) <= delta else (low, middle)
    return low


# -- the two symmetrisations ----------------------------------------------------------------------


def test_the_two_symmetrisations_go_in_opposite_directions():
    f = piecewise([0, 0.2, 1], [0.95, 0.6, 0])
    larger, smaller = f.symmetrize(), symmetric_hull(f)
    both = np.stack([f.beta(AT), f.swap().beta(AT)])
    assert np.max(both[0] - both[1]) > 0.01
    assert np.max(both[1] - both[0]) > 0.01
    assert larger.beta(AT) == pytest.approx(np.max(both, axis=0), abs=1e-9)
    assert np.all(smaller.beta(AT) <= np.min(both, axis=0) + 1e-9)
    # The hull is convex where the minimum is not.
    assert np.max(np.min(both, axis=0) - smaller.beta(AT)) > 1e-3
    for found in (larger, smaller):
        assert found.beta(AT) == pytest.approx(found.swap().beta(AT), abs=1e-9)
    assert compare(larger, smaller).above.lower > 0.01
    assert compare(larger, smaller).below.value < 1e-9
    # A guarantee that knows its directions apart is already the hull.
    apart = TradeOff(f.remove, f.remove.swap())
    assert apart.beta(AT) == pytest.approx(smaller.beta(AT), abs=1e-9)


def test_samples_take_the_larger_first_and_the_hull_last():
    f = piecewise([0, 0.2, 1], [0.95, 0.6, 0])
    share = Fraction(1, 2)
    at = AT[::5]
    found = ny.curves.subsample(f, share).beta(at)
    assert np.all(found <= 0.5 * f.symmetrize().beta(at) + 0.5 * (1 - at) + 1e-9)
    assert np.all(found >= ny.curves.subsample(symmetric_hull(f), share).beta(at) - 1e-9)


# -- Laplace noise, total variation, samples ------------------------------------------------------


def test_neither_noise_is_for_a_kind_of_data():
    """Which is better is a matter of norms and tails: it depends on delta, for one statistic."""
    assert laplace(1).epsilon(1e-9) < gdp(1).epsilon(1e-9)
    assert gdp(1).advantage() < laplace(1.2).advantage()


def test_total_variation_is_attained():
    """It is the largest 1 - alpha - f(alpha), a supremum, and no mere upper bound."""
    for f in (gdp(1), laplace(1), pure_dp(1)):
        largest = max(1 - a - f.beta(a) for a in np.linspace(0, 1, 2001))
        assert largest <= f.advantage() <= largest + 1e-4


def test_noisy_gradients_need_samples():
    """Subsampling makes 1000 steps far more private than their composition."""
    assert (poisson(gdp(1), 0.01) ** 1000).epsilon(1e-5) < 2.2
    assert (gdp(1) ** 1000).epsilon(1e-5) > 500
