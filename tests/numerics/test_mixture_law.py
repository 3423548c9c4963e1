"""The certificates of the mixtures' cumulant against ball arithmetic: each tried to be broken."""

from dataclasses import replace

import numpy as np
import pytest
from flint import acb

from neyman.numerics import ULP, GaussianMixtureLaw, LossSum, Shifts, Span
from neyman.numerics._laws._weighted import PointRows


def sampled(sigma, q):
    """Poisson sampling, add or remove."""
    return GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, 1 / sigma), (1 - q, q)))


def mixtures(t):
    """Two-sided ones, and ones without a mean at 0, with gaps between the means."""
    zero = Shifts((0.0,), (1.0,))
    return [
        GaussianMixtureLaw(Shifts((-t, 0.0), (0.5, 0.5)), Shifts((0.0, t), (0.5, 0.5))),
        GaussianMixtureLaw(Shifts((-2 * t, -t, 0.0), (0.25, 0.25, 0.5)), Shifts((t,), (1.0,))),
        GaussianMixtureLaw(zero, Shifts((t, 2 * t), (0.5, 0.5))),
        GaussianMixtureLaw(zero, Shifts((t, 1.25 * t), (0.75, 0.25))),
        GaussianMixtureLaw(zero, Shifts((0.0, t, 3 * t), (0.5, 0.375, 0.125))),
    ]


