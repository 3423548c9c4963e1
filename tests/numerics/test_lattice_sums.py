"""Sums of losses on a grid against exact rational convolutions and known values."""

from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from neyman.errors import InvalidParameter
from neyman.numerics import ULP, Interval
from neyman.numerics._lattice_sums import _law, _sum
from neyman.numerics._lattice_sums._hits import CountedHits
from neyman.numerics._lattice_sums._plan import Part
from neyman.numerics._lattice_sums._source import (
    AtomSource,
    LossSource,
    Masses,
    SampledSource,
    SampledSwapSource,
    SourceTails,
    SwappedSource,
)
from neyman.numerics._lattice_sums._sum import LatticeSum
from neyman.numerics._lattice_sums._window import Window
from neyman.numerics._spectrum import convolved as transformed
from neyman.numerics._spectrum import spectrum
from random_cases import random_cases

EPSILONS = np.array([0.0, 0.1, 0.35, 1.0, 2.5])


# -- losses ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Normal(LossSource):
    """The loss of N(mu, 1) against N(0, 1)."""

    mu: float

    def tails(self, t):
        def tail(x):
            value = ndtr(x)
            room = np.where(np.isfinite(x), 2e-15 * (1 + np.minimum(x, 0) ** 2), 0.0)
            return Interval(value * (1 - room), np.minimum(value * (1 + room) + 1e-320, 1.0))

        a, b = t / self.mu + self.mu / 2, t / self.mu - self.mu / 2
        return SourceTails(tail(-a), tail(-b), tail(a), tail(b))


def laws(p, q):
    """The loss of two laws on a few outcomes, given by exact weights."""
    p, q = ([Fraction(x, sum(w)) for x in w] for w in (p, q))
    both = [(a, b) for a, b in zip(p, q, strict=True) if a and b]

    def near(values):
        value = np.array([float(x) for x in values])
        return Interval(value * (1 - ULP), value * (1 + ULP))

    def alone(mine, other):
        mass = float(sum(a for a, b in zip(mine, other, strict=True) if not b))
        return mass * (1 - ULP), mass * (1 + ULP)

    masses = Masses(near(a for a, _ in both), near(b for _, b in both))
    return AtomSource(masses, alone(q, p), alone(p, q)), (p, q)


def convolved(parts):
    """The exact masses (p, q) of every outcome of a product."""
    outcomes = [(Fraction(1), Fraction(1))]
    for (p, q), times in parts:
        for _ in range(times):
            found = {}
            for a, b in outcomes:
                for c, d in zip(p, q, strict=True):
                    # Outcomes of one loss are one outcome.
                    key = b * d / (a * c) if a * c else None
                    old = found.get(key, (Fraction(0), Fraction(0)))
                    found[key] = (old[0] + a * c, old[1] + b * d)
            outcomes = list(found.values())
    return outcomes


def exact_delta(outcomes, epsilon):
    with mp.workdps(40):
        scale = mp.exp(mp.mpf(epsilon))
        terms = (
            mp.mpf(b.numerator) / b.denominator - scale * mp.mpf(a.numerator) / a.denominator
            for a, b in outcomes
        )
        return mp.fsum(max(x, 0) for x in terms)


def at_level(answers, level):
    for _ in range(level):
        next(answers)
    return next(answers)


def check(parts, outcomes, level=0, epsilons=EPSILONS):
    """Both views of a sum bracket the exact profile; return the widths of delta."""
    whole = LatticeSum(tuple(parts))
    log = at_level(whole.log_delta(epsilons), level)
    deltas = [exact_delta(outcomes, x) for x in epsilons]
    with mp.workdps(40):
        for low, high, delta in zip(*log, deltas, strict=True):
            assert mp.exp(mp.mpf(low)) <= delta or (low == -np.inf)
            assert delta <= mp.exp(mp.mpf(high))
    targets = np.array([1e-6, 1e-3, 0.05, 0.3])
    found = at_level(whole.epsilon(targets), level)
    for low, high, delta in zip(*found, targets, strict=True):
        assert 0 <= low <= high
        if np.isfinite(high):
            assert exact_delta(outcomes, high) <= mp.mpf(delta)
        if low > 0:
            assert exact_delta(outcomes, min(low, 1e4) * (1 - 1e-15)) >= mp.mpf(delta)
    return np.exp(log.upper) - np.exp(log.lower)


