"""Random allocation against independent values, its own directions, and broken twins."""

import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import neyman as ny
from neyman.accounting import from_dp_event, random_allocation
from neyman.curves._pairs._allocation import AllocationPair
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics._distributions._lognormal_mean import LognormalMean
from neyman.numerics._distributions._lognormal_panels import transform


@pytest.mark.parametrize(
    ("noise", "steps", "epsilon", "remove", "add"),
    [
        (1, 100, 1.0, 3.01577448e-7, 1.0503e-19),
        (1, 10, 1.0, 2.782869e-3, 4.861858e-4),
        (2, 50, 0.3, 9.31329489e-7, 5.39462e-7),
    ],
)
def test_published_values(noise, steps, epsilon, remove, add):
    f = random_allocation(noise_multiplier=noise, steps=steps)
    for pair, truth, digits in ((f.remove, remove, 2e-7), (f.add, add, 1e-4)):
        found = pair.delta(epsilon, bracket=True)
        assert found.upper - found.lower < 1e-9 * found.upper
        assert found.upper == pytest.approx(truth, rel=digits)


@pytest.mark.parametrize(("tau", "m"), [(1.0, 1.4), (0.5, 1.1), (2.0, 0.7)])
def test_two_steps_by_one_integral(tau, m):
    """E(S - m)_+ by summing the closed form of one variable over the other."""
    from scipy.special import ndtr

    z = np.linspace(-14, 14, 400_001)
    level = 2 * m - np.exp(tau * z - tau * tau / 2)
    safe = np.maximum(level, 1e-300)
    d = (-np.log(safe) + tau * tau / 2) / tau
    inner = np.where(level > 0, ndtr(d) - safe * ndtr(d - tau), 1 - level)
    truth = np.sum(np.exp(-z * z / 2) * inner) * (z[1] - z[0]) / np.sqrt(2 * np.pi) / 2
    mean, at = LognormalMean(tau, 2), np.asarray([np.log(m)])
    found = mean.log_excess(at) if m > 1 else mean.log_shortfall(at)
    truth = truth if m > 1 else truth - 1 + m
    slack = 1e-8
    assert np.exp(found.lower[0]) * (1 - slack) <= truth <= np.exp(found.upper[0]) * (1 + slack)
    assert found.upper[0] - found.lower[0] < 1e-5


def test_one_curve_over_all_epsilon():
    pair = AllocationPair(Fraction(1), 20)
    grid = np.asarray([-1.0, -0.2, 0.0, 0.3, 2.0])
    here, there = pair.delta_bracket(grid), pair.swap().delta_bracket(-grid)
    turned = -np.expm1(grid) + np.exp(grid) * there.upper
    np.testing.assert_allclose(here.upper, turned, rtol=1e-6, atol=1e-9)
    assert np.all(np.diff(here.upper) < 0)


@pytest.mark.parametrize(("sign", "top"), [(1, 3.0), (1, 1.5), (-1, 13.0)])
def test_the_line_is_the_integral(sign, top):
    """Within the error stated, which is of the logarithm: large where the transform is small."""
    near, weight = np.polynomial.legendre.leggauss(40)
    ends = np.linspace(-15.0, top, 1001)
    half = np.diff(ends)[:, None] / 2
    z = ((ends[1:] + ends[:-1])[:, None] / 2 + half * near).ravel()
    mass = (half * weight).ravel() * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    x = np.exp(0.7 * z - 0.245)
    line, u = transform(0.7, sign, 0.5, 40.0, top), np.asarray([0.0, 0.3, 1.0, 9.0, 37.0])
    value, error = line.line(u)
    true = np.exp(sign * np.outer(0.5 + 1j * u, x - 1)) @ mass
    off, size = np.abs(np.exp(value) - true), np.abs(true)
    assert np.all(off <= size * np.expm1(error) + 3e-14)
    assert np.all(size * error < 2e-11)
    assert np.all(np.log(size[1:]) <= line.log_decay(u[1:]) + 1e-12)
    # A twin without its quadrature: no bound survives a height that it was not laid for.
    assert line._error(0.5, np.asarray([2e3]), 2e3)[0] > 1e-3


