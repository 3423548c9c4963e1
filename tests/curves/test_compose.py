"""Many guarantees in one pass: the same objects as by @, whatever the order and the grouping."""

import itertools
import json
import math
import random
from fractions import Fraction
from functools import reduce
from operator import matmul

import numpy as np
import pytest

from neyman.curves import (
    approx_dp,
    compose,
    discrete_gaussian,
    gaussian_mixture,
    gdp,
    identity,
    laplace,
    poisson,
    pure_dp,
    read,
    zcdp,
)
from neyman.curves._profiles._atomic_profile import AtomicProfile
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import exact_sum, from_written, shortened_up, written

MIXED = [
    *(poisson(gdp(Fraction(10, 8 + i)), Fraction(1, 100 + i)) ** (1 + i % 3) for i in range(6)),
    *(gdp(Fraction(1, k)) for k in (3, 5, 7, 5)),
    *(laplace(x) for x in (0.1, 0.3, 0.1)),
    *(approx_dp(0.2, d) for d in (1e-6, 1e-7, 1e-6)),
    poisson(laplace(1), 0.1),
    identity(),
]


def test_order_and_grouping_do_not_matter():
    whole = compose(*MIXED)
    assert whole == reduce(matmul, MIXED) == reduce(lambda f, g: g @ f, MIXED)
    shuffler = random.Random(1)
    for _ in range(20):
        shuffled = shuffler.sample(MIXED, len(MIXED))
        cut, rest = shuffler.randrange(len(MIXED)), shuffler.randrange(len(MIXED))
        low, high = sorted((cut, rest))
        parts = shuffled[:low], shuffled[low:high], shuffled[high:]
        assert compose(*(compose(*part) for part in parts)) == whole
        assert reduce(matmul, (reduce(matmul, part, identity()) for part in parts)) == whole
        assert compose(*shuffled).to_json() == whole.to_json()


def test_counts_are_powers():
    assert compose(*[laplace(0.1)] * 7) == laplace(0.1) ** 7
    assert compose(*MIXED, *MIXED) == compose(*MIXED) ** 2 == compose(*(f**2 for f in MIXED))
    assert compose() == identity()
    assert compose(gdp(1)) == gdp(1)


def test_directions_stay_apart():
    f = poisson(gdp(1), 0.1)
    assert compose(f, laplace(1)).add == compose(f, laplace(1)).remove.swap()


def test_what_is_no_guarantee_is_refused():
    with pytest.raises(InvalidParameter, match=r"compose\(\*phases\)"):
        compose([gdp(1), gdp(2)])
    with pytest.raises(InvalidParameter, match="must be guarantees; got an object of type int"):
        compose(gdp(1), 3)


def test_relations_are_checked_wherever_they_hide():
    replaced = gaussian_mixture({1: 1}, noise_multiplier=3, neighbors="replace_one")
    added = poisson(laplace(1), 0.1)
    many = compose(*(laplace(Fraction(i + 1, 100)) for i in range(9)), added)
    for pair in itertools.permutations([many, poisson(gdp(1), 0.2), laplace(3)]):
        compose(*pair)
    if replaced.remove.neighbors is not None:
        with pytest.raises(RelationMismatch):
            compose(many, replaced)
        with pytest.raises(RelationMismatch):
            compose(replaced, laplace(1), many)


def test_a_statement_at_real_orders_takes_all_in():
    many = compose(gdp(1), *(gdp(Fraction(1, k)) for k in range(2, 9)))
    assert compose(many, zcdp(1)) == many @ zcdp(1) == zcdp(1) @ many
    assert compose(laplace(1), gdp(2), zcdp(1), gdp(1)) == zcdp(1) @ gdp(1) @ gdp(2) @ laplace(1)


# -- sums of unlike squares ----------------------------------------------------------------------

UNLIKE = [Fraction(1, 2 * k + 10**6 + 1) for k in range(700)]


@pytest.fixture(scope="module")
def unlike():
    return compose(*(gdp(mu * 100) for mu in UNLIKE))


def test_a_thousand_unlike_reciprocals_are_exact(unlike):
    square = sum((mu * 100) ** 2 for mu in UNLIKE)
    assert unlike.remove.mu_squared == square
    assert square.denominator.bit_length() > 10_000
    assert unlike == reduce(matmul, (gdp(mu * 100) for mu in reversed(UNLIKE)))
    lower, upper = unlike.mu(bracket=True)
    assert Fraction(lower) ** 2 <= square <= Fraction(upper) ** 2
    assert unlike.epsilon(1e-6) == pytest.approx(gdp(math.sqrt(square)).epsilon(1e-6), rel=1e-12)
    assert unlike != gdp(squared=shortened_up(square))
    assert unlike.implies(gdp(squared=shortened_up(square)))


def test_its_record_is_exact(unlike):
    record = json.dumps(unlike.to_json())
    assert read(record) == unlike
    assert "0x" in record
    for wrong in ("0x1/0x", "0x2/0x4", "0X1/0x2", "0x01/0x3", "-0x1/0x2", "0x1/0x0", "0x1/0x2"):
        fields = {"kind": "gaussian", "mu_squared": wrong}
        with pytest.raises(InvalidParameter, match="malformed"):
            read({"format": "neyman.tradeoff", "version": 1, "remove": fields, "add": fields})


