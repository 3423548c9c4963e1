"""Discrete leaves and lattice profiles against exact rationals and 25-digit references."""

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.curves import Lattice, gdp, laplace, pure_dp
from neyman.curves._algebra._composed import composed
from neyman.curves._named._discrete_constructors import (
    discrete,
    discrete_gaussian,
    discrete_laplace,
)
from neyman.curves._pairs._discrete import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    DiscretePair,
)
from neyman.curves._profiles._atomic_profile import AtomicProfile
from neyman.curves._profiles._response_profile import (
    ResponseProfile,
    atoms_of_randomized_response,
)
from neyman.curves._solvers._solver import using
from neyman.errors import InvalidParameter
from neyman.numerics._atomic._tail_views import log_tails
from random_cases import random_cases

RESPONSE = atoms_of_randomized_response(Fraction(1, 100))


@pytest.mark.parametrize(
    ("atoms", "delta", "digits"),
    [
        (DiscreteGaussianPair(Fraction(16), 1).atoms(), 1e-6, "14.45075355721755480959584"),
        (DiscreteLaplacePair(Fraction(1, 10), 3).atoms(), 1e-6, "16.59972138393014289767917"),
        (atoms_of_randomized_response(Fraction(1, 10)), 1e-6, "4.7745675881079865"),
        (atoms_of_randomized_response(Fraction(1, 10)), 1e-5, "4.306791372516507"),
    ],
)
def test_a_hundred_steps_against_reference_digits(atoms, delta, digits):
    found = AtomicProfile.of([(atoms, 100)]).epsilon_bracket(np.asarray(delta))
    with mp.workdps(30):
        assert mp.mpf(float(found.lower)) <= mp.mpf(digits) * (1 + mp.mpf(10) ** -15)
        assert mp.mpf(float(found.upper)) >= mp.mpf(digits) * (1 - mp.mpf(10) ** -15)
    assert found.upper - found.lower < 1e-9


def test_five_hundred_approximate_steps_with_the_failures_factored_out():
    failed = 1 - (1 - Fraction(1, 10**8)) ** 500
    target = float((Fraction(1, 10**5) - failed) / (1 - failed))
    found = AtomicProfile.of([(RESPONSE, 500)]).epsilon_bracket(np.asarray(target))
    assert found.lower <= 0.8555212276533732326410461 <= found.upper
    assert found.upper - found.lower < 1e-9


@pytest.mark.parametrize(
    ("epsilon", "times", "at", "value"),
    [
        (Fraction(1, 10), 100, 0.0, 0.381972612615856),
        (Fraction(1, 10), 100, 0.5, 0.239254236956649),
        (Fraction(1, 10), 100, 1.0, 0.125688390240636),
        (Fraction(1, 10), 100, 2.0, 0.0201401784281915),
        (Fraction(1, 10), 100, 4.0, 3.42231231919678e-5),
        (Fraction(1, 100), 10**4, 1.0, 0.126924268381876),
        (Fraction(1, 100), 10**4, 4.0, 4.69825300986205e-5),
        (Fraction(1, 2), 10, 1.0, 0.331678482928697),
        (Fraction(1), 5, 2.0, 0.441211438279549),
    ],
)
def test_randomized_response_by_both_routes(epsilon, times, at, value):
    atoms = atoms_of_randomized_response(epsilon)
    exact = AtomicProfile.of([(atoms, times)])
    for profile in (exact, ResponseProfile(epsilon, times)):
        found = profile.delta_bracket(np.asarray(at))
        assert found.lower <= value * (1 + 4e-15)
        assert found.upper >= value * (1 - 4e-15)
        if times >= 10**4 or profile is exact:
            assert found.upper - found.lower < 1e-9 * value


