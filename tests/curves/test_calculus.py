"""Samples of a fixed size, distances, areas, and what is refused as a curve."""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from neyman.curves import (
    TradeOff,
    approx_dp,
    chain,
    compare,
    densities,
    discrete,
    gaussian_report,
    gdp,
    identity,
    laplace,
    levy_distance,
    of_curve,
    of_profile,
    piecewise,
    poisson,
    pure_dp,
    read,
    roc_area,
    subsample,
    sup_distance,
    symmetric_hull,
    worst,
)
from neyman.curves._profiles._hull import hull_test
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Interval
from neyman.numerics._convex_cells import area_under, most_above

GRID = np.concatenate([np.linspace(0, 0.01, 2001), np.linspace(0.01, 1, 4001)[1:]])
PLACES = np.linspace(0, 1, 9)
# One-way: not its own inverse, and its mirror image crosses it.
ONE_WAY = piecewise([0, 0.2, 1], [0.95, 0.6, 0])


# -- samples of a fixed size ----------------------------------------------------------------------


def by_hand(f, share):
    """Return delta of min(f_p, f_p^-1)** at some epsilon, by points of f on a grid."""
    beta = f.beta(GRID)
    mixed = share * beta + (1 - share) * (1 - GRID)
    odds = np.exp(EPSILON)[:, None]
    one, other = 1 - mixed - odds * GRID, 1 - GRID - odds * mixed
    return np.maximum(np.max(one, axis=1), np.max(other, axis=1))


EPSILON = np.asarray([0.0, 0.1, 0.3, 1.0])


@pytest.mark.shows("e1.14")
@pytest.mark.parametrize(
    ("f", "larger"),
    [
        (gdp(1), gdp(1)),
        (approx_dp(1, 0.01), approx_dp(1, 0.01)),
        (worst(gdp(1), laplace(2)), worst(gdp(1), laplace(2))),
        # For all ordered neighbours: the larger of the curve and its inverse is sampled.
        (ONE_WAY, ONE_WAY.symmetrize()),
        # Of two directions known apart, the hull of the smaller.
        (
            TradeOff(ONE_WAY.remove, ONE_WAY.remove.swap()),
            symmetric_hull(TradeOff(ONE_WAY.remove, ONE_WAY.remove.swap())),
        ),
    ],
    ids=["gaussian", "approximate", "worst", "ordered", "directions"],
)
def test_a_sample_is_the_hull_of_the_smaller(f, larger):
    found = subsample(f, 0.3)
    delta = found.delta(EPSILON, bracket=True)
    known = by_hand(larger, 0.3)
    assert np.all(known <= delta.upper + 1e-12)
    assert np.all(delta.lower <= known + 5e-4)
    assert np.all(delta.upper - delta.lower <= 1e-6)
    # The hull is the conjugate of delta, and symmetric.
    beta = found.beta(PLACES, bracket=True)
    lines = 1 - found.delta(np.linspace(-4, 4, 801))[:, None]
    support = np.max(lines - np.exp(np.linspace(-4, 4, 801))[:, None] * PLACES, axis=0)
    assert np.all(support <= beta.upper + 1e-9)
    assert np.all(beta.lower <= np.maximum(support, 0) + 5e-3)
    assert found.symmetric
    assert found.remove == found.add
    assert found.remove.neighbors == "replace_one"
    assert read(json.dumps(found.to_json())) == found


def test_sampling_never_hurts_and_ends_at_the_curve():
    for f in (gdp(1), laplace(2), ONE_WAY.symmetrize()):
        wide, narrow = subsample(f, 0.5), subsample(f, 0.1)
        assert np.all(narrow.delta(EPSILON) <= wide.delta(EPSILON))
        assert np.all(wide.delta(EPSILON) <= f.delta(EPSILON))
    assert subsample(gdp(1), 1) == gdp(1)
    assert subsample(gdp(1), 0) == subsample(identity(), 0.5) == identity()
    bound = math.log(1 + 0.5 * (math.e**2 - 1))
    assert subsample(laplace(2), 0.5).epsilon(0) == pytest.approx(bound, rel=1e-12)


def test_samples_of_any_curve_compose():
    step = subsample(ONE_WAY, Fraction(3, 10))
    one, ten = step.delta(0), (step**10).delta(0, bracket=True)
    assert one < ten.lower <= ten.upper < 10 * one
    assert step**2 @ step == step**3


