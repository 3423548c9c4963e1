"""The logistic curve is the envelope of bounded range, and composes with a proof."""

import json
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from frozen import frozen
from neyman.curves import Lattice, bounded_range, identity, laplace, pure_dp, read, zcdp
from neyman.errors import InvalidParameter
from neyman.numerics._laws._logistic_law import LogisticLaw

X = np.linspace(-2.5, 2.5, 201)


def excess(p, q):
    return np.sum(np.maximum(q - np.exp(X)[:, None] * p, 0.0), axis=1)


@pytest.mark.shows("curve of ExponentialMechanism")
def test_no_exponential_mechanism_passes_the_curve_and_their_envelope_is_it():
    """Random weights that move by factors within e^(eta/2), and those that attain each point."""
    rng, eta = np.random.default_rng(2), 1.3
    seen = np.zeros(X.shape)
    for _ in range(2000):
        size = int(rng.integers(2, 8))
        p = rng.dirichlet(np.full(size, 0.5))
        loss = rng.uniform(0, eta, size) if rng.random() < 0.5 else eta * (rng.random(size) < 0.5)
        q = p * np.exp(loss)
        seen = np.maximum(seen, excess(p, q / q.sum()))
    curve = bounded_range(eta)
    assert np.all(seen <= curve.delta(X) + 1e-12)
    # Losses t and t - eta, each of P-mass that makes the mean of e^L one.
    for t in np.linspace(0.01, eta - 0.01, 300):
        high = (1 - np.exp(t - eta)) / (np.exp(t) - np.exp(t - eta))
        p = np.array([high, 1 - high])
        seen = np.maximum(seen, excess(p, p * np.exp([t, t - eta])))
    assert np.all(seen >= curve.delta(X) - 1e-4)
    assert np.any(seen > bounded_range(0.95 * eta).delta(X))


def test_the_curve_lies_between_its_neighbours():
    for eta in (0.01, 1, 5):
        assert bounded_range(eta).implies(laplace(1.01 * eta))
        assert bounded_range(eta).implies(pure_dp(eta))
        assert bounded_range(eta / 2).implies(bounded_range(eta))
        assert not laplace(eta).implies(bounded_range(eta))
        assert not bounded_range(eta).implies(bounded_range(0.99 * eta))


def cumulant(s, eta):
    m = 2 * mp.mpmathify(s) - 1
    half = mp.mpf(eta) / 2
    return mp.log(mp.sinh(m * half) / (m * mp.sinh(half)))


@pytest.mark.parametrize("eta", [1e-8, 0.3, 1.9, 2.1, 30.0])
def test_the_law_on_a_line_and_its_decay(eta):
    law, rng = LogisticLaw(eta), np.random.default_rng(4)
    with mp.workdps(50):
        for _ in range(60):
            c = float(
                rng.choice([rng.normal(), rng.normal() * 10 / eta, 0.5 + rng.normal() * 1e-9])
            )
            u = abs(float(rng.normal())) * float(rng.choice([1.0, 3 / eta]))
            value, error = law.line(c, np.array([u]))
            truth = cumulant(mp.mpc(c, u), eta)
            off = abs(mp.expm1(mp.mpc(complex(value[0])) - truth))
            assert off <= mp.expm1(error[0]) if error[0] < 0.5 else True
            assert abs(float(law.real(np.array([c])).value[0] - cumulant(c, eta).real)) <= float(
                law.real(np.array([c])).error[0]
            )
            bound = law.decay(c, np.array([u]), 1.0)[0]
            for further in u * (1 + np.abs(rng.normal(size=6))):
                gap = (cumulant(mp.mpc(c, float(further)), eta) - cumulant(c, eta)).real
                assert gap <= bound


def test_the_integral_of_the_decay_is_bounded():
    law = LogisticLaw(1.5)
    for c in (0.5, 1.2, 7.0, 40.0):
        for u in (0.05, 1.0, 30.0):
            bound = float(np.exp(law.decay_integral(c, np.array([u]), 1.0))[0])
            v = np.geomspace(u, 1e7, 40_000)
            size = np.exp((law.at(c + 1j * v) - law.at(np.array([c + 0j]))).real) / v
            assert float(np.trapezoid(size, v)) <= bound


@pytest.mark.parametrize(("eta", "times"), [(1, 2), (1, 3), (1, 20), (0.1, 400), (6, 5)])
def test_composition_agrees_with_rounded_losses(eta, times):
    both = bounded_range(eta) ** times
    lattice = Lattice(Fraction(eta).limit_denominator() / 100)
    at = np.array([0.0, 0.3, 1.0]) * eta * np.sqrt(times)
    first, second = both.delta(at, bracket=True), both.delta(at, solver=lattice, bracket=True)
    assert np.all(first.lower <= second.upper)
    assert np.all(second.lower <= first.upper)
    assert np.all(first.upper <= first.lower * (1 + 2e-5) + 1e-300)


@frozen
def irwin_hall_delta(eta, n, x):
    """delta of n copies: the loss is a sum of n tilted uniforms, in exact pieces."""
    eta, x = mp.mpf(eta), mp.mpf(x)
    factor = mp.exp(n * eta / 2) / (2 * (mp.exp(eta) - 1)) ** n * (2 * eta) ** (n - 1)

    def density(loss):
        t = (loss + n * eta) / (2 * eta)
        pieces = [
            (-1) ** j * mp.binomial(n, j) * (t - j) ** (n - 1) for j in range(int(mp.floor(t)) + 1)
        ]
        return factor * mp.exp(-loss / 2) * sum(pieces) / mp.factorial(n - 1)

    knots = [x, *(k for k in ((2 * j - n) * eta for j in range(n + 1)) if k > x)]
    return mp.quad(lambda loss: (mp.exp(loss) - mp.exp(x)) * density(loss), knots)


@pytest.mark.parametrize(("eta", "n"), [(1, 2), (1, 3), (4, 3), (1, 5), ("0.1", 12)])
def test_compositions_enclose_their_exact_law(eta, n):
    curve = bounded_range(float(eta)) ** n
    with mp.workdps(50):
        for x in (0.0, 0.25 * float(eta) * n, 0.75 * float(eta) * n):
            lower, upper = curve.delta(x, bracket=True)
            truth = irwin_hall_delta(mp.mpf(eta), n, x)
            assert lower <= truth <= upper
            assert upper - lower <= truth * (1e-4 if n == 2 else 1e-9)


def test_several_releases_take_the_better_of_two_bounds():
    better, rho = bounded_range(0.1, times=100), Fraction(100, 800)
    found = better.epsilon(1e-5, bracket=True)
    assert found.upper == zcdp(rho).epsilon(1e-5) < (bounded_range(0.1) ** 100).epsilon(1e-5)
    # A bound of a class, of which a member may lose nothing.
    assert (found.lower, found.of) == (0, "class")
    assert better.delta(found.upper, bracket=True).upper <= 1e-5 * (1 + 1e-8)
    assert bounded_range(1, times=20).remove.parts[0] == (bounded_range(1) ** 20).remove


def test_one_release_and_none():
    assert bounded_range(1, times=1) == bounded_range(1)
    assert bounded_range(0) == bounded_range(0, times=9) == identity()
    assert read(json.dumps(bounded_range(0.1, times=7).to_json())) == bounded_range(0.1, times=7)


@pytest.mark.parametrize("times", [0, -1, True, 1.0])
def test_refusals(times):
    with pytest.raises(InvalidParameter, match="times must be an int of at least 1; got"):
        bounded_range(1, times=times)
    with pytest.raises(InvalidParameter, match="negative"):
        bounded_range(-1)