@pytest.mark.shows("curve of DiscreteGaussian")
@pytest.mark.parametrize(
    ("sigma", "mu"), [(1, 1.04576), (2, 0.505325), (3, 0.334892), (Fraction(1, 2), 2.488)]
)
def test_a_discrete_gaussian_is_not_one_over_sigma_gdp(sigma, mu):
    curve = discrete_gaussian(sigma)
    assert curve.mu() == pytest.approx(mu, rel=2e-4)
    assert curve.mu() > 1 / sigma
    # A mu below the claim is refuted somewhere.
    alpha = np.linspace(0.01, 0.99, 99)
    assert np.all(curve.beta(alpha) >= gdp(curve.mu()).beta(alpha) * (1 - 1e-12))
    with mp.workdps(30):
        zero = 1 / mp.nsum(lambda k: mp.exp(-(k**2) / (2 * mp.mpf(float(sigma)) ** 2)), [-200, 200])
        exact = 2 * mp.sqrt(2) * mp.erfinv(zero)
    assert float(exact) <= curve.mu() <= float(exact) * (1 + 1e-12)


def _exact_power(p, q, times):
    """Return {outcome: (P, Q)} of the product, outcomes with equal ratios added."""
    law = {(): (Fraction(1), Fraction(1))}
    for _ in range(times):
        new = {}
        for (key, (a, b)), i in product(law.items(), range(len(p))):
            mark = tuple(sorted((*key, i)))
            old = new.get(mark, (Fraction(0), Fraction(0)))
            new[mark] = (old[0] + a * p[i], old[1] + b * q[i])
        law = new
    return list(law.values())


def _exact_delta(masses, bound):
    return sum(max(b - bound * a, Fraction(0)) for a, b in masses)


def _exact_beta(masses, alpha):
    """Return the type II error of the Neyman-Pearson test."""
    missed = sum(b for a, b in masses if a > 0)
    left = alpha
    for a, b in sorted((m for m in masses if m[0]), key=lambda m: m[1] / m[0], reverse=True):
        share = min(left / a, Fraction(1))
        missed, left = missed - share * b, left - share * a
    return missed


def _decimal(value):
    """The decimal that a double prints as, which is what it stands for."""
    return Fraction(repr(float(value)))


_WEIGHTS = st.lists(st.integers(1, 1000), min_size=2, max_size=5)


@pytest.mark.shows("S0.3")
@settings(max_examples=40)
@given(_WEIGHTS, st.data())
def test_one_step_holds_the_exact_profile_and_tests(weights, data):
    other = data.draw(st.lists(st.integers(0, 1000), min_size=len(weights), max_size=len(weights)))
    other[0] += 1
    p = tuple(Fraction(w, sum(weights)) for w in weights)
    q = tuple(Fraction(w, sum(other)) for w in other)
    masses = list(zip(p, q, strict=True))
    profile = DiscretePair(p, q).profile()
    x = data.draw(st.floats(-3, 3))
    found = profile.delta_bracket(np.asarray(x))
    # Enough for 1 - e^x at the smallest double.
    with mp.workdps(400):
        bound = mp.exp(mp.mpf(repr(x)))
        exact = sum(
            max(mp.mpf(b.numerator) / b.denominator - bound * a.numerator / a.denominator, 0)
            for a, b in masses
        )
        assert mp.mpf(repr(float(found.lower))) <= exact <= mp.mpf(repr(float(found.upper)))
    alpha = data.draw(st.floats(0, 1))
    beta = _exact_beta(masses, _decimal(alpha))
    errors, powers = (f(np.asarray(alpha)) for f in (profile.beta_bracket, profile.tpr_bracket))
    assert _decimal(errors.lower) <= beta <= _decimal(errors.upper)
    assert _decimal(powers.lower) <= 1 - beta <= _decimal(powers.upper)


@random_cases(6, soak=25)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 6), st.integers(1, 30))
def test_two_point_powers_lie_within_the_lattice(first, second, times, at):
    p = (Fraction(first, 100), 1 - Fraction(first, 100))
    q = (Fraction(second, 61), 1 - Fraction(second, 61))
    masses = _exact_power(p, q, times)
    power = composed([(DiscretePair(p, q), times)])
    bound = Fraction(at, 10)
    with using(Lattice(Fraction(1, 16))):
        found = power.delta_bracket(np.log(np.asarray(float(bound))))
    exact = _exact_delta(masses, bound)
    assert float(found.lower) <= float(exact) + 1e-15
    assert float(found.upper) >= float(exact) - 1e-15
    alpha = Fraction(at, 31)
    with using(Lattice(Fraction(1, 16))):
        errors = power.beta_bracket(np.asarray(float(alpha)))
    beta = float(_exact_beta(masses, alpha))
    assert errors.lower <= beta + 1e-15
    assert errors.upper >= beta - 1e-15