def test_samples_that_can_fail_spend_in_proportion():
    """No more than alpha / (1 - q) is gained, seen from with the unit."""
    pair = poisson(approx_dp(1, Fraction(1, 100)), Fraction(3, 10)).add
    at = np.asarray([0.0, 1e-9, 1e-3, 0.00699, 0.00701, 0.05])
    tpr, beta = pair.tpr_bracket(at), pair.beta_bracket(at)
    known = at[:4] / 0.7
    assert np.all(tpr.lower[:4] <= known)
    assert np.all(known <= tpr.upper[:4])
    assert np.all(tpr.upper - tpr.lower <= 1e-12)
    assert np.all(beta.lower[:4] <= 1 - known)
    assert np.all(1 - known <= beta.upper[:4])
    assert np.all(beta.lower + tpr.lower <= 1)
    assert np.all(beta.upper + tpr.upper >= 1)
    assert 0.01 < tpr.lower[4] < 0.01003


def test_a_sample_is_for_one_record_replaced():
    with pytest.raises(RelationMismatch, match="'add_remove'"):
        subsample(poisson(gdp(1), 0.1), 0.5)
    with pytest.raises(InvalidParameter, match=r"share=1.5 leaves \[0, 1\]"):
        subsample(gdp(1), 1.5)
    base = gdp(1) @ pure_dp(1)
    assert read(json.dumps(poisson(base, 0.1).to_json())) == poisson(base, 0.1)


# -- distances ------------------------------------------------------------------------------------


CURVES = [gdp(1), laplace(1), pure_dp(1), approx_dp(0.5, 0.1), gdp(0.3), identity(), gdp(6)]


def shift_by_hand(f, g):
    """Return the smallest t with f(x + t) - t <= g(x), by halving on a grid."""
    low, high = 0.0, 1.0
    beta = g.beta(GRID)
    for _ in range(30):
        t = (low + high) / 2
        moved = np.where(GRID + t <= 1, f.beta(np.minimum(GRID + t, 1.0)), 0.0) - t
        low, high = (low, t) if np.all(moved <= beta + 1e-13) else (t, high)
    return high


@pytest.mark.parametrize("f", CURVES, ids=str)
def test_no_curve_is_away_from_itself(f):
    assert levy_distance(f, f).value == sup_distance(f, f).value == 0


# Every two of which one is among the first four; each is seen from the other, too.
@pytest.mark.parametrize(
    ("f", "g"), [(f, g) for f, g in combinations(CURVES, 2) if f in CURVES[:4]], ids=str
)
def test_distances_are_those_of_their_definitions(f, g):
    levy, sup = levy_distance(f, g), sup_distance(f, g)
    seen = max(shift_by_hand(f, g), shift_by_hand(g, f))
    assert seen <= levy.upper + 2e-9
    assert levy.lower <= seen + 5e-4
    assert levy.upper - levy.lower <= 1e-9
    gap = np.max(np.abs(f.beta(GRID) - g.beta(GRID)))
    assert gap <= sup.upper + 1e-12
    assert sup.lower <= gap + 5e-3
    assert sup.upper - sup.lower <= 1e-9
    # A shift moves a falling curve by no more than it moves the plane.
    assert levy.value <= sup.value + 1e-12
    for distance in (levy_distance, sup_distance):
        assert distance(g, f).value == pytest.approx(distance(f, g).value, abs=1e-12)


def test_distances_are_metric():
    for distance in (levy_distance, sup_distance):
        a, b, c = (
            distance(f, g)
            for f, g in [(gdp(1), laplace(1)), (laplace(1), pure_dp(1)), (gdp(1), pure_dp(1))]
        )
        assert c.lower <= a.upper + b.upper


def test_distances_of_directions():
    """A one-way curve is as far from its inverse one way as the other."""
    f = ONE_WAY.remove
    found = levy_distance(f, f.swap())
    seen = max(shift_by_hand(ONE_WAY, ONE_WAY.swap()), shift_by_hand(ONE_WAY.swap(), ONE_WAY))
    assert seen <= found.upper + 2e-9
    assert found.lower <= seen + 5e-4


def test_equal_curves_of_unlike_form_are_not_told_apart():
    one, other = gdp(1), chain(gdp(0.4), gdp(0.6))
    found = levy_distance(one, other)
    assert found.lower <= 1e-12
    assert found.upper <= 1e-6