weights = st.lists(st.integers(0, 40), min_size=3, max_size=3)


# -- against exact rationals -----------------------------------------------------------------------


@random_cases(8, soak=30)
@given(weights, weights, st.integers(1, 5), st.booleans())
def test_both_ends_hold_an_exact_composition(p, q, times, swap):
    assume(sum(p) and sum(q) and sum(a * b for a, b in zip(p, q, strict=True)))
    source, (first, second) = laws(p, q)
    if swap:
        source, first, second = SwappedSource(source), second, first
    check([Part.of(source, times)], convolved([((first, second), times)]))


@random_cases(6, soak=15)
@given(weights, weights, weights, weights)
def test_both_ends_hold_an_exact_composition_of_two_kinds(p, q, r, s):
    assume(all(sum(a * b for a, b in zip(*x, strict=True)) for x in ((p, q), (r, s))))
    (first, one), (second, two) = laws(p, q), laws(r, s)
    check([Part.of(first, 2), Part.of(second, 3)], convolved([(one, 2), (two, 3)]))


@random_cases(4, soak=15)
@given(weights, weights, st.integers(1, 4), st.fractions(Fraction(1, 50), Fraction(49, 50)))
def test_both_ways_of_sampling_hold_exact_compositions(p, q, times, share):
    assume(sum(p) and sum(q) and sum(a * b for a, b in zip(p, q, strict=True)))
    source, (first, second) = laws(p, q)
    mixed = [(1 - share) * a + share * b for a, b in zip(first, second, strict=True)]
    forward = convolved([((first, mixed), times)])
    check([Part.of(SampledSource(source, share), times)], forward)
    back = convolved([((mixed, first), times)])
    check([Part.of(SampledSwapSource(SwappedSource(source), share), times)], back)
    check([Part.of(SwappedSource(SampledSource(source, share)), times)], back)


def test_a_finer_level_holds_them_too_and_is_narrower():
    (first, one), (second, two) = laws([5, 3, 2], [1, 4, 5]), laws([7, 1], [3, 5])
    parts, outcomes = [Part.of(first, 3), Part.of(second, 2)], convolved([(one, 3), (two, 2)])
    widths = [check(parts, outcomes, level) for level in range(3)]
    assert np.all(widths[2] < widths[0] / 8)


def test_atoms_on_the_grid_are_nearly_exact():
    # All losses are multiples of log 3.
    source, law = laws([9, 3, 1], [1, 3, 9])
    assert np.all(check([Part.of(source, 4)], convolved([(law, 4)])) < 1e-8)


# -- against known values --------------------------------------------------------------------------


def widths_of(source, times, levels, delta=1e-5, truth=None):
    found = []
    answers = LatticeSum((Part.of(source, times),)).epsilon(np.asarray(delta))
    for _, bracket in zip(range(levels), answers, strict=False):
        if truth is not None:
            assert bracket.lower <= truth <= bracket.upper
        found.append(np.array([truth - bracket.lower, bracket.upper - truth]))
    return np.array(found)


def test_both_ends_are_of_second_order_for_a_normal_loss():
    off = widths_of(Normal(0.1), 100, 3, truth=4.377178095683)
    assert off[0].max() < 2e-4
    # A level quarters the step.
    assert np.all(off[:-1] / off[1:] > 12)


@pytest.mark.parametrize(
    ("source", "truth"),
    [
        (SampledSource(Normal(1.0), Fraction(1, 100)), 1.82823666652),
        (SampledSwapSource(Normal(1.0), Fraction(1, 100)), 1.41666195),
        (SwappedSource(SampledSource(Normal(1.0), Fraction(1, 100))), 1.41666195),
    ],
)
def test_sampled_normal_steps_are_known_to_six_digits(source, truth):
    off = widths_of(source, 1000, 3, truth=truth)
    assert off[2].max() < 1e-5


