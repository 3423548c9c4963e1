"""What samplers are worth, and what they must not be taken for."""

from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest

from neyman.accounting._samplers import (
    DOUBLED_POISSON,
    deterministic_shuffle,
    shuffled,
    without_replacement,
)
from neyman.accounting._truncated import truncated_poisson
from neyman.curves import TradeOff, gdp, laplace, poisson
from neyman.curves._algebra._group import poisson_replace
from neyman.curves._pairs._clones import ClonesPair
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition


@pytest.mark.shows("e1.14")
def test_without_replacement_proved():
    step = without_replacement(gdp(Fraction(10, 11)), records=60_000, batch=256)
    assert step.proved
    assert step.neighbors == "replace_one"
    found = (step.curve**14_040).epsilon(1e-5, bracket=True)
    assert found.lower <= 3.065786468238942048 <= found.upper < 3.0657864683


def test_the_tighter_rule_only_by_its_name():
    step = without_replacement(
        gdp(Fraction(10, 11)), records=60_000, batch=256, assume=DOUBLED_POISSON
    )
    assert step.assumptions == (DOUBLED_POISSON,)
    assert not step.proved
    found = (step.curve**14_040).epsilon(1e-5, bracket=True)
    assert found.lower <= 2.379554518826176782 <= found.upper
    with pytest.raises(InvalidParameter, match="names no assumption"):
        without_replacement(gdp(1), records=100, batch=10, assume="trust me")
    with pytest.raises(UnsupportedComposition, match="about Gaussian noise"):
        without_replacement(laplace(1), records=100, batch=10, assume=DOUBLED_POISSON)


def test_one_step_is_the_theorem():
    mu, p = 1.0, Fraction(3, 10)
    f = gdp(mu)
    curve = without_replacement(f, records=10, batch=3).curve
    fixed = (1 - f.delta(0.0)) / 2
    kink = float(p) * fixed + (1 - float(p)) * (1 - fixed)
    for alpha in (0.0, 1e-6, 0.1, 0.3):
        mixed = float(p) * f.beta(alpha) + (1 - float(p)) * (1 - alpha)
        assert curve.beta(alpha) == pytest.approx(mixed, abs=1e-13)
    for alpha in (0.35, 0.5):
        assert curve.beta(alpha) == pytest.approx(fixed + kink - alpha, abs=1e-13)
    for alpha in (0.7, 0.9):
        # Its own inverse.
        assert curve.beta(curve.beta(alpha)) == pytest.approx(alpha, abs=1e-12)
    x = np.array([0.0, 0.2, 1.0])
    np.testing.assert_allclose(curve.delta(x), poisson(f, p).remove.delta(x), rtol=1e-13)
    np.testing.assert_allclose(
        curve.delta(-x), -np.expm1(-x) + np.exp(-x) * curve.delta(x), rtol=1e-12
    )


def test_its_loss_has_the_law_of_its_tails():
    pair = without_replacement(gdp(1), records=10, batch=3).curve.remove
    t = np.linspace(-4, 12, 400_001)
    tails = pair.log_tails(t)
    # K(2) = log E_Q[e^L] = log ∫ e^t Q(L > t) dt.
    value = np.log(np.sum(np.exp(t + tails.q_above)) * (t[1] - t[0]) + np.exp(t[0]))
    assert float(pair.cumulant(np.asarray([2.0 + 0j])).real[0]) == pytest.approx(value, rel=1e-4)
    assert pair.swap() is pair


def test_relations_are_not_mixed():
    step = without_replacement(gdp(1), records=100, batch=10).curve
    with pytest.raises(RelationMismatch):
        step @ poisson(gdp(1), 0.1)
    with pytest.raises(RelationMismatch):
        poisson(step, 0.1)
    with pytest.raises(RelationMismatch):
        without_replacement(poisson(gdp(1), 0.1), records=100, batch=10)
    assert (step @ poisson_replace(gdp(1), 0.1)).remove.neighbors == "replace_one"


def test_sizes_and_curves_that_make_no_sense():
    for records, batch in ((10, 11), (10, 0), (0, 1), (10, True)):
        with pytest.raises(InvalidParameter):
            without_replacement(gdp(1), records=records, batch=batch)
    assert without_replacement(gdp(1), records=10, batch=10).curve == gdp(1)
    lopsided = poisson(gdp(1), 0.1).remove
    oneway = TradeOff(lopsided, lopsided)
    with pytest.raises((UnsupportedComposition, RelationMismatch)):
        without_replacement(oneway, records=10, batch=5)


# -- shuffling ------------------------------------------------------------------------------------