@pytest.mark.shows("S0.5")
def test_areas():
    assert roc_area(identity()).value == pytest.approx(0.5, abs=1e-12)
    for mu in (0.1, 1, 3):
        known = math.erfc(-mu / 2) / 2
        found = roc_area(gdp(mu))
        assert found.lower <= known <= found.upper
        assert found.upper - found.lower <= 1e-5
    # f_{epsilon,delta}: two triangles.
    found = roc_area(pure_dp(1))
    assert found.lower <= math.e / (1 + math.e) <= found.upper + 1e-15
    lost = 0.1
    both = roc_area(pure_dp(1) @ approx_dp(0, lost))
    known = 1 - (1 - lost) ** 2 * (1 - math.e / (1 + math.e))
    assert both.lower <= known <= both.upper + 1e-15


@pytest.mark.shows("e0.5")
def test_one_area_orders_nothing():
    """Two curves of about one area that cross."""
    f, g = pure_dp(1), gdp(math.sqrt(2) * 0.6166)
    assert roc_area(f).value == pytest.approx(roc_area(g).value, abs=2e-3)
    assert compare(f, g).crossing
    assert not f.implies(g)
    assert not g.implies(f)


def test_cells_bracket_known_integrals_and_differences():
    places = np.linspace(0, 1, 5)

    def square(z):
        return Interval((1 - z) ** 2, (1 - z) ** 2)

    def line(z):
        return Interval(1 - z, 1 - z)

    area = area_under(square, places)
    assert area.lower <= 1 / 3 <= area.upper <= area.lower * (1 + 2e-6)
    found = most_above(line, square, (1.0, 0.0), places)
    assert found.lower <= 0.25 <= found.upper <= found.lower + 1e-9
    # (z - z^2)/(2 - z) is largest at 2 - sqrt 2.
    found = most_above(line, square, (2.0, -1.0), places)
    assert found.lower <= 3 - 2 * math.sqrt(2) <= found.upper <= found.lower + 1e-9
    assert most_above(square, line, (1.0, 0.0), places).upper <= 1e-11


def test_the_area_of_two_outcomes():
    found = roc_area(discrete([0.5, 0.5], [0.25, 0.75]).remove)
    assert found.lower <= 0.625 <= found.upper <= found.lower + 1e-6


def test_without_a_proof_it_is_an_estimate():
    halves = np.log([0.5, 1.5])
    f = densities(
        lambda x: 0 * x, lambda x: halves[(x >= 0.5).astype(int)], low=0, high=1, kinks=(0.5,)
    )
    found = roc_area(f)
    assert found.method == "estimate"
    assert found.value == pytest.approx(0.65625, abs=1e-6)
    assert roc_area(discrete([0.5, 0.5], [0.25, 0.75])).value == pytest.approx(0.65625, abs=1e-6)


# -- the order ------------------------------------------------------------------------------------


def test_crossing_curves_are_above_and_below():
    found = compare(pure_dp(1), gdp(1))
    assert found.crossing
    assert (found.at_least, found.at_most) == (False, False)
    back = compare(gdp(1), pure_dp(1))
    assert back.above.value == found.below.value
    assert back.below.value == found.above.value
    assert levy_distance(gdp(1), pure_dp(1)).value == max(found.above.value, found.below.value)


@pytest.mark.shows("S0.5")
@pytest.mark.parametrize(
    ("f", "g"),
    [(gdp(1), gdp(2)), (laplace(1), pure_dp(1)), (identity(), gdp(1)), (gdp(1), gdp(1))],
    ids=str,
)
def test_the_order_is_told_both_ways(f, g):
    one, other = compare(f, g), compare(g, f)
    assert (one.at_least, other.at_most) == (True, True)
    assert one.at_most == other.at_least == (f == g)
    assert one.below.value == 0
    assert not one.crossing
    assert (one.above.lower > 0) == (f != g)


# -- a Gaussian as what is told -------------------------------------------------------------------


def test_regret_is_how_much_more_private_it_is():
    for f in (pure_dp(1), laplace(2), approx_dp(0.5, 0)):
        report = gaussian_report(f)
        assert report.mu == f.mu()
        seen = shift_by_hand(f, gdp(report.mu))
        assert seen <= report.regret.upper + 2e-9
        assert report.regret.lower <= seen + 5e-4
    assert gaussian_report(gdp(1)).regret.value == 0
    assert gaussian_report(identity()).regret.value == 0


