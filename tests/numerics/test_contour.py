"""The line's certificates: aliases, the rest of the line, rounding, brackets and thresholds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb, ctx

from neyman.numerics import (
    DELTA,
    P_ABOVE,
    Q_ABOVE,
    AtomicLaw,
    ContourTails,
    Functional,
    GaussianMixtureLaw,
    LossSum,
    NormalLaw,
    Shifts,
    WeightedLosses,
    gaussian_log_delta,
    log_ndtr,
)
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._contour import Waves
from neyman.numerics._inversion._lines import line_at

FUNCTIONALS = {"delta": DELTA, "P(L > t)": P_ABOVE, "Q(L > t)": Q_ABOVE}
# A bracket may be wider than this only where n K is large.
WIDTH = 1e-9


def sampled(sigma, q):
    return GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, 1 / sigma), (1 - q, q)))


def summed(law, count, reverse):
    many = LossSum.of(law).times(count)
    return many.reversed() if reverse else many


def compositions(count, seed):
    """Yield sigma, q, T, functional, position and direction: all that the contour is for."""
    rng = np.random.default_rng(seed)
    names = list(FUNCTIONALS)
    for k in range(count):
        sigma, q = 10 ** rng.uniform(-0.4, 1.5), 10 ** rng.uniform(-3, -0.02)
        copies = int(10 ** rng.uniform(0.7, 6))
        position = 10 ** rng.uniform(-0.7, 0.7)
        yield sampled(sigma, q), copies, FUNCTIONALS[names[k % 3]], position, rng.random() < 0.5


def check_truth(count, seed, exact_tail, least):
    widths = []
    for law, copies, functional, position, reverse in compositions(count, seed):
        truth = exact_tail(law, copies, functional, position, reverse=reverse)
        if truth is None:
            continue
        t, log = truth
        bounds = ContourTails(summed(law, copies, reverse), functional).log_tail(np.asarray([t]))
        low, high = float(bounds.lower[0]), float(bounds.upper[0])
        case = law, copies, functional, reverse, t
        # The truth has 20 digits, and may pass 0 by its error.
        assert bool(low <= log + 1e-18), case
        assert bool(log - 1e-18 <= high), case
        k = LossSum.of(law).times(copies).cumulant(np.asarray([2.0 + 0j]))[0].real
        widths.append((high - low) / (1e-11 + 1e-14 * (abs(k) + abs(t) + abs(low))))
    assert len(widths) >= least
    # Measured: the relative width of the functional, in units of 1e-11 + 1e-14 |n K|.
    assert np.median(widths) < 3


def test_brackets_hold_the_truth(exact_tail):
    check_truth(21, 11, exact_tail, 7)


@pytest.mark.soak
def test_brackets_hold_the_truth_of_two_thousand(exact_tail):
    check_truth(2000, 12, exact_tail, 600)


def test_two_laws_are_composed(exact_tail):
    # The sum with a Gaussian of no account: 1e-18 of K, 1e-12 of the mixture's own width.
    law = sampled(1.0, 0.2)
    t, log = exact_tail(law, 400, Q_ABOVE, 1.0)
    many = LossSum(((law, 150.0, False), (law, 250.0, False), (NormalLaw(1e-22), 1.0, True)))
    bounds = ContourTails(many, Q_ABOVE).log_tail(np.asarray([t]))
    assert bounds.lower[0] - 1e-9 <= float(log.mid()) <= bounds.upper[0] + 1e-9
    assert bounds.upper[0] - bounds.lower[0] < WIDTH


@pytest.mark.parametrize("reverse", [False, True])
def test_a_gaussian_is_itself(reverse):
    mu, t = 1.3, np.linspace(-0.5, 9.0, 30)
    law = LossSum.of(NormalLaw(mu**2 / 7)).times(7)
    law = law.reversed() if reverse else law
    closed = gaussian_log_delta(t, np.asarray(mu))
    truths = {
        "delta": (closed.lower, closed.upper),
        "P(L > t)": (log_ndtr(-t / mu - mu / 2),) * 2,
        "Q(L > t)": (log_ndtr(-t / mu + mu / 2),) * 2,
    }
    for name, (low, high) in truths.items():
        found = ContourTails(law, FUNCTIONALS[name]).log_tail(t)
        slack = 1e-14 * (1 + np.abs(low))
        assert np.all(found.lower <= high + slack)
        assert np.all(found.upper >= low - slack)
        assert np.all(found.upper - found.lower < 1e-9)


def line(law, functional, t):
    """The line through t's own saddle."""
    tails = ContourTails(law, functional)
    place = tails.sketch(threshold=(t, t)).at_threshold(t)
    made = line_at(law, functional, place, np.asarray([t]))
    assert made is not None
    return made