def draws(count, seed):
    """Laws with a real part and a height, all over the place."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sigma, q = 10 ** rng.uniform(-0.7, 2), 10 ** rng.uniform(-7, -0.02)
        wide = min(200.0, 24 * sigma)
        c = rng.uniform(-wide, wide) if rng.random() < 0.5 else rng.uniform(-2, 3)
        yield sampled(sigma, q), c, 10 ** rng.uniform(-2, 2.3)
    for _ in range(count // 10):
        for law in mixtures(10 ** rng.uniform(-1.5, 0.2)):
            wide = 8 / (law.p.far + law.q.far)
            yield law, rng.uniform(-wide, wide + 1), 10 ** rng.uniform(-1, 1.5)


def misses(law, c, height, exact_steps, rng, nodes=None):
    """Yield |computed / true - 1| of e^K over its stated bound, at a few heights."""
    nodes = law.prepared(Span(c - 0.1, c + 0.1, height)) if nodes is None else nodes
    # Equally spaced, as a line asks.
    u = np.linspace(0.0, height, rng.integers(3, 9))
    value, error = nodes.line(c, u)
    grid = exact_steps(law, c, c, height)
    for height_, k, wrong in zip(u.tolist(), value.tolist(), error.tolist(), strict=True):
        if wrong < 0.1:
            ratio = acb(k.real, k.imag).exp() / grid.moment(complex(c, height_))
            yield float(abs(ratio - 1).mid()) / np.expm1(wrong), wrong / (1e-300 + abs(k))


def check_cumulant(count, seed, exact_steps):
    rng = np.random.default_rng(seed)
    shares, sizes = zip(
        *(m for law, c, h in draws(count, seed) for m in misses(law, c, h, exact_steps, rng)),
        strict=True,
    )
    assert len(shares) > 1.5 * count
    assert max(shares) <= 1
    # It is a bound of use, too.
    assert np.median(sizes) < 1e-12


def test_the_cumulant_is_within_its_error(exact_steps):
    check_cumulant(40, 1, exact_steps)


@pytest.mark.soak
def test_the_cumulant_is_within_its_error_at_many(exact_steps):
    check_cumulant(1000, 2, exact_steps)


@pytest.mark.parametrize(
    ("sigma", "q", "c"), [(50, 0.9, -1500), (20, 0.95, -400), (20, 0.5, -800), (0.5, 0.01, 9.0)]
)
def test_the_window_follows_the_tilt(sigma, q, c, exact_steps):
    law = sampled(sigma, q)
    real = law.prepared(Span(c, c, 0.0)).real(np.asarray([float(c)]))
    truth = float(exact_steps(law, c, c, 1.0).moment(complex(c, 0)).log().real.mid())
    assert abs(real.value[0] - truth) <= real.error[0] + ULP * abs(truth)
    assert real.error[0] < 0.01


def test_reversing_exchanges_the_laws(exact_steps):
    law = sampled(0.8, 0.03)
    nodes = LossSum(((law, 3.0, True),)).prepared(Span(2.0, 2.0, 4.0))
    value, error = nodes.line(2.0, np.asarray([0.0, 2.0, 4.0]))
    truth = exact_steps(law, 2.0, 2.0, 4.0, reverse=True).moment(complex(2.0, 4.0)) ** 3
    ratio = acb(value[2].real, value[2].imag).exp() / truth
    assert float(abs(ratio - 1).mid()) <= np.expm1(error[2])


def check_decay(count, seed, exact_steps):
    rng = np.random.default_rng(seed)
    gaps, tightness = [], []
    for law, c, _ in draws(count, seed):
        if abs(c) > 60:
            continue
        turn = law.p.far + law.q.far
        u = np.geomspace(0.05, 60.0, 12) / turn
        copies = 10 ** rng.uniform(0, 6)
        bound = law.prepared(Span(c - 0.2, c + 0.2, 0.0)).decay(c, u, copies)
        assert np.all(bound <= 0)
        grid = exact_steps(law, c, c, 2 * float(u[-1]))
        top = grid.moment(complex(c, 0))
        for k in rng.choice(12, 3):
            # It bounds the modulus at every larger height.
            v = float(u[k]) * (1 + max(0.0, rng.uniform(-1, 1)))
            true = float((abs(grid.moment(complex(c, v))) / abs(top)).log().mid())
            gaps.append(true - bound[k])
            # The number of copies says where it will matter.
            if -20 < true < -60 / copies:
                tightness.append(bound[k] / true)
    assert max(gaps) <= 0
    assert np.median(tightness) > 0.1


def test_the_decay_bounds_all_that_is_above(exact_steps):
    check_decay(30, 3, exact_steps)


@pytest.mark.soak
def test_the_decay_bounds_all_that_is_above_at_many(exact_steps):
    check_decay(600, 4, exact_steps)


def test_the_integrated_decay_is_above_the_integral(exact_steps):
    rng = np.random.default_rng(5)
    for law, c, _ in draws(20, 5):
        if abs(c) > 20:
            continue
        turn = law.p.far + law.q.far
        u = 10 ** rng.uniform(-1, 1, 2) / turn
        bound = law.prepared(Span(c - 0.2, c + 0.2, 0.0)).decay_integral(c, u, 3.0)
        grid = exact_steps(law, c, c, 40 / turn + 1)
        log = grid.double_log_weight + c * grid.double_loss
        share = np.exp(log - log.max())
        share /= share.sum()
        for start, most in zip(u.tolist(), bound.tolist(), strict=True):
            v = np.geomspace(start, 40 / turn + start, 400)
            modulus = np.abs(np.exp(1j * np.outer(v, grid.double_loss)) @ share)
            # Right sums of a function that need not fall, at 1e-3 below themselves.
            integral = np.trapezoid(np.maximum(modulus - 1e-14, 0), np.log(v))
            assert integral * (1 - 1e-2) <= np.exp(most)


def test_a_sum_is_bounded_by_its_terms(exact_steps):
    first, second = sampled(1.0, 0.1), sampled(0.7, 0.02)
    both = LossSum(((first, 5.0, False), (second, 9.0, True)))
    nodes, u = both.prepared(Span(1.5, 1.5, 8.0)), np.asarray([0.5, 2.0, 8.0])
    bound, integral = nodes.decay(1.5, u, 1.0), nodes.decay_integral(1.5, u, 1.0)
    one, two = exact_steps(first, 1.5, 1.5, 16.0), exact_steps(second, 1.5, 1.5, 16.0, reverse=True)

    def modulus(v):
        at, top = complex(1.5, v), complex(1.5, 0)
        return (
            5 * (abs(one.moment(at)) / abs(one.moment(top))).log()
            + 9 * (abs(two.moment(at)) / abs(two.moment(top))).log()
        )

    for k in range(3):
        for v in np.linspace(u[k], 2 * u[k], 4).tolist():
            assert float(modulus(v).mid()) <= bound[k]
    v = np.geomspace(2.0, 16.0, 60)
    inner = np.trapezoid(np.exp([float(modulus(x).mid()) for x in v.tolist()]), np.log(v))
    assert inner <= np.exp(integral[1])


def test_a_broken_twin_is_caught(exact_steps):
    # Every twelfth node, twelve times the weight, and the bounds of the finer grid.
    law, rng = sampled(0.5, 0.3), np.random.default_rng(6)
    nodes = law.prepared(Span(2.4, 2.6, 4.0))
    above = nodes.lifted.points
    log_weight, loss = above.log_weight[:, ::12] + np.log(12), above.loss[:, ::12]
    coarse = PointRows.of(log_weight, loss, np.expm1(loss))
    broken = replace(nodes, lifted=replace(nodes.lifted, points=coarse))
    sound = [share for share, _ in misses(law, 2.5, 4.0, exact_steps, rng)]
    wrong = [share for share, _ in misses(law, 2.5, 4.0, exact_steps, rng, broken)]
    assert max(sound) <= 1 < max(wrong)


def test_what_is_too_large_is_said_to_be_unknown():
    nodes = sampled(0.2, 0.5).prepared(Span(-190.0, 190.0, 10.0))
    real = nodes.real(np.asarray([150.0]))
    assert not (np.isfinite(real.value[0]) and np.isfinite(real.error[0]))
