"""Observed mixtures: values, errors and decays against mpmath, for parts whose K is a formula."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from neyman.numerics import ULP, NormalLaw, Span
from neyman.numerics._laws._mixed_law import MixedLaw


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(40):
        yield


def mixed(shares, sizes):
    """The law with doubles for the shares, and the shares that they stand for."""
    exact = [Fraction(int(share), int(shares.sum())) for share in shares]
    return MixedLaw(tuple(map(float, exact)), tuple(map(NormalLaw, sizes))), exact


def draws(count, seed):
    """Mixtures of some normal laws, wide and narrow, with shares of all sizes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        parts = int(rng.integers(2, 6))
        shares = np.ceil(10 ** rng.uniform(0, 9, parts)).astype(np.int64)
        sizes = 10 ** rng.uniform(-12, 2.5) * rng.uniform(0, 1, parts)
        yield *mixed(shares, sizes.tolist()), 10 ** rng.uniform(-2, 1.7), rng


def moment(law, shares, s):
    """e^K(s)."""
    return mpmath.fsum(
        mpmath.mpf(w.numerator)
        / w.denominator
        * mpmath.exp(mpmath.mpf(part.mu_squared) * s * (s - 1) / 2)
        for w, part in zip(shares, law.laws, strict=True)
    )


def at(c, u):
    return mpmath.mpc(float(c), float(u))


def test_the_value_lies_within_its_error():
    told = 0
    for law, shares, c, rng in draws(150, 1):
        nodes = law.prepared(Span(c, c, 30.0))
        found = nodes.real(np.asarray([c]))
        truth = mpmath.log(moment(law, shares, mpmath.mpf(c)))
        assert abs(truth - float(found.value[0])) <= float(found.error[0])
        u = np.linspace(0, 10 ** rng.uniform(-1, 1.5), 7)
        for height, k, wrong in zip(u, *nodes.line(c, u), strict=True):
            if not wrong < 1:
                continue
            told += 1
            ratio = mpmath.exp(at(k.real, k.imag)) / moment(law, shares, at(c, height))
            assert abs(ratio - 1) <= mpmath.expm1(float(wrong))
    assert told > 700


def test_the_error_is_of_the_size_of_what_is_summed():
    law = MixedLaw((0.25, 0.75), (NormalLaw(1e-9), NormalLaw(2e-9)))
    nodes, c = law.prepared(Span(2.0, 2.0, 5.0)), 2.0
    value, error = nodes.line(c, np.linspace(0, 5, 9))
    assert np.all(error <= 100 * ULP * np.abs(value))
    found = nodes.real(np.asarray([c]))
    assert found.error[0] <= 20 * ULP * found.value[0]


@pytest.mark.parametrize("c", [1.5, 20.0])
def test_nothing_overflows(c):
    law = MixedLaw((0.5, 0.5), (NormalLaw(50.0), NormalLaw(80.0)))
    value, error = law.prepared(Span(c, c, 4.0)).line(c, np.linspace(0.0, 4.0, 5))
    assert np.all(np.isfinite(value[:2]))
    assert np.all(error[:2] < 1e-9)


def test_the_decay_is_a_bound():
    for law, shares, c, rng in draws(150, 2):
        nodes = law.prepared(Span(c, c, 30.0))
        u = np.sort(10 ** rng.uniform(-2, 1.5, 4))
        bound = nodes.decay(c, u, 1.0)
        whole = abs(moment(law, shares, mpmath.mpf(c)))
        for height, log in zip(u, bound, strict=True):
            for further in (1.0, 1.3):
                truth = mpmath.log(abs(moment(law, shares, at(c, height * further))) / whole)
                assert truth <= float(log)


def test_the_decay_of_parts_alike_is_tight():
    """Nothing is assumed: one law, mixed with itself, decays as it does but for rounding."""
    c, u = 3.0, np.asarray([0.1, 1.0, 4.0])
    one = NormalLaw(0.7)
    nodes = MixedLaw((0.125, 0.875), (one, one)).prepared(Span(c, c, 4.0))
    truth = np.asarray([-float(mpmath.mpf(0.7) * at(0, x).imag ** 2 / 2) for x in u])
    excess = nodes.decay(c, u, 1.0) - truth
    assert np.all(excess >= 0)
    assert np.all(excess < 1e-12)
    log = nodes.decay_integral(c, u, 1.0) - one.decay_integral(c, u, 1.0)
    assert np.all(log >= 0)
    assert np.all(log < 1e-12)


def test_the_integral_of_the_decay_is_a_bound():
    law, shares = mixed(np.asarray([1, 3]), (0.3, 2.0))
    c, u = 2.5, np.asarray([0.3, 1.0, 3.0])
    bound = law.prepared(Span(c, c, 3.0)).decay_integral(c, u, 1.0)
    whole = abs(moment(law, shares, mpmath.mpf(c)))
    for start, log in zip(u, bound, strict=True):
        total = mpmath.quad(
            lambda v: abs(moment(law, shares, mpmath.mpc(c, v))) / whole / v, [start, 3, 6, 12, 40]
        )
        assert mpmath.log(total) <= float(log)


def test_parts_that_are_not_known_leave_nothing_known():
    """An error without bound must not hide behind a share."""

    def lost(law):
        found = law.prepared(Span(2.0, 2.0, 1.0))
        return found.decay(2.0, np.asarray([1.0]), 1.0), found.line(
            2.0, np.asarray([0.0, 1.0])
        ).error

    sure = MixedLaw((0.5, 0.5), (NormalLaw(1.0), NormalLaw(2.0)))
    far = MixedLaw((0.5, 0.5), (NormalLaw(1.0), NormalLaw(1e308)))
    assert lost(sure)[0] < -0.5
    with np.errstate(all="ignore"):
        decay, error = lost(far)
    assert decay == 0 or not error[1] < np.inf