def test_a_lattice_narrows_with_its_step():
    f = discrete_gaussian(4) ** 100
    exact = f.epsilon(1e-6, bracket=True)
    widths = []
    for step in (Fraction(1, 50), Fraction(1, 400)):
        found = f.epsilon(1e-6, solver=Lattice(step), bracket=True)
        assert found.lower <= exact.upper
        assert found.upper >= exact.lower
        widths.append(float(found.upper - found.lower))
    assert widths[1] < widths[0] / 4


def test_a_mixture_of_laws_is_composed_by_a_lattice():
    f = laplace(Fraction(1, 5)) ** 10 @ gdp(Fraction(1, 5)) ** 5
    x = np.array([-0.5, 0.0, 0.5, 2.0])
    wide, narrow = (f.delta(x, solver=Lattice(Fraction(1, k)), bracket=True) for k in (40, 160))
    assert np.all((wide.lower <= narrow.upper) & (narrow.lower <= wide.upper))
    assert np.all(narrow.upper - narrow.lower < (wide.upper - wide.lower) / 3)
    known = f.delta(x, bracket=True)
    assert np.all((narrow.lower <= known.upper) & (known.lower <= narrow.upper))


def test_tiny_deltas_and_levels_keep_relative_accuracy():
    profile = AtomicProfile.of([(DiscreteGaussianPair(Fraction(16), 1).atoms(), 100)])
    levels = 10.0 ** -np.array([300.0, 250, 100, 10])
    powers = profile.tpr_bracket(levels)
    assert np.all(powers.upper < powers.lower * (1 + 1e-8))
    assert np.all(powers.lower > levels)
    found = profile.epsilon_bracket(levels)
    assert np.all(found.upper - found.lower < 1e-9)
    log = profile.log_delta_bracket(found.upper)
    assert np.all(np.abs(log.upper - np.log(levels)) < 1e-8)


def test_tails_of_an_exact_profile():
    atoms = DiscreteLaplacePair(Fraction(1, 2), 1).atoms()
    profile = AtomicProfile.of([(atoms, 2)])
    up = math.exp(-0.5) / (1 + math.exp(-0.5))
    p_above, *_ = log_tails(profile.table, np.asarray(0.5), closed=False)
    assert p_above.lower <= 2 * math.log(up) <= p_above.upper


@pytest.mark.parametrize(
    "pair",
    [
        DiscreteGaussianPair(Fraction(4), 3),
        DiscreteGaussianPair(Fraction(1, 10), 1),
        DiscreteLaplacePair(Fraction(1, 10), 3),
        DiscretePair((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 2))),
    ],
)
def test_cumulant_and_renyi_against_forty_digits(pair):
    atoms = pair.atoms()
    s = np.array([0.5, 1e-6, 2.5, 0.3 + 2j, 1.5 - 1j])
    with mp.workdps(40):
        places = [
            mp.mpf(atoms.offset.numerator) / atoms.offset.denominator
            + mp.mpf(atoms.unit.numerator) / atoms.unit.denominator * int(k)
            for k in atoms.steps
        ]
        p = [mp.exp(mp.mpf(x)) for x in atoms.log_p]
        total = mp.fsum(p)
        # Q from the exact losses, so that the doubles' rounding does not enter.
        for value, point in zip(pair.cumulant(s), s, strict=True):
            exact = mp.log(
                mp.fsum(m * mp.exp(mp.mpc(point) * x) for m, x in zip(p, places, strict=True))
                / total
            )
            assert abs(mp.exp(exact) - mp.exp(mp.mpc(value))) < 5e-14 * abs(mp.exp(exact))
    order = np.array([0.5, 0.999999, 1.0, 1.000001, 2.0, 7.0])
    found = pair.renyi_bracket(order)
    assert np.all(found.upper - found.lower < 1e-6 * found.upper)
    assert np.all(np.diff(found.upper) > 0)
    value = np.real(pair.cumulant(order + 0j)) / (order - 1 + (order == 1))
    known = order != 1
    assert np.all(np.abs(value - found.upper)[known] < 1e-6 * found.upper[known])


