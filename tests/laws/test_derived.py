"""What is derived from tails and cumulants agrees with closed forms, and these with each other."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from neyman.curves import Pair, Summaries, Tails, approx_dp, bounded_range, gdp, laplace, pure_dp

CLOSED = [gdp(0.3), gdp(1), gdp(5), pure_dp(0.2), pure_dp(3), laplace(0.2), laplace(3)]
CLOSED += [bounded_range(0.2), bounded_range(3)]
CLOSED += [approx_dp(1, 0.01), gdp(1) @ approx_dp(0, 0.1), laplace(1) @ approx_dp(0, 0.2)]
CLOSED = [f.remove for f in CLOSED]
# Away from every kink.
EPSILON = np.array([-2.9, -1.05, -0.1, 0.0, 0.05, 0.15, 0.7, 1.5, 2.5])
ALPHA = np.array([1e-9, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.77, 0.95, 1.0])
ORDERS = np.array([0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 7.0, 30.0])


@pytest.mark.parametrize("pair", CLOSED, ids=str)
def test_profile_from_tails(pair):
    derived, own = Pair.log_delta_bracket(pair, EPSILON), pair.log_delta_bracket(EPSILON)
    assert np.allclose(np.exp(derived.lower), np.exp(own.upper), rtol=1e-10, atol=1e-15)
    assert np.allclose(
        Pair.delta_bracket(pair, EPSILON).upper,
        pair.delta_bracket(EPSILON).upper,
        rtol=1e-10,
        atol=1e-14,
    )


@pytest.mark.parametrize("pair", CLOSED, ids=str)
def test_curve_from_tails(pair):
    derived, own = Pair.beta_bracket(pair, ALPHA), pair.beta_bracket(ALPHA)
    assert np.allclose(derived.lower, own.lower, rtol=1e-9, atol=1e-12)
    assert np.allclose(
        Pair.tpr_bracket(pair, ALPHA).upper, pair.tpr_bracket(ALPHA).upper, rtol=1e-7, atol=1e-12
    )


@pytest.mark.shows("S4.15")
@pytest.mark.parametrize("pair", CLOSED, ids=str)
def test_renyi_from_the_cumulant(pair):
    derived, own = Pair.renyi_bracket(pair, ORDERS), pair.renyi_bracket(ORDERS)
    assert np.allclose(derived.lower, own.lower, rtol=1e-9)


@pytest.mark.shows("S4.9", "e1.6")
@pytest.mark.parametrize("pair", [pure_dp(0.2).remove, laplace(3).remove], ids=str)
def test_renyi_at_infinity_is_the_largest_loss(pair):
    derived = Pair.renyi_bracket(pair, np.asarray(np.inf))
    assert float(derived.upper) == pytest.approx(float(pair.bound), rel=1e-12)


@pytest.mark.shows("S0.9")
@pytest.mark.parametrize("pair", CLOSED, ids=str)
def test_slope_is_the_derivative_of_the_profile(pair):
    step = 1e-6
    ahead, behind = (pair.delta_bracket(EPSILON + s).lower for s in (step, -step))
    difference = (behind - ahead) / (np.exp(EPSILON + step) - np.exp(EPSILON - step))
    assert np.allclose(pair.slope(EPSILON), difference, rtol=1e-5, atol=1e-8)


def atoms(pair, t):
    """Return P{L = t} and Q{L = t}."""
    opened, closed = pair.log_tails(t), pair.log_tails(t, closed=True)
    return [np.exp(closed[i]) - np.exp(opened[i]) for i in (0, 2)]


def thresholds(pair):
    bound = pair.outer_pure()
    ends = [] if bound is None else [-float(bound), float(bound)]
    return np.array([*np.linspace(-2, 2, 41), *ends])


def test_tails_are_probabilities_of_complements(lawful):
    for closed in (False, True):
        tails = [np.exp(log) for log in lawful.log_tails(thresholds(lawful), closed=closed)]
        assert np.allclose(tails[0] + tails[1], 1, rtol=0, atol=1e-12)
        assert np.allclose(tails[2] + tails[3], 1, rtol=0, atol=1e-12)


def test_atoms_weigh_what_their_loss_says(lawful):
    """Q{L = t} = e^t P{L = t}."""
    t = thresholds(lawful)
    p, q = atoms(lawful, t)
    assert np.all(p >= 0)
    assert np.allclose(q, np.exp(t) * p, rtol=1e-9, atol=1e-13)


def test_bounded_losses_attain_their_bound(lawful):
    bound = lawful.outer_pure()
    # The logistic loss has a density, so it only comes near.
    if bound is not None and lawful.kind != "logistic":
        assert atoms(lawful, np.array([float(bound)]))[0] > 0


def test_swapped_tails(lawful):
    t = thresholds(lawful)
    here, there = lawful.log_tails(t), lawful.swap().log_tails(-t, closed=True)
    for i, j in ((0, 3), (1, 2), (2, 1), (3, 0)):
        assert np.allclose(np.exp(here[i]), np.exp(there[j]), rtol=0, atol=1e-12)


PLACES = np.array([0.3, 1.0, 1.7, 3.0, 0.5 + 2j, 1.2 - 1j])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def integral(integrand, edges, error):
    """Integrate (n,) -> (n, k) between the edges, cells being halved until halves say the same."""

    def by_cell(starts, ends):
        half = (ends - starts) / 2
        t = (starts + half)[:, None] + half[:, None] * NODES
        values = integrand(t.ravel()).reshape(*t.shape, -1)
        return half[:, None] * np.einsum("cnk,n->ck", values, WEIGHTS)

    starts, ends, total = np.array(edges[:-1]), np.array(edges[1:]), 0.0
    while starts.size:
        middles = (starts + ends) / 2
        whole, halves = by_cell(starts, ends), by_cell(starts, middles) + by_cell(middles, ends)
        open_ = np.any(np.abs(whole - halves) > error, axis=1) & (ends - starts > 1e-12)
        total = total + halves[~open_].sum(axis=0)
        starts, ends = (
            np.concatenate([starts[open_], middles[open_]]),
            np.concatenate([middles[open_], ends[open_]]),
        )
    return total


@pytest.mark.shows("S4.14")
def test_cumulant_is_the_integral_of_the_tails(pair):
    """E_P[e^{sL}] over finite L = e^{s a} P(L > a) + ∫_a s e^{st} P(L > t) dt, P(L = inf) = 0."""
    bound = pair.outer_pure()
    # Losses of the remaining pairs: an erased core's, the leaf's, or a Gaussian's.
    low, high = (-60.0, 160.0) if bound is None else (-float(bound) - 1, float(bound))
    breaks = (-20.0 / 3, -2.0, -1.0, -0.69315, 0.0, 0.40547, 1.0, 2.0, 20.0 / 3)
    edges = sorted({low, high, *(x for x in breaks if low < x < high), *np.linspace(low, high, 41)})

    def integrand(t):
        return PLACES * np.exp(PLACES * t[:, None] + pair.log_tails(t).p_above[:, None])

    expected = np.exp(pair.cumulant(PLACES))
    room = np.maximum(np.abs(expected), 1)
    found = integral(integrand, edges, 1e-10 * room)
    found += np.exp(PLACES * low + pair.log_tails(np.asarray(low)).p_above)
    assert np.all(np.abs(found - expected) <= 1e-7 * room)


def test_cumulant_at_the_ends_is_the_mass_that_is_not_singular(lawful):
    q, p = (np.exp(log) for log in lawful.log_singular)
    ends = np.real(lawful.cumulant(np.array([0.0, 1.0], dtype=np.complex128)))
    assert np.allclose(ends, [np.log1p(-p), np.log1p(-q)], rtol=0, atol=1e-12)
    last = np.exp(lawful.log_tails(np.asarray(500.0)).q_above)
    assert q == pytest.approx(float(last), abs=1e-12)


def test_cumulant_is_convex(lawful):
    s = np.linspace(-3, 4, 141)
    k = np.real(lawful.cumulant(s.astype(np.complex128)))
    assert np.all(k[:-2] - 2 * k[1:-1] + k[2:] >= -1e-10 * (1 + np.abs(k[1:-1])))


@pytest.mark.shows("S4.14")
def test_cumulant_of_the_swap_is_the_mirror_image(lawful):
    s = np.linspace(-2, 3, 26) + 0.3j
    assert np.allclose(lawful.swap().cumulant(s), lawful.cumulant(1 - s), rtol=1e-12, atol=1e-12)


# -- twins that are wrong, and must be found out -----------------------------------------------


@dataclass(frozen=True, slots=True)
class Twin(Pair):
    """A Laplace pair, to be spoiled in one place."""

    core: Pair = laplace(1).remove
    kind: ClassVar[str] = "tests.twin"
    mirrored = True

    def parameters(self):
        return {}

    def log_tails(self, t, *, closed=False):
        return self.core.log_tails(t, closed=closed)

    def cumulant(self, s):
        return self.core.cumulant(s)

    def summaries(self):
        return Summaries(outer_pure=self.core.outer_pure)


class Blurred(Twin):
    """Atoms are never counted as above."""

    def log_tails(self, t, *, closed=False):  # noqa: ARG002
        return self.core.log_tails(t)


class Heavy(Twin):
    """A millionth too much of Q lies in the upper tail."""

    def log_tails(self, t, *, closed=False):
        p, below, q, rest = self.core.log_tails(t, closed=closed)
        return Tails(p, below, q + 1e-6, rest)


class Shifted(Twin):
    """The cumulant of another epsilon."""

    def cumulant(self, s):
        return laplace(1.00001).remove.cumulant(s)


class Backwards(Twin):
    """The cumulant of a pair that is not symmetric, of the wrong direction."""

    def cumulant(self, s):
        return self.core.cumulant(s) + 1e-6 * s * (s - 1) * s


@pytest.mark.parametrize(
    ("twin", "law"),
    [
        (Blurred(), test_bounded_losses_attain_their_bound),
        (Blurred(), test_swapped_tails),
        (Heavy(), test_tails_are_probabilities_of_complements),
        (Heavy(), test_swapped_tails),
        (Shifted(), test_cumulant_is_the_integral_of_the_tails),
        (Backwards(), test_cumulant_is_the_integral_of_the_tails),
    ],
)
def test_broken_twins_break_the_laws(twin, law):
    law(Twin())
    with pytest.raises(AssertionError):
        law(twin)