# noise, steps, direction, epsilon, log delta: tests/truth/accounting/allocation.py, which shares
# nothing with the library (ball arithmetic, another path).
FROZEN = [
    ("0.5", 10, "add", 8.1169, -61.45166102137378),
    ("0.5", 100, "add", -2.194, -0.1176860265880695),
    ("0.5", 100, "remove", 3.3461, -7.464180026243593),
    ("0.75", 10, "remove", -7.7392, -0.0004355145943137046),
    ("0.75", 10000, "add", -0.089689, -2.455893934754864),
    ("0.75", 2, "remove", 4.9679, -10.0410065206399),
    ("1", 10, "add", 2.1326, -23.38677242970573),
    ("1", 100000, "remove", -0.0149, -4.21382438387463),
    ("1", 2, "add", -4.14, -0.01605096039137638),
    ("1", 2, "remove", -5.3151, -0.004928914216969035),
    ("1", 3, "add", 1.7643, -6.969649902544616),
    ("1", 30, "add", 0.91904, -14.43975222959054),
    ("1.5", 10000, "remove", 0.018641, -11.05817766986168),
    ("1.5", 2, "add", 0.9316, -4.825180098806441),
    ("1.5", 2, "remove", 3.3177, -20.96093726644588),
    ("1.5", 3, "remove", 0.69373, -4.425647616396184),
    ("1.5", 30, "remove", 3.3846, -53.95468768008822),
    ("1/4", 1000, "remove", -43.606, -1.153864526968812e-19),
    ("1/4", 10000, "add", -1.7586, -0.1528162561249931),
    ("2", 10, "remove", -1.4124, -0.2791294728800661),
    ("2", 100, "remove", -0.01886, -3.452407751705879),
    ("2", 2, "add", 1.0667, -8.248534175741633),
    ("2", 30, "add", 0.42748, -16.15306181371197),
    ("2", 30, "remove", -0.18639, -1.766474610112872),
    ("2", 30, "remove", 0.56219, -21.19293238856004),
    ("2", 5, "remove", 1.0606, -13.72391473831886),
]


def _frozen(cases, move=Fraction(1)):
    """Return which values lie in the brackets, and the widths; a twin has its noise moved."""
    good, widths = [], []
    for noise, steps, direction, epsilon, log in cases:
        pair = AllocationPair(Fraction(noise) * move, steps)
        pair = pair if direction == "remove" else pair.swap()
        found, room = pair.log_delta_bracket(np.asarray([epsilon])), 2e-15 * (1 + abs(log))
        good.append(found.lower[0] - room <= log <= found.upper[0] + room)
        widths.append(found.upper[0] - found.lower[0])
    return np.asarray(good), np.asarray(widths)


def test_brackets_hold_independent_values():
    assert len(FROZEN) >= 20
    good, widths = _frozen(FROZEN)
    assert np.all(good)
    assert np.count_nonzero(widths < 1e-7) >= 0.9 * len(FROZEN)


def test_a_twin_of_a_little_more_noise_is_found_out():
    good, widths = _frozen(FROZEN[::4], 1 + Fraction(1, 64))
    assert not np.any(good[widths < 1e-7])


def test_more_noise_more_steps_less_loss():
    least = random_allocation(noise_multiplier=1, steps=50).delta(0.5)
    assert random_allocation(noise_multiplier=1.1, steps=50).delta(0.5) < least
    assert random_allocation(noise_multiplier=1, steps=60).delta(0.5) < least
    assert random_allocation(noise_multiplier=1, steps=1) == ny.gdp(1)


def test_records_events_and_refusals():
    f = random_allocation(noise_multiplier=2, steps=50)
    assert ny.TradeOff.from_json(json.loads(json.dumps(f.to_json()))) == f

    def event(name, **fields):
        return type(name, (SimpleNamespace,), {})(**fields)

    noise = event("GaussianDpEvent", noise_multiplier=2)
    one = event("RandomAllocationDpEvent", event=noise, num_selected=1, num_steps=50)
    assert from_dp_event(one, neighbors="add_remove") == f
    two = event("RandomAllocationDpEvent", event=noise, num_selected=2, num_steps=50)
    with pytest.raises(UnsupportedComposition, match="one step in each epoch"):
        from_dp_event(two, neighbors="add_remove")
    with pytest.raises(InvalidParameter):
        random_allocation(noise_multiplier=0.1, steps=50)
    with pytest.raises(InvalidParameter):
        random_allocation(noise_multiplier=1, steps=0)


@pytest.mark.soak
def test_epochs_by_a_lattice():
    f = random_allocation(noise_multiplier=1, steps=100, epochs=5).remove
    found = f.epsilon(1e-6, bracket=True)
    assert found.lower == pytest.approx(1.435, abs=2e-3)
    assert 0 < found.upper - found.lower < 1e-3