def test_subsampled_gradients_have_a_small_regret_with_slack():
    """16384 of 50000 records in 2000 steps of noise 9.4; published, with a cut: 1.5686, 0.0010."""
    run = poisson(gdp(Fraction(10, 94)), Fraction(2**14, 50_000)) ** 2000
    report = gaussian_report(run, slack=1e-10)
    assert report.mu == pytest.approx(1.5673, abs=1e-4)
    assert report.regret.value == pytest.approx(0.00107, abs=1e-5)
    assert report.regret.lower >= report.regret.value * (1 - 1e-6)


def test_without_a_gaussian_below_a_slack_is_asked_for():
    with pytest.raises(
        InvalidParameter, match=r"must have a Gaussian curve below it; got .*Write a slack"
    ):
        gaussian_report(approx_dp(1, 1e-6))
    report = gaussian_report(approx_dp(1, 1e-6), slack=1e-6)
    assert report.mu == pytest.approx(pure_dp(1).mu(), rel=1e-6)


# -- what is no trade-off function ----------------------------------------------------------------


ALPHAS = [k / 8 for k in range(9)]


@pytest.mark.parametrize(
    ("beta", "words"),
    [
        (lambda a: 1.2 - a, r"beta\(0\) = 1.2.*leaves \[0, 1\]"),
        (lambda a: 1 - a * a, r"beta\(0.125\).*above 1 - alpha"),
        (lambda a: 0.2 if a in (0, 0.5) else 0.1, r"beta\(0.5\) = 0.2.*it increases"),
        (lambda a: 0.5 * (a < 0.5), r"beta\(0.375\).*not convex"),
        (lambda _: math.nan, "beta"),
    ],
)
def test_functions_that_are_no_curve_are_refused(beta, words):
    with pytest.raises(InvalidParameter, match=words):
        of_curve(beta, alphas=ALPHAS, error=1e-12)


def test_what_the_error_explains_is_repaired():
    wave = of_curve(lambda a: (1 - a) * 0.5 + 1e-3 * (a == 0.5), alphas=ALPHAS, error=1e-3)
    assert np.all(wave.beta(GRID) <= 0.5 * (1 - GRID) + 1e-3)
    with pytest.raises(InvalidParameter, match=r"beta\(0.5\).*not convex"):
        of_curve(lambda a: (1 - a) * 0.5 + 1e-3 * (a == 0.5), alphas=ALPHAS, error=1e-4)


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (lambda _: 1.5, r"delta\(0\) = 1.5.*no probability"),
        (lambda _: -0.1, r"delta\(0\) = -0.1.*no probability"),
        (lambda e: 0.1 + e / 100, r"delta\(0.5\).*it increases"),
        (lambda e: 0.3 if e < 0.8 else 0.1, r"delta\(0.5\).*neighbours in e\^epsilon"),
    ],
)
def test_functions_that_are_no_profile_are_refused(delta, words):
    with pytest.raises(InvalidParameter, match=words):
        of_profile(delta, epsilons=[0, 0.5, 1, 1.5], relative_error=1e-9)


def test_known_curves_and_profiles_are_let_through():
    for f in (gdp(1), laplace(1), approx_dp(1, 0.01), gdp(1) @ pure_dp(1)):
        of_curve(f.beta, alphas=[k / 64 for k in range(65)], error=1e-9)
        of_profile(f.delta, epsilons=[k / 16 for k in range(80)], relative_error=1e-6)
        of_profile(f.delta, epsilons=[2, 0, 1], relative_error=1e-6)


def test_a_hull_of_few_seldom_samples_holds_where_one_direction_tells_nothing():
    """The contour of removing finds no tail at 0; that is no proof that alpha lies beyond it."""
    f = poisson(gdp(1), 1e-4) ** 10
    alpha = np.array([0.49, 0.7, 0.9])
    found = hull_test(f.remove, f.add, alpha)
    assert found is not None
    for bracket in found:
        assert np.all(bracket.lower <= bracket.upper)
    missed, power = found
    np.testing.assert_allclose(power.lower + missed.upper, 1, rtol=1e-12)
    assert np.all(power.lower <= alpha + f.advantage(bracket=True).upper)
    assert np.all(power.upper >= f.add.tpr_bracket(alpha).lower)
