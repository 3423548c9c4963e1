"""What samplers are worth, and what they must not be taken for."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp

import numpy as np
import pytest
from scipy.stats import binom

from neyman.accounting._samplers import (
    DOUBLED_POISSON,
    shuffled,
    without_replacement,
)
from neyman.accounting._truncated import _chance, truncated_poisson
from neyman.curves import TradeOff, approx_dp, chain, gdp, laplace, poisson, subsample
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
    pair = subsample(gdp(1), Fraction(3, 10)).remove
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
    known = shuffled(epsilon0, reports=n).curve.dominating().remove
    found = known.epsilon_bracket(np.asarray([1e-6]))
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


def clones_law(n, epsilon0):
    """Return the chances of every pair of counts, by the definition."""
    p, kept = exp(-epsilon0), exp(epsilon0) / (1 + exp(epsilon0))
    mass = defaultdict(lambda: [0.0, 0.0])
    for c in range(n):
        for a in range(c + 1):
            w = comb(n - 1, c) * p**c * (1 - p) ** (n - 1 - c) * comb(c, a) / 2**c
            for x, y, first in ((a + 1, c - a, kept), (a, c - a + 1, 1 - kept)):
                mass[x, y][0] += w * first
                mass[x, y][1] += w * (1 - first)
    return np.asarray(list(mass.values()))


def test_shuffles_compose():
    """Two releases to twelve reports each, all couples of outcomes written out."""
    curve = shuffled(1.5, reports=12).curve
    assert curve**1 == curve
    p, q = clones_law(12, 1.5).T
    pp, qq = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    assert curve**2 == curve @ curve
    epsilons = np.asarray([0.0, 0.4, 1.0])
    truth = [np.sum(np.maximum(qq - exp(epsilon) * pp, 0.0)) for epsilon in epsilons]
    found = (curve**2).delta(epsilons)
    assert np.all(truth <= found)
    assert np.all(found <= np.multiply(truth, 1.01))
    many = (shuffled(2, reports=1000).curve ** 10).epsilon(1e-6, bracket=True)
    assert (many.of, many.lower) == ("class", 0)
    assert many.upper < 0.3 * (
        approx_dp(shuffled(2, reports=1000).curve.epsilon(1e-7), 1e-7) ** 10
    ).epsilon(2e-6)


def truncated(p, most, records, neighbors="add_remove", f=None, dropped="at_random"):
    return truncated_poisson(
        f or gdp(1),
        sampling_probability=p,
        most=most,
        records=records,
        neighbors=neighbors,
        dropped=dropped,
    )


def at_least(n, size, p):
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(size, n + 1))


def test_truncation_by_any_rule_is_charged_by_the_chance_of_a_full_batch():
    n, most, p = 40, 12, Fraction(1, 10)
    step = truncated(p, most, n, dropped="by_any_rule")
    plain = poisson(gdp(1), p)
    # f_p and a failure with the chance that is charged.
    charged = (step.delta(0.3) - plain.delta(0.3)) / (1 - plain.delta(0.3))
    assert charged == pytest.approx(float(at_least(n - 1, most, p)), rel=1e-9)
    with pytest.raises(UnsupportedComposition, match="full batches must be rare"):
        truncated(Fraction(1), 3, n, dropped="by_any_rule")


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_batch_that_is_never_full_is_poissons(neighbors):
    p = Fraction(1, 10)
    plain = {"add_remove": poisson, "replace_one": poisson_replace}[neighbors](gdp(1), p)
    assert truncated(p, 40, 40, neighbors) == plain
    assert truncated(p, 41, 40, neighbors) == plain
    assert truncated(p, 41, 40, neighbors, dropped="by_any_rule") == plain


@pytest.mark.parametrize("change", [{"most": 0}, {"p": 2}, {"p": 0}, {"dropped": "first"}])
def test_truncation_that_makes_no_sense_is_refused(change):
    with pytest.raises(InvalidParameter):
        truncated(**{"p": 0.1, "most": 3, "records": 40, **change})


def test_other_noise_on_truncated_batches_is_bounded():
    """Batches that are seldom full cost what Poisson samples do; others hold a record less often.

    But what they hold takes another one's place.
    """
    plain = poisson_replace(laplace(1), 0.1).delta(0.2)
    seldom, often = (truncated(0.1, n, 40, "replace_one", f=laplace(1)) for n in (12, 3))
    assert seldom.delta(0.2) == pytest.approx(plain, rel=1e-3)
    kept = sum(binomial(39, k, 0.1) * min(3 / (k + 1), 1) for k in range(40)) * 0.1
    rarer = poisson_replace(laplace(1), kept).delta(0.2)
    assert rarer < often.delta(0.2) < plain


def binomial(n: int, k: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize(
    ("n", "size", "p"),
    [
        (40, 12, Fraction(1, 10)),
        (40, 39, Fraction(1, 2)),
        (999, 5, Fraction(1, 100)),
        (600, 30, Fraction(1, 40)),
        (600, 590, Fraction(1, 40)),
        (10, 1, Fraction(999, 1000)),
        (7, 8, Fraction(1, 2)),
        (7, 7, Fraction(1)),
    ],
)
def test_the_chance_of_a_full_batch_is_bracketed(n, size, p):
    low, high = _chance(n, size, p)
    true = at_least(n, size, p)
    assert low <= true <= high
    assert high - low <= 1e-11 * high + Fraction(2) ** -899


@pytest.mark.parametrize(
    ("n", "p", "most"), [(1000, 0.01, 16), (1000, 0.01, 30), (1000, 0.01, 7), (50, 0.5, 20)]
)
def test_a_full_batch_replaces_a_record(n, p, most):
    """(1 - w) δ of Poisson's, and w δ of a move of twice the length, each with its chance."""
    w = binom.sf(most - 1, n - 1, p)
    hit = binom.sf(most, n, p) * most / n / w
    for epsilon in (0.0, 0.1, 1.0):
        found = [
            q * gdp(mu).delta(math.log1p(math.expm1(epsilon) / q)) for q, mu in ((p, 1), (hit, 2))
        ]
        truth = (1 - w) * found[0] + w * found[1]
        assert truncated(p, most, n).remove.delta(epsilon) == pytest.approx(truth, rel=1e-10)