CASES = [
    (sampled(1.0, 0.01), 1000, DELTA, 1.0, False),
    (sampled(0.6, 0.05), 60, P_ABOVE, 2.0, False),
    (sampled(2.0, 0.5), 30, Q_ABOVE, 0.5, True),
]


@pytest.mark.parametrize("count", [1, 2, 70, 1500])
def test_sums_of_waves_err_by_less_than_they_say(count):
    rng, ctx.prec = np.random.default_rng(count), 120
    for step in (2.0**-20, 0.7265625, 2.0**20):
        phases, errors = np.exp(2j * math.pi * rng.random(count)), 1e-13 * rng.random(count)
        value = phases * np.exp(-rng.uniform(0, 20, count))
        t = np.concatenate([[0.0], rng.normal(size=4) * 10.0 ** rng.uniform(-3, 2, 4)])
        for at in (t, np.concatenate([t, rng.normal(size=400)])):
            found = Waves.of(Disc(value, errors), step).at(at)
            for low, high, x in zip(found.lower[:5], found.upper[:5], t, strict=True):
                turn = acb(0, -arb(step) * arb(x))
                truth = sum((acb(w) * (turn * k).exp()).real for k, w in enumerate(value.tolist()))
                assert arb(low) + errors.sum() <= truth <= arb(high) - errors.sum()
                rounding = 1e-13 * np.abs(value).sum() * (1 + step * count * abs(x))
                assert high - low <= 2.001 * errors.sum() + rounding


@pytest.mark.parametrize(("law", "count", "functional", "t", "reverse"), CASES)
@pytest.mark.parametrize("every", [2, 3, 4, 6])
def test_a_shorter_period_shows_its_aliases_and_no_more(law, count, functional, t, reverse, every):
    fine = line(summed(law, count, reverse), functional, t)
    coarse = replace(
        fine,
        step=fine.step * every,
        u=fine.u[::every],
        exponent=fine.exponent.at(slice(None, None, every)),
    )
    at = np.asarray([t])
    sound, short = fine.tail(functional), coarse.tail(functional)
    true, more = math.exp(sound.middle(at)[0]), math.exp(short.middle(at)[0])
    excess, room = more - true, 1e-11 * true
    # The aliases are never negative, and the bound is above what they are.
    assert excess >= -room
    scale = short.base - short.lift * at
    aliases = np.logaddexp(*short.bounds.at(at)[1:, 0]) + scale.upper[0]
    assert excess <= math.exp(aliases) + room
    found = short.log_bracket(at)
    assert found.lower[0] <= math.log(true) <= found.upper[0]
    if every == 6:
        # Without the bound of the aliases the twin is caught: its middle is off by far more.
        assert excess > 100 * short.waves.flat / short.waves.about(at)[0] * true


@pytest.mark.parametrize(("law", "count", "functional", "t", "reverse"), CASES)
@pytest.mark.parametrize("share", [0.2, 0.35, 0.5, 0.7])
def test_a_line_that_ends_early_stays_in_the_bracket(law, count, functional, t, reverse, share):
    whole = line(summed(law, count, reverse), functional, t)
    kept = max(int(share * whole.u.size), 2)
    short = replace(whole, u=whole.u[:kept], exponent=whole.exponent.at(slice(kept)))
    at = np.asarray([t])
    true, found = whole.tail(functional).middle(at)[0], short.tail(functional).log_bracket(at)
    assert found.lower[0] <= true <= found.upper[0]
    if share == 0.2:
        # Without the bound of the rest the twin is caught.
        nothing = Interval.exactly(np.zeros(1))
        rest = replace(short.tail(functional), rest=nothing).log_bracket(at)
        assert not rest.lower[0] <= true <= rest.upper[0]


def test_an_error_of_the_cumulant_is_felt():
    whole = line(summed(sampled(1.0, 0.01), 1000, False), DELTA, 1.0)
    at, rng = np.asarray([1.0]), np.random.default_rng(13)
    worst = 0.0
    for size in (1e-9, 1e-4, 0.3):
        exponent = whole.exponent.value
        wrong = replace(whole, exponent=Disc(exponent, np.full(whole.u.shape, size)))
        found = wrong.tail(DELTA).log_bracket(at)
        for _ in range(20):
            phase = np.exp(2j * math.pi * rng.random(whole.u.size))
            phase[0] = rng.choice([-1, 1])
            moved = replace(whole, exponent=Disc.exactly(exponent + size * phase))
            value = moved.tail(DELTA).middle(at)[0]
            assert found.lower[0] <= value <= found.upper[0]
            worst = max(worst, abs(value - whole.tail(DELTA).middle(at)[0]) / size)
    assert worst > 0.1