def test_the_ends_of_the_profile_are_bracketed_too():
    whole = LatticeSum((Part.of(bits(0.5), 4),))
    low, high = next(whole.epsilon(np.array([0.0, 1e-300, 1.0])))
    assert np.all(low <= [2.0, 2.0, 0.0])
    assert np.all(high >= [2.0, 2.0, 0.0])
    assert high[0] < 2.01
    assert low[1] > 1.99
    low, high = next(whole.log_delta(np.array([-np.inf, 3.0, np.inf])))
    assert high[0] == 0
    assert np.all(low[1:] == -np.inf)
    assert np.all(high[1:] < -25)


# -- a sum as a loss -------------------------------------------------------------------------------


@random_cases(2, soak=10)
@given(weights, weights, st.fractions(Fraction(1, 20), Fraction(19, 20)))
def test_a_sampled_composition_holds_its_exact_profile(p, q, share):
    assume(sum(p) and sum(q) and sum(a * b for a, b in zip(p, q, strict=True)))
    source, law = laws(p, q)
    twice = convolved([(law, 2)])
    first, second = zip(*twice, strict=True)
    mixed = [(1 - share) * a + share * b for a, b in zip(first, second, strict=True)]
    inner = LatticeSum((Part.of(source, 2),)).part(0, np.log(1e-12))
    sampled = Part(SampledSource(inner.upper, share), SampledSource(inner.lower, share), 3)
    check([sampled], convolved([((first, mixed), 3)]))
    back = LatticeSum((Part.of(SwappedSource(source), 2),)).part(0, np.log(1e-12))
    sampled = Part(SampledSwapSource(back.upper, share), SampledSwapSource(back.lower, share), 3)
    check([sampled], convolved([((mixed, first), 3)]))


def test_a_sampled_normal_composition_is_that_of_the_normal_sum():
    inner = LatticeSum((Part.of(Normal(0.25), 16),)).part(2, np.log(1e-12))
    share = Fraction(1, 100)
    sampled = Part(SampledSource(inner.upper, share), SampledSource(inner.lower, share), 1000)
    lower, upper = at_level(LatticeSum((sampled,)).epsilon(np.asarray(1e-5)), 2)
    assert lower <= 1.82823666652 <= upper
    assert upper - lower < 1e-3


def test_the_lower_law_of_many_tiny_losses_keeps_what_stands_beside_them():
    alone = LatticeSum((Part.of(bits(0.5), 4),)).log_delta(np.asarray([1.0]))
    both = LatticeSum((rare(1, 1.8e-6, 10**6), Part.of(bits(0.5), 4))).log_delta(np.asarray([1.0]))
    assert next(both).lower >= next(alone).lower + np.log(0.9)


def test_renyi_bounds_are_above_the_truth_and_near_it():
    orders = np.array([1.5, 2.0, 8.0, 40.0])
    found = LatticeSum((Part.of(Normal(0.25), 16),)).divergences(1, np.log(1e-280))
    truth, bounds = orders / 2, found(orders)
    assert found.rest < 1e-280
    assert np.all((truth <= bounds) & (bounds < truth * (1 + 1e-4)))


def bits(epsilon):
    """Randomized response, whose mu is known: twice the normal quantile of the larger mass."""
    larger = 1 / (1 + np.exp(-epsilon))

    def near(values):
        value = np.array(values)
        return Interval(value * (1 - ULP), value * (1 + ULP))

    return AtomSource(Masses(near([larger, 1 - larger]), near([1 - larger, larger])))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_mu_of_one_randomized_response_is_its_known_one(epsilon):
    low, high = next(LatticeSum((Part.of(bits(epsilon), 1),)).mu())
    truth = 2 * ndtri(1 / (1 + np.exp(-epsilon)))
    assert truth * (1 - 1e-3) <= low <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= high <= truth * (1 + 1e-6)