def test_what_is_charged_is_short_and_no_less(unlike):
    square = unlike.remove.mu_squared
    charged = unlike.outer_gaussian()
    assert square < charged < square * (1 + Fraction(1, 2**500))
    assert charged.denominator.bit_length() < 2000
    assert (unlike @ zcdp(1)).zcdp() >= 1 + float(square) / 2


def test_a_sum_that_is_endless_is_refused():
    long = Fraction(1, 3**600 + 2)
    squares = [Fraction(1) + long / (k + 1) for k in range(3)]
    assert compose(*(gdp(squared=s) for s in squares)).remove.mu_squared == sum(squares)
    with pytest.raises(InvalidParameter, match="fewer digits"):
        gdp(squared=Fraction(1, 3**6000))


@pytest.mark.parametrize("seed", range(5))
def test_exact_sums_are_sums(seed):
    rng = random.Random(seed)
    terms = [
        (Fraction(rng.randrange(1, 10**6), rng.choice((1, 10, 100, 7, rng.randrange(1, 999)))), n)
        for n in rng.choices(range(1, 5), k=40)
    ]
    assert exact_sum(terms) == sum(value * n for value, n in terms)
    assert exact_sum([]) == 0
    for value, _ in terms:
        assert shortened_up(value) == value
        assert Fraction(written(value)) == value


def test_written_sums_are_read():
    value = Fraction(7**4000, 3**5000)
    assert from_written(written(value)) == value
    assert value <= shortened_up(value) <= value * (1 + Fraction(1, 2**500))
    for wrong in ("12/5", "0x", "0x1/0x1" + "0" * 2**20):
        with pytest.raises(ValueError, match="no sum"):
            from_written(wrong)


# -- views of many -------------------------------------------------------------------------------


def test_many_unlike_steps_agree_with_a_witness():
    """More laws than are sketched: a composition of few, each many times, is nearly the same."""
    few = compose(*(poisson(gdp(1), Fraction(1, 20 + k)) ** 20 for k in range(4)))
    many = compose(
        *(
            poisson(gdp(1), Fraction(1, 20 + k) * (1 + Fraction(i, 10**9)))
            for k in range(4)
            for i in range(20)
        )
    )
    assert len(many.remove.parts) == 80
    for delta in (1e-3, 1e-6):
        lower, upper = many.epsilon(delta, bracket=True)
        assert 0 <= upper - lower <= 1e-9
        assert few.epsilon(delta, bracket=True).lower <= upper <= few.epsilon(delta) * (1 + 1e-7)


def test_the_method_is_told_without_composing(monkeypatch):
    def refused(_):
        raise AssertionError

    on_grid = discrete_gaussian(4) ** 3 @ pure_dp(0.5)
    apart = pure_dp(0.1) @ pure_dp(Fraction(1, 10**7 + 19)) @ laplace(1)
    assert on_grid.epsilon(1e-3, bracket=True).method == "lattice"
    assert apart.epsilon(1e-3, bracket=True).method == "contour"
    monkeypatch.setattr(AtomicProfile, "of", refused)
    assert on_grid.method == "lattice"
    assert apart.method == "contour"
    with pytest.raises(AssertionError):
        on_grid.epsilon(1e-3)


@pytest.mark.parametrize(
    "f",
    [poisson(gdp(1), 0.01) ** 1000, poisson(gdp(2), 0.1) ** 30],
    ids=str,
)
def test_mu_with_slack_touches_the_profile(f):
    """f >= G_mu ⊗ f_{0,slack} on a grid of both directions, and G_mu cannot be much smaller."""
    slack = 1e-5
    lower, upper = f.mu(slack=slack, bracket=True)
    assert lower <= upper <= lower * (1 + 1e-8)
    assert f.mu(slack=slack) == max(pair.mu_bracket(slack)[1] for pair in (f.remove, f.add))
    reach = f.epsilon(slack)
    grid = np.linspace(-reach, reach, 201)
    bound, less = (gdp(mu) @ approx_dp(0, slack) for mu in (upper, lower * (1 - 1e-3)))
    found = f.delta(grid, bracket=True).lower
    assert np.all(found <= bound.delta(grid))
    assert np.any(found > less.delta(grid))


def test_many_unlike_phases_are_known_narrowly():
    """Each phase alone decays where all together long have: the line ends by the sum."""
    phases = [poisson(gdp(1 / Fraction(500 + i, 500)), 0.01) ** (10 + i) for i in range(200)]
    lower, upper = compose(*phases).epsilon(1e-5, bracket=True)
    assert 0 < upper - lower < 1e-6
    assert max(f.epsilon(1e-5) for f in phases[::40]) < lower
    loudest = poisson(gdp(1), 0.01) ** sum(10 + i for i in range(200))
    assert upper < loudest.epsilon(1e-5)