@pytest.mark.parametrize("functional", FUNCTIONALS.values(), ids=FUNCTIONALS)
@pytest.mark.parametrize("reverse", [False, True])
def test_thresholds_are_bracketed(functional, reverse):
    law = summed(sampled(0.9, 0.02), 500, reverse)
    tails = ContourTails(law, functional)
    asked = np.log([0.2, 0.01, 1e-5, 1e-10])
    found = tails.threshold(asked)
    assert np.all(np.isfinite(found.lower) & np.isfinite(found.upper))
    assert np.all(found.upper - found.lower < 1e-8)
    # F(lower) >= the tail asked >= F(upper), by other contours than those that found them.
    assert np.all(tails.log_tail(found.lower - 1e-9).upper >= asked)
    assert np.all(tails.log_tail(found.upper + 1e-9).lower <= asked)
    inside = tails.log_tail((found.lower + found.upper) / 2)
    assert np.all(np.abs(inside.lower - asked) < 1e-7)


def test_far_thresholds_stay_sound():
    # Beyond the largest loss nothing is left, and far to the left everything.
    law = summed(sampled(1.0, 0.3), 3, True)
    most = -3 * math.log1p(-0.3)
    t = np.asarray([-40.0, most * 0.999, most * 1.001, most + 5, 60.0])
    for functional in FUNCTIONALS.values():
        found = ContourTails(law, functional).log_tail(t)
        assert not np.any(np.isnan([*found]))
        assert np.all(found.lower <= found.upper)
        assert np.all(np.isneginf(found.lower[2:]))
        assert found.upper[0] == 0 or found.upper[0] > -1e-6


def test_atoms_have_a_delta_but_no_single_pole():
    # Randomized response: delta is a binomial sum; a jump needs the whole line.
    eps, count = 0.3, 12
    signs = np.asarray([eps, -eps])
    points = WeightedLosses.of(-np.logaddexp(0.0, signs), np.expm1(signs))
    law = LossSum.of(AtomicLaw(points)).times(count)
    k = np.arange(count + 1)
    log_choose = np.asarray(
        [math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1) for i in k]
    )
    p, q = 1 / (1 + math.exp(eps)), 1 / (1 + math.exp(-eps))
    mass_q = np.exp(log_choose + k * math.log(q) + (count - k) * math.log(p))
    loss = eps * (2 * k - count)
    for t in (0.15, 1.0, 2.1):
        delta = np.sum(mass_q * np.maximum(-np.expm1(t - loss), 0))
        found = ContourTails(law, DELTA).log_tail(np.asarray([t]))
        assert found.lower[0] <= math.log(delta) + 1e-12
        assert found.upper[0] >= math.log(delta) - 1e-12
        above = ContourTails(law, Q_ABOVE).log_tail(np.asarray([t]))
        caught = math.log(mass_q[loss > t].sum())
        assert above.lower[0] <= caught <= above.upper[0]


def test_the_formulas_have_their_poles():
    # The wrong pole gives a wrong number, far out of the bracket.
    law, at = summed(sampled(1.0, 0.01), 1000, False), np.asarray([1.0])
    right = line(law, Q_ABOVE, 1.0)
    found, twin = right.tail(Q_ABOVE).log_bracket(at), right.tail(Functional(0.0, False))
    assert not found.lower[0] <= twin.middle(at)[0] <= found.upper[0]


def test_a_line_serves_only_poles_on_its_left():
    # P(L > t) at its median, mu just below 1: c just right of 1, and points of the strip that
    # bound P(L > t) lie left of Q's pole, where they bound nothing of Q(L > t).
    mu = 0.97
    law, t = LossSum.of(NormalLaw(mu**2 / 4)).times(4), -(mu**2) / 2
    made = line(law, P_ABOVE, t)
    assert made.c > 1
    assert made.points[0] < 1
    found = made.tail(Q_ABOVE).log_bracket(np.asarray([t]))
    assert found.lower[0] <= log_ndtr(np.asarray(mu)) <= found.upper[0]


@pytest.mark.parametrize("x", [1.0 + 1e-9, 1.01, 1.5, 3.0, 40.0, 1e6])
def test_chernoffs_factor_is_the_largest_ratio(x):
    # (e^y - 1) e^(-xy) is largest where e^-y = 1 - 1/x; nowhere above, and equal there.
    most = math.exp(DELTA.log_chernoff(np.asarray([x])).upper[0])
    top = -math.log1p(-1 / x)
    y = top * np.asarray([0.01, 0.5, 0.9, 1.0, 1.1, 2.0, 30.0])
    ratio = np.expm1(y) * np.exp(-x * y)
    assert np.all(ratio <= most * (1 + 1e-14))
    assert ratio[3] >= most * (1 - 1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_very_many_steps_keep_the_bracket_narrow(reverse):
    law = summed(sampled(1.0, 1e-6), 10**12, reverse)
    found = ContourTails(law, DELTA).threshold(np.log(np.asarray([1e-5])))
    assert 0 < found.upper[0] - found.lower[0] < 1e-9 * found.upper[0]
    made = line(law, DELTA, float(found.upper[0]))
    assert made.u.size < 200