def test_the_gaussian_of_the_upper_mu_is_above_the_exact_profile_and_none_is_far_below():
    source, law = laws([5, 3, 2], [2, 3, 5])
    outcomes = convolved([(law, 6)])
    low, high = next(LatticeSum((Part.of(source, 6),)).mu())
    assert high * (1 - 1e-3) < low <= high
    largest = 6 * float(np.log(2.5))
    at = np.linspace(0, largest * (1 - 1e-9), 200)
    with mp.workdps(40):
        gaps = [float(_gaussian(high, x) / exact_delta(outcomes, x)) for x in at]
        short = [float(_gaussian(low * (1 - 1e-3), x) / exact_delta(outcomes, x)) for x in at]
    assert min(gaps) >= 1
    assert min(short) < 1


def _gaussian(mu, epsilon):
    mu, epsilon = mp.mpf(float(mu)), mp.mpf(float(epsilon))
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


# -- counted hits ----------------------------------------------------------------------------------


def rare(noise, rate, times):
    return Part.of(SampledSource(Normal(1 / noise), Fraction(rate).limit_denominator()), times)


@settings(max_examples=10)
@given(weights, weights, st.integers(1, 3))
def test_counted_hits_hold_an_exact_composition(p, q, times):
    assume(sum(p) and sum(q) and sum(a * b for a, b in zip(p, q, strict=True)))
    source, law = laws(p, q)
    outcomes = convolved([(law, times)])
    log = next(CountedHits((Part.of(source, times),)).log_delta(EPSILONS), None)
    if log is not None:
        for low, high, epsilon in zip(*log, EPSILONS, strict=True):
            delta = exact_delta(outcomes, epsilon)
            assert (low == -np.inf) or mp.exp(mp.mpf(low)) <= delta
            assert delta <= mp.exp(mp.mpf(high))


def test_counted_hits_hold_an_exact_composition_of_rare_losses():
    first, one = laws([1000, 999, 1], [999, 1000, 40])
    second, two = laws([3000, 3000, 1, 2], [3001, 2999, 30, 0])
    parts, outcomes = (Part.of(first, 4), Part.of(second, 3)), convolved([(one, 4), (two, 3)])
    low, high = at_level(CountedHits(parts).log_delta(EPSILONS), 1)
    for below, above, epsilon in zip(low, high, EPSILONS, strict=True):
        delta = exact_delta(outcomes, epsilon)
        assert mp.exp(mp.mpf(below)) <= delta <= mp.exp(mp.mpf(above))
        assert above - below < 0.01


@pytest.mark.parametrize(
    ("parts", "low", "high", "width"),
    [
        ([(0.6, 1e-5, 10**4)], 0.0305003891, 0.0305023887, None),
        ([(0.9, 2e-4, 300), (1.3, 5e-5, 900)], 0.0281949, 0.0281982, 2e-5),
        ([(1, 1e-5, 1000), (1.2, 1e-5, 1000)], 0.00140078, 0.00140081, 2e-6),
    ],
)
def test_counted_hits_of_sampled_normals_meet_other_methods(parts, low, high, width):
    found = at_level(CountedHits(tuple(rare(*part) for part in parts)).epsilon(np.asarray(1e-6)), 1)
    assert found.lower <= high
    assert low <= found.upper <= high * (1 + 1e-3)
    assert width is None or found.upper - found.lower < width


def test_counted_hits_go_as_far_as_their_cells_go():
    one, three = (CountedHits(tuple(rare(1, 1e-6, 100) for _ in range(k))) for k in (1, 3))
    assert list(one.levels) == [0, 1, 2, 3]
    assert list(three.levels) == [0, 1, 2]


@pytest.mark.soak
def test_counted_hits_end_with_their_levels():
    hits = CountedHits(tuple(rare(1, 1e-6, 100) for _ in range(3)))
    assert len(list(hits.epsilon(np.asarray(1e-6)))) <= 3


@pytest.mark.soak
def test_counted_hits_of_the_smallest_losses_have_places_too():
    parts = (
        Part.of(SampledSource(Normal(1 / 178), Fraction(1, 10**10)), 10**9),
        Part.of(SampledSource(Normal(0.4), Fraction(1, 10**12)), 10),
    )
    low, high = next(CountedHits(parts).log_delta(np.array([0.0, 1e-12])))
    assert np.all((low <= high) & (high <= 0))


# -- a step that is given --------------------------------------------------------------------------