def test_full_batches_are_samples_without_replacement():
    """p = 1: whoever is in takes the place of another; all others at -1, the one at 1."""
    assert truncated(1, 2, 8) == poisson(gdp(2), Fraction(1, 4))
    fixed = without_replacement(gdp(2), records=8, batch=2).curve
    assert truncated(1, 2, 8, "replace_one") == fixed
    assert fixed.dominating() == subsample(gdp(2), Fraction(1, 4))
    two_ways = TradeOff(poisson(laplace(1), 0.5).remove, poisson(laplace(1), 0.5).add)
    assert truncated(1, 2, 8, f=two_ways) == poisson(
        chain(TradeOff(two_ways.add, two_ways.remove), two_ways), Fraction(1, 4)
    )


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_truncation_between_its_exact_cases_is_of_a_class(neighbors):
    """From below: the one record is in the batch with this chance, and no other adds anything."""
    n, most, p = 40, 4, Fraction(1, 10)
    step = truncated(p, most, n, neighbors)
    plain = {"add_remove": poisson, "replace_one": poisson_replace}[neighbors]
    chance = sum(
        comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) * p * min(Fraction(1), Fraction(most, k + 1))
        for k in range(n)
    )
    found, least = (f.delta(0.5, bracket=True) for f in (step, plain(gdp(1), chance)))
    assert found.of == "class"
    assert found.lower <= least.upper
    assert found.lower == pytest.approx(least.lower, rel=1e-9)
    assert found.upper == step.dominating().delta(0.5)
    exact = {truncated(p, 40, 40, neighbors), truncated(1, 2, 8)}
    assert {f.delta(0.5, bracket=True).of for f in exact} == {"mechanism"}