def test_leaves_say_what_they_are():
    pair = DiscretePair((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4)))
    assert not pair.symmetric
    turned = DiscretePair((Fraction(1, 4), Fraction(3, 4)), (Fraction(3, 4), Fraction(1, 4)))
    assert turned.symmetric
    curve = discrete([0.5, 0.5, 0], [0.25, 0.5, 0.25])
    assert curve.epsilon(0.2) == math.inf
    assert discrete_laplace(1).beta(0.2) == pytest.approx(1 - 0.2 * math.e)
    assert discrete([0.5, 0.5], [0.5, 0.5]).delta(0) < 1e-15
    lap = discrete_laplace(0.5, sensitivity=2)
    assert lap.implies(pure_dp(1))
    assert discrete_gaussian(2).zcdp() == 0.125
    assert pair.parameters() == {"p": ["1/2", "1/2"], "q": ["1/4", "3/4"]}


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: discrete_gaussian(0), "above 0"),
        (lambda: discrete_gaussian(1, sensitivity=0), "an int from 1"),
        (lambda: discrete_gaussian(1, sensitivity=40), "more noise"),
        (lambda: discrete_gaussian(10**4), "1e-4, 1e6"),
        (lambda: discrete_laplace(-1), "above 0"),
        (lambda: discrete_laplace(400, sensitivity=2), "in that range"),
        (lambda: discrete([0.5, 0.4], [0.5, 0.5]), "exactly 1"),
        (lambda: discrete([0.5, 0.5], [1]), "as many"),
        (lambda: discrete([1.5, -0.5], [0.5, 0.5]), "non-negative"),
        (lambda: AtomicProfile.of([]), "at least one law"),
        (lambda: ResponseProfile(Fraction(1), 1), "from 2"),
    ],
)
def test_refusals(build, words):
    with pytest.raises(InvalidParameter, match=words):
        build()


def test_a_trillion_answers_keep_eight_digits():
    profile = ResponseProfile(Fraction(1, 10**6), 10**12)
    delta = profile.delta_bracket(np.array([0.0, 1.0, 5.0]))
    assert np.all(delta.upper < delta.lower * (1 + 1e-8))
    assert np.all(np.abs(delta.upper / gdp(1).delta(np.array([0.0, 1.0, 5.0])) - 1) < 1e-8)
    found = profile.epsilon_bracket(np.array([1e-6, 1e-250]))
    assert np.all(found.upper - found.lower < 1e-9)
    beta, power = profile.beta_bracket(np.asarray(0.05)), profile.tpr_bracket(np.asarray(0.05))
    assert beta.lower + power.lower <= 1 <= beta.upper + power.upper


@pytest.mark.parametrize("loss", ["60", "3.6", "-0.02", "2.99"])
def test_the_first_count_above_a_loss_is_known_exactly(loss):
    """Losses are multiples of 0.02 here, of which doubles say nothing; 60 is the largest."""
    times, first = 6000, math.floor((Fraction(loss) * 100 + 6000) / 2) + 1
    with mp.workdps(40):
        odds = mp.exp(mp.mpf(1) / 100)
        q, true = (odds / (1 + odds)) ** times, mp.mpf(0)
        for k in range(times, first - 1, -1):
            # From Q of all down: a step is (k / (n - k + 1)) / odds; P is Q e^-loss.
            true += q * (1 - mp.exp(mp.mpf(loss) - mp.mpf(2 * k - times) / 100))
            q *= mp.mpf(k) / (times - k + 1) / odds
        found = ResponseProfile(Fraction(1, 100), times).delta_bracket(np.asarray(float(loss)))
        assert mp.mpf(float(found.lower)) <= true <= mp.mpf(float(found.upper))
    assert found.upper - found.lower <= 1e-10 * found.upper
