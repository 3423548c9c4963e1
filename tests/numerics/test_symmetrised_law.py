"""The law of a sample of fixed size, against quadrature of its own and by convolution."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from frozen import frozen
from neyman.curves import Lattice, gdp
from neyman.curves._pairs._symmetrised import SymmetrisedPair
from neyman.curves._tradeoff import TradeOff
from neyman.numerics import Span
from neyman.numerics._laws._symmetrised_decay import Tilted
from neyman.numerics._laws._symmetrised_law import SymmetrisedGaussianLaw
from neyman.numerics._laws._symmetrised_panels import NODE, NODES, ORDER, WEIGHTS

LAWS = [(10 / 11, 256 / 60_000), (4.0, 0.1), (1.0, 0.9), (0.1, 0.5)]


def loss_exactly(mu, q, x):
    return mp.log(1 - mp.mpf(q) + mp.mpf(q) * mp.exp(mp.mpf(mu) * x))


@frozen
def cumulant_exactly(mu, q, s):
    """Return K(s) by quadrature of another kind, at 30 digits."""
    with mp.workdps(30):

        def integrand(x):
            loss = loss_exactly(mu, q, x)
            density = mp.npdf(x + mp.mpf(mu) / 2)
            return density * mp.expm1(s * loss) * mp.expm1((1 - s) * loss)

        top = 12 + float(mu) * (2 + max(abs(s.real), 1))
        ends = [mp.mpf(k) * top / 12 for k in range(13)]
        return mp.log1p(-mp.quad(integrand, ends))


@pytest.mark.parametrize(
    ("mu", "q"),
    [pytest.param(*law, marks=pytest.mark.soak) if law[0] > 2 else law for law in LAWS],
)
def test_the_cumulant_within_its_error(mu, q):
    law = SymmetrisedGaussianLaw(mu, q)
    step = 3.0 / mu
    nodes = law.prepared(Span(1.05, 8.0, 4 * step))
    reals = np.asarray([1.05, 3.0, 8.0])
    real = nodes.real(reals)
    for at, value, error in zip(reals.tolist(), real.value, real.error, strict=True):
        true = float(cumulant_exactly(mu, q, mp.mpf(at)))
        assert abs(value - true) <= error
        # Steep tilts of large μ are known less well.
        assert error <= 1e-8 * abs(true) or at > 3
    value, error = nodes.line(3.0, step * np.arange(5.0))
    for j in (0, 1, 4):
        true = complex(cumulant_exactly(mu, q, mp.mpc(3.0, step * j)))
        # As a factor: what is lost in its error is off by log 3.
        assert abs(np.expm1(true - value[j])) <= np.expm1(error[j])
        assert error[j] <= 1e-5 or mu > 2


def transform(mu, q, c, v):
    """Return the atom and the rest of e^K(c + iv) by a fine sum, good to about 1e-9."""
    x, h = np.linspace(0.0, 14 + mu * (2 + abs(c)), 20_001, retstep=True)
    loss = np.log1p(q * np.expm1(mu * x))
    weight = np.full(x.size, 2.0)
    weight[1::2] = 4.0
    weight[[0, -1]] = 1.0
    density = h / 3 * weight * np.exp(-((x + mu / 2) ** 2) / 2) / math.sqrt(2 * math.pi)
    up, down = density * np.exp(c * loss), density * np.exp((1 - c) * loss)
    found = [np.sum(up * np.exp(1j * a * loss) + down * np.exp(-1j * a * loss)) for a in v]
    return (1 - q) * math.erf(mu / math.sqrt(8)), np.asarray(found)


def tilted_and_truth(mu, q, c):
    """Return the prepared nodes, heights, and |e^(K(c + iv) - K(c))| there."""
    atom, scale = transform(mu, q, c, [0.0])
    spread = mu * math.sqrt(q)
    v = np.concatenate([np.linspace(0.05, 60, 150) / spread, np.geomspace(60, 200, 15) / spread])
    _, rest = transform(mu, q, c, v)
    total = atom + scale[0].real
    nodes = SymmetrisedGaussianLaw(mu, q).prepared(Span(c, c, 1.0 / spread))
    return nodes, v, np.abs(atom + rest) / total, np.abs(rest) / total


@pytest.mark.parametrize(("mu", "q", "c"), [(1.0, 0.1, 4.0), (4.0, 0.1, 1.5), (0.5, 0.6, -3.0)])
def test_the_decay_bounds_all_that_is_above(mu, q, c):
    nodes, v, size, _ = tilted_and_truth(mu, q, c)
    u = np.asarray([0.2, 1.0, 5.0, 30.0]) / (mu * math.sqrt(q))
    for count in (1.0, 1e4):
        bound = np.exp(nodes.decay(c, u, count))
        worst = np.asarray([size[v >= a].max() for a in u])
        assert np.all(worst <= bound * (1 + 1e-8))
    # And says something.
    assert bound[-1] < 1 - 0.5 * (1 - worst[-1])


def test_a_decay_without_the_atom_is_caught(monkeypatch):
    mu, q, c = 1.0, 0.1, 4.0
    nodes, v, size, _ = tilted_and_truth(mu, q, c)
    u = np.asarray([150.0]) / (mu * math.sqrt(q))
    whole = Tilted.decay

    def forgotten(self, heights, count):
        return whole(replace(self, log_atom=-700.0), heights, count)

    monkeypatch.setattr(Tilted, "decay", forgotten)
    assert size[v >= u].max() > np.exp(nodes.decay(c, u, 1.0))[0]


@pytest.mark.parametrize(("mu", "q", "c"), [(1.0, 0.1, 4.0), (4.0, 0.1, 1.5), (1.0, 0.02, 2.0)])
def test_the_variation_bounds_the_density(mu, q, c):
    nodes, v, _, _ = tilted_and_truth(mu, q, c)
    _, rest = transform(mu, q, c, v)
    both = math.exp(nodes.panels.variation(c)) + math.exp(nodes.panels.variation(1 - c))
    largest = np.max(np.abs(rest) * v)
    assert largest <= both <= 60 * largest


def test_nodes_and_weights_are_as_good_as_is_claimed():
    with mp.workdps(40):
        for node, weight in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
            root = mp.findroot(lambda x: mp.legendre(ORDER, x), mp.mpf(node))
            slope = mp.diff(lambda x: mp.legendre(ORDER, x), root)
            assert abs(root / node - 1) <= NODE
            assert abs(weight / (2 / ((1 - root**2) * slope**2)) - 1) <= NODE


def curve(mu, q):
    pair = SymmetrisedPair(gdp(Fraction(mu)).remove, Fraction(q))
    return TradeOff(pair, pair)


@pytest.mark.parametrize(("mu", "q", "epsilon"), [(1, "3/10", 0.4)])
def test_two_steps_are_a_convolution(mu, q, epsilon):
    one = curve(mu, q)
    p = float(Fraction(q))
    x, h = np.linspace(0.0, 14 + 2 * mu, 3_201, retstep=True)
    loss = np.log1p(p * np.expm1(mu * x))
    weight = np.full(x.size, 2.0)
    weight[1::2] = 4.0
    weight[[0, -1]] = 1.0
    density = h / 3 * weight * np.exp(-((x + mu / 2) ** 2) / 2) / math.sqrt(2 * math.pi)
    # Of what is under Q: e^L of it above, as much again below, and the atom.
    first = density @ (np.exp(loss) * one.delta(epsilon - loss))
    second = density @ one.delta(epsilon + loss)
    atom = (1 - p) * math.erf(mu / math.sqrt(8))
    found = (one**2).delta(epsilon, solver=Lattice(Fraction(1, 1000)), bracket=True)
    true = first + second + atom * one.delta(epsilon)
    assert found.lower - 1e-9 <= true <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-3 * true


def test_many_steps():
    one = curve("10/11", "256/60000")
    many = one**14_040
    assert many.certified
    found = many.epsilon(1e-5, bracket=True)
    assert found.method == "contour"
    # To 50 digits: tests/truth.
    assert found.lower <= 3.06578646823894204787 <= found.upper
    assert found.upper - found.lower < 1e-10


@pytest.mark.soak
def test_many_steps_by_both_methods():
    fewer = curve("10/11", "256/60000") ** 400
    for epsilon in (0.1, 0.3):
        narrow = fewer.delta(epsilon, bracket=True)
        wide = fewer.delta(epsilon, solver=Lattice(Fraction(1, 500)), bracket=True)
        assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper


def test_divergences_are_bracketed():
    pair = SymmetrisedPair(gdp(1).remove, Fraction(3, 10))
    found = pair.renyi_bracket(np.asarray([2.5]))
    true = cumulant_exactly(1.0, 0.3, mp.mpf(2.5)).real / 1.5
    assert found.lower[0] <= true <= found.upper[0] <= true * (1 + 1e-11)