def clones_exactly(n, epsilon0, epsilon):
    """Return delta by the definition."""
    p, kept = exp(-epsilon0), exp(epsilon0) / (1 + exp(epsilon0))
    mass = {}
    for c in range(n):
        for a in range(c + 1):
            w = comb(n - 1, c) * p**c * (1 - p) ** (n - 1 - c) * comb(c, a) / 2**c
            for x, y, first in ((a + 1, c - a, kept), (a, c - a + 1, 1 - kept)):
                one, other = mass.get((x, y), (0.0, 0.0))
                mass[x, y] = (one + w * first, other + w * (1 - first))
    return sum(max(q - exp(epsilon) * p, 0.0) for p, q in mass.values())


@pytest.mark.parametrize(("n", "epsilon0"), [(2, 1.0), (12, 0.5), (30, 2.0)])
def test_clones_against_the_definition(n, epsilon0):
    pair = ClonesPair(Fraction(epsilon0), n)
    for epsilon in (-0.3, 0.0, 0.1, 0.4):
        found = pair.delta_bracket(np.asarray([epsilon]))
        true = clones_exactly(n, epsilon0, epsilon)
        assert found.lower[0] - 1e-14 <= true <= found.upper[0] + 1e-14
        assert found.upper[0] - found.lower[0] < 1e-11
    assert pair.delta_bracket(np.asarray([epsilon0])).upper[0] == 0


@pytest.mark.parametrize(("n", "epsilon0", "epsilon"), [(10_000, 4, 0.60091), (1_000, 1, 0.18241)])
def test_clones_of_many(n, epsilon0, epsilon):
    found = shuffled(epsilon0, reports=n).curve.remove.epsilon_bracket(np.asarray([1e-6]))
    assert found.upper[0] == pytest.approx(epsilon, abs=6e-6)
    assert 0 <= found.upper[0] - found.lower[0] < 1e-9


def test_clones_are_for_one_report_replaced():
    result = shuffled(1, reports=100)
    assert result.neighbors == result.curve.remove.neighbors == "replace_one"
    assert result.proved
    with pytest.raises(RelationMismatch):
        result.curve @ poisson(gdp(1), 0.1)
    with pytest.raises(InvalidParameter):
        shuffled(1, reports=1)


def test_shuffles_do_not_compose():
    curve = shuffled(1, reports=100).curve
    assert curve**1 == curve
    with pytest.raises(UnsupportedComposition, match="one release is known"):
        curve**2
    with pytest.raises(UnsupportedComposition, match="one release is known"):
        curve @ curve


def test_shuffled_passes_are_refused_with_both_numbers():
    with pytest.raises(UnsupportedComposition) as refused:
        deterministic_shuffle(gdp(1), records=1000, batch=10, epochs=3, delta=1e-5)
    assert f"{(gdp(1) ** 3).epsilon(1e-5):.6g}" in str(refused.value)
    assert f"{(poisson(gdp(1), 0.01) ** 300).epsilon(1e-5):.6g}" in str(refused.value)
    assert "must not be" in str(refused.value)


def test_truncation_is_charged_by_the_chance_of_a_full_batch():
    n, most, p = 40, 12, Fraction(1, 10)
    true = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(most, n + 1))
    f = gdp(1)
    step = truncated_poisson(f, sampling_probability=p, most=most, records=n)
    plain = poisson(f, p)
    # f_p and a failure with the chance that is charged.
    charged = (step.delta(0.3) - plain.delta(0.3)) / (1 - plain.delta(0.3))
    assert float(true) <= charged <= 1.5 * float(true)
    assert truncated_poisson(f, sampling_probability=p, most=41, records=n) == plain
    with pytest.raises(UnsupportedComposition, match="which is not small"):
        truncated_poisson(f, sampling_probability=p, most=3, records=n)
    with pytest.raises(InvalidParameter):
        truncated_poisson(f, sampling_probability=p, most=0, records=n)
    with pytest.raises(InvalidParameter):
        truncated_poisson(f, sampling_probability=2, most=5, records=n)


def test_truncation_dominates_what_really_happens():
    """Two other records, batches of one: the sums and their chances by hand."""
    p = 0.3
    step = truncated_poisson(gdp(1), sampling_probability=p, most=2, records=2)
    x, h = np.linspace(-9, 10, 20_001, retstep=True)

    def density(masses):
        return sum(w * np.exp(-((x - m) ** 2) / 2) for m, w in masses.items()) / np.sqrt(2 * np.pi)

    # Others add nothing and x adds 1; of three sampled two are kept at random.
    both = p * p
    without = density({0.0: 1.0})
    hit = p * (1 - both) + p * both * 2 / 3
    with_x = density({0.0: 1 - hit, 1.0: hit})
    for epsilon in (0.0, 0.2, 0.5):
        for one, other in ((without, with_x), (with_x, without)):
            true = h * np.sum(np.maximum(other - exp(epsilon) * one, 0.0))
            assert true <= step.delta(epsilon) + 1e-9
