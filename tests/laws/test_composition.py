"""⊗ is a commutative monoid with Id as its unit (Dong, Roth and Su, 2022, section 3)."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from laws.examples import class_of
from neyman.curves import TradeOff, approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter, UnsupportedComposition

HALF = np.array([0.2, 0.5, 1.3, 0.5 + 1j])


def tried(compose):
    """Return the composition, or None where it is refused."""
    try:
        return compose()
    except UnsupportedComposition:
        return None


@pytest.mark.shows("S1.19")
def test_commutative(curve, everything):
    for other in everything:
        assert tried(lambda other=other: curve @ other) == tried(lambda other=other: other @ curve)


@pytest.mark.shows("S1.19")
def test_associative(curve, everything):
    for second in everything:
        for third in everything:
            left = tried(lambda g=second, h=third: (curve @ g) @ h)
            right = tried(lambda g=second, h=third: curve @ (g @ h))
            assert left == right


@pytest.mark.shows("S1.19", "e1.1")
def test_the_identity_is_the_unit(curve):
    assert curve @ identity() == identity() @ curve == curve
    assert curve**0 == identity()
    assert curve**1 == curve


@pytest.mark.shows("S1.20", "e1.2")
@pytest.mark.parametrize("times", [2, 3, 7])
def test_powers_are_loops(curve, times):
    power = tried(lambda: curve**times)
    loop = curve
    for _ in range(times - 1):
        loop = None if loop is None else tried(lambda loop=loop: loop @ curve)
    assert power == loop
    if power is not None:
        assert (curve**2) ** times == curve ** (2 * times)


@pytest.mark.shows("S1.19")
def test_swap_goes_through(curve, everything):
    for other in everything:
        both = tried(lambda other=other: curve @ other)
        if both is not None:
            assert both.swap() == curve.swap() @ other.swap()


def test_cumulants_add(curve, everything):
    for other in everything:
        both = tried(lambda other=other: curve @ other)
        if both is not None:
            for part in ("remove", "add"):
                f, g, h = (getattr(x, part).cumulant(HALF) for x in (curve, other, both))
                assert np.allclose(f + g, h, rtol=1e-12, atol=1e-12)


def wins_by_composing(one, other, views):
    """Return the views by which the composition is more private than one of its parts."""
    both = tried(lambda: one @ other)
    if both is None or not both.certified:
        return []
    wrong = []
    if "delta" in views:
        alone = max(f.delta(0.3, bracket=True).lower for f in (one, other))
        wrong += ["delta"] if both.delta(0.3) < alone else []
    # The hull of two directions is asked in tests/laws/test_shape.py; it takes long.
    if "beta" in views and both.remove == both.add:
        alone = min(f.beta(0.1, bracket=True).upper for f in (one, other))
        wrong += ["beta"] if both.beta(0.1) > alone else []
    return wrong


@pytest.mark.shows("S1.19")
def test_composition_costs(curve, couples):
    """Every curve beside every class; beta, which takes longer, once for two classes."""
    first = {frozenset(map(class_of, couple)): couple for couple in reversed(couples)}
    for couple in couples:
        if couple[0] == curve:
            views = ("delta", "beta") if couple in first.values() else ("delta",)
            assert (couple, wins_by_composing(*couple, views)) == (couple, [])


@pytest.mark.soak
def test_composition_costs_for_every_two(curve, everything):
    # Either order is the same: test_commutative. So each two once, held against both.
    for other in everything[everything.index(curve) :]:
        assert (other, wins_by_composing(curve, other, ("delta", "beta"))) == (other, [])


def test_every_curve_meets_every_class(everything, couples):
    met = {(f, class_of(g)) for couple in couples for f, g in (couple, couple[::-1])}
    assert met == set(itertools.product(everything, map(class_of, everything)))
    assert 3 * len(couples) < len(everything) ** 2


@pytest.mark.shows("S1.21")
def test_gaussians_compose_exactly():
    assert gdp(0.1) ** 100 == gdp(1)
    assert gdp(3) @ gdp(4) == gdp(5)
    many = identity()
    for k in range(1, 60):
        many = many @ gdp(Fraction(1, k))
    assert many == gdp(squared=sum(Fraction(1, k * k) for k in range(1, 60)))
    assert (gdp(1) ** 10**9).mu() == pytest.approx(10**4.5)


@pytest.mark.shows("S1.25")
def test_failures_compose_exactly():
    half = approx_dp(0, 0.5)
    assert half @ half == half**2
    assert (half**2).delta(7, bracket=True).upper == pytest.approx(0.75, rel=1e-14)
    assert pure_dp(1) @ approx_dp(0, 1e-6) == approx_dp(1, 1e-6)
    assert (pure_dp(1) @ approx_dp(0, 0.1) @ approx_dp(0, 0.2)).delta(1) == pytest.approx(0.28)
    lower, upper = (approx_dp(0, 1e-9) ** 10**9).delta(1, bracket=True)
    assert lower <= 1 - np.exp(-1) * (1 - 5e-10) <= upper * (1 + 1e-15)


@pytest.mark.shows("S1.25")
def test_randomized_response_with_failure_is_the_product_of_the_two():
    """(P x P') by its atoms: the betrayed, and the rest at losses 1 and -1."""
    kept, flipped = np.e / (1 + np.e), 1 / (1 + np.e)
    for x in (-2.0, -0.5, 0.0, 0.7):
        rest = max(kept - np.exp(x) * flipped, 0) + max(flipped - np.exp(x) * kept, 0)
        assert approx_dp(1, 0.25).delta(x) == pytest.approx(0.25 + 0.75 * rest, rel=1e-13)


@pytest.mark.parametrize("times", [-1, 1.5, 2.0, True, "2", None])
def test_powers_count_whole_releases(times):
    with pytest.raises(InvalidParameter, match="must be an int of at least 0; got"):
        gdp(1) ** times


def test_powers_of_numpy_are_ints():
    assert gdp(1) ** np.int64(4) == gdp(2)


@pytest.mark.parametrize("other", [3, "gdp(1)", None, gdp(1).remove])
def test_only_guarantees_compose(other):
    with pytest.raises(TypeError):
        gdp(1) @ other


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        (laplace(1) ** 2, (laplace(1), laplace(1))),
        (pure_dp(1) @ pure_dp(0.5), (pure_dp(1), pure_dp(0.5))),
        (gdp(1) @ laplace(1), (gdp(1), laplace(1))),
        (approx_dp(1, 0.1) ** 2, (approx_dp(1, 0.1), approx_dp(1, 0.1))),
    ],
    ids=str,
)
def test_a_composition_lies_between_its_parts_and_their_sum(whole, parts):
    grid = np.linspace(-3, 3, 13)
    both = np.maximum(*(part.delta(grid, bracket=True).lower for part in parts))
    assert np.all(whole.delta(grid) >= both)
    bound = gdp(parts[0].mu(slack=0.2)) @ gdp(parts[1].mu(slack=0.2)) @ approx_dp(0, 0.2) ** 2
    assert np.all(whole.delta(grid, bracket=True).lower <= bound.delta(grid))


def test_what_grows_out_of_range_is_refused():
    with pytest.raises(InvalidParameter, match="outside"):
        gdp(10**150) ** 10**10
    with pytest.raises(InvalidParameter, match=r"outside|fewer digits"):
        approx_dp(0, 0.1) ** 10**5000


@pytest.mark.shows("S1.9", "e1.10")
def test_symmetrize(leaf):
    assert gdp(1).symmetrize() == gdp(1)
    both_ways = TradeOff(leaf, leaf.swap())
    assert both_ways.symmetrize() == both_ways
    one_way = TradeOff(leaf, leaf).symmetrize()
    assert one_way.symmetric
    assert one_way.symmetrize() == one_way
    alpha = np.linspace(0, 1, 21)
    larger = np.maximum(*(pair.beta_bracket(alpha).lower for pair in (leaf, leaf.swap())))
    assert np.allclose(one_way.beta(alpha), larger, rtol=0, atol=1e-9)