def test_a_step_that_is_given_is_that_of_the_grid():
    widths = []
    for step in (0.04, 0.01):
        (found,) = LatticeSum((Part.of(Normal(0.1), 100),), step).epsilon(np.asarray(1e-5))
        assert found.lower <= 4.377178095683 <= found.upper
        widths.append(found.upper - found.lower)
    # A quarter of the step is a sixteenth of the width.
    assert 12 < widths[0] / widths[1] < 20


def test_a_step_for_too_many_cells_is_refused_with_one_that_will_do():
    parts = (Part.of(Normal(0.1), 100),)
    with pytest.raises(InvalidParameter, match="Write a step of at least") as refused:
        next(LatticeSum(parts, 1e-9).epsilon(np.asarray(1e-5)))
    enough = float(str(refused.value).split()[-1])
    assert next(LatticeSum(parts, 2 * enough).epsilon(np.asarray(1e-5))).upper < 4.3772


def test_many_parts_go_through_fewer_levels_so_that_no_more_than_a_gigabyte_is_held():
    part = Part.of(Normal(0.1), 1)
    counts = {n: len(LatticeSum((part,) * n).levels) for n in (1, 5, 6, 29, 30, 10_000)}
    assert counts == {1: 5, 5: 5, 6: 4, 29: 4, 30: 3, 10_000: 1}


def test_a_tilt_that_falls_within_one_cell_is_read_all_the_same():
    nothing = Interval.exactly(0.0)
    window = Window(1e3, 0, 50.0, nothing, Interval.exactly(np.ones(3)), 0.0, nothing, nothing)
    sums, excess = window.scans(up=True)
    assert np.allclose(sums, 1.0)
    assert np.allclose(excess[:2], 0.0, atol=1e-20)


# -- the transform ---------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(any),
    st.integers(1, 20),
    st.floats(-0.5, 0.5),
    st.integers(-5, 5),
)
def test_the_transform_holds_exact_integer_convolutions(weights, times, tau, first):
    exact = [1]
    for _ in range(times):
        new = [0] * (len(exact) + len(weights) - 1)
        for i, a in enumerate(exact):
            for j, b in enumerate(weights):
                new[i + j] += a * b
        exact = new
    kappa = float(np.log(sum(weights)))
    length = 1 << len(exact).bit_length()
    one = spectrum(np.array(weights, dtype=float), first, tau, kappa, length)
    found = transformed([(one, times)], (times * first, times * first + len(exact)), length, 0.0)
    with mp.workdps(40):
        for k, value in enumerate(exact):
            truth = value * mp.exp(mp.mpf(tau) * (times * first + k) - times * mp.mpf(kappa))
            assert found.lower[k] <= truth <= found.upper[k]


# -- broken twins ----------------------------------------------------------------------------------


def _breaks(monkeypatch, name, function):
    monkeypatch.setattr(_law, name, function)
    source, law = laws([5, 3, 2], [1, 4, 5])
    with pytest.raises(AssertionError):
        check([Part.of(source, 4)], convolved([(law, 4)]))


def test_an_upper_law_that_sends_too_little_to_the_right_is_caught(monkeypatch):
    right = _law.split
    _breaks(monkeypatch, "split", lambda *a: (0.99 * right(*a)[0], right(*a)[1]))


def test_a_lower_law_whose_losses_are_rounded_up_is_caught(monkeypatch):
    def raised(source, grid, cells=None):
        law = _LOWER(source, grid, cells)
        lowered = law.lowered - grid.step
        return _law.LatticeLaw(grid, law.masses, law.infinite, lowered)

    _breaks(monkeypatch, "lower_law", raised)


def test_an_upper_law_that_forgets_the_infinite_losses_is_caught(monkeypatch):
    def forgetful(upper, lower, grid):
        low, high = _LAWS(upper, lower, grid)
        return low, _law.LatticeLaw(high.grid, high.masses, 0.0, high.lowered, high.moved)

    monkeypatch.setattr(_sum, "laws", forgetful)
    source, law = laws([5, 5, 0], [1, 8, 1])
    with pytest.raises(AssertionError):
        check([Part.of(source, 3)], convolved([(law, 3)]))


_LOWER, _LAWS = _law.lower_law, _law.laws
