"""Rényi curves of subsampled mechanisms: never below what is exact, equal where they should be."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from neyman.accounting import (
    DOUBLED_POISSON,
    ODD_MOMENTS,
    moments_delta,
    moments_epsilon,
    poisson_gaussian_rdp,
    poisson_rdp,
    without_replacement,
    without_replacement_rdp,
)
from neyman.accounting._subsampled_rdp import _capped
from neyman.curves import (
    approx_dp,
    gdp,
    identity,
    laplace,
    poisson,
    poisson_replace,
    pure_dp,
    rdp,
    zcdp,
)
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Interval

ORDERS = [2, 3, 5, 8, 17]


def mironov_talwar_zhang(sigma, q, order):
    with mp.workdps(40):
        q, square = mp.mpf(repr(q)), mp.mpf(repr(sigma)) ** 2
        terms = (
            mp.binomial(order, k)
            * (1 - q) ** (order - k)
            * q**k
            * mp.exp(mp.mpf(k * (k - 1)) / (2 * square))
            for k in range(order + 1)
        )
        return mp.log(mp.fsum(terms)) / (order - 1)


@pytest.mark.parametrize(("sigma", "q"), [(1.0, 0.01), (0.6, 0.2), (4.0, 1e-3)])
def test_the_sampled_gaussian_is_the_sum_at_whole_orders(sigma, q):
    step = poisson_gaussian_rdp(noise_multiplier=sigma, sampling_probability=q, orders=ORDERS)
    assert step.neighbors == "add_remove"
    assert step.proved
    for order in ORDERS:
        exact = mironov_talwar_zhang(sigma, q, order)
        found = step.curve.renyi(order)
        assert exact <= found <= exact * (1 + 1e-6)
        # Under the condition, the general formula is that sum too.
        general = poisson_rdp(
            gdp(1 / Fraction(str(sigma))),
            sampling_probability=q,
            orders=[order],
            assume=ODD_MOMENTS,
        )
        assert general.assumptions == (ODD_MOMENTS,)
        assert exact <= general.curve.renyi(order) <= exact * (1 + 1e-6)


def test_between_whole_orders_the_integral_is_below_the_chord():
    step = poisson_gaussian_rdp(noise_multiplier=1, sampling_probability=0.1, orders=[2, 2.5, 3])
    chord = poisson_gaussian_rdp(noise_multiplier=1, sampling_probability=0.1, orders=[2, 3])
    exact = poisson(gdp(1), 0.1).renyi(2.5)
    assert step.curve.renyi(2.5) == pytest.approx(exact, rel=1e-9)
    assert exact < chord.curve.renyi(2.5) < exact * 1.2


@pytest.mark.parametrize("base", [gdp(1), laplace(1), pure_dp(2)], ids=str)
@pytest.mark.parametrize("q", [0.001, 0.1, 0.7])
def test_the_poisson_bound_is_above_the_exact_one(base, q):
    exact = poisson(base, q).renyi_bracket(np.asarray(ORDERS, dtype=float)).lower
    step = poisson_rdp(base, sampling_probability=q, orders=ORDERS)
    assert np.all(step.curve.renyi(ORDERS) >= exact)
    assert np.all(step.curve.renyi(ORDERS) <= base.renyi(ORDERS) * (1 + 1e-9))
    tight = poisson_rdp(base, sampling_probability=q, orders=ORDERS, assume=ODD_MOMENTS)
    # The direction with the record decides, and there the formula is an equality.
    assert np.allclose(tight.curve.renyi(ORDERS), exact, rtol=1e-6)


@pytest.mark.shows("S4.16")
@pytest.mark.parametrize("share", [1, 10, 60])
def test_the_bound_without_replacement_is_above_the_exact_one(share):
    base, orders = gdp(1), np.asarray(ORDERS, dtype=float)
    bound = without_replacement_rdp(base, records=100, batch=share, orders=ORDERS)
    assert bound.neighbors == "replace_one"
    assert bound.proved
    found = bound.curve.renyi(ORDERS)
    exact = without_replacement(base, records=100, batch=share, assume=DOUBLED_POISSON)
    assert np.all(found >= exact.curve.renyi_bracket(orders).lower)
    # One pair that the bound must cover: m records replaced by what moves the sum one way only.
    assert np.all(
        found >= poisson_replace(gdp(0.5), Fraction(share, 100)).renyi_bracket(orders).lower
    )
    assert np.all(found <= base.renyi(ORDERS) * (1 + 1e-9))


def wang_by_hand(order, share, curve, digits=40):
    """The formula in as many digits."""
    with mp.workdps(digits):
        g, top = mp.mpf(share.numerator) / share.denominator, curve.renyi(math.inf)
        grown = mp.expm1(top) if math.isfinite(top) else mp.inf
        total = mp.mpf(1)
        for j in range(2, order + 1):
            d = mp.mpf(curve.renyi(j))
            most = min(mp.mpf(2), grown**j)
            part = mp.exp((j - 1) * d) * most
            if j == 2:
                part = min(4 * mp.expm1(d), part)
            total += g**j * mp.binomial(order, j) * part
        return mp.log(total) / (order - 1)


@pytest.mark.shows("S4.16")
@pytest.mark.parametrize("base", [gdp(1), laplace(0.5), pure_dp(0.1)], ids=str)
@pytest.mark.parametrize("order", [2, 7, 40])
def test_the_formula_without_replacement(base, order):
    share = Fraction(3, 1000)
    found = without_replacement_rdp(base, records=1000, batch=3, orders=[order]).curve.renyi(order)
    exact = min(wang_by_hand(order, share, base), base.renyi(order))
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-9)


def zhu_wang_by_hand(order, q, curve):
    """The general formula in 400 digits, of the divergences as doubles."""
    with mp.workdps(400):
        q = mp.mpf(q.numerator) / q.denominator
        total = (1 - q) ** (order - 1) * (order * q - q + 1)
        for j in range(2, order + 1):
            weight = mp.binomial(order, j) * q**j * (1 - q) ** (order - j)
            total += weight * (1 if j == 2 else 3) * mp.exp((j - 1) * mp.mpf(curve.renyi(j)))
        return mp.log(total) / (order - 1)


@pytest.mark.parametrize("mu", [1, 18, 27, 38, 60])
@pytest.mark.parametrize("order", [2, 3])
def test_the_least_shares_are_covered(mu, order):
    share, base = Fraction(1, 2**500), gdp(mu)
    found = poisson_rdp(base, sampling_probability=share, orders=[order]).curve.renyi(order)
    exact = min(zhu_wang_by_hand(order, share, base), base.renyi(order))
    assert exact <= found <= max(exact * (1 + 1e-9), 2.0**-99)
    drawn = without_replacement_rdp(base, records=2**500, batch=1, orders=[order])
    exact = min(wang_by_hand(order, share, base, digits=400), base.renyi(order))
    assert exact * (1 - 1e-12) <= drawn.curve.renyi(order) <= max(exact * (1 + 1e-9), 2.0**-99)


@pytest.mark.parametrize("mu", [1, 27, 60])
@pytest.mark.parametrize("q", [5e-324, 1e-300, Fraction(1, 2**501)])
def test_shares_beyond_the_doubles_are_refused(mu, q):
    words = "below 2\\^-500; write a larger one"
    with pytest.raises(InvalidParameter, match=words):
        poisson_rdp(gdp(mu), sampling_probability=q, orders=[2, 3])
    with pytest.raises(InvalidParameter, match=words):
        poisson_gaussian_rdp(noise_multiplier=1 / mu, sampling_probability=q, orders=[2])
    with pytest.raises(InvalidParameter, match=words):
        without_replacement_rdp(gdp(mu), records=10**320, batch=1, orders=[2, 3])


def test_a_share_next_to_all_is_all():
    q = 1 - Fraction(1, 2**600)
    orders = [2, 5]
    step = poisson_rdp(gdp(2), sampling_probability=q, orders=orders)
    assert step == poisson_rdp(gdp(2), sampling_probability=1, orders=orders)
    step = poisson_gaussian_rdp(noise_multiplier=1, sampling_probability=q, orders=orders)
    assert np.all(step.curve.renyi(orders) >= gdp(1).renyi(orders))


def test_a_sum_that_is_no_number_is_what_no_sampling_gives():
    divergence = np.array([0.0, 0.0, 4.0])
    assert _capped(Interval.exactly(np.array([math.nan])), 2, divergence) == 4
    assert _capped(Interval.exactly(np.array([-math.inf])), 2, divergence) == 4
    assert _capped(Interval.exactly(np.array([-math.inf])), 2, 0 * divergence) == 0
    assert 0 < _capped(Interval.exactly(np.array([-800.0])), 2, divergence) < 1e-30


def test_perfect_privacy_stays_perfect():
    for share in (1, 10):
        drawn = without_replacement_rdp(identity(), records=10, batch=share, orders=[2, 3])
        assert drawn.curve == identity()
    assert poisson_rdp(identity(), sampling_probability=0.1, orders=[2, 3]).curve == identity()
    assert poisson_rdp(approx_dp(1, 0.1), sampling_probability=0, orders=[2]).curve == identity()


@pytest.mark.parametrize(
    "make",
    [
        lambda: poisson_rdp(gdp(1e-20), sampling_probability=1, orders=[2, 3]),
        lambda: poisson_rdp(pure_dp(1e-150), sampling_probability=0.5, orders=[2, 3]),
        lambda: without_replacement_rdp(gdp(1), records=10**100, batch=1, orders=[2, 3]),
        lambda: poisson_gaussian_rdp(noise_multiplier=1, sampling_probability=1e-20, orders=[2, 3]),
        lambda: poisson_gaussian_rdp(
            noise_multiplier=10**149, sampling_probability=1e-150, orders=[2, 3]
        ),
    ],
)
def test_the_least_divergences_are_rounded_up(make):
    curve = make().curve
    assert curve == rdp([(2, Fraction(1, 2**100)), (3, Fraction(1, 2**100))])


def random_laws(rng, count):
    size = int(rng.integers(2, 4))
    laws = np.clip([rng.dirichlet(np.exp(rng.normal(0, 1, size))) for _ in range(count)], 1e-9, 1)
    return laws / laws.sum(axis=1, keepdims=True)


def divergence(p, q, a):
    return math.log(float(np.sum(p**a * q ** (1 - a)))) / (a - 1)


def test_no_random_mechanism_breaks_the_published_bounds():
    rng = np.random.default_rng(7)
    for _ in range(60):
        p, q, r = random_laws(rng, 3)
        share = int(rng.choice([1, 10, 50, 90]))
        g = share / 100
        two = [(a, max(divergence(p, q, a), divergence(q, p, a))) for a in (2, 3, 4)]
        poissoned = poisson_rdp(
            rdp(two), sampling_probability=Fraction(share, 100), orders=[2, 3, 4]
        )
        pairs = [(x, y) for x in (p, q, r) for y in (p, q, r) if x is not y]
        three = [(a, max(divergence(x, y, a) for x, y in pairs)) for a in (2, 3, 4)]
        drawn = without_replacement_rdp(rdp(three), records=100, batch=share, orders=[2, 3, 4])
        for a in (2, 3, 4):
            mixed = (1 - g) * q + g * p
            worst = max(divergence(mixed, q, a), divergence(q, mixed, a))
            assert worst <= poissoned.curve.renyi(a) * (1 + 1e-6) + 1e-12
            first, second = (1 - g) * r + g * p, (1 - g) * r + g * q
            worst = max(divergence(first, second, a), divergence(second, first, a))
            assert worst <= drawn.curve.renyi(a) * (1 + 1e-6) + 1e-12


def test_what_comes_back_composes_and_converts():
    step = poisson_gaussian_rdp(noise_multiplier=2, sampling_probability=0.01, orders=range(2, 33))
    run = step.curve**1000
    assert run.renyi(8) == pytest.approx(1000 * step.curve.renyi(8), rel=1e-12)
    both = run @ zcdp(0.01)
    assert both.renyi(8) == pytest.approx(run.renyi(8) + 0.08, rel=1e-12)
    assert run.delta(2) >= (poisson(gdp(0.5), 0.01) ** 1000).delta_bracket(np.asarray(2.0)).lower


def test_one_epsilon_and_delta_give_no_moment_bound():
    """A moment bound implies (epsilon, delta); the converse is false."""
    f = approx_dp(1, 1e-5)
    assert math.isinf(f.renyi(2))
    assert not f.implies(rdp([(2, 1000)]))
    for ask in (lambda: moments_epsilon([(f, 3)], 1e-3), lambda: moments_delta([(f, 3)], 3.0)):
        with pytest.raises(InvalidParameter, match="moments need a finite loss"):
            ask()
    with pytest.raises(InvalidParameter, match="needs a finite divergence"):
        poisson_rdp(f, sampling_probability=0.1, orders=[2])


def test_a_moment_bound_is_a_renyi_bound():
    """alpha(lambda) = lambda D_(lambda + 1), for both readings of the moment."""
    f = laplace(1).remove
    for x in (0.5, 1, 3):
        moment = float(np.real(f.cumulant(np.asarray(x + 1, dtype=complex))))
        assert x * f.renyi(x + 1) == pytest.approx(moment, rel=1e-12)
        backward = float(np.real(f.swap().cumulant(np.asarray(-x, dtype=complex))))
        assert backward == pytest.approx(moment, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: poisson_rdp(gdp(1), sampling_probability=2, orders=[2]),
            InvalidParameter,
            r"must be in \[0, 1\]",
        ),
        (
            lambda: poisson_rdp(gdp(1), sampling_probability=0.1, orders=[]),
            InvalidParameter,
            "at least one",
        ),
        (
            lambda: poisson_rdp(gdp(1), sampling_probability=0.1, orders=[2.5]),
            InvalidParameter,
            "order must be .* got 2.5",
        ),
        (
            lambda: poisson_rdp(gdp(1), sampling_probability=0.1, orders=[2], assume="x"),
            InvalidParameter,
            "names no assumption",
        ),
        (
            lambda: without_replacement_rdp(gdp(1), records=5, batch=6, orders=[2]),
            InvalidParameter,
            "batch must be from 1 to .*, 5; got 6",
        ),
        (
            lambda: poisson_rdp(poisson_replace(gdp(1), 0.1), sampling_probability=0.1, orders=[2]),
            RelationMismatch,
            "replace_one",
        ),
    ],
)
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()