@pytest.mark.parametrize("dropped", ["at_random", "by_any_rule"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_data_whose_others_add_nothing_lose_no_less_than_truncation_says(dropped, neighbors, most):
    """By hand; where any rule drops, the one that drops the one record first."""
    p, x, h = 0.3, *np.linspace(-9, 9, 9_001, retstep=True)
    step = truncated(Fraction(3, 10), most, 5, neighbors, dropped=dropped)
    seldom = sum(comb(4, k) * p ** (k + 1) * (1 - p) ** (4 - k) for k in range(most))
    other = [comb(4, k) * p ** (k + 1) * (1 - p) ** (4 - k) for k in range(most, 5)]
    often = sum(c * most / (k + most + 1) for k, c in enumerate(other))
    chance = seldom + (often if dropped == "at_random" else 0.0)

    def law(move):
        return sum(
            w * np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi)
            for w, m in ((1 - chance, 0), (chance, move))
        )

    first = law(0) if neighbors == "add_remove" else law(-1)
    for epsilon in (0.0, 0.3, 1.0):
        lost = h * np.sum(np.maximum(law(1) - exp(epsilon) * first, 0.0))
        back = h * np.sum(np.maximum(first - exp(epsilon) * law(1), 0.0))
        assert step.delta(epsilon, bracket=True).lower == pytest.approx(max(lost, back), rel=1e-5)


@pytest.mark.parametrize("times", [1, 50])
def test_batches_of_a_fixed_size_lose_at_least_one_direction_in_every_step(times):
    """A record of length 1 among zeros: the sum moves with the chance batch / records."""
    curve = without_replacement(gdp(1), records=100, batch=10).curve
    found = (curve**times).epsilon(1e-5, bracket=True)
    assumed = without_replacement(gdp(1), records=100, batch=10, assume=DOUBLED_POISSON).curve
    assert found.of == "class"
    assert found.lower == (assumed**times).epsilon(1e-5, bracket=True).lower
    assert found.upper == (subsample(gdp(1), 0.1) ** times).epsilon(1e-5)
    # The two directions are told apart in one step by nothing.
    assert (found.upper - found.lower < 1e-9) == (times == 1)


def test_batches_of_a_fixed_size_under_other_noise_have_no_lower_end():
    curve = without_replacement(laplace(1), records=100, batch=10).curve
    found = curve.delta(0.1, bracket=True)
    assert (found.of, found.lower, found.value) == (
        "class",
        0,
        subsample(laplace(1), 0.1).delta(0.1),
    )


def test_a_shuffler_of_any_reports_may_give_nothing_away():
    found = shuffled(1, reports=1_000).curve.epsilon(1e-6, bracket=True)
    assert (found.of, found.lower) == ("class", 0)
    assert found.upper > 0.1


def batches(others, extra, p, most):
    """Return the law of the sum of a batch: every sample, every subset of it, by hand."""
    records = (*others, *extra)
    found = defaultdict(float)
    for sampled in product((False, True), repeat=len(records)):
        sample = [record for record, taken in zip(records, sampled, strict=True) if taken]
        chance = p ** len(sample) * (1 - p) ** (len(records) - len(sample))
        kept = list(combinations(sample, min(most, len(sample))))
        for batch in kept:
            found[sum(batch)] += chance / len(kept)
    return found


@pytest.mark.parametrize("p", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("others", [(0, 0, 0, 0), (-1, -1, -1, -1), (1, -1, 1, 0), (1, 1, 1, 1)])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_data_lose_more_than_truncation_says(p, others, most):
    """Four other records, all samples and all subsets of them summed up."""
    x, h = np.linspace(-14, 14, 8_001, retstep=True)

    def density(masses):
        return sum(w * np.exp(-((x - m) ** 2) / 2) for m, w in masses.items()) / np.sqrt(2 * np.pi)

    adding, replacing = truncated(p, most, 5), truncated(p, most, 5, "replace_one")
    without, one, other = (density(batches(others, extra, p, most)) for extra in ((), (1,), (-1,)))
    for step, pairs in ((adding, [(without, one), (without, other)]), (replacing, [(one, other)])):
        for epsilon in (0.0, 0.3, 1.0):
            bound = step.delta(epsilon) + 1e-6
            for first, second in pairs:
                assert h * np.sum(np.maximum(second - exp(epsilon) * first, 0.0)) <= bound
                assert h * np.sum(np.maximum(first - exp(epsilon) * second, 0.0)) <= bound


def test_truncation_dominates_what_really_happens():
    """Two other records, batches of one: the sums and their chances by hand."""
    p = 0.3
    step = truncated(p, 2, 3)
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
